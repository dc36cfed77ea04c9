package mailbox

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// An origin whose messages all wait for receivers that have no cycles for them would take
// turns for nothing, and with many such origins those of others. So it naps after each
// round of its receivers in vain, until one of them has the cycles if nobody uses it
// meanwhile, and each time at least twice as long, unless it sends something new. Who
// waits so waits no more than twice as long as its receiver was busy (ADR 93).

// MostNap is the longest nap, in blocks, of those that double.
const MostNap = 4_096

// wakes returns when an origin wakes that goes to sleep at height h after so many rounds
// in vain, and whose messages can go at a later height at the earliest.
func wakes(h chain.Height, rounds uint64, ready chain.Height) chain.Height {
	return max(h+chain.Height(1)<<min(rounds, 13)>>1, ready)
}

// vainKey holds how many turns in a row an origin has had in vain, and the least height
// at which, by the turns of the last round, a message of those it waits behind can go.
func vainKey(origin chain.Address) state.StorageKey { return key("vain/", origin[:]) }

// countVain counts a turn in vain of an origin with so many receivers, or forgets those
// before one that was not (ready is 0). After each round it returns when the origin
// wakes, else 0.
func countVain(o *state.Overlay, h chain.Height, origin chain.Address, receivers uint64, ready chain.Height) (chain.Height, error) {
	n, kept, err := readPair(o, vainKey(origin))
	if err != nil {
		return 0, err
	}
	if ready == 0 {
		if kept {
			erase(o, vainKey(origin))
		}
		return 0, nil
	}
	if n[1] != 0 {
		ready = min(ready, chain.Height(n[1]))
	}
	if n[0]++; n[0]%receivers == 0 {
		writePair(o, vainKey(origin), n[0], 0)
		return wakes(h, n[0]/receivers, ready), nil
	}
	writePair(o, vainKey(origin), n[0], uint64(ready))
	return 0, nil
}

// nappersAt is the circle of those who nap until a height.
func nappersAt(h chain.Height) circle { return circle{"nap/", "nap-at/", be64(uint64(h))} }

func napClockKey() state.StorageKey { return key("nap-clock") }

// wakeAt enters an origin among those who nap until a height.
func wakeAt(o *state.Overlay, now, h chain.Height, origin chain.Address) error {
	if err := expect(o, napClockKey(), now); err != nil {
		return err
	}
	return nappersAt(h).enqueue(o, origin)
}

// Wake puts origins into the ring whose naps end at height h or one before it, at most so
// many: those who have nothing to wait for but time get a part of the turns. One that
// stands in the ring already, as it has sent something, stays where it is.
func Wake(o *state.Overlay, h chain.Height, most uint64) error {
	return passHeights(o, napClockKey(), h, most, nappersAt, func(origin chain.Address, _ chain.Height) error {
		receivers, err := receiversOf(origin).len(o)
		if err != nil {
			return err
		}
		if receivers == 0 { // all went in turns of others
			erase(o, vainKey(origin))
			return nil
		}
		return join(o, origin)
	})
}
