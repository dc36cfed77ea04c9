package exec_test

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

func TestDeprecatedEntitlement(t *testing.T) { // E25; entitlements §9.11
	c := oneValidator(t)
	c.engine = testEngine(t)
	all := manifestOf(hold, kv, limited(manifest.Schedule))
	before, r := c.deploy(alice, gated, all)
	if _, ok := event(&r, actor.EventDeprecated); ok || r.Code != chain.CodeOK {
		t.Fatalf("before the announcement: %+v", r)
	}
	c.ask(before, "set", cbor.AppendNull(nil))
	c.fund(before, 77)
	h := c.height + 1
	c.g.Params.Entitlements.Deprecated = []params.Deprecation{{ID: manifest.Schedule, From: h, Last: h + 3}}
	during, r := c.deploy(bob, gated, all) // at h
	if data, ok := event(&r, actor.EventDeprecated); !ok || !bytes.Contains(data, []byte(manifest.Schedule)) || r.Code != chain.CodeOK {
		t.Errorf("no warning: %+v", r)
	}
	c.block()
	c.block()
	if r := c.ask(during, "set", cbor.AppendNull(nil)); r.Code != chain.CodeOK { // at h + 3
		t.Errorf("last block of the window: %s", chain.CodeName(r.Code))
	}
	for i := range 2 {
		block := c.block(c.program(alice, &before, actor.AppendMessage(nil, "set", cbor.AppendNull(nil))))
		r := block.Receipts[0]
		last := &block.Receipts[len(block.Receipts)-1]
		if data, ok := event(last, actor.EventNonExecutable); (i == 0) != (ok && last.TxHash == exec.BlockEventsID(h+4, 0) && bytes.Contains(data, []byte(manifest.Schedule))) {
			t.Errorf("block %d announces %+v", c.height, last)
		}
		if data, ok := event(&r, actor.EventNonExecutable); r.Code != chain.CodeNonExecutable || !ok || !bytes.Contains(data, before[:]) {
			t.Errorf("after the window: %+v", r)
		}
	}
	if _, r := c.deploy(alice, gated, all); r.Code != chain.CodeManifest {
		t.Errorf("a new one after the window: %s", chain.CodeName(r.Code))
	}
	if got := c.state.Balance(before); got != 77 {
		t.Errorf("balance %d", got)
	}
	c.redeploy(before)
}

// redeploy gives the actor that gated's deployment in block 1 made another
// manifest.
func (c *testChain) redeploy(addr chain.Address) {
	t := c.t
	t.Helper()
	d := actor.Deployment{Source: []byte(gated), Salt: []byte{0}, Manifest: manifestOf(hold, kv)}
	if r := c.block(c.program(bob, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeOK || r.Code == chain.CodeOK && actor.AddressOf(bob, d.Salt, d.Source) == addr {
		t.Errorf("another creator has another address: %+v", r)
	}
	before := c.state.Balance(addr)
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("redeployment: %s", chain.CodeName(r.Code))
	}
	if got := c.state.Balance(addr); got != before {
		t.Errorf("balance %d, was %d", got, before)
	}
	reader := "get"
	if r := c.ask(addr, reader, cbor.AppendNull(nil)); r.Code != chain.CodeOK {
		t.Errorf("after redeployment: %s", chain.CodeName(r.Code))
	}
	if len(c.state.Storages[addr]) == 0 {
		t.Error("storage is gone")
	}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeAddressTaken {
		t.Errorf("E21 redeployment of one that runs: %s", chain.CodeName(r.Code))
	}
}
