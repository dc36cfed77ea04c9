package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
)

// TestUnfinalBlocksHaveABudget: while nothing becomes final, executed blocks take no
// more than their budget and one block: beyond it this node makes empty ones and has no
// word on others, which a quorum can have all the same; and with the first block that
// is final everything goes on.
func TestUnfinalBlocksHaveABudget(t *testing.T) {
	f := newFixture(t)
	txs := &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}}
	l, other := f.ledger(t, txs), f.ledger(t, txs)
	l.cfg.UnfinalBytes = 1 // the first block fills it
	count := func(p engine.Proposed) int {
		t.Helper()
		block, err := chain.DecodeBlock(p.Block, len(p.Block))
		if err != nil {
			t.Fatal(err)
		}
		return len(block.Txs)
	}
	full := f.propose(t, l)
	if n := count(full); n != 1 || !l.unfinalFull() {
		t.Fatalf("%d transactions in the first block, crowded: %v", n, l.unfinalFull())
	}
	f.now = f.now.Add(time.Second)
	if n := count(f.propose(t, l)); n != 0 {
		t.Errorf("%d transactions in an own block, want an empty one", n)
	}
	sibling := f.propose(t, other)
	req := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: sibling.Digest, Block: sibling.Block}
	if ok, err := l.Verify(t.Context(), req); ok || !errors.Is(err, engine.ErrEarly) {
		t.Errorf("a full block: %v, %v; want no word", ok, err)
	}
	if l.UnfinalBytes() > 2*64<<10 {
		t.Errorf("%d bytes for two small blocks", l.UnfinalBytes())
	}
	if ok, err := l.Recover(t.Context(), req); !ok || err != nil {
		t.Errorf("a full block that a quorum wants: %v, %v", ok, err)
	}
	if err := l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: full.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	if l.unfinalFull() || l.UnfinalBytes() != 0 {
		t.Errorf("crowded after finality: %d bytes", l.UnfinalBytes())
	}
}
