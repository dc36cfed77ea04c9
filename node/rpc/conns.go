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
// idle one is worth less than a client who has something to ask.
//
// Behind the last place are a few spare ones, on which only the open routes
// (/health, /metrics) are answered: who watches the node sees it when clients
// have taken everything else.
type connTable struct {
	max, each int
	exempt    func(netip.Addr) bool // proxies: they stand for many clients
	stats     *Stats

	mu    sync.Mutex // guards all below, and the fields of connections that it names
	conns map[*conn]struct{}
	by    map[netip.Addr]int
	spare int
}

const (
	spareConns     = 32
	spareConnsEach = 4 // of one client
)

func newConnTable(most, percent int, exempt func(netip.Addr) bool, stats *Stats) *connTable {
	return &connTable{
		max: most, each: max(1, most*percent/100), exempt: exempt, stats: stats,
		conns: map[*conn]struct{}{}, by: map[netip.Addr]int{},
	}
}

// conn is a connection in the table.
type conn struct {
	net.Conn
	table  *connTable
	client netip.Addr
	spare  bool
	closer sync.Once

	idle time.Time // since when, zero while it is not; guarded by table.mu
}

// admit gives a connection a place, or none.
func (t *connTable) admit(c net.Conn) (*conn, bool) {
	one := &conn{Conn: c, table: t, client: clientAddr(c.RemoteAddr().String())}
	t.mu.Lock()
	var out *conn
	whole := len(t.conns) - t.spare
	switch {
	case t.by[one.client] >= t.each && !t.exempt(hostOf(c.RemoteAddr().String())):
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
	}
	t.mu.Unlock()
	if out != nil {
		_ = out.Close() // it waited for a request that has not come
	}
	return one, one != nil
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
	if one.idle = (time.Time{}); state == http.StateIdle {
		one.idle = time.Now()
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
