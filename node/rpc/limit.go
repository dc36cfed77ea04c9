package rpc

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// clientRates is a token bucket per client address. A bucket holds one period's
// worth of requests, so a client may burst that much after a pause.
//
// At most max clients are remembered. When the table is full the clients whose
// buckets have refilled are forgotten, which loses nothing; if none has, a stranger
// shares one of some common buckets with other networks that nobody can choose, so a
// flood of addresses cannot grow the table, reset the buckets of those already in it,
// or empty those of all strangers.
type clientRates struct {
	perPeriod float64
	period    time.Duration
	max       int

	mu       sync.Mutex // guards all below
	buckets  map[netip.Addr]*bucket
	strange  [strangeBuckets]bucket
	seed     maphash.Seed
	lastScan time.Time
}

// strangeBuckets are shared by the networks that the table has no room for.
const strangeBuckets = 512

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
		seed:      maphash.MakeSeed(),
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

// debtPeriods is how many periods' worth a client may owe.
const debtPeriods = 10

// charge takes tokens for what turned out to cost more than was paid before. The
// bucket may be overdrawn; it returns how long until it is not.
func (c *clientRates) charge(client netip.Addr, cost int, now time.Time) time.Duration {
	if c == nil || cost == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucketOf(client, now)
	c.refill(b, now)
	b.tokens = max(b.tokens-float64(cost), -debtPeriods*c.perPeriod)
	return time.Duration(max(0, -b.tokens) / c.perPeriod * float64(c.period))
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
			if now.Sub(b.at) >= c.period*(1+debtPeriods) { // it is full, whatever it owed
				delete(c.buckets, addr)
			}
		}
	}
	if len(c.buckets) >= c.max {
		return &c.strange[maphash.Comparable(c.seed, networkOf(client))%strangeBuckets]
	}
	b := &bucket{}
	c.buckets[client] = b
	return b
}
