package rpc

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
)

// listReaders is how many blocks of a list are read at once. A read waits for
// the disk and goes down deep into the store: what a pool of goroutines with
// grown stacks is best at (ADR 11). It also bounds what lists take from the
// node, whoever asks for how many.
const listReaders = 16

// listing returns the header lines of n blocks, newest first, from height down.
// It ends early at the first block that is not stored, as nothing older is either,
// behind ListBytesMax of blocks that were read for it, and where its client can pay for no
// more ([Bill]).
func (s *Server) listing(ctx context.Context, from chain.Height, n uint64) ([]*HeaderLine, error) {
	lines := make([]*HeaderLine, n)
	errs := make([]error, n)
	var size atomic.Int64
	var reads sync.WaitGroup
	for i := range lines {
		reads.Add(1)
		read := func() {
			defer func() {
				if p := recover(); p != nil { // the request fails, not the process
					errs[i] = exec.Panicked(p)
				}
				reads.Done()
			}()
			if errs[i] = ctx.Err(); errs[i] != nil || size.Load() > s.cfg.ListBytesMax {
				return
			}
			line, ok, err := s.source.HeaderByHeight(ctx, from-chain.Height(i))
			if ok {
				if lines[i] = line; line.Stored {
					size.Add(int64(line.SizeBytes))
				}
			}
			errs[i] = err
		}
		// Without a running server, or while it stops, the caller reads.
		if pool := s.readers.Load(); pool == nil || pool.Submit(read) != nil {
			read()
		}
	}
	reads.Wait()
	for i, line := range lines {
		if i > 0 && isOwed(errs[i]) {
			return lines[:i], nil
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		if line == nil {
			return lines[:i], nil
		}
	}
	return lines, nil
}
