package engine

import (
	"context"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// hoard lets the leaders of views 1 to n offer a block of size bytes each, on a
// parent that is none, and gives each view up.
func (s *scene) hoard(n chain.View, size int, each func(v chain.View)) {
	s.t.Helper()
	parent := chain.View(0)
	for v := chain.View(1); v <= n; v++ {
		block := make([]byte, size)
		binary.BigEndian.PutUint64(block, uint64(v))
		if who, ok := s.engine.machine.LeaderOf(v, parent); ok && who != 0 {
			p := simplex.Proposal{Round: beacon.Round{View: v}, Parent: parent, Payload: digestOf(block)}
			s.hear(who, wire.Append(nil, wire.Offer{Vote: s.voice[who].Sign(simplex.Notarize, p), Block: block}))
		}
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(v, 0))))
		parent = v // nullified: a bogus parent
		if each != nil {
			each(v)
		}
	}
}

// TestHoard: leaders that offer large blocks of bogus parents view after view,
// while nothing becomes final, take no more memory than there is for blocks.
func TestHoard(t *testing.T) {
	const most, block = 256 << 10, 60 << 10
	playWith(t, func(c *Config) { c.MaxBlockBytes, c.PendingBytesMax = 64<<10, most }, func(s *scene) {
		s.hoard(60, block, func(v chain.View) {
			if held := s.engine.blocks.bytes; held > most {
				t.Fatalf("%d bytes of blocks are held in view %d, want at most %d", held, v, most)
			}
		})
		if n := len(s.engine.blocks.list); n > most/block+2 {
			t.Errorf("%d blocks are remembered, most of them without bytes", n)
		}
		s.wait(time.Second)
		if n := s.engine.Stats.Bans.Load(); n != 0 {
			t.Errorf("%d bans of leaders that may have been honest", n)
		}
	})
}

// TestTallyHasABudget: votes of views that do not become final take no more than
// their budget.
func TestTallyHasABudget(t *testing.T) {
	most := 24 * simplex.TallyViewBytes(4)
	playWith(t, func(c *Config) { c.TallyBytes = most }, func(s *scene) {
		s.hoard(80, 100, func(v chain.View) {
			for who := 1; who < 4; who++ {
				s.hear(beacon.Participant(who), s.vote(who, simplex.Finalize, view(v, byte(who)))) // of a view that is over
			}
			if n := s.engine.tally.Views(); n*simplex.TallyViewBytes(4) > most+2*simplex.TallyViewBytes(4) {
				t.Fatalf("votes of %d views are kept in view %d, %d bytes allow 24", n, v, most)
			}
		})
	})
}

// TestInboxHasBytes: the inbox is bounded in bytes; one validator's blocks leave
// room for others, and full nodes share what is one validator's.
func TestInboxHasBytes(t *testing.T) {
	set, shares, g := committee(t, 4)
	cfg := testConfig(t, set, shares[0], g.Hash())
	cfg.MaxBlockBytes, cfg.PendingBytesMax, cfg.InboxBytes = 64<<10, 256<<10, 512<<10
	e, err := New(cfg, newChainApp(t, g.Hash()), Alone{}, new(diskJournal))
	if err != nil {
		t.Fatal(err)
	}
	fill := func(from beacon.Participant) (n int) {
		for range 100 {
			if e.Deliver(from, make([]byte, 10<<10)) == nil {
				n++
			}
		}
		return n
	}
	for who, want := range map[beacon.Participant]int{1: 12, 2: 12, 50: 12} {
		if n := fill(who); n != want {
			t.Errorf("%d messages of %d are taken, want %d", n, who, want)
		}
	}
	if n := fill(51); n != 0 {
		t.Errorf("another full node finds room for %d", n)
	}
	if n := fill(3); n == 0 {
		t.Error("a validator finds no room because of others")
	}
	if held := e.Stats.InboxBytes.Load(); held > int64(cfg.InboxBytes) || e.Stats.RefusedBytes.Load() == 0 {
		t.Errorf("%d bytes wait, want at most %d; %d refusals", held, cfg.InboxBytes, e.Stats.RefusedBytes.Load())
	}
	for len(e.inbox.line) > 0 {
		e.inbox.took(<-e.inbox.line)
	}
	if held := e.Stats.InboxBytes.Load(); held != 0 {
		t.Errorf("%d bytes are counted in an empty inbox", held)
	}
}

// TestInboxHasMessages: one peer's small messages take a quarter of the line, and not the
// room of the others.
func TestInboxHasMessages(t *testing.T) {
	set, shares, g := committee(t, 4)
	cfg := testConfig(t, set, shares[0], g.Hash())
	cfg.InboxMessages = 400
	e, err := New(cfg, newChainApp(t, g.Hash()), Alone{}, new(diskJournal))
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []beacon.Participant{1, 2, 3, 50} {
		taken := 0
		for range 1000 {
			if e.Deliver(who, []byte{wire.TagRequest}) == nil {
				taken++
			}
		}
		if taken != 100 {
			t.Errorf("%d messages of %d are taken, want 100", taken, who)
		}
	}
	for len(e.inbox.line) > 0 {
		e.inbox.took(<-e.inbox.line)
	}
	if err := e.Deliver(1, []byte{wire.TagRequest}); err != nil {
		t.Errorf("an empty inbox: %v", err)
	}
}

// TestEvictedBlockIsFetched: a block that was dropped for want of room and is
// notarized after all is fetched, and the chain goes on.
func TestEvictedBlockIsFetched(t *testing.T) {
	playWith(t, func(c *Config) { c.MaxBlockBytes, c.PendingBytesMax = 64<<10, 256<<10 }, func(s *scene) {
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(1, 0))))
		block := encodeBlock(beacon.Round{View: 2}, ParentRef{Round: beacon.Round{View: 1}, Digest: chain.Hash{9}}, 2)
		p := simplex.Proposal{Round: beacon.Round{View: 2}, Parent: 1, Payload: digestOf(block)}
		who, ok := s.engine.machine.LeaderOf(2, 1)
		if !ok || who == 0 {
			t.Fatal("the committee's keys changed: we lead view 2, and nobody else can offer its block")
		}
		s.hear(who, wire.Append(nil, wire.Offer{Vote: s.voice[who].Sign(simplex.Notarize, p), Block: block}))
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(2, 0))))
		if s.engine.blocks.byDigest(2, p.Payload) == nil {
			t.Fatal("the block is not held")
		}
		s.engine.blocks.makeRoom(256 << 10)
		if s.engine.blocks.byDigest(2, p.Payload) != nil || s.engine.blocks.dropped != 1 {
			t.Fatal("the block is still held")
		}
		body := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		first := simplex.Proposal{Round: beacon.Round{View: 1}, Payload: digestOf(body)}
		s.hear(1, wire.Append(nil, wire.Backfill{Certificate: s.certificate(simplex.Notarize, first), Block: body}))
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, p)))
		s.wait(10 * time.Second)
		if len(s.asked(2)) == 0 {
			t.Error("nobody is asked for the block that was dropped")
		}
	})
}

// willing is an application that takes every block, and never makes one durable.
type willing struct{ *chainApp }

func (a willing) Verify(context.Context, VerifyRequest) (bool, error)  { return true, nil }
func (a willing) Recover(context.Context, VerifyRequest) (bool, error) { return true, nil }

// TestJournalIsPrunedWithoutFinality: blocks that we voted for, in views that end
// without one, leave the journal by size, though nothing becomes final; and whoever
// starts from such a journal, with no other memory, contradicts nothing that was said.
func TestJournalIsPrunedWithoutFinality(t *testing.T) {
	const block, most = 20 << 10, 100 << 10
	set, shares, g := committee(t, 4)
	disk := new(diskJournal)
	var said [][]byte
	for life := range chain.View(3) {
		synctest.Test(t, func(t *testing.T) {
			s := &scene{t: t, app: newChainApp(t, g.Hash()), net: new(witness)}
			s.app.blockTime = time.Hour
			for i := range s.voice {
				s.voice[i] = voiceOf(t, set, shares, i)
			}
			cfg := testConfig(t, set, shares[0], g.Hash())
			cfg.PruneBytes = most
			disk = disk.crash()
			e, err := New(cfg, willing{s.app}, s.net, disk)
			if err != nil {
				t.Fatal(err)
			}
			s.engine = e
			stop, _ := run(t, e)
			synctest.Wait()
			for v := life*40 - min(5, life*40) + 1; v <= life*40; v++ { // the last ones needed no sync and were lost
				s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(v, 0))))
			}
			for v := life*40 + 1; v <= life*40+40; v++ {
				for _, lie := range []byte{0, 1} { // its leader has two faces: we vote for one
					p := simplex.Proposal{Round: beacon.Round{View: v}, Payload: chain.Hash{lie, byte(v)}}
					who, ok := e.machine.LeaderOf(v, 0)
					if !ok || who == 0 {
						continue
					}
					s.hear(who, wire.Append(nil, wire.Offer{Vote: s.voice[who].Sign(simplex.Notarize, p), Block: make([]byte, block)}))
				}
				clear(e.banned.until) // the two-faced go on
				s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(v, 0))))
				if size := disk.bytes(); size > 2*most+block {
					t.Fatalf("%d bytes in the journal in view %d of life %d", size, v, life)
				}
			}
			t.Logf("life %d: %d prunings, %d bytes, view %d, withheld %d, bans %d", life, e.Stats.Prunings.Load(), disk.bytes(), e.machine.View(), e.Stats.VotesWithheld.Load(), e.Stats.Bans.Load())
			if e.Stats.Prunings.Load() == 0 {
				t.Error("never pruned")
			}
			_ = stop()
			said = append(said, s.net.broadcast...)
		})
	}
	votes := 0
	for _, msg := range said {
		if msg[0] == wire.TagVote {
			votes++
		}
	}
	if votes < 60 {
		t.Errorf("%d votes, want one in most of 120 views", votes)
	}
	checkVotes(t, said)
}

// bytes returns what the records take.
func (j *diskJournal) bytes() (n int) {
	for _, rec := range append(j.durable[:len(j.durable):len(j.durable)], j.buffered...) {
		n += len(rec)
	}
	return n
}
