package checkpoint

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Why a peer is dropped.
var (
	// ErrStalled means that a peer let too many requests wait.
	ErrStalled = errors.New("peer does not answer in time")
	// ErrAnswer means that a peer's chunk is a good one, but not the one that
	// was asked for.
	ErrAnswer = errors.New("peer answers something else")
)

// PeerID names a peer to a [Fetch].
type PeerID int

// Event is what happens to a [Fetch]: [Joined], [Left], [Answered], [Late] or [Expired].
type Event interface{ isEvent() }

// Joined is a peer that has the checkpoint.
type Joined struct{ Peer PeerID }

// Left is a peer that is gone, or has the checkpoint no more. It is not blamed.
type Left struct{ Peer PeerID }

// Answered is a chunk that a peer sent.
type Answered struct {
	Peer  PeerID
	ID    uint64
	Chunk []byte
}

// Late is a request that takes longer than those of others. It goes on, and another
// peer is asked for the same; what comes first is taken. Who was late is asked again
// only where nobody else is free, until it was in time.
type Late struct{ ID uint64 }

// Expired is a request whose time is over.
type Expired struct{ ID uint64 }

func (Joined) isEvent()   {}
func (Left) isEvent()     {}
func (Answered) isEvent() {}
func (Late) isEvent()     {}
func (Expired) isEvent()  {}

// Effect is what a [Fetch] wants done, in order: [Ask], [Keep] or [Drop].
type Effect interface{ isEffect() }

// Ask sends a request to a peer, and an Expired if no answer comes in time.
type Ask struct {
	Peer    PeerID
	ID      uint64
	Request Request
}

// Keep stores a chunk that was checked.
type Keep struct{ Chunk Chunk }

// Drop ends the dealings with a peer, for a reason.
type Drop struct {
	Peer   PeerID
	Reason error
}

func (Ask) isEffect()  {}
func (Keep) isEffect() {}
func (Drop) isEffect() {}

// ranges is into how many parts the key space is divided, by first nibble.
const ranges = 16

// Limits of asking.
const (
	asksPerPeer = 4 // requests that one peer is to answer at a time
	stallsMax   = 3 // requests that a peer may let wait
)

// Fetch gets the state of a checkpoint from many peers side by side: sixteen
// ranges of keys, each in order, so that what is done is one key per range. It
// checks every chunk before it is kept. A peer that sends a wrong one, or lets
// several requests wait, is dropped, and its requests go to others.
//
// Fetch is a state machine: [Fetch.Step] takes what happened and returns what is
// to be done. Done is reached when all ranges are; the root of what was kept is
// then the checkpoint's.
type Fetch struct {
	root   chain.Hash
	target int // of the size of a chunk, as in CutConfig
	parts  [ranges]part
	peers  map[PeerID]*peer
	order  []PeerID // of joining; turns are taken in it
	turn   int
	lastID uint64
	out    []Effect
}

// part is the work on one range. What lies below next is kept, but for the
// storage of the accounts in apart.
type part struct {
	next, end chain.Hash // end is the first key behind; zero is the end of all
	begun     bool       // a chunk has come
	covered   bool       // all accounts are kept
	apart     []chain.Hash
	slot      chain.Hash // of apart[0]: first storage key that is not kept

	asked uint64 // the request under way, 0 for none
	peer  PeerID // that it was sent to, or that the last one was
	tried bool   // peer let this request wait
	late  late   // the request before it, which may still be answered first
}

// late is a request that somebody else was asked beside.
type late struct {
	id   uint64 // 0 for none
	peer PeerID
}

type peer struct {
	asked, stalls int
	slow          bool // the last request was late
}

// NewFetch begins, or goes on from what Progress returned. All peers cut the state to
// chunks of about chunkBytes.
func NewFetch(root chain.Hash, chunkBytes int, progress []byte) (*Fetch, error) {
	f := &Fetch{root: root, target: chunkBytes, peers: map[PeerID]*peer{}}
	for i := range f.parts {
		f.parts[i].next[0], f.parts[i].end[0] = byte(i)<<4, byte(i+1)<<4
	}
	if progress == nil {
		return f, nil
	}
	return f, f.resume(progress)
}

// Progress is what is kept, for NewFetch: for each range a byte of flags, the
// next key, the end, the accounts whose storage is missing, and the next storage
// key of the first of them.
func (f *Fetch) Progress() []byte {
	var out []byte
	for i := range f.parts {
		p := &f.parts[i]
		var flags byte
		if p.covered {
			flags |= 1
		}
		if p.begun {
			flags |= 2
		}
		out = append(append(append(out, flags), p.next[:]...), p.end[:]...)
		out = appendU32(out, len(p.apart))
		for _, account := range p.apart {
			out = append(out, account[:]...)
		}
		out = append(out, p.slot[:]...)
	}
	return out
}

func (f *Fetch) resume(progress []byte) error {
	r := &reader{b: progress}
	for i := range f.parts {
		p := &f.parts[i]
		flags := r.u8()
		p.covered, p.begun, r.bad = flags&1 != 0, flags&2 != 0, r.bad || flags > 3
		p.next, p.end = r.readHash(), r.readHash()
		for range r.count(len(chain.Hash{})) {
			p.apart = append(p.apart, r.readHash())
		}
		p.slot = r.readHash()
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("progress of a fetch: %w", err)
	}
	return nil
}

// Done reports whether all of the state is kept.
func (f *Fetch) Done() bool {
	for i := range f.parts {
		if !f.parts[i].done() {
			return false
		}
	}
	return true
}

// Peers is how many peers there are to ask.
func (f *Fetch) Peers() int { return len(f.peers) }

// Covered is how much of the key space is kept, in 1/65,536.
func (f *Fetch) Covered() uint32 {
	var sum uint32
	for i := range f.parts {
		if p := &f.parts[i]; p.covered {
			sum += 1 << 12
		} else {
			sum += min(uint32(p.next[0])<<8+uint32(p.next[1])-uint32(i)<<12, 1<<12)
		}
	}
	return sum
}

func (p *part) done() bool { return p.covered && len(p.apart) == 0 }

// within reports whether key is in the part and not kept.
func (p *part) within(key chain.Hash) bool {
	return bytes.Compare(key[:], p.next[:]) >= 0 && !p.past(key)
}

// past reports whether key lies behind the part.
func (p *part) past(key chain.Hash) bool {
	return p.end != (chain.Hash{}) && bytes.Compare(key[:], p.end[:]) >= 0
}

func (p *part) request() Request {
	if len(p.apart) > 0 {
		return Request{Kind: AskSlots, Account: p.apart[0], From: p.slot}
	}
	return Request{Kind: AskAccounts, From: p.next}
}

// Step takes one event and returns what is to be done about it.
func (f *Fetch) Step(e Event) []Effect {
	f.out = nil
	switch e := e.(type) {
	case Joined:
		if f.peers[e.Peer] == nil {
			f.peers[e.Peer] = &peer{}
			f.order = append(f.order, e.Peer)
		}
	case Left:
		f.removePeer(e.Peer)
	case Answered:
		f.answered(e)
	case Late:
		f.isLate(e.ID)
	case Expired:
		f.expired(e.ID)
	}
	f.assign()
	return f.out
}

// pendingPart returns the part that waits for a request, or nil.
func (f *Fetch) pendingPart(id uint64) (int, *part) {
	for i := range f.parts {
		if p := &f.parts[i]; id != 0 && (p.asked == id || p.late.id == id) {
			return i, p
		}
	}
	return 0, nil
}

// answered checks a chunk. An answer that nobody waits for any more is no fault:
// it may have come late.
func (f *Fetch) answered(e Answered) {
	i, p := f.pendingPart(e.ID)
	switch {
	case p == nil:
		return
	case p.late.id == e.ID:
		if p.late.peer != e.Peer {
			return
		}
	case p.peer != e.Peer:
		return
	default:
		f.peers[e.Peer].slow = false
	}
	chunk, err := f.verifyChunk(p, e.Chunk)
	if err != nil {
		f.blamePeer(e.Peer, err)
		return
	}
	if p.asked != 0 {
		f.release(p)
	}
	f.releaseLate(p)
	f.peers[e.Peer].stalls = 0
	f.out = append(f.out, Keep{chunk.Chunk})
	switch c := chunk.Chunk.(type) {
	case *Accounts:
		f.accounts(i, c, chunk.span)
	case *Slots:
		if p.slot = successor(chunk.span.Last); !chunk.span.More {
			p.apart, p.slot = p.apart[1:], chain.Hash{}
		}
	}
}

type checked struct {
	Chunk
	span Span
}

// verifyChunk holds a chunk to the root, and to what p asked for.
func (f *Fetch) verifyChunk(p *part, payload []byte) (checked, error) {
	c, err := DecodeChunk(payload)
	if err != nil {
		return checked{}, err
	}
	out, want := checked{Chunk: c}, p.request()
	got := Request{}
	switch c := c.(type) {
	case *Accounts:
		got.Kind = AskAccounts
		if out.span, err = c.Check(f.root); err == nil {
			err = c.checkPlaces(f.target)
		}
	case *Slots:
		got.Kind, got.Account = AskSlots, c.Account
		out.span, err = c.Check(f.root)
	}
	if err != nil {
		return checked{}, err
	}
	if got.Kind != want.Kind || got.Account != want.Account || !out.span.Covers(want.From) {
		return checked{}, ErrAnswer
	}
	return out, nil
}

// accounts takes note of a chunk that part i keeps. The first chunk of a part
// can begin before it: the part before then ends there, and need not ask for
// what is kept already.
func (f *Fetch) accounts(i int, c *Accounts, span Span) {
	p := &f.parts[i]
	if !p.begun && i > 0 {
		if before := &f.parts[i-1]; before.within(c.From) {
			before.end, p.next = c.From, c.From
		}
	}
	p.begun = true
	for j := range c.Accounts {
		if a := &c.Accounts[j]; a.Storage == Apart && p.within(a.Key) {
			p.apart = append(p.apart, a.Key)
		}
	}
	p.next = successor(span.Last)
	p.covered = !span.More || p.past(p.next)
}

// expired gives a request to another peer.
func (f *Fetch) expired(id uint64) {
	_, p := f.pendingPart(id)
	if p == nil {
		return
	}
	who := p.peer
	if p.late.id == id {
		who = p.late.peer
		f.releaseLate(p)
	} else {
		f.release(p)
		p.tried = true
	}
	if slow := f.peers[who]; slow != nil {
		if slow.stalls++; slow.stalls >= stallsMax {
			f.blamePeer(who, ErrStalled)
		}
	}
}

// release ends the request of a part.
func (f *Fetch) release(p *part) {
	f.peers[p.peer].asked--
	p.asked, p.tried = 0, false
}

// releaseLate ends the request of a part that was late.
func (f *Fetch) releaseLate(p *part) {
	if p.late.id == 0 {
		return
	}
	if late := f.peers[p.late.peer]; late != nil {
		late.asked--
	}
	p.late = late{}
}

// isLate leaves a request to go on and lets another peer be asked for the same, if
// there is one and nobody is asked so already.
func (f *Fetch) isLate(id uint64) {
	_, p := f.pendingPart(id)
	if p == nil || p.asked != id || p.late.id != 0 {
		return
	}
	f.peers[p.peer].slow = true
	if _, ok := f.free(p); !ok {
		return // nobody better is there
	}
	p.late = late{id, p.peer}
	p.asked, p.tried = 0, true
}

// blamePeer blames a peer.
func (f *Fetch) blamePeer(id PeerID, reason error) {
	f.removePeer(id)
	f.out = append(f.out, Drop{id, reason})
}

// removePeer takes a peer and its requests out.
func (f *Fetch) removePeer(id PeerID) {
	if f.peers[id] == nil {
		return
	}
	for i := range f.parts {
		if p := &f.parts[i]; p.asked != 0 && p.peer == id {
			f.release(p)
		}
		if p := &f.parts[i]; p.late.id != 0 && p.late.peer == id {
			f.releaseLate(p)
		}
	}
	delete(f.peers, id)
	for i, other := range f.order {
		if other == id {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			break
		}
	}
}

// assign gives every part that waits a peer, as long as there are some free.
func (f *Fetch) assign() {
	for i := range f.parts {
		p := &f.parts[i]
		if !p.covered && len(p.apart) == 0 && p.end != (chain.Hash{}) && p.past(p.next) {
			p.covered = true // the part behind it has shortened it
		}
		if p.done() || p.asked != 0 {
			continue
		}
		id, ok := f.free(p)
		if !ok {
			continue
		}
		f.lastID++
		p.asked, p.peer = f.lastID, id
		f.peers[id].asked++
		f.out = append(f.out, Ask{Peer: id, ID: p.asked, Request: p.request()})
	}
}

// free returns the next peer in turn that may be asked. One that let the part
// wait is asked again only if it is the only one, and one that was late last only
// where no other is free, for one thing at a time.
func (f *Fetch) free(p *part) (PeerID, bool) {
	n := len(f.order)
	for _, slow := range []bool{false, true} {
		for range n {
			f.turn = (f.turn + 1) % n
			id := f.order[f.turn]
			at := f.peers[id]
			if at.slow != slow || slow && at.asked > 0 && n > 1 || at.asked >= asksPerPeer {
				continue
			}
			if n == 1 || !p.tried || id != p.peer {
				return id, true
			}
		}
	}
	return 0, false
}
