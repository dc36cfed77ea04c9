package engine

import (
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

// dequeue takes a batch out of the line, which runs from then on.
func (c *checks) dequeue() []relayCheck {
	c.running++
	n := min(checksBatch, len(c.waiting))
	batch := append([]relayCheck(nil), c.waiting[:n]...)
	left := copy(c.waiting, c.waiting[n:])
	clear(c.waiting[left:])
	c.waiting = c.waiting[:left]
	return batch
}
