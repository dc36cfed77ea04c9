package rpc

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// connTable bounds the open connections, of all clients and of each. When it is
// full, a connection that waits for the head of a request, its first or a next one,
// makes room: an idle one is worth less than a client who has something to ask. It is the one that
// waits longest of the client who has most, so that nobody loses his for a stranger who
// opens many. Of those that are not idle a client may have a part of what others leave,
// as of everything (see shares).
//
// Behind the last place are a few spare ones, on which only the open routes
// (/health, /metrics) are answered: who watches the node sees it when clients
// have taken everything else.
type connTable struct {
	max, percent int
	exempt       func(netip.Addr) bool // proxies: they stand for many clients
	stats        *Stats
	log          *slog.Logger

	mu      sync.Mutex // guards all below, and the fields of connections that it names
	conns   map[*conn]struct{}
	by      map[netip.Addr]int // by network, as is busyBy
	busyBy  map[netip.Addr]int // of them, those that are not idle
	busyAll int
	spare   int
	told    time.Time // when the log last heard of connections without a place
	untold  uint64    // connections refused since then
}

// connsToldEvery is how often connections without a place may write a line.
const connsToldEvery = time.Minute

const (
	// connShareMax is the part of the connections that one client may have in any case,
	// in percent: also where a share is not meant to bind, another address gets in.
	connShareMax   = 50
	spareConns     = 32
	spareConnsEach = 4 // of one client
)

func newConnTable(most, percent int, exempt func(netip.Addr) bool, stats *Stats, log *slog.Logger) *connTable {
	return &connTable{
		max: most, percent: percent, exempt: exempt, stats: stats, log: log,
		conns: map[*conn]struct{}{}, by: map[netip.Addr]int{}, busyBy: map[netip.Addr]int{},
	}
}

// conn is a connection in the table.
type conn struct {
	net.Conn
	table  *connTable
	client netip.Addr // its network
	spare  bool
	closer sync.Once

	idle time.Time // since when, zero while it is not; guarded by table.mu
}

// admit gives a connection a place, or none.
func (t *connTable) admit(c net.Conn) (*conn, bool) {
	one := &conn{Conn: c, table: t, client: remoteNetwork(c.RemoteAddr().String()), idle: time.Now()}
	t.mu.Lock()
	var out *conn
	whole := len(t.conns) - t.spare
	switch {
	case t.over(one.client) && !t.exempt(hostOf(c.RemoteAddr().String())):
		if out = t.longestIdle(one.client); out == nil {
			one = t.spareFor(one)
		}
	case whole >= t.max:
		if out = t.longestIdle(netip.Addr{}); out == nil {
			one = t.spareFor(one)
		}
	}
	if out != nil {
		t.remove(out)
		t.stats.ConnsEvicted.Add(1)
	}
	if one != nil {
		t.conns[one] = struct{}{}
		t.by[one.client]++
	} else {
		t.stats.ConnsRefused.Add(1)
		t.logFull(c.RemoteAddr(), time.Now())
	}
	t.mu.Unlock()
	if out != nil {
		_ = out.Close() // it waited for a request that has not come
	}
	return one, one != nil
}

// logFull writes into the log that connections find no place, once a minute with their
// number. The caller holds mu.
func (t *connTable) logFull(from net.Addr, now time.Time) {
	t.untold++
	if now.Sub(t.told) < connsToldEvery {
		return
	}
	most := 0
	for _, n := range t.by {
		most = max(most, n)
	}
	t.log.Warn("rpc connections find no place", "count", t.untold, "last_address", from, "open", len(t.conns),
		"clients", len(t.by), "of_one_client", most)
	t.told, t.untold = now, 0
}

// over reports whether a client has its share: of all connections, or of those that
// others leave it beside their own that are not idle. The caller holds mu.
func (t *connTable) over(client netip.Addr) bool {
	share := func(of int) int { return max(1, of*t.percent/100) }
	return t.by[client] >= share(t.max) || t.busyBy[client] >= share(t.max-t.busyAll+t.busyBy[client])
}

// busy counts a connection that is not idle, or no longer. The caller holds mu.
func (t *connTable) busy(c *conn, n int) {
	t.busyAll += n
	if t.busyBy[c.client] += n; t.busyBy[c.client] == 0 {
		delete(t.busyBy, c.client)
	}
}

// spareFor gives one a spare place; it is nil if there is none. The caller holds
// mu.
func (t *connTable) spareFor(one *conn) *conn {
	n := 0
	for c := range t.conns {
		if c.spare && c.client == one.client {
			n++
		}
	}
	if t.spare >= spareConns || n >= spareConnsEach {
		return nil
	}
	one.spare = true
	t.spare++
	return one
}

// longestIdle returns the connection that has waited longest of those of a client, or
// of those of the client with most; nil if none waits. The caller holds mu.
func (t *connTable) longestIdle(client netip.Addr) (oldest *conn) {
	for c := range t.conns {
		if c.idle.IsZero() || c.spare || client.IsValid() && c.client != client {
			continue
		}
		if oldest != nil {
			if more := t.by[c.client] - t.by[oldest.client]; more < 0 || more == 0 && !c.idle.Before(oldest.idle) {
				continue
			}
		}
		oldest = c
	}
	return oldest
}

// remove takes a connection out. The caller holds mu.
func (t *connTable) remove(c *conn) {
	if _, there := t.conns[c]; !there {
		return
	}
	delete(t.conns, c)
	if c.spare {
		t.spare--
	}
	if c.idle.IsZero() {
		t.busy(c, -1)
	}
	if t.by[c.client]--; t.by[c.client] == 0 {
		delete(t.by, c.client)
	}
}

// changed notes what net/http says of a connection.
func (t *connTable) changed(c net.Conn, state http.ConnState) {
	one, ok := c.(*conn)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, there := t.conns[one]; !there {
		return
	}
	was := one.idle.IsZero()
	switch state {
	case http.StateNew:
		return // idle since it was accepted
	case http.StateIdle:
		one.idle = time.Now()
	default:
		one.idle = time.Time{}
	}
	switch is := one.idle.IsZero(); {
	case was && !is:
		t.busy(one, -1)
	case is && !was:
		t.busy(one, 1)
	}
}

// Close takes the connection out of the table once.
func (c *conn) Close() error {
	c.closer.Do(func() {
		c.table.mu.Lock()
		defer c.table.mu.Unlock()
		c.table.remove(c)
	})
	return c.Conn.Close()
}

// tableListener accepts the connections that the table has places for. Others are
// closed at once.
type tableListener struct {
	net.Listener
	table *connTable
}

func (l *tableListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if one, ok := l.table.admit(c); ok {
			return one, nil
		}
		_ = c.Close() // nothing was sent on it
	}
}

type spareKey struct{}

// connContext marks the requests of a spare connection.
func connContext(ctx context.Context, c net.Conn) context.Context {
	if one, ok := c.(*conn); ok && one.spare {
		return context.WithValue(ctx, spareKey{}, true)
	}
	return ctx
}

func onSpare(ctx context.Context) bool { return ctx.Value(spareKey{}) != nil }
