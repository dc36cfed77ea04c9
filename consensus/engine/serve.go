package engine

import (
	"context"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Limits of answering.
const (
	answerCertificates = 16      // from memory, per request
	answerBlocks       = 64      // from the archive, per request
	answerBytes        = 4 << 20 // of blocks from the archive, per request, and one block more
	answersPerWindow   = 32      // requests of one peer answered per fetch timeout
	guestsMax          = 1024    // full nodes whose requests are counted at a time
	readsMax           = 4       // looks into the archive at a time, each of answerBytes and a block
	readsWaitingMax    = 64      // of full nodes; validators wait ahead of them
)

// guest is somebody whose requests we answer, at a bounded rate.
type guest struct {
	window  time.Time // since when answers are counted
	answers int
	reading bool // the archive is being read for it
}

// allows counts an answer and reports whether it may be given.
func (g *guest) allows(now time.Time, window time.Duration) bool {
	if now.Sub(g.window) >= window {
		g.window, g.answers = now, 0
	}
	g.answers++
	return g.answers <= answersPerWindow
}

// guest returns the account of a validator or a full node, or nil when there
// are too many.
func (e *Engine) guest(p beacon.Participant) *guest {
	if int(p) < len(e.peers) {
		return &e.peers[p].guest
	}
	g := e.guests[p]
	if g == nil {
		if len(e.guests) == guestsMax {
			clear(e.guests)
		}
		g = new(guest)
		e.guests[p] = g
	}
	return g
}

// answer helps a peer that is behind, or that lacks a block: from the archive
// what is durable, from memory what is newer. Only blocks that we judged leave:
// unjudged bytes may not be the block at all, and the peer would blame us.
func (e *Engine) answer(to beacon.Participant, r beacon.Round) {
	g := e.guest(to)
	if r.Epoch != e.cfg.Set.Epoch() || !g.allows(time.Now(), e.cfg.FetchTimeout) {
		return
	}
	from := r.View
	if e.cfg.Archive != nil && from <= e.delivered {
		if !g.reading {
			g.reading = e.lineUp(read{to, from})
		}
		from = e.delivered + 1
	} else {
		defer func() { e.net.Send(to, appendAnswered(nil, answered{r})) }()
	}
	for _, c := range e.machine.Certificates(from, answerCertificates) {
		if c.Kind != simplex.Nullify {
			if b := e.blocks.find(c.Proposal.Round.View, c.Proposal.Payload); b != nil && b.bytes != nil && b.verdict == valid {
				e.Stats.BlocksServed.Add(1)
				e.net.Send(to, appendBackfill(nil, backfill{c, b.bytes}))
				continue
			}
		}
		e.net.Send(to, simplex.AppendCertificate(nil, c))
	}
}

// read is a look into the archive for a peer.
type read struct {
	to   beacon.Participant
	from chain.View
}

// reads is what peers want from the archive. However many they are, a few looks
// at a time share the memory and the disk.
type reads struct {
	waiting []read // validators, then full nodes
	running int
}

// lineUp puts a look into the archive in line. It reports whether there is room.
func (e *Engine) lineUp(r read) bool {
	stranger := func(r read) bool { return int(r.to) >= len(e.peers) }
	at := len(e.reads.waiting)
	if first := slices.IndexFunc(e.reads.waiting, stranger); first >= 0 {
		if stranger(r) && at-first >= readsWaitingMax {
			return false // it asks again, perhaps somebody else
		}
		if !stranger(r) {
			at = first
		}
	}
	e.reads.waiting = slices.Insert(e.reads.waiting, at, r)
	return true
}

// due reports whether the next look may begin.
func (r *reads) due() bool { return len(r.waiting) > 0 && r.running < readsMax }

// readArchives begins what may begin.
func (e *Engine) readArchives(ctx context.Context) {
	for e.reads.due() {
		r := e.reads.waiting[0]
		e.reads.waiting = e.reads.waiting[1:]
		e.reads.running++
		e.readArchive(ctx, r)
	}
}

func (e *Engine) readArchive(ctx context.Context, s read) {
	e.call(ctx, "archive", func(ctx context.Context) reply {
		found, err := e.cfg.Archive.Final(ctx, s.from, answerBlocks, answerBytes)
		return archived{s.to, s.from, found, err}
	})
}

type archived struct {
	to    beacon.Participant
	from  chain.View
	found []ArchivedBlock
	err   error
}

func (r archived) apply(_ context.Context, e *Engine) error {
	e.reads.running--
	e.guest(r.to).reading = false
	if r.err != nil {
		// A block of the past that cannot be read is no reason to stop voting,
		// least of all when a peer may ask for it again and again.
		e.Stats.ArchiveFailures.Add(1)
	}
	for _, b := range r.found {
		e.Stats.BlocksServed.Add(1)
		e.net.Send(r.to, append(append([]byte{tagBackfill}, b.Own...), b.Block...))
	}
	if n := len(r.found); n > 0 { // makes all of them final, if their own do not
		e.net.Send(r.to, r.found[n-1].Certificate)
	}
	e.net.Send(r.to, appendAnswered(nil, answered{beacon.Round{Epoch: e.cfg.Set.Epoch(), View: r.from}}))
	return nil
}
