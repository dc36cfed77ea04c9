package order

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestSelectionIsArrangedWhole: counts and flags move with their transactions, which come
// in the order of the block; what the selection held before is as it was.
func TestSelectionIsArrangedWhole(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 171))
		var s Selection
		type mark struct {
			over  bool
			count chain.Usage
		}
		want := map[*chain.VerifiedTx]mark{}
		for i := range 40 {
			tx := &chain.VerifiedTx{Tx: &chain.Tx{}, Hash: chain.Hash{byte(i), byte(seed)}, Sender: chain.Address{byte(i)}, Lane: chain.LaneUser}
			m := mark{over: rng.IntN(3) == 0}
			if !m.over {
				m.count = chain.Usage{Cycles: chain.Cycles(1 + i), Cells: 1}
			}
			s.Txs, s.Overcommitted, s.Counts = append(s.Txs, tx), append(s.Overcommitted, m.over), append(s.Counts, m.count)
			want[tx] = m
		}
		was := slices.Clone(s.Txs)
		before := s.Txs
		s.Arrange(new(Arranger), chain.Hash{byte(seed)})
		if !slices.Equal(s.Txs, Arrange(chain.Hash{byte(seed)}, was)) || !slices.Equal(before, was) {
			t.Fatal("not the order of the block")
		}
		for i, tx := range s.Txs {
			if got := (mark{s.IsOvercommitted(i), s.Counts[i]}); got != want[tx] {
				t.Fatalf("transaction %d has %+v, want %+v", i, got, want[tx])
			}
		}
	}
	s := Selection{Txs: []*chain.VerifiedTx{{Tx: &chain.Tx{}}}, Counts: make([]chain.Usage, 1)}
	if s.Arrange(new(Arranger), chain.Hash{}); s.Counts != nil || s.Overcommitted != nil || s.IsOvercommitted(0) {
		t.Errorf("counts of a selection without overcommitted: %+v", s)
	}
	s.Overcommitted = []bool{true}
	if s.Arrange(new(Arranger), chain.Hash{}); s.Counts != nil || !s.IsOvercommitted(0) {
		t.Errorf("a selection without counts: %+v", s)
	}
}
