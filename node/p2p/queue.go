package p2p

import (
	"sync"
	"sync/atomic"
)

// queue holds the messages of one class that wait for one peer. It never
// blocks its callers.
type queue struct {
	limit   Limit
	ready   chan struct{} // holds a token when there may be messages
	dropped atomic.Uint64
	offline *offline // the budget while the peer is away; nil: none

	mu    sync.Mutex
	msgs  [][]byte
	bytes int
	away  bool // the bytes count in offline
}

func newQueue(l Limit) *queue { return &queue{limit: l, ready: make(chan struct{}, 1)} }

// put appends msg, which must not change afterwards.
func (q *queue) put(msg []byte) {
	if len(msg) > q.limit.QueueBytes {
		q.dropped.Add(1)
		return
	}
	q.mu.Lock()
	for len(q.msgs) >= q.limit.QueueMessages || q.bytes+len(msg) > q.limit.QueueBytes {
		q.dropped.Add(1)
		if !q.limit.DropOldest {
			q.mu.Unlock()
			return
		}
		q.pop()
	}
	if !q.fit(len(msg)) {
		q.mu.Unlock()
		return
	}
	q.msgs = append(q.msgs, msg)
	q.addBytes(len(msg))
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *queue) pop() []byte {
	msg := q.msgs[0]
	q.msgs[0] = nil
	q.msgs = q.msgs[1:]
	q.addBytes(-len(msg))
	return msg
}

// popInto appends waiting messages to dst, oldest first: at least one if there is
// any, more while they fit into bytesMax.
func (q *queue) popInto(dst [][]byte, bytesMax int) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for size := 0; len(q.msgs) > 0; {
		size += frameHeaderBytes + len(q.msgs[0])
		if len(dst) > 0 && size > bytesMax {
			q.wake() // for the rest
			break
		}
		dst = append(dst, q.pop())
	}
	return dst
}

// clear forgets what waits.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped.Add(uint64(len(q.msgs)))
	q.addBytes(-q.bytes)
	q.msgs = nil
}

// size returns the bytes that wait.
func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.msgs)
}
