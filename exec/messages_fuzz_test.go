package exec_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// walker does what its message says, and passes on what that says of others.
const walker = `
from cowboy_sdk import actor, public, emit_event, send, call, create_deferred_tx, CowboyError

@actor
class Walker:
    @public
    def init(self, msg):
        pass

    @public
    def go(self, msg):
        ident, ops, fail = msg.payload
        emit_event("did", ident)
        for kind, to, cycles, value, plan in ops:
            try:
                if kind == 0:
                    send(to, plan, "go", value=value, cycles=cycles)
                elif kind == 1:
                    call(to, "go", plan, cycles_limit=cycles, value=value)
                else:
                    create_deferred_tx(to, "go", plan, value=value, cycles_limit=cycles)
            except CowboyError:
                emit_event("refused", ident)
        if fail:
            raise ValueError("as told")
`

// planner makes random trees of messages; each has an id of its own.
type planner struct {
	rng *rand.Rand
	to  []chain.Address
	ids uint64
}

// plan returns the payload of a message with so many levels below it.
func (p *planner) plan(levels int) []byte {
	p.ids++
	b := cbor.AppendUint(cbor.AppendArray(nil, 3), p.ids)
	n := 0
	if levels > 0 {
		n = p.rng.IntN(4)
	}
	b = cbor.AppendArray(b, n)
	for range n {
		b = cbor.AppendUint(cbor.AppendArray(b, 5), uint64(p.rng.IntN(3)))
		to := p.to[p.rng.IntN(len(p.to))]
		b = cbor.AppendBytes(b, to[:])
		b = cbor.AppendUint(b, uint64(p.rng.IntN(120_000))<<uint(max(levels-1, 0))/2+1)
		b = cbor.AppendUint(b, []uint64{0, 0, 0, 0, 0, 5, 5, 1 << 40}[p.rng.IntN(8)])
		b = append(b, p.plan(levels-1)...)
	}
	return cbor.AppendBool(b, p.rng.IntN(9) == 0)
}

// TestRandomMessages is W7 and W4 over random programs: every message that waits
// comes once, no handler that succeeded ran twice, no unit is made or lost, and
// another engine does the same.
func TestRandomMessages(t *testing.T) {
	for seed := range uint64(4) {
		randomMessages(t, seed)
	}
}

func FuzzRandomMessages(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { randomMessages(t, seed) })
}

func randomMessages(t *testing.T, seed uint64) {
	c := messages(t)
	p := &planner{rng: rand.New(rand.NewPCG(seed, 3))}
	ids := []string{"storage.kv", "econ.transfer", "econ.hold_balance"}
	for i := range byte(4) {
		a := c.deployed(walker, i, ids[:2+min(int(i), 1)]...)
		c.give(a, 50)
		p.to = append(p.to, a)
	}
	p.to = append(p.to, carol) // has no code
	c.g.Params.Actor.BlockCycles, c.g.Params.Actor.BlockCyclesBurst, c.g.Params.Actor.CallDepth = 150_000, 900_000, 2
	c.g.Params.Actor.MailboxItems = 6
	other := testEngine(t)
	w := watch{done: map[string]bool{}, waits: map[chain.Hash]int{}, seed: seed}
	for n := range 60 {
		var txs []*chain.VerifiedTx
		if n < 12 {
			tx := c.post(alice, p.to[p.rng.IntN(4)], 0, "go", p.plan(3)).Tx
			tx.CyclesLimit = 600_000
			txs = append(txs, verified(tx, alice))
		}
		r := c.twice(other, txs)
		if len(txs) > 0 && r == nil { // the actor is busy
			r = c.twice(other, nil)
		}
		w.block(t, len(r.Receipts)-min(len(r.Receipts), c.included), r)
	}
	for id, n := range w.waits {
		if n != 1 {
			t.Errorf("seed %d: message %s came %d times", seed, id, n)
		}
	}
	if len(w.done) < 5 || c.state.Balance(chain.AddrMailbox) != 0 {
		t.Errorf("seed %d: %d handlers succeeded, %d left in escrow", seed, len(w.done), c.state.Balance(chain.AddrMailbox))
	}
	t.Logf("seed %d: %d handlers succeeded, %d messages waited", seed, len(w.done), len(w.waits))
	for _, a := range p.to {
		if n := c.waiting(a); n != 0 {
			t.Errorf("seed %d: %d wait for %s", seed, n, a)
		}
	}
}

// twice executes a block and holds another engine to the same result; nil where
// the block is invalid.
func (c *testChain) twice(other *pvm.Engine, txs []*chain.VerifiedTx) *exec.Result {
	c.t.Helper()
	if _, err := c.try(txs...); err != nil {
		return nil
	}
	in := c.inputs()
	in.Engine = other
	again, err := apply(c.state, in, txs)
	r := c.block(txs...)
	c.included = len(txs)
	if err != nil || !reflect.DeepEqual(again.Receipts, r.Receipts) || again.Used != r.Used || again.Burned != r.Burned {
		c.t.Fatalf("block %d: another engine does otherwise: %v", c.height, err)
	}
	return &r
}

// watch follows messages over blocks.
type watch struct {
	seed  uint64
	done  map[string]bool
	waits map[chain.Hash]int
}

func (w *watch) block(t *testing.T, deliveries int, r *exec.Result) {
	t.Helper()
	first := len(r.Receipts) - deliveries
	for i := range r.Receipts {
		rec := &r.Receipts[i]
		if i >= first {
			w.waits[rec.TxHash]++
		}
		for _, e := range rec.Events {
			if e.Name == "did" {
				if key := fmt.Sprintf("%x", e.Data); w.done[key] {
					t.Errorf("seed %d: message %s was handled twice", w.seed, key)
				} else {
					w.done[key] = true
				}
			}
		}
	}
	for i := range r.Receipts {
		for _, d := range r.Receipts[i].Trace {
			if d.Status == chain.DeliveryWaits {
				if _, ok := w.waits[d.Message]; ok {
					t.Errorf("seed %d: message %s waits again", w.seed, d.Message)
				}
				w.waits[d.Message] = 0
			}
		}
	}
}
