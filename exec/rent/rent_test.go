package rent

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

const (
	day   = 86_400
	epoch = 3_600
	rich  = 1_000 * chain.WeiPerCBY
)

func TestPrice(t *testing.T) { // whitepaper §17.5; resolution 3.5
	p := params.Default()
	price := Price{&p, Unit}
	for _, tt := range []struct {
		used, quota uint64
		want        chain.Wei
	}{
		{0, 0, 0},
		{10_240, 0, 0},
		{10_241, 0, 1_000_000},
		{20_480, 0, 10_240_000_000},
		{0, 1 << 20, (1<<20 - 10_240) * 1_000_000},
		{2 << 20, 1 << 20, (2<<20 - 10_240) * 1_000_000},
	} {
		if got := price.Yearly(tt.used, tt.quota); got != tt.want {
			t.Errorf("a year of %d bytes, quota %d: %d, want %d", tt.used, tt.quota, got, tt.want)
		}
	}
	var sum chain.Wei
	var rest uint64
	for range 365 {
		var due chain.Wei
		due, rest = price.daily(1, rest)
		sum += due
	}
	if sum != 1_000_000 || rest != 0 {
		t.Errorf("365 charges of one byte are %d, rest %d", sum, rest)
	}
	if got := price.WithFee(1_000); got != 1_100 {
		t.Errorf("1,000 missed cost %d", got)
	}
	if got := price.Reserve(20_480, 0); got != 1_024_000_000 {
		t.Errorf("reserve is %d", got)
	}
	if got := (Price{&p, math.MaxUint64}).Yearly(math.MaxUint64, 0); got != math.MaxUint64 {
		t.Errorf("the price of everything wraps to %d", got)
	}
}

func TestFactor(t *testing.T) { // whitepaper, "Market-Based Rent Pricing"; resolution 11.35
	p := params.Default().Rent
	at := func(factor, bytes uint64) uint64 {
		tot := Totals{Bytes: bytes, Factor: factor}
		tot.advanceFactor(&p)
		return tot.Factor
	}
	target := p.TargetStateBytes
	for _, tt := range []struct{ factor, bytes, want uint64 }{
		{Unit, 0, Unit},
		{Unit, target, Unit},
		{Unit, 2 * target, Unit + Unit/8},
		{Unit, 100 * target, Unit + Unit/8}, // at most an eighth
		{2 * Unit, 0, 2*Unit - 2*Unit/8},
		{Unit + 5, 0, Unit}, // never below 1
		{Unit, target + target/2, Unit + Unit/16},
	} {
		if got := at(tt.factor, tt.bytes); got != tt.want {
			t.Errorf("factor %d at %d bytes goes to %d, want %d", tt.factor, tt.bytes, got, tt.want)
		}
	}
}

func TestExempt(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 10_240, rich) })
	if acct, err := Read(w, herd); err != nil || acct != (Account{}) {
		t.Errorf("%+v, %v", acct, err)
	}
	w.block(2, func(b *Block) { w.store(b, herd, 10_241, rich) })
	if acct, err := Read(w, herd); err != nil || acct.Listed != 2 {
		t.Errorf("%+v, %v", acct, err)
	}
	tot, err := ReadTotals(w)
	if err != nil || tot.Bytes != 10_241 {
		t.Errorf("totals %+v, %v", tot, err)
	}
	w.block(1+day, nil)
	if w.burned != 0 {
		t.Error("charged too early")
	}
	w.block(2+day, nil)
	if w.burned != 2_739 || w.balance(herd) != rich-2_739 { // 10^6 / 365
		t.Errorf("burned %d", w.burned)
	}
}

// TestTimeline walks from the first missed payment to eviction (resolution 3.2).
func TestTimeline(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	first := chain.Height(1 + day)
	daily := chain.Wei(10_240_000_000 / 365)
	if s := w.status(first-1, herd); s.State != Paid || s.EvictionAt != 0 {
		t.Errorf("before: %+v", s)
	}
	last := first + 241*epoch
	for h := first; h < last; h += epoch {
		w.block(h, nil)
	}
	for _, tt := range []struct {
		h    chain.Height
		want State
	}{
		{first, Grace}, {first + 168*epoch - 1, Grace}, {first + 168*epoch, Warning}, {last - 1, Warning},
	} {
		if s := w.status(tt.h, herd); s.State != tt.want || s.EvictionAt != last {
			t.Errorf("at %d: %+v, want %s", tt.h-first, s, tt.want)
		}
	}
	if s := w.status(last-1, herd); s.Owed < daily*11 || s.Owed > (daily+1)*11*11/10+1 {
		t.Errorf("owed after ten days: %d, a day is %d", s.Owed, daily)
	}
	w.block(last-1, nil)
	if s := w.status(last-1, herd); s.State != Warning {
		t.Errorf("a block before: %+v", s)
	}
	work := w.block(last, nil)
	if s := w.status(last, herd); s.State != Dormant || len(work.Evicted) != 1 {
		t.Errorf("evicted: %+v, %+v", s, work)
	}
	if want := []string{EventOverdue, EventWarning, EventEvicted}; !reflect.DeepEqual(w.names(), want) {
		t.Errorf("events %v", w.names())
	}
	if tot, err := ReadTotals(w); err != nil || tot.Bytes != 0 {
		t.Errorf("totals %+v, %v", tot, err)
	}
	w.block(last+30*day, nil) // a dormant actor owes no more
	if s := w.status(last+30*day, herd); s.State != Dormant {
		t.Errorf("%+v", s)
	}
}

// TestArrearsEnd shows the two ways out: a balance that covers all at the next
// charge, and somebody who pays.
func TestArrearsEnd(t *testing.T) {
	daily := chain.Wei(10_240_000_000 / 365)
	t.Run("the balance is back", func(t *testing.T) {
		w := newWorld(t)
		w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
		w.block(1+day, func(b *Block) { w.must(funds.Credit(b.State, herd, rich)) })
		w.block(1+2*day, nil)
		want := daily + daily/10
		if s := w.status(1+2*day, herd); s.State != Paid || s.Owed != 0 || w.burned < daily+want || w.burned > daily+want+2 {
			t.Errorf("%+v, burned %d, want %d", s, w.burned, daily+want)
		}
		w.block(1+day+241*epoch, nil)
		if s := w.status(1+day+241*epoch, herd); s.State == Dormant {
			t.Error("evicted for arrears that had ended")
		}
	})
	t.Run("a sponsor", func(t *testing.T) {
		w := newWorld(t)
		w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
		w.block(1+day, func(b *Block) {
			owed, ahead, err := b.Cost(herd, 48)
			w.must(err)
			if owed != daily+daily/10 || ahead < 2*daily {
				t.Errorf("owed %d, ahead %d, a day is %d", owed, ahead, daily)
			}
			w.must(b.Prepay(herd, ahead))
		})
		if s := w.status(1+day, herd); s.State != Paid || s.Prepaid != 48 || s.PaidThrough != (1+day)/epoch+48 {
			t.Errorf("%+v", s)
		}
		w.block(1+2*day, nil)
		w.block(1+3*day, nil)
		if s := w.status(1+3*day, herd); s.State != Paid || w.burned != 0 {
			t.Errorf("two days were prepaid: %+v, burned %d", s, w.burned)
		}
		w.block(1+4*day, nil)
		if s := w.status(1+4*day, herd); s.State != Grace {
			t.Errorf("%+v", s)
		}
	})
}

func TestCostBounds(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) {
		w.store(b, herd, 20_480, rich)
		for _, n := range []uint64{0, math.MaxUint64} {
			if _, _, err := b.Cost(herd, n); !errors.Is(err, ErrEpochs) {
				t.Errorf("%d epochs: %v", n, err)
			}
		}
		if owed, ahead, err := b.Cost(payer, math.MaxUint64); owed != 0 || ahead != 0 || err != nil {
			t.Errorf("an account that owes nothing: %d, %d, %v", owed, ahead, err)
		}
	})
}

func TestBond(t *testing.T) { // whitepaper §3.2; resolutions 2.17, 3.4
	w := newWorld(t)
	w.block(1, func(b *Block) {
		w.store(b, herd, 100, rich)
		for _, n := range []uint64{1<<20 - 1, 8<<20 + 1} {
			if _, _, err := b.Bond(herd, n); !errors.Is(err, ErrQuota) {
				t.Errorf("quota %d: %v", n, err)
			}
		}
		more, back, err := b.Bond(herd, 1<<20+1)
		if more != 1_000_000 || back != 0 || err != nil {
			t.Errorf("one byte: %d, %d, %v", more, back, err)
		}
		more, back, err = b.Bond(herd, 8<<20)
		if more != (7<<20-1)*1_000_000 || back != 0 || err != nil {
			t.Errorf("all: %d, %d, %v", more, back, err)
		}
		if q, err := b.Quota(herd); q != 8<<20 || err != nil {
			t.Errorf("quota %d, %v", q, err)
		}
		more, back, err = b.Bond(herd, 1<<20)
		if more != 0 || back != (7<<20)*1_000_000 || err != nil {
			t.Errorf("none: %d, %d, %v", more, back, err)
		}
		_, _, err = b.Bond(herd, 2<<20)
		w.must(err)
	})
	w.block(1+day, nil) // rent on the full quota
	if want := chain.Wei((2<<20 - 10_240) * 1_000_000 / 365); w.burned != want {
		t.Errorf("burned %d, want %d", w.burned, want)
	}
}

// TestForeclosure is a quota that nobody pays for and nothing is stored in: all of the
// bond is burned, whatever is owed.
func TestForeclosure(t *testing.T) { // whitepaper §3.2; resolutions 3.4, 14.5
	for _, price := range []chain.Wei{1_000_000, 100_000_000} { // a debt below and above the bond
		w := newWorld(t)
		w.params.Rent.PricePerByteYear = price
		w.block(1, func(b *Block) {
			w.store(b, herd, 0, 0)
			more, _, err := b.Bond(herd, 2<<20)
			w.must(err)
			w.must(funds.Credit(b.State, chain.AddrRent, more))
		})
		bond := chain.Wei(1<<20) * 1_000_000
		for i := range chain.Height(11) {
			w.block(1+day+i*day, nil)
		}
		if s := w.status(1+11*day, herd); s.Bond != bond || w.burned != 0 {
			t.Fatalf("before: %+v, burned %d", s, w.burned)
		}
		w.block(1+day+241*epoch, nil)
		if w.burned != bond || w.balance(herd) != 0 || w.balance(chain.AddrRent) != 0 {
			t.Errorf("price %d: burned %d, want %d; %d came back", price, w.burned, bond, w.balance(herd))
		}
		if acct, err := Read(w, herd); acct != (Account{}) || err != nil {
			t.Errorf("%+v, %v", acct, err)
		}
	}
}

// evictedHerd returns a world whose herd is dormant, with what it stored.
func evictedHerd(t *testing.T) (w *world, h chain.Height, entries []state.StorageChange) {
	w = newWorld(t)
	w.block(1, func(b *Block) {
		w.store(b, herd, 20_480, 0)
		w.must(funds.Credit(b.State, payer, rich))
		for _, c := range b.State.Delta().Accounts() {
			if c.Address == herd {
				entries = append(entries, c.Storage...)
			}
		}
	})
	w.block(1+day, nil)
	h = 1 + day + 241*epoch
	w.block(h, nil)
	if s := w.status(h, herd); s.State != Dormant {
		t.Fatalf("%+v", s)
	}
	return w, h, entries
}

// TestDelaysFollowTheParameters has governance decide a delay of half an eternity
// and take it back: who came meanwhile owes rent as everybody, and is evicted.
func TestDelaysFollowTheParameters(t *testing.T) {
	w := newWorld(t)
	usual := w.params.Rent
	w.params.Rent.ChargeBlocks, w.params.Rent.GraceEpochs = 1<<40, 1<<20
	if err := w.params.Check(); err != nil {
		t.Fatal(err)
	}
	w.block(1, func(b *Block) { w.store(b, herd, 20_480, 0) })
	w.params.Rent = usual
	w.block(2, func(b *Block) { w.store(b, payer, 20_480, rich) })
	w.block(1+day, nil)
	if s := w.status(1+day, herd); s.State != Grace || s.EvictionAt != 1+day+241*epoch {
		t.Errorf("after a day: %+v", s)
	}
	w.block(2+day, nil)
	if w.burned == 0 {
		t.Error("who came behind pays nothing")
	}
	w.params.Rent.GraceEpochs = 10
	w.block(1+day+10*epoch, nil)
	if s := w.status(1+day+10*epoch, herd); s.State != Warning || w.events[len(w.events)-1].Name != EventWarning {
		t.Errorf("after a shorter grace period: %+v, %s", s, w.events[len(w.events)-1].Name)
	}
	w.block(1+day+(10+72+1)*epoch, nil)
	if s := w.status(1+day+83*epoch, herd); s.State != Dormant {
		t.Errorf("after the warning: %+v", s)
	}
}

func TestRestore(t *testing.T) { // whitepaper, "Storage Restoration"
	t.Run("in chunks", func(t *testing.T) {
		w, h, entries := evictedHerd(t)
		w.block(h+1, func(b *Block) {
			w.spent(b.BeginRestore(herd, payer, h+100))
			w.must(b.Put(herd, payer, Arrange(entries)[:2]))
			if _, err := b.CommitRestore(herd, payer); !errors.Is(err, stored.ErrUnsettled) {
				t.Errorf("commit at once: %v", err)
			}
		})
		w.block(h+2, func(b *Block) { w.must(b.Put(herd, payer, Arrange(entries)[2:])) })
		w.block(h+3, func(b *Block) {
			cost, err := b.RestoreCost(herd)
			w.must(err)
			daily := chain.Wei(10_240_000_000 / 365)
			if want := daily * 11 * 11 / 10; cost < want || cost > want+daily/20 { // eleven days, a tenth, an epoch
				t.Errorf("cost %d, a day is %d", cost, daily)
			}
			_, err = b.CommitRestore(herd, payer)
			w.must(err)
		})
		if s := w.status(h+3, herd); s.State != Paid || s.Owed != 0 || s.Bytes != 20_480 {
			t.Errorf("%+v", s)
		}
		if acct, err := Read(w, herd); err != nil || acct.Listed != h+3 {
			t.Errorf("not listed: %+v, %v", acct, err)
		}
	})
	t.Run("back on the day of its eviction", func(t *testing.T) { // the charge it was listed for is still in the queue
		w, h, entries := evictedHerd(t)
		w.block(h+1, func(b *Block) { w.spent(b.RestoreAll(herd, payer, payer, entries)) })
		w.block(h+2, nil)
		w.block(h+3, func(b *Block) { w.must(funds.Credit(b.State, herd, rich)) })
		for i := range chain.Height(3 * 24) {
			w.block(h+3+i*epoch, nil)
		}
		daily := chain.Wei(10_240_000_000 / 365)
		if paid := rich - w.balance(herd); paid < 2*daily || paid > 2*(daily+1) {
			t.Errorf("%d paid in less than three days, a day is %d", paid, daily)
		}
	})
	t.Run("in one message", func(t *testing.T) {
		w, h, entries := evictedHerd(t)
		w.block(h+1, func(b *Block) { w.spent(b.RestoreAll(herd, payer, payer, entries)) })
		if s := w.status(h+1, herd); s.State != Dormant {
			t.Error("woke before its root was compared")
		}
		before := w.burned
		w.block(h+2, nil)
		if s := w.status(h+2, herd); s.State != Paid || w.burned == before || w.balance(chain.AddrRent) != 0 {
			t.Errorf("%+v, burned %d", s, w.burned-before)
		}
	})
	t.Run("wrong data", func(t *testing.T) {
		w, h, entries := evictedHerd(t)
		entries[1].Value = append([]byte{9}, entries[1].Value[1:]...)
		w.block(h+1, func(b *Block) { w.spent(b.RestoreAll(herd, payer, payer, entries)) })
		w.block(h+2, nil)
		if s := w.status(h+2, herd); s.State != Dormant || w.balance(payer) != rich || w.balance(chain.AddrRent) != 0 {
			t.Errorf("%+v, payer has %d", s, w.balance(payer))
		}
		w.block(h+3, func(b *Block) { // and again, with the right ones
			entries[1].Value[0] = 0
			w.spent(b.RestoreAll(herd, payer, payer, entries))
		})
		w.block(h+4, nil)
		if s := w.status(h+4, herd); s.State != Paid {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a payer without money", func(t *testing.T) {
		w, h, entries := evictedHerd(t)
		w.block(h+1, func(b *Block) {
			if _, err := b.RestoreAll(herd, herd, herd, entries); !errors.Is(err, funds.ErrShort) {
				t.Errorf("%v", err)
			}
		})
	})
}

// TestWorkIsBounded holds a crowd that is due at once to a part of it per block.
func TestWorkIsBounded(t *testing.T) {
	w := newWorld(t)
	w.block(1, func(b *Block) {
		for i := range 600 {
			var a chain.Address
			binary.BigEndian.PutUint32(a[:], uint32(i+1))
			w.store(b, a, 10_300, rich)
		}
	})
	daily := chain.Wei(60 * 1_000_000 / 365)
	for i, want := range []chain.Wei{256, 512, 600, 600} {
		w.forEachBlock(chain.Height(1 + day + i))
		if w.burned != want*daily {
			t.Errorf("after %d blocks %d are charged, want %d", i+1, w.burned/daily, want)
		}
	}
}

// forEachBlock is block without the books of the usual accounts.
func (w *world) forEachBlock(h chain.Height) {
	b := &Block{State: state.NewOverlay(w), Params: &w.params, Height: h, Timers: noTimers}
	work, err := b.Begin()
	w.must(err)
	w.must(b.End(w))
	w.must(w.Write(b.State.Delta()))
	w.burned += work.Burned
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte{0x83, 1, 2, 3}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		w := newWorld(t)
		o := state.NewOverlay(w)
		for _, k := range []state.StorageKey{accountKey(herd), totalsKey(), pendingKey(herd), charges.at(0), charges.ends()} {
			o.SetStorage(chain.AddrRent, k, data)
		}
		b := &Block{State: o, Params: &w.params, Height: 5}
		var err error
		switch which % 5 {
		case 0:
			_, err = Read(o, herd)
		case 1:
			_, err = ReadTotals(o)
		case 2:
			_, err = b.pending(herd)
		case 3:
			_, err = charges.item(o, 0)
		case 4:
			_, _, err = charges.pop(o, 5, 1, always)
		}
		if err != nil && !errors.Is(err, ErrRecord) {
			t.Errorf("%x: %v", data, err)
		}
	})
}

func TestEventsAreSmall(t *testing.T) { // the bound of a stored block counts on it
	const most = ^uint64(0)
	for _, e := range []chain.Event{
		event(EventOverdue, chain.Address{}, most), event(EventWarning, chain.Address{}, most, most),
		event(EventSettled, chain.Address{}, most), evicted(chain.Address{}, chain.Hash{}, most),
	} {
		if n := len(e.Name) + len(e.Data); n > params.AnnouncedEventBytes {
			t.Errorf("%s takes %d bytes", e.Name, n)
		}
	}
}
