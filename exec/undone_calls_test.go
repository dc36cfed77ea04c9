package exec_test

import (
	"runtime"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// nested calls many actors at the innermost of so many calls of itself, all of which fail.
const nested = `
from cowboy_sdk import actor, public, call, CowboyError

@actor
class Nested:
    @public
    def init(self, msg):
        pass

    @public
    def outer(self, msg):
        try:
            call(self.address, "go", msg.payload, cycles_limit=9000000)
        except CowboyError:
            pass

    @public
    def set(self, msg):
        self.storage["targets"] = msg.payload

    @public
    def go(self, msg):
        if msg.payload == 0:
            for t in self.storage["targets"]:
                call(t, "log", None)
        else:
            try:
                call(self.address, "go", msg.payload - 1, cycles_limit=9000000)
            except CowboyError:
                call(self.address, "none", None)
        raise ValueError("undone")

    @public
    def none(self, msg):
        pass
`

// TestUndoneCallsAreDrawnOnce: what called handlers have drawn from their actors' buckets
// stays drawn when those that called them fail, however deep that is, and a block does next
// to no work for it at each level.
func TestUndoneCallsAreDrawnOnce(t *testing.T) { // resolution 11.22
	const actors, depth = 120, 28
	c := messages(t)
	c.g.Params.Actor.BlockCycles, c.g.Params.Actor.BlockCyclesBurst = 10_000_000, 10_000_000
	n := c.deployed(nested, 1, "storage.kv")
	var last chain.Address
	list := cbor.AppendArray(nil, actors)
	for i := range byte(actors) {
		last = c.deployed(relay, 2+i, "storage.kv")
		list = cbor.AppendText(list, last.String())
	}
	if r := c.block(c.post(alice, n, 0, "set", list)); r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("%+v", r.Receipts[0])
	}
	run := func(depth uint64) (cycles chain.Cycles, bytes uint64) {
		tx := c.post(alice, n, 0, "outer", cbor.AppendUint(nil, depth)).Tx
		tx.CyclesLimit = 9_000_000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := c.block(verified(tx, alice))
		runtime.ReadMemStats(&after)
		if r.Receipts[0].Code != chain.CodeOK || len(r.Receipts[0].Events) > 0 {
			t.Fatalf("%+v", r.Receipts[0])
		}
		return r.Receipts[0].CyclesUsed, after.TotalAlloc - before.TotalAlloc
	}
	run(depth) // makes a machine for each level, once
	flat, few := run(1)
	l := c.leftOf(last)
	if used := c.g.Params.Actor.BlockCyclesBurst - l; used == 0 || used > flat/actors {
		t.Errorf("%d cycles are drawn from an actor, of %d that were used for %d", used, flat, actors)
	}
	deep, many := run(depth)
	if again := c.leftOf(last); again != l {
		t.Errorf("an actor has %d cycles left after calls that failed at each of %d levels, %d after one", again, depth, l)
	}
	flatRate, deepRate := float64(few)/float64(flat), float64(many)/float64(deep)
	t.Logf("bytes a cycle: %.1f at one level (%d cycles), %.1f at %d (%d)", flatRate, flat, deepRate, depth, deep)
	if deepRate > 1.3*flatRate {
		t.Errorf("%.1f bytes are allocated for a cycle at %d levels, %.1f at one", deepRate, depth, flatRate)
	}
}

// leftOf is what an actor has left of the block that was made last.
func (c *testChain) leftOf(a chain.Address) chain.Cycles {
	c.t.Helper()
	q, err := actor.ReadQuota(c.state, a)
	if err != nil {
		c.t.Fatal(err)
	}
	return q.Left(&c.g.Params.Actor, c.height)
}
