package p2p

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/porttest"
)

// TestBothDialAndOneConnectionStays: the two sides call each other at once.
// One connection is left, the one that the smaller key dialed, and nothing that
// was sent meanwhile is lost.
func TestBothDialAndOneConnectionStays(t *testing.T) {
	for round := range 4 {
		keys := testKeys(2)
		ports := porttest.UDP(t, 2)
		s := setup{keys, func(i int, cfg *Config) {
			cfg.ListenAddr = ports[i]
			cfg.Addresses[cfg.Committee[1-i]] = ports[1-i]
		}}
		a, b := launch(t, s.config(0)), launch(t, s.config(1))
		const each = 200
		for k := range each {
			a.Send(1, Votes, fmt.Appendf(nil, "a%d", k))
			b.Send(0, Votes, fmt.Appendf(nil, "b%d", k))
			if k%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		eventually(t, "all arrives", func() bool { return a.sink.count(Votes, 1) == each && b.sink.count(Votes, 0) == each })
		eventually(t, "one connection is left", func() bool {
			a.members[1].mu.Lock()
			defer a.members[1].mu.Unlock()
			return a.members[1].links == 1 && a.members[1].link != nil
		})
		if l, _ := a.members[1].current(); a.members[1].stats.connections.Load() > 1 && !l.dialed {
			t.Errorf("round %d: of two connections the one stayed that the larger key dialed", round)
		}
		a.stop()
		b.stop()
	}
}

// TestStarBecomesMesh: members that know one member only learn each other's
// addresses from it.
func TestStarBecomesMesh(t *testing.T) {
	s := setup{testKeys(5), nil}
	hub := launch(t, s.config(2))
	nodes := []*node{hub}
	for _, i := range []int{0, 1, 3, 4} {
		nodes = append(nodes, launch(t, s.config(i), hub))
	}
	for _, n := range nodes {
		eventually(t, "all are connected to all", func() bool { return n.connectedTo() == 4 })
	}
}

// TestRestartedPeerIsBack: a process that died without a word and its successor
// are told apart, and what waits is sent to the successor.
func TestRestartedPeerIsBack(t *testing.T) {
	ports := porttest.UDP(t, 2)
	s := setup{testKeys(2), func(i int, cfg *Config) {
		cfg.ListenAddr = ports[i]
		cfg.Addresses[cfg.Committee[1-i]] = ports[1-i]
		cfg.IdleTimeout, cfg.KeepAlive = 10*time.Minute, time.Minute // longer than anybody waits here
	}}
	a, b := launch(t, s.config(0)), launch(t, s.config(1))
	eventually(t, "connected", func() bool { return a.connectedTo() == 1 && b.connectedTo() == 1 })
	b.dead = true
	_ = b.socket.Close() // as SIGKILL does: no packet says goodbye
	a.Broadcast(Votes, []byte("while you were away"))
	b2 := launch(t, s.config(1))
	eventually(t, "the new process is served", func() bool {
		a.Broadcast(Votes, []byte("hello again"))
		return b2.sink.count(Votes, 0) > 0
	})
}

// TestBusyReceiverLosesNothing: what the receiver cannot take yet waits at the
// sender.
func TestBusyReceiverLosesNothing(t *testing.T) {
	nodes := meshOf(t, 2, nil)
	nodes[1].sink.mu.Lock()
	nodes[1].sink.busy = 20
	nodes[1].sink.mu.Unlock()
	const each = 500
	for k := range each {
		nodes[0].Broadcast(Certificates, binary.BigEndian.AppendUint32(nil, uint32(k)))
	}
	eventually(t, "all arrives", func() bool { return nodes[1].sink.count(Certificates, 0) == each })
	for k, msg := range nodes[1].sink.got[Certificates][0] {
		if binary.BigEndian.Uint32([]byte(msg)) != uint32(k) {
			t.Fatalf("message %d is out of order", k)
		}
	}
}

// TestSlowClassDelaysNoOther: blocks that are not read leave votes alone.
func TestSlowClassDelaysNoOther(t *testing.T) {
	nodes := meshOf(t, 2, nil)
	gate := make(chan struct{})
	nodes[1].sink.judge = func(_ int, class Class, _ []byte) error {
		if class == Blocks {
			<-gate // a receiver that blocks, which none should
		}
		return nil
	}
	defer close(gate)
	for range 20 {
		nodes[0].Broadcast(Blocks, make([]byte, testBlockBytes))
	}
	for k := range 50 {
		nodes[0].Broadcast(Votes, []byte(strconv.Itoa(k)))
	}
	eventually(t, "votes arrive", func() bool { return nodes[1].sink.count(Votes, 0) == 50 })
}

// TestBusyReceiverTakesTransactionsInPieces: each is taken once and in order,
// however little there is room for.
func TestBusyReceiverTakesTransactionsInPieces(t *testing.T) {
	nodes := meshOf(t, 2, nil)
	got := nodes[1].sink
	got.mu.Lock()
	got.busy = 40
	got.mu.Unlock()
	var bodies [][]byte
	for i := range 200 {
		bodies = append(bodies, body(i))
	}
	nodes[0].Flood(-1, bodies)
	eventually(t, "all arrive", func() bool { got.mu.Lock(); defer got.mu.Unlock(); return len(got.bodies) >= len(bodies) })
	got.mu.Lock()
	defer got.mu.Unlock()
	if got.busy != 0 || !slices.EqualFunc(got.bodies, bodies, bytes.Equal) {
		t.Errorf("%d transactions arrived, want %d in order; %d times busy left", len(got.bodies), len(bodies), got.busy)
	}
}

func body(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8), 1}, 40) }

// TestTransactionsReachEveryoneOnce: what one member admits comes to each other
// member, through relays where two are not connected, and to the receiver once.
func TestTransactionsReachEveryoneOnce(t *testing.T) {
	nodes := meshOf(t, 4, nil)
	const txs = 300
	var bodies [][]byte
	for i := range txs {
		bodies = append(bodies, body(i))
	}
	for i := 0; i < txs; i += 10 {
		nodes[0].Flood(-1, bodies[i:i+10])
	}
	for _, n := range nodes[1:] {
		eventually(t, "all arrive", func() bool { n.sink.mu.Lock(); defer n.sink.mu.Unlock(); return len(n.sink.bodies) == txs })
		for i, got := range n.sink.bodies {
			if !bytes.Equal(got, bodies[i]) {
				t.Fatalf("transaction %d differs: order within one origin is kept", i)
			}
		}
		n.Flood(0, bodies) // relayed: all are connected to node 0, so nobody is told
		n.Flood(-1, bodies[:5])
	}
	time.Sleep(50 * time.Millisecond)
	for i, n := range nodes {
		want := txs
		if i == 0 {
			want = 0
		}
		n.sink.mu.Lock()
		if len(n.sink.bodies) != want {
			t.Errorf("node %d was given %d transactions, want %d", i, len(n.sink.bodies), want)
		}
		n.sink.mu.Unlock()
		if i > 0 {
			if p := nodes[i].members[0]; p.stats.sent[Transactions].messages.Load() > 1 {
				t.Errorf("node %d sent %d batches back to the origin", i, p.stats.sent[Transactions].messages.Load())
			}
		}
	}
}

// TestSpreadFillsGaps: transactions of a member go on to those, and only those,
// that it is not connected to.
func TestSpreadFillsGaps(t *testing.T) {
	nodes := meshOf(t, 4, nil)
	eventually(t, "node 1 knows whom node 0 reaches", func() bool { return len(nodes[1].spread(0)) == 0 })
	p := nodes[1].members[0]
	only := newMembers(4)
	only.set(0)
	only.set(1)
	only.set(2)
	l, _ := p.current()
	p.hear(l, only)
	var got []int
	for _, to := range nodes[1].spread(0) {
		got = append(got, to.id)
	}
	if !slices.Equal(got, []int{3}) {
		t.Errorf("goes on to %v, want 3 only", got)
	}
	if got := len(nodes[1].spread(-1)); got != 3 {
		t.Errorf("own transactions go to %d members, want 3", got)
	}
}

// TestPausedPeer: a peer that sent bad transactions is not read for a while,
// but its votes are.
func TestPausedPeer(t *testing.T) {
	nodes := meshOf(t, 2, nil)
	nodes[1].Pause(0)
	nodes[0].Flood(-1, [][]byte{body(1)})
	nodes[0].Broadcast(Votes, []byte("vote"))
	eventually(t, "the vote arrives", func() bool { return nodes[1].sink.count(Votes, 0) == 1 })
	nodes[1].sink.mu.Lock()
	defer nodes[1].sink.mu.Unlock()
	if len(nodes[1].sink.bodies) != 0 {
		t.Error("transactions of a paused peer were read")
	}
}

func TestQueueKeepsItsBounds(t *testing.T) {
	limit := Limit{QueueMessages: 4, QueueBytes: 10, DropOldest: true}
	for _, c := range []struct {
		name       string
		dropOldest bool
		put        []string
		want       []string
		dropped    uint64
	}{
		{"fits", true, []string{"a", "b"}, []string{"a", "b"}, 0},
		{"too many, oldest goes", true, []string{"a", "b", "c", "d", "e"}, []string{"b", "c", "d", "e"}, 1},
		{"too many, new one goes", false, []string{"a", "b", "c", "d", "e"}, []string{"a", "b", "c", "d"}, 1},
		{"too many bytes", true, []string{"aaaa", "bbbb", "cccc"}, []string{"bbbb", "cccc"}, 1},
		{"several make room", true, []string{"aaa", "bbb", "ccc", "dddddddd"}, []string{"dddddddd"}, 3},
		{"larger than the queue", true, []string{"a", "bbbbbbbbbbb"}, []string{"a"}, 1},
	} {
		limit.DropOldest = c.dropOldest
		q := newQueue(limit)
		for _, msg := range c.put {
			q.put([]byte(msg))
		}
		var got []string
		for _, msg := range q.popInto(nil, 1000) {
			got = append(got, string(msg))
		}
		if !slices.Equal(got, c.want) || q.dropped.Load() != c.dropped || q.bytes != 0 {
			t.Errorf("%s: %v, %d dropped, want %v, %d", c.name, got, q.dropped.Load(), c.want, c.dropped)
		}
	}
}

func TestQueueTakesInPieces(t *testing.T) {
	q := newQueue(Limit{QueueMessages: 10, QueueBytes: 100})
	for range 3 {
		q.put(make([]byte, 20))
	}
	if got := len(q.popInto(nil, 50)); got != 2 {
		t.Errorf("took %d, want the 2 that fit into 50 bytes", got)
	}
	if got := len(q.popInto(nil, 1)); got != 1 {
		t.Errorf("took %d, want one however large", got)
	}
}

func TestBucketPaysDebts(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newBucket(10, 5, now)
	for range 5 {
		if wait := b.take(1, now); wait != 0 {
			t.Fatalf("waits %v within the burst", wait)
		}
	}
	if wait := b.take(1, now); wait != 100*time.Millisecond {
		t.Errorf("waits %v after the burst, want a tenth of a second", wait)
	}
	if wait := b.take(1, now.Add(time.Hour)); wait != 0 {
		t.Errorf("waits %v after a long pause", wait)
	}
}

func TestConfigCheck(t *testing.T) {
	good := setup{testKeys(4), nil}.config(0)
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no key":         func(c *Config) { c.Key = nil },
		"no genesis":     func(c *Config) { c.Genesis = chain.Hash{} },
		"no committee":   func(c *Config) { c.Committee = nil },
		"no port":        func(c *Config) { c.ListenAddr = "localhost" },
		"advertise":      func(c *Config) { c.Advertise = "host:0" },
		"address":        func(c *Config) { c.Addresses = map[chain.PeerKey]string{{1}: "nowhere"} },
		"frame":          func(c *Config) { c.Limits[Votes].FrameBytesMax = 0 },
		"queue":          func(c *Config) { c.Limits[Votes].QueueBytes = 1 },
		"rate":           func(c *Config) { c.Limits[Votes].MessagesPerSecond = 0 },
		"burst":          func(c *Config) { c.Limits[Blocks].BytesBurst = 1 },
		"full nodes":     func(c *Config) { c.FullNodesMax = -1 },
		"timeout":        func(c *Config) { c.IdleTimeout = 0 },
		"keep-alive":     func(c *Config) { c.KeepAlive = time.Hour },
		"redial":         func(c *Config) { c.RedialMax = 0 },
		"log is missing": func(c *Config) { c.Log = nil },
	} {
		bad := setup{testKeys(4), nil}.config(0)
		change(&bad)
		if bad.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
