package exec_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// TestSparesStandBack: a spare runs where it leaves the others all that they may use,
// of the lane and of their actor, wherever these stand.
func TestSparesStandBack(t *testing.T) {
	c := messages(t)
	a := c.deployed(worker, 1)
	c.block()
	c.block() // fills the bucket
	call := func(from chain.Address, limit chain.Cycles) *chain.VerifiedTx {
		tx := c.program(from, &a, actor.AppendMessage(nil, "work", cbor.AppendUint(nil, 0))).Tx
		tx.CyclesLimit = limit
		return verified(tx, from)
	}
	const limit = 500_000
	need := call(alice, limit)
	ran := c.build(&order.Selection{Txs: []*chain.VerifiedTx{need}})
	used := chain.Usage{Cycles: ran.Receipts[0].CyclesUsed, Cells: ran.Receipts[0].CellsUsed}
	ins, err := need.Tx.Classify()
	if err != nil {
		t.Fatal(err)
	}
	intrinsic := c.g.Params.Intrinsic.Of(ins.WithCode(true))
	burst := c.g.Params.Actor.BlockCyclesBurst
	full := chain.Usage{Cycles: limit, Cells: need.Tx.CellsLimit}

	tests := []struct {
		name   string
		txs    []*chain.VerifiedTx
		first  bool // is the spare, else the last
		slack  chain.Usage
		kept   int
		reason error
	}{
		{"the slack is its limits", []*chain.VerifiedTx{call(alice, limit)}, false, full, 1, nil},
		{"a cycle less", []*chain.VerifiedTx{call(alice, limit)}, false, chain.Usage{Cycles: limit - 1, Cells: full.Cells}, 0, exec.ErrLaneFull},
		{"a cell less", []*chain.VerifiedTx{call(alice, limit)}, false, chain.Usage{Cycles: limit, Cells: full.Cells - 1}, 0, exec.ErrLaneFull},
		{"what another before it did not use", []*chain.VerifiedTx{call(bob, limit), call(alice, limit-used.Cycles)}, false, chain.Usage{Cells: used.Cells}, 2, nil},
		{"a cycle more", []*chain.VerifiedTx{call(bob, limit), call(alice, limit-used.Cycles+1)}, false, chain.Usage{Cells: used.Cells}, 1, exec.ErrLaneFull},
		{"what a payment leaves is slack already", []*chain.VerifiedTx{c.transfer(bob, carol, 1), call(alice, limit)}, false, chain.Usage{Cycles: limit - 1, Cells: full.Cells}, 1, exec.ErrLaneFull},
		{"its actor has what is promised of it", []*chain.VerifiedTx{call(alice, limit), call(bob, burst-limit+intrinsic.Cycles)}, true, full, 2, nil},
		{"its actor has a cycle less", []*chain.VerifiedTx{call(alice, limit), call(bob, burst-limit+intrinsic.Cycles+1)}, true, full, 1, exec.ErrActorBusy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sel := &order.Selection{Txs: tt.txs, Overcommitted: make([]bool, len(tt.txs)), Unreserved: tt.slack}
			if tt.first {
				sel.Overcommitted[0] = true
			} else {
				sel.Overcommitted[len(tt.txs)-1] = true
			}
			s := c.build(sel)
			if len(s.Kept) != tt.kept || len(s.Kept)+len(s.Skipped) != len(tt.txs) {
				t.Errorf("kept %d and refused %d, want to keep %d", len(s.Kept), len(s.Skipped), tt.kept)
			}
			for _, bad := range s.Skipped {
				if !sel.IsOvercommitted(bad.Index) || !errors.Is(bad, tt.reason) {
					t.Errorf("transaction %d: %v, want the spare's %v", bad.Index, bad, tt.reason)
				}
			}
		})
	}
}

// build builds the block of a selection for the next block, and leaves the chain where it is.
func (c *testChain) build(sel *order.Selection) exec.Built {
	c.t.Helper()
	return c.buildWatched(sel, exec.Watch{})
}

func (c *testChain) buildWatched(sel *order.Selection, watch exec.Watch) exec.Built {
	c.t.Helper()
	s, err := exec.Build(c.state, c.inputs(), sel, watch)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}
