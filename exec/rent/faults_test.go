package rent

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// faulty is a state that goes wrong at one of its reads: it fails, or a record in
// it has a byte more than was written.
type faulty struct {
	state.View
	at    int // counts down
	fail  bool
	wrong bool // it has
}

var errDisk = errors.New("disk is gone")

func (f *faulty) turn() bool { f.at--; return f.at == -1 }

func (f *faulty) Account(a chain.Address) (state.Account, bool, error) {
	acct, ok, err := f.View.Account(a)
	if f.fail && f.turn() {
		f.wrong, err = true, errDisk
	}
	return acct, ok, err
}

func (f *faulty) Storage(a chain.Address, key state.StorageKey) ([]byte, error) {
	b, err := f.View.Storage(a, key)
	switch {
	case f.fail && f.turn():
		f.wrong = true
		return nil, errDisk
	case !f.fail && a == chain.AddrRent && b != nil && f.turn():
		f.wrong = true
		return append(b[:len(b):len(b)], 0), err
	}
	return b, err
}

// TestFaultsAreNoVerdicts has every read of every call go wrong: nobody is evicted,
// or told that something is not so, because it could not be read.
func TestFaultsAreNoVerdicts(t *testing.T) {
	due := newWorld(t) // at 1+day: a charge that is missed, one that is paid, a bond
	due.block(1, func(b *Block) {
		due.store(b, herd, 20_480, 0)
		due.store(b, payer, 20_480, rich)
		_, _, err := b.Bond(payer, 2<<20)
		due.must(err)
	})
	late := newWorld(t) // at last: a warning and an eviction
	late.params.Rent.GraceEpochs, late.params.Rent.WarningEpochs = 1, 1
	late.block(1, func(b *Block) { late.store(b, herd, 20_480, 0) })
	late.block(1+day, nil)
	last := chain.Height(1 + day + 3*epoch)
	bonded := newWorld(t) // the same, with a bond instead of a storage
	bonded.params.Rent.GraceEpochs, bonded.params.Rent.WarningEpochs = 1, 1
	bonded.block(1, func(b *Block) {
		bonded.store(b, herd, 0, 0)
		more, _, err := b.Bond(herd, 2<<20)
		bonded.must(err)
		bonded.must(funds.Credit(b.State, chain.AddrRent, more))
	})
	bonded.block(1+day, nil)
	gone, h, entries := evictedHerd(t)
	back, _, _ := evictedHerd(t)
	back.block(h+1, func(b *Block) { back.spent(b.RestoreAll(herd, payer, payer, entries)) })
	wrong, _, _ := evictedHerd(t)
	wrong.block(h+1, func(b *Block) { wrong.spent(b.RestoreAll(herd, payer, payer, entries[1:])) })
	chunks, _, _ := evictedHerd(t)
	chunks.block(h+1, func(b *Block) {
		chunks.spent(b.BeginRestore(herd, payer, h+9))
		chunks.must(b.Put(herd, payer, Arrange(entries)))
	})

	begin := func(b *Block) error { _, err := b.Begin(); return err }
	for _, tt := range []struct {
		name string
		w    *world
		h    chain.Height
		call func(b *Block) error
	}{
		{"charges", due, 1 + day, begin},
		{"the rate", due, day, begin},
		{"an eviction", late, last, begin},
		{"a foreclosure", bonded, last, begin},
		{"a comparison", back, h + 2, begin},
		{"a comparison that fails", wrong, h + 2, begin},
		{"the end", due, 2, func(b *Block) error {
			b.State.SetStorage(herd, state.NewStorageKey(state.VMNamespacePVM, []byte("more")), []byte{1})
			b.State.SetStorage(chain.Address{9}, state.NewStorageKey(state.VMNamespacePVM, nil), make([]byte, 20_480))
			return b.End(b.State)
		}},
		{"status", due, 2, func(b *Block) error { _, err := b.Status(herd); return err }},
		{"status of the dormant", gone, h + 1, func(b *Block) error { _, err := b.Status(herd); return err }},
		{"cost", due, 2, func(b *Block) error { _, _, err := b.Cost(herd, 1); return err }},
		{"prepay", due, 2, func(b *Block) error { return b.Prepay(herd, 1) }},
		{"reserved", due, 2, func(b *Block) error { _, err := b.Reserved(herd); return err }},
		{"quota", due, 2, func(b *Block) error { _, err := b.Quota(payer); return err }},
		{"bond", due, 2, func(b *Block) error { _, _, err := b.Bond(chain.Address{9}, 2<<20); return err }},
		{"cost of waking", gone, h + 1, func(b *Block) error { _, err := b.RestoreCost(herd); return err }},
		{"begin", gone, h + 1, func(b *Block) error { _, err := b.BeginRestore(herd, payer, h+5); return err }},
		{"put", chunks, h + 2, func(b *Block) error {
			if err := b.Put(herd, payer, entries); !errors.Is(err, stored.ErrTooMuch) {
				return err
			}
			return nil
		}},
		{"commit", chunks, h + 2, func(b *Block) error { _, err := b.CommitRestore(herd, payer); return err }},
		{"abort", chunks, h + 2, func(b *Block) error { _, err := b.AbortRestore(herd, payer); return err }},
		{"restore", gone, h + 1, func(b *Block) error { _, err := b.RestoreAll(herd, payer, payer, entries); return err }},
	} {
		for _, fail := range []bool{true, false} {
			want := ErrRecord
			if fail {
				want = errDisk
			}
			for at := range 1_000 {
				f := &faulty{View: tt.w, at: at, fail: fail}
				err := tt.call(&Block{State: state.NewOverlay(f), Params: &tt.w.params, Height: tt.h, Timers: noTimers})
				if !f.wrong {
					if err != nil {
						t.Errorf("%s: %v", tt.name, err)
					}
					break
				}
				if !errors.Is(err, want) {
					t.Errorf("%s, read %d: %v, want %v", tt.name, at, err, want)
				}
			}
		}
	}
}
