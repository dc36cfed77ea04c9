package rent

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// dormantCrowd returns a world with n evicted actors, and what each had stored.
func dormantCrowd(t *testing.T, n int) (w *world, h chain.Height, crowd []chain.Address, entries []state.StorageChange) {
	w = newWorld(t)
	w.params.Rent.GraceEpochs, w.params.Rent.WarningEpochs = 1, 1
	w.block(1, func(b *Block) {
		for i := range n {
			var a chain.Address
			binary.BigEndian.PutUint32(a[4:], uint32(i+1))
			crowd = append(crowd, a)
			w.store(b, a, 10_300, 0)
		}
		w.must(funds.Credit(b.State, payer, rich))
		for _, c := range b.State.Delta().Accounts() {
			if c.Address == crowd[0] {
				entries = append(entries, c.Storage...)
			}
		}
	})
	for h = 1 + day; w.status(h, crowd[n-1]).State != Dormant; h += epoch {
		for range 1 + n/EvictionsPerBlock {
			w.block(h, nil)
			h++
		}
	}
	return w, h, crowd, entries
}

// TestRestorationsWait restores more actors in one block than a block compares:
// those that wait are compared like the first, with their place kept for them.
func TestRestorationsWait(t *testing.T) {
	const n = CommitsPerBlock + 1
	w, h, crowd, entries := dormantCrowd(t, n)
	restore := func(b *Block) {
		for i, a := range crowd {
			data := append([]state.StorageChange{}, entries...)
			if i == n-1 && b.Height == h { // the last one's is wrong at first
				data[0].Value = append([]byte{1}, data[0].Value[1:]...)
			}
			if w.status(b.Height, a).State == Dormant {
				w.spent(b.RestoreAll(a, payer, payer, data))
			}
		}
	}
	awake := func() (awake int) {
		for _, a := range crowd {
			if w.status(h, a).State != Dormant {
				awake++
			}
		}
		return awake
	}
	w.block(h, restore)
	last := crowd[n-1]
	w.block(h+1, func(b *Block) {
		for _, by := range []chain.Address{herd, payer} {
			if _, err := b.AbortRestore(last, by); !errors.Is(err, stored.ErrRestoring) {
				t.Errorf("%s aborts before the comparison: %v", by, err)
			}
		}
		if _, err := b.RestoreAll(last, payer, payer, entries); !errors.Is(err, stored.ErrRestoring) {
			t.Errorf("once more before the comparison: %v", err)
		}
	})
	if got := awake(); got != CommitsPerBlock {
		t.Errorf("after a block %d are awake, want %d", got, CommitsPerBlock)
	}
	paid := rich - w.balance(payer) - w.balance(chain.AddrRent)
	w.block(h+2, nil)
	if now := rich - w.balance(payer); now != paid || w.balance(chain.AddrRent) != 0 {
		t.Errorf("%d paid for the right ones, %d in all, %d kept", paid, now, w.balance(chain.AddrRent))
	}
	w.block(h+3, restore)
	w.block(h+4, nil)
	if got := awake(); got != n {
		t.Errorf("%d are awake of %d", got, n)
	}

	t.Run("all are right", func(t *testing.T) {
		w, h, crowd, entries := dormantCrowd(t, 2*n)
		w.block(h, func(b *Block) {
			for _, a := range crowd {
				w.spent(b.RestoreAll(a, payer, payer, entries))
			}
		})
		for i := range chain.Height(3) {
			w.block(h+1+i, func(b *Block) {
				for j, a := range crowd {
					place := h + 1 + chain.Height(j/CommitsPerBlock)
					if s := w.status(h, a); b.Height < place && s.State == Dormant {
						if _, err := b.BeginRestore(a, herd, b.Height+9); !errors.Is(err, stored.ErrRestoring) {
							t.Errorf("block %d, actor %d: another may begin: %v", i+1, j, err)
						}
						if _, err := b.AbortRestore(a, herd); !errors.Is(err, stored.ErrRestoring) {
							t.Errorf("block %d, actor %d: another may abort: %v", i+1, j, err)
						}
					}
				}
			})
		}
		for j, a := range crowd {
			if s := w.status(h+3, a); s.State == Dormant {
				t.Errorf("actor %d is dormant after the comparisons", j)
			}
		}
	})
}
