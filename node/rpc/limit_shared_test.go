package rpc

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// TestStrangersBorrowLittle: what a stranger owes in a bucket that it shares is a period's
// worth, and is free again when its request ends, whatever became of the table meanwhile.
func TestStrangersBorrowLittle(t *testing.T) {
	now := time.Unix(1_000, 0)
	known, stranger := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	c := newClientRates(10, time.Second, 1, time.Minute)
	c.allow(known, now) // the table is full
	one := &caller{client: stranger, rates: c}
	if ok, _ := c.bill(one, 1_000, now); !ok || len(one.over) != 1 {
		t.Fatal("a stranger's first request may take more than there is")
	}
	shared := one.over[0]
	if shared.tokens != -10 {
		t.Errorf("strangers owe %v, want a period's 10", -shared.tokens)
	}
	now = now.Add(2 * time.Second) // the known one has refilled: the stranger has a bucket of its own now
	c.allow(stranger, now)
	if c.hosts.known[stranger] == nil {
		t.Fatal("the stranger has no bucket of its own")
	}
	c.settle(one, now)
	if shared.over != nil {
		t.Error("the strangers' bucket is taken for ever")
	}
}

// TestHostsOfANetworkBorrowApart: one host's debt keeps its network out for a second at the
// most, and a second host may owe beside it.
func TestHostsOfANetworkBorrowApart(t *testing.T) {
	now := time.Unix(1_000, 0)
	host := func(i int) *caller {
		return &caller{client: netip.MustParseAddr(fmt.Sprintf("2001:db8:1:%x::1", i))}
	}
	c := newClientRates(10, time.Second, 100, time.Minute)
	first, second := host(1), host(2)
	if ok, _ := c.bill(first, 500, now); !ok {
		t.Fatal("the first host is refused")
	}
	if ok, _ := c.bill(first, 50, now); !ok {
		t.Error("the request that owes may go on")
	}
	if ok, wait := c.bill(second, 50, now); ok || wait > time.Second {
		t.Errorf("the second host at once: %t, wait %v", ok, wait)
	}
	now = now.Add(time.Second)
	if ok, _ := c.bill(second, 50, now); !ok {
		t.Error("the second host a second later is refused")
	}
	if wait := c.settle(first, now); wait < 50*time.Second {
		t.Errorf("the first owes %v, want its own debt", wait)
	}
}

// TestWhatWasForgivenIsNotGivenBack: a bill beyond the bound of a debt is not taken, so that
// the part of it that comes back is not either.
func TestWhatWasForgivenIsNotGivenBack(t *testing.T) {
	now := time.Unix(1_000, 0)
	c := newClientRates(10, time.Second, 100, 6*time.Second)
	one := &caller{client: netip.MustParseAddr("10.0.0.1")}
	c.bill(one, 150, now) // 10 of its own and 60 of debt are taken
	c.bill(one, -100, now)
	if got := c.hosts.known[one.client].tokens; got != -40 {
		t.Errorf("%v tokens, want -40: 80 of the 100 were never taken", got)
	}
}
