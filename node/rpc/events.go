package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
)

// Streams is what is delivered as it becomes final.
type Streams interface {
	// Subscribe delivers every block finalized after the call, in order. The
	// channel buffers depth blocks, of large ones fewer, and is closed when ctx ends or
	// when the receiver falls further behind; the sender never waits for it.
	Subscribe(ctx context.Context, depth int) (<-chan *Block, error)
}

// stream answers GET /events: the stored blocks after the resume point, then
// every newly finalized one.
//
// The subscription begins before the stored blocks are read, so none falls
// between; those that arrive on both ways are sent once because heights only
// rise. A client that reads too slowly overflows its queue, which ends the
// stream; it may come back with Last-Event-ID. One whose replay does not come closer to the
// head goes on there, behind a gap event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, _ []string) error {
	from, resume, err := resumePoint(r)
	if err != nil {
		return err
	}
	live, err := s.source.Subscribe(r.Context(), s.cfg.SubscriberDepth)
	if err != nil {
		return err
	}
	if !resume { // read before the greeting: what follows the greeting is not missed
		from = s.source.Height()
	}
	s.Stats.Subscribers.Add(1)
	defer s.Stats.Subscribers.Add(-1)

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	out := &eventWriter{server: s, w: w, control: http.NewResponseController(w), client: s.client(r), sent: from}
	if r.Method == http.MethodHead {
		return nil
	}
	defer func() { // what follows the greeting has no status any more
		if cause := recover(); cause != nil {
			s.notePanic(r, exec.Panicked(cause))
			out.writeFrame([]byte(": the node failed on this stream, resume with Last-Event-ID\n\n"))
		}
	}()
	if !out.writeFrame([]byte(": finalized blocks follow\nretry: 1000\n\n")) {
		return nil
	}
	behind := s.source.Height() - min(from, s.source.Height())
	if resume && !s.replay(r, out, from) {
		return nil
	}
	slow := s.streamLive(r, out, live)
	if slow && behind > 0 && s.source.Height() >= out.sent+behind {
		if live = s.skipAhead(r, out); live == nil {
			return nil
		}
		slow = s.streamLive(r, out, live)
	}
	if slow && r.Context().Err() == nil {
		s.Stats.Dropped.Add(1)
		out.writeFrame([]byte(": too slow, resume with Last-Event-ID\n\n"))
	}
	return nil
}

// skipAhead goes on at the head with a stream that is behind its replay as far as before it,
// and has lost what came meanwhile: a client pays for stored blocks, and full ones take it
// longer than the chain needs for them, so that it would resume for ever and never come to
// the head. A gap event names what is left out. It happens once a stream: who then reads too
// slowly is dropped. It returns nil where the stream ends.
func (s *Server) skipAhead(r *http.Request, out *eventWriter) <-chan *Block {
	live, err := s.source.Subscribe(r.Context(), s.cfg.SubscriberDepth)
	if err != nil {
		s.log.Debug("rpc event stream ends where it cannot go on", "height", out.sent, "err", err)
		return nil
	}
	if head := s.source.Height(); head > out.sent && !out.writeGap(out.sent+1, head) {
		return nil
	}
	return live
}

// writeGap says that blocks were left out, the last of which counts as sent.
func (o *eventWriter) writeGap(from, to chain.Height) bool {
	gap, err := json.Marshal(GapReply{From: uint64(from), To: uint64(to)})
	if err != nil || !o.writeFrame(fmt.Appendf(nil, "event: gap\ndata: %s\n\n", gap)) {
		return false
	}
	o.sent = to
	return true
}

// resumePoint reads the height of the last block that the client has.
func resumePoint(r *http.Request) (chain.Height, bool, error) {
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		return 0, false, nil
	}
	v, err := parseUint(id)
	if err != nil {
		return 0, false, badRequest(CodeBadNumber, "Last-Event-ID %q is no height: send the id of the last event", clip(id))
	}
	return chain.Height(v), true, nil
}

// replay sends the stored blocks above from, at most ResumeBlocksMax of them
// and the newest ones; a gap event names those left out. It reports whether the
// stream goes on.
func (s *Server) replay(r *http.Request, out *eventWriter, from chain.Height) bool {
	head := s.source.Height()
	if from >= head {
		return true
	}
	if missed := uint64(head - from); missed > s.cfg.ResumeBlocksMax {
		first := head - chain.Height(s.cfg.ResumeBlocksMax)
		if !out.writeGap(from+1, first) {
			return false
		}
	}
	return s.sendStored(r, out, head)
}

// sendStored sends the stored blocks after the last one sent up to height to. A replay goes
// as fast as its client may ask for the same blocks one by one: the client pays for each
// block before it is read, for its encoding if nobody asked for it before, and for what is
// sent, and owes nothing when the next one comes.
func (s *Server) sendStored(r *http.Request, out *eventWriter, to chain.Height) bool {
	for h := out.sent + 1; h <= to; h++ {
		b := s.replayed(r, h)
		if b == nil || s.events.lookup(b.Hash) == nil && !s.untilBilled(r, 64+b.SizeBytes/8) || !out.writeBlock(r.Context(), b) || !s.awaitPayment(r, out.bytes) {
			return false
		}
	}
	return true
}

// replayed reads a stored block when the client may; nil where the stream ends.
func (s *Server) replayed(r *http.Request, h chain.Height) *Block {
	for {
		b, ok, err := s.source.BlockByHeight(r.Context(), h)
		var refusal *Refusal
		switch {
		case ok && err == nil:
			return b
		case errors.As(err, &refusal) && refusal.Code == CodeOwed:
			if !s.pause(r, refusal.After) {
				return nil
			}
		default:
			s.log.Debug("rpc event stream ends at a block it cannot read", "height", h, "err", err)
			return nil
		}
	}
}

// untilBilled is [Bill] for a stream, which waits until its client may. It reports whether
// the stream goes on.
func (s *Server) untilBilled(r *http.Request, n int) bool {
	for {
		var refusal *Refusal
		if !errors.As(Bill(r.Context(), n), &refusal) {
			return true
		}
		if !s.pause(r, refusal.After) {
			return false
		}
	}
}

// awaitPayment waits until the client of a stream, to whom so many bytes were sent, owes
// nothing. It reports whether the stream goes on.
func (s *Server) awaitPayment(r *http.Request, n int) bool {
	c := callerOf(r.Context())
	if c == nil {
		return true
	}
	s.rates.charge(c.client, float64(n)/sentBytes, time.Now())
	return s.pause(r, s.rates.settle(c, time.Now()))
}

// pause lets a stream wait. It reports whether the stream goes on.
func (s *Server) pause(r *http.Request, wait time.Duration) bool {
	if wait == 0 {
		return r.Context().Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stopping:
		return false
	case <-r.Context().Done():
		return false
	}
}

// streamLive sends live blocks until the client leaves, the server stops or the
// client proves too slow, which it reports.
func (s *Server) streamLive(r *http.Request, out *eventWriter, live <-chan *Block) (slow bool) {
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case b, open := <-live:
			if !open {
				return true
			}
			height := b.Block.Header.Height
			if height <= out.sent {
				continue
			}
			// A source that skipped blocks is repaired from the store.
			if height > out.sent+1 && !s.sendStored(r, out, height-1) {
				return false
			}
			if !out.writeBlock(r.Context(), b) {
				return false
			}
		case <-beat.C:
			if !out.writeFrame([]byte(": still here\n\n")) {
				return false
			}
		case <-s.stopping:
			out.writeFrame([]byte(": the node stops, resume with Last-Event-ID\n\n"))
			return false
		case <-r.Context().Done():
			return false
		}
	}
}

// eventWriter writes to one stream.
type eventWriter struct {
	server  *Server
	w       http.ResponseWriter
	control *http.ResponseController
	client  netip.Addr
	sent    chain.Height // last block sent
	bytes   int          // of its event
}

// writeFrame writes a frame, which comes in parts, and flushes within EventTimeout. It
// reports whether the client is still there.
func (o *eventWriter) writeFrame(parts ...[]byte) bool {
	if err := extendWrite(o.w, o.server.cfg.EventTimeout); err != nil {
		return false
	}
	for _, part := range parts {
		if _, err := o.w.Write(part); err != nil {
			return false
		}
	}
	return o.control.Flush() == nil
}

// writeBlock sends one block event; its id is what Last-Event-ID returns. A large one takes a
// share of the memory for answers until it is read, as an answer does.
func (o *eventWriter) writeBlock(ctx context.Context, b *Block) bool {
	encoded, err := o.server.events.encoded(ctx, b, o.server.source.Height())
	if err != nil {
		return false // the client has left
	}
	data := bytes.TrimSuffix(encoded, []byte("\n"))
	if o.bytes = len(data); o.bytes > freeAnswerBytes {
		share, why := o.server.answers.acquire(o.client, int64(o.bytes))
		if why != granted {
			o.writeFrame([]byte(": too many answers wait to be read, resume with Last-Event-ID\n\n"))
			return false
		}
		defer share.give()
	}
	head := fmt.Appendf(nil, "event: block\nid: %d\ndata: ", b.Block.Header.Height)
	if !o.writeFrame(head, data, []byte("\n\n")) {
		return false
	}
	o.sent = b.Block.Header.Height
	return true
}

// eventCache keeps the JSON of the latest few blocks, so that a block is
// encoded once however many streams and pollers ask for it: of eight, and of no more than
// eventCacheBytes, but always the highest one. Of a block of small transactions the JSON takes
// several times the block. Where there is no room the lowest goes, so that replays of old
// blocks push no head out.
type eventCache struct {
	mu      sync.Mutex // guards all below
	entries []eventEntry
	bytes   int
	flights map[chain.Hash]*eventFlight // of blocks that are being encoded
	slots   chan struct{}               // a token for each block far below the head that is
}

// eventFlight is one encoding. json is there when done is closed.
type eventFlight struct {
	done chan struct{}
	json []byte
}

const (
	eventsCached    = 8
	eventCacheBytes = 32 << 20
	storedEncodings = 2
)

type eventEntry struct {
	hash   chain.Hash
	height chain.Height
	json   []byte
}

// encoded returns the block's JSON with a newline. The caller must not change it. Of
// callers for one block at the same time one encodes, or each stream would hold an encoding
// of its own. Callers for one of the latest eventsCached blocks below head wait for no other
// block, or replays would hold up the head; of those below, storedEncodings are encoded at a
// time, as the JSON and what it is made of take many times the block. The error is ctx's.
func (c *eventCache) encoded(ctx context.Context, b *Block, head chain.Height) ([]byte, error) {
	near := b.Block.Header.Height+eventsCached > head
	found, flight, mine := c.claim(b.Hash, near)
	if found == nil && flight == nil {
		places := c.stored()
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		found, flight, mine = c.claim(b.Hash, true)
	}
	switch {
	case found != nil:
		return found, nil
	case mine:
		flight.json = encodeBlock(b)
		c.keep(b, flight.json)
		close(flight.done)
		return flight.json, nil
	}
	select {
	case <-flight.done:
		return flight.json, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// claim returns a block's JSON, or who is encoding it, or else makes that the caller's task if
// it may be.
func (c *eventCache) claim(hash chain.Hash, may bool) (found []byte, flight *eventFlight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found = c.cached(hash); found != nil {
		return found, nil, false
	}
	if flight = c.flights[hash]; flight != nil || !may {
		return nil, flight, false
	}
	if c.flights == nil {
		c.flights = map[chain.Hash]*eventFlight{}
	}
	flight = &eventFlight{done: make(chan struct{})}
	c.flights[hash] = flight
	return nil, flight, true
}

// stored returns the places of those who encode blocks far below the head.
func (c *eventCache) stored() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots == nil {
		c.slots = make(chan struct{}, storedEncodings)
	}
	return c.slots
}

// keep ends the flight of a block, and keeps its JSON if there is room beside higher ones.
func (c *eventCache) keep(b *Block, encoded []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, b.Hash)
	c.entries = append(c.entries, eventEntry{hash: b.Hash, height: b.Block.Header.Height, json: encoded})
	c.bytes += len(encoded)
	for len(c.entries) > 1 && (len(c.entries) > eventsCached || c.bytes > eventCacheBytes) {
		low := 0
		for i := range c.entries {
			if c.entries[i].height < c.entries[low].height {
				low = i
			}
		}
		c.bytes -= len(c.entries[low].json)
		c.entries = slices.Delete(c.entries, low, low+1) // it clears the place
	}
}

func encodeBlock(b *Block) []byte {
	encoded, err := json.Marshal(blockReply(b))
	if err != nil {
		panic(fmt.Sprintf("rpc: encode block: %v", err)) // our own shape always encodes
	}
	return append(encoded, '\n')
}

func (c *eventCache) lookup(hash chain.Hash) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cached(hash)
}

// cached looks for a block's JSON. The lock is held.
func (c *eventCache) cached(hash chain.Hash) []byte {
	for i := range c.entries {
		if c.entries[i].hash == hash {
			return c.entries[i].json
		}
	}
	return nil
}
