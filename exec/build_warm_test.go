package exec_test

import (
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// TestLeftOutWarmsNothing leaves out the transaction that is under way when a
// proposer's time ends: whoever uses its code behind it in the block, here a timer,
// pays for the first use as it does on all other nodes, which never see that
// transaction.
func TestLeftOutWarmsNothing(t *testing.T) {
	c := messages(t)
	a := c.deployed(`
from cowboy_sdk import public, set_timer

def init(msg):
    pass

@public
def arm(msg):
    set_timer(msg.payload, "tick")

def tick(msg):
    pass

@public
def ping(msg):
    pass
`, 1, "econ.hold_balance", "storage.kv", "timer.schedule")
	c.give(a, 500*chain.WeiPerCBY)
	c.block(c.program(alice, &a, actor.AppendMessage(nil, "arm", cbor.AppendUint(nil, uint64(c.height)+2))))
	ping := c.program(bob, &a, actor.AppendMessage(nil, "ping", cbor.AppendNull(nil))).Tx
	ping.CyclesLimit = 100_000 // the timer's limits are promised to it
	over := 0
	s := c.buildWatched(&order.Selection{Txs: []*chain.VerifiedTx{verified(ping, bob)}}, exec.Watch{
		Over: func() bool { over++; return over > 1 }, // it ends while the first runs
	})
	if len(s.Kept) != 0 || !s.Cut || len(s.Receipts) != 1 {
		t.Fatalf("%d kept, cut %v, %d receipts: want a firing alone", len(s.Kept), s.Cut, len(s.Receipts))
	}
	plain, err := c.try(s.Kept...)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(plain.Receipts, s.Receipts) {
		t.Errorf("a verifier has %+v, the proposer %+v", plain.Receipts, s.Receipts)
	}
}
