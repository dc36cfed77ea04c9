package exec_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state"
)

// wide is a list of grants of just so many bytes.
func wide(bytes int) manifest.Grants {
	g := manifest.Grants{limited("econ.hold_balance"), limited("econ.transfer"), limited("http.fetch"), limited("timer.schedule")}
	p := manifest.Param{Name: manifest.Domains, Kind: manifest.ParamList}
	for i := 0; ; i++ {
		p.List = append(p.List, fmt.Sprintf("a%03d.%s.com", i, "x0123456789012345678901234567890123456789012345678901234567"))
		g[2].Params = []manifest.Param{p}
		if over := len(g.Append(nil)) - bytes; over >= 0 {
			p.List[i] = p.List[i][over:]
			if over > 60 {
				panic("the last domain is too short")
			}
			return g
		}
	}
}

const looker = `
from cowboy_sdk import public, get_actor, transfer, call

@public
def look(msg):
    for i in range(20):
        get_actor(msg.payload)

@public
def pay(msg):
    for i in range(20):
        transfer(msg.payload, 1)

@public
def ask(msg):
    for i in range(20):
        call(msg.payload, "ping", None)

@public
def ping(msg):
    return 1
`

// TestManifestsCostTheirBytes is B3 of soundness.md: whoever looks at an actor, or
// pays it, reads none of its manifest; whoever calls it pays for the bytes.
func TestManifestsCostTheirBytes(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	most := int(c.g.Params.Actor.ManifestBytes)
	small, r := c.deploy(alice, looker, manifestOf(limited("econ.hold_balance"), limited("econ.transfer")))
	few := r.CyclesUsed
	large, r := c.deploy(alice, looker, manifestOf(wide(most)...))
	if r.Code != chain.CodeOK {
		t.Fatalf("a manifest at its limit: %s", chain.CodeName(r.Code))
	}
	rec, err := actor.ReadRecord(c.state, large)
	if err != nil || int(rec.ManifestBytes) != most || !rec.Holds || rec.Upgrades {
		t.Fatalf("%+v, %v", rec, err)
	}
	rest := len(manifestOf(wide(most)...)) - len(manifestOf(limited("econ.hold_balance"), limited("econ.transfer")))
	if want := few + chain.Cycles(rest)*c.g.Params.API.ManifestByteCycles; r.CyclesUsed != want {
		t.Errorf("its deployment takes %d cycles, want %d", r.CyclesUsed, want)
	}
	key := append([]byte("record/"), large[:]...)
	if b, err := c.state.Storage(chain.AddrActors, state.NewStorageKey(state.VMNamespaceSystem, key)); err != nil || len(b) > 96 {
		t.Errorf("its record has %d bytes, %v", len(b), err)
	}
	c.fund(small, 1000)
	ask := func(handler string, at chain.Address) chain.Cycles {
		t.Helper()
		r := c.ask(small, handler, text(at.String()))
		if r.Code != chain.CodeOK {
			t.Fatalf("%s: %s", handler, chain.CodeName(r.Code))
		}
		return r.CyclesUsed
	}
	other, _ := c.deploy(bob, looker, manifestOf(limited("econ.hold_balance"), limited("econ.transfer")))
	per := chain.Cycles(uint64(most)/c.g.Params.API.ManifestBytesPerCycle - uint64(len(manifest.Manifest("econ.hold_balance", "econ.transfer"))-14)/c.g.Params.API.ManifestBytesPerCycle)
	for _, row := range []struct {
		handler string
		more    chain.Cycles // than of an actor with a small manifest
	}{
		{"look", 0}, {"pay", 0}, {"ask", 20 * per},
	} {
		if near, far := ask(row.handler, other), ask(row.handler, large); far != near+row.more {
			t.Errorf("%s: %d cycles of a small manifest, %d of a large one, want %d more", row.handler, near, far, row.more)
		}
	}
}

// TestManifestsStandOnce: children without a list of their own have their parent's
// manifest, which nobody writes again.
func TestManifestsStandOnce(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	c.unhurried()
	const breeder = `
from cowboy_sdk import public, spawn

@public
def breed(msg):
    for i in range(10):
        spawn(i.to_bytes(4, "big"))
`
	parent, r := c.deploy(alice, breeder, manifestOf(append(manifest.Grants{limited("exec.spawn")}, wide(8_000)[2])...))
	if r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	before := size(t, c, chain.AddrActors)
	if r := c.ask(parent, "breed", null); r.Code != chain.CodeOK {
		t.Fatalf("%s", chain.CodeName(r.Code))
	}
	if more := size(t, c, chain.AddrActors) - before; more > 8_200+10*250 {
		t.Errorf("10 children add %d bytes", more)
	}
}

// size is what an account stores.
func size(t *testing.T, c *testChain, a chain.Address) uint64 {
	t.Helper()
	n, err := state.NewOverlay(c.state).StorageSize(a)
	if err != nil {
		t.Fatal(err)
	}
	return n.Bytes
}

func TestLimitsOfManifestsAndSources(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	c.unhurried()
	c.g.Params.MaxTxCycles, c.g.Params.MaxTxCells = 1<<30, 1<<30
	most := c.g.Params.Actor
	long := func(n uint64) string { return "x = 1\n#" + string(bytes.Repeat([]byte{'-'}, int(n)-7)) }
	for _, row := range []struct {
		name     string
		source   string
		manifest []byte
		want     uint16
	}{
		{"longest manifest", "x = 1", manifestOf(wide(int(most.ManifestBytes))...), chain.CodeOK},
		{"one byte more", "x = 1", manifestOf(wide(int(most.ManifestBytes) + 1)...), chain.CodeManifest},
		{"longest source", long(most.SourceBytes), manifestOf(), chain.CodeOK},
		{"one byte more", long(most.SourceBytes + 1), manifestOf(), chain.CodeCodeInvalid},
	} {
		if _, r := c.deploy(alice, row.source, row.manifest); r.Code != row.want {
			t.Errorf("%s: %s, want %s", row.name, chain.CodeName(r.Code), chain.CodeName(row.want))
		}
	}
	const parent = `
from cowboy_sdk import actor, public, spawn, upgrade_self

@public
def long(msg):
    try:
        spawn(b"x", source="#" * msg.payload)
    except Exception as e:
        return str(e)

@public
def change(msg):
    upgrade_self("#" * msg.payload)
`
	c.g.Params.Entitlements.SystemDeployers = []chain.Address{alice}
	addr, _ := c.deploy(alice, parent, manifestOf(limited("exec.spawn"), limited("sys.upgrade")))
	if got := said(t, c.ask(addr, "long", cbor.AppendUint(nil, most.SourceBytes+1))); got != "the source has too many bytes" {
		t.Errorf("spawn: %s", got)
	}
	if r := c.ask(addr, "change", cbor.AppendUint(nil, most.SourceBytes+1)); r.Code != chain.CodeReverted {
		t.Errorf("upgrade_self: %s", chain.CodeName(r.Code))
	}
	source := make([]byte, most.SourceBytes+1)
	payload := cbor.AppendBytes(cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpActorUpgrade), addr[:]), source)
	tx := c.program(alice, &chain.AddrActors, payload)
	tx.Tx.CellsLimit = 100_000
	if r := c.block(verified(tx.Tx, alice)).Receipts[0]; r.Code != chain.CodeCodeInvalid {
		t.Errorf("actor_upgrade: %s", chain.CodeName(r.Code))
	}
}
