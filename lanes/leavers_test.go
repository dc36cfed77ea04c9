package lanes

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// registered are accounts of which some are runners.
type registered struct {
	accounts
	runners map[chain.Address]bool
}

func (r registered) Storage(a chain.Address, k state.StorageKey) ([]byte, error) {
	for who, is := range r.runners {
		if a == chain.AddrRunnerRegistry && is && k == roles.RunnerKey(who) {
			return []byte{0}, nil
		}
	}
	return nil, nil
}

// TestLeaversTakeTheirHeartbeatsAlong: what only runners may send goes with the role, and
// what anybody may send stays; one who registers again in the same block keeps both.
func TestLeaversTakeTheirHeartbeatsAlong(t *testing.T) {
	var m maker
	leaver, stayer := chain.Address{1}, chain.Address{2}
	view := registered{accounts{}.with(leaver, 0, chain.WeiPerCBY).with(stayer, 0, chain.WeiPerCBY), map[chain.Address]bool{leaver: true, stayer: true}}
	l := running(t, DefaultConfig(), view)
	send := func(from byte, nonce uint64, opcode byte) *chain.VerifiedTx {
		tx := m.transfer(from, nonce, 1, 30_000)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &chain.AddrRunnerRegistry, []byte{0x81, opcode}, 10_000
		if tx.Lane = chain.LaneRunner; opcode != chain.OpRunnerHeartbeat {
			tx.Lane = chain.LaneUser
		}
		return tx
	}
	var leaves []*chain.VerifiedTx
	for _, from := range []byte{1, 2} {
		leaves = append(leaves, send(from, 0, chain.OpRunnerDeregister))
		batch := []*chain.VerifiedTx{leaves[len(leaves)-1]}
		for n := range uint64(100) {
			batch = append(batch, send(from, 1+n, chain.OpRunnerHeartbeat))
		}
		batch = append(batch, m.transfer(from, 101, 1, 30_000))
		for i, err := range l.Admit(t.Context(), batch) {
			if err != nil {
				t.Fatalf("transaction %d of %d: %v", i, from, err)
			}
		}
	}
	next := registered{accounts{}.with(leaver, 1, chain.WeiPerCBY).with(stayer, 1, chain.WeiPerCBY), map[chain.Address]bool{stayer: true}}
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: next, Txs: leaves, BaseFees: evenFees(1)}); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.Lanes[chain.LaneRunner].Txs != 100 || s.Lanes[chain.LaneUser].Txs != 2 {
		t.Errorf("%d heartbeats and %d payments wait, want 100 and 2", s.Lanes[chain.LaneRunner].Txs, s.Lanes[chain.LaneUser].Txs)
	}
}
