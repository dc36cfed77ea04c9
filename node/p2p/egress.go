package p2p

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// What full nodes are sent goes out in small pieces, each of which waits for its
// turn: in the budget of the one, in the budget of all, and behind what members are
// being sent. What is billed is what left the socket, repeated packets and envelopes
// included, so that a guest which loses packets on purpose pays for them.

const (
	// guestPieceBytes is what may stand before a vote in the socket for each guest.
	guestPieceBytes = 8 << 10
	// guestBurstBytes is what may leave at once after a pause, to one and to all.
	guestBurstBytes = 64 << 10
	// guestBacklogBytes is how much of an answer may wait before the next request of a
	// guest is read.
	guestBacklogBytes = 256 << 10
	// guestGather is how long the certificates for a guest are gathered into one packet:
	// one by one they are most of what a guest that only listens costs, and they would be
	// sent at the very moments in which members wait for votes.
	guestGather = 50 * time.Millisecond
	// yieldMax is how long a piece waits for members: one that does not read must not
	// starve the guests.
	yieldMax  = 20 * time.Millisecond
	yieldStep = 250 * time.Microsecond
)

// egress is the budget of all guests together.
type egress struct {
	urgent atomic.Int64  // writes to members that are under way, of what consensus waits for
	bytes  atomic.Uint64 // sent to guests, as billed

	mu  sync.Mutex
	all bucket
}

// FullNodes returns how many full nodes have a place, and what was sent to full nodes
// since the start.
func (t *Transport) FullNodes() (connected int, sentBytes uint64) {
	return len(t.guests()), t.egress.bytes.Load()
}

// pay takes n bytes out of the budget and returns how long to wait.
func (e *egress) pay(n float64, now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all.take(n, now)
}

// line is the budget of one guest.
type line struct {
	turn chan struct{} // held by the class whose piece is next, until it may leave
	own  bucket        // its holder's
}

func newLine(bytesPerSecond float64, now time.Time) line {
	return line{make(chan struct{}, 1), newBucket(bytesPerSecond, guestBurstBytes, now)}
}

// isUrgent says that consensus waits for the class.
func (c Class) isUrgent() bool {
	return c == Votes || c == Certificates || c == Blocks || c == Shards
}

// out returns what a class writes to.
func (l *link) out(class Class, to io.Writer) io.Writer {
	switch {
	case !l.peer.member:
		return &paced{l, to}
	case class.isUrgent():
		return &urgent{&l.t.egress, to}
	}
	return to
}

// urgent marks the time in which a member is being written to.
type urgent struct {
	egress *egress
	to     io.Writer
}

func (u *urgent) Write(b []byte) (int, error) {
	u.egress.urgent.Add(1)
	defer u.egress.urgent.Add(-1)
	return u.to.Write(b)
}

// paced writes to a guest.
type paced struct {
	link *link
	to   io.Writer
}

func (p *paced) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		piece := b[:min(len(b), guestPieceBytes)]
		if err := p.link.afford(len(piece)); err != nil {
			return n, err
		}
		k, err := p.to.Write(piece)
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// afford waits until n bytes to a guest are within its budget and that of all, and
// until members are not being written to.
func (l *link) afford(n int) error {
	own, stop := &l.peer.line, l.writing
	select {
	case own.turn <- struct{}{}:
	case <-stop.Done():
		return errDuplicate
	}
	defer func() { <-own.turn }()
	due := uint64(n)
	if sent := l.conn.ConnectionStats().BytesSent; sent > l.billed {
		due += sent - l.billed
	}
	l.billed += due
	l.t.egress.bytes.Add(due)
	now := time.Now()
	wait := max(own.own.take(float64(due), now), l.t.egress.pay(float64(due), now))
	if sleep(stop, wait) != nil {
		return errDuplicate
	}
	for end := now.Add(wait + yieldMax); l.t.egress.urgent.Load() > 0 && time.Now().Before(end); {
		if sleep(stop, yieldStep) != nil {
			return errDuplicate
		}
	}
	return nil
}

// drained waits until what a guest asked for before has left, so that it gets no
// answers faster than it may be sent them.
func (l *link) drained(ctx context.Context) error {
	for l.peer.queues[Blocks].size()+l.peer.queues[State].size() > guestBacklogBytes {
		if err := sleep(ctx, busyWaitMax); err != nil {
			return err
		}
	}
	return nil
}
