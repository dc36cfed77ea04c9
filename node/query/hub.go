package query

import (
	"context"
	"sync"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// queuedBytesMax is how many encoded bytes of blocks wait for a listener, beyond the first
// of them. The blocks are the same for all who wait, but the slowest keeps them.
const queuedBytesMax = 64 << 20

// hub hands each finalized block to whoever listens. Publishing never waits: a
// listener that falls behind, in blocks or in their bytes, is closed and has to come back.
type hub struct {
	done chan struct{} // closed by stop: nobody should wait for a block any more

	mu        sync.Mutex // guards all below
	listeners map[chan *rpc.Block]struct{}
	next      chan struct{} // closed and replaced at every block
	// sums are the encoded bytes of all blocks up to one, of the newest as many as any
	// queue has places for, and of one before them.
	sums  []int
	depth int // the longest queue
}

func newHub() *hub {
	return &hub{done: make(chan struct{}), listeners: map[chan *rpc.Block]struct{}{}, next: make(chan struct{}), sums: []int{0}}
}

// publish hands b to every listener and wakes those who wait for any block.
func (h *hub) publish(b *rpc.Block) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sums = append(h.sums, h.sums[len(h.sums)-1]+b.SizeBytes)
	h.sums = h.sums[max(0, len(h.sums)-h.depth-1):]
	for c := range h.listeners {
		if h.takes(c) {
			c <- b
		} else {
			delete(h.listeners, c)
			close(c)
		}
	}
	close(h.next)
	h.next = make(chan struct{})
}

// takes reports whether a listener has room for the newest block. In its queue are the
// ones before it, as it gets all of them; nobody else puts anything in.
func (h *hub) takes(c chan *rpc.Block) bool {
	n, newest := len(c), len(h.sums)-1
	return n == 0 || n < cap(c) && h.sums[newest]-h.sums[newest-n-1] <= queuedBytesMax
}

// subscribe returns a channel of the blocks published from now on. It is
// closed when ctx ends, or when depth blocks wait unread or too many bytes of them.
func (h *hub) subscribe(ctx context.Context, depth int) <-chan *rpc.Block {
	c := make(chan *rpc.Block, depth)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners[c] = struct{}{}
	h.depth = max(h.depth, depth)
	context.AfterFunc(ctx, func() { h.unsubscribe(c) })
	return c
}

func (h *hub) unsubscribe(c chan *rpc.Block) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.listeners[c]; ok {
		delete(h.listeners, c)
		close(c)
	}
}

// changed returns a channel that is closed at the next block.
func (h *hub) changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next
}

// stop ends every wait; the API ends its streams itself. It is called once.
func (h *hub) stop() { close(h.done) }
