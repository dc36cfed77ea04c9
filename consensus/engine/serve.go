package engine

import (
	"context"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
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

// peer is the account of a validator.
type peer struct {
	guest
	given given
}

// past is what answering asks of the machine. It is a [simplex.Machine], or a test's.
type past interface {
	Certificates(from chain.View, limit int) []simplex.Certificate
}

// serving is the part that answers those who lack something. Events are requests, and
// answers that were read off the loop; effects are messages. What takes time waits in
// its line, to be made when there is room.
type serving struct {
	cfg        *Config
	stats      *Stats
	machine    past
	blocks     *blocks
	deliveries *deliveries
	peers      []peer                        // by participant
	guests     map[beacon.Participant]*guest // full nodes
	reads      reads
}

func newServing(cfg *Config, stats *Stats, machine past, blocks *blocks, deliveries *deliveries) serving {
	return serving{
		cfg: cfg, stats: stats, machine: machine, blocks: blocks, deliveries: deliveries,
		peers: make([]peer, cfg.Set.Len()), guests: make(map[beacon.Participant]*guest),
	}
}

// guest returns the account of a validator or a full node. When there are too many of
// these, all are forgotten.
func (s *serving) guest(p beacon.Participant) *guest {
	if int(p) < len(s.peers) {
		return &s.peers[p].guest
	}
	g := s.guests[p]
	if g == nil {
		if len(s.guests) == guestsMax {
			clear(s.guests)
		}
		g = new(guest)
		s.guests[p] = g
	}
	return g
}

// allows counts something that a peer is to be told, and reports whether it may be.
func (s *serving) allows(now time.Time, to beacon.Participant) bool {
	return s.guest(to).allows(now, s.cfg.FetchTimeout)
}

// answer helps a peer that is behind, or that lacks a block: from the archive
// what is durable, from memory what is newer. Only blocks that we judged leave:
// unjudged bytes may not be the block at all, and the peer would blame us.
func (s *serving) answer(now time.Time, to beacon.Participant, r beacon.Round) []effect {
	g := s.guest(to)
	if r.Epoch != s.cfg.Set.Epoch() || !g.allows(now, s.cfg.FetchTimeout) {
		return nil
	}
	durable := s.deliveries.durable
	if s.cfg.Archive == nil || r.View > durable {
		pieces := s.fromMemory(r.View)
		s.ration(now, to, r.View, pieces)
		return s.orRefuse(s.lineUp(now, read{to: to, from: r.View, pieces: pieces}))
	}
	pieces := s.fromMemory(durable + 1)
	s.ration(now, to, durable+1, pieces)
	before, may := s.mayRead(now, to, r.View)
	if !may {
		out, _ := s.lineUp(now, read{to: to, from: r.View, pieces: pieces})
		return out
	}
	if !g.reading {
		var out []effect
		out, g.reading = s.lineUp(now, read{to: to, from: r.View, before: before, archive: true, pieces: pieces})
		return out
	}
	return s.orRefuse(s.lineUp(now, read{to: to, pieces: pieces, beside: true}))
}

// orRefuse counts an answer for which there is no room.
func (s *serving) orRefuse(out []effect, room bool) []effect {
	if !room {
		s.stats.AnswersRefused.Add(1)
	}
	return out
}

// piece is a certificate, with its block if the peer is to have that.
type piece struct {
	certificate simplex.Certificate
	block       []byte // nil: none
}

// fromMemory returns what helps a peer from view v on: certificates, and each block
// once, up to answerBytes of them or the first one.
func (s *serving) fromMemory(v chain.View) (out []piece) {
	left := answerBytes
	var sent []chain.Hash
	for _, c := range s.machine.Certificates(v, answerCertificates) {
		p := piece{certificate: c}
		if at := c.Proposal; c.Kind != simplex.Nullify && !slices.Contains(sent, at.Payload) {
			b := s.blocks.byDigest(at.Round.View, at.Payload)
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
func (s *serving) lineUp(now time.Time, r read) (out []effect, room bool) {
	r.stranger = int(r.to) >= len(s.peers)
	if r.empty() {
		ready := served{to: r.to, from: r.from, beside: r.beside, stranger: r.stranger}
		for _, p := range r.pieces {
			ready.messages = append(ready.messages, wire.Append(nil, p.certificate))
		}
		s.bill(now, ready)
		return s.sendAnswer(ready), true
	}
	at, same := len(s.reads.waiting), 0
	for _, other := range s.reads.waiting {
		if other.to == r.to {
			same++
		}
	}
	if same >= readsEachMax {
		return nil, false
	}
	if first := slices.IndexFunc(s.reads.waiting, func(r read) bool { return r.stranger }); first >= 0 {
		if r.stranger && at-first >= readsWaitingMax {
			return nil, false // it asks again, perhaps somebody else
		}
		if !r.stranger {
			at = first
		}
	}
	s.reads.waiting = slices.Insert(s.reads.waiting, at, r)
	return nil, true
}

// running counts the answers of a kind that are in the making.
func (r *reads) running(archive bool) *int {
	if archive {
		return &r.looking
	}
	return &r.copying
}

// nextReady returns the place of the answer that may begin, or -1.
func (r *reads) nextReady() int {
	return slices.IndexFunc(r.waiting, func(x read) bool {
		return !x.stranger && *r.running(x.archive) < readsMax || x.stranger && !r.stranger
	})
}

// due reports whether an answer may begin.
func (r *reads) due() bool { return r.nextReady() >= 0 }

// startAnswer takes an answer out of the line that may be made now, and counts it as in the
// making until it is served.
func (s *serving) startAnswer() (r read, ok bool) {
	i := s.reads.nextReady()
	if i < 0 {
		return read{}, false
	}
	r = s.reads.waiting[i]
	s.reads.waiting = slices.Delete(s.reads.waiting, i, i+1)
	if r.stranger {
		s.reads.stranger = true
	} else {
		*s.reads.running(r.archive)++
	}
	return r, true
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
			out.messages = append(out.messages, encoded.withBlock(b.Own, b.Block))
			out.bytes += len(b.Own) + len(b.Block)
		}
		if out.blocks = len(found); out.blocks > 0 { // makes all of them final, if their own do not
			out.newest = viewOf(found[out.blocks-1].Own, 0)
			out.messages = append(out.messages, found[out.blocks-1].Certificate)
		}
	}
	for _, p := range r.pieces {
		certificate := wire.Append(nil, p.certificate)
		if p.block == nil {
			out.messages = append(out.messages, certificate)
			continue
		}
		out.blocks++
		out.bytes += len(certificate) + len(p.block)
		out.newest = max(out.newest, p.certificate.Proposal.Round.View)
		out.messages = append(out.messages, encoded.withBlock(certificate, p.block))
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

// served sends an answer that is ready.
func (s *serving) served(now time.Time, r served) []effect {
	if r.stranger {
		s.reads.stranger = false
	} else {
		*s.reads.running(r.archive)--
	}
	if r.archive {
		s.guest(r.to).reading = false
	}
	s.bill(now, r)
	if !r.stranger {
		s.stats.AgainBytes.Add(uint64(s.peers[r.to].given.bill(r.from, r.parts)))
	}
	if r.err != nil {
		// A block of the past that cannot be read is no reason to stop voting,
		// least of all when a peer may ask for it again and again.
		s.stats.ArchiveFailures.Add(1)
	}
	return s.sendAnswer(r)
}

// sendAnswer hands an answer out. The network keeps what one peer and all of them may be sent.
func (s *serving) sendAnswer(r served) (out []effect) {
	s.stats.BlocksServed.Add(uint64(r.blocks))
	for _, msg := range r.messages {
		out = append(out, sendEncoded{r.to, msg})
	}
	if !r.beside {
		out = append(out, send{r.to, wire.Answered{Round: beacon.Round{Epoch: s.cfg.Set.Epoch(), View: r.from}}})
	}
	return out
}
