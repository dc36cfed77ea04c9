package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
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
		l.tree.put(&head)
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

// TestChildOfAMendedBlock: the child of a block that was refused here may come
// before Finalized has mended its parent. It waits for that, and is judged on the
// mended state, in whatever state the ledger is.
func TestChildOfAMendedBlock(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}})
	verifier := f.ledger(t, &pool{})
	request := func(v chain.View, parent engine.ParentRef) engine.VerifyRequest {
		t.Helper()
		r := beacon.Round{View: v}
		p, err := proposer.Propose(t.Context(), engine.ProposeRequest{Round: r, Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		proposer.cfg.Pool.(*pool).txs = nil
		return engine.VerifyRequest{Round: r, Parent: parent, Digest: p.Digest, Block: p.Block}
	}
	first := request(1, f.genesisParent())
	if !proposer.Advance(1) { // without waiting for the block time
		t.Fatal("no block ahead of its time")
	}
	second := request(2, engine.ParentRef{Round: first.Round, Digest: first.Digest})
	damageHead(t, verifier)
	if ok, err := verifier.Verify(t.Context(), first); ok || err != nil {
		t.Fatalf("verdict on a damaged state: %v, %v", ok, err)
	}
	type verdict struct {
		ok  bool
		err error
	}
	judged := make(chan verdict, 1)
	go func() {
		ok, err := verifier.Verify(t.Context(), second)
		judged <- verdict{ok, err}
	}()
	select {
	case v := <-judged:
		t.Fatalf("the child was judged before its parent was mended: %v, %v", v.ok, v.err)
	case <-time.After(50 * time.Millisecond): // no verdict can be waited for
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := verifier.Verify(late, second); !errors.Is(err, context.Canceled) {
		t.Errorf("a judgement that nobody waits for any more: %v", err)
	}
	for _, req := range []engine.VerifyRequest{first, second} {
		if err := verifier.Finalized(t.Context(), engine.Finalization{Round: req.Round, Digest: req.Digest, Certificate: []byte("c")}); err != nil {
			t.Fatal(err)
		}
		<-verifier.Events()
		if req.Digest == first.Digest {
			if v := <-judged; !v.ok || v.err != nil {
				t.Fatalf("the child of the mended block: %v, %v", v.ok, v.err)
			}
		}
	}
	if h := verifier.Head().Height(); h != 2 {
		t.Errorf("head %d, want 2", h)
	}
}

// TestProposalOnAMendedBlock: who leads behind a block that it refused itself does
// not lose its view for that. It builds when Finalized has mended the parent, if
// the view lasts so long.
func TestProposalOnAMendedBlock(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}})
	leader := f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	damageHead(t, leader)
	first := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: p.Digest, Block: p.Block}
	if ok, err := leader.Verify(t.Context(), first); ok || err != nil {
		t.Fatalf("verdict on a damaged state: %v, %v", ok, err)
	}
	if !leader.Advance(1) { // without waiting for the block time
		t.Fatal("no block ahead of its time")
	}
	req := engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: engine.ParentRef{Round: first.Round, Digest: first.Digest}}
	late, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := leader.Propose(late, req)
		over <- err
	}()
	type answer struct {
		p   engine.Proposed
		err error
	}
	built := make(chan answer, 1)
	go func() {
		p, err := leader.Propose(t.Context(), req)
		built <- answer{p, err}
	}()
	select {
	case a := <-built:
		t.Fatalf("an answer before the parent was mended: %v", a.err)
	case <-time.After(50 * time.Millisecond): // no block can be waited for
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("a proposal that nobody waits for any more: %v", err)
	}
	for _, l := range []*Ledger{proposer, leader} {
		if err := l.Finalized(t.Context(), engine.Finalization{Round: first.Round, Digest: first.Digest, Certificate: []byte("c")}); err != nil {
			t.Fatal(err)
		}
		<-l.Events()
	}
	a := <-built
	if a.err != nil {
		t.Fatal(a.err)
	}
	second := engine.VerifyRequest{Round: req.Round, Parent: req.Parent, Digest: a.p.Digest, Block: a.p.Block}
	if ok, err := proposer.Verify(t.Context(), second); !ok || err != nil {
		t.Errorf("the block on the mended state: %v, %v", ok, err)
	}
}

// TestDoubtsOutliveTheirParent: a block may be refused while its parent is still
// being made durable. It is remembered past that.
func TestDoubtsOutliveTheirParent(t *testing.T) {
	f := newFixture(t)
	proposer, verifier := f.ledger(t, &pool{}), f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	first := engine.VerifyRequest{Round: firstRound(), Parent: f.genesisParent(), Digest: p.Digest, Block: p.Block}
	if ok, err := verifier.Verify(t.Context(), first); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	block, err := chain.DecodeBlock(p.Block, len(p.Block))
	if err != nil {
		t.Fatal(err)
	}
	_, err = call(t.Context(), verifier, func(context.Context) (struct{}, error) {
		child := &chain.Block{Header: chain.Header{Height: 2, Parent: p.Digest}}
		verifier.noteRejected(rejected{block: block})
		verifier.noteRejected(rejected{block: child})
		return struct{}{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: p.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	<-verifier.Events()
	got, err := call(t.Context(), verifier, func(context.Context) (int, error) { return len(verifier.rejected), nil })
	if err != nil || got != 1 || verifier.rejected[0].block.Header.Height != 2 {
		t.Errorf("%d doubts are kept, want the one above the head; %v", got, err)
	}
}

// TestFinalBlockRefusedTwiceIsAFault: with a good state, a block that executes to
// something else is the end of the voting, not a verdict.
func TestFinalBlockRefusedTwiceIsAFault(t *testing.T) {
	f := newFixture(t)
	proposer := f.ledger(t, &pool{txs: []*chain.VerifiedTx{f.transfer(t, 0)}})
	verifier := f.ledger(t, &pool{})
	p := f.propose(t, proposer)
	for range 2 * rejectedMax { // older doubts are forgotten
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
	_, err := call(t.Context(), verifier, func(context.Context) (struct{}, error) {
		if len(verifier.rejected) != rejectedMax {
			t.Errorf("%d doubts", len(verifier.rejected))
		}
		_, got = verifier.beginCommit(engine.Finalization{Round: firstRound(), Digest: p.Digest, Certificate: []byte("c")})
		return struct{}{}, nil // the fault itself would end the ledger
	})
	if err != nil || !isFault(got) || !strings.Contains(got.Error(), "twice") {
		t.Errorf("finalized: %v; %v", got, err)
	}
	if verifier.Head().Height() != 0 {
		t.Error("the block was committed")
	}
}
