package query

import (
	"context"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestListenersFallBehindInBlocksOrBytes: who does not read is closed when his queue is full,
// or when what waits in it is too large; one block of any size waits for everybody.
func TestListenersFallBehindInBlocksOrBytes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		depth  int
		sizes  []int
		closed int // by which block; -1: by none
	}{
		{"as many as there are places", 3, []int{1, 1, 1}, -1},
		{"one more", 3, []int{1, 1, 1, 1}, 3},
		{"as many bytes as may wait", 9, []int{queuedBytesMax / 2, queuedBytesMax / 2}, -1},
		{"one more byte", 9, []int{queuedBytesMax / 2, queuedBytesMax / 2, 1}, 2},
		{"one that is larger than all may be", 9, []int{queuedBytesMax + 1}, -1},
		{"and another behind it", 9, []int{queuedBytesMax + 1, 0}, 1},
	} {
		h := newHub()
		early := h.subscribe(t.Context(), 100)
		for range 5 { // nobody of them all waits for these
			h.publish(&rpc.Block{SizeBytes: queuedBytesMax})
			<-early
		}
		late := h.subscribe(t.Context(), tt.depth)
		closed := -1
		for i, size := range tt.sizes {
			h.publish(&rpc.Block{SizeBytes: size})
			<-early // reads, and so hears of all
			if len(h.listeners) == 1 && closed < 0 {
				closed = i
			}
		}
		if closed != tt.closed {
			t.Errorf("%s: closed by block %d, want %d", tt.name, closed, tt.closed)
		}
		got := len(late)
		want := len(tt.sizes)
		if tt.closed >= 0 {
			want = tt.closed
		}
		if got != want {
			t.Errorf("%s: %d blocks were in the queue, want %d", tt.name, got, want)
		}
	}
}

// TestListenerThatReadsKeepsItsQueue: what was read counts no more, however much it was.
func TestListenerThatReadsKeepsItsQueue(t *testing.T) {
	h := newHub()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	c := h.subscribe(ctx, 4)
	for range 50 {
		h.publish(&rpc.Block{SizeBytes: queuedBytesMax / 3})
		h.publish(&rpc.Block{SizeBytes: queuedBytesMax / 3})
		for range 2 {
			if b := <-c; b == nil {
				t.Fatal("who reads is closed")
			}
		}
	}
	if len(h.sums) > 5 {
		t.Errorf("%d sums are kept for queues of 4", len(h.sums))
	}
}
