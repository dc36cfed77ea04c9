package p2p

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"
)

// newerSays are things that only a newer version knows, each with what must be counted.
func newerSays() map[string]func(a *attacker) {
	return map[string]func(a *attacker){
		"class":       func(a *attacker) { a.open(byte(NumClasses), 0, 0, 0, 1, 'x') },
		"last class":  func(a *attacker) { a.open(255) },
		"control tag": func(a *attacker) {}, // goes on the control stream, see below
		"message":     func(a *attacker) { a.open(appendFrame([]byte{byte(Votes)}, []byte("Z of the next version"))...) },
	}
}

func greetAs(a *attacker, version uint16, more string) {
	msg := append(appendHello(nil, hello{version: version, instance: 99, capabilities: 5}), more...)
	s := a.open(appendFrame([]byte{byte(Control)}, msg)...)
	a.write(s, appendFrame(nil, []byte("? of the next version")))
}

// TestNewerPeerIsForgiven: what a peer of a newer version says and we do not know is left
// out and counted, and what we do know of it still arrives. From a peer of our own
// version each of it is a violation.
func TestNewerPeerIsForgiven(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.BanFor = 0 })
	nodes[0].sink.mu.Lock() // the others are linked and may speak
	nodes[0].sink.judge = func(_ int, _ Class, msg []byte) error {
		if msg[0] == 'Z' {
			return fmt.Errorf("tag %q: %w", msg[0], ErrUnknown)
		}
		return nil
	}
	nodes[0].sink.mu.Unlock()
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	greetAs(a, Version+1, "and more")
	said := newerSays()
	for _, say := range said {
		say(a)
	}
	eventually(t, "all of it is counted", func() bool { return nodes[0].Stats.NewerIgnored.Load() == uint64(len(said)) })
	a.open(appendFrame([]byte{byte(Certificates)}, []byte("known"))...)
	eventually(t, "what is known arrives", func() bool { return nodes[0].sink.count(Certificates, 3) == 1 })
	for _, p := range nodes[0].Peers() {
		if p.ID == 3 && (!p.Connected || p.Version != Version+1 || p.Capabilities != 5 || p.Violations != 0) {
			t.Errorf("the newer peer is %+v", p)
		}
	}
	_ = a.conn.CloseWithError(0, "")
	for name, say := range said {
		a, err := attack(t, cfg, nodes[0])
		if err != nil {
			t.Fatal(err)
		}
		if name == "control tag" {
			greetAs(a, Version, "")
		} else {
			a.greet()
			say(a)
		}
		if code, text := a.thrownOut(); code != closeViolation && code != unsaid {
			t.Errorf("%s of our own version: closed with %d %q, want a violation", name, code, text)
		}
	}
	if got := nodes[0].members[3].stats.violations.Load(); got != uint64(len(said)) {
		t.Errorf("%d violations were counted, want %d", got, len(said))
	}
	honest(t, nodes)
}

// TestStalledFrameIsNoOffence: an attacker on the way can hold an honest member's packets
// back. The connection ends, is counted, and the next one is welcome at once.
func TestStalledFrameIsNoOffence(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) {
		cfg.BanFor, cfg.FrameTimeout, cfg.MinFrameRate = time.Hour, 100*time.Millisecond, 1<<30
	})
	for class := range NumClasses {
		a, err := attack(t, cfg, nodes[0])
		if err != nil {
			t.Fatal(err)
		}
		control := a.greet()
		if torn := []byte{0, 0, 0, 9, 1, 2}; class == Control {
			a.write(control, torn)
		} else {
			a.open(append([]byte{byte(class)}, torn...)...)
		}
		if code, text := a.thrownOut(); code == closeViolation || code == closeBanned {
			t.Errorf("%s: closed with %d %q, which accuses", class, code, text)
		}
	}
	if n := nodes[0].members[3].stats.violations.Load(); n != 0 {
		t.Errorf("%d violations for frames that did not come to their end", n)
	}
	if n := nodes[0].Stats.Stalled.Load(); n != uint64(NumClasses) {
		t.Errorf("%d stalls were counted, want %d", n, NumClasses)
	}
	n := launch(t, cfg, nodes...)
	eventually(t, "the member is connected", func() bool { return n.connectedTo() == 3 })
	honest(t, append(nodes, n))
}

// TestRecordsEnd: a record counts for its time, and one that was signed under a clock
// far ahead never does, so that it cannot stand in the way of a true one.
func TestRecordsEnd(t *testing.T) {
	keys := testKeys(4)
	cfg := setup{keys, nil}.config(0)
	b := newBook(&cfg)
	now := time.Unix(1e9, 0)
	signed := func(at time.Time, address string) record {
		r := record{member: 1, timestamp: uint64(at.UnixMilli()), address: address}
		r.signature = keys[1].Sign(r.signedBytes(cfg.Genesis, cfg.Committee[1]))
		return r
	}
	learn := func(what string, r record, want RecordFault) {
		t.Helper()
		if fault, honest := b.learn(r, now); !honest || fault != want {
			t.Errorf("%s: %v, honest: %v, want %v", what, fault, honest, want)
		}
	}
	at := func(want string) {
		t.Helper()
		got := ""
		if all := b.candidates(1, now); len(all) > 0 {
			got = all[0]
		}
		if got != want {
			t.Errorf("the member is at %q, want %q", got, want)
		}
	}
	ahead := signed(now.Add(10*365*24*time.Hour), "192.0.2.1:1")
	learn("ten years ahead", ahead, RecordAhead)
	learn("as far ahead as numbers go", record{member: 1, timestamp: 1<<64 - 1, address: "192.0.2.1:1"}, RecordAhead)
	at("")
	learn("a little ahead", signed(now.Add(recordAhead), "192.0.2.2:1"), recordTaken)
	at("192.0.2.2:1")
	now = now.Add(2 * recordAhead)
	learn("true one", signed(now, "192.0.2.3:1"), recordTaken)
	at("192.0.2.3:1")
	told := make([]uint64, 4)
	if news, _ := b.news(told, now); len(news) != 1 {
		t.Errorf("%d news", len(news))
	}
	now = now.Add(cfg.RecordFor + time.Second)
	at("")
	if news, _ := b.news(make([]uint64, 4), now); len(news) != 0 {
		t.Error("what is over is told on")
	}
	learn("said too long ago", signed(now.Add(-cfg.RecordFor-time.Minute), "192.0.2.4:1"), RecordOld)
	// Our own clock was wrong, and is set back: the record that it let in makes room.
	learn("now", signed(now, "192.0.2.5:1"), recordTaken)
	now = now.Add(-24 * time.Hour)
	at("")
	learn("with the clock right", signed(now, "192.0.2.6:1"), recordTaken)
	at("192.0.2.6:1")
	if news, _ := b.news(told, now); len(news) != 1 || news[0].address != "192.0.2.6:1" {
		t.Error("a peer that was told of the later record is not told of the true one")
	}
	// As in a file of another time: no fault may hang on a time before 1970.
	now = time.Unix(5, 0)
	learn("first seconds", signed(now, "192.0.2.7:1"), recordTaken)
}

// TestRecordsReach: nobody on a public network makes members dial machines of their own
// networks.
func TestRecordsReach(t *testing.T) {
	keys := testKeys(4)
	for _, c := range []struct {
		via, says string
		any, want bool
	}{
		{"127.0.0.1", "127.0.0.1:1", false, true},
		{"127.0.0.1", "192.0.2.1:1", false, true},
		{"10.1.2.3", "127.0.0.1:1", false, false},
		{"10.1.2.3", "192.168.7.7:1", false, true},
		{"fd00::1", "10.0.0.1:1", false, true},
		{"192.0.2.9", "10.0.0.1:1", false, false},
		{"192.0.2.9", "100.64.0.1:1", false, false},
		{"192.0.2.9", "169.254.1.1:1", false, false},
		{"192.0.2.9", "[::1]:1", false, false},
		{"192.0.2.9", "[::ffff:127.0.0.1]:1", false, false},
		{"192.0.2.9", "[fd00::1]:1", false, false},
		{"2001:db8::1", "[fe80::1]:1", false, false},
		{"192.0.2.9", "198.51.100.1:1", false, true},
		{"192.0.2.9", "10.0.0.1:1", true, true},
	} {
		cfg := setup{keys, nil}.config(0)
		cfg.AnyAddress = c.any
		tr, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r := record{member: 1, timestamp: uint64(time.Now().UnixMilli()), address: c.says}
		r.signature = keys[1].Sign(r.signedBytes(cfg.Genesis, cfg.Committee[1]))
		if !tr.learn(r, &net.UDPAddr{IP: net.ParseIP(c.via), Port: 5}) {
			t.Errorf("%s of %s: called dishonest", c.says, c.via)
		}
		ignored := tr.Stats.RecordsIgnored[RecordPrivate].Load()
		if taken := tr.book.records[1].timestamp != 0; taken != c.want || taken == (ignored == 1) {
			t.Errorf("%s told from %s: taken: %v, want %v; %d were counted as ignored", c.says, c.via, taken, c.want, ignored)
		}
	}
}

// TestLiarWhoKnowsAllHidesNothing: a member that claims to be connected to everybody,
// where the others say that it is not, keeps no transactions from them.
func TestLiarWhoKnowsAllHidesNothing(t *testing.T) {
	nodes, cfg := honestAnd(t, nil)
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	control := a.greet()
	all := newMembers(4)
	for i := range 4 {
		all.set(i)
	}
	a.write(control, appendFrame(nil, appendMembers(nil, all)))
	eventually(t, "the claim has arrived", func() bool { return nodes[0].members[3].knows(1) && nodes[0].members[3].knows(2) })
	a.open(appendFrame([]byte{byte(Transactions)}, frameTxs([][]byte{body(1)})[0])...)
	eventually(t, "the transaction has arrived", func() bool { s := nodes[0].sink; s.mu.Lock(); defer s.mu.Unlock(); return len(s.bodies) == 1 })
	nodes[0].Flood(3, [][]byte{body(1)})
	for _, n := range nodes[1:] {
		eventually(t, "it is passed on", func() bool { n.sink.mu.Lock(); defer n.sink.mu.Unlock(); return len(n.sink.bodies) == 1 })
	}
}

// TestGreetings: what decodes, and what does not.
func TestGreetings(t *testing.T) {
	good := appendHello(nil, hello{Version, 7, 3})
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"good":              {good, nil},
		"of an older peer":  {appendHello(nil, hello{1, 7, 3}), nil},
		"of a newer one":    {append(appendHello(nil, hello{Version + 1, 7, 3}), 1, 2, 3), nil},
		"trailing byte":     {append(good[:len(good):len(good)], 0), ErrHello},
		"truncated":         {good[:len(good)-1], ErrHello},
		"newer, truncated":  {appendHello(nil, hello{Version + 1, 7, 3})[:helloBytes-1], ErrHello},
		"version 0":         {appendHello(nil, hello{0, 7, 3}), ErrHello},
		"another tag":       {append([]byte{'m'}, good[1:]...), ErrHello},
		"nothing":           {nil, ErrHello},
		"as it was before":  {[]byte("h\x01........"), ErrHello},
		"of largest number": {appendHello(nil, hello{1<<16 - 1, 1<<64 - 1, 1<<64 - 1}), nil},
	} {
		if _, err := decodeHello(c.in, Version); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
