package parallel

import (
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestFilter: of what was written a filter says so whatever else was; of other
// places mostly that they were not.
func TestFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 50))
	address := func() (a chain.Address) {
		if rng.IntN(4) == 0 { // a system's
			a[19] = byte(rng.IntN(40))
			return a
		}
		for i := range a {
			a[i] = byte(rng.Uint32())
		}
		return a
	}
	key := func() state.StorageKey {
		b := make([]byte, 1+rng.IntN(40))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return state.StorageKey(b)
	}
	const txs = 300
	f := newFilter(txs)
	var all []place
	for range txs {
		c := &state.Change{AccountChange: state.AccountChange{Address: address()}}
		switch rng.IntN(3) {
		case 0:
			c.Account = &state.Account{}
		case 1:
			c.Credit = 1
		}
		if c.Account != nil || c.Credit != 0 {
			all = append(all, place{kind: ofAccount, addr: c.Address}, place{kind: ofCodeAndMeta, addr: c.Address})
		}
		for range rng.IntN(3) {
			c.Storage = append(c.Storage, state.StorageChange{Key: key()})
		}
		for i := range c.Storage {
			all = append(all, place{ofSlot, c.Address, c.Storage[i].Key})
		}
		if len(c.Storage) > 0 {
			for _, k := range []kind{ofSize, ofRoot, ofRange} {
				all = append(all, place{kind: k, addr: c.Address})
			}
		}
		f.addChange(c)
	}
	for i := range all {
		if !f.may(&all[i]) {
			t.Fatalf("%+v was written", all[i])
		}
	}
	wrong := 0
	const asked = 10_000
	for range asked {
		p := place{kind: ofSlot, addr: address(), key: key()}
		if f.may(&p) {
			wrong++
		}
	}
	if wrong > asked/10 {
		t.Errorf("%d of %d places that nobody wrote", wrong, asked)
	}
	f.addChange(&state.Change{AccountChange: state.AccountChange{Address: address(), Cleared: true}})
	if p := (place{kind: ofSlot, addr: address(), key: key()}); !f.may(&p) {
		t.Error("a storage was cleared, and a slot may not have been in it")
	}
}
