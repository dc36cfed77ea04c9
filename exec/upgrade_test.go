package exec_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

func TestActorsDoNotChange(t *testing.T) { // E21; entitlements §7.1
	c := oneValidator(t)
	c.engine = testEngine(t)
	addr, _ := c.deploy(alice, gated, manifestOf(hold, kv))
	rec := func() string {
		r, err := actor.ReadRecord(c.state, addr)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x %+v", c.state.Accounts[addr].CodeHash, *r)
	}
	want := rec()
	for _, handler := range []string{"get", "set", "delete", "caught", "grants", "upgrade", "keep"} {
		c.ask(addr, handler, cbor.AppendText(nil, "x = 1"))
	}
	for _, salt := range []byte{0, 1} {
		for _, m := range [][]byte{manifestOf(hold, kv), manifestOf(), manifestOf(kv, limited(manifest.Schedule))} {
			d := actor.Deployment{Source: []byte(gated), Salt: []byte{salt}, Manifest: m}
			c.block(c.program(alice, nil, actor.AppendPayload(nil, &d)))
		}
	}
	// Every instruction of the table that can stand in a block, aimed at it.
	for _, ins := range chain.InstructionTable() {
		if ins.Kind != chain.KindSystem {
			continue
		}
		payload := cbor.AppendUint(cbor.AppendArray(nil, 1+len(ins.Args)), ins.Opcode)
		for _, a := range ins.Args {
			payload = argument(payload, a, addr)
		}
		tx := c.program(alice, &ins.To, payload)
		if _, err := c.try(tx); err == nil {
			c.block(tx)
		}
		if got := rec(); got != want {
			t.Fatalf("%s: %s, was %s", ins.Name, got, want)
		}
	}
	if got := rec(); got != want {
		t.Errorf("%s, was %s", got, want)
	}
}

// argument appends something of an argument's type that names addr where it can.
func argument(b []byte, a chain.Arg, addr chain.Address) []byte {
	switch a.Type {
	case chain.ArgUint:
		return cbor.AppendUint(b, 1)
	case chain.ArgBool:
		return cbor.AppendBool(b, true)
	case chain.ArgText:
		return cbor.AppendText(b, "x")
	case chain.ArgBytes:
		return cbor.AppendBytes(b, []byte("x = 1"))
	case chain.ArgAddress:
		return cbor.AppendBytes(b, addr[:])
	case chain.ArgHash:
		return cbor.AppendBytes(b, make([]byte, 32))
	case chain.ArgList:
		return cbor.AppendArray(b, 0)
	case chain.ArgMap:
		return cbor.AppendMap(b, 0)
	}
	return append(b, manifestOf()...)
}

func TestSystemDeployers(t *testing.T) { // E22; entitlements §9.2; resolution 8.2
	c := oneValidator(t)
	c.engine = testEngine(t)
	up := manifestOf(limited(manifest.Upgrade))
	if _, r := c.deploy(alice, gated, up); r.Code != chain.CodeSystemEntitlement {
		t.Errorf("by anyone: %s", chain.CodeName(r.Code))
	}
	c.g.Params.Entitlements.SystemDeployers = []chain.Address{alice}
	addr, r := c.deploy(alice, gated, up)
	if r.Code != chain.CodeOK {
		t.Fatalf("by a system deployer: %s", chain.CodeName(r.Code))
	}
	before := c.state.Accounts[addr].CodeHash
	if r := c.ask(addr, "upgrade", cbor.AppendText(nil, "x = (")); r.Code != chain.CodeReverted || c.state.Accounts[addr].CodeHash != before {
		t.Errorf("source that does not compile: %s", chain.CodeName(r.Code))
	}
	c.g.Params.Entitlements.SystemDeployers = nil // it keeps what it has
	next := "from cowboy_sdk import actor, public\n@actor\nclass N:\n    @public\n    def version(self, msg):\n        return 2\n"
	if r := c.ask(addr, "upgrade", cbor.AppendText(nil, next)); r.Code != chain.CodeOK || c.state.Accounts[addr].CodeHash == before {
		t.Errorf("upgrade: %s", chain.CodeName(r.Code))
	}
	if r := c.ask(addr, "version", cbor.AppendNull(nil)); r.Code != chain.CodeOK || string(r.Output) != "\x02" {
		t.Errorf("after the upgrade: %+v", r)
	}
}

// TestUpgradeByItsDeployer is the instruction actor_upgrade, and who may not send
// it (entitlements §7.1, §9.2; resolution 8.2).
func TestUpgradeByItsDeployer(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	c.g.Params.Entitlements.SystemDeployers = []chain.Address{alice}
	addr, _ := c.deploy(alice, gated, manifestOf(limited(manifest.Upgrade)))
	plain, _ := c.deploy(alice, gated, manifestOf(kv))
	next := []byte("from cowboy_sdk import actor, public\n@actor\nclass N:\n    @public\n    def version(self, msg):\n        return 2\n")
	order := func(from, addr chain.Address, source []byte) *chain.VerifiedTx {
		b := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpActorUpgrade)
		b = cbor.AppendBytes(cbor.AppendBytes(b, addr[:]), source)
		return c.program(from, &chain.AddrActors, b)
	}
	valued := order(alice, addr, next)
	valued.Tx.Value = 1
	few := order(alice, addr, next)
	few.Tx.CyclesLimit = 21_000 + 10
	tight := order(alice, addr, next)
	tight.Tx.CellsLimit = chain.Cells(len(tight.Tx.Payload))
	for _, tt := range []struct {
		rule string
		tx   *chain.VerifiedTx
		want uint16
	}{
		{"by another", order(bob, addr, next), chain.CodeForbidden},
		{"of nobody", order(alice, bob, next), chain.CodeNotFound},
		{"of a regular actor", order(alice, plain, next), chain.CodeForbidden},
		{"source that does not compile", order(alice, addr, []byte("x = (")), chain.CodeCodeInvalid},
		{"no source", order(alice, addr, []byte{}), chain.CodeCodeInvalid},
		{"with a value", verified(valued.Tx, alice), chain.CodeBadArgument},
		{"cycles for less than compiling", verified(few.Tx, alice), chain.CodeCyclesExhausted},
		{"no cells for the event", verified(tight.Tx, alice), chain.CodeCellsExhausted},
	} {
		before := [2]chain.Hash{c.state.Accounts[addr].CodeHash, c.state.Accounts[plain].CodeHash}
		tt.tx.Tx.Nonce = c.nonces[tt.tx.Sender]
		r := c.block(verified(tt.tx.Tx, tt.tx.Sender)).Receipts[0]
		if after := [2]chain.Hash{c.state.Accounts[addr].CodeHash, c.state.Accounts[plain].CodeHash}; r.Code != tt.want || after != before || len(r.Events) != 0 {
			t.Errorf("%s: %s, %d events", tt.rule, chain.CodeName(r.Code), len(r.Events))
		}
	}
	record, _ := actor.ReadRecord(c.state, addr)
	r := c.block(order(alice, addr, next)).Receipts[0]
	if hash := chain.Hash(keccak.Sum256(next)); r.Code != chain.CodeOK || len(r.Events) != 1 || r.Events[0].Name != actor.EventUpgraded || c.state.Accounts[addr].CodeHash != hash {
		t.Errorf("upgrade: %+v", r)
	}
	record.Load = loadOf(t, c, addr)
	if now, _ := actor.ReadRecord(c.state, addr); !reflect.DeepEqual(now, record) {
		t.Errorf("E22: the record is %+v, was %+v", now, record)
	}
	if r := c.ask(addr, "version", cbor.AppendNull(nil)); r.Code != chain.CodeOK || string(r.Output) != "\x02" {
		t.Errorf("after the upgrade: %+v", r)
	}
	c.g.Params.Entitlements.SystemDeployers = nil
	if r := c.block(order(alice, addr, []byte(gated))).Receipts[0]; r.Code != chain.CodeSystemEntitlement {
		t.Errorf("by one who is no system deployer any more: %s", chain.CodeName(r.Code))
	}
}
