package p2p

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// peer is another node: a member for as long as the transport runs, a full
// node for as long as it is connected.
type peer struct {
	id     int // number of the member, or above all of them
	key    chain.PeerKey
	member bool
	limits [NumClasses]Limit
	queues [NumClasses]*queue
	stats  peerStats

	mu          sync.Mutex
	link        *link         // the connection in use, or nil
	links       int           // connections that stand, the retired ones included
	changed     chan struct{} // closed and replaced when link changes
	bannedUntil time.Time
	pausedUntil time.Time // its transactions are not read until then

	guest // of a peer that is no member
}

type peerStats struct {
	received, sent [NumClasses]traffic
	connections    atomic.Uint64 // since the start
	violations     atomic.Uint64
	lastReceived   atomic.Int64 // Unix milliseconds
}

type traffic struct{ messages, bytes atomic.Uint64 }

func (t *traffic) add(messages, bytes int) {
	t.messages.Add(uint64(messages))
	t.bytes.Add(uint64(bytes))
}

func newPeer(id int, key chain.PeerKey, member bool, limits [NumClasses]Limit) *peer {
	p := &peer{id: id, key: key, member: member, limits: limits, changed: make(chan struct{})}
	for class := range p.queues {
		p.queues[class] = newQueue(limits[class])
	}
	return p
}

// queueMessage queues a message, or drops it where the class does not wait for a
// connection.
func (p *peer) queueMessage(class Class, msg []byte) {
	q := p.queues[class]
	if !q.limit.KeepOffline {
		if l, _ := p.current(); l == nil {
			q.dropped.Add(1)
			return
		}
	}
	q.put(msg)
}

// current returns the connection in use, or nil, and the channel that is
// closed when that changes.
func (p *peer) current() (*link, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link, p.changed
}

// set changes the connection in use. p.mu is held.
func (p *peer) set(l *link) {
	p.link = l
	p.setAway(l == nil)
	close(p.changed)
	p.changed = make(chan struct{})
}

// ban ends the talk with the peer for a while.
func (p *peer) ban(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bannedUntil = until
}

func (p *peer) banned(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bannedUntil.Sub(now)
}

// pause stops reading the peer's transactions for a while.
func (p *peer) pause(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pausedUntil = until
}

func (p *peer) paused(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pausedUntil.Sub(now)
}

func (p *peer) knows(member int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != nil && p.link.neighbours.has(member)
}

// hear notes what the peer said on a connection, which need not be in use here
// yet: the peer may have taken it into use before we did.
func (p *peer) hear(l *link, m members) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.neighbours = m
}
