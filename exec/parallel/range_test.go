package parallel

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestScanIsARead: an execution that has scanned a storage is valid as long as nobody
// wrote to it, be it a key that was not there. All messages to an actor conflict
// over its budget as well, so that blocks alone would not show it.
func TestScanIsARead(t *testing.T) {
	mine, other := chain.Address{1}, chain.Address{2}
	base := state.NewOverlay(state.Empty{})
	for i := range 10 {
		base.SetStorage(mine, state.StorageKey(fmt.Sprint("\x01k", 2*i)), []byte{byte(i)})
	}
	for _, row := range []struct {
		what   string
		write  func(o *state.Overlay)
		stands bool
	}{
		{"nothing", func(*state.Overlay) {}, true},
		{"a key between", func(o *state.Overlay) { o.SetStorage(mine, "\x01k3", []byte{1}) }, false},
		{"a key behind all", func(o *state.Overlay) { o.SetStorage(mine, "\x01l", []byte{1}) }, false},
		{"another value", func(o *state.Overlay) { o.SetStorage(mine, "\x01k4", []byte{9}) }, false},
		{"a removal", func(o *state.Overlay) { o.SetStorage(mine, "\x01k4", nil) }, false},
		{"the end of the storage", func(o *state.Overlay) { o.DeleteAccount(mine) }, false},
		{"another storage", func(o *state.Overlay) { o.SetStorage(other, "\x01k4", nil) }, true},
		{"a balance", func(o *state.Overlay) { o.SetAccount(mine, state.Account{Balance: 5}) }, true},
	} {
		s := newCommitted(base, 60)
		v := &view{committed: s}
		attempt := state.NewDeltaOverlay(v)
		attempt.SetStorage(mine, "\x01k0", nil)
		if list, err := attempt.Scan(mine, state.Span{Prefix: "\x01k", Entries: 3, Bytes: 100}); err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		writer := state.NewOverlay(state.Empty{})
		row.write(writer)
		if err := s.commit(0, writer, &view{committed: s}); err != nil {
			t.Fatal(err)
		}
		if got := s.validate(v); got != row.stands {
			t.Errorf("after %s the attempt stands: %v, want %v", row.what, got, row.stands)
		}
	}
}

// TestScansOfCommitted commits random writes one after the other: executions see them
// all, and one that is valid would see the same again.
func TestScansOfCommitted(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		base := state.NewOverlay(state.Empty{})
		s, plain := newCommitted(base, 60), state.NewOverlay(state.Empty{})
		addr := func() chain.Address { return chain.Address{byte(rng.IntN(3))} }
		key := func() state.StorageKey { return state.StorageKey([]byte{1, byte(rng.IntN(60))}) }
		span := state.Span{Prefix: "\x01", Entries: 40, Bytes: 30}
		for i := range 60 {
			early := &view{committed: s}
			a := addr()
			before, err := early.Scan(a, span)
			if err != nil {
				t.Fatal(err)
			}
			v := &view{committed: s}
			o := state.NewDeltaOverlay(v)
			for range rng.IntN(40) {
				a, k, value := addr(), key(), []byte{byte(i)}
				if rng.IntN(2) == 0 {
					value = nil
				}
				o.SetStorage(a, k, value)
				plain.SetStorage(a, k, value)
			}
			if err := s.commit(i, o, v); err != nil {
				t.Fatal(err)
			}
			after, err := (&view{committed: s}).Scan(a, span)
			want, _ := plain.Scan(a, span)
			if err != nil || !reflect.DeepEqual(after, want) {
				t.Fatalf("seed %d, settled %d: %q, %v, want %q", seed, i, after, err, want)
			}
			if s.validate(early) && !reflect.DeepEqual(before, after) {
				t.Fatalf("seed %d, settled %d: %q stands, now it is %q", seed, i, before, after)
			}
		}
	}
}
