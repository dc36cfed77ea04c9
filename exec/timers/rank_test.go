package timers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestRankIsTheDecay holds the stored order to the rule it stands for: weights of
// λ = 0.2 that tend to the floor, compared block by block.
func TestRankIsTheDecay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const floor = 1 << 20
	weight := func(tip chain.Wei, blocks int) float64 {
		w := float64(min(tip, floor-floor>>maxTipShift))
		for range blocks {
			w = 0.8*w + 0.2*floor
		}
		return floor - w // the gap, which keeps its precision
	}
	for range 2000 {
		a, b := chain.Wei(rng.Uint64N(floor)), chain.Wei(rng.Uint64N(floor))
		ha, hb := chain.Height(rng.IntN(40)), chain.Height(rng.IntN(40))
		ga, gb := weight(a, 60-int(ha)), weight(b, 60-int(hb))
		if math.Abs(ga-gb) < 1e-5*ga {
			continue
		}
		if first := Rank(ha, a, floor) < Rank(hb, b, floor); first != (ga < gb) {
			t.Fatalf("tip %d since %d against tip %d since %d: first %v, gaps %g and %g", a, ha, b, hb, first, ga, gb)
		}
	}
}

func TestRankBounds(t *testing.T) {
	for _, floor := range []chain.Wei{0, 1, 2, 16, 1 << 20, math.MaxUint64} {
		for _, tip := range []chain.Wei{0, 1, floor - 1, floor, floor + 1, math.MaxUint64} {
			r := Rank(100, tip, floor)
			if r <= 100<<rankBits || r > (100+TipBlocksMax)<<rankBits {
				t.Errorf("floor %d, tip %d: rank %d is not within %d blocks", floor, tip, r, TipBlocksMax)
			}
		}
		if Rank(100, math.MaxUint64, floor) <= Rank(100-TipBlocksMax, 0, floor) {
			t.Errorf("floor %d: a tip bought more than %d blocks", floor, TipBlocksMax)
		}
	}
	if Rank(5, 15, 16) >= Rank(5, 14, 16) || Rank(5, 1, 16) >= Rank(5, 0, 16) {
		t.Error("in one block the higher tip is not first")
	}
}

// TestStarvationBound floods the queue with the highest tips there are, in every
// block as many as fire, and holds the wait of a timer without a tip to the
// bound: the blocks that a tip buys, and those that it takes to serve who was due
// before that.
func TestStarvationBound(t *testing.T) {
	const perBlock, crowd = 5, 20 // a block fires 5, and 20 wait when the victim comes
	p := testParams(t, func(tp *params.Timer) { tp.MaxPerActor = 1 << 20 })
	o := state.NewOverlay(state.Empty{})
	c := Clock{Params: p, Height: 1, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	add := func(n int, actor byte) {
		for range n {
			if _, _, err := Set(o, c, spec(actor, c.Height+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(crowd, 1)
	add(1, 2)
	victim := spec(2, 0).Actor
	due := c.Height + 1
	bound := due + TipBlocksMax + (crowd+TipBlocksMax*perBlock)/perBlock + 1
	for c.Height = due; c.Height <= bound; c.Height++ {
		head, err := Advance(o, c)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := Ready(o, head, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids { // the crowd outbids
			timer, err := Load(o, id)
			if err != nil {
				t.Fatal(err)
			}
			if timer.Actor != victim && timer.Bid == nil {
				bid := DefaultBid(&c, timer.Limits)
				bid.Tip = chain.FeePair{PerCycle: 1 << 40}
				if err := SetBid(free{}, o, c, timer, bid, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if head, err = ReadHead(o, p); err != nil {
			t.Fatal(err)
		}
		if ids, err = Ready(o, head, perBlock); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			timer, err := fireOff(o, c, id)
			if err != nil {
				t.Fatal(err)
			}
			if timer.Actor == victim {
				if wait := c.Height - due; wait < TipBlocksMax/2 {
					t.Fatalf("the victim waited %d blocks only: nobody went before it", wait)
				}
				return
			}
		}
		add(perBlock, 1)
	}
	t.Fatalf("still waiting at %d, bound %d", c.Height, bound)
}

// TestTreeAgainstList puts keys into a tree and takes them out, and holds its
// order to a sorted list and its height to that of a balanced tree.
func TestTreeAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	tr := farTree(state.NewOverlay(state.Empty{}))
	var root nodeKey
	var height uint64
	var err error
	var keys []nodeKey
	compare := func(a, b nodeKey) int { return slices.Compare(a[:], b[:]) }
	for step := range 4000 {
		if rng.IntN(5) < 3 || len(keys) == 0 {
			k := newNodeKey(1+rng.Uint64N(50), ID{0: byte(rng.Uint32()), 1: byte(rng.Uint32()), 31: 1})
			i, there := slices.BinarySearchFunc(keys, k, compare)
			if there {
				continue
			}
			keys = slices.Insert(keys, i, k)
			root, height, err = tr.insert(root, k)
		} else {
			i := rng.IntN(len(keys))
			root, height, err = tr.remove(root, keys[i])
			keys = slices.Delete(keys, i, i+1)
		}
		if err != nil {
			t.Fatal(err)
		}
		if most := 1.45 * math.Log2(float64(len(keys)+2)); float64(height) > most {
			t.Fatalf("step %d: height %d with %d keys", step, height, len(keys))
		}
		if step%50 != 0 {
			continue
		}
		ids, err := tr.walk(root, nil, len(keys)+1)
		if err != nil || len(ids) != len(keys) {
			t.Fatalf("step %d: %d keys, %v, want %d", step, len(ids), err, len(keys))
		}
		for i, id := range ids {
			if id != keys[i].id() {
				t.Fatalf("step %d: key %d is out of order", step, i)
			}
		}
	}
}

// free is a purse that pays nothing.
type free struct{ funds.Purse }

func (free) Burn(chain.Wei) error { return nil }

func (free) Debit(chain.Address, chain.Wei) error { return nil }

// TestUnusedCellsBuyNoRank: tips are paid by use, so a bid for cells that the firing does not
// use stands no higher for them.
func TestUnusedCellsBuyNoRank(t *testing.T) {
	least := chain.Usage{Cycles: 2_000, Cells: 64}
	honest := Bid{Tip: chain.FeePair{PerCycle: 3}, Limits: chain.Usage{Cycles: 20_000, Cells: 1_000}}
	if got := honest.tipPerCycle(least); got != 3 {
		t.Errorf("a tip of 3 a cycle counts as %d", got)
	}
	dear := Bid{Tip: chain.FeePair{PerCell: 16}, Limits: chain.Usage{Cycles: 20_000, Cells: 18_750}}
	if got := dear.tipPerCycle(least); got != 0 { // 64 cells at 16 are half a unit for each of 2,000 cycles
		t.Errorf("a tip for cells that may stay unused counts as %d a cycle", got)
	}
	long := Bid{Tip: chain.FeePair{PerCell: 64_000}, Limits: chain.Usage{Cycles: 1_000_000, Cells: 50_000}}
	if got := long.tipPerCycle(least); got != 4 { // 64 cells for a million cycles
		t.Errorf("a tip for 64 cells and a million cycles counts as %d a cycle", got)
	}
	small := Bid{Tip: chain.FeePair{PerCycle: 7, PerCell: 64_000}, Limits: chain.Usage{Cycles: 1_000, Cells: 1}}
	if got := small.tipPerCycle(least); got != 71 { // of its own limits
		t.Errorf("a bid with limits below the least counts as %d a cycle", got)
	}
}
