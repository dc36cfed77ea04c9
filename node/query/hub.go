package query

import (
	"context"
	"sync"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// hub hands each finalized block to whoever listens. Publishing never waits: a
// listener that falls behind is closed and has to come back.
type hub struct {
	done chan struct{} // closed by stop: nobody should wait for a block any more

	mu        sync.Mutex // guards all below
	listeners map[chan *rpc.Block]struct{}
	next      chan struct{} // closed and replaced at every block
}

func newHub() *hub {
	return &hub{done: make(chan struct{}), listeners: map[chan *rpc.Block]struct{}{}, next: make(chan struct{})}
}

// publish hands b to every listener and wakes those who wait for any block.
func (h *hub) publish(b *rpc.Block) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.listeners {
		select {
		case c <- b:
		default:
			delete(h.listeners, c)
			close(c)
		}
	}
	close(h.next)
	h.next = make(chan struct{})
}

// subscribe returns a channel of the blocks published from now on. It is
// closed when ctx ends or depth blocks wait unread.
func (h *hub) subscribe(ctx context.Context, depth int) <-chan *rpc.Block {
	c := make(chan *rpc.Block, depth)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners[c] = struct{}{}
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
