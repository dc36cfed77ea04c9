package p2p

import (
	"errors"
	"fmt"
	"time"
)

// Class separates messages that must not wait for each other.
type Class uint8

// The message classes. Control is the transport's own: greeting and addresses.
const (
	Control Class = iota
	Votes
	Certificates
	Blocks // proposals with their blocks, and blocks that were asked for
	Fetch  // requests
	Transactions
	Shards // of large blocks, from the leader and from each other
	State  // checkpoints: requests and chunks of state
	NumClasses
)

// String names the class in logs and metrics.
func (c Class) String() string {
	switch c {
	case Control:
		return "control"
	case Votes:
		return "votes"
	case Certificates:
		return "certificates"
	case Blocks:
		return "blocks"
	case Fetch:
		return "fetch"
	case Transactions:
		return "transactions"
	case State:
		return "state"
	case Shards:
		return "shards"
	}
	return "unknown"
}

// urgency orders the streams of one connection (RFC 9218): 0 goes first.
func (c Class) urgency() int8 {
	switch c {
	case Votes, Certificates:
		return 0
	case Control, Fetch:
		return 2
	case Shards:
		return 1 // the block in the making goes before those that somebody asked for
	case Blocks:
		return 3
	case State:
		return 7
	}
	return 6
}

// Limit bounds one class of one peer.
type Limit struct {
	FrameBytesMax int  // largest payload taken in
	QueueMessages int  // messages that wait to be sent
	QueueBytes    int  // their payloads together
	DropOldest    bool // what a full queue loses: its oldest message, or the new one
	KeepOffline   bool // queue while the peer is not connected

	// What a peer may send on average, and at once after a pause.
	MessagesPerSecond, MessagesBurst float64
	BytesPerSecond, BytesBurst       float64
}

func (l Limit) check() error {
	switch {
	case l.FrameBytesMax < 1 || l.FrameBytesMax > frameBytesLimit:
		return fmt.Errorf("frame limit = %d bytes, want 1 to %d", l.FrameBytesMax, frameBytesLimit)
	case l.QueueMessages < 1 || l.QueueBytes < l.FrameBytesMax:
		return errors.New("queue does not hold one frame")
	case l.MessagesPerSecond <= 0 || l.MessagesBurst < 1 || l.BytesPerSecond <= 0:
		return errors.New("rate is not positive")
	case l.BytesBurst < float64(l.FrameBytesMax):
		return errors.New("burst does not let one frame through")
	}
	return nil
}

// reduced is the limit of a full node: rates divided, same frames.
func (l Limit) reduced(divisor float64) Limit {
	l.MessagesPerSecond = max(1, l.MessagesPerSecond/divisor)
	l.MessagesBurst = max(1, l.MessagesBurst/divisor)
	l.BytesPerSecond /= divisor
	l.BytesBurst = max(float64(l.FrameBytesMax), l.BytesBurst/divisor)
	return l
}

// messageBytesMax bounds votes, certificates and requests: the largest is a
// few hundred bytes.
const messageBytesMax = 4 << 10

// StateBytesMax is the largest chunk of state that is taken in.
const StateBytesMax = 16 << 20

// limits returns the bounds for a chain with blocks of at most maxBlockBytes.
func limits(maxBlockBytes int) [NumClasses]Limit {
	frame := maxBlockBytes + messageBytesMax
	small := func(queue int, perSecond, burst float64) Limit {
		return Limit{
			FrameBytesMax: messageBytesMax, QueueMessages: queue, QueueBytes: queue * messageBytesMax, DropOldest: true,
			MessagesPerSecond: perSecond, MessagesBurst: burst,
			BytesPerSecond: perSecond * messageBytesMax, BytesBurst: burst * messageBytesMax,
		}
	}
	var out [NumClasses]Limit
	out[Control] = small(1, 4, 64) // a full committee of 128 in four messages of records
	out[Control].FrameBytesMax = controlBytesMax
	out[Control].QueueBytes = controlBytesMax
	out[Control].BytesPerSecond, out[Control].BytesBurst = 4*controlBytesMax, 64*controlBytesMax
	// Three votes a view at a few dozen views a second, twice over.
	out[Votes] = small(1024, 1000, 1024)
	out[Votes].KeepOffline = true
	// A new certificate costs a pairing; a catch-up answer brings 16.
	out[Certificates] = small(512, 500, 512)
	out[Certificates].KeepOffline = true
	out[Fetch] = small(64, 50, 100)
	out[Blocks] = Limit{
		FrameBytesMax: frame, QueueMessages: 2048, QueueBytes: max(16<<20, 4*frame), DropOldest: true, KeepOffline: true,
		MessagesPerSecond: 2000, MessagesBurst: 1024, // catching up by small blocks
		BytesPerSecond: float64(max(32<<20, 8*frame)), BytesBurst: float64(max(16<<20, 4*frame)),
	}
	// Two shards a view, of half a block in the smallest committee that has them.
	out[Shards] = Limit{
		FrameBytesMax: frame, QueueMessages: 256, QueueBytes: max(16<<20, 4*frame), DropOldest: true, KeepOffline: true,
		MessagesPerSecond: 200, MessagesBurst: 256,
		BytesPerSecond: float64(max(32<<20, 8*frame)), BytesBurst: float64(max(16<<20, 4*frame)),
	}
	out[Transactions] = Limit{
		FrameBytesMax: floodFrameBytesMax, QueueMessages: 4096, QueueBytes: 32 << 20,
		MessagesPerSecond: 5000, MessagesBurst: 5000, BytesPerSecond: 64 << 20, BytesBurst: 64 << 20,
	}
	// A request asks for a quarter of a megabyte as a rule. Who is asked for more
	// than that many a second reads no faster.
	frame = max(StateBytesMax+messageBytesMax, frame)
	out[State] = Limit{
		FrameBytesMax: frame, QueueMessages: 64, QueueBytes: 2 * frame,
		MessagesPerSecond: 160, MessagesBurst: 160, BytesPerSecond: 64 << 20, BytesBurst: float64(2 * frame),
	}
	return out
}

// bucket is a token bucket, owned by one reader.
type bucket struct {
	rate, burst float64 // tokens per second, most tokens
	tokens      float64
	last        time.Time
}

func newBucket(rate, burst float64, now time.Time) bucket {
	return bucket{rate: rate, burst: burst, tokens: burst, last: now}
}

// take removes n tokens and returns how long to wait until the debt is paid.
func (b *bucket) take(n float64, now time.Time) time.Duration {
	b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds()) - n
	b.last = now
	if b.tokens >= 0 {
		return 0
	}
	return time.Duration(-b.tokens / b.rate * float64(time.Second))
}

// spend takes one token, if there is one.
func (b *bucket) spend(now time.Time) bool {
	b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds())
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
