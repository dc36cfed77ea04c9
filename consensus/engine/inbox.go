package engine

import (
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// inbox is what peers sent and the loop has not taken yet. It has a bound in
// messages and one in bytes, and of either each validator has a share, so that nobody's
// blocks, and nobody's many small messages, keep others' votes out. What full nodes send
// shares one.
type inbox struct {
	line     chan delivery
	bytes    *atomic.Int64
	bytesMax int64
	shareMax int64
	shares   []atomic.Int64 // by participant; the last is everybody else's
	countMax int32
	counts   []atomic.Int32  // of messages, as the shares
	refused  []atomic.Uint64 // messages, as the shares
}

// inboxShares is how many validators' shares fill the inbox: it is for a peak, which
// few make at a time.
const inboxShares = 4

func newInbox(cfg *Config, bytes *atomic.Int64) inbox {
	largest := wire.EnvelopeBytesMax + cfg.MaxBlockBytes
	return inbox{
		line: make(chan delivery, cfg.InboxMessages), bytes: bytes, bytesMax: int64(cfg.InboxBytes),
		shareMax: int64(max(cfg.InboxBytes/inboxShares, largest)), shares: make([]atomic.Int64, cfg.Set.Len()+1),
		countMax: int32(max(cfg.InboxMessages/inboxShares, 1)), counts: make([]atomic.Int32, cfg.Set.Len()+1),
		refused: make([]atomic.Uint64, cfg.Set.Len()+1),
	}
}

// messageOverhead is what a message takes beside its bytes.
const messageOverhead = 64

// who is whose share a message of a peer takes.
func (b *inbox) who(from beacon.Participant) int { return min(int(from), len(b.shares)-1) }

// charge counts a message, or takes it off again. It reports whether what waits is
// within all bounds.
func (b *inbox) charge(d delivery, sign int64) bool {
	who := b.who(d.from)
	n := sign * int64(len(d.msg)+messageOverhead)
	all, share, count := b.bytes.Add(n), b.shares[who].Add(n), b.counts[who].Add(int32(sign))
	return all <= b.bytesMax && share <= b.shareMax+messageOverhead && count <= b.countMax
}

// took notes that the loop has taken a message out.
func (b *inbox) took(d delivery) delivery {
	b.charge(d, -1)
	return d
}

// put takes a message in, or refuses it. It never blocks, and may be called by many
// goroutines.
func (b *inbox) put(d delivery, stats *Stats) error {
	if !b.charge(d, 1) {
		b.charge(d, -1)
		stats.RefusedBytes.Add(1)
		b.refused[b.who(d.from)].Add(1)
		return ErrBusy
	}
	select {
	case b.line <- d:
		return nil
	default:
		b.charge(d, -1)
		stats.Refused.Add(1)
		b.refused[b.who(d.from)].Add(1)
		return ErrBusy
	}
}
