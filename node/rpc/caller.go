package rpc

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
)

// caller is the client of a request, and what the request has cost so far beside
// its route's price.
type caller struct {
	client netip.Addr
	bytes  atomic.Int64
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

// Bill adds to the price of the request that a [Source] is asked for: n bytes of
// a stored block were read and decoded for it.
func Bill(ctx context.Context, n int) {
	if c := callerOf(ctx); c != nil {
		c.bytes.Add(int64(n))
	}
}

// Billed is how many bytes were billed to a request and are not paid yet.
func Billed(ctx context.Context) int {
	if c := callerOf(ctx); c != nil {
		return int(c.bytes.Load())
	}
	return 0
}

// billedBytes is how many bytes that were billed cost as much as one lookup: of
// a full block with its senders about a third of a millisecond.
const billedBytes = 4 << 10

// due returns what is to be paid in lookups, and leaves nothing but a rest that
// is too small.
func (c *caller) due() int {
	for {
		n := c.bytes.Load()
		if c.bytes.CompareAndSwap(n, n%billedBytes) {
			return int(n / billedBytes)
		}
	}
}

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
