package p2p

import (
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
)

// Refusal says why somebody is not let in, or not kept. Each is counted in
// [Stats.Refused].
type Refusal uint8

// The reasons.
const (
	RefusedGenesis    Refusal = iota // of another chain
	RefusedUnknown                   // not in the committee, where no full node is let in
	RefusedFull                      // no place for another full node
	RefusedNetwork                   // its network has its share of the places
	RefusedBanned                    // its key or its address sent lately what no honest node sends
	RefusedHandshakes                // too many handshakes of its network, or of strangers together
	RefusedCrowded                   // one key with too many connections
	EvictedFull                      // a full node whose turn was over while another one waited
	Misbehaved                       // a full node that sent what no honest one sends
	NumRefusals
	admitted // no reason at all
)

// String names the reason in logs and metrics.
func (r Refusal) String() string {
	switch r {
	case RefusedGenesis:
		return "genesis"
	case RefusedUnknown:
		return "unknown"
	case RefusedFull:
		return "full"
	case RefusedNetwork:
		return "network"
	case RefusedBanned:
		return "banned"
	case RefusedHandshakes:
		return "handshakes"
	case RefusedCrowded:
		return "crowded"
	case EvictedFull:
		return "evicted"
	case Misbehaved:
		return "misbehaved"
	}
	return "none"
}

// answer is what a stranger is told who is not let in after the handshake.
func (r Refusal) answer() (quic.ApplicationErrorCode, error) {
	switch r {
	case RefusedBanned:
		return closeBanned, ErrBanned
	case RefusedUnknown:
		return closeFull, ErrUnknownPeer
	}
	return closeFull, ErrFull
}

// refuse counts a refusal, for the metrics and for the log.
func (t *Transport) refuse(why Refusal, from net.Addr, err error) {
	t.Stats.Refused[why].Add(1)
	t.strangers.add(why, from, err, time.Now())
}

// noticeEvery is how often strangers may write a line into the log, however many
// they are.
const noticeEvery = time.Minute

// notice gathers what anybody on the network can cause into one line of the log a
// minute, with counts.
type notice struct {
	log *slog.Logger

	mu     sync.Mutex // guards all below
	counts [NumRefusals]uint64
	last   time.Time // of the newest line
	from   string    // of the newest refusal, as is cause
	cause  string
}

// add counts a refusal. The first in a minute is told at once, the others with the
// next line.
func (n *notice) add(why Refusal, from net.Addr, err error, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts[why]++
	n.from, n.cause = from.String(), err.Error()
	n.logDue(now)
}

// logGathered tells what was gathered and is due.
func (n *notice) logGathered(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.logDue(now)
}

// logDue writes the line if there is something to say and it is time. n.mu is held.
func (n *notice) logDue(now time.Time) {
	if n.counts == ([NumRefusals]uint64{}) || now.Sub(n.last) < noticeEvery {
		return
	}
	var reasons []string
	total := uint64(0)
	for why, count := range n.counts {
		if count > 0 {
			reasons = append(reasons, Refusal(why).String())
			total += count
		}
	}
	n.log.Warn("peers refused", "count", total, "reasons", strings.Join(reasons, " "), "last_address", n.from, "last_cause", n.cause)
	n.counts, n.last = [NumRefusals]uint64{}, now
}
