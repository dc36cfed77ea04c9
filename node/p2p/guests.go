package p2p

import (
	"net"
	"net/netip"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Places of full nodes. Keys cost nothing, so a place is never somebody's for good:
// one network has a part of them at most, the last ones are kept for those that were
// good guests before, and who has stayed for long makes room when others wait.

// provenMax is how many good guests are remembered.
const provenMax = 1024

// guestBurst is how many requests a full node may have answered at once after a pause.
const guestBurst = 4

// guestQueueBytes is room for an answer of small blocks.
const guestQueueBytes = 8 << 20

// reserved is how many places only good guests may take.
func (t *Transport) reserved() int { return t.cfg.FullNodesMax / 4 }

// guests returns the full nodes that are connected.
func (t *Transport) guests() []*peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*peer
	for _, p := range t.fullNodes {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// admitGuest finds a place for a full node, or says why there is none.
func (t *Transport) admitGuest(key chain.PeerKey, from net.Addr, now time.Time) (*peer, Refusal) {
	if t.door.banned(key, from, now) {
		return nil, RefusedBanned
	}
	network := networkOf(from)
	t.mu.Lock()
	defer t.mu.Unlock()
	place, free, same := -1, 0, 0
	for i, p := range t.fullNodes {
		switch {
		case p == nil:
			if free++; place < 0 {
				place = i
			}
		case p.key == key:
			return p, admitted
		case p.network == network:
			same++
		}
	}
	_, good := t.proven[key]
	switch {
	case same >= t.cfg.FullNodesPerNetwork:
		return nil, RefusedNetwork
	case free > t.reserved(), free > 0 && good:
	default:
		if place = t.overdue(good, now); place < 0 {
			return nil, RefusedFull
		}
		old := t.fullNodes[place]
		close(old.evicted)
		t.refuse(EvictedFull, from, ErrFull)
	}
	p := newPeer(len(t.members)+place, key, false, t.guestLimits())
	p.guest = guest{network, now, make(chan struct{}), newLine(float64(t.cfg.FullNodeBytesPerSecond), now), newAccount(float64(t.cfg.FullNodeBytesPerSecond), now)}
	t.fullNodes[place] = p
	return p, admitted
}

// overdue returns the place of the guest that makes room, or -1: the one that has
// stayed longest, if that was long enough; for a good guest else the newest of the
// others. t.mu is held.
func (t *Transport) overdue(good bool, now time.Time) int {
	oldest, newest := -1, -1
	for i, p := range t.fullNodes {
		if p == nil {
			continue
		}
		if oldest < 0 || p.since.Before(t.fullNodes[oldest].since) {
			oldest = i
		}
		if _, known := t.proven[p.key]; !known && (newest < 0 || p.since.After(t.fullNodes[newest].since)) {
			newest = i
		}
	}
	switch {
	case oldest >= 0 && now.Sub(t.fullNodes[oldest].since) >= t.cfg.FullNodeStay:
		return oldest
	case good:
		return newest
	}
	return -1
}

// guestLimits are those of a full node: lower rates, and room for one answer.
func (t *Transport) guestLimits() [NumClasses]Limit {
	var limits [NumClasses]Limit
	for class, limit := range t.cfg.Limits {
		limits[class] = limit.reduced(t.cfg.FullNodeDivisor)
	}
	limits[Control] = t.cfg.Limits[Control]
	// What it asks for at once is read before it is billed.
	limits[Fetch].MessagesBurst = min(limits[Fetch].MessagesBurst, guestBurst)
	limits[State].MessagesBurst = min(limits[State].MessagesBurst, guestBurst)
	// What waits for a guest is one answer, or a chunk of state.
	blocks := &limits[Blocks]
	blocks.QueueBytes = min(blocks.QueueBytes, max(guestQueueBytes, 3*blocks.FrameBytesMax))
	limits[State].QueueBytes = limits[State].FrameBytesMax
	return limits
}

// depart ends a connection of a peer, and gives the place of a full node free with
// its last one. Who was a guest for long enough without fault is remembered.
func (t *Transport) depart(p *peer, fault bool, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.mu.Lock()
	p.links--
	left := p.links
	p.mu.Unlock()
	if p.member {
		return
	}
	if fault {
		delete(t.proven, p.key)
	} else if now.Sub(p.since) >= t.cfg.FullNodeProven {
		t.remember(p.key, now)
	}
	if place := p.id - len(t.members); left == 0 && t.fullNodes[place] == p {
		t.fullNodes[place] = nil
	}
}

// remember notes a good guest, in place of the one that was here longest ago. t.mu is
// held.
func (t *Transport) remember(key chain.PeerKey, now time.Time) {
	if _, there := t.proven[key]; !there && len(t.proven) >= provenMax {
		var first chain.PeerKey
		var seen time.Time
		for k, at := range t.proven {
			if seen.IsZero() || at.Before(seen) {
				first, seen = k, at
			}
		}
		delete(t.proven, first)
	}
	t.proven[key] = now
}

// guest is what a peer outside the committee has besides. A member has none of it.
type guest struct {
	network netip.Addr
	since   time.Time
	evicted chan struct{} // closed when the place is another's
	line    line
	account account
}
