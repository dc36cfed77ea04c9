package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

var errApp = errors.New("application is at fault")

// faultyApp fails in one place.
type faultyApp struct {
	*chainApp
	propose, finalized error
}

func (a *faultyApp) Propose(ctx context.Context, req ProposeRequest) (Proposed, error) {
	if a.propose != nil {
		return Proposed{}, a.propose
	}
	return a.chainApp.Propose(ctx, req)
}

func (a *faultyApp) Finalized(ctx context.Context, f Finalization) error {
	if a.finalized != nil {
		return a.finalized
	}
	return a.chainApp.Finalized(ctx, f)
}

// A fault of the application is no verdict: it stops the validator.
func TestFaultsEndRun(t *testing.T) {
	set, shares, g := committee(t, 1)
	for name, app := range map[string]*faultyApp{
		"propose":   {propose: errApp},
		"finalized": {finalized: errApp},
	} {
		synctest.Test(t, func(t *testing.T) {
			app.chainApp = newChainApp(t, g.Hash())
			e, err := New(testConfig(t, set, shares[0], g.Hash()), app, Alone{}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Run(t.Context()); !errors.Is(err, errApp) {
				t.Errorf("%s: Run = %v, want the fault", name, err)
			}
		})
	}
}

// A Propose that takes longer than the view is cancelled, and the next view
// asks anew.
func TestSlowProposeIsCancelled(t *testing.T) {
	set, shares, g := committee(t, 1)
	synctest.Test(t, func(t *testing.T) {
		app := newChainApp(t, g.Hash())
		app.blockTime = time.Hour // beyond the leader timeout
		e, err := New(testConfig(t, set, shares[0], g.Hash()), app, Alone{}, new(diskJournal))
		if err != nil {
			t.Fatal(err)
		}
		stop, _ := run(t, e)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if v := e.Stats.View.Load(); v != 5 { // a view per leader timeout of 2 s
			t.Errorf("view %d after 9 s, want 5", v)
		}
		if n := e.Stats.ProposalsMissed.Load(); n != 4 {
			t.Errorf("%d proposals missed, want 4", n)
		}
		_ = stop()
	})
}

// offerOf returns the offer of the leader of view 1.
func (s *scene) offerOf(block []byte) (beacon.Participant, simplex.Proposal, []byte) {
	const who = 1
	p := simplex.Proposal{Round: beacon.Round{View: 1}, Payload: digestOf(block)}
	return who, p, wire.Append(nil, wire.Offer{Vote: s.voice[who].Sign(simplex.Notarize, p), Block: block})
}

// A leader whose bytes are not the block of its digest loses its view; the
// block itself is not judged, and comes back by its certificate.
func TestWrongBytesAreNoVerdict(t *testing.T) {
	play(t, func(s *scene) {
		block := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		who, p, good := s.offerOf(block)
		wrong := append(good[:len(good)-len(block):len(good)-len(block)], "something else"...)
		s.hear(who, wrong)
		if own := ownVotes(s.net.broadcast); len(own) != 1 || own[0].Kind != simplex.Nullify {
			t.Fatalf("votes %v, want one nullify", own)
		}
		c := s.certificate(simplex.Notarize, p)
		s.hear(3, simplex.AppendCertificate(nil, c))
		s.hear(3, wire.Append(nil, wire.Backfill{Certificate: c, Block: block}))
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Errorf("view %d after the right bytes came, want 2", v)
		}
		if n := s.engine.Stats.BlocksRejected.Load(); n != 0 {
			t.Errorf("%d blocks rejected, want none", n)
		}
	})
}

// A validator whose clock is behind gives an early block no vote. When the others
// finalize it all the same, that is no contradiction: the clock has no say then.
func TestEarlyBlockIsJudgedAgainWithoutTheClock(t *testing.T) {
	play(t, func(s *scene) {
		s.app.late = true
		block := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		who, p, good := s.offerOf(block)
		s.hear(who, good)
		if own := ownVotes(s.net.broadcast); len(own) != 1 || own[0].Kind != simplex.Nullify {
			t.Fatalf("votes %v, want one nullify", own)
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, p)))
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Errorf("view %d after the notarization, want 2", v)
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, p)))
		if len(s.app.final) != 1 {
			t.Errorf("final: %v", s.app.final)
		}
	})
}

// Wrong bytes for the leader's block that come from somebody else, and first,
// must not cost the leader its view.
func TestWrongBytesOfOthersDoNoHarm(t *testing.T) {
	play(t, func(s *scene) {
		block := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		who, p, good := s.offerOf(block)
		for _, liar := range []int{2, 3} {
			garbage := append(slices.Clone(block), byte(liar))
			s.hear(beacon.Participant(liar), wire.Append(nil, wire.Offer{Vote: s.voice[liar].Sign(simplex.Notarize, p), Block: garbage}))
		}
		s.hear(who, good)
		if own := ownVotes(s.net.broadcast); len(own) == 0 || own[0].Kind != simplex.Notarize {
			t.Errorf("votes %v, want a notarize first", own)
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, p)))
		if len(s.app.final) != 1 {
			t.Errorf("final: %v", s.app.final)
		}
		if b := s.engine.blocks.byDigest(1, p.Payload); b == nil || s.engine.blocks.bytes != len(block) {
			t.Errorf("%d bytes are kept for a block of %d", s.engine.blocks.bytes, len(block))
		}
	})
}

// An invalid block costs its leader the view; a valid one gets our vote, and a
// finalization makes it final.
func TestOffersAreJudged(t *testing.T) {
	play(t, func(s *scene) {
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 2)) // wrong height
		s.hear(who, msg)
		if own := ownVotes(s.net.broadcast); len(own) != 1 || own[0].Kind != simplex.Nullify {
			t.Errorf("votes %v, want one nullify", own)
		}
		if n := s.engine.Stats.BlocksRejected.Load(); n != 1 {
			t.Errorf("%d blocks rejected, want 1", n)
		}
	})
	play(t, func(s *scene) {
		who, p, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.hear(who, msg)
		if own := ownVotes(s.net.broadcast); len(own) != 1 || own[0].Kind != simplex.Notarize {
			t.Fatalf("votes %v, want one notarize", own)
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, p)))
		if len(s.app.final) != 1 || s.app.final[0].Digest != p.Payload {
			t.Errorf("final: %v", s.app.final)
		}
		if len(s.app.final) == 1 && [48]byte(s.certificate(simplex.Nullify, p).Seed) != s.app.final[0].Seed {
			t.Error("the seed of the finalization is not the seed of the round")
		}
	})
}

// ownVotes returns the votes among messages of validator 0.
func ownVotes(sent [][]byte) []simplex.Vote {
	var out []simplex.Vote
	for _, raw := range sent {
		switch m, _ := wire.Decode(raw, wire.Limits{BlockBytesMax: 1 << 20}); m := m.(type) {
		case simplex.Vote:
			out = append(out, m)
		case wire.Offer:
			out = append(out, m.Vote)
		}
	}
	return out
}

// BenchmarkSingleValidator measures the overhead of consensus per block with
// one validator: real threshold keys, no disk, an application that costs
// nothing.
func BenchmarkSingleValidator(b *testing.B) {
	set, shares, g := committee(b, 1)
	app := newChainApp(b, g.Hash())
	e, err := New(testConfig(b, set, shares[0], g.Hash()), app, Alone{}, new(diskJournal))
	if err != nil {
		b.Fatal(err)
	}
	reached := app.want(b.N)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	b.ReportAllocs()
	go func() { done <- e.Run(ctx) }()
	<-reached
	b.StopTimer()
	cancel()
	<-done
}

// What a quorum finalized is not refused for ever, in whatever order verdict and
// certificate come: the application gets it as final, and has the last word.
func TestFinalityOverrulesAVerdict(t *testing.T) {
	for name, first := range map[string]func(s *scene, p simplex.Proposal){
		"after a nullify vote": func(*scene, simplex.Proposal) {},
		"after a refusal to certify": func(s *scene, p simplex.Proposal) {
			s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, p)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.after = func(err error) {
					if err == nil || !strings.Contains(err.Error(), "was never executed") {
						t.Errorf("Run = %v, want what the application says to a final block that it refused", err)
					}
				}
				who, p, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 2)) // wrong height
				s.hear(who, msg)
				first(s, p)
				s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, p)))
			})
		})
	}
}
