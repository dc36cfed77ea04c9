package rpc

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// clientRates are token buckets: one of each client, which holds one period's worth of
// requests, so that a client may burst that much after a pause; and one of each IPv6 /48,
// which holds networkHosts times as much, because whoever has one has 65,536 clients.
//
// A client may owe: one request of it at a time takes more than there is (see bill), and
// the client has nothing else until that is paid. So what all its requests together cost in
// a time is at most what the bucket gives in it, and the most expensive one. What several
// share, a network's bucket or a common one of strangers, comes to owe a period at most, so
// that one of them does not shut out the others for longer.
type clientRates struct {
	period  time.Duration
	debtMax time.Duration // what one request may come to owe, as time of the rate

	mu       sync.Mutex // guards all below
	hosts    buckets
	networks buckets // of IPv6 alone: the network of an IPv4 address is itself
}

// networkHosts is how many clients' rates an IPv6 /48 has.
const networkHosts = 8

// buckets are those of one kind of address. At most max are remembered. When the table is
// full those that have refilled are forgotten, which loses nothing; if none has, a stranger
// shares one of some common buckets with other networks that nobody can choose, so a
// flood of addresses cannot grow the table, reset the buckets of those already in it,
// or empty those of all strangers.
type buckets struct {
	perPeriod float64
	max       int
	known     map[netip.Addr]*bucket
	strange   [strangeBuckets]bucket
	seed      maphash.Seed
	lastScan  time.Time
}

// strangeBuckets are shared by the networks that the table has no room for.
const strangeBuckets = 512

type bucket struct {
	tokens float64
	at     time.Time
	over   *caller // the request that may take more than there is, until it ends; nil: none
}

// newClientRates returns nil, which allows everything, if perPeriod is 0.
func newClientRates(perPeriod int, period time.Duration, maxClients int, debtMax time.Duration) *clientRates {
	if perPeriod == 0 {
		return nil
	}
	table := func(hosts int) buckets {
		return buckets{
			perPeriod: float64(perPeriod) * float64(hosts), max: maxClients, known: map[netip.Addr]*bucket{}, seed: maphash.MakeSeed(),
		}
	}
	return &clientRates{period: period, debtMax: debtMax, hosts: table(1), networks: table(networkHosts)}
}

// allow takes a token of the client if there is one, else it returns how long
// until there is.
func (c *clientRates) allow(client netip.Addr, now time.Time) (bool, time.Duration) {
	ok, wait, _ := c.spend(client, 1, now)
	return ok, wait
}

// spend is allow for a request that costs several tokens, or as many as the
// bucket can hold. It reports whether a client that is refused owes for earlier requests.
func (c *clientRates) spend(client netip.Addr, cost int, now time.Time) (ok bool, wait time.Duration, owes bool) {
	if c == nil {
		return true, 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ok = true
	price := func(t *buckets) float64 { return min(float64(cost), t.perPeriod) }
	c.each(client, now, func(t *buckets, b *bucket, _ bool) {
		if b.tokens < price(t) {
			ok, owes = false, owes || b.tokens < 0
			wait = max(wait, c.until(t, b, price(t)))
		}
	})
	if ok {
		c.each(client, now, func(t *buckets, b *bucket, _ bool) { b.tokens -= price(t) })
	}
	return ok, wait, owes
}

// bill takes tokens for work that is about to be done for a request, beside its price. Where
// there are not enough, the request may take more than there is if no other request of the
// client does and nothing is owed yet; else it gets nothing, and how long until nothing is
// owed. A request that may go on may until settle. Less than no tokens are given back, as
// far as they were taken.
func (c *clientRates) bill(one *caller, tokens float64, now time.Time) (ok bool, wait time.Duration) {
	if c == nil || tokens == 0 {
		return true, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if tokens < 0 {
		back := min(-tokens, one.forgiven)
		one.forgiven -= back
		tokens += back
	}
	ok = true
	c.each(one.client, now, func(t *buckets, b *bucket, _ bool) {
		borrows := b.over == one || t == &c.networks && len(one.over) > 0
		if tokens > 0 && b.tokens < tokens && !borrows && (b.over != nil || b.tokens < 0) {
			ok, wait = false, max(wait, c.until(t, b, 0))
		}
	})
	if !ok {
		return false, wait
	}
	c.each(one.client, now, func(t *buckets, b *bucket, shared bool) {
		least := -t.perPeriod
		if !shared {
			least *= float64(c.debtMax) / float64(c.period)
		}
		left := max(b.tokens-tokens, min(b.tokens, least))
		if t == &c.hosts {
			if tokens > 0 && b.tokens < tokens && b.over != one {
				b.over = one
				one.over = append(one.over, b)
			}
			one.forgiven += max(0, left-(b.tokens-tokens))
		}
		b.tokens = left
	})
	return true, 0
}

// charge takes tokens for what is done already, whatever there is.
func (c *clientRates) charge(client netip.Addr, tokens float64, now time.Time) {
	if c == nil || tokens == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(client, now, func(_ *buckets, b *bucket, _ bool) { b.tokens -= tokens })
}

// settle ends a request: another of the client may take more than there is, once nothing is
// owed. It returns how long until then.
func (c *clientRates) settle(one *caller, now time.Time) (wait time.Duration) {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Those that it took from: another may have become the client's in the meantime.
	for _, b := range one.over {
		if b.over == one {
			b.over = nil
		}
	}
	one.over, one.forgiven = nil, 0
	c.each(one.client, now, func(t *buckets, b *bucket, _ bool) { wait = max(wait, c.until(t, b, 0)) })
	return wait
}

// owes reports whether a request has taken more than there was.
func (c *clientRates) owes(one *caller, now time.Time) (over bool) {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(one.client, now, func(*buckets, *bucket, bool) {}) // refills
	for _, b := range one.over {
		over = over || b.over == one && b.tokens < 0
	}
	return over
}

// until is how long a bucket takes to hold so many tokens.
func (c *clientRates) until(t *buckets, b *bucket, tokens float64) time.Duration {
	return time.Duration(max(0, tokens-b.tokens) / t.perPeriod * float64(c.period))
}

// each calls do with the bucket of a client and that of its network, refilled; shared says
// that others have it as well. The caller holds mu.
func (c *clientRates) each(client netip.Addr, now time.Time, do func(t *buckets, b *bucket, shared bool)) {
	b, strange := c.hosts.find(client, now, c.period)
	do(&c.hosts, b, strange)
	if client.Is6() {
		b, _ := c.networks.find(networkOf(client), now, c.period)
		do(&c.networks, b, true)
	}
}

func (t *buckets) refill(b *bucket, now time.Time, period time.Duration) {
	if b.at.IsZero() {
		b.tokens = t.perPeriod
	} else if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(t.perPeriod, b.tokens+t.perPeriod*float64(passed)/float64(period))
	}
	b.at = now
}

// find returns the bucket of an address, refilled, and whether it is one of strangers.
func (t *buckets) find(addr netip.Addr, now time.Time, period time.Duration) (b *bucket, strange bool) {
	b, ok := t.known[addr]
	// A scan costs max steps, so it runs at most once a period.
	if !ok && len(t.known) >= t.max && now.Sub(t.lastScan) >= period {
		t.lastScan = now
		for one, b := range t.known {
			if t.refill(b, now, period); b.tokens >= t.perPeriod && b.over == nil {
				delete(t.known, one)
			}
		}
	}
	switch {
	case ok:
	case len(t.known) >= t.max:
		b, strange = &t.strange[maphash.Comparable(t.seed, networkOf(addr))%strangeBuckets], true
	default:
		b = &bucket{}
		t.known[addr] = b
	}
	t.refill(b, now, period)
	return b, strange
}
