package node

import (
	"context"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// clockEvery is the time between two looks at the clock: the log and the alarm may
// be that late, a view is not lost by it.
const clockEvery = 5 * time.Second

// clockSlack is how much more than the drift the head may be ahead before the node
// says that it waits: a leader at the edge of the drift and two clocks that differ by
// a little make it wait for moments, which is no fault of the clock.
const clockSlack = time.Second

// clock is what this node's clock is held against.
type clock struct {
	behind time.Duration // until it has come up to the head less the drift
	off    time.Duration // by which most others' clocks are ahead of it
	drift  time.Duration // that proposals may be ahead
}

// clock reads what the ledger knows. others is how many validators there are besides.
func (n *Node) clock() clock {
	others := n.set.Len()
	if _, ok := n.set.Find(chain.PeerKey(n.keys.Peer.PublicKey())); ok {
		others--
	}
	return clock{
		behind: n.ledger.ClockBehind(), off: n.ledger.ClockOff(others),
		drift: time.Duration(n.ledger.Head().Force.Params.MaxClockDriftMillis) * time.Millisecond,
	}
}

// waits reports whether the node neither proposes nor votes for new blocks until its
// clock has come up to the chain's.
func (c clock) waits() bool { return c.behind > clockSlack }

// reason is what is wrong with this node's clock, in words; empty if nothing is. It is
// said from half the drift on, before votes are lost.
func (c clock) reason() string {
	const fix = "set the clock (chrony or systemd-timesyncd; cowboyd doctor looks at it)"
	seconds := func(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
	switch {
	case c.waits():
		return fmt.Sprintf("this node's clock is behind the chain: for %g seconds more, until it has come up to the newest final block, it proposes nothing and votes for no new block: %s, and it goes on at once", seconds(c.behind), fix)
	case c.off > c.drift/2:
		return fmt.Sprintf("this node's clock is %g seconds behind those of most validators; from %g on it refuses their blocks: %s", seconds(c.off), seconds(c.drift), fix)
	case c.off < -c.drift/2:
		return fmt.Sprintf("this node's clock is %g seconds ahead of those of most validators, or their blocks take as long to come; from %g on they refuse its blocks: %s", seconds(-c.off), seconds(c.drift), fix)
	}
	return ""
}

// watchClock raises the alarm while this node's clock is wrong, until ctx ends.
func (n *Node) watchClock(ctx context.Context) error {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for {
		if reason := n.clock().reason(); reason != "" {
			n.alarms.raise(alarmClock, reason)
		} else {
			n.alarms.clear(alarmClock)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
