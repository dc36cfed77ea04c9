package engine

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// witness is a network that remembers what one engine sent.
type witness struct {
	broadcast [][]byte
	forgot    int // how often it was told to forget votes
	sent      map[beacon.Participant][][]byte
}

func (w *witness) Broadcast(msg []byte) { w.broadcast = append(w.broadcast, msg) }

func (w *witness) ForgetVotes() { w.forgot++ }

func (w *witness) Send(to beacon.Participant, msg []byte) {
	if w.sent == nil {
		w.sent = map[beacon.Participant][][]byte{}
	}
	w.sent[to] = append(w.sent[to], msg)
}

// scene is engine 0 of four, and the voices of the three others.
type scene struct {
	t      *testing.T
	engine *Engine
	app    *chainApp
	net    *witness
	voice  [4]*simplex.Threshold
	parent ParentRef
	ended  error       // what Run returned
	after  func(error) // looks at it
}

// play runs f with a running engine that never proposes, in virtual time.
func play(t *testing.T, f func(s *scene)) { playWith(t, func(*Config) {}, f) }

// playWith does so with an altered configuration.
func playWith(t *testing.T, change func(*Config), f func(s *scene)) {
	playOn(t, new(diskJournal), change, f)
}

// playOn does so on a journal that may be of an earlier life.
func playOn(t *testing.T, disk *diskJournal, change func(*Config), f func(s *scene)) {
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, app: newChainApp(t, g.Hash()), net: new(witness), parent: ParentRef{Digest: g.Hash()}}
		s.app.blockTime = time.Hour
		for i := range s.voice {
			s.voice[i] = voiceOf(t, set, shares, i)
		}
		cfg := testConfig(t, set, shares[0], g.Hash())
		change(&cfg)
		var err error
		if s.engine, err = New(cfg, s.app, s.net, disk); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.engine.Run(ctx) }()
		synctest.Wait()
		f(s)
		cancel()
		s.ended = <-done
		if s.after != nil {
			s.after(s.ended)
		}
	})
}

// hear delivers a message and lets the engine act on it.
func (s *scene) hear(from beacon.Participant, msg []byte) {
	s.t.Helper()
	if err := s.engine.Deliver(from, msg); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// wait lets time pass. The message from nobody orders what the test has read
// before what the engine does next.
func (s *scene) wait(d time.Duration) {
	s.t.Helper()
	s.hear(99, nil)
	time.Sleep(d)
	synctest.Wait()
}

func (s *scene) vote(who int, k simplex.Kind, p simplex.Proposal) []byte {
	return simplex.AppendVote(nil, s.voice[who].Sign(k, p))
}

func (s *scene) certificate(k simplex.Kind, p simplex.Proposal) simplex.Certificate {
	s.t.Helper()
	var votes []simplex.Vote
	for _, v := range s.voice[1:] {
		votes = append(votes, v.Sign(k, p))
	}
	c, err := s.voice[0].Recover(votes)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func view(v chain.View, digest byte) simplex.Proposal {
	return simplex.Proposal{Round: beacon.Round{View: v}, Payload: chain.Hash{digest}}
}

// What no honest validator sends gets the sender banned; what comes too early
// or too late does not (consensus.md §1.4).
func TestBans(t *testing.T) {
	foreign := beacon.Round{Epoch: 1, View: 1}
	tests := []struct {
		rule string
		say  func(s *scene) [][]byte // by validator 1
		want uint64
	}{
		{"undecodable bytes", func(*scene) [][]byte { return [][]byte{{'?'}} }, 1},
		{"an empty message", func(*scene) [][]byte { return [][]byte{{}} }, 1},
		{"a vote in another's name", func(s *scene) [][]byte { return [][]byte{s.vote(2, simplex.Nullify, view(1, 0))} }, 1},
		{"a vote of another epoch", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Nullify, simplex.Proposal{Round: foreign})}
		}, 1},
		{"two notarizes of a view", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Notarize, view(1, 1)), s.vote(1, simplex.Notarize, view(1, 2))}
		}, 1},
		{"nullify and finalize of a view", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Nullify, view(1, 1)), s.vote(1, simplex.Finalize, view(1, 1))}
		}, 1},
		{"a certificate nobody signed", func(s *scene) [][]byte {
			c := s.certificate(simplex.Nullify, view(1, 0))
			c.Signature = c.Seed
			return [][]byte{simplex.AppendCertificate(nil, c)}
		}, 1},
		{"a certificate of another epoch", func(s *scene) [][]byte {
			return [][]byte{simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, simplex.Proposal{Round: foreign}))}
		}, 1},
		{"the same vote twice", func(s *scene) [][]byte {
			return [][]byte{s.vote(1, simplex.Nullify, view(1, 0)), s.vote(1, simplex.Nullify, view(1, 0))}
		}, 0},
		{"a vote far ahead", func(s *scene) [][]byte { return [][]byte{s.vote(1, simplex.Nullify, view(9, 0))} }, 0},
		{"a vote for view 0", func(s *scene) [][]byte { return [][]byte{s.vote(1, simplex.Nullify, view(0, 0))} }, 0},
		{"a good certificate far ahead", func(s *scene) [][]byte {
			return [][]byte{simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(9, 0)))}
		}, 0},
		{"a preview of a parent above it", func(*scene) [][]byte {
			return [][]byte{wire.Append(nil, wire.Preview{Round: beacon.Round{View: 1}, Parent: 1, Bytes: []byte("x")})}
		}, 1},
		{"a preview of another's view", func(*scene) [][]byte {
			return [][]byte{wire.Append(nil, wire.Preview{Round: beacon.Round{View: 9}, Parent: 8, Bytes: []byte("x")})}
		}, 0},
		{"a request of another epoch", func(*scene) [][]byte { return [][]byte{wire.Append(nil, wire.Request{Round: foreign})} }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			play(t, func(s *scene) {
				for _, msg := range tt.say(s) {
					s.hear(1, msg)
				}
				if got := s.engine.Stats.Bans.Load(); got != tt.want {
					t.Errorf("%d bans, want %d", got, tt.want)
				}
			})
		})
	}
}

// A ban holds its time and no longer.
func TestBanExpires(t *testing.T) {
	play(t, func(s *scene) {
		s.hear(1, []byte{'?'})
		s.hear(1, s.vote(1, simplex.Nullify, view(1, 0)))
		if n := s.engine.Stats.Dropped.Load(); n != 1 {
			t.Errorf("%d messages dropped during the ban, want 1", n)
		}
		time.Sleep(s.engine.cfg.BlockPeerFor + time.Second)
		s.hear(1, s.vote(1, simplex.Nullify, view(1, 0)))
		if n := s.engine.Stats.Dropped.Load(); n != 1 {
			t.Errorf("%d messages dropped after the ban, want still 1", n)
		}
	})
}

// A message from nobody of the set is dropped.
func TestStrangersAreDropped(t *testing.T) {
	play(t, func(s *scene) {
		s.hear(4, s.vote(1, simplex.Nullify, view(1, 0)))
		if n := s.engine.Stats.Dropped.Load(); n != 1 {
			t.Errorf("%d dropped, want 1", n)
		}
	})
}

// A bad partial signature is found when it would count, costs its signer, and
// the quorum is made from the others (consensus.md §1.4).
func TestBadPartialIsFoundAtTheQuorum(t *testing.T) {
	play(t, func(s *scene) {
		bad := s.voice[2].Sign(simplex.Nullify, view(1, 0))
		bad.Seed = bad.Signature
		s.hear(2, simplex.AppendVote(nil, bad))
		s.hear(3, s.vote(3, simplex.Nullify, view(1, 0)))
		if n := s.engine.Stats.VotesVerified.Load(); n != 0 {
			t.Errorf("%d votes verified before a quorum is possible", n)
		}
		s.hear(1, s.vote(1, simplex.Nullify, view(1, 0))) // the leader gives up, and so do we
		if n := s.engine.Stats.Bans.Load(); n != 1 {
			t.Errorf("%d bans, want the one bad signer", n)
		}
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Errorf("view %d, want 2: three good votes of four", v)
		}
	})
}

// A validator that is behind gets certificates, and blocks with them.
func TestRequestsAreAnswered(t *testing.T) {
	play(t, func(s *scene) {
		block := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		p := simplex.Proposal{Round: beacon.Round{View: 1}, Payload: digestOf(block)}
		c := s.certificate(simplex.Notarize, p)
		s.hear(1, simplex.AppendCertificate(nil, c))
		if len(s.asked(1)) == 0 {
			t.Error("the block of a notarization was not asked for")
		}
		s.hear(2, wire.Append(nil, wire.Backfill{Certificate: c, Block: []byte("not the block")}))
		if s.engine.Stats.Peers[2].BlockedUntilUnix.Load() == 0 {
			t.Error("bytes that are not the block of a good certificate cost nothing")
		}
		s.hear(1, wire.Append(nil, wire.Backfill{Certificate: c, Block: block}))
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Fatalf("view %d after the block came, want 2", v)
		}
		delete(s.net.sent, 3) // we may have asked it
		s.hear(3, wire.Append(nil, wire.Request{Round: beacon.Round{View: 1}}))
		want := wire.Append(nil, wire.Backfill{Certificate: c, Block: block})
		if len(s.net.sent[3]) == 0 || !bytes.Equal(s.net.sent[3][0], want) {
			t.Errorf("answers %x, want the notarization with its block", s.net.sent[3])
		}
	})
}

// The blocks that nobody asked for are kept within their sender's share, so
// that strangers cannot fill the memory in which the leader's block belongs.
func TestEarlyOffersHaveAShareEach(t *testing.T) {
	s := blocks{shareMax: 100}
	p := func(v chain.View, digest byte) simplex.Proposal { return view(v, digest) }
	if !s.offer(p(2, 1), make([]byte, 60), 1, false) || s.offer(p(2, 9), make([]byte, 60), 1, false) {
		t.Error("a sender has its share, and no more")
	}
	if !s.offer(p(3, 1), make([]byte, 60), 1, false) || s.byDigest(2, chain.Hash{1}).bytes != nil || s.bytes != 60 {
		t.Error("what a sender sent for an older view does not make room for the next one")
	}
	if !s.offer(p(3, 2), make([]byte, 60), 2, false) {
		t.Error("what one sender sent took the share of another")
	}
	if !s.offer(p(4, 1), make([]byte, 60), 1, true) {
		t.Error("the block of the leader did not get in")
	}
	s.put(p(5, 1)).certify = new(simplex.RequestCertify)
	if !s.offer(p(5, 1), make([]byte, 60), 1, false) {
		t.Error("a block that is waited for did not get in")
	}
	s.byDigest(2, chain.Hash{1}).verdict = valid
	s.bury(5, 5, 0)
	if s.bytes != 60 || !s.offer(p(6, 1), make([]byte, 40), 1, false) {
		t.Errorf("%d bytes kept, or the share of buried blocks is lost", s.bytes)
	}
}

// An honest leader may be early for a validator that cannot know yet that it leads.
// However many validators share the memory, its block gets in.
func TestEarlyOfferOfTheLargestBlock(t *testing.T) {
	const n = 16
	set, shares, g := committee(t, n)
	cfg := testConfig(t, set, shares[0], g.Hash())
	cfg.PendingBytesMax = 4 * cfg.MaxBlockBytes
	e, err := New(cfg, newChainApp(t, g.Hash()), Alone{}, new(diskJournal))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	for v := chain.View(2); v < 5; v++ {
		if !e.blocks.offer(view(v, 1), make([]byte, cfg.MaxBlockBytes), 1, false) {
			t.Errorf("the largest block of view %d is refused", v)
		}
	}
	if e.blocks.bytes != cfg.MaxBlockBytes {
		t.Errorf("%d bytes of one sender are kept, want one block of %d", e.blocks.bytes, cfg.MaxBlockBytes)
	}
}

// Of a block whose leader is not known yet, the bytes of each sender are kept: the
// first ones may be garbage.
func TestBytesOfSeveralSenders(t *testing.T) {
	s := blocks{shareMax: 100}
	p := view(2, 1)
	for who, n := range map[beacon.Participant]int{1: 10, 2: 20, 3: 30} {
		if !s.offer(p, make([]byte, n), who, false) || !s.offer(p, make([]byte, n+1), who, false) {
			t.Errorf("bytes of %d are refused", who)
		}
	}
	b := s.byDigest(2, p.Payload)
	if s.bytes != 60 || s.from(2) != 20 {
		t.Fatalf("%d bytes are kept, %d of validator 2; want 60 and 20", s.bytes, s.from(2))
	}
	s.prefer(b, 2)
	if len(b.bytes) != 20 || b.supplier != 2 || s.bytes != 60 {
		t.Errorf("bytes of %d are judged first, want those of the leader", b.supplier)
	}
	for left := 2; left >= 0; left-- {
		if more := s.wrong(b); more != (left > 0) {
			t.Errorf("with %d senders left there is more: %v", left, more)
		}
	}
	if s.bytes != 0 || b.bytes != nil {
		t.Errorf("%d bytes are left after all were wrong", s.bytes)
	}
	s.offer(p, make([]byte, 10), 1, false)
	s.offer(p, make([]byte, 20), 2, false)
	s.bury(3, 3, 0)
	if s.bytes != 0 {
		t.Errorf("%d bytes of buried blocks are kept", s.bytes)
	}
}

// asked returns the peers that were asked for view v, in order of number.
func (s *scene) asked(v chain.View) []beacon.Participant {
	var out []beacon.Participant
	for p := range beacon.Participant(4) {
		for _, msg := range s.net.sent[p] {
			if bytes.Equal(msg, wire.Append(nil, wire.Request{Round: beacon.Round{View: v}})) {
				out = append(out, p)
			}
		}
	}
	return out
}

// A full inbox is an answer, not a wait.
func TestInboxIsBounded(t *testing.T) {
	set, shares, g := committee(t, 4)
	cfg := testConfig(t, set, shares[0], g.Hash())
	cfg.InboxMessages = 2
	e, err := New(cfg, newChainApp(t, g.Hash()), Alone{}, new(diskJournal))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		err := e.Deliver(beacon.Participant(i+1), []byte{'?'})
		if (err != nil) != (i == 2) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if err := e.Deliver(1, make([]byte, cfg.MaxBlockBytes+4096)); err == nil {
		t.Error("accepted a message above every limit")
	}
}
