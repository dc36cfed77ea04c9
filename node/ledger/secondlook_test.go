package ledger

import (
	"context"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/state"
)

// damageHead puts the head on a state that differs from the stored one, as
// damaged memory would.
func damageHead(t *testing.T, l *Ledger) {
	t.Helper()
	d := state.NewDelta()
	d.SetAccount(chain.Address{0xda}, state.Account{Balance: 1})
	bad, err := l.cfg.Store.Head().Apply(d)
	if err != nil {
		t.Fatal(err)
	}
	_, err = call(t.Context(), l, func(context.Context) (struct{}, error) {
		head := *l.head.Load()
		head.State = bad
		l.head.Store(&head)
		l.tree[head.Digest] = &head
		return struct{}{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFinalBlockMendsDamagedState refuses a good block because of damage in
// memory, and commits it once it is final.
func TestFinalBlockMendsDamagedState(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}})
	verifier := f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	damageHead(t, verifier)
	req := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: p.Digest, Block: p.Block}
	if ok, err := verifier.Verify(t.Context(), req); ok || err != nil {
		t.Fatalf("verdict on a damaged state: %v, %v", ok, err)
	}
	final := engine.Finalization{Round: firstRound(), Digest: p.Digest, Certificate: []byte("c")}
	for _, l := range []*Ledger{proposer, verifier} {
		if err := l.Finalized(t.Context(), final); err != nil {
			t.Fatal(err)
		}
		<-l.Events()
	}
	if a, b := proposer.Head().State.Root(), verifier.Head().State.Root(); a != b || verifier.Head().Height() != 1 {
		t.Errorf("state roots differ: %s, %s", a, b)
	}
}

// TestFinalBlockRefusedTwiceIsAFault: with a good state, a block that executes to
// something else is the end of the voting, not a verdict.
func TestFinalBlockRefusedTwiceIsAFault(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}})
	verifier := f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	for range 2 * doubtedMax { // older doubts are forgotten
		block, err := chain.DecodeBlock(p.Block, len(p.Block))
		if err != nil {
			t.Fatal(err)
		}
		block.Header.StateRoot[0]++
		p.Block, p.Digest = block.Encode(), block.Header.Digest()
		if ok, err := f.verify(t, verifier, block); ok || err != nil {
			t.Fatalf("verdict %v, %v", ok, err)
		}
	}
	var got error
	_, err := call(t.Context(), verifier, func(ctx context.Context) (struct{}, error) {
		if len(verifier.doubts) != doubtedMax {
			t.Errorf("%d doubts", len(verifier.doubts))
		}
		got = verifier.finalize(ctx, engine.Finalization{Round: firstRound(), Digest: p.Digest, Certificate: []byte("c")})
		return struct{}{}, nil // the fault itself would end the ledger
	})
	if err != nil || !isFault(got) || !strings.Contains(got.Error(), "twice") {
		t.Errorf("finalized: %v; %v", got, err)
	}
	if verifier.Head().Height() != 0 {
		t.Error("the block was committed")
	}
}
