package rpc

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// slots is a counting limit that never waits.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// take reports whether a slot was free; the caller that got one gives it back.
func (s slots) take() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s slots) give() { <-s }

// clientRates is a token bucket per client address. A bucket holds one period's
// worth of requests, so a client may burst that much after a pause.
//
// At most max clients are remembered. When the table is full the clients whose
// buckets have refilled are forgotten, which loses nothing; if none has, a
// stranger shares one common bucket, so a flood of addresses cannot grow the
// table or reset the buckets of those already in it.
type clientRates struct {
	perPeriod float64
	period    time.Duration
	max       int

	mu       sync.Mutex // guards all below
	buckets  map[netip.Addr]*bucket
	strange  bucket
	lastScan time.Time
}

type bucket struct {
	tokens float64
	at     time.Time
}

// newClientRates returns nil, which allows everything, if perPeriod is 0.
func newClientRates(perPeriod int, period time.Duration, maxClients int) *clientRates {
	if perPeriod == 0 {
		return nil
	}
	return &clientRates{
		perPeriod: float64(perPeriod),
		period:    period,
		max:       maxClients,
		buckets:   make(map[netip.Addr]*bucket),
	}
}

// allow takes a token of the client if there is one, else it returns how long
// until there is.
func (c *clientRates) allow(client netip.Addr, now time.Time) (bool, time.Duration) {
	return c.spend(client, 1, now)
}

// spend is allow for a request that costs several tokens, or as many as the
// bucket can hold.
func (c *clientRates) spend(client netip.Addr, cost int, now time.Time) (bool, time.Duration) {
	if c == nil {
		return true, 0
	}
	price := min(float64(cost), c.perPeriod)
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucketOf(client, now)
	c.refill(b, now)
	if b.tokens >= price {
		b.tokens -= price
		return true, 0
	}
	return false, time.Duration((price - b.tokens) / c.perPeriod * float64(c.period))
}

func (c *clientRates) refill(b *bucket, now time.Time) {
	if b.at.IsZero() {
		b.tokens = c.perPeriod
	} else if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(c.perPeriod, b.tokens+c.perPeriod*float64(passed)/float64(c.period))
	}
	b.at = now
}

func (c *clientRates) bucketOf(client netip.Addr, now time.Time) *bucket {
	if b, ok := c.buckets[client]; ok {
		return b
	}
	// A scan costs max steps, so it runs at most once a period.
	if len(c.buckets) >= c.max && now.Sub(c.lastScan) >= c.period {
		c.lastScan = now
		for addr, b := range c.buckets {
			if now.Sub(b.at) >= c.period {
				delete(c.buckets, addr)
			}
		}
	}
	if len(c.buckets) >= c.max {
		return &c.strange
	}
	b := &bucket{}
	c.buckets[client] = b
	return b
}

// clientAddr returns the address a limit is counted on: an IPv4 address, or the
// /64 network that one IPv6 host owns.
func clientAddr(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{} // all odd peers (tests, unix sockets) share a bucket
	}
	addr := ap.Addr().Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// limitedListener lets at most a number of accepted connections be open; more
// wait in the system's listen queue.
type limitedListener struct {
	net.Listener
	open    slots
	closed  chan struct{}
	closing sync.Once
}

func limitListener(l net.Listener, maxConns int) *limitedListener {
	return &limitedListener{Listener: l, open: newSlots(maxConns), closed: make(chan struct{})}
}

// Accept waits for a free slot, then for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		l.open.give()
		return nil, err
	}
	return &limitedConn{Conn: conn, open: l.open}, nil
}

// Close ends Accept, also one that waits for a slot.
func (l *limitedListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	open  slots
	close sync.Once
}

// Close gives the slot back once.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.close.Do(c.open.give)
	return err
}
