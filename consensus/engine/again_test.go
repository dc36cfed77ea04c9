package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// blockBytesTo counts the bytes of blocks that a peer was sent, and forgets them.
func (s *scene) blockBytesTo(to beacon.Participant) (n int) {
	for _, msg := range s.backfills(to) {
		n += len(msg)
	}
	delete(s.net.sent, to)
	return n
}

// TestWhoAsksForTheTipAgainHasABudget: a validator that asks for the newest blocks as
// often as it may is sent what it may be sent again and no more, from memory as from the
// archive, while another one gets at once what it was not sent yet.
func TestWhoAsksForTheTipAgainHasABudget(t *testing.T) {
	const (
		size    = 256 << 10
		again   = 4 << 20 // of four validators
		minutes = 1
	)
	for _, name := range []string{"memory", "archive"} {
		t.Run(name, func(t *testing.T) {
			set, shares, g := committee(t, 4)
			h := newHistory(t, set, shares, g.Hash(), 2*answerBlocks)
			app := newChainApp(t, g.Hash())
			h.into(app)
			playWith(t, func(c *Config) {
				c.AgainBytes = again
				c.MaxBlockBytes = size + 1<<10
				c.PendingBytesMax = 64 * c.MaxBlockBytes
				if name == "archive" {
					c.Archive, c.LastFinalized = app, h.floor
				}
			}, func(s *scene) {
				blocks := 0 // bytes of what there is
				if name == "memory" {
					s.grow(6, size)
					blocks = 6 * size
				} else {
					blocks = 2 * answerBlocks * readCost // what small ones count for
				}
				clear(s.net.sent)
				sent, reads := 0, app.reads
				for range minutes * 60 * 20 {
					for range 4 {
						s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: 1}}))
					}
					sent += s.blockBytesTo(2)
					s.wait(50 * time.Millisecond)
				}
				most := again/4*(minutes*60+againSeconds) + 2*answerBytes + blocks
				if name == "archive" {
					sent = (app.reads - reads) * answerBlocks * readCost
				}
				t.Logf("%d KiB in %d minutes, %d KiB allowed", sent>>10, minutes, most>>10)
				if sent > most {
					t.Errorf("%d bytes were sent, or read, want at most %d", sent, most)
				}
				if sent < again/4*minutes*60/2 {
					t.Errorf("%d bytes: what may be sent again is not", sent)
				}
				if s.engine.Stats.AgainWithheld.Load() == 0 {
					t.Error("nothing was withheld")
				}
				s.hear(3, wire.Append(nil, wire.Request{Round: beacon.Round{View: 1}}))
				s.wait(time.Millisecond)
				if s.blockBytesTo(3) == 0 {
					t.Error("another validator got nothing")
				}
			})
		})
	}
}

// TestWhoWalksDownHasABudget: a validator that asks for one view after the other from the
// newest down, so that each answer begins with a block that it was not sent, is sent each
// block once, and again within its budget.
func TestWhoWalksDownHasABudget(t *testing.T) {
	const block = 64 << 10 // as large as one may be
	set, shares, g := committee(t, 4)
	h := newHistory(t, set, shares, g.Hash(), 2*answerBlocks)
	app := newChainApp(t, g.Hash())
	h.into(app)
	playWith(t, func(c *Config) {
		c.MaxBlockBytes, c.PendingBytesMax = block, 64*block
		c.Archive, c.LastFinalized, c.AgainBytes = app, h.floor, 1
	}, func(s *scene) {
		for v := h.floor.Round.View; v > 0; v-- {
			s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: v}}))
			s.wait(50 * time.Millisecond)
		}
		sent := len(s.backfills(2))
		if most := len(h.final) + answerBytes/readCost + answerBlocks; sent < len(h.final) || sent > most {
			t.Errorf("%d blocks, want %d at least and %d at most", sent, len(h.final), most)
		}
		if s.engine.serving.peers[2].given.left > 0 {
			t.Error("nothing was counted")
		}
	})
}

// TestBlocksNotSentYetAreNotRationed: a validator that goes up the chain while nothing
// is left of its budget gets all of it.
func TestBlocksNotSentYetAreNotRationed(t *testing.T) {
	set, shares, g := committee(t, 4)
	h := newHistory(t, set, shares, g.Hash(), 2*answerBlocks)
	app := newChainApp(t, g.Hash())
	h.into(app)
	playWith(t, func(c *Config) { c.Archive, c.LastFinalized, c.AgainBytes = app, h.floor, 1 }, func(s *scene) {
		s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: 1}}))
		given := &s.engine.serving.peers[2].given
		given.left = -1e9
		for from := given.ranges[0].to + 1; from <= h.floor.Round.View; {
			before := len(s.backfills(2))
			s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: from}}))
			if len(s.backfills(2)) == before {
				t.Fatalf("nothing from view %d on", from)
			}
			if len(given.ranges) != 1 {
				t.Fatalf("ranges %v, want one", given.ranges)
			}
			from = given.ranges[0].to + 1
		}
		if n := len(s.backfills(2)); n < 2*answerBlocks {
			t.Errorf("%d blocks, want %d", n, 2*answerBlocks)
		}
	})
}

// TestGivenRanges: what was sent is remembered in a bounded number of ranges, in order
// and apart, and nothing that was sent is forgotten for room.
func TestGivenRanges(t *testing.T) {
	var g given
	for i := range chain.View(500) {
		v := i * 7919 % 5003 // a permutation of places, far from each other
		g.add(span{3 * v, 3*v + 1})
		if !g.has(3*v) || !g.has(3*v+1) || len(g.ranges) > givenMax {
			t.Fatalf("view %d: %v", 3*v, g.ranges)
		}
		for k := 1; k < len(g.ranges); k++ {
			if g.ranges[k].from <= g.ranges[k-1].to+1 {
				t.Fatalf("ranges meet: %v", g.ranges)
			}
		}
	}
	for i := range chain.View(500) {
		if v := i * 7919 % 5003; !g.has(3 * v) {
			t.Errorf("view %d is forgotten", 3*v)
		}
	}
	g.add(span{0, 1 << 62})
	if len(g.ranges) != 1 {
		t.Errorf("%v, want one range", g.ranges)
	}
}

// TestRefusalsAreLogged: what the inbox refuses writes a line a minute at most, with
// the senders.
func TestRefusalsAreLogged(t *testing.T) {
	var out bytes.Buffer
	playWith(t, func(c *Config) {
		c.InboxMessages = 8
		c.Log = slog.New(slog.NewTextHandler(&out, nil))
	}, func(s *scene) {
		for range 50 {
			for range 100 {
				_ = s.engine.Deliver(2, []byte{0}) // the loop takes some: the rest finds no room
			}
			s.wait(time.Second)
		}
		lines := strings.Count(out.String(), "messages of peers refused")
		if s.engine.Stats.RefusedBytes.Load() == 0 || lines != 1 || !strings.Contains(out.String(), "validator 2: ") {
			t.Errorf("%d refusals, %d lines:\n%s", s.engine.Stats.RefusedBytes.Load(), lines, out.String())
		}
		s.wait(time.Minute)
		if now := strings.Count(out.String(), "messages of peers refused"); now != 2 {
			t.Errorf("%d lines after another minute, want 2:\n%s", now, out.String())
		}
	})
}
