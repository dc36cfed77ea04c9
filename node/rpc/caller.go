package rpc

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// caller is the client of a request, and what the request has cost so far beside
// its route's price.
type caller struct {
	client netip.Addr
	rates  *clientRates // nil: nothing is limited

	mu   sync.Mutex // guards read
	read int        // bytes billed

	// Guarded by the mutex of rates.
	over     []*bucket // that it takes more from than there is
	forgiven float64   // tokens that were billed and not taken, as the debt has a bound
}

type callerKey struct{}

// in returns a context in which c asks.
func (c *caller) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// ClientOf returns the network that shares are counted on, of the request that a
// [Source] is asked for; it is invalid where no client asks.
func ClientOf(ctx context.Context) netip.Addr {
	if c := callerOf(ctx); c != nil {
		return networkOf(c.client)
	}
	return netip.Addr{}
}

// Bill adds to the price of the request that a [Source] is asked for: n bytes of what is
// stored are about to be read or decoded for it. It is called before that work, with what
// the work takes at most where nobody knows better; less than no bytes are given back
// afterwards. The error is a [*Refusal] with [CodeOwed], upon which the work is not done:
// another request of the client has taken all that the client has, or the client owes.
//
// A request that has begun to owe may go on up to its own bounds. Whoever can end an answer
// early, with a cursor, does so at the error.
func Bill(ctx context.Context, n int) error {
	c := callerOf(ctx)
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	due := lookupsOf(c.read+n) - lookupsOf(c.read)
	if ok, wait := c.rates.bill(c, due, time.Now()); !ok {
		return owed(wait)
	}
	c.read += n
	return nil
}

// Billed is how many bytes were billed to a request.
func Billed(ctx context.Context) int {
	if c := callerOf(ctx); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.read
	}
	return 0
}

// Owes reports whether a request has taken more than its client had. A list that takes much
// for each of its lines ends there.
func Owes(ctx context.Context) bool {
	c := callerOf(ctx)
	return c != nil && c.rates.owes(c, time.Now())
}

// owed refuses a request of a client that owes for others.
func owed(wait time.Duration) *Refusal {
	r := refuse(http.StatusTooManyRequests, CodeOwed,
		"your requests have read more bytes than your rate pays for: try again in %v, and ask for old blocks, long lists and proofs one after the other",
		max(wait, time.Millisecond).Round(time.Millisecond))
	r.After = max(wait, time.Second)
	return r
}

// isOwed reports whether an error is that of [Bill].
func isOwed(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == CodeOwed
}

// billedBytes is how many bytes that were billed cost as much as one lookup: of
// a full block with its senders about a third of a millisecond.
const billedBytes = 4 << 10

// lookupsOf is what a request pays that was billed so many bytes. The first billedBytes are
// in the price of each.
func lookupsOf(n int) float64 { return float64(max(0, n-billedBytes)) / billedBytes }

// client returns the address that limits are counted on: the one that a request
// comes from. Of a request that a trusted proxy passes on it is the last address
// in X-Forwarded-For that is no trusted proxy's; what stands before it anybody
// can have written.
func (s *Server) client(r *http.Request) netip.Addr {
	peer := hostOf(r.RemoteAddr)
	if !s.trusted(peer) {
		return limitedBy(peer)
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := hostOf(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			break
		}
		if peer = hop; !s.trusted(hop) {
			break
		}
	}
	return limitedBy(peer)
}

// trusted reports whether an address is that of a proxy whose word is taken.
func (s *Server) trusted(addr netip.Addr) bool {
	for _, p := range s.cfg.Proxies {
		if addr.IsValid() && p.Contains(addr) {
			return true
		}
	}
	return false
}

// hostOf reads an address with or without port; one that cannot be read is
// invalid.
func hostOf(text string) netip.Addr {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{} // all odd peers (tests, unix sockets) share their limits
	}
	return addr.Unmap().WithZone("")
}

// limitedBy is an IPv4 address itself, or the /64 network that one IPv6 host owns: who
// has a rate.
func limitedBy(addr netip.Addr) netip.Addr { return prefixOf(addr, 64) }

// networkOf is an IPv4 address itself, or the /48 network that anybody gets who asks
// for one: who has a share.
func networkOf(addr netip.Addr) netip.Addr { return prefixOf(addr, 48) }

func prefixOf(addr netip.Addr, bits int) netip.Addr {
	if addr.Is6() {
		if p, err := addr.Prefix(bits); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// remoteNetwork is the network that shares of connections are counted on.
func remoteNetwork(remote string) netip.Addr { return networkOf(hostOf(remote)) }

// WithClient returns a context as that of a request of a client.
func WithClient(ctx context.Context, client netip.Addr) context.Context {
	return (&caller{client: client}).in(ctx)
}
