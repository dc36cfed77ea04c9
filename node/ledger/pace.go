package ledger

import (
	"context"
	"sync"
	"time"
)

// pace decides when the next block may be built and which time it bears: one
// block time after its parent, or at once while blocks are being advanced by
// hand on a development chain. Its clock is the wall clock plus the time that
// advanced blocks have skipped, so that chain time never runs backwards.
type pace struct {
	mu      sync.Mutex
	skipped time.Duration // chain time minus wall time
	advance uint64        // empty blocks still to be built at once
	changed chan struct{} // closed when advance rises
}

// start sets the clock so that it is not behind the head's timestamp.
func (p *pace) start(wall time.Time, headMillis uint64) {
	p.changed = make(chan struct{})
	if lead := int64(headMillis) - wall.UnixMilli(); lead > 0 {
		p.skipped = time.Duration(lead) * time.Millisecond
	}
}

// nowMillis is chain time.
func (p *pace) nowMillis(wall time.Time) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return uint64(wall.Add(p.skipped).UnixMilli())
}

// advanceMax bounds the empty blocks that are still to be built: no transaction
// gets into a block before the last of them.
const advanceMax = 10_000

// request asks for n empty blocks without waiting for their time. It reports
// whether there was room for them among those asked for before.
func (p *pace) request(n uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > advanceMax-p.advance {
		return false
	}
	p.advance += n
	close(p.changed)
	p.changed = make(chan struct{})
	return true
}

// wait returns when a block on a parent of the given time is due, after one block
// time at most: where the parent is of a later time than this node's clock shows,
// waiting for its time would cost the view. advancing says that the block must be
// empty and bear its parent's time plus a block time.
func (p *pace) wait(ctx context.Context, now func() time.Time, parentMillis, blockMillis uint64) (advancing bool, err error) {
	dueMillis := min(parentMillis, p.nowMillis(now())) + blockMillis
	for {
		p.mu.Lock()
		changed, pending := p.changed, p.advance > 0
		p.mu.Unlock()
		if pending {
			return true, nil
		}
		due := int64(dueMillis) - int64(p.nowMillis(now()))
		if due <= 0 {
			return false, ctx.Err()
		}
		timer := time.NewTimer(time.Duration(due) * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false, ctx.Err()
		case <-timer.C:
		case <-changed:
			timer.Stop()
		}
	}
}

// built records that an advanced block with the given time exists, and moves
// the clock up to it.
func (p *pace) built(wall time.Time, blockMillis uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.advance > 0 {
		p.advance--
	}
	if lead := time.Duration(int64(blockMillis)-wall.UnixMilli()) * time.Millisecond; lead > p.skipped {
		p.skipped = lead
	}
}
