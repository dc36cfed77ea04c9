package ledger

import (
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Drift is how far the clocks of leaders are from ours, as their proposals say:
// the timestamp of the newest less our time when it came. It is a little below
// zero for a clock that agrees, by the proposal's way to us. Safe for any
// goroutine.
type Drift struct {
	mu    sync.Mutex
	ahead map[chain.PeerKey]sighting
}

// sighting is what a leader's newest proposal said of its clock.
type sighting struct {
	ahead    time.Duration
	atMillis uint64 // our time when it came
}

// driftMax bounds what is reported: beyond it a timestamp is no clock's.
const driftMax = 24 * time.Hour

// observe takes the timestamp of a proposal that came at now, both in milliseconds.
// leader is a member of the validator set, which bounds the map.
func (d *Drift) observe(leader chain.PeerKey, timestamp, now uint64) {
	const most = uint64(driftMax / time.Millisecond)
	var ahead time.Duration
	if timestamp >= now {
		ahead = time.Duration(min(timestamp-now, most)) * time.Millisecond
	} else {
		ahead = -time.Duration(min(now-timestamp, most)) * time.Millisecond
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ahead == nil {
		d.ahead = map[chain.PeerKey]sighting{}
	}
	d.ahead[leader] = sighting{ahead, now}
}

// Of returns how far the leader's clock was ahead of ours, and whether a proposal
// of it ever came.
func (d *Drift) Of(leader chain.PeerKey) (ahead time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.ahead[leader]
	return s.ahead, ok
}

// driftFreshMillis is for how long a proposal says something of a clock: a validator of a
// hundred leads each few minutes. What came before our own clock was set is then of
// another time, and drops out.
const driftFreshMillis = 10 * 60 * 1000

// most is how far more than half of the others are from us at least, and to the same
// side: 0 if they are not, or not enough of them were heard of. More than half of the
// others are not liars alone.
func (d *Drift) most(others int, nowMillis uint64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []time.Duration
	for _, s := range d.ahead {
		if max(s.atMillis, nowMillis)-min(s.atMillis, nowMillis) <= driftFreshMillis {
			list = append(list, s.ahead)
		}
	}
	slices.Sort(list)
	half := others/2 + 1
	if others < 1 || len(list) < half {
		return 0
	}
	if ahead := list[len(list)-half]; ahead > 0 {
		return ahead
	}
	return min(0, list[half-1])
}
