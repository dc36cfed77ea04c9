package p2p

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// TestWrongBytesOnEveryStream sends each class what no honest member sends.
func TestWrongBytesOnEveryStream(t *testing.T) {
	quick := func(_ int, cfg *Config) {
		cfg.BanFor = 0 // the next case comes at once
		cfg.FrameTimeout, cfg.MinFrameRate = 300*time.Millisecond, 1<<30
	}
	nodes, cfg := honestAnd(t, quick)
	nodes[0].sink.judge = func(from int, class Class, msg []byte) error {
		if strings.HasPrefix(string(msg), "bad") {
			return errors.New("not a " + class.String() + " message")
		}
		return nil
	}
	oversize := func(c Class) []byte {
		n := uint32(cfg.Limits[c].FrameBytesMax + 1)
		return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	}
	type wrong struct {
		name string
		do   func(a *attacker)
	}
	cases := []wrong{
		{"greeting of version 0", func(a *attacker) { a.open(appendFrame([]byte{0}, appendHello(nil, hello{instance: 1}))...) }},
		{"greeting too long for its version", func(a *attacker) {
			a.open(appendFrame([]byte{0}, append(appendHello(nil, hello{version: Version}), 1))...)
		}},
		{"greeting too short", func(a *attacker) { a.open(appendFrame([]byte{0}, []byte("h"))...) }},
		{"greeting is a record", func(a *attacker) { a.open(appendFrame([]byte{0}, appendRecords(nil, nil))...) }},
		{"unknown class", func(a *attacker) { a.greet(); a.open(byte(NumClasses)) }},
		{"class 255", func(a *attacker) { a.greet(); a.open(255) }},
		{"second control stream", func(a *attacker) { a.greet(); a.greet() }},
		{"empty stream", func(a *attacker) { a.greet(); _ = a.open().Close() }},
		{"unknown control tag", func(a *attacker) { a.write(a.greet(), appendFrame(nil, []byte("?"))) }},
		{"vector of another committee", func(a *attacker) { a.write(a.greet(), appendFrame(nil, []byte{tagMembers, 1, 2, 3, 4})) }},
		{"forged address", func(a *attacker) {
			a.write(a.greet(), appendFrame(nil, appendRecords(nil, []record{{member: 1, timestamp: uint64(time.Now().UnixMilli()), address: "10.0.0.1:1"}})))
		}},
		{"address is a name", func(a *attacker) {
			a.write(a.greet(), appendFrame(nil, appendRecords(nil, []record{{member: 1, timestamp: 1 << 62, address: "example.org:1"}})))
		}},
		{"transactions that are none", func(a *attacker) {
			a.greet()
			a.open(appendFrame([]byte{byte(Transactions)}, []byte{0, 0, 1, 0, 1, 2, 3})...)
		}},
	}
	for class := range NumClasses {
		begin := func(a *attacker, rest ...byte) *quic.SendStream {
			if class == Control {
				s := a.greet()
				a.write(s, rest)
				return s
			}
			a.greet()
			return a.open(append([]byte{byte(class)}, rest...)...)
		}
		cases = append(cases,
			wrong{class.String() + ": empty frame", func(a *attacker) { begin(a, 0, 0, 0, 0) }},
			wrong{class.String() + ": frame too long", func(a *attacker) { begin(a, oversize(class)...) }},
			wrong{class.String() + ": 4 GiB promised", func(a *attacker) { begin(a, 0xff, 0xff, 0xff, 0xff) }},
			wrong{class.String() + ": closed within a frame", func(a *attacker) { _ = begin(a, 0, 0, 0, 9, 1, 2).Close() }},
			wrong{class.String() + ": reset", func(a *attacker) { begin(a).CancelWrite(7) }},
			wrong{class.String() + ": closed", func(a *attacker) { _ = begin(a).Close() }},
			wrong{class.String() + ": twice", func(a *attacker) { begin(a); a.open(byte(class)) }},
			wrong{class.String() + ": noise", func(a *attacker) {
				noise := make([]byte, 1000)
				_, _ = rand.Read(noise)
				begin(a, append([]byte{0, 0, 3, 0xe8, 'b', 'a', 'd'}, noise...)...)
			}},
		)
		if class != Control && class != Transactions {
			cases = append(cases, wrong{class.String() + ": refused by the receiver", func(a *attacker) {
				begin(a, appendFrame(nil, []byte("bad"))...)
			}})
		}
	}
	said := 0
	for _, c := range cases {
		a, err := attack(t, cfg, nodes[0])
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		before := nodes[0].members[3].stats.violations.Load()
		c.do(a)
		code, text := a.thrownOut()
		switch code {
		case closeViolation:
			said++
		case unsaid:
		default:
			t.Errorf("%s: closed with %d %q, want a violation", c.name, code, text)
		}
		if nodes[0].members[3].stats.violations.Load() == before {
			t.Errorf("%s: not counted", c.name)
		}
	}
	if said < len(cases)/2 {
		t.Errorf("%d of %d were told why", said, len(cases))
	}
	honest(t, nodes)
}

// TestSilenceEndsAConnection: who does not greet is not waited for, and silence is
// no proof of malice.
func TestSilenceEndsAConnection(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.HandshakeTimeout = time.Second })
	var a *attacker
	eventually(t, "the handshake ends in time", func() (ok bool) {
		var err error
		a, err = attack(t, cfg, nodes[0])
		return err == nil
	})
	if code, text := a.thrownOut(); code == closeViolation {
		t.Errorf("closed with %d %q, which accuses", code, text)
	}
	if n := nodes[0].members[3].stats.violations.Load(); n != 0 {
		t.Errorf("%d violations by who said nothing", n)
	}
	honest(t, nodes)
}

// TestBannedPeerIsNotSpokenTo: after a violation the member's next connection
// is closed.
func TestBannedPeerIsNotSpokenTo(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.BanFor = time.Hour })
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	a.open(77)
	a.thrownOut()
	a = attackRefused(t, cfg, nodes[0])
	a.greet()
	if code, text := a.thrownOut(); code != closeBanned {
		t.Errorf("closed with %d %q, want the ban", code, text)
	}
	honest(t, nodes)
}

// TestBanEnds: the member whose violation is long enough ago is a member again.
func TestBanEnds(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.BanFor = 400 * time.Millisecond })
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	a.open(77)
	a.thrownOut()
	n := launch(t, cfg, nodes...)
	eventually(t, "forgiven", func() bool { return n.connectedTo() == 3 })
	honest(t, append(nodes, n))
}

// TestStrangers: who may not come in learns why, and others notice nothing.
func TestStrangers(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.FullNodesMax = 0 })
	stranger, err := ed25519.NewPrivateKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("unknown key", func(t *testing.T) {
		cfg := cfg
		cfg.Key = stranger
		a, err := attack(t, cfg, nodes[0])
		if err == nil { // the client's side of the handshake ends first
			<-a.ended.Done()
			err = context.Cause(a.ended)
		}
		var refused *quic.TransportError
		if !errors.As(err, &refused) || !refused.ErrorCode.IsCryptoError() {
			t.Errorf("got %v, want an end in the handshake", err)
		}
		eventually(t, "it is counted", func() bool { return nodes[0].Stats.Refused[RefusedUnknown].Load() == 1 })
	})
	t.Run("other genesis", func(t *testing.T) {
		other := cfg
		other.Genesis = chain.Hash{8}
		tr := launch(t, other)
		_, err := tr.dial(context.Background(), tr.members[0], nodes[0].Addr())
		if !errors.Is(err, ErrOtherGenesis) {
			t.Errorf("got %v, want %v", err, ErrOtherGenesis)
		}
		eventually(t, "it is counted", func() bool { return nodes[0].Stats.Refused[RefusedGenesis].Load() > 0 })
	})
	t.Run("other node at the address", func(t *testing.T) {
		tr := launch(t, cfg)
		_, err := tr.dial(context.Background(), tr.members[1], nodes[0].Addr())
		if !errors.Is(err, ErrWrongPeer) {
			t.Errorf("got %v, want %v", err, ErrWrongPeer)
		}
	})
	t.Run("itself", func(t *testing.T) {
		_, err := nodes[0].dial(context.Background(), nodes[0].members[1], nodes[0].Addr())
		if err == nil {
			t.Error("a node connects to itself")
		}
	})
	t.Run("no packets of QUIC", func(t *testing.T) {
		c, err := net.Dial("udp", nodes[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		noise := make([]byte, 1200)
		for range 2000 {
			_, _ = rand.Read(noise)
			_, _ = c.Write(noise)
		}
	})
	honest(t, nodes)
}

// TestFloodOfOnePeerIsHeldBack: a member that sends without pause is read at
// its rate, and the others are served meanwhile.
func TestFloodOfOnePeerIsHeldBack(t *testing.T) {
	const rate, burst = 200, 50
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) {
		cfg.Limits[Votes].MessagesPerSecond, cfg.Limits[Votes].MessagesBurst = rate, burst
	})
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	began := time.Now()
	written := make(chan int, 1)
	go func() {
		s := a.open(byte(Votes))
		n := 0
		for range 1 << 20 {
			if _, err := s.Write(appendFrame(nil, make([]byte, 1000))); err != nil {
				break
			}
			n++
		}
		written <- n
	}()
	for time.Since(began) < time.Second || nodes[0].sink.count(Votes, 3) < burst {
		honest(t, nodes)
	}
	got := nodes[0].sink.count(Votes, 3)
	spent := time.Since(began) // no less than what they came in
	if most := burst + 1 + int(rate*spent.Seconds()*1.1); got > most {
		t.Errorf("%d messages delivered in %v, want at most %d", got, spent, most)
	}
	_ = a.conn.CloseWithError(0, "")
	n := <-written
	if got = nodes[0].sink.count(Votes, 3); n > got+2*streamWindow/1000 {
		t.Errorf("%d messages were accepted from the flood, %d of them read: credit was not withheld", n, got)
	}
	if d := nodes[0].members[3].stats.violations.Load(); d != 0 {
		t.Errorf("%d violations: sending fast is none", d)
	}
}

// TestTooManyConnections: one key holds few connections at a time.
func TestTooManyConnections(t *testing.T) {
	nodes, cfg := honestAnd(t, nil)
	var open []*attacker
	for range 20 {
		open = append(open, attackRefused(t, cfg, nodes[0]))
	}
	eventually(t, "most are closed", func() bool {
		left := 0
		for _, a := range open {
			if a.ended.Err() == nil {
				left++
			}
		}
		return left <= linksMax
	})
	honest(t, nodes)
}

// TestFullNodes are admitted up to a number, at lower rates, and hear
// certificates only.
func TestFullNodes(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.FullNodesMax = 2 })
	var guests []*attacker
	for i := range 3 {
		cfg := cfg
		var err error
		if cfg.Key, err = ed25519.NewPrivateKey(append(make([]byte, 31), byte(200+i))); err != nil {
			t.Fatal(err)
		}
		a := attackRefused(t, cfg, nodes[0])
		guests = append(guests, a)
		if i < 2 { // the third may be shown the door before it has greeted
			a.greet()
			eventually(t, "admitted", func() bool { return len(nodes[0].guests()) == i+1 })
		}
	}
	if code, _ := guests[2].thrownOut(); code != closeFull {
		t.Errorf("third full node: closed with %d, want %d", code, closeFull)
	}
	p := nodes[0].guests()[0]
	if got, want := p.limits[Fetch].MessagesPerSecond, cfg.Limits[Fetch].MessagesPerSecond/cfg.FullNodeDivisor; got != want {
		t.Errorf("a full node may ask %v times a second, want %v", got, want)
	}
	eventually(t, "in use", func() bool { l, _ := p.current(); return l != nil })
	guests[0].open(appendFrame([]byte{byte(Fetch)}, []byte("where am I"))...)
	eventually(t, "its request arrives", func() bool { return nodes[0].sink.count(Fetch, p.id) == 1 })
	nodes[0].Broadcast(Votes, []byte("vote"))
	nodes[0].Broadcast(Certificates, []byte("certificate"))
	nodes[0].Send(p.id, Blocks, []byte("block"))
	heard := hear(t, guests[0], 2)
	if fmt.Sprint(heard) != "map[blocks:block certificates:certificate]" {
		t.Errorf("the full node heard %v", heard)
	}
	_ = guests[0].conn.CloseWithError(0, "")
	eventually(t, "its place is free", func() bool { return len(nodes[0].guests()) == 1 })
	honest(t, nodes)
}
