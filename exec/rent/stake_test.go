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

// evictedWorld is one in which the herd's storage of 60,000 bytes was evicted before the
// height that it returns, with its entries in their order, and restorations take a bond.
func evictedWorld(t *testing.T, bond chain.Wei) (*world, chain.Height, []state.StorageChange) {
	t.Helper()
	w := newWorld(t)
	var entries []state.StorageChange
	w.block(1, func(b *Block) { w.store(b, herd, 60_000, 0) })
	for n := range uint64(15) {
		k := state.NewStorageKey(state.VMNamespacePVM, binary.BigEndian.AppendUint64(nil, n))
		v, err := w.Storage(herd, k)
		w.must(err)
		entries = append(entries, state.StorageChange{Key: k, Value: v})
	}
	w.block(1+day, nil)
	h := chain.Height(1 + day + 241*epoch)
	w.block(h, nil)
	w.params.Rent.RestoreBond = bond
	return w, h, Arrange(entries)
}

// TestRivalsCannotKeepStorageOut: a rival with a hundred accounts is first in every block
// and begins anew whenever he may. He loses twice as much each time, so that the honest
// one, whose bond comes back, begins within a number of spans that grows with the
// logarithm of what the rival has.
func TestRivalsCannotKeepStorageOut(t *testing.T) {
	const bond, wealth = 1_000, 100 * 10_000 // 100 accounts of 10 bonds each
	w, h, entries := evictedWorld(t, bond)
	idle := w.params.Rent.RestoreIdleBlocks
	rival := func(n int) chain.Address { return chain.Address{0xcc, byte(n)} }
	pot := chain.Address{0xcd} // the rivals' money is where it is needed
	w.block(h+1, func(b *Block) {
		w.must(funds.Credit(b.State, pot, wealth))
		w.must(funds.Credit(b.State, payer, 1<<50))
	})
	begun, sessions := chain.Height(0), 0
	for at := h + 2; begun == 0; at++ {
		if at > h+2+chain.Height(12*(idle+1)) {
			t.Fatalf("kept out for %d blocks and %d sessions", at-h-2, sessions)
		}
		w.block(at, func(b *Block) {
			need, err := b.BondOf(herd)
			w.must(err)
			for n := range 100 {
				if funds.Move(b.State, pot, rival(n), min(need, wealth), at) != nil {
					break // he has less
				}
				_, err := b.BeginRestore(herd, rival(n), at+100)
				if err == nil {
					sessions++
					break
				}
				w.must(funds.Move(b.State, rival(n), pot, min(need, wealth), at))
			}
			_, err = b.BeginRestore(herd, payer, at+7_000)
			switch {
			case err == nil:
				begun = at
			case !errors.Is(err, stored.ErrRestoring):
				t.Fatal(err)
			}
		})
	}
	t.Logf("%d sessions in %d blocks", sessions, begun-h-2)
	before, at := w.balance(payer), begun
	s, err := StakeOf(w, herd)
	if err != nil || s.By != payer || s.Bond != bond<<sessions {
		t.Fatalf("stake %+v after %d sessions, %v", s, sessions, err)
	}
	for len(entries) > 0 { // slower than a span in all
		n := min(5, len(entries))
		at += chain.Height(idle)
		w.block(at, func(b *Block) {
			if _, err := b.BeginRestore(herd, rival(0), at+9); !errors.Is(err, stored.ErrRestoring) {
				t.Errorf("taken over: %v", err)
			}
			w.must(b.Put(herd, payer, entries[:n]))
		})
		entries = entries[n:]
	}
	w.block(at+1, func(b *Block) {
		_, err := b.CommitRestore(herd, payer)
		w.must(err)
	})
	if got := w.balance(payer); got != before+bond<<sessions || w.balance(chain.AddrRent) != 0 {
		t.Errorf("%d came back, %d are held", got-before, w.balance(chain.AddrRent))
	}
	if s, err := StakeOf(w, herd); err != nil || s != (Stake{}) {
		t.Errorf("a stake is left: %+v, %v", s, err)
	}
}

// TestBondsOfRestorations: who gets a bond back, what the next one is, and who may end
// one that brings nothing.
func TestBondsOfRestorations(t *testing.T) {
	const bond = 1_000
	w, h, entries := evictedWorld(t, bond)
	idle := chain.Height(w.params.Rent.RestoreIdleBlocks)
	other := chain.Address{0xcc}
	fresh := func(at chain.Height) *Block {
		return &Block{State: state.NewOverlay(w), Params: &w.params, Height: at, Timers: noTimers}
	}
	w.block(h+1, func(b *Block) {
		w.must(funds.Credit(b.State, payer, 1_500))
		w.must(funds.Credit(b.State, other, 10_000))
	})
	if _, err := fresh(h+2).BeginRestore(herd, chain.Address{0xce}, h+9); !errors.Is(err, funds.ErrShort) {
		t.Errorf("without a bond: %v", err)
	}
	w.block(h+2, func(b *Block) { w.spent(b.BeginRestore(herd, payer, h+7_000)) })
	if w.balance(payer) != 500 || w.balance(chain.AddrRent) != bond {
		t.Fatalf("%d left, %d held", w.balance(payer), w.balance(chain.AddrRent))
	}
	if _, err := fresh(h+2+idle).AbortRestore(herd, other); !errors.Is(err, stored.ErrNotRestoring) {
		t.Errorf("ended by another in time: %v", err)
	}
	if burned, err := fresh(h+3+idle).AbortRestore(herd, other); burned != bond || err != nil {
		t.Errorf("ended by another once it lapsed: %d, %v", burned, err)
	}
	if burned, err := fresh(h+3).AbortRestore(herd, payer); burned != bond || err != nil {
		t.Errorf("ended by its own: %d, %v", burned, err)
	}
	// A small part does not keep it, a large one does.
	b := fresh(h + 2 + idle)
	w.must(b.Put(herd, payer, entries[:1])) // of 4 KiB
	b.Height++
	if _, err := b.BeginRestore(herd, other, b.Height+9); err != nil {
		t.Errorf("after a part of %d bytes: %v", len(entries[0].Value), err)
	}
	if s, err := StakeOf(b.State, herd); err != nil || s.By != other || s.Bond != 2*bond || s.Failures != 1 {
		t.Errorf("then %+v, %v", s, err)
	}
	b = fresh(h + 2 + idle)
	w.must(b.Put(herd, payer, entries[:5]))
	b.Height += idle
	if _, err := b.BeginRestore(herd, other, b.Height+9); !errors.Is(err, stored.ErrRestoring) {
		t.Errorf("after a large part: %v", err)
	}
	// A failure is forgotten after a charge period.
	b = fresh(h + 3 + idle)
	_, err := b.AbortRestore(herd, other)
	w.must(err)
	for after, want := range map[chain.Height]chain.Wei{0: 2 * bond, day - 1: 2 * bond, day: bond, 9 * day: bond} {
		b.Height = h + 3 + idle + after
		if got, err := b.BondOf(herd); got != want || err != nil {
			t.Errorf("%d blocks after a failure: %d, want %d, %v", after, got, want, err)
		}
	}
}

// TestWrongStorageInOneMessage costs its bond, and returns what was to pay the rent.
func TestWrongStorageInOneMessage(t *testing.T) {
	const bond = 1_000
	w, h, entries := evictedWorld(t, bond)
	w.block(h+1, func(b *Block) {
		w.must(funds.Credit(b.State, payer, 1<<50))
		w.spent(b.RestoreAll(herd, payer, payer, entries[1:]))
	})
	w.block(h+2, nil)
	if got := w.balance(payer); got != 1<<50-bond || w.balance(chain.AddrRent) != 0 {
		t.Errorf("%d are left of %d, %d are held", got, uint64(1<<50), w.balance(chain.AddrRent))
	}
	w.block(h+3, func(b *Block) { w.spent(b.RestoreAll(herd, payer, payer, entries)) })
	if held := w.balance(chain.AddrRent); held < 2*bond {
		t.Errorf("%d are held", held)
	}
	before := w.burned
	w.block(h+4, nil)
	if got := w.balance(payer); got != 1<<50-bond-(w.burned-before) || w.balance(chain.AddrRent) != 0 {
		t.Errorf("%d are left, %d were burned, %d are held", got, w.burned-before, w.balance(chain.AddrRent))
	}
}
