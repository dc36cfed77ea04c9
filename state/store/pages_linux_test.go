package store

import (
	"runtime"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

func (p *pages) mapped() (bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.pieces {
		bytes += len(b)
	}
	return bytes
}

// TestForestMemoryGoesBack: as long as a forest can be reached, its memory is
// mapped, however often the collector runs; afterwards it is not.
func TestForestMemoryGoesBack(t *testing.T) {
	p := &pages{}
	f := newForest(2, p)
	d := state.NewDelta()
	for i := range 1000 {
		d.SetAccount(chain.Address{byte(i), byte(i >> 8)}, state.Account{Nonce: 1, Meta: make([]byte, 200)})
	}
	im, err := f.Apply(f.EmptyImage(), d)
	check(t, err)
	for range 3 {
		runtime.GC()
	}
	if n := p.mapped(); int64(n) < f.Footprint().Bytes {
		t.Fatalf("%d bytes are mapped for a forest of %d", n, f.Footprint().Bytes)
	}
	if a, ok := f.Account(im, tree.AccountKey(chain.Address{7})); !ok || len(a.Meta) != 200 {
		t.Fatalf("account %+v, %v", a, ok)
	}
	f = nil
	for deadline := time.Now().Add(time.Minute); p.mapped() > 0; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are still mapped", p.mapped())
		}
	}
}
