package ledger

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// stumbling is a chain with an actor that nobody can call without a fault, and a
// transaction that does.
func stumbling(t *testing.T) (f *fixture, poison *chain.VerifiedTx) {
	t.Helper()
	f = newFixture(t)
	f.broken = chain.Address{0xbb, 19: 1}
	call := chain.Tx{To: &f.broken, Payload: actor.AppendMessage(nil, "go", cbor.AppendNull(nil)), CyclesLimit: 100_000, CellsLimit: 100}
	return f, f.sent(f.account, call)
}

// TestAProposerGoesOnWithoutAFault: what this node cannot execute is not in its block,
// leaves its pool and is counted; the next block is built as ever.
func TestAProposerGoesOnWithoutAFault(t *testing.T) {
	f, poison := stumbling(t)
	p := &pool{txs: []*chain.VerifiedTx{poison, f.transfer(t, 1)}}
	l := f.ledger(t, p)
	made := f.propose(t, l)
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil || len(block.Txs) != 0 {
		t.Fatalf("%d transactions, want none, whose sender comes behind the fault: %v", len(block.Txs), err)
	}
	if len(p.txs) != 1 || p.txs[0].Hash == poison.Hash {
		t.Errorf("%d transactions left in the pool, want the other one", len(p.txs))
	}
	if n := l.Stats.Faults.Load(); n != 1 {
		t.Errorf("%d faults counted, want 1", n)
	}
	if ok, err := f.verify(t, f.ledger(t, &pool{}), block); !ok || err != nil {
		t.Errorf("the block elsewhere: %v, %v", ok, err)
	}
	p.txs = []*chain.VerifiedTx{f.transfer(t, 0)}
	f.now = f.now.Add(time.Minute) // so that the next one is due
	req := engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: engine.ParentRef{Round: firstRound(), Digest: made.Digest}}
	if err := l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: made.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	if next, err := l.Propose(t.Context(), req); err != nil || len(next.Block) <= len(made.Block) {
		t.Errorf("the next block has %d bytes, %v", len(next.Block), err)
	}
}

// TestAPreviewMayStumble: a leader sends a preview before it knows whether it can execute
// it, so nobody stops over one.
func TestAPreviewMayStumble(t *testing.T) {
	f, poison := stumbling(t)
	l := f.ledger(t, &pool{})
	made := f.propose(t, l)
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil {
		t.Fatal(err)
	}
	preview := previewOf(block.Header, []*chain.VerifiedTx{poison})
	if err := l.Prepare(t.Context(), engine.PrepareRequest{Round: firstRound(), Preview: preview}); err != nil {
		t.Errorf("a preview that is a fault: %v", err)
	}
	if faults, prepared := l.Stats.Faults.Load(), l.Stats.Prepared.Load(); faults != 1 || prepared != 0 {
		t.Errorf("%d faults, %d previews executed, want 1 and 0", faults, prepared)
	}
}

// TestADamagedStoreIsNoStumble: what the disk has lost is a fault, whoever asks for it.
func TestADamagedStoreIsNoStumble(t *testing.T) {
	f := newFixture(t)
	l := f.ledger(t, &pool{})
	tx := f.transfer(t, 0)
	for _, tt := range []struct {
		err  error
		ends bool
	}{
		{&exec.Fault{Doing: "read account", Err: store.ErrCorrupt}, true},
		{&exec.Fault{Doing: "read account", Err: store.ErrClosed}, true},
		{&exec.Fault{Doing: "run a message", Err: actor.ErrRecord}, false},
		{exec.Panicked("a defect"), false},
		{exec.ErrLaneFull, false},
	} {
		sel := &order.Selection{Txs: []*chain.VerifiedTx{tx}}
		_, err := l.refuse(t.Context(), sel, []*exec.InvalidTx{{Index: 0, Err: tt.err}})
		if (err != nil) != tt.ends || tt.ends && !errors.Is(err, tt.err) {
			t.Errorf("%v: %v, ends: want %v", tt.err, err, tt.ends)
		}
	}
	if n := l.Stats.Faults.Load(); n != 2 {
		t.Errorf("%d faults counted, want 2", n)
	}
}

// TestWhoLacksMoneyIsDropped: the first transaction of a sender that cannot pay in a block,
// though it could at the head, is packed no more; those behind it, which may only follow from
// that, and one that waits for its nonce stay.
func TestWhoLacksMoneyIsDropped(t *testing.T) { // ADR 206
	f := newFixture(t)
	first, second, third := f.transfer(t, 0), f.transfer(t, 1), f.transfer(t, 2)
	p := &pool{txs: []*chain.VerifiedTx{first, second, third}}
	l := f.ledger(t, p)
	short := &fees.FundsError{Need: 2, Spendable: 1}
	sel := &order.Selection{Txs: []*chain.VerifiedTx{first, second, third}}
	list := []*exec.InvalidTx{{Index: 0, Err: short}, {Index: 1, Err: short}, {Index: 2, Err: &fees.NonceError{Next: 0, Got: 2}}}
	if n, err := l.refuse(t.Context(), sel, list); err != nil || n != 3 {
		t.Fatalf("%d refused, %v", n, err)
	}
	if !slices.Equal(p.txs, []*chain.VerifiedTx{second, third}) {
		t.Errorf("%d wait, want the second and the third", len(p.txs))
	}
}
