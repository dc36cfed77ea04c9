package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
)

// Checked is a chunk that was held to the state root.
type Checked struct {
	Chunk checkpoint.Chunk
	Span  checkpoint.Span // of accounts and storage
}

// Check decodes a chunk and holds it to the root. A list is held to nothing: its
// root is in the state, which may not be here yet.
func Check(root chain.Hash, payload []byte) (Checked, error) {
	c, err := checkpoint.DecodeChunk(payload)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{Chunk: c}
	switch c := c.(type) {
	case *checkpoint.Accounts:
		out.Span, err = c.Check(root)
	case *checkpoint.Slots:
		out.Span, err = c.Check(root)
	}
	return out, err
}

// task is a chunk on its way through the workers.
type task struct {
	payload []byte
	checked Checked
	err     error
	done    chan struct{}
}

// queuedPerWorker bounds the chunks in memory: each may take 16 MiB at worst.
const queuedPerWorker = 4

// each calls take with all chunks of a snapshot, checked and in order. take runs
// on the caller's goroutine.
func each(ctx context.Context, r *checkpoint.Reader, root chain.Hash, take func(Checked) error) error {
	workers := runtime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(ctx)
	work := make(chan *task, workers)
	inOrder := make(chan *task, queuedPerWorker*workers)
	var crew sync.WaitGroup
	defer crew.Wait()
	defer cancel()
	for range workers {
		crew.Go(func() {
			for t := range work {
				if t.err == nil {
					t.checked, t.err = Check(root, t.payload)
				}
				t.payload = nil
				close(t.done)
			}
		})
	}
	crew.Go(func() {
		defer close(work)
		defer close(inOrder)
		for {
			t := &task{done: make(chan struct{})}
			if t.payload, t.err = r.Chunk(); errors.Is(t.err, io.EOF) && !errors.Is(t.err, checkpoint.ErrDamaged) {
				return
			}
			failed := t.err != nil
			select {
			case inOrder <- t:
			case <-ctx.Done():
				return
			}
			select {
			case work <- t:
			case <-ctx.Done():
				t.err = ctx.Err()
				close(t.done)
				return
			}
			if failed {
				return
			}
		}
	})
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case t, ok := <-inOrder:
			if !ok {
				return ctx.Err()
			}
			<-t.done
			if t.err == nil {
				t.err = take(t.checked)
			}
			if t.err != nil {
				return fmt.Errorf("chunk %d: %w", n, t.err)
			}
		}
	}
}
