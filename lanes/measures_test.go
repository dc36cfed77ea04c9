package lanes

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestGovernanceReachesThePool: what a vote changes is in force in the pool at the next
// head: the weight of a cell in tiers, and how many messages may stand before an actor.
func TestGovernanceReachesThePool(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := idle(t, params, view)
	var m maker
	var calls []*chain.VerifiedTx
	admit := func(o offer) {
		answer := make([]error, 1)
		if l.pool.admit([]offer{o}, answer); answer[0] != nil {
			t.Fatal(answer[0])
		}
	}
	for i := range byte(20) {
		tx := m.transfer(i+1, 0, 1, 1_000_000)
		calls = append(calls, tx)
		admit(offer{Tx: tx, Cost: 1, Calls: call{Actor: &chain.Address{0xac}, Most: 1_000_000}})
	}
	cells := m.transfer(100, 0, 64, 21_000)
	cells.Tx.CellsLimit = 21_000
	admit(offer{Tx: cells, Cost: 1})
	states := func() (ready, tier int) {
		for _, tx := range calls {
			if w, _, _ := l.Lookup(t.Context(), tx.Hash); w.State == WaitExecutable {
				ready++
			}
		}
		w, _, _ := l.Lookup(t.Context(), cells.Hash)
		return ready, w.Tier
	}
	ready, tier := states()
	if ready != 10 { // two of a full bucket, and eight blocks
		t.Fatalf("%d messages stand in tiers", ready)
	}
	params.Actor.BlockCycles, params.Actor.BlockCyclesBurst = 2*params.Actor.BlockCycles, 2*params.Actor.BlockCyclesBurst
	params.CyclesTarget *= 4
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: view, BaseFees: evenFees(1), Params: &params}); err != nil {
		t.Fatal(err)
	}
	if now, cheaper := states(); now != 20 || cheaper != tier-2 {
		t.Errorf("after the vote %d messages stand in tiers, want 20; one with cells in tier %d, want %d", now, cheaper, tier-2)
	}
}
