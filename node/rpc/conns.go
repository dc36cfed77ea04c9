package rpc

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// connTable bounds the open connections, of all clients and of each. When it is
// full, the connection that has waited longest for a next request makes room: an
// idle one is worth less than a client who has something to ask. Of those that are not
// idle a client may have a part of what others leave, as of everything (see shares).
//
// Behind the last place are a few spare ones, on which only the open routes
// (/health, /metrics) are answered: who watches the node sees it when clients
// have taken everything else.
type connTable struct {
	max, percent int
	exempt       func(netip.Addr) bool // proxies: they stand for many clients
	stats        *Stats

	mu      sync.Mutex // guards all below, and the fields of connections that it names
	conns   map[*conn]struct{}
	by      map[netip.Addr]int // by network, as is busyBy
	busyBy  map[netip.Addr]int // of them, those that are not idle
	busyAll int
	spare   int
}

const (
	spareConns     = 32
	spareConnsEach = 4 // of one client
)

func newConnTable(most, percent int, exempt func(netip.Addr) bool, stats *Stats) *connTable {
	return &connTable{
		max: most, percent: percent, exempt: exempt, stats: stats,
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
	one := &conn{Conn: c, table: t, client: remoteNetwork(c.RemoteAddr().String())}
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
		t.busy(one, 1)
	} else {
		t.stats.ConnsRefused.Add(1)
	}
	t.mu.Unlock()
	if out != nil {
		_ = out.Close() // it waited for a request that has not come
	}
	return one, one != nil
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

// longestIdle returns the connection of a client, or of any, that has waited
// longest; nil if none waits. The caller holds mu.
func (t *connTable) longestIdle(client netip.Addr) (oldest *conn) {
	for c := range t.conns {
		if c.idle.IsZero() || c.spare || client.IsValid() && c.client != client {
			continue
		}
		if oldest == nil || c.idle.Before(oldest.idle) {
			oldest = c
		}
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
	if one.idle = (time.Time{}); state == http.StateIdle {
		one.idle = time.Now()
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
