package ledger

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
)

// TestBuildingGoesOnBesideTheDisk stops the disk while the first block is written: two
// blocks above it are built and verified, the next waits, and nothing is announced as
// final. When the disk goes on, so does the chain, and no block is lost.
func TestBuildingGoesOnBesideTheDisk(t *testing.T) {
	f := newFixture(t)
	l, verifier := f.ledger(t, &pool{}), f.ledger(t, &pool{})
	reached, gate := make(chan struct{}), make(chan struct{})
	for _, l := range []*Ledger{l, verifier} {
		l.cfg.Committed = func(h chain.Height) {
			if h == 1 {
				reached <- struct{}{}
				<-gate
			}
		}
	}
	parent, ended := f.genesisParent(), make(chan error, 2)
	var blocks []engine.Finalization
	for view := chain.View(1); view <= 3; view++ {
		f.now = f.now.Add(time.Minute)
		made := f.both(t, l, verifier, view, parent)
		blocks = append(blocks, engine.Finalization{Round: beacon.Round{View: view}, Digest: made.Digest, Certificate: []byte("c")})
		parent = engine.ParentRef{Round: beacon.Round{View: view}, Digest: made.Digest}
		if view > 1 {
			continue
		}
		for _, l := range []*Ledger{l, verifier} {
			go func() { ended <- l.Finalized(t.Context(), blocks[0]) }()
			<-reached
		}
	}
	f.now = f.now.Add(time.Minute)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Propose(short, engine.ProposeRequest{Round: beacon.Round{View: 4}, Parent: parent}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a block three above the one that is being written: %v, want it to wait", err)
	}
	for _, l := range []*Ledger{l, verifier} {
		if h := l.Head().Height(); h != 0 || len(l.Events()) != 0 {
			t.Errorf("the head is %d and %d blocks are announced while the first is not durable", h, len(l.Events()))
		}
	}
	done := make(chan engine.Proposed, 1)
	go func() { done <- f.both(t, l, verifier, 4, parent) }()
	close(gate)
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	fourth := <-done
	blocks = append(blocks, engine.Finalization{Round: beacon.Round{View: 4}, Digest: fourth.Digest, Certificate: []byte("c")})
	for _, l := range []*Ledger{l, verifier} {
		for _, b := range blocks {
			if err := l.Finalized(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		for h := chain.Height(1); h <= 4; h++ {
			if e := <-l.Events(); e.Block.Header.Height != h || e.Digest != blocks[h-1].Digest {
				t.Errorf("block %d is announced as the %dth", e.Block.Header.Height, h)
			}
		}
		if got, _ := l.cfg.Store.HeadInfo(); got != 4 {
			t.Errorf("the store is at %d", got)
		}
	}
}

// TestFailedDiskStopsBuilding: a commit that fails ends the ledger, also when it fails
// beside what is being built.
func TestFailedDiskStopsBuilding(t *testing.T) {
	f := newFixture(t)
	l, run := f.stopped(t, &pool{})
	made := f.propose(t, l)
	if err := l.cfg.Store.Close(); err != nil {
		t.Fatal(err)
	}
	err := l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: made.Digest, Certificate: []byte("c")})
	if !isFault(err) {
		t.Errorf("a commit to a closed store: %v, want a fault", err)
	}
	if err := <-run; !isFault(err) {
		t.Errorf("the ledger ended with %v, want the fault", err)
	}
}

// both builds a block by one ledger and has it verified by the other.
func (f *fixture) both(t *testing.T, l, verifier *Ledger, view chain.View, parent engine.ParentRef) engine.Proposed {
	t.Helper()
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: beacon.Round{View: view}, Parent: parent})
	if err != nil {
		t.Error(err)
		return made
	}
	ok, err := verifier.Verify(t.Context(), engine.VerifyRequest{Round: beacon.Round{View: view}, Parent: parent, Digest: made.Digest, Block: made.Block})
	if !ok || err != nil {
		t.Errorf("block of view %d: %v, %v", view, ok, err)
	}
	return made
}
