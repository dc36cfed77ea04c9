package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Limits of answering.
const (
	answerCertificates = 16      // from memory, per request
	answerBlocks       = 64      // from the archive, per request
	answerBytes        = 4 << 20 // of blocks per request, from the archive and from memory each, or one block
	answersPerWindow   = 32      // requests of one peer answered per fetch timeout
	guestsMax          = 1024    // full nodes whose requests are counted at a time
	readsMax           = 4       // answers in the making at a time, from the archive and from memory each
	readsWaitingMax    = 64      // of full nodes; validators wait ahead of them
	readsEachMax       = 16      // of one peer: as many as it may want at a time
	encodedBytesMax    = 2 * answerBytes
)

// guest is somebody whose requests we answer, at a bounded rate.
type guest struct {
	window  time.Time // since when answers are counted
	answers int
	reading bool // the archive is being read for it
	sent    sent
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
	if e.cfg.Archive == nil || r.View > e.delivered {
		j := read{to: to, from: r.View, pieces: e.fromMemory(r.View)}
		e.ration(to, r.View, j.pieces)
		if !e.lineUp(j) {
			e.Stats.AnswersRefused.Add(1)
		}
		return
	}
	pieces := e.fromMemory(e.delivered + 1)
	e.ration(to, e.delivered+1, pieces)
	if before, may := e.mayRead(to, r.View); !may {
		e.lineUp(read{to: to, from: r.View, pieces: pieces})
	} else if !g.reading {
		g.reading = e.lineUp(read{to: to, from: r.View, before: before, archive: true, pieces: pieces})
	} else if !e.lineUp(read{to: to, pieces: pieces, beside: true}) {
		e.Stats.AnswersRefused.Add(1)
	}
}

// piece is a certificate, with its block if the peer is to have that.
type piece struct {
	certificate simplex.Certificate
	block       []byte // nil: none
}

// fromMemory returns what helps a peer from view v on: certificates, and each block
// once, up to answerBytes of them or the first one.
func (e *Engine) fromMemory(v chain.View) (out []piece) {
	left := answerBytes
	var sent []chain.Hash
	for _, c := range e.machine.Certificates(v, answerCertificates) {
		p := piece{certificate: c}
		if at := c.Proposal; c.Kind != simplex.Nullify && !slices.Contains(sent, at.Payload) {
			b := e.blocks.find(at.Round.View, at.Payload)
			if b != nil && b.bytes != nil && b.verdict == valid {
				if len(sent) > 0 && len(b.bytes) > left {
					break // it asks on from here
				}
				p.block, sent = b.bytes, append(sent, at.Payload)
				left -= len(b.bytes)
			}
		}
		out = append(out, p)
	}
	return out
}

// read is an answer in the making: off the loop, since a block is megabytes to read
// or to copy.
type read struct {
	to       beacon.Participant
	from     chain.View
	before   chain.View // of blocks to be read; 0: as far as an answer goes
	archive  bool       // final blocks are to be read
	beside   bool       // another answer to the peer says when it is complete
	stranger bool       // to is a full node
	pieces   []piece
}

// empty reports whether an answer has nothing that takes time.
func (r *read) empty() bool {
	return !r.archive && !slices.ContainsFunc(r.pieces, func(p piece) bool { return p.block != nil })
}

// reads is what peers want that takes time. However many they are, a few answers
// at a time share the memory and the disk.
type reads struct {
	waiting  []read // validators, then full nodes
	looking  int    // answers for which the archive is being read
	copying  int    // answers from memory alone, which no disk holds up
	stranger bool   // a full node's answer is in the making
	encoded  encodings
}

// lineUp puts an answer in line, or sends it where there is nothing to wait for. It
// reports whether there is room.
func (e *Engine) lineUp(r read) bool {
	r.stranger = int(r.to) >= len(e.peers)
	if r.empty() {
		out := served{to: r.to, from: r.from, beside: r.beside, stranger: r.stranger}
		for _, p := range r.pieces {
			out.messages = append(out.messages, simplex.AppendCertificate(nil, p.certificate))
		}
		e.bill(out)
		e.send(out)
		return true
	}
	at, same := len(e.reads.waiting), 0
	for _, other := range e.reads.waiting {
		if other.to == r.to {
			same++
		}
	}
	if same >= readsEachMax {
		return false
	}
	if first := slices.IndexFunc(e.reads.waiting, func(r read) bool { return r.stranger }); first >= 0 {
		if r.stranger && at-first >= readsWaitingMax {
			return false // it asks again, perhaps somebody else
		}
		if !r.stranger {
			at = first
		}
	}
	e.reads.waiting = slices.Insert(e.reads.waiting, at, r)
	return true
}

// running counts the answers of a kind that are in the making.
func (r *reads) running(archive bool) *int {
	if archive {
		return &r.looking
	}
	return &r.copying
}

// next returns the place of the answer that may begin, or -1.
func (r *reads) next() int {
	return slices.IndexFunc(r.waiting, func(x read) bool {
		return !x.stranger && *r.running(x.archive) < readsMax || x.stranger && !r.stranger
	})
}

// due reports whether an answer may begin.
func (r *reads) due() bool { return r.next() >= 0 }

// readArchives begins what may begin.
func (e *Engine) readArchives(ctx context.Context) {
	for i := e.reads.next(); i >= 0; i = e.reads.next() {
		r := e.reads.waiting[i]
		e.reads.waiting = slices.Delete(e.reads.waiting, i, i+1)
		if r.stranger {
			e.reads.stranger = true
			e.strangers <- r // its goroutine has answered the one before
			continue
		}
		*e.reads.running(r.archive)++
		e.call(ctx, "archive", func(ctx context.Context) reply { return r.make(ctx, e.cfg.Archive, &e.reads.encoded) })
	}
}

// blocks is how many of them an answer may have from the archive.
func (r *read) blocks() int {
	if r.before > r.from && r.before-r.from < answerBlocks {
		return int(r.before - r.from) // a view has one at most
	}
	return answerBlocks
}

// make reads and encodes an answer.
func (r read) make(ctx context.Context, archive Archive, encoded *encodings) served {
	out := served{to: r.to, from: r.from, archive: r.archive, beside: r.beside, stranger: r.stranger}
	if r.archive {
		var found []ArchivedBlock
		found, out.err = archive.Final(ctx, r.from, r.blocks(), answerBytes)
		read := found
		for i, b := range read {
			at := viewOf(b.Own, r.from)
			out.parts = append(out.parts, part{at, max(readCost, len(b.Own)+len(b.Block))})
			if r.before > 0 && at >= r.before { // views between them have no block
				found = found[:min(len(found), i)]
				continue
			}
			out.messages = append(out.messages, encoded.of(b.Own, b.Block))
			out.bytes += len(b.Own) + len(b.Block)
		}
		if out.blocks = len(found); out.blocks > 0 { // makes all of them final, if their own do not
			out.newest = viewOf(found[out.blocks-1].Own, 0)
			out.messages = append(out.messages, found[out.blocks-1].Certificate)
		}
	}
	for _, p := range r.pieces {
		certificate := simplex.AppendCertificate(nil, p.certificate)
		if p.block == nil {
			out.messages = append(out.messages, certificate)
			continue
		}
		out.blocks++
		out.bytes += len(certificate) + len(p.block)
		out.newest = max(out.newest, p.certificate.Proposal.Round.View)
		out.messages = append(out.messages, encoded.of(certificate, p.block))
	}
	return out
}

// viewOf is the view of a certificate, or another one if it cannot be read.
func viewOf(certificate []byte, other chain.View) chain.View {
	c, err := simplex.DecodeCertificate(certificate)
	if err != nil {
		return other
	}
	return c.Proposal.Round.View
}

// served is an answer that is ready.
type served struct {
	to       beacon.Participant
	from     chain.View
	archive  bool
	beside   bool
	messages [][]byte
	blocks   int        // among them
	bytes    int        // of these
	newest   chain.View // of their views; 0: none
	parts    []part     // those from the archive
	stranger bool
	err      error
}

func (r served) apply(_ context.Context, e *Engine) error {
	if r.stranger {
		e.reads.stranger = false
	} else {
		*e.reads.running(r.archive)--
	}
	if r.archive {
		e.guest(r.to).reading = false
	}
	e.bill(r)
	if !r.stranger {
		e.sentAgain(e.peers[r.to].given.bill(r.from, r.parts))
	}
	if r.err != nil {
		// A block of the past that cannot be read is no reason to stop voting,
		// least of all when a peer may ask for it again and again.
		e.Stats.ArchiveFailures.Add(1)
	}
	e.send(r)
	return nil
}

// send hands an answer to the network, which keeps what one peer and all of them may
// be sent.
func (e *Engine) send(r served) {
	e.Stats.BlocksServed.Add(uint64(r.blocks))
	for _, msg := range r.messages {
		e.net.Send(r.to, msg)
	}
	if !r.beside {
		e.net.Send(r.to, wire.Append(nil, wire.Answered{Round: beacon.Round{Epoch: e.cfg.Set.Epoch(), View: r.from}}))
	}
}

// encodings keeps the newest blocks as they are sent, so that a block which many ask
// for is copied once and waits once in all their queues. It is used off the loop.
type encodings struct {
	mu    sync.Mutex // guards all below
	by    map[encodingKey][]byte
	order []encodingKey // oldest first
	bytes int
}

// encodingKey names a block and the certificate that goes with it.
type encodingKey chain.Hash

// of returns the message with a certificate and its block. Both must not change. The
// certificate names the block by its digest and its view, so that it names the whole.
func (e *encodings) of(certificate, block []byte) []byte {
	key := encodingKey(keccak.Sum256(certificate))
	e.mu.Lock()
	msg := e.by[key]
	e.mu.Unlock()
	if msg != nil {
		return msg
	}
	msg = make([]byte, 0, 1+len(certificate)+len(block))
	msg = append(append(append(msg, wire.TagBackfill), certificate...), block...)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by[key] != nil {
		return e.by[key]
	}
	if e.by == nil {
		e.by = map[encodingKey][]byte{}
	}
	e.by[key], e.order, e.bytes = msg, append(e.order, key), e.bytes+len(msg)
	for e.bytes > encodedBytesMax && len(e.order) > 1 {
		e.bytes -= len(e.by[e.order[0]])
		delete(e.by, e.order[0])
		e.order = e.order[1:]
	}
	return msg
}
