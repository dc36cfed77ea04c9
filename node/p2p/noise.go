package p2p

import (
	"context"
	"errors"
	"time"

	"github.com/quic-go/quic-go"
)

// ErrNoisy means a full node that sends far more packets than what it has to say takes.
var ErrNoisy = errors.New("too many small packets")

// What a guest says is bounded by frames and windows, but packets with nothing in them
// (probes, single bytes, acknowledgements of nothing) cost us as much as full ones and
// are read before anything is judged. So a guest may send so many, one more for each
// packet that it was sent and one more for each few hundred bytes. An honest one that
// passes on a transaction every two milliseconds stays below.
const (
	guestPacketsPerSecond = 300
	guestPacketsBurst     = 3000
	guestPacketBytes      = 256
	noiseEvery            = time.Second
)

// noise is what one connection of a guest may send. It belongs to its goroutine.
type noise struct {
	room                      float64 // packets
	received, sent, bytesRead uint64
	at                        time.Time
}

func newNoise(now time.Time) noise { return noise{room: guestPacketsBurst, at: now} }

// over counts what has come since the last time and reports whether it was too much.
func (n *noise) over(s quic.ConnectionStats, now time.Time) bool {
	n.room += guestPacketsPerSecond*now.Sub(n.at).Seconds() +
		float64(s.PacketsSent-n.sent) + float64(s.BytesReceived-n.bytesRead)/guestPacketBytes -
		float64(s.PacketsReceived-n.received)
	n.room = min(n.room, guestPacketsBurst)
	n.received, n.sent, n.bytesRead, n.at = s.PacketsReceived, s.PacketsSent, s.BytesReceived, now
	return n.room < 0
}

// listen ends the connection of a guest that is noisy.
func (l *link) listen(ctx context.Context) error {
	n := newNoise(time.Now())
	for sleep(ctx, noiseEvery) == nil {
		if n.over(l.conn.ConnectionStats(), time.Now()) {
			return &violation{ErrNoisy}
		}
	}
	return ctx.Err()
}
