package p2p

import (
	"context"
	"sync"
	"time"
)

// A request of a full node takes ten bytes, and its answer is read from the disk block
// by block, which for small blocks costs more than to send them. So what is read for
// full nodes comes out of a budget as well: of the same bytes a second for each and for
// all as they may be sent, where a block or a chunk of state counts for readBytesMin at
// least. A guest that is beyond it is left unread: it keeps its own requests, and
// nothing of them is here.

const (
	// readBytesMin is what one read counts for at least: to look a block up, read it,
	// hold it against its checksum and encode it takes as long as to send so much.
	readBytesMin = 16 << 10
	// reserveMax is what is set aside for an answer before it is made: sixty-four small
	// blocks. What it costs beyond that is owed by the next request.
	reserveMax = 1 << 20
)

// serving is what may be read for all guests together.
type serving struct {
	mu    sync.Mutex // guards all below, and account.own of all guests
	all   bucket
	bytes uint64 // billed to guests so far
	waits uint64 // requests that were left unread for a while
}

// account is what one guest may have read for it. The fields are guarded by
// serving.mu.
type account struct {
	own      bucket
	expected float64 // what the next answer is likely to cost: as much as the last one
	reserved float64 // for answers that are not billed yet
}

func newAccount(bytesPerSecond float64, now time.Time) account {
	return account{own: newBucket(bytesPerSecond, reserveMax, now), expected: readBytesMin}
}

// reserve takes what a request is likely to cost from a guest's budget and returns how
// long it has to wait for that.
func (s *serving) reserve(a *account, now time.Time) (cost float64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.reserved += a.expected
	return a.expected, a.own.take(a.expected, now)
}

// line takes the cost of a request from the budget of all, and returns the wait.
func (s *serving) line(cost float64, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.take(cost, now)
}

// bill takes what an answer cost, in place of what was reserved for it: from its own
// budget times over, and once from that of all, since it was made once. If all paid
// what is dearer for one, who asks for the same again could leave the others unread.
func (s *serving) bill(a *account, cost, times float64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.own.take(cost*times-a.reserved, now)
	s.all.take(cost-a.reserved, now)
	a.reserved = 0
	a.expected = min(max(cost, readBytesMin), reserveMax)
	s.bytes += uint64(cost)
}

// Served bills a full node for an answer: reads blocks or chunks of state were read for
// it, of bytes together; times over from its own budget, for what it has been sent
// before. It never blocks.
// Members are not billed.
func (t *Transport) Served(to, reads, bytes, times int) {
	p := t.peerByID(to)
	if p == nil || p.member {
		return
	}
	cost := float64(max(bytes, reads*readBytesMin, readBytesMin))
	t.serving.bill(&p.account, cost, float64(max(times, 1)), time.Now())
}

// FullNodeReads returns what was billed to full nodes for reading, and how many of
// their requests were left unread for a while for want of budget.
func (t *Transport) FullNodeReads() (bytes, waits uint64) {
	t.serving.mu.Lock()
	defer t.serving.mu.Unlock()
	return t.serving.bytes, t.serving.waits
}

// affordReads waits until a request of a guest is within its budget, and then within
// that of all, in the order in which they come.
func (l *link) affordReads(ctx context.Context) error {
	s, a := &l.t.serving, &l.peer.account
	cost, wait := s.reserve(a, time.Now())
	waited := wait > 0
	if err := sleep(ctx, wait); err != nil {
		return err
	}
	wait = s.line(cost, time.Now())
	if waited = waited || wait > 0; waited {
		s.mu.Lock()
		s.waits++
		s.mu.Unlock()
	}
	return sleep(ctx, wait)
}
