package ledger

import (
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
	ahead map[chain.PeerKey]time.Duration
}

// driftMax bounds what is reported: beyond it a timestamp is no clock's.
const driftMax = 24 * time.Hour

// note takes the timestamp of a proposal that came at now, both in milliseconds.
// leader is a member of the validator set, which bounds the map.
func (d *Drift) note(leader chain.PeerKey, timestamp, now uint64) {
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
		d.ahead = map[chain.PeerKey]time.Duration{}
	}
	d.ahead[leader] = ahead
}

// Of returns how far the leader's clock was ahead of ours, and whether a proposal
// of it ever came.
func (d *Drift) Of(leader chain.PeerKey) (ahead time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ahead, ok = d.ahead[leader]
	return ahead, ok
}
