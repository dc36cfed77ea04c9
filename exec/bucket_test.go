package exec_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// asker calls another actor's handler in the ways in which that can end.
const asker = `
from cowboy_sdk import actor, public, call, CowboyError

@actor
class Asker:
    @public
    def init(self, msg):
        pass

    @public
    def ask(self, msg):
        return call(msg.payload, "work", 0)

    @public
    def tries(self, msg):
        for _ in range(3):
            try:
                call(msg.payload, "work", 1)
            except CowboyError:
                pass

    @public
    def breaks(self, msg):
        self.tries(msg)
        raise ValueError("no")

    @public
    def nests(self, msg):
        try:
            call(self.address, "breaks", msg.payload, 1_000_000)
        except CowboyError:
            pass
`

const worker = `
from cowboy_sdk import actor, public

@actor
class Worker:
    @public
    def init(self, msg):
        pass

    @public
    def work(self, msg):
        for _ in range(5_000):
            pass
        if msg.payload:
            raise ValueError("no")
`

// TestFailedCallsUseTheBucket: what an actor's handlers have used is gone from its
// bucket, whether the handler failed, or whoever called it (resolution 11.22).
func TestFailedCallsUseTheBucket(t *testing.T) {
	c := messages(t)
	a, b := c.deployed(asker, 1), c.deployed(worker, 2)
	level := func() chain.Cycles {
		t.Helper()
		l, err := actor.ReadQuota(c.state, b)
		if err != nil {
			t.Fatal(err)
		}
		return l.Left(&c.g.Params.Actor, c.height)
	}
	full := c.g.Params.Actor.BlockCyclesBurst
	drawn := func(handler string, code uint16) chain.Cycles {
		t.Helper()
		c.block()
		c.block() // fills the bucket
		r := c.block(c.program(alice, &a, actor.AppendMessage(nil, handler, cbor.AppendText(nil, b.String()))))
		if r.Receipts[0].Code != code {
			t.Fatalf("%s: %s", handler, chain.CodeName(r.Receipts[0].Code))
		}
		return full - level()
	}
	one := drawn("ask", chain.CodeOK)
	if one < 10_000 {
		t.Fatalf("a call that succeeds draws %d cycles", one)
	}
	for _, tt := range []struct {
		handler string
		code    uint16
	}{{"tries", chain.CodeOK}, {"breaks", chain.CodeReverted}, {"nests", chain.CodeOK}} {
		if got := drawn(tt.handler, tt.code); got < 3*one || got > 4*one {
			t.Errorf("%s: three calls that fail draw %d cycles, one that does not %d", tt.handler, got, one)
		}
	}
}

// TestNobodyAsksAnException: in a block, what an exception that nobody caught says is not
// asked, which would run the program's code after its cycles were counted; who estimates
// reads it.
func TestNobodyAsksAnException(t *testing.T) {
	c := messages(t)
	d := actor.Deployment{Source: []byte(`
from cowboy_sdk import public, storage, call, CowboyError

class Talkative(Exception):
    def __str__(self):
        for i in range(100):
            storage.get("key")
        return "at length"

@public
def go(msg):
    raise Talkative()

@public
def ask(msg):
    try:
        call(msg.payload, "go")
    except CowboyError:
        pass
    raise Talkative()
`), Salt: []byte{1}, Manifest: manifest.Manifest("storage.kv")}
	other := d
	other.Salt = []byte{2}
	for _, d := range []*actor.Deployment{&d, &other} {
		if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, d))).Receipts[0]; r.Code != chain.CodeOK {
			t.Fatalf("deploy: %+v", r)
		}
	}
	a, b := actor.AddressOf(alice, d.Salt, d.Source), actor.AddressOf(alice, other.Salt, other.Source)
	for handler, arg := range map[string][]byte{"go": cbor.AppendNull(nil), "ask": cbor.AppendBytes(nil, b[:])} {
		payload := actor.AppendMessage(nil, handler, arg)
		tx := c.program(bob, &a, payload).Tx
		tx.CyclesLimit = 900_000
		r := c.block(verified(tx, bob)).Receipts[0]
		if most := chain.Cells(len(payload)); r.Code != chain.CodeReverted || r.CellsUsed > most || r.CyclesUsed > 60_000 {
			t.Errorf("%s: %s with %d cycles and %d cells, want %d cells", handler, chain.CodeName(r.Code), r.CyclesUsed, r.CellsUsed, most)
		}
		e, err := exec.Estimate(c.state, c.inputs(), bob, chain.Tx{To: &a, Payload: payload, CyclesLimit: 900_000})
		if err != nil || !strings.Contains(e.Detail, "Talkative: at length") {
			t.Errorf("%s: an estimate says %q, %v", handler, e.Detail, err)
		}
	}
}
