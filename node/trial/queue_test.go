package trial

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// TestWhoTookLittleGoesFirst: one who asks for the first time waits for no trial of those
// who keep the workers busy, however many they are, and among these nobody is forgotten.
func TestWhoTookLittleGoesFirst(t *testing.T) {
	const busy, long = 12, 2 * time.Second
	cfg := DefaultConfig()
	q := newQueue(&cfg)
	put := func(client netip.Addr) {
		if !q.put(job{client: client}) {
			t.Fatalf("%s is refused", client)
		}
	}
	turns := map[netip.Addr]int{}
	for i := range busy {
		put(netip.MustParseAddr(fmt.Sprintf("10.0.0.%d", i+1)))
	}
	for range 10 * busy {
		j, _ := q.dequeue(t.Context())
		turns[j.client]++
		q.done(j.client, long)
		put(j.client) // and at once the next
	}
	for client, n := range turns {
		if n < 9 || n > 11 {
			t.Errorf("%s had %d turns of %d, with as many for all", client, n, 10*busy)
		}
	}
	honest := netip.MustParseAddr("10.0.1.1")
	for range 5 {
		put(honest)
		j, _ := q.dequeue(t.Context())
		if j.client != honest {
			t.Fatalf("%s goes before one who took next to nothing", j.client)
		}
		q.done(honest, 10*time.Millisecond)
	}
	for i := range 100_000 { // who comes once is forgotten
		c := netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)})
		q.held[c], q.running[c] = 1, 1
		q.done(c, 2*tookLeast)
	}
	if most := int(2 * tookKept / tookLeast); len(q.took) > most {
		t.Errorf("%d clients are remembered, want at most %d", len(q.took), most)
	}
}
