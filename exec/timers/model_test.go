package timers

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

func testParams(t testing.TB, change func(*params.Timer)) *params.Params {
	t.Helper()
	p := params.Default()
	if change != nil {
		change(&p.Timer)
	}
	return &p
}

func spec(actor byte, h chain.Height) Spec {
	a := chain.Address{19: actor, 0: 0xaa}
	return Spec{Actor: a, To: a, Height: h, Handler: "tick", Data: []byte{0xf6}, Limits: chain.Usage{Cycles: 10_000, Cells: 100}}
}

// kept is what the slow twin knows of a timer.
type kept struct {
	id     ID
	spec   Spec
	bill   Bill
	locked chain.Wei
	since  chain.Height
	ready  bool
}

// twin is a list: every question is a scan.
type twin struct {
	clock Clock
	base  chain.Wei
	all   []*kept
}

func (m *twin) of(a chain.Address) (n uint64) {
	for _, k := range m.all {
		if k.spec.Actor == a {
			n++
		}
	}
	return n
}

func (m *twin) aimed(a chain.Address, h chain.Height) (n uint64) {
	for _, k := range m.all {
		if k.spec.Actor == a && k.spec.Height == h && !k.ready {
			n++
		}
	}
	return n
}

// cost is 2^max(0, k-free) times the base fee, as the whitepaper writes it.
func (m *twin) cost(k uint64) chain.Wei {
	f := float64(m.base) * math.Pow(2, math.Max(0, float64(k)-float64(m.clock.Params.Timer.SurchargeFree)))
	if f >= math.MaxUint64 {
		return math.MaxUint64
	}
	return chain.Wei(f)
}

func (m *twin) find(id ID) int {
	return slices.IndexFunc(m.all, func(k *kept) bool { return k.id == id })
}

// advance begins a block.
func (m *twin) advance() {
	t := m.clock.Params.Timer
	q := float64(len(m.all))
	step := max(-0.125, min(0.125, (q-float64(t.QueueTarget))/(float64(t.QueueTarget)*8)))
	d := chain.Wei(math.Floor(math.Abs(float64(m.base) * step)))
	switch {
	case step > 0:
		m.base = min(m.base+max(d, 1), t.MaxBaseFee)
	default:
		m.base = max(m.base-d, t.MinBaseFee)
	}
	for _, k := range m.all {
		if !k.ready && k.spec.Height <= m.clock.Height {
			k.ready, k.since = true, k.spec.Height
		}
	}
}

// order returns the ready timers by rank, then id.
func (m *twin) order() (ids []ID) {
	var due []*kept
	for _, k := range m.all {
		if k.ready {
			due = append(due, k)
		}
	}
	slices.SortFunc(due, func(a, b *kept) int {
		if a.since != b.since { // all bid alike
			return int(a.since) - int(b.since)
		}
		return bytes.Compare(a.id[:], b.id[:])
	})
	for _, k := range due {
		ids = append(ids, k.id)
	}
	return ids
}

// TestAgainstTwin does random things to the queue and to a plain list over small
// tiers, and holds every answer, price, order and count to the list's. Rerun one
// case with -run 'TestAgainstTwin/seed=3'.
func TestAgainstTwin(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 9))
			p := testParams(t, func(tp *params.Timer) {
				tp.RingBlocks, tp.QueueEpochs, tp.QueueTarget, tp.MaxPerActor = 8, 3, 40, 25
				tp.InitialBaseFee, tp.MaxBaseFee, tp.SurchargeFree = 1000, 1200, 1
			})
			o := state.NewOverlay(state.Empty{})
			m := &twin{clock: Clock{Params: p, Height: 1, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}, base: 1000}
			for range 120 {
				m.block(t, rng, o)
				m.clock.Height++
			}
		})
	}
}

func (m *twin) block(t *testing.T, rng *rand.Rand, o *state.Overlay) {
	t.Helper()
	c := m.clock
	m.advance()
	head, err := Advance(o, c)
	if err != nil {
		t.Fatal(err)
	}
	if head.Depth != uint64(len(m.all)) || head.BaseFee != m.base {
		t.Fatalf("block %d: depth %d, base fee %d, want %d, %d", c.Height, head.Depth, head.BaseFee, len(m.all), m.base)
	}
	want := m.order()
	got, err := Ready(o, head, 1<<20)
	if err != nil || !slices.Equal(got, want) || head.Ready != uint64(len(want)) {
		t.Fatalf("block %d: %d ready, %v, want %d", c.Height, len(got), err, len(want))
	}
	for _, id := range want[:rng.IntN(len(want)+1)] {
		m.fire(t, o, id)
	}
	for range rng.IntN(6) {
		m.change(t, rng, o)
	}
}

func (m *twin) fire(t *testing.T, o *state.Overlay, id ID) {
	t.Helper()
	k := m.all[m.find(id)]
	timer, err := fireOff(o, m.clock, id)
	if err != nil || timer == nil || timer.Handler != "tick" {
		t.Fatalf("take: %v", err)
	}
	if k.spec.Every == 0 {
		if timer.escrow+timer.deposit != k.locked {
			t.Fatalf("a timer gave back %d + %d of %d", timer.escrow, timer.deposit, k.locked)
		}
		i := m.find(id)
		m.all = slices.Delete(m.all, i, i+1)
		return
	}
	next, bill, err := rearm(o, m.clock, id)
	if err != nil {
		t.Fatal(err)
	}
	h := k.spec.Height
	for h <= m.clock.Height {
		h += chain.Height(k.spec.Every)
	}
	if fee := m.cost(m.aimed(k.spec.Actor, h) + 1); next.Height != h || bill.Fee != fee || timer.deposit != 0 {
		t.Fatalf("interval goes on at %d for %d, want %d, %d", next.Height, bill.Fee, h, fee)
	}
	k.spec.Height, k.ready = h, false
}

func (m *twin) change(t *testing.T, rng *rand.Rand, o *state.Overlay) {
	t.Helper()
	c := m.clock
	pick := func() *kept {
		if len(m.all) == 0 {
			return nil
		}
		return m.all[rng.IntN(len(m.all))]
	}
	switch op := rng.IntN(10); {
	case op < 6:
		m.set(t, rng, o)
	case op < 8:
		k := pick()
		if k == nil {
			return
		}
		bill, err := Cancel(o, c, Party{k.spec.Actor, k.spec.Actor}, k.id)
		if err != nil || bill.Refund != k.locked {
			t.Fatalf("cancel: %+v, %v, want %d back", bill, err, k.locked)
		}
		if _, err := Cancel(o, c, Party{k.spec.Actor, k.spec.Actor}, k.id); !errors.Is(err, ErrNotFound) {
			t.Fatalf("cancelled twice: %v", err)
		}
		i := m.find(k.id)
		m.all = slices.Delete(m.all, i, i+1)
	case op < 9:
		k := pick()
		if k == nil {
			return
		}
		h := c.Height + chain.Height(rng.IntN(40))
		before := o.Snapshot()
		bill, err := Extend(o, c, Party{k.spec.Actor, k.spec.Actor}, k.id, h)
		switch {
		case h <= c.Height:
			if !errors.Is(err, ErrPast) {
				t.Fatalf("extend to the past: %v", err)
			}
		case h <= k.spec.Height:
			if !errors.Is(err, ErrEarlier) {
				t.Fatalf("extend to an earlier height: %v", err)
			}
		case err != nil || bill.Fee != m.cost(m.aimed(k.spec.Actor, h)+1):
			t.Fatalf("extend: %+v, %v", bill, err)
		case rng.IntN(3) == 0:
			o.Revert(before)
		default:
			k.spec.Height, k.ready = h, false
		}
	default:
		k := pick()
		if k == nil {
			return
		}
		n := m.of(k.spec.Actor)
		limit := rng.IntN(int(n) + 2)
		before := o.Snapshot()
		dropped, refund, err := DropAll(o, c, k.spec.Actor, limit)
		if err != nil || uint64(dropped) != min(n, uint64(limit)) {
			t.Fatalf("dropped %d of %d, %v", dropped, n, err)
		}
		if limit < int(n) {
			o.Revert(before)
			return
		}
		m.all = slices.DeleteFunc(m.all, func(other *kept) bool {
			if other.spec.Actor == k.spec.Actor {
				refund -= other.locked
				return true
			}
			return false
		})
		if refund != 0 {
			t.Fatalf("dropping gave back %d too much", int64(refund))
		}
	}
}

func (m *twin) set(t *testing.T, rng *rand.Rand, o *state.Overlay) {
	t.Helper()
	c := m.clock
	s := spec(byte(rng.IntN(3)), c.Height+chain.Height([]int{rng.IntN(4), rng.IntN(12), rng.IntN(60)}[rng.IntN(3)]))
	if rng.IntN(3) == 0 {
		s.Every = 1 + rng.Uint64N(20)
	}
	before := o.Snapshot()
	id, bill, err := Set(o, c, s)
	n := m.of(s.Actor)
	switch {
	case s.Height <= c.Height:
		if !errors.Is(err, ErrPast) {
			t.Fatalf("set for %d at %d: %v", s.Height, c.Height, err)
		}
		return
	case n >= 25:
		if !errors.Is(err, ErrLimit) {
			t.Fatalf("timer %d: %v", n+1, err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	locked := 10*chain.WeiPerCBY + 2*10_100
	if bill.Fee != m.cost(m.aimed(s.Actor, s.Height)+1) || bill.Lock != locked {
		t.Fatalf("bill %+v, want fee %d, lock %d", bill, m.cost(m.aimed(s.Actor, s.Height)+1), locked)
	}
	if rng.IntN(8) == 0 {
		o.Revert(before)
		return
	}
	m.all = append(m.all, &kept{id: id, spec: s, bill: bill, locked: locked})
}
