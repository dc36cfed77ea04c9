package engine

import (
	"context"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// A shard that is relayed is held against the root of its block before it counts: a
// hash over all of it, of which a view of a hundred validators has a hundred. They are
// made off the loop, a few at a time; the verdict comes back as a reply, and only
// then does the pool hear of the shard.

// Limits of the checks.
const (
	checksRunning = 2  // goroutines at a time
	checksBatch   = 16 // shards that one of them takes
	checksOfOne   = 4  // shards of one validator that wait; it relays one in a view
)

// relayCheck is a relayed shard on its way through the check.
type relayCheck struct {
	from  beacon.Participant
	relay wire.ShardRelay
	err   error // the verdict
}

// checks is the line before them.
type checks struct {
	waiting []relayCheck
	running int
}

func (c *checks) due() bool { return len(c.waiting) > 0 && c.running < checksRunning }

// lineUp puts a shard in line. It reports whether its sender has room there.
func (c *checks) lineUp(x relayCheck) bool {
	n := 0
	for i := range c.waiting {
		if c.waiting[i].from == x.from {
			n++
		}
	}
	if n >= checksOfOne {
		return false
	}
	c.waiting = append(c.waiting, x)
	return true
}

// next takes a batch out of the line.
func (c *checks) next() []relayCheck {
	n := min(checksBatch, len(c.waiting))
	batch := append([]relayCheck(nil), c.waiting[:n]...)
	left := copy(c.waiting, c.waiting[n:])
	clear(c.waiting[left:])
	c.waiting = c.waiting[:left]
	return batch
}

// checkShards starts what may start.
func (e *Engine) checkShards(ctx context.Context) {
	pool := e.sharding.pool
	for e.sharding.checks.due() {
		batch := e.sharding.checks.next()
		e.sharding.checks.running++
		e.call(ctx, "shards", func(context.Context) reply {
			for i := range batch {
				batch[i].err = pool.Check(batch[i].relay.Digest, batch[i].relay.Parcel)
			}
			return checkedShards(batch)
		})
	}
}

// checkedShards brings the verdicts.
type checkedShards []relayCheck

func (r checkedShards) apply(_ context.Context, e *Engine) error {
	e.sharding.checks.running--
	for _, x := range r {
		switch {
		case e.isBanned(x.from):
			e.Stats.Dropped.Add(1)
		case x.err != nil:
			e.refused(x.from, x.err)
		default:
			e.takeShardRelay(x.from, x.relay, e.sharding.pool.RelayChecked)
		}
	}
	return nil
}
