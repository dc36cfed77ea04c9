package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
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
		l, err := actor.ReadLedger(c.state, b)
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
