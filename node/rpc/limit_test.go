package rpc

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

func TestClientRates(t *testing.T) {
	now := time.Unix(1_000, 0)
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	c := newClientRates(10, time.Second, 2, time.Minute)
	take := func(client netip.Addr) int {
		n := 0
		for {
			if ok, wait := c.allow(client, now); !ok {
				if wait <= 0 || wait > time.Second {
					t.Errorf("wait of %v", wait)
				}
				return n
			}
			n++
		}
	}
	if n := take(a); n != 10 {
		t.Errorf("burst of %d, want 10", n)
	}
	now = now.Add(500 * time.Millisecond)
	if n := take(a); n != 5 {
		t.Errorf("%d after half a period, want 5", n)
	}
	if n := take(b); n != 10 {
		t.Errorf("another client gets %d, want 10", n)
	}
	// The table is full of spent buckets: the strangers of a network share one, and how
	// many there are is bounded.
	strangers := 0
	for i := range 50 {
		strangers += take(netip.MustParseAddr(fmt.Sprintf("2001:db8:1:%x::1", i)))
	}
	if strangers != 10 {
		t.Errorf("strangers of one network got %d together, want 10", strangers)
	}
	for i := range 20 * strangeBuckets {
		strangers += take(netip.MustParseAddr(fmt.Sprintf("2001:db8:%x::1", i+1)))
	}
	if strangers != 10*strangeBuckets {
		t.Errorf("all strangers got %d together, want %d", strangers, 10*strangeBuckets)
	}
	if len(c.hosts.known) != 2 {
		t.Errorf("%d clients remembered, want 2", len(c.hosts.known))
	}
	now = now.Add(time.Minute) // a and b are full again and forgotten for c
	if n := take(netip.MustParseAddr("10.0.2.1")); n != 10 {
		t.Errorf("a stranger gets %d, want 10", n)
	}
	var lifted *clientRates
	if ok, _ := lifted.allow(a, now); !ok {
		t.Error("a lifted limit refuses")
	}
}

func TestClientAddr(t *testing.T) {
	f := func(remote, host, network string) {
		t.Helper()
		if got := limitedBy(hostOf(remote)).String(); got != host {
			t.Errorf("limitedBy(%s) = %s, want %s", remote, got, host)
		}
		if got := remoteNetwork(remote).String(); got != network {
			t.Errorf("remoteNetwork(%s) = %s, want %s", remote, got, network)
		}
	}
	f("10.0.0.1:5", "10.0.0.1", "10.0.0.1")
	f("[::ffff:10.0.0.1]:5", "10.0.0.1", "10.0.0.1")
	f("[2001:db8:1:2:3:4:5:6]:5", "2001:db8:1:2::", "2001:db8:1::")
	f("@", "invalid IP", "invalid IP")
}

// TestAFloodOfHostsIsOneNetwork: one network with more hosts than the table remembers
// leaves their rates to strangers of others.
func TestAFloodOfHostsIsOneNetwork(t *testing.T) {
	now := time.Unix(1_000, 0)
	c := newClientRates(100, time.Second, 4096, time.Minute)
	flood := func() {
		for i := range 5_000 {
			host := netip.MustParseAddr(fmt.Sprintf("2001:db8:1:%x::1", i))
			for range 2 {
				c.allow(limitedBy(host), now)
			}
		}
	}
	served := 0
	for second := range 20 {
		now = now.Add(time.Second)
		flood()
		if ok, _ := c.allow(netip.MustParseAddr(fmt.Sprintf("198.51.100.%d", second)), now); ok {
			served++
		}
	}
	if served < 19 { // by chance one may share the bucket of the flood
		t.Errorf("%d of 20 strangers are served beside 5,000 hosts of one network", served)
	}
}

func TestParseUint(t *testing.T) {
	f := func(s string, want uint64, ok bool) {
		t.Helper()
		got, err := parseUint(s)
		if got != want || (err == nil) != ok {
			t.Errorf("parseUint(%q) = %d, %v", s, got, err)
		}
	}
	f("0", 0, true)
	f("18446744073709551615", 1<<64-1, true)
	f("18446744073709551616", 0, false)
	f("99999999999999999999", 0, false)
	f("", 0, false)
	f("00", 0, false)
	f("1 ", 0, false)
	f("1_0", 0, false)
	f("0x1", 0, false)
}

// TestForwardedClients: X-Forwarded-For is believed of trusted proxies alone, and
// from its end, up to the first address that is no proxy's.
func TestForwardedClients(t *testing.T) {
	s := &Server{cfg: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")}}}
	f := func(remote, want string, forwarded ...string) {
		t.Helper()
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = remote
		for _, line := range forwarded {
			r.Header.Add("X-Forwarded-For", line)
		}
		if got := s.client(r).String(); got != want {
			t.Errorf("%s, forwarded for %q: %s, want %s", remote, forwarded, got, want)
		}
	}
	f("192.0.2.1:5", "192.0.2.1")
	f("192.0.2.1:5", "192.0.2.1", "198.51.100.7") // a stranger's word
	f("10.1.2.3:5", "10.1.2.3")
	f("10.1.2.3:5", "198.51.100.7", "198.51.100.7")
	f("10.1.2.3:5", "198.51.100.7", "203.0.113.9, 198.51.100.7") // the first was sent by the client
	f("10.1.2.3:5", "198.51.100.7", "203.0.113.9", "198.51.100.7, 10.9.9.9")
	f("127.0.0.1:5", "2001:db8:1:2::", "[2001:db8:1:2:3::4]:77")
	f("127.0.0.1:5", "127.0.0.1", "unknown")
	f("127.0.0.1:5", "10.0.0.1", "198.51.100.7, nonsense, 10.0.0.1")
	f("127.0.0.1:5", "198.51.100.7", "::ffff:198.51.100.7")
}

// TestShares: a client gets its part, all together what there is, and what is given
// back can be had again.
func TestShares(t *testing.T) {
	a, b, c := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")
	s := newShares(10, 1, 50)
	take := func(client netip.Addr, n int64, want refused) held {
		t.Helper()
		h, why := s.acquire(client, n)
		if why != want {
			t.Errorf("%d for %s: %d, want %d", n, client, why, want)
		}
		return h
	}
	first := take(a, 3, granted)
	take(a, 3, shareOver)
	take(a, 2, granted) // half of what there is
	take(b, 3, shareOver)
	take(b, 2, granted) // half of what is left
	take(c, 4, allTaken)
	take(c, 2, shareOver)
	take(c, 1, granted)
	first.give()
	take(c, 2, granted)
	held{}.give() // of one who got nothing
	if s.taken != 7 || s.by[a] != 2 || s.by[c] != 3 {
		t.Errorf("%d taken, %v", s.taken, s.by)
	}
	newShares(3, 1, 1).acquire(a, 1) // there is one for everybody
	s = newShares(1<<62, 1, 100)
	take(a, 1<<62, granted)
}

// TestHowManyFillAShare: networks that take all they can get fill a limit only if there
// are many of them, and hosts of one network count as one.
func TestHowManyFillAShare(t *testing.T) {
	fill := func(limit int64, address string) (n int) {
		s := newShares(limit, 1, 25)
		for s.taken < limit && n < 1_000 {
			client := netip.MustParseAddr(fmt.Sprintf(address, n+1))
			for {
				if _, why := s.acquire(client, 1); why != granted {
					break
				}
			}
			n++
		}
		return n
	}
	for _, tt := range []struct {
		limit int64
		least int
	}{{64, 12}, {256, 16}, {1024, 20}} {
		if n := fill(tt.limit, "10.0.0.%d"); n < tt.least {
			t.Errorf("%d clients take all of %d, want %d at least", n, tt.limit, tt.least)
		}
	}
	if n := fill(64, "2001:db8:1:%x::1"); n < 1_000 {
		t.Errorf("%d hosts of one network take all", n)
	}
}

// TestDebt: a request may take more than there is while no other of its client does, up to a
// bound; the client has nothing until that is paid, and another has what it had.
func TestDebt(t *testing.T) {
	now, a := time.Unix(1000, 0), netip.MustParseAddr("10.0.0.1")
	c := newClientRates(10, time.Second, 5, time.Minute)
	one, two := &caller{client: a, rates: c}, &caller{client: a, rates: c}
	bill := func(who *caller, tokens float64, want time.Duration) {
		t.Helper()
		if ok, wait := c.bill(who, tokens, now); ok != (want == 0) || wait != want {
			t.Errorf("a bill of %v: %v, a wait of %v, want %v", tokens, ok, wait, want)
		}
	}
	bill(one, 5, 0)
	bill(two, 4, 0) // both are paid for
	bill(one, 10, 0)
	bill(two, 1, 900*time.Millisecond)
	bill(one, 5, 0) // it has begun and goes on
	if !c.owes(one, now) || c.owes(two, now) {
		t.Error("the wrong request owes")
	}
	if ok, wait, owes := c.spend(a, 1, now); ok || !owes || wait != 1500*time.Millisecond {
		t.Errorf("a debtor is served: %v, %v, owes %v", ok, wait, owes)
	}
	if ok, _ := c.allow(netip.MustParseAddr("10.0.0.2"), now); !ok {
		t.Error("another client pays for it")
	}
	if wait := c.settle(one, now); wait != 1400*time.Millisecond {
		t.Errorf("a wait of %v until nothing is owed", wait)
	}
	bill(two, 1, 1400*time.Millisecond) // nobody may begin to owe while something is owed
	now = now.Add(1500 * time.Millisecond)
	bill(two, 1<<30, 0)
	if wait := c.settle(two, now); wait != time.Minute {
		t.Errorf("a wait of %v for an endless debt", wait)
	}
	c.charge(a, 10, now) // what is done is owed in full
	if wait := c.settle(two, now); wait != 61*time.Second {
		t.Errorf("a wait of %v", wait)
	}
	bill(two, -5, 0)
	if ok, _ := c.allow(a, now.Add(62*time.Second)); !ok {
		t.Error("a debt is never over")
	}
	lifted := &caller{client: a}
	if ok, _ := lifted.rates.bill(lifted, 1<<30, now); !ok || lifted.rates.settle(lifted, now) != 0 || lifted.rates.owes(lifted, now) {
		t.Error("a lifted limit wants something")
	}
}

// TestDebtorsAreRemembered: a full table forgets nobody who owes, and those whose buckets are
// full again.
func TestDebtorsAreRemembered(t *testing.T) {
	now, a := time.Unix(1000, 0), netip.MustParseAddr("10.0.0.1")
	c := newClientRates(10, time.Second, 2, time.Minute)
	one := &caller{client: a, rates: c}
	c.bill(one, 1<<30, now)
	c.settle(one, now)
	for second := range 60 {
		now = now.Add(time.Second)
		for host := range 5 {
			c.allow(netip.MustParseAddr(fmt.Sprintf("10.1.%d.%d", second, host)), now)
		}
		if ok, _, owes := c.spend(a, 1, now); ok || !owes && second < 59 {
			t.Fatalf("after %d seconds a debt of a minute is forgotten", second+1)
		}
	}
	if c.hosts.known[a] == nil || len(c.hosts.known) != 2 {
		t.Errorf("remembered: %d", len(c.hosts.known))
	}
}

// TestNetworksHaveARate: the hosts of an IPv6 network have the rates of networkHosts of them
// together, in requests and in bytes; one of them has no more than another client.
func TestNetworksHaveARate(t *testing.T) {
	now := time.Unix(1000, 0)
	c := newClientRates(10, time.Second, 4096, time.Minute)
	host := func(i int) netip.Addr { return limitedBy(netip.MustParseAddr(fmt.Sprintf("2001:db8:1:%x::1", i))) }
	served := 0
	for i := range 1_000 {
		for range 20 {
			if ok, _ := c.allow(host(i), now); ok {
				served++
			}
		}
	}
	if served != 10*networkHosts {
		t.Errorf("a thousand hosts of one network are served %d times, want %d", served, 10*networkHosts)
	}
	now = now.Add(time.Second)
	owing := 0
	for i := range 1_000 {
		if ok, _ := c.bill(&caller{client: host(2_000 + i), rates: c}, 10*networkHosts+1, now); ok {
			owing++
		}
	}
	if owing != 1 {
		t.Errorf("%d hosts of one network owe at a time", owing)
	}
	if ok, _ := c.allow(netip.MustParseAddr("2001:db8:2::"), now); !ok {
		t.Error("another network is not served")
	}
}

// standIn is a connection that nothing is sent on.
type standIn struct {
	net.Conn
	remote net.TCPAddr
	closed bool
}

func (c *standIn) RemoteAddr() net.Addr { return &c.remote }
func (c *standIn) Close() error         { c.closed = true; return nil }

// TestLongestIdleGoesFirst fills a table: the longest idle connection makes room, of
// the same client where that has its share; without an idle one there are spare
// places, and then none.
func TestLongestIdleGoesFirst(t *testing.T) {
	var stats Stats
	table := newConnTable(4, 50, func(a netip.Addr) bool { return a == netip.MustParseAddr("10.9.9.9") }, &stats, slog.New(slog.DiscardHandler))
	open := func(ip string) (*standIn, *conn) {
		c := &standIn{remote: net.TCPAddr{IP: net.ParseIP(ip), Port: 5}}
		one, ok := table.admit(c)
		if ok != (one != nil) {
			t.Fatal("half admitted")
		}
		if ok {
			table.changed(one, http.StateActive)
		}
		return c, one
	}
	idle := func(c *conn, ago time.Duration) {
		table.changed(c, http.StateIdle)
		c.idle = c.idle.Add(-ago)
	}
	a1, at1 := open("10.0.0.1")
	idle(at1, 3*time.Second)
	a2, at2 := open("10.0.0.1")
	idle(at2, 2*time.Second)
	b1, bt1 := open("10.0.0.2")
	idle(bt1, 5*time.Second)
	b2, bt2 := open("10.0.0.2")
	if open("10.0.0.1"); !a1.closed || a2.closed || b1.closed || b2.closed {
		t.Fatal("a client beyond its share does not close its own longest idle connection")
	}
	if open("10.0.0.3"); !b1.closed || a2.closed || b2.closed {
		t.Fatal("a full table does not close the longest idle connection")
	}
	table.changed(at2, http.StateActive)
	_, spare := open("10.0.0.3")
	if spare == nil || !spare.spare || a2.closed || b2.closed || bt2.spare {
		t.Fatal("no spare place in a table without idle connections")
	}
	for range spareConnsEach - 1 {
		open("10.0.0.3")
	}
	if _, one := open("10.0.0.3"); one != nil {
		t.Error("one client has more than its spare places")
	}
	for range 3 {
		if _, one := open("10.9.9.9"); one == nil {
			t.Error("a trusted proxy is held to the share of one client")
		}
	}
	if stats.ConnsEvicted.Load() != 2 || stats.ConnsRefused.Load() != 1 {
		t.Errorf("%d evicted, %d refused", stats.ConnsEvicted.Load(), stats.ConnsRefused.Load())
	}
	for c := range table.conns {
		_ = c.Close()
		_ = c.Close() // gives its place back once
	}
	if len(table.conns) != 0 || len(table.by) != 0 || table.spare != 0 || table.busyAll != 0 || len(table.busyBy) != 0 {
		t.Errorf("left behind: %d, %v, %d spare, %d busy", len(table.conns), table.by, table.spare, table.busyAll)
	}
}
