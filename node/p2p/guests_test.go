package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// strangerKey is the key of nobody in the committee.
func strangerKey(t *testing.T, i int) *ed25519.PrivateKey {
	t.Helper()
	key, err := ed25519.NewPrivateKey(binary.BigEndian.AppendUint64(make([]byte, 24), uint64(1000+i)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestGuestsKeepTheirBudget: sixteen hostile full nodes ask for all they can, and read
// it. What leaves for them stays within the budget of each and of all, counted where
// it arrives, and what members say arrives as before.
func TestGuestsKeepTheirBudget(t *testing.T) {
	const guests, each, all = 16, 256 << 10, 1 << 20 // bytes per second
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) {
		cfg.FullNodesMax, cfg.FullNodesPerNetwork = 2*guests, 2*guests
		cfg.FullNodeBytesPerSecond, cfg.FullNodesBytesPerSecond = each, all
	})
	target := nodes[0]
	block := make([]byte, testBlockBytes)
	var asked atomic.Int64
	target.sink.judge = func(from int, class Class, _ []byte) error {
		if class == Fetch && from >= 4 {
			asked.Add(1)
			for range 4 {
				target.Send(from, Blocks, block)
			}
		}
		return nil
	}
	var strangers []*attacker
	for i := range guests {
		cfg := cfg
		cfg.Key = strangerKey(t, i)
		a, err := attack(t, cfg, target)
		if err != nil {
			t.Fatal(err)
		}
		a.greet()
		strangers = append(strangers, a)
		go func() {
			for {
				s, err := a.conn.AcceptUniStream(context.Background())
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(io.Discard, s) }()
			}
		}()
		go func() {
			s, err := a.conn.OpenUniStream()
			for first := []byte{byte(Fetch)}; err == nil; first = nil {
				_, err = s.Write(appendFrame(first, []byte("all you have")))
			}
		}()
	}
	eventually(t, "all have asked", func() bool { return asked.Load() >= guests })
	received := func() (out []uint64, sum uint64) {
		for _, a := range strangers {
			n := a.conn.ConnectionStats().BytesReceived
			out = append(out, n)
			sum += n
		}
		return out, sum
	}
	before, total := received()
	began := time.Now()
	var slowest time.Duration
	for i := 0; time.Since(began) < 2*time.Second; i++ {
		said := time.Now()
		target.Send(1, Votes, []byte("vote"))
		eventually(t, "the vote arrives", func() bool { return nodes[1].sink.count(Votes, 0) > i })
		slowest = max(slowest, time.Since(said))
	}
	after, sum := received()
	spent := time.Since(began).Seconds()
	// Acknowledgements and probes come without a piece, and a piece is billed before it
	// leaves.
	room := func(rate float64) uint64 { return uint64(1.05*rate*spent) + 2*guestBurstBytes }
	if got := sum - total; got > room(all) || got < uint64(all*spent/3) {
		t.Errorf("%d bytes went to all guests in %.1f s, want about %d", got, spent, int(all*spent))
	}
	for i := range after {
		if got := after[i] - before[i]; got > room(each) {
			t.Errorf("%d bytes went to guest %d, want at most %d", got, i, room(each))
		}
	}
	billed := target.egress.bytes.Load()
	if billed < sum {
		t.Errorf("%d bytes were billed, %d arrived", billed, sum)
	}
	held := 0
	for _, p := range target.guests() {
		held += p.queues[Blocks].size()
	}
	if most := guests * max(guestQueueBytes, 3*(testBlockBytes+messageBytesMax)); held > most {
		t.Errorf("%d bytes wait for guests, want at most %d", held, most)
	}
	if n := asked.Load(); n > guests*(2+int64(spent*each/(4*testBlockBytes)))*4 {
		t.Errorf("%d requests were read in %.1f s from guests that have not been sent their answers", n, spent)
	}
	t.Logf("%d guests: %.2f MiB/s of %.2f, slowest vote %v", guests, float64(sum-total)/spent/(1<<20), float64(all)/(1<<20), slowest)
	honest(t, nodes)
}

// TestBanOfAGuestOutlivesItsConnection: neither the key comes back nor another one
// from its address; members at the same address do.
func TestBanOfAGuestOutlivesItsConnection(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.FullNodeBanFor = time.Hour })
	come := func(key int) (*attacker, error) {
		cfg := cfg
		cfg.Key = strangerKey(t, key)
		return attack(t, cfg, nodes[0])
	}
	a, err := come(0)
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	a.open(77)
	a.thrownOut()
	eventually(t, "its place is free", func() bool { return len(nodes[0].guests()) == 0 })
	for key := range 3 {
		var told *quic.ApplicationError
		if a, err := come(key); errors.As(err, &told) { // in the same moment as the handshake ended
			if told.ErrorCode != closeBanned {
				t.Errorf("key %d: %v, want the ban", key, err)
			}
		} else if err != nil {
			t.Fatal(err)
		} else if code, text := a.thrownOut(); code != closeBanned && code != unsaid {
			t.Errorf("key %d: closed with %d %q, want the ban", key, code, text)
		}
	}
	if got := nodes[0].Stats.Refused[RefusedBanned].Load(); got != 3 {
		t.Errorf("%d refusals for bans were counted, want 3", got)
	}
	honest(t, nodes)
	n := launch(t, cfg, nodes...)
	eventually(t, "the member is let in", func() bool { return n.connectedTo() == 3 })
}

// TestDoorForgets: what is remembered of strangers is bounded and ends.
func TestDoorForgets(t *testing.T) {
	cfg := setup{testKeys(4), nil}.config(0)
	cfg.HandshakesPerSecond, cfg.HandshakesBurst, cfg.StrangersPerSecond = 4, 32, 64
	now := time.Unix(1e9, 0)
	d := newDoor(&cfg, now)
	at := func(i int) net.Addr {
		return &net.UDPAddr{IP: net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)), Port: 1}
	}
	const many = bansMax + 300
	for i := range many {
		d.ban(chain.PeerKey{byte(i), byte(i >> 8), 1}, at(i), now.Add(time.Duration(i)*time.Millisecond+time.Minute), now)
		d.mustProve(at(i), now)
		d.knock(at(i), false, now.Add(time.Duration(i)*time.Second))
	}
	if keys, networks := d.sizes(); keys > bansMax || networks > bansMax || len(d.proven.by) > knockersMax || len(d.unproven.by) > knockersMax {
		t.Fatalf("%d keys, %d networks, %d and %d rates are remembered", keys, networks, len(d.proven.by), len(d.unproven.by))
	}
	last := many - 1
	key := chain.PeerKey{byte(last), byte(last >> 8), 1}
	if !d.banned(key, at(1), now) || !d.banned(chain.PeerKey{}, at(last), now) {
		t.Error("the newest ban is forgotten")
	}
	if d.banned(chain.PeerKey{}, at(0), now) {
		t.Error("the ban that ends first is kept where there is no room")
	}
	if later := now.Add(time.Hour); d.banned(key, at(last), later) {
		t.Error("a ban lasts for ever")
	}
}

// TestNetworks: what counts as one stranger.
func TestNetworks(t *testing.T) {
	of := func(ip string) string { return networkOf(&net.UDPAddr{IP: net.ParseIP(ip), Port: 7}).String() }
	for ip, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2::3": "2001:db8:1::", "fe80::1": "fe80::",
	} {
		if got := of(ip); got != want {
			t.Errorf("%s is of %s, want %s", ip, got, want)
		}
	}
}

// TestPlacesOfFullNodes: who gets one of eight places, of which two are kept.
func TestPlacesOfFullNodes(t *testing.T) {
	cfg := setup{testKeys(4), nil}.config(0)
	cfg.FullNodesMax, cfg.FullNodesPerNetwork = 8, 2
	now := time.Unix(1e9, 0)
	tr, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	key := func(i int) chain.PeerKey { return chain.PeerKey{9, byte(i)} }
	at := func(i int) net.Addr { return &net.UDPAddr{IP: net.IPv4(192, 0, 2, byte(i)), Port: 1} }
	come := func(who, from int) Refusal {
		t.Helper()
		p, why := tr.admitGuest(key(who), at(from), now)
		if (p == nil) != (why != admitted) {
			t.Fatalf("guest %d: %v and %v", who, p, why)
		}
		if p != nil {
			p.links++
		}
		return why
	}
	want := func(what string, got, want Refusal) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	leave := func(who int) {
		for _, p := range tr.guests() {
			if p.key == key(who) {
				tr.depart(p, false, now)
			}
		}
	}
	want("first", come(0, 0), admitted)
	want("second of a network", come(1, 0), admitted)
	want("third of a network", come(2, 0), RefusedNetwork)
	now = now.Add(cfg.FullNodeProven)
	leave(0) // stayed for long enough
	want("same key again", come(1, 0), admitted)
	for i := range 5 {
		want("while there is room", come(10+i, 10+i), admitted)
	}
	want("the last two places are kept", come(20, 20), RefusedFull)
	want("for a good guest", come(0, 0), admitted)
	leave(0)
	tr.mu.Lock()
	tr.proven[key(30)], tr.proven[key(31)], tr.proven[key(32)] = now, now, now
	tr.mu.Unlock()
	want("good guest", come(30, 30), admitted)
	want("another", come(31, 31), admitted)
	want("a third takes the place of a new one", come(32, 32), admitted)
	if got := tr.Stats.Refused[EvictedFull].Load(); got != 1 {
		t.Errorf("%d evictions, want 1", got)
	}
	want("strangers do not", come(40, 40), RefusedFull)
	now = now.Add(cfg.FullNodeStay)
	want("but who stayed long makes room", come(40, 40), admitted)
	if got := len(tr.guests()); got != 8 {
		t.Errorf("%d guests, want 8", got)
	}
}

// TestProvenGuestsAreBounded: keys cost nothing.
func TestProvenGuestsAreBounded(t *testing.T) {
	tr, err := New(setup{testKeys(4), nil}.config(0))
	if err != nil {
		t.Fatal(err)
	}
	var key chain.PeerKey
	for i := range 2 * provenMax {
		key = chain.PeerKey{byte(i), byte(i >> 8)}
		tr.remember(key, time.Unix(int64(i+1), 0))
	}
	_, last := tr.proven[key]
	if len(tr.proven) != provenMax || !last {
		t.Errorf("%d good guests are remembered, the last: %v", len(tr.proven), last)
	}
}

// TestEvictedGuestIsTold: the connection of a guest that makes room ends.
func TestEvictedGuestIsTold(t *testing.T) {
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) { cfg.FullNodesMax, cfg.FullNodeStay = 1, time.Millisecond })
	var guests []*attacker
	for i := range 2 {
		cfg := cfg
		cfg.Key = strangerKey(t, i)
		a, err := attack(t, cfg, nodes[0])
		if err != nil {
			t.Fatal(err)
		}
		a.greet()
		eventually(t, "admitted", func() bool {
			g := nodes[0].guests()
			return len(g) == 1 && g[0].key == cfg.Key.PublicKey()
		})
		guests = append(guests, a)
		time.Sleep(2 * time.Millisecond)
	}
	if code, text := guests[0].thrownOut(); code != closeFull && code != unsaid {
		t.Errorf("closed with %d %q, want %d", code, text, closeFull)
	}
	if guests[1].ended.Err() != nil {
		t.Error("the new guest lost its place with the old one")
	}
	honest(t, nodes)
}

// TestFloodOfHandshakes: one address gets so many and no more, each costs it an
// answer first, and members notice nothing.
func TestFloodOfHandshakes(t *testing.T) {
	var lines bytes.Buffer
	nodes, cfg := honestAnd(t, func(i int, cfg *Config) {
		cfg.HandshakesPerSecond, cfg.HandshakesBurst, cfg.StrangersPerSecond = 0.001, 10, 1000
		if i == 0 {
			cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
		}
	})
	const tries = 100
	in := 0
	for i := range tries {
		cfg := cfg
		cfg.Key = strangerKey(t, i)
		a, err := attack(t, cfg, nodes[0])
		if err == nil {
			in++
			_ = a.conn.CloseWithError(0, "")
		}
	}
	// Twice the burst: unproven addresses, then proven ones.
	if most := 2 * (10 + 2*4); in > most {
		t.Errorf("%d of %d handshakes ended well, want at most %d", in, tries, most)
	}
	if got := nodes[0].Stats.Refused[RefusedHandshakes].Load(); got < tries-40 {
		t.Errorf("%d refusals were counted, want about %d", got, tries-36)
	}
	honest(t, nodes)
	nodes[0].stop()
	if n := strings.Count(lines.String(), "peers refused"); n > 1 {
		t.Errorf("%d lines in the log, want 1:\n%s", n, lines.String())
	}
}

// TestMemberIsLetInWhileStrangersKnock: its own address is not counted among those of
// a flood from the same network.
func TestMemberIsLetInWhileStrangersKnock(t *testing.T) {
	nodes, cfg := honestAnd(t, func(i int, cfg *Config) {
		cfg.HandshakesPerSecond, cfg.HandshakesBurst, cfg.StrangersPerSecond = 0.001, 1, 1000
	})
	d := nodes[0].door
	from := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}
	for !d.mustProve(from, time.Now()) {
	}
	for d.knock(from, false, time.Now()) {
	}
	n := launch(t, cfg)
	nodes[0].book.mu.Lock()
	nodes[0].book.static[3] = n.Addr()
	nodes[0].book.index()
	nodes[0].book.mu.Unlock()
	if _, err := n.dial(context.Background(), n.members[0], nodes[0].Addr()); err != nil {
		t.Errorf("a member is turned away: %v", err)
	}
	if _, err := attack(t, cfg, nodes[0]); err == nil {
		t.Error("the same key from another port is not counted")
	}
}

// TestRefusalsCostOneLineAMinute: a flood writes its counts.
func TestRefusalsCostOneLineAMinute(t *testing.T) {
	var lines bytes.Buffer
	n := notice{log: slog.New(slog.NewTextHandler(&lines, nil))}
	now := time.Unix(1e9, 0)
	from := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 5}
	for i := range 10_000 {
		n.add(Refusal(i%3), from, errors.New("no"), now.Add(time.Duration(i)*10*time.Millisecond)) // 100 s
	}
	n.logGathered(now.Add(110 * time.Second)) // not yet
	n.logGathered(now.Add(130 * time.Second))
	n.logGathered(now.Add(time.Hour)) // nothing new
	var counts []string
	for line := range strings.Lines(lines.String()) {
		_, rest, _ := strings.Cut(line, "count=")
		count, _, _ := strings.Cut(rest, " ")
		counts = append(counts, count)
	}
	if want := []string{"1", "6000", "3999"}; !slices.Equal(counts, want) {
		t.Errorf("counts %v, want %v:\n%s", counts, want, lines.String())
	}
	if !strings.Contains(lines.String(), fmt.Sprintf("reasons=%q", "genesis unknown full")) {
		t.Errorf("reasons are missing:\n%s", lines.String())
	}
}

// TestMembersGoFirst: a piece for a guest waits while a member is being written to, and
// not for ever.
func TestMembersGoFirst(t *testing.T) {
	nodes, cfg := honestAnd(t, nil)
	cfg.Key = strangerKey(t, 0)
	a, err := attack(t, cfg, nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	a.greet()
	var l *link
	eventually(t, "in use", func() bool {
		if g := nodes[0].guests(); len(g) == 1 {
			l, _ = g[0].current()
		}
		return l != nil
	})
	e := &nodes[0].egress
	e.urgent.Add(1)
	began := time.Now()
	if err := l.afford(10); err != nil {
		t.Fatal(err)
	}
	if spent := time.Since(began); spent < yieldMax {
		t.Errorf("a piece left after %v beside a member that is being written to", spent)
	}
	e.urgent.Add(-1)
}

// TestMembersHostIsNoStranger: a member that calls from another port than it told, and a
// flood of strangers of other networks, which has used up what all may begin.
func TestMembersHostIsNoStranger(t *testing.T) {
	cfg := setup{testKeys(4), nil}.config(0)
	cfg.HandshakesPerSecond, cfg.HandshakesBurst, cfg.StrangersPerSecond = 4, 32, 1
	cfg.Addresses[cfg.Committee[2]] = "192.0.2.7:4001"
	b, now := newBook(&cfg), time.Unix(1e9, 0)
	d := newDoor(&cfg, now)
	at := func(ip byte, port int) *net.UDPAddr { return &net.UDPAddr{IP: net.IPv4(192, 0, 2, ip), Port: port} }
	for i := byte(100); d.knock(at(i, 1), false, now); i++ {
	}
	for from, want := range map[*net.UDPAddr][2]bool{at(7, 4001): {true, true}, at(7, 5): {false, true}, at(8, 4001): {false, false}} {
		exactly, host := b.known(addrPortOf(from))
		if [2]bool{exactly, host} != want {
			t.Errorf("%v: %v, %v, want %v", from, exactly, host, want)
		}
		if got := d.knock(from, host, now); got != host {
			t.Errorf("%v may begin: %v, want %v", from, got, host)
		}
	}
}
