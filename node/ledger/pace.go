package ledger

import (
	"context"
	"sync"
	"time"
)

// pace decides when the next block may be built and which time it bears: one
// block time after its parent, or at once while blocks are being advanced by
// hand on a development chain. There its clock is the wall clock plus the time
// that advanced blocks have skipped, so that chain time never runs backwards.
// Everywhere else it is the wall clock and nothing besides: what the head says is
// never taken for the time, and a node whose clock is behind it waits (ADR 115).
type pace struct {
	devnet bool // blocks may be advanced by hand
	early  early

	mu      sync.Mutex
	skipped time.Duration // chain time minus wall time
	advance uint64        // empty blocks still to be built at once
	changed chan struct{} // closed when advance rises
}

// setClock sets the clock. On a development chain it is not behind the head's
// timestamp: blocks may have been advanced by hand in an earlier life.
func (p *pace) setClock(devnet bool, wall time.Time, headMillis uint64) {
	p.devnet, p.changed = devnet, make(chan struct{})
	if lead := int64(headMillis) - wall.UnixMilli(); devnet && lead > 0 {
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

// timing is what decides when a block may be built: the parent's time, the block time of
// its children, and how far ahead of a voter's clock a timestamp may be.
type timing struct{ parentMillis, blockMillis, driftMillis uint64 }

// behindMillis is how long the clock has to go until a child of the parent bears a
// time that this node itself would vote for; 0 if it would now. Such a parent says
// that this clock is wrong, or the chain's: either way a block built now would bear
// a time of neither.
func (p *pace) behindMillis(at timing, nowMillis uint64) uint64 {
	if latest := nowMillis + at.driftMillis; !p.devnet && at.parentMillis > latest {
		return at.parentMillis - latest
	}
	return 0
}

// clockLookMillis is how often a wait looks at the clock: it may be set meanwhile, which
// no timer notices.
const clockLookMillis = 1_000

// wait returns when a block on a parent is due: after one block time at most where
// the parent is later than this node's clock by no more than the drift, since waiting
// for its time would cost the view; else not before the clock has come up to it.
// advancing says that the block must be empty and bear its parent's time plus a block
// time. behind is called once if the clock has to catch up.
func (p *pace) wait(ctx context.Context, now func() time.Time, at timing, behind func()) (advancing bool, err error) {
	dueMillis := min(at.parentMillis, p.nowMillis(now())) + at.blockMillis
	for {
		p.mu.Lock()
		changed, pending := p.changed, p.advance > 0
		p.mu.Unlock()
		if pending {
			return true, nil
		}
		nowMillis := p.nowMillis(now())
		dueMillis = min(dueMillis, nowMillis+at.blockMillis) // the clock was set back
		due := dueMillis - min(dueMillis, nowMillis)
		lag := p.behindMillis(at, nowMillis)
		if lag > 0 {
			due = max(due, lag)
			if behind != nil {
				behind()
				behind = nil
			}
		}
		if due == 0 || lag == 0 && p.early.ready(at.parentMillis, nowMillis) {
			return false, ctx.Err()
		}
		timer := time.NewTimer(time.Duration(min(due, p.early.lookMillis())) * time.Millisecond)
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
