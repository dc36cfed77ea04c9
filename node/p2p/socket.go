package p2p

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
)

// The UDP port is the one thing without which a validator is none, but an error of a
// read says little: interfaces go down and come back, the system lacks memory for a
// moment. Reads are tried again on the same socket, which QUIC would give up with every
// connection at the first error, and only one that has failed for long ends the mesh: a
// new process may then get a socket that works. Writes need nothing of the kind: what
// fails there ends one connection, which is dialed anew.

// Pauses between reads that fail.
const (
	readAgainMin = 10 * time.Millisecond
	readAgainMax = time.Second
)

// ErrSocket means that the UDP socket could not be read for as long as
// [Config.SocketPatience].
var ErrSocket = errors.New("UDP socket cannot be read")

// steady is what the two kinds of sockets share: how a failed read is tried again.
type steady struct {
	patience time.Duration
	tell     func(error) // nil: it works again
	stats    *Stats
	closed   chan struct{}
	once     sync.Once
}

func (s *steady) close() { s.once.Do(func() { close(s.closed) }) }

func (s *steady) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// pause waits until the socket closes, or for d.
func (s *steady) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.closed:
	case <-timer.C:
	}
}

// insist reads until that succeeds, the socket is closed, or patience ends.
func (s *steady) insist(read func() (int, error)) (int, error) {
	wait, began := readAgainMin, time.Time{}
	for {
		n, err := read()
		switch {
		case err == nil:
			if !began.IsZero() {
				s.tell(nil)
			}
			return n, nil
		case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded), s.isClosed():
			return n, err // by us
		}
		s.stats.SocketFailures.Add(1)
		if began.IsZero() {
			began = time.Now()
		}
		if time.Since(began) > s.patience {
			return n, fmt.Errorf("%w for %v: %w", ErrSocket, s.patience, err)
		}
		s.tell(err)
		s.pause(wait)
		wait = min(2*wait, readAgainMax)
	}
}

// packetSocket is any socket, one of a simulated network among them.
type packetSocket struct {
	net.PacketConn
	*steady
}

// ReadFrom implements net.PacketConn.
func (p *packetSocket) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	n, err = p.insist(func() (n int, err error) {
		n, from, err = p.PacketConn.ReadFrom(b)
		return n, err
	})
	return n, from, err
}

// Close implements net.PacketConn.
func (p *packetSocket) Close() error {
	p.close()
	return p.PacketConn.Close()
}

// udpSocket is one of the machine, from which QUIC reads many packets at once.
type udpSocket struct {
	*net.UDPConn
	*steady
	batch interface {
		ReadBatch(ms []ipv4.Message, flags int) (int, error)
	}
}

// ReadBatch reads as QUIC would by itself. For IPv6 it is the same.
func (u *udpSocket) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	return u.insist(func() (int, error) { return u.batch.ReadBatch(ms, flags) })
}

// Close implements net.PacketConn.
func (u *udpSocket) Close() error {
	u.close()
	return u.UDPConn.Close()
}

// steadied returns a socket whose reads do not fail for a moment's trouble.
func (t *Transport) steadied(c net.PacketConn) (net.PacketConn, *steady) {
	s := &steady{patience: t.cfg.SocketPatience, tell: t.cfg.SocketFailed, stats: &t.Stats, closed: make(chan struct{})}
	if s.tell == nil {
		s.tell = func(error) {}
	}
	if u, ok := c.(*net.UDPConn); ok {
		return &udpSocket{u, s, ipv4.NewPacketConn(u)}, s
	}
	return &packetSocket{c, s}, s
}
