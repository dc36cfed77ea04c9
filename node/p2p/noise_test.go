package p2p

import (
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

func TestNoise(t *testing.T) {
	for name, c := range map[string]struct {
		received, sent, bytes uint64 // a second
		over                  bool
	}{
		"silence":                            {1, 1, 40, false},
		"acknowledges what it is sent":       {6000, 6000, 6000 * 30, false},
		"sends full packets":                 {6000, 3000, 6000 * 1200, false},
		"a transaction every 2 ms":           {600, 100, 500 * 200, false},
		"probes":                             {2000, 0, 2000 * 24, true},
		"acknowledges three times over":      {3000, 1000, 3000 * 30, true},
		"single bytes, each of them probed":  {10000, 5000, 10000 * 28, true},
		"a request every 5 ms, never waited": {210, 10, 210 * 40, false},
	} {
		now := time.Unix(1, 0)
		n, over := newNoise(now), false
		var s quic.ConnectionStats
		for range 60 {
			now = now.Add(time.Second)
			s.PacketsReceived += c.received
			s.PacketsSent += c.sent
			s.BytesReceived += c.bytes
			over = over || n.over(s, now)
		}
		if over != c.over {
			t.Errorf("%s: too much = %v, want %v", name, over, c.over)
		}
	}
}

// TestNoisyGuestIsThrownOut: a full node that sends its frames byte by byte, each in a
// packet, is shown the door, and does not come back at once.
func TestNoisyGuestIsThrownOut(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.FullNodesMax = 2 })
	cfg.Key = strangerKey(t, 0)
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	eventually(t, "admitted", func() bool { return len(nodes[0].guests()) == 1 })
	for _, class := range []Class{Votes, Certificates, Blocks, Fetch, Transactions, Shards, State} {
		s := a.open(byte(class), 0, 0, messageBytesMax>>8, 0)
		go func() {
			for {
				if _, err := s.Write([]byte{0}); err != nil {
					return
				}
				time.Sleep(200 * time.Microsecond)
			}
		}()
	}
	if code, _ := a.thrownOut(); code != closeViolation {
		t.Errorf("closed with %d, want %d", code, closeViolation)
	}
	if keys, networks := nodes[0].door.sizes(); keys != 1 || networks != 1 {
		t.Errorf("%d keys and %d networks are shut out", keys, networks)
	}
	honest(t, nodes)
}

// TestStrangersHaveSmallWindows: what a full node says before it is read is bounded by a
// few kilobytes a stream, so that a guest which waits for its budget costs nothing.
func TestStrangersHaveSmallWindows(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.FullNodesMax = 2 })
	release := make(chan struct{})
	nodes[0].sink.judge = func(from int, class Class, _ []byte) error {
		if class == Fetch && from >= 4 {
			<-release
		}
		return nil
	}
	defer close(release)
	cfg.Key = strangerKey(t, 0)
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	eventually(t, "admitted", func() bool { return len(nodes[0].guests()) == 1 })
	s := a.open(byte(Fetch))
	_ = s.SetWriteDeadline(time.Now().Add(2 * time.Second))
	frame, wrote := appendFrame(nil, []byte("what there is")), 0
	for {
		n, err := s.Write(frame)
		wrote += n
		if err != nil {
			break
		}
	}
	// What is read ahead and our own packet come on top.
	if most := strangerWindow + 2<<10; wrote > most || wrote < strangerWindow/2 {
		t.Errorf("%d bytes of requests left, want about %d", wrote, strangerWindow)
	}
	honest(t, nodes)
}
