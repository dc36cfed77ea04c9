package p2p

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/quic-go/quic-go"
)

// gossip greets the peer and then tells it what is new: addresses of members,
// and whom this node is connected to.
func (l *link) gossip(ctx context.Context) error {
	stream, err := l.open(Control)
	if err != nil {
		return err
	}
	tell := func(prefix []byte, msg []byte) error {
		_, err := stream.Write(appendFrame(prefix, msg))
		l.peer.stats.sent[Control].add(1, len(msg))
		return err
	}
	if err := tell([]byte{byte(Control)}, appendHello(nil, hello{l.t.cfg.Version, l.t.instance, l.t.cfg.Capabilities})); err != nil {
		return err
	}
	select {
	case <-l.active:
	case <-ctx.Done():
		return ctx.Err()
	}
	told := make([]uint64, len(l.t.cfg.Committee))
	var shown members
	for {
		connected, moved := l.t.connected()
		if !bytes.Equal(shown, connected) {
			shown = connected
			if err := tell(nil, appendMembers(nil, shown)); err != nil {
				return err
			}
		}
		records, learned := l.t.book.news(told, time.Now())
		if len(records) > 0 {
			if err := tell(nil, appendRecords(nil, records)); err != nil {
				return err
			}
		}
		if err := l.rest(ctx, len(records) == recordsMax, learned, moved); err != nil {
			return err
		}
	}
}

// gossipPause gathers changes into one message, within the peer's rate.
const gossipPause = 250 * time.Millisecond

// rest waits until there may be news.
func (l *link) rest(ctx context.Context, more bool, learned, moved <-chan struct{}) error {
	if !more {
		interval := l.t.cfg.ExchangeInterval
		timer := time.NewTimer(interval/2 + rand.N(interval))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-learned:
		case <-moved:
		case <-timer.C:
		}
	}
	return sleep(ctx, gossipPause)
}

// readControl takes the greeting and then the peer's news.
func (l *link) readControl(ctx context.Context, stream *quic.ReceiveStream, in io.Reader) error {
	limit := l.peer.limits[Control]
	rate := newBucket(limit.MessagesPerSecond, limit.MessagesBurst, time.Now())
	for greeted := false; ; {
		msg, err := l.readFrame(stream, in, limit.FrameBytesMax)
		if err != nil {
			return err
		}
		l.peer.stats.received[Control].add(1, len(msg))
		if !greeted {
			h, err := decodeHello(msg, l.t.cfg.Version)
			if err != nil {
				return &violation{err}
			}
			greeted, l.instance, l.version, l.capabilities = true, h.instance, h.version, h.capabilities
			close(l.greeted)
			continue
		}
		if err := l.news(msg); err != nil {
			if err = l.forgive(err); err != nil {
				return err
			}
		}
		if err := sleep(ctx, rate.take(1, time.Now())); err != nil {
			return err
		}
	}
}

// news takes one message in.
func (l *link) news(msg []byte) error {
	n := len(l.t.cfg.Committee)
	switch msg[0] {
	case tagMembers:
		m, err := decodeMembers(msg, n)
		if err != nil {
			return err
		}
		l.peer.hear(l, m)
		return nil
	case tagRecords:
		records, err := decodeRecords(msg, n)
		if err != nil {
			return err
		}
		for _, r := range records {
			if !l.t.learn(r, l.conn.RemoteAddr()) {
				return fmt.Errorf("address of member %d: bad signature: %w", r.member, ErrControl)
			}
		}
		return nil
	}
	return fmt.Errorf("control tag %#x: %w", msg[0], ErrUnknown)
}
