package timers

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

func testQueue(t *testing.T, base chain.Wei) *queue {
	return &queue{Clock: Clock{Params: testParams(t, nil), Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}, Head: Head{BaseFee: base}}
}

func TestDeposit(t *testing.T) { // whitepaper "Progressive Deposit Model", resolution 7.3
	q := testQueue(t, 1)
	for _, row := range []struct{ n, cby uint64 }{{1, 10}, {99, 10}, {100, 20}, {199, 20}, {200, 30}, {1_024, 110}} {
		if got := q.deposit(row.n); got != chain.Wei(row.cby)*chain.WeiPerCBY {
			t.Errorf("deposit of timer %d is %d, want %d CBY", row.n, got, row.cby)
		}
	}
}

func TestSurcharge(t *testing.T) { // whitepaper "Same-Block Exponential Pricing", resolutions 7.2, 11.24
	q := testQueue(t, 1_000_000)
	for _, row := range []struct {
		k    uint64
		want chain.Wei
	}{
		{1, 1_000_000},
		{16, 1_000_000},
		{17, 2_000_000},
		{18, 4_000_000},
		{19, 8_000_000},
		{32, 65_536_000_000},
		{60, 1_000_000 << 44}, // the last that fits: 10^6 takes 20 bits
		{61, math.MaxUint64},
		{1_024, math.MaxUint64},
		{math.MaxUint64, math.MaxUint64},
	} {
		if got := q.price(row.k); got != row.want {
			t.Errorf("timer %d for one block costs %d, want %d", row.k, got, row.want)
		}
	}
	q.BaseFee = math.MaxUint64
	if q.price(16) != math.MaxUint64 || q.price(17) != math.MaxUint64 {
		t.Error("the largest base fee does not saturate")
	}
}

func TestBaseFee(t *testing.T) { // whitepaper "Timer Queue Basefee"
	f := func(base chain.Wei, depth uint64, want chain.Wei) {
		t.Helper()
		q := testQueue(t, base)
		q.Depth = depth
		if q.adjust(); q.BaseFee != want {
			t.Errorf("base fee %d at depth %d becomes %d, want %d", base, depth, q.BaseFee, want)
		}
	}
	f(800, 100_000, 800)              // at the target
	f(800, 200_000, 900)              // twice the target: +12.5 %
	f(800, 10_000_000, 900)           // clamped
	f(800, 0, 700)                    // -12.5 %
	f(800, 150_000, 850)              // half of it
	f(1, 100_001, 2)                  // a rise is at least 1
	f(1, 0, 1)                        // the floor
	f(math.MaxUint64, 1<<40, 1<<64-1) // the top
}

func TestTiers(t *testing.T) { // whitepaper "The Tiered Calendar Queue", resolution 7.6
	p := testParams(t, nil)
	c := Clock{Params: p, Height: 7_000} // epoch 1 of 3,600 blocks
	for _, row := range []struct {
		h    chain.Height
		want place
	}{
		{7_000, inReady},
		{7_001, inRing},
		{10_799, inRing}, // the last of the next epoch
		{10_800, inEpoch},
		{(1+720+1)*3_600 - 1, inEpoch},
		{(1 + 720 + 1) * 3_600, inTree},
		{7_000 + MaxAhead, inTree},
	} {
		if got := c.tier(row.h); got != row.want {
			t.Errorf("height %d waits in tier %d, want %d", row.h, got, row.want)
		}
	}
}

func TestLimits(t *testing.T) { // musts W6: 1,024 timers an actor, the next one reverts
	p := testParams(t, nil)
	o := state.NewOverlay(state.Empty{})
	c := Clock{Params: p, Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	for n := range 1_024 {
		if _, _, err := Set(o, c, spec(1, chain.Height(11+n))); err != nil {
			t.Fatalf("timer %d: %v", n+1, err)
		}
	}
	if _, _, err := Set(o, c, spec(1, 5_000)); !errors.Is(err, ErrLimit) {
		t.Errorf("timer 1,025: %v", err)
	}
	if _, _, err := Set(o, c, spec(2, 5_000)); err != nil {
		t.Errorf("another actor's: %v", err)
	}
	if n, refund, err := DropAll(o, c, spec(1, 0).Actor, 1_000); n != 1_000 || refund == 0 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
	if n, _, err := DropAll(o, c, spec(1, 0).Actor, 1_000); n != 24 || err != nil {
		t.Errorf("dropped the last %d, %v", n, err)
	}
}

func TestSpecBounds(t *testing.T) { // boundary and one past it
	p := testParams(t, nil)
	c := Clock{Params: p, Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	f := func(name string, want error, change func(*Spec)) {
		t.Helper()
		s := spec(1, 11)
		change(&s)
		if err := s.Check(&c); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	f("next block", nil, func(*Spec) {})
	f("this block", ErrPast, func(s *Spec) { s.Height = 10 })
	f("the past", ErrPast, func(s *Spec) { s.Height = 0 })
	f("farthest", nil, func(s *Spec) { s.Height = 10 + MaxAhead })
	f("too far", ErrTooFar, func(s *Spec) { s.Height = 11 + MaxAhead })
	f("longest interval", nil, func(s *Spec) { s.Every = MaxAhead })
	f("interval too long", ErrTooFar, func(s *Spec) { s.Every = MaxAhead + 1 })
	f("longest handler", nil, func(s *Spec) { s.Handler = strings.Repeat("x", MaxHandlerBytes) })
	f("handler too long", ErrArgument, func(s *Spec) { s.Handler = strings.Repeat("x", MaxHandlerBytes+1) })
	f("no handler", ErrArgument, func(s *Spec) { s.Handler = "" })
	f("most data", nil, func(s *Spec) { s.Data = make([]byte, p.Actor.InlineBlobBytes) })
	f("too much data", ErrArgument, func(s *Spec) { s.Data = make([]byte, p.Actor.InlineBlobBytes+1) })
	f("system actor", ErrArgument, func(s *Spec) { s.To = chain.AddrTimers })
	f("least cycles", nil, func(s *Spec) { s.Limits.Cycles = p.Timer.MinCycles })
	f("too few cycles", ErrArgument, func(s *Spec) { s.Limits.Cycles = p.Timer.MinCycles - 1 })
	f("most cycles", nil, func(s *Spec) { s.Limits.Cycles = 1_000_000 })
	f("too many cycles", ErrArgument, func(s *Spec) { s.Limits.Cycles = 1_000_001 })
	f("most cells", nil, func(s *Spec) { s.Limits.Cells = 50_000 })
	f("too many cells", ErrArgument, func(s *Spec) { s.Limits.Cells = 50_001 })
}

func TestDefaultLimits(t *testing.T) {
	p := testParams(t, nil)
	for _, row := range []struct {
		target    chain.Cycles
		ask, want chain.Usage
	}{
		{10_000_000, chain.Usage{}, chain.Usage{Cycles: 200_000, Cells: 8_000}},
		{10_000_000, chain.Usage{Cycles: 7, Cells: 9}, chain.Usage{Cycles: 7, Cells: 9}},
		{1_000_000, chain.Usage{}, chain.Usage{Cycles: 100_000, Cells: 8_000}}, // half of the lane
	} {
		p.CyclesTarget = row.target
		if got := Limits(p, row.ask); got != row.want {
			t.Errorf("limits %+v of a target of %d become %+v, want %+v", row.ask, row.target, got, row.want)
		}
	}
}

// FuzzRecords holds every decoder to its encoder: what one takes, the other
// writes.
func FuzzRecords(f *testing.F) {
	s := spec(1, 11)
	s.Bidder = &chain.Address{1}
	l := link{Escrow: 5, place: inReady, target: 9, due: 9, rank: 77, aimed: true, prev: ID{1}, newer: ID{2}, Bid: &Bid{At: 3}}
	h := Head{Depth: 4, BaseFee: 8, farFirst: 9, farRoot: newNodeKey(9, ID{1})}
	n := node{left: newNodeKey(1, ID{1}), leftHeight: 1}
	f.Add(s.encode(7))
	f.Add(l.encode())
	f.Add(h.encode())
	f.Add(n.encode())
	f.Add([]byte{0x82, 0x40, 0x40})
	f.Add([]byte{0x83, 0x01, 0x02, 0x40})
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(what string, err error, again []byte) {
			t.Helper()
			if err == nil && string(again) != string(b) {
				t.Errorf("%s %x comes back as %x", what, b, again)
			}
			if err != nil && !errors.Is(err, ErrRecord) {
				t.Errorf("%s: %v", what, err)
			}
		}
		s, deposit, err := decodeSpec(b)
		check("spec", err, s.encode(deposit))
		l, err := decodeLink(b)
		check("link", err, l.encode())
		h, err := decodeHead(b)
		check("head", err, h.encode())
		n, err := decodeNode(b)
		check("node", err, n.encode())
		if _, err := decodeEnds(b); err != nil && !errors.Is(err, ErrRecord) {
			t.Error(err)
		}
		if _, err := decodeRoster(b); err != nil && !errors.Is(err, ErrRecord) {
			t.Error(err)
		}
	})
}
