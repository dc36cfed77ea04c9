package sigverify

import (
	"context"
	"sync"
)

// reorderBuffer lets batches through to the lanes in the order in which they were
// gathered, though they are verified side by side: otherwise a sender's later
// nonces could overtake earlier ones and be refused for the gap.
//
// A worker that finishes early does not wait. It leaves its batch and gathers
// the next; whoever finishes the batch that is due admits all that are ready
// behind it.
type reorderBuffer struct {
	mu       sync.Mutex
	room     sync.Cond // signalled when due has moved
	finished []*batch  // by number modulo length; nil where none waits
	due      uint64    // number of the batch to be admitted next
	passing  bool      // a worker is admitting
	spare    []*batch  // scratch space of batches that are through
}

func newReorderBuffer(batches int) *reorderBuffer {
	t := &reorderBuffer{finished: make([]*batch, batches)}
	t.room.L = &t.mu
	return t
}

// batch returns an empty batch.
func (t *reorderBuffer) batch() *batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.spare); n > 0 {
		b := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return b
	}
	return &batch{}
}

// passInOrder takes a verified batch and calls admit with every batch whose turn has
// come, one at a time. It waits only when a batch before is so late that there
// is no place left to leave this one.
func (t *reorderBuffer) passInOrder(ctx context.Context, b *batch, admit func(context.Context, *batch)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for b.number-t.due >= uint64(len(t.finished)) {
		t.room.Wait()
	}
	t.finished[b.number%uint64(len(t.finished))] = b
	if t.passing {
		return // who admits sees it
	}
	t.passing = true
	for {
		place := &t.finished[t.due%uint64(len(t.finished))]
		next := *place
		if next == nil {
			break
		}
		*place = nil
		t.mu.Unlock()
		admit(ctx, next)
		next.reset()
		t.mu.Lock()
		t.due++
		t.spare = append(t.spare, next)
		t.room.Broadcast()
	}
	t.passing = false
}
