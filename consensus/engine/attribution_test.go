package engine

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// A vote whose individual signature is wrong does not count towards a
// certificate built here, whatever its partials (resolution 11.3).
func TestBadIndividualSignatureDoesNotCount(t *testing.T) {
	play(t, func(s *scene) {
		bad := s.voice[2].Sign(simplex.Nullify, view(1, 0))
		bad.Individual = s.voice[3].Sign(simplex.Nullify, view(1, 0)).Individual
		s.hear(2, simplex.AppendVote(nil, bad))
		s.hear(1, s.vote(1, simplex.Nullify, view(1, 0))) // and we follow the leader: three votes
		if v, n := s.engine.Stats.View.Load(), s.engine.Stats.Bans.Load(); v != 1 || n != 1 {
			t.Errorf("view %d after %d bans, want 1 and 1", v, n)
		}
		s.hear(3, s.vote(3, simplex.Nullify, view(1, 0)))
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Errorf("view %d with three good votes, want 2", v)
		}
	})
}

// Two contradicting votes become evidence, if both are really signed
// (resolutions 11.2 and 11.3).
func TestContradictionsBecomeEvidence(t *testing.T) {
	var proofs []attest.Evidence
	collect := func(c *Config) {
		proofs = nil
		c.Evidence = func(e attest.Evidence) { proofs = append(proofs, e) }
	}
	tests := []struct {
		rule string
		say  func(s *scene) [][]byte
		want int
	}{
		{"two notarizes", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Notarize, view(1, 1)), s.vote(1, simplex.Notarize, view(1, 2))}
		}, 1},
		{"two proposals", func(s *scene) [][]byte {
			_, _, first := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
			_, _, second := s.offerOf([]byte("another block"))
			return [][]byte{first, second}
		}, 1},
		{"notarize one, finalize another", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Notarize, view(1, 1)), s.vote(1, simplex.Finalize, view(1, 2))}
		}, 1},
		{"nullify and finalize", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Nullify, view(1, 1)), s.vote(1, simplex.Finalize, view(1, 1))}
		}, 1},
		{"one of them unsigned", func(s *scene) [][]byte {
			forged := s.voice[1].Sign(simplex.Notarize, view(1, 2))
			forged.Individual = simplex.Individual{}
			return [][]byte{s.vote(1, simplex.Notarize, view(1, 1)), simplex.AppendVote(nil, forged)}
		}, 0},
		{"two signatures of one vote", func(s *scene) [][]byte {
			again := s.voice[1].Sign(simplex.Notarize, view(1, 1))
			again.Seed[5] ^= 1
			return [][]byte{s.vote(1, simplex.Notarize, view(1, 1)), simplex.AppendVote(nil, again)}
		}, 0},
	}
	for _, c := range tests {
		t.Run(c.rule, func(t *testing.T) {
			playWith(t, collect, func(s *scene) {
				for _, msg := range c.say(s) {
					s.hear(1, msg)
				}
				if len(proofs) != c.want || s.engine.Stats.Evidence.Load() != uint64(c.want) {
					t.Fatalf("%d proofs, want %d", len(proofs), c.want)
				}
				for _, e := range proofs {
					if err := simplex.VerifyEvidence(s.engine.cfg.Set, e); err != nil || e.Accused != s.engine.cfg.Set.At(1).PeerKey {
						t.Errorf("%+v: %v", e, err)
					}
				}
				if s.engine.Stats.Peers[1].BlockedUntilUnix.Load() == 0 {
					t.Error("the culprit is not banned")
				}
			})
		})
	}
}

// The application learns who had to propose, so that it can hold the header
// against it.
func TestVerifyNamesTheLeader(t *testing.T) {
	play(t, func(s *scene) {
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.hear(who, msg)
		if want := s.engine.cfg.Set.At(who).PeerKey; s.app.leader != want {
			t.Errorf("leader %v, want %v", s.app.leader, want)
		}
	})
}

// Bytes from somebody who does not lead cannot take the place of the leader's.
func TestStrangersCannotSpoilAProposal(t *testing.T) {
	play(t, func(s *scene) {
		block := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		who, p, msg := s.offerOf(block)
		s.hear(2, wire.Append(nil, wire.Offer{Vote: s.voice[2].Sign(simplex.Notarize, p), Block: []byte("not the block")}))
		s.hear(who, msg)
		own := ownVotes(s.net.broadcast)
		if len(own) == 0 || own[0].Kind != simplex.Notarize || slices.ContainsFunc(own, func(v simplex.Vote) bool { return v.Kind == simplex.Nullify }) {
			t.Errorf("votes %v, want a notarize and no nullify", own)
		}
	})
}

// A guard that remembers a later view keeps us from voting in older ones again,
// as after the loss of the journal, and lets us go on above (W14).
func TestLostJournalDoesNotVoteAgain(t *testing.T) {
	guard := new(memory)
	guard.Note(simplex.Notarize, view(1, 9))
	playWith(t, func(c *Config) { c.Guard = guard }, func(s *scene) {
		who, p, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.hear(who, msg)
		if own := ownVotes(s.net.broadcast); len(own) != 0 {
			t.Fatalf("votes %v beside a forgotten one of view 1", own)
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, p)))
		s.wait(3 * time.Second)
		if own := ownVotes(s.net.broadcast); len(own) == 0 || own[0].Proposal.Round.View != 2 {
			t.Errorf("votes %v, want some in view 2", own)
		}
		if s.engine.Stats.VotesWithheld.Load() == 0 {
			t.Error("no vote was withheld")
		}
	})
}

// failing is a guard whose disk is gone.
type failing struct{ memory }

func (*failing) Sync() error { return errDisk }

// A vote that the guard cannot make durable does not leave.
func TestVoteWaitsForTheGuard(t *testing.T) {
	playWith(t, func(c *Config) { c.Guard = new(failing) }, func(s *scene) {
		s.after = func(err error) {
			if !errors.Is(err, errDisk) {
				t.Errorf("Run = %v, want %v", err, errDisk)
			}
		}
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.hear(who, msg)
		if own := ownVotes(s.net.broadcast); len(own) != 0 {
			t.Errorf("votes %v left", own)
		}
	})
}

// A vote that a crash left in the journal alone is in the guard before it is sent
// again.
func TestVoteOfTheJournalWaitsForTheGuard(t *testing.T) {
	disk := new(diskJournal)
	playOn(t, disk, func(*Config) {}, func(s *scene) {
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.hear(who, msg)
	})
	playOn(t, disk, func(c *Config) { c.Guard = new(failing) }, func(s *scene) {
		s.after = func(err error) {
			if !errors.Is(err, errDisk) {
				t.Errorf("Run = %v, want %v", err, errDisk)
			}
		}
		if own := ownVotes(s.net.broadcast); len(own) != 0 {
			t.Errorf("votes %v left", own)
		}
	})
}

// yes is a guard that refuses nothing, as one on another machine may for us.
type yes struct{ memory }

func (*yes) Permit(simplex.Kind, simplex.Proposal) error { return nil }

// The node's own check does not rest on the guard: with one that permits
// everything, the journal alone keeps a restarted validator from voting twice
// (tendermint issue 3328).
func TestJournalChecksBesideTheGuard(t *testing.T) {
	disk := new(diskJournal)
	blockOf := func(s *scene, tx uint64) (beacon.Participant, []byte) {
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, tx))
		return who, msg
	}
	life := func(tx uint64) (own []simplex.Vote) {
		playOn(t, disk, func(c *Config) { c.Guard = new(yes) }, func(s *scene) {
			who, msg := blockOf(s, tx)
			s.hear(who, msg)
			own = ownVotes(s.net.broadcast)
		})
		return own
	}
	first := life(1)
	if len(first) == 0 || first[0].Kind != simplex.Notarize {
		t.Fatalf("votes %v, want a notarize", first)
	}
	for _, v := range life(2) {
		if v.Kind == simplex.Notarize && v.Proposal != first[0].Proposal {
			t.Errorf("a second word in view 1: %+v after %+v", v.Proposal, first[0].Proposal)
		}
	}
}

// What we say of leaders is what they did.
func TestLeadersAreCounted(t *testing.T) {
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &mesh{engines: make([]*Engine, 4)}
		var app *chainApp
		for i := range 3 { // the last one is down
			app = newChainApp(t, g.Hash())
			app.blockTime = time.Second
			e, err := New(testConfig(t, set, shares[i], g.Hash()), app, port{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines[i] = e
		}
		reached := app.want(30)
		for _, e := range network.engines[:3] {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		<-reached
		stats := &network.engines[0].Stats
		made := uint64(0)
		for i := range stats.Leaders {
			l, p := &stats.Leaders[i], &stats.Peers[i]
			made += l.ProposalsMade.Load()
			lag := stats.View.Load() - p.LastVoteView.Load()
			switch {
			case i == 3 && (l.ProposalsMade.Load() != 0 || l.ProposalsMissed.Load() == 0 || l.Timeouts.Load() == 0 || p.LastVoteView.Load() != 0):
				t.Error("the leader that is down is not seen to be")
			case i < 3 && (l.ProposalsMade.Load() == 0 || l.ProposalsMissed.Load() != 0):
				t.Errorf("leader %d made %d and missed %d proposals", i, l.ProposalsMade.Load(), l.ProposalsMissed.Load())
			case (i == 1 || i == 2) && lag > 2:
				t.Errorf("validator %d lags by %d views", i, lag)
			}
		}
		if made < 28 {
			t.Errorf("%d proposals seen of 30 blocks", made)
		}
	})
}

// The views of a dead validator cost the others a leader timeout each, until it
// has been silent for long enough.
func TestDeadLeaderIsSkipped(t *testing.T) {
	set, dealt, g := committee(t, 4)
	pace := func(skipAfter int) (took time.Duration, skips uint64) {
		synctest.Test(t, func(t *testing.T) {
			network := &lossy{}
			var reached []<-chan struct{}
			for i := range 3 {
				app := newChainApp(t, g.Hash())
				app.blockTime = 100 * time.Millisecond
				cfg := testConfig(t, set, dealt[i], g.Hash())
				cfg.SkipAfter = skipAfter
				e, err := New(cfg, app, lossyPort{network, beacon.Participant(i)}, new(diskJournal))
				if err != nil {
					t.Fatal(err)
				}
				network.engines = append(network.engines, e)
				reached = append(reached, app.want(60))
			}
			network.drop = func(_, to beacon.Participant, _ []byte) bool { return to == 3 }
			start := time.Now()
			for _, e := range network.engines {
				stop, _ := run(t, e)
				defer func() { _ = stop() }()
			}
			for _, done := range reached {
				<-done
			}
			took, skips = time.Since(start), network.engines[0].Stats.LeaderSkips.Load()
		})
		return took, skips
	}
	waited, none := pace(0)
	skipped, some := pace(DefaultConfig(&g.Params).SkipAfter)
	if none != 0 || some == 0 || skipped > waited/2 {
		t.Errorf("60 blocks in %v, with %d skips; with the parameter in %v, with %d", waited, none, skipped, some)
	}
}

// A leader that votes for its block and keeps the block from us has missed its
// proposal as far as we are concerned, though the others notarize it.
func TestWithheldProposalIsMissed(t *testing.T) {
	set, dealt, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &lossy{}
		network.alter = func(from, to beacon.Participant, msg []byte) []byte {
			if from == 0 && to == 1 && msg[0] == wire.TagOffer {
				m, err := wire.Decode(msg, wire.Limits{BlockBytesMax: 1 << 20})
				if err != nil {
					t.Error(err)
				}
				return simplex.AppendVote(nil, m.(wire.Offer).Vote)
			}
			return msg
		}
		apps := make([]*chainApp, 4)
		for i := range apps {
			apps[i] = newChainApp(t, g.Hash())
			apps[i].blockTime = 100 * time.Millisecond
			e, err := New(testConfig(t, set, dealt[i], g.Hash()), apps[i], lossyPort{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines = append(network.engines, e)
		}
		reached := apps[1].want(40)
		for _, e := range network.engines {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		<-reached
		for i, e := range network.engines[1:3] {
			for who := range e.Stats.Leaders {
				l := &e.Stats.Leaders[who]
				made, missed := l.ProposalsMade.Load(), l.ProposalsMissed.Load()
				withheld := i == 0 && who == 0
				if withheld != (made == 0) || withheld != (missed > 0) {
					t.Errorf("validator %d counts %d proposals made and %d missed by leader %d", i+1, made, missed, who)
				}
			}
		}
	})
}

// synced is a guard that knows what it made durable.
type synced struct {
	memory
	durable simplex.Watermark
}

func (g *synced) Sync() error { g.durable = g.mark; return nil }

// Whatever operation of the journal fails, the guard never has a vote that the
// journal has not: a view would be closed for a block that is nowhere (hostile.md
// D1). With one validator that is the end of the chain.
func TestGuardWaitsForTheJournal(t *testing.T) {
	set, shares, g := committee(t, 1)
	failed := 0
	for failOp := 1; failOp < 30; failOp++ {
		synctest.Test(t, func(t *testing.T) {
			guard, journal := new(synced), &diskJournal{failOp: failOp}
			cfg := testConfig(t, set, shares[0], g.Hash())
			cfg.Guard = guard
			e, err := New(cfg, newChainApp(t, g.Hash()), Alone{}, journal)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Run(t.Context()); !errors.Is(err, errDisk) {
				t.Fatalf("operation %d: Run = %v", failOp, err)
			}
			failed++
			var remembered simplex.Watermark
			for _, rec := range journal.durable {
				if r, err := simplex.DecodeRecord(rec); err == nil {
					if v, ok := r.(simplex.Vote); ok {
						remembered.Note(v.Kind, v.Proposal)
					}
				}
			}
			if guard.durable.Round().View > remembered.Round().View {
				t.Errorf("operation %d: the guard has view %d, the journal view %d", failOp, guard.durable.Round().View, remembered.Round().View)
			}
		})
	}
	if failed < 20 {
		t.Errorf("only %d operations failed", failed)
	}
}
