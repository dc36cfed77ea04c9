package flood

import (
	"context"
	"fmt"
	"time"
)

// Block is what the observer noted of a block.
type Block struct {
	Height uint64
	Count  int           // transactions, as the node says
	Seen   time.Duration // since the start
	clocks clocks        // when it was seen
}

// clocks are processor times at one moment.
type clocks struct{ node, own, machine time.Duration }

func (r *run) clocks() clocks {
	return clocks{node: processesCPU(r.cfg.PIDs), own: ownCPU(), machine: machineCPU()}
}

// observe notes every block above first until ctx ends.
func (r *run) observe(ctx context.Context, conn *Conn, first uint64) error {
	tick := time.NewTicker(r.cfg.Poll)
	defer tick.Stop()
	for last := first; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		head, err := r.chain.Head(conn)
		if err != nil {
			return fmt.Errorf("height: %w", err)
		}
		if head <= last {
			continue
		}
		seen, clocks := time.Since(r.start), r.clocks()
		counts, err := r.chain.Counts(conn, last+1, head)
		if err != nil {
			return fmt.Errorf("sizes of blocks %d to %d: %w", last+1, head, err)
		}
		r.mu.Lock()
		for i, n := range counts {
			r.blocks = append(r.blocks, Block{Height: last + 1 + uint64(i), Count: n, Seen: seen, clocks: clocks})
			r.included += n
			if n > 0 {
				r.moved = seen
			}
		}
		r.room.Broadcast()
		r.mu.Unlock()
		last = head
	}
}
