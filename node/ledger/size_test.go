package ledger

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/lanes"
)

func TestBlockSize(t *testing.T) {
	p := params.Default() // leader timeout 2 s, block time 1 s
	s := newBlockSize(&p)
	most := s.limit
	if most != int(p.MaxBlockBytes)-blockEnvelopeBytes {
		t.Fatalf("starts at %d bytes", most)
	}
	s.built(1<<20, 5*time.Second, true)
	if s.limit != 1<<19 {
		t.Errorf("after a late block of 1 MiB: %d bytes, want half of it", s.limit)
	}
	s.built(1<<19, 800*time.Millisecond, false)
	if s.limit != 1<<19 {
		t.Errorf("after a slow block: %d bytes, want the same", s.limit)
	}
	s.built(1<<19, time.Millisecond, false)
	if s.limit <= 1<<19 {
		t.Errorf("after a quick block: %d bytes, want more", s.limit)
	}
	for range 100 {
		s.built(0, 0, false)
	}
	if s.limit != most {
		t.Errorf("after many quick blocks: %d bytes, want %d", s.limit, most)
	}
	for range 100 {
		s.built(most, time.Minute, true)
	}
	if s.limit < int(p.MaxTxBytes) {
		t.Errorf("after many late blocks: %d bytes, too few for one transaction", s.limit)
	}
}

// slowPool takes longer to pack than the view lasts, as a large backlog would.
type slowPool struct {
	over     func() // ends the view
	release  chan struct{}
	maxBytes []int
}

func (p *slowPool) Pack(_ context.Context, req lanes.PackRequest) (order.Selection, error) {
	p.maxBytes = append(p.maxBytes, req.MaxBytes)
	p.over()
	<-p.release
	return order.Selection{}, nil
}

func (p *slowPool) Executable() int { return 0 }

func (p *slowPool) Reconsider(context.Context, []*chain.VerifiedTx) error { return nil }

func (p *slowPool) Shun(context.Context, []*chain.VerifiedTx) error { return nil }

func (p *slowPool) Discard(context.Context, []*chain.VerifiedTx) error { return nil }

func TestLateProposalIsFollowedByASmallerOne(t *testing.T) {
	f := newFixture(t)
	view, end := context.WithCancel(t.Context())
	p := &slowPool{over: end, release: make(chan struct{})}
	l := f.ledger(t, p)
	req := engine.ProposeRequest{Round: firstRound(), Parent: f.genesisParent()}
	if _, err := l.Propose(view, req); !errors.Is(err, context.Canceled) {
		t.Fatalf("Propose past its view = %v", err)
	}
	close(p.release)
	req.Round.View++
	if _, err := l.Propose(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if len(p.maxBytes) != 2 || p.maxBytes[1] >= p.maxBytes[0]/2 {
		t.Errorf("packed to %v bytes, want less after the late one", p.maxBytes)
	}
}
