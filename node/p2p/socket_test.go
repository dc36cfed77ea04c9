package p2p

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"golang.org/x/net/ipv4"
)

// sickSocket fails to be read as often as it is told to, and is a socket of UDP besides.
type sickSocket struct {
	*net.UDPConn
	fails atomic.Int64
	err   error
}

func (s *sickSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	if s.fails.Load() > 0 && s.fails.Add(-1) >= 0 {
		return 0, nil, s.err
	}
	return s.UDPConn.ReadFrom(b)
}

// TestSocketIsReadAgain: reads that fail are counted, told and tried again on the same
// socket; only one that fails for as long as patience lasts is an error, and one that is
// closed meanwhile waits for nothing.
func TestSocketIsReadAgain(t *testing.T) {
	for _, c := range []struct {
		name     string
		fails    int64
		patience time.Duration
		want     error
	}{
		{"for a moment", 3, time.Minute, nil},
		{"never", 0, 0, nil},
		{"for good", 1 << 40, 30 * time.Millisecond, ErrSocket},
	} {
		t.Run(c.name, func(t *testing.T) {
			packets, err := listenUDP("127.0.0.1:0")
			check(t, err)
			sick := &sickSocket{UDPConn: packets.(*net.UDPConn), err: syscall.ENETDOWN}
			sick.fails.Store(c.fails)
			stop := make(chan struct{})
			defer close(stop)
			go func() { // something to read
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						_, _ = sick.WriteTo([]byte("x"), sick.LocalAddr())
					}
				}
			}()
			var told []bool
			tr := &Transport{cfg: Config{SocketPatience: c.patience, SocketFailed: func(err error) { told = append(told, err == nil) }}}
			socket, _ := tr.steadied(plainSocket{sick})
			defer socket.Close()
			n, _, err := socket.ReadFrom(make([]byte, 9))
			if !errors.Is(err, c.want) || err == nil && n != 1 {
				t.Fatalf("%d bytes, %v, want %v", n, err, c.want)
			}
			if failed := tr.Stats.SocketFailures.Load(); c.want == nil && failed != uint64(c.fails) || c.want != nil && failed < 2 {
				t.Errorf("%d failures counted", failed)
			}
			if c.fails > 0 && c.want == nil && (len(told) != int(c.fails)+1 || told[0] || !told[c.fails]) {
				t.Errorf("told %v", told)
			}
		})
	}
}

// plainSocket hides what UDP can do besides.
type plainSocket struct{ net.PacketConn }

// TestMeshLivesThroughSocketErrors: a member whose reads fail now and then keeps its
// connections; one whose reads fail for good ends, so that it can be started anew.
func TestMeshLivesThroughSocketErrors(t *testing.T) {
	sick := &sickSocket{err: syscall.ENETDOWN}
	s := setup{keys: testKeys(2)}
	well, cfg := launch(t, s.config(0)), s.config(1)
	cfg.SocketPatience = 200 * time.Millisecond
	cfg.Addresses[well.selfKey] = well.Addr()
	cfg.Packets = func(address string) (net.PacketConn, error) {
		packets, err := listenUDP(address)
		sick.UDPConn, _ = packets.(*net.UDPConn)
		return plainSocket{sick}, err
	}
	tr, err := New(cfg)
	check(t, err)
	check(t, tr.Listen())
	ended := make(chan error, 1)
	go func() { ended <- tr.Run(t.Context(), &sink{}) }()
	n := &node{Transport: tr}
	eventually(t, "connected", func() bool { return n.connectedTo() == 1 })
	sick.fails.Store(2)
	eventually(t, "two reads failed", func() bool { return tr.Stats.SocketFailures.Load() >= 2 && sick.fails.Load() == 0 })
	if p := tr.Peers()[0]; !p.Connected || p.Connections != 1 {
		t.Errorf("two reads that failed took the connection: %+v", p)
	}
	sick.fails.Store(1 << 40)
	if err := <-ended; !errors.Is(err, ErrSocket) {
		t.Errorf("the mesh ended with %v, want %v", err, ErrSocket)
	}
	_ = tr.Close() // says what Run said
}

// TestSocketOfTheMachine: one is read as QUIC reads it by itself, many packets at once.
func TestSocketOfTheMachine(t *testing.T) {
	packets, err := listenUDP("127.0.0.1:0")
	check(t, err)
	socket, _ := (&Transport{cfg: Config{SocketPatience: time.Minute}}).steadied(packets)
	_, batches := socket.(interface {
		ReadBatch(ms []ipv4.Message, flags int) (int, error)
	})
	if _, oob := socket.(quic.OOBCapablePacketConn); !oob || !batches {
		t.Errorf("a %T is read packet by packet", socket)
	}
	closed := make(chan error)
	go func() {
		_, err := socket.(*udpSocket).ReadBatch([]ipv4.Message{{Buffers: [][]byte{make([]byte, 9)}}}, 0)
		closed <- err
	}()
	check(t, socket.Close())
	if err := <-closed; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read of a socket that is closed: %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
