package exec_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
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
	ran := c.sift(&exec.Selection{Txs: []*chain.VerifiedTx{need}})
	used := chain.Usage{Cycles: ran.Receipts[0].CyclesUsed, Cells: ran.Receipts[0].CellsUsed}
	ins, err := need.Tx.Classify()
	if err != nil {
		t.Fatal(err)
	}
	intrinsic := ins.WithCode(true).Intrinsic(&c.g.Params.Intrinsic)
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
			sel := &exec.Selection{Txs: tt.txs, Spare: make([]bool, len(tt.txs)), Slack: tt.slack}
			if tt.first {
				sel.Spare[0] = true
			} else {
				sel.Spare[len(tt.txs)-1] = true
			}
			s := c.sift(sel)
			if len(s.Kept) != tt.kept || len(s.Kept)+len(s.Refused) != len(tt.txs) {
				t.Errorf("kept %d and refused %d, want to keep %d", len(s.Kept), len(s.Refused), tt.kept)
			}
			for _, bad := range s.Refused {
				if !sel.IsSpare(bad.Index) || !errors.Is(bad, tt.reason) {
					t.Errorf("transaction %d: %v, want the spare's %v", bad.Index, bad, tt.reason)
				}
			}
		})
	}
}

// sift sifts a selection for the next block, and leaves the chain where it is.
func (c *testChain) sift(sel *exec.Selection) exec.Sifted {
	c.t.Helper()
	s, err := exec.Sift(c.state, c.inputs(), sel)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}
