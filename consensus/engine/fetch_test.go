package engine

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"slices"
	"sort"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// Final makes the test application an archive.
func (a *chainApp) Final(_ context.Context, v chain.View, limit, bytesMax int) ([]ArchivedBlock, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads++
	i := sort.Search(len(a.final), func(i int) bool { return a.final[i].Round.View >= v })
	var out []ArchivedBlock
	for ; i < len(a.final) && len(out) < limit && bytesMax > 0; i++ {
		f := a.final[i]
		out = append(out, ArchivedBlock{Certificate: f.Certificate, Own: f.Own, Block: a.bytes[f.Digest]})
		bytesMax -= len(a.bytes[f.Digest])
	}
	return out, a.unreadable
}

// A stored block that cannot be read must not let peers stop a validator by
// asking for it.
func TestUnreadableArchiveIsNoFault(t *testing.T) {
	var archive *chainApp
	set, shares, g := committee(t, 4)
	h := newHistory(t, set, shares, g.Hash(), 100)
	playWith(t, func(c *Config) {
		archive = newChainApp(t, g.Hash())
		h.into(archive)
		archive.unreadable = errors.New("bit rot")
		c.Archive, c.LastFinalized = archive, h.floor
	}, func(s *scene) {
		for range 3 {
			s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: 3}}))
		}
		if n := s.engine.Stats.ArchiveFailures.Load(); n != 3 {
			t.Errorf("%d failures counted, want 3: the validator has stopped", n)
		}
	})
}

// A request goes to one peer; when it does not help in time, to the next; a
// banned one is left out.
func TestFetchRotatesOverPeers(t *testing.T) {
	play(t, func(s *scene) {
		s.hear(3, []byte{'?'}) // banned
		c := s.certificate(simplex.Notarize, view(1, 9))
		s.hear(1, simplex.AppendCertificate(nil, c))
		first := s.asked(1)
		if len(first) != 1 {
			t.Fatalf("asked %v at first, want one peer", first)
		}
		s.wait(s.engine.cfg.FetchTimeout + time.Millisecond)
		if all := s.asked(1); !slices.Equal(all, []beacon.Participant{1, 2}) {
			t.Errorf("asked %v after a timeout, want 1 and 2", all)
		}
		unanswered := &s.engine.Stats.Peers[first[0]].Unanswered
		if unanswered.Load() != 1 {
			t.Errorf("%d unanswered requests of the first, want 1", unanswered.Load())
		}
	})
}

// Who sends bytes that are not the block of its certificate is banned, and the
// next one is asked.
func TestWrongBlockBansItsSender(t *testing.T) {
	play(t, func(s *scene) {
		block := encodeBlock(beacon.Round{View: 1}, s.parent, 1)
		c := s.certificate(simplex.Notarize, simplex.Proposal{Round: beacon.Round{View: 1}, Payload: digestOf(block)})
		s.hear(2, wire.Append(nil, wire.Backfill{Certificate: c, Block: []byte("not the block")}))
		if s.engine.Stats.Peers[2].BlockedUntilUnix.Load() == 0 {
			t.Error("the sender is not banned")
		}
		if asked := s.asked(1); len(asked) != 1 || asked[0] == 2 {
			t.Errorf("asked %v, want one of the others", asked)
		}
		s.hear(3, wire.Append(nil, wire.Backfill{Certificate: c, Block: block}))
		if v := s.engine.Stats.View.Load(); v != 2 {
			t.Errorf("view %d, want 2", v)
		}
	})
}

// Wants and answers are bounded, whoever asks.
func TestFetchAndAnswersAreBounded(t *testing.T) {
	play(t, func(s *scene) {
		for v := chain.View(1); v <= 200; v++ {
			s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Notarize, simplex.Proposal{Round: beacon.Round{View: 2 * v}, Parent: 2*v - 1})))
		}
		if n := len(s.engine.fetches.wants); n > wantsMax {
			t.Errorf("%d wants, above %d", n, wantsMax)
		}
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(500, 0))))
		s.net.sent = nil
		for range 10 * answersPerWindow {
			s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: 300}}))
			s.hear(7, wire.Append(nil, wire.Request{Round: beacon.Round{View: 300}})) // a full node
		}
		for _, p := range []beacon.Participant{2, 7} {
			if n := len(s.net.sent[p]); n == 0 || n > answersPerWindow*(answerCertificates+1) {
				t.Errorf("%d messages to %d, want 1 to %d", n, p, answersPerWindow*(answerCertificates+1))
			}
		}
	})
}

var away = flag.Int("away", 1000, "blocks that TestAwayForThousandsOfBlocks misses; making them takes most of its time")

// TestAwayForThousandsOfBlocks: a validator that was away catches up from the
// archives of its peers while they go on, in order, and with little more than
// one transfer per block. -away=10000 takes a minute.
func TestAwayForThousandsOfBlocks(t *testing.T) {
	blocks := *away
	if testing.Short() {
		blocks = 300
	}
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &mesh{engines: make([]*Engine, 4)}
		history := newHistory(t, set, shares, g.Hash(), blocks)
		apps := make([]*chainApp, 4)
		for i := range apps {
			apps[i] = newChainApp(t, g.Hash())
			if i < 3 {
				history.into(apps[i])
			}
			apps[i].blockTime = time.Second
			cfg := testConfig(t, set, shares[i], g.Hash())
			cfg.LastFinalized, cfg.Archive = apps[i].floor, apps[i]
			e, err := New(cfg, apps[i], port{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines[i] = e
		}
		want := blocks + 20
		reached := apps[3].want(want)
		for _, e := range network.engines {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		start := time.Now()
		select {
		case <-reached:
		case <-time.After(10 * time.Minute):
			t.Fatalf("%d of %d blocks after ten minutes", len(apps[3].final), want)
		}
		served := uint64(0)
		for _, e := range network.engines[:3] {
			served += e.Stats.BlocksServed.Load()
			if n := e.Stats.Bans.Load(); n != 0 {
				t.Errorf("%d bans", n)
			}
		}
		if served > 2*uint64(want) {
			t.Errorf("%d blocks served for %d missed", served, blocks)
		}
		t.Logf("caught up %d blocks in %v of virtual time, %d served, %d requests, %d unanswered", blocks, time.Since(start),
			served, network.engines[3].Stats.FetchesSent.Load(), network.engines[3].Stats.FetchesFailed.Load())
		for _, i := range []int{0, 3} {
			apps[i].mu.Lock()
			defer apps[i].mu.Unlock()
		}
		for h := range blocks {
			if apps[3].final[h].Digest != apps[0].final[h].Digest {
				t.Fatalf("height %d differs", h+1)
			}
		}
	})
}

// history is a finalized chain, every third block of which was made final by
// its child.
type history struct {
	final []Finalization
	bytes map[chain.Hash][]byte
	floor Floor
}

func (h *history) into(a *chainApp) {
	a.final, a.floor = slices.Clone(h.final), h.floor
	for digest, b := range h.bytes {
		a.bytes[digest] = b
	}
	a.restart()
}

func TestArchiveServesWhatMemoryForgot(t *testing.T) {
	var archive *chainApp
	set, shares, g := committee(t, 4)
	h := newHistory(t, set, shares, g.Hash(), 100)
	playWith(t, func(c *Config) {
		archive = newChainApp(t, g.Hash())
		h.into(archive)
		c.Archive, c.LastFinalized = archive, h.floor
	}, func(s *scene) {
		s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: 3}}))
		sent := s.net.sent[2]
		blocks := 0
		for _, msg := range sent {
			m, err := wire.Decode(msg, wire.Limits{BlockBytesMax: 1 << 20})
			if b, ok := m.(wire.Backfill); ok {
				blocks++
				if !bytes.Equal(digestBytes(b.Block), b.Certificate.Proposal.Payload[:]) {
					t.Error("a certificate with another block")
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
		if blocks != answerBlocks {
			t.Errorf("%d blocks, want %d", blocks, answerBlocks)
		}
	})
}

func digestBytes(b []byte) []byte { d := digestOf(b); return d[:] }

// A nullification is no answer to the question for a parent's block: a view can
// have both, and only the other one helps.
func TestParentOfAViewWithBothIsAskedForAgain(t *testing.T) {
	play(t, func(s *scene) {
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(1, 0))))
		child := simplex.Proposal{Round: beacon.Round{View: 2}, Parent: 1, Payload: chain.Hash{2}}
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, child)))
		for range 3 {
			s.wait(s.engine.cfg.FetchTimeout + time.Millisecond)
		}
		if asked := s.asked(1); len(asked) < 3 {
			t.Errorf("asked %v, want everybody in turn", asked)
		}
	})
}

// A validator that is behind and asks a liar for blocks bans it at its first
// wrong one, asks the others, and is soon where they are.
func TestLiarAboutBlocksHoldsNobodyUp(t *testing.T) {
	const blocks = 200
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &lossy{}
		var liar atomic.Int32 // whoever is asked first, which is drawn
		liar.Store(-1)
		network.alter = func(from, to beacon.Participant, msg []byte) []byte {
			if to != 3 || len(msg) == 0 || msg[0] != wire.TagBackfill {
				return msg
			}
			liar.CompareAndSwap(-1, int32(from))
			if liar.Load() != int32(from) {
				return msg
			}
			lie := bytes.Clone(msg)
			lie[len(lie)-1] ^= 1
			return lie
		}
		history := newHistory(t, set, shares, g.Hash(), blocks)
		apps := make([]*chainApp, 4)
		for i := range apps {
			apps[i] = newChainApp(t, g.Hash())
			if i < 3 {
				history.into(apps[i])
			}
			apps[i].blockTime = time.Second
			cfg := testConfig(t, set, shares[i], g.Hash())
			cfg.LastFinalized, cfg.Archive = apps[i].floor, apps[i]
			e, err := New(cfg, apps[i], lossyPort{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines = append(network.engines, e)
		}
		reached := apps[3].want(blocks + 10)
		for _, e := range network.engines {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		select {
		case <-reached:
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d blocks after a minute", len(apps[3].final), blocks+10)
		}
		behind := &network.engines[3].Stats
		if banned := behind.Peers[liar.Load()].BlockedUntilUnix.Load(); banned == 0 || behind.Bans.Load() != 1 {
			t.Errorf("%d bans, the liar's until %d; want the liar alone, once", behind.Bans.Load(), banned)
		}
	})
}
