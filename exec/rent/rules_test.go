package rent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

const perDay = chain.Wei(10_240_000_000 / 365) // of 20,480 bytes, rounded down

// set puts a record of an actor into the world.
func (w *world) set(h chain.Height, a chain.Address, change func(*Account)) {
	w.t.Helper()
	w.block(h, func(b *Block) {
		acct, err := Read(b.State, a)
		w.must(err)
		change(&acct)
		acct.store(b.State, a)
	})
}

// announced returns the data of the one event of a name.
func (w *world) announced(name string) []byte {
	w.t.Helper()
	var found [][]byte
	for _, e := range w.events {
		if e.Name == name && e.Emitter == chain.AddrRent {
			found = append(found, e.Data)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d times %s in %v", len(found), name, w.names())
	}
	return found[0]
}

func numbers(a chain.Address, n ...uint64) []byte {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 1+len(n)), a[:])
	for _, v := range n {
		b = cbor.AppendUint(b, v)
	}
	return b
}

func withHash(a chain.Address, h chain.Hash, n ...uint64) []byte {
	b := cbor.AppendBytes(cbor.AppendBytes(cbor.AppendArray(nil, 2+len(n)), a[:]), h[:])
	for _, v := range n {
		b = cbor.AppendUint(b, v)
	}
	return b
}

func TestBoundsOfPrices(t *testing.T) { // resolutions 3.5, 11.35: what does not fit saturates
	p := params.Default()
	price, dearest := Price{&p, Unit}, Price{&p, math.MaxUint64}
	if due, rest := dearest.daily(math.MaxUint64, 1); due != 50539024859478223 || rest != 221 { // 2^64 / 365
		t.Errorf("a day of everything is %d, rest %d", due, rest)
	}
	yearly := p
	yearly.Rent.ChargeBlocks = yearly.BlocksPerYear
	if due, rest := (Price{&yearly, math.MaxUint64}).daily(math.MaxUint64, 1); due != math.MaxUint64 || rest != 0 {
		t.Errorf("a year of everything is %d, rest %d", due, rest)
	}
	if got := price.WithFee(math.MaxUint64); got != math.MaxUint64 {
		t.Errorf("a fee on everything is %d", got)
	}
	if got := mulDiv(1<<63, 2, 1); got != math.MaxUint64 {
		t.Errorf("2^64 is %d", got)
	}
	tot := Totals{Bytes: math.MaxUint64, Factor: math.MaxUint64 - 1}
	if tot.advanceFactor(&p.Rent); tot.Factor != math.MaxUint64-1 {
		t.Errorf("the highest factor goes to %d", tot.Factor)
	}
	epochs := p.BlocksPerYear / p.EpochBlocks
	p.Rent.PricePerByteYear = 1
	for year, want := range map[uint64]chain.Wei{0: 0, 1: 1, epochs: 1, epochs + 1: 2, 2 * epochs: 2} {
		if got := price.PerEpoch(p.Rent.ExemptBytes+year, 0); got != want {
			t.Errorf("of %d a year an epoch takes %d, want %d", year, got, want)
		}
	}
}

// TestRateMoves has the rate follow the state once a rent epoch, and the next
// charge follow the rate.
func TestRateMoves(t *testing.T) { // whitepaper, "Market-Based Rent Pricing"; resolution 3.1
	w := newWorld(t)
	w.params.Rent.TargetStateBytes = 10_240 // there is twice as much
	w.block(day-1, func(b *Block) { w.store(b, herd, 20_480, rich) })
	w.block(day+1, nil)
	if tot, err := ReadTotals(w); err != nil || tot != (Totals{20_480, Unit, 0}) {
		t.Errorf("between epochs: %+v, %v", tot, err)
	}
	w.block(2*day, nil)
	if tot, err := ReadTotals(w); err != nil || tot != (Totals{20_480, Unit + Unit/8, 2 * day}) {
		t.Errorf("at an epoch: %+v, %v", tot, err)
	}
	before := w.burned
	w.block(3*day-1, nil)
	if paid := w.burned - before; paid < perDay*9/8 || paid > perDay*9/8+1 {
		t.Errorf("a day at the new rate is %d, at the old one %d", paid, perDay)
	}
}

// TestListedOnce has an actor grow while it is listed, shrink below what is exempt
// and grow again: it is charged on its day, and each time from anew.
func TestListedOnce(t *testing.T) { // resolution 3.3
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, rich) })
	grow := func(b *Block) {
		b.State.SetStorage(herd, state.NewStorageKey(state.VMNamespacePVM, []byte("more")), []byte{1})
	}
	w.block(day/2, grow)
	if acct, err := Read(w, herd); err != nil || acct.Listed != 1 {
		t.Errorf("grown: %+v, %v", acct, err)
	}
	w.block(1+day, nil)
	if w.burned < perDay || len(w.events) != 0 {
		t.Errorf("%d burned, %v", w.burned, w.names())
	}
	w.block(2+day, func(b *Block) { w.must(b.State.ClearStorage(herd)) })
	before := w.burned
	w.block(1+2*day, nil)
	if row, err := w.Storage(chain.AddrRent, accountKey(herd)); w.burned != before || row != nil || err != nil {
		t.Errorf("of nothing: %d burned, record %x, %v", w.burned-before, row, err)
	}
	for n := range uint64(2) {
		if row, _ := w.Storage(chain.AddrRent, charges.at(n)); row != nil {
			t.Errorf("row %d of the queue is left: %x", n, row)
		}
	}
	w.block(2+2*day, func(b *Block) { w.store(b, herd, 20_480, rich) })
	if acct, err := Read(w, herd); err != nil || acct != (Account{Listed: 2 + 2*day}) {
		t.Errorf("grown again: %+v, %v", acct, err)
	}
}

// TestDebtStaysListed: whoever owes is asked again, though nothing new comes due.
func TestDebtStaysListed(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	w.block(1+day, func(b *Block) {
		w.must(b.State.ClearStorage(herd))
		w.must(funds.Credit(b.State, herd, rich))
	})
	w.block(1+2*day, nil)
	if want := perDay + perDay/10; w.burned != want {
		t.Errorf("burned %d, want %d", w.burned, want)
	}
	if got, want := w.announced(EventSettled), numbers(herd, uint64(w.burned)); !bytes.Equal(got, want) {
		t.Errorf("announced %x, want %x", got, want)
	}
	w.block(1+3*day, nil)
	if acct, err := Read(w, herd); err != nil || acct != (Account{}) {
		t.Errorf("%+v, %v", acct, err)
	}
}

// TestOrderOfTheQueue: who is listed in one block is listed by address, whatever
// was written first.
func TestOrderOfTheQueue(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) {
		for i := range 20 {
			w.store(b, chain.Address{byte(1 + (i*7)%20)}, 10_300, rich)
		}
	})
	for n := range uint64(20) {
		if it, err := charges.item(w, n); err != nil || it.Actor != (chain.Address{byte(n + 1)}) {
			t.Errorf("place %d: %s, %v", n, it.Actor, err)
		}
	}
	o := state.NewOverlay(w)
	if due, err := charges.push(o, item{herd, 0}); due != 1 || err != nil {
		t.Errorf("behind the last, which waits from 1: %d, %v", due, err)
	}
}

// TestPartlyPrepaid: what is prepaid is taken first, also from who misses the rest.
func TestPartlyPrepaid(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	w.set(2, herd, func(a *Account) { a.Prepaid = 1_000 })
	w.block(1+day, nil)
	acct, err := Read(w, herd)
	if want := perDay - 1_000; err != nil || acct.Debt != want || acct.Prepaid != 0 || acct.Since != 1+day {
		t.Errorf("%+v, %v; want a debt of %d", acct, err, want)
	}
	if got, want := w.announced(EventOverdue), numbers(herd, uint64(acct.Debt)); !bytes.Equal(got, want) {
		t.Errorf("announced %x, want %x", got, want)
	}
}

// TestDebtsSaturate: a debt beyond all money grows no more and cannot wrap around
// into one that a balance covers.
func TestDebtsSaturate(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	w.set(2, herd, func(a *Account) { a.Debt, a.Since = math.MaxUint64-5, 2 })
	w.block(3, func(b *Block) { w.must(funds.Credit(b.State, herd, rich)) })
	w.block(1+day, nil)
	if acct, err := Read(w, herd); err != nil || acct.Debt != math.MaxUint64 || w.burned != 0 {
		t.Errorf("%+v, %v, burned %d", acct, err, w.burned)
	}
	w.block(2+day, func(b *Block) {
		if _, _, err := b.Cost(herd, 1); !errors.Is(err, ErrEpochs) {
			t.Errorf("cost of it: %v", err)
		}
		if s, err := b.Status(herd); err != nil || s.Owed != math.MaxUint64 {
			t.Errorf("%+v, %v", s, err)
		}
	})
	w.set(3+day, herd, func(a *Account) { a.Prepaid = math.MaxUint64 })
	w.block(4+day, func(b *Block) {
		if err := b.Prepay(herd, 1); !errors.Is(err, ErrEpochs) {
			t.Errorf("prepaid beyond all money: %v", err)
		}
	})
}

// TestEarlierArrears: a warning and an eviction are of the arrears that they were
// noted for.
func TestEarlierArrears(t *testing.T) { // resolution 3.2
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	first := chain.Height(1 + day)
	w.block(first, nil)
	w.block(first+1, func(b *Block) { w.must(b.Prepay(herd, perDay+1)) }) // until the day after
	w.block(first+day, nil)
	second := first + 2*day
	w.block(second, nil)
	w.block(first+168*epoch, nil)
	if want := []string{EventOverdue, EventOverdue}; !slices.Equal(w.names(), want) {
		t.Errorf("events %v, want %v", w.names(), want)
	}
	w.block(second+168*epoch, nil)
	acct, err := Read(w, herd)
	w.must(err)
	account, _, err := w.Account(herd)
	w.must(err)
	if got, want := w.announced(EventWarning), numbers(herd, uint64(acct.Debt+acct.Debt/10), uint64(second+241*epoch)); !bytes.Equal(got, want) {
		t.Errorf("announced %x, want %x", got, want)
	}
	w.block(first+241*epoch, nil)
	if s := w.status(first+241*epoch, herd); s.State != Warning {
		t.Errorf("when the first arrears would have ended: %+v", s)
	}
	w.block(second+241*epoch, nil)
	if got, want := w.announced(EventEvicted), withHash(herd, account.StorageRoot, 20_480); !bytes.Equal(got, want) {
		t.Errorf("announced %x, want %x", got, want)
	}
}

// TestEvictionByDebt is the other timeline: so many days of unpaid rent.
func TestEvictionByDebt(t *testing.T) { // whitepaper §17.5; resolution 3.2
	w := newWorld(t)
	w.params.Rent.EvictionMode, w.params.Rent.EvictionUnpaidDays = params.EvictionDebt, 20
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	for d := range chain.Height(20) {
		w.block(1+day+d*day, nil)
	}
	last := chain.Height(1 + 21*day)
	if s := w.status(last-1, herd); s.State != Warning || s.EvictionAt != last {
		t.Errorf("%+v, want an eviction at %d", s, last)
	}
	w.block(last-1, nil)
	if s := w.status(last-1, herd); s.State == Dormant {
		t.Error("a block early")
	}
	w.block(last, nil)
	if s := w.status(last, herd); s.State != Dormant {
		t.Errorf("%+v", s)
	}
}

// TestQueuesAreBounded has a crowd go through all queues at once.
func TestQueuesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.params.Rent.GraceEpochs, w.params.Rent.WarningEpochs = 1, 1
	w.block(1, func(b *Block) {
		for i := range ChargesPerBlock + 1 {
			var a chain.Address
			binary.BigEndian.PutUint32(a[:], uint32(i+1))
			w.store(b, a, 10_300, 0)
		}
	})
	due := chain.Height(1 + day)
	for i, want := range []int{ChargesPerBlock, 1} {
		if n := len(w.block(due+chain.Height(i), nil).Events); n != want {
			t.Errorf("charges, block %d: %d, want %d", i, n, want)
		}
	}
	for i, want := range []int{WarningsPerBlock, 1, 0} {
		if n := len(w.block(due+epoch+1+chain.Height(i), nil).Events); n != want {
			t.Errorf("warnings, block %d: %d, want %d", i, n, want)
		}
	}
	for i := range ChargesPerBlock / EvictionsPerBlock {
		if n := len(w.block(due+3*epoch+1+chain.Height(i), nil).Evicted); n != EvictionsPerBlock {
			t.Errorf("evictions, block %d: %d, want %d", i, n, EvictionsPerBlock)
		}
	}
}

func TestStatusOfNothing(t *testing.T) {
	w := newWorld(t)
	s := w.status(7*epoch, herd)
	if s != (Status{PaidThrough: 7, Quota: 1 << 20}) {
		t.Errorf("%+v", s)
	}
	w.block(1, func(b *Block) {
		if _, err := b.RestoreCost(herd); !errors.Is(err, stored.ErrNotDormant) {
			t.Errorf("cost of waking who does not sleep: %v", err)
		}
	})
}

func TestReserved(t *testing.T) { // whitepaper, "Minimum Balance Reserve"
	w := newWorld(t)
	w.block(1, func(b *Block) {
		w.store(b, herd, 20_480, 0)
		if got, err := b.Reserved(herd); got != 1_024_000_000 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	})
	w, h, _ := evictedHerd(t)
	w.block(h+1, func(b *Block) {
		if got, err := b.Reserved(herd); got != 0 || err != nil {
			t.Errorf("of a dormant actor: %d, %v", got, err)
		}
	})
}

func TestBondsAndTheQueue(t *testing.T) { // whitepaper §3.2; resolutions 2.17, 3.4
	bond := func(w *world, b *Block, bytes uint64, want error) {
		t.Helper()
		if _, _, err := b.Bond(herd, bytes); !errors.Is(err, want) {
			t.Errorf("quota %d: %v, want %v", bytes, err, want)
		}
	}
	w := newWorld(t)
	w.block(1, func(b *Block) {
		w.store(b, herd, 0, rich)
		bond(w, b, 1<<20, nil) // what is free anyway
		if acct, err := Read(b.State, herd); acct != (Account{}) || err != nil {
			t.Errorf("the free quota: %+v, %v", acct, err)
		}
		bond(w, b, 2<<20, nil)
	})
	w.block(2, func(b *Block) { bond(w, b, 3<<20, nil) })
	if acct, err := Read(w, herd); acct.Listed != 1 || err != nil {
		t.Errorf("listed anew: %+v, %v", acct, err)
	}
	w.block(3, func(b *Block) { bond(w, b, 1<<20, nil) })
	w.block(1+day, nil)
	if acct, err := Read(w, herd); acct != (Account{}) || w.burned != 0 || err != nil {
		t.Errorf("given back: %+v, %v, burned %d", acct, err, w.burned)
	}
	w.block(2+day, func(b *Block) {
		bond(w, b, 2<<20, nil)
		w.store(b, herd, 2<<20, rich)
		bond(w, b, 2<<20-1, ErrQuota) // less than is stored
		bond(w, b, 2<<20, nil)
		w.params.Actor.StorageBondPerByte = math.MaxUint64
		bond(w, b, 3<<20, ErrQuota)
	})
	w, h, _ := evictedHerd(t)
	w.block(h+1, func(b *Block) { bond(w, b, 2<<20, ErrQuota) }) // dormant
}

func TestDormantPays(t *testing.T) { // whitepaper, "Storage Restoration"
	w, h, _ := evictedHerd(t)
	acct, err := Read(w, herd)
	w.must(err)
	w.block(h+1, func(b *Block) {
		price, err := PriceOf(b.State, b.Params)
		w.must(err)
		cost, err := b.RestoreCost(herd)
		if want := acct.Debt + acct.Debt/10 + price.PerEpoch(20_480, 0); cost != want || err != nil {
			t.Errorf("waking costs %d, %v, want %d", cost, err, want)
		}
		w.must(b.Prepay(herd, 7))
		if cost, err = b.RestoreCost(herd); cost != price.PerEpoch(20_480, 0) || err != nil {
			t.Errorf("of who owes nothing more: %d, %v", cost, err)
		}
	})
	if now, err := Read(w, herd); now.Debt != 0 || now.Prepaid != 7 || now.Since != acct.Since || err != nil {
		t.Errorf("%+v, %v", now, err)
	}
	w.set(h+2, herd, func(a *Account) { a.Debt = math.MaxUint64 })
	w.block(h+3, func(b *Block) {
		if cost, err := b.RestoreCost(herd); cost != math.MaxUint64 || err != nil {
			t.Errorf("of who owes everything: %d, %v", cost, err)
		}
	})
}

// TestRestoreAllOrNothing: a restoration that is refused leaves nothing behind.
func TestRestoreAllOrNothing(t *testing.T) {
	w, h, entries := evictedHerd(t)
	w.block(h+1, func(b *Block) {
		before := b.State.Snapshot()
		for _, tt := range []struct {
			rule    string
			entries []state.StorageChange
			want    error
		}{
			{"none", nil, stored.ErrChunk},
			{"too much", append(slices.Clone(entries), state.StorageChange{Key: state.NewStorageKey(state.VMNamespacePVM, []byte("x")), Value: []byte{1}}), stored.ErrTooMuch},
			{"twice", append(slices.Clone(entries[1:]), entries[1]), stored.ErrOrder},
		} {
			if _, err := b.RestoreAll(herd, payer, payer, tt.entries); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.rule, err, tt.want)
			}
			if n, err := funds.Balance(b.State, payer); n != rich || err != nil {
				t.Errorf("%s: the payer has %d, %v", tt.rule, n, err)
			}
		}
		b.State.Revert(before)
		w.spent(b.RestoreAll(herd, payer, payer, entries[1:])) // too little is known a block later
	})
	w.block(h+2, nil)
	if s := w.status(h+2, herd); s.State != Dormant || w.balance(payer) != rich || w.balance(chain.AddrRent) != 0 {
		t.Errorf("too little: %+v, the payer has %d", s, w.balance(payer))
	}
	w.block(h+3, func(b *Block) { w.spent(b.RestoreAll(herd, payer, payer, entries)) })
	w.block(h+4, nil)
	a, _, err := w.Account(herd)
	if got, want := w.announced(EventRestored), withHash(herd, a.StorageRoot); err != nil || !bytes.Equal(got, want) {
		t.Errorf("announced %x, want %x, %v", got, want, err)
	}
	if row, err := w.Storage(chain.AddrRent, pendingKey(herd)); row != nil || err != nil {
		t.Errorf("left of it: %x, %v", row, err)
	}
}

// TestRestoredAndExempt: what is below the exempt size by now is not listed.
func TestRestoredAndExempt(t *testing.T) {
	for rule, exempt := range map[string]uint64{"exempt": 20_480, "a byte above": 20_479} {
		w, h, entries := evictedHerd(t)
		w.params.Rent.ExemptBytes = exempt
		w.block(h+1, func(b *Block) { w.spent(b.RestoreAll(herd, payer, payer, entries)) })
		w.block(h+2, nil)
		want := Account{}
		if exempt < 20_480 {
			want.Listed = h + 2
		}
		if acct, err := Read(w, herd); acct != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", rule, acct, err, want)
		}
	}
}
