package rpc

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestClientRates(t *testing.T) {
	now := time.Unix(1_000, 0)
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	c := newClientRates(10, time.Second, 2)
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
	// The table is full of spent buckets: strangers share one, whoever they are.
	strangers := 0
	for i := range 50 {
		strangers += take(netip.MustParseAddr(fmt.Sprintf("10.0.1.%d", i)))
	}
	if strangers != 10 {
		t.Errorf("strangers got %d together, want 10", strangers)
	}
	if len(c.buckets) != 2 {
		t.Errorf("%d clients remembered, want 2", len(c.buckets))
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
	f := func(remote, want string) {
		t.Helper()
		if got := clientAddr(remote).String(); got != want {
			t.Errorf("clientAddr(%s) = %s, want %s", remote, got, want)
		}
	}
	f("10.0.0.1:5", "10.0.0.1")
	f("[::ffff:10.0.0.1]:5", "10.0.0.1")
	f("[2001:db8:1:2:3:4:5:6]:5", "2001:db8:1:2::")
	f("@", "invalid IP")
}

func TestConnectionsAreLimited(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limitListener(inner, 1)
	for range 2 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			conn.Close()
		}
		accepted <- err
	}()
	select {
	case <-accepted:
		t.Fatal("a second connection was accepted beside the first")
	case <-time.After(20 * time.Millisecond):
	}
	first.Close()
	first.Close() // gives its slot back once
	if err := <-accepted; err != nil {
		t.Errorf("no slot after a close: %v", err)
	}
	l.open.take()
	go func() { accepted <- l.Close() }()
	if _, err := l.Accept(); err == nil {
		t.Error("Accept goes on after Close")
	}
	if err := <-accepted; err != nil {
		t.Error(err)
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
