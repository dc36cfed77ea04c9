package engine

import (
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// bans are the validators that are ignored for a while. A ban ends by itself: the cause
// may be a fault that its operator repairs, and with it gone the peer is needed.
type bans struct {
	cfg   *Config
	stats *Stats
	until map[beacon.Participant]time.Time
}

// add bans a validator from now on. Full nodes come and go under any number: they are
// the network's matter. It reports whether who is a validator.
func (b *bans) add(who beacon.Participant, now time.Time) bool {
	if int(who) >= b.cfg.Set.Len() {
		return false
	}
	if !b.has(who, now) { // an answer full of lies is one reason
		b.stats.Bans.Add(1)
	}
	until := now.Add(b.cfg.BlockPeerFor)
	b.until[who] = until
	b.stats.Peers[who].BlockedUntilUnix.Store(until.Unix())
	return true
}

// has reports whether a validator is banned.
func (b *bans) has(who beacon.Participant, now time.Time) bool {
	until, ok := b.until[who]
	if ok && now.After(until) {
		delete(b.until, who)
		b.stats.Peers[who].BlockedUntilUnix.Store(0)
		return false
	}
	return ok
}
