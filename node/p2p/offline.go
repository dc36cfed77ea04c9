package p2p

import "sync/atomic"

// offline is what waits for members that are not connected: a budget of bytes for all
// of them together. What is sent to all grows evenly in their queues; where it is full
// each loses its oldest for its newest.
type offline struct {
	bytes    atomic.Int64
	bytesMax int64
	dropped  atomic.Uint64 // messages, for want of room in the budget
}

// OfflineBytes is what waits for members that are not connected, in bytes.
func (t *Transport) OfflineBytes() int64 { return t.offline.bytes.Load() }

// OfflineDropped counts the messages that were dropped to keep that within its budget.
func (t *Transport) OfflineDropped() uint64 { return t.offline.dropped.Load() }

// share puts the queues of a member that is not connected yet under the budget.
func (p *peer) share(o *offline) {
	for _, q := range p.queues {
		q.offline = o
	}
	p.setAway(true)
}

// setAway moves what waits under the budget, or out of it.
func (p *peer) setAway(away bool) {
	for _, q := range p.queues {
		q.setAway(away)
	}
}

func (q *queue) setAway(away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.offline == nil || q.away == away {
		return
	}
	if q.away = away; !away {
		q.offline.bytes.Add(-int64(q.bytes))
		return
	}
	q.offline.bytes.Add(int64(q.bytes))
	q.fit(0)
}

// fit drops the oldest messages until n bytes more are within the budget of those who
// are away. It reports whether they are. q.mu is held.
func (q *queue) fit(n int) bool {
	if !q.away {
		return true
	}
	for q.offline.bytes.Load()+int64(n) > q.offline.bytesMax {
		q.dropped.Add(1)
		q.offline.dropped.Add(1)
		if len(q.msgs) == 0 {
			return false
		}
		q.pop()
	}
	return true
}

// addBytes adds to the bytes that wait. q.mu is held.
func (q *queue) addBytes(n int) {
	q.bytes += n
	if q.away {
		q.offline.bytes.Add(int64(n))
	}
}
