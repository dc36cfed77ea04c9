package p2p

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboy-foundation/cowboy/chain"
)

// attacker speaks QUIC with the key of a member, or any other, and says what it
// likes.
type attacker struct {
	t     *testing.T
	conn  *quic.Conn
	quic  *quic.Transport
	ended context.Context
}

// attack connects to a node. The transport that it borrows its certificate
// from never runs.
func attack(t *testing.T, cfg Config, target *node) (*attacker, error) {
	t.Helper()
	borrowed, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	tr := &quic.Transport{Conn: socket}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	t.Cleanup(func() { tr.Close(); socket.Close() })
	accept := func(chain.PeerKey) error { return nil }
	conn, err := tr.Dial(ctx, target.socket.LocalAddr(), borrowed.tlsConfig(accept), &quic.Config{MaxIncomingUniStreams: 100})
	if err != nil {
		return nil, err
	}
	return &attacker{t: t, conn: conn, quic: tr, ended: conn.Context()}, nil
}

// attackRefused is attack where the target hangs up by itself: its reason may come
// before the client's side of the handshake is done, and is then the dial's error.
func attackRefused(t *testing.T, cfg Config, target *node) *attacker {
	t.Helper()
	a, err := attack(t, cfg, target)
	if err == nil {
		return a
	}
	var app *quic.ApplicationError
	if !errors.As(err, &app) || !app.Remote {
		t.Fatal(err)
	}
	ended, end := context.WithCancelCause(context.Background())
	end(err)
	return &attacker{t: t, ended: ended}
}

// open begins a stream with the given bytes. A connection that was refused has none.
func (a *attacker) open(first ...byte) *quic.SendStream {
	a.t.Helper()
	if a.conn == nil {
		return nil
	}
	s, err := a.conn.OpenUniStream()
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(s, first)
	return s
}

// write sends b, however that ends: the other side may hang up meanwhile.
func (a *attacker) write(s *quic.SendStream, b []byte) { _, _ = s.Write(b) }

// greet sends a valid hello and returns the control stream.
func (a *attacker) greet() *quic.SendStream {
	return a.open(appendFrame([]byte{byte(Control)}, appendHello(nil, hello{version: Version, instance: 99}))...)
}

// unsaid is the reason of a side whose last packet was lost: who asks again is told
// that there is no such connection, not why.
const unsaid = quic.ApplicationErrorCode(1<<62 - 1)

// thrownOut waits until the other side has closed the connection, and returns
// its reason.
func (a *attacker) thrownOut() (quic.ApplicationErrorCode, string) {
	a.t.Helper()
	select {
	case <-a.ended.Done():
	case <-time.After(patience):
		a.t.Fatalf("still connected after %v", patience)
	}
	var app *quic.ApplicationError
	var reset *quic.StatelessResetError
	if errors.As(context.Cause(a.ended), &reset) {
		return unsaid, ""
	}
	if !errors.As(context.Cause(a.ended), &app) {
		a.t.Fatalf("ended with %v", context.Cause(a.ended))
	}
	return app.ErrorCode, app.ErrorMessage
}

// honest holds that the nodes still exchange messages with each other.
func honest(t *testing.T, nodes []*node) {
	t.Helper()
	for i, n := range nodes {
		for to, other := range nodes {
			if to == i {
				continue
			}
			before := other.sink.count(Votes, i)
			accused := n.members[to].stats.violations.Load()
			n.Send(to, Votes, []byte("still here"))
			eventually(t, "honest members talk", func() bool { return other.sink.count(Votes, i) > before })
			if n.members[to].stats.violations.Load() != accused {
				t.Errorf("node %d counts a violation of the honest node %d", i, to)
			}
		}
	}
}

// honestAnd starts all members but the last, whose key the attacker has.
func honestAnd(t *testing.T, change func(i int, cfg *Config)) (nodes []*node, last Config) {
	t.Helper()
	s := setup{testKeys(4), change}
	for i := range 3 {
		nodes = append(nodes, launch(t, s.config(i), nodes...))
	}
	for _, n := range nodes {
		eventually(t, "honest members are connected", func() bool { return n.connectedTo() == 2 })
	}
	return nodes, s.config(3)
}

// hear reads the first frame of each of the next n streams, less the control
// stream.
func hear(t *testing.T, a *attacker, n int) map[string]string {
	t.Helper()
	heard := map[string]string{}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for len(heard) < n {
		s, err := a.conn.AcceptUniStream(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var class [1]byte
		if _, err := s.Read(class[:]); err != nil {
			t.Fatal(err)
		}
		if Class(class[0]) == Control {
			continue
		}
		msg, err := readFrame(s, 1000, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		heard[Class(class[0]).String()] = string(msg)
	}
	return heard
}
