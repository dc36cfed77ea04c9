package lanes

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestRepricingKeepsArrivalOrder(t *testing.T) {
	var m maker
	p := testPool()
	p.lanes[chain.LaneUser].setCap(100, 100)
	p.lanes[chain.LaneUser].bytesMax = 1 << 20
	fee := func(sender byte, maxFee, tip chain.Wei) *chain.VerifiedTx {
		tx := m.tx(sender, 0, tip)
		tx.Tx.MaxFeePerCycle = maxFee
		return tx
	}
	mustAdd(t, p, fee(1, 1_000, 100), fee(2, 150, 100), fee(3, 1_000, 40), fee(4, 190, 100), fee(5, 99, 90), fee(6, 1_000, 40))
	set := func(base chain.Wei, want string) {
		t.Helper()
		var all [chain.NumLanes]chain.FeePair
		all[chain.LaneUser].PerCycle = base
		p.reprice(all)
		if got := queued(p, chain.LaneUser); got != want {
			t.Errorf("base fee %d: %s, want %s", base, got, want)
		}
	}
	set(0, "[01/0 02/0 04/0 05/0 03/0 06/0]")
	set(100, "[01/0 04/0 02/0 03/0 06/0 05/0]") // 2 earns 50 now: its tier, and before 3 by arrival; 5 is underpriced
	set(151, "[01/0 03/0 04/0 06/0 02/0 05/0]") // 4 earns 39
	set(0, "[01/0 02/0 04/0 05/0 03/0 06/0]")
	if n := p.reprice(p.laneBases()); n != 0 {
		t.Errorf("%d moved without a change of fees", n)
	}
}

// laneBases returns the base fees in force.
func (p *bare) laneBases() (out [chain.NumLanes]chain.FeePair) {
	for i := range out {
		out[i] = p.basis.prices[i].base
	}
	return out
}

func TestRefreshDropsTheUsedAndTheUnpaid(t *testing.T) {
	var m maker
	p := testPool()
	at := account{Nonce: 3, Spendable: 100}
	for n := uint64(3); n < 7; n++ {
		if _, err := p.add(m.tx(1, n, 1), 25, at); err != nil {
			t.Fatal(err)
		}
	}
	left, used := p.refresh(chain.Address{1}, account{Nonce: 4, Spendable: 74})
	if fmt.Sprint(len(left), used) != "2 1" || left[0].nonce != 3 || left[1].nonce != 6 {
		t.Errorf("%d left, %d of them used; want nonce 3 used and 6 unpaid", len(left), used)
	}
	left, used = p.refresh(chain.Address{1}, account{Nonce: 9, Spendable: 74})
	if txs, senders := p.sizes(); len(left) != 2 || used != 2 || senders != 0 || txs != 0 {
		t.Errorf("%d left, %d used, %d senders remain; want the rest used", len(left), used, senders)
	}
}

// TestTiers: the edges of the buckets, against big integers at the extremes.
func TestTiers(t *testing.T) {
	f := func(cycles chain.Cycles, cells chain.Cells, tipCycle, tipCell, headroom chain.Wei, want int) {
		t.Helper()
		p := pricing{base: chain.FeePair{PerCycle: 7, PerCell: 7}, cellWeight: 20}
		cap := chain.Wei(math.MaxUint64)
		if headroom < cap-7 {
			cap = headroom + 7
		}
		tx := &chain.Tx{CyclesLimit: cycles, CellsLimit: cells, TipPerCycle: tipCycle, TipPerCell: tipCell, MaxFeePerCycle: cap, MaxFeePerCell: cap}
		if got := p.tierOf(tx, limitsOf(tx)); got != want {
			t.Errorf("tier of %d cycles, %d cells with tips %d, %d = %d, want %d", cycles, cells, tipCycle, tipCell, got, want)
		}
	}
	const all = math.MaxUint64
	f(21_000, 0, 0, 0, all, 0)
	f(21_000, 0, 1, 0, all, 5) // 16 sixteenths
	f(21_000, 0, 2, 0, all, 6)
	f(21_000, 0, 3, 0, all, 6)
	f(21_000, 0, 3, 0, 1, 5)       // the fee cap leaves only 1
	f(20_000, 1_000, 2, 0, all, 5) // half of its weight is cells, which pay nothing
	f(0, 1_000, 0, 20, all, 5)     // a cell weighs 20 cycles
	f(0, 0, all, all, all, 0)
	f(1, 0, 1<<26-1, 0, all, 30)
	f(1, 0, 1<<26, 0, all, 31)
	f(1, 0, all, 0, all, 31)
	f(1<<40, 0, all, 0, all, 31)
	f(all, 1, all, all, all, 0) // weight above 64 bits: no block holds it
	f(all, 0, 1, 0, all, 5)
	f(all, 0, all, all, all, 31)
}

func FuzzTierIsMonotonous(f *testing.F) {
	f.Add(uint64(21_000), uint64(100), uint64(5), uint64(6), uint64(1))
	f.Add(uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, cycles, cells, tipCycle, tipCell, more uint64) {
		p := pricing{cellWeight: 20}
		tx := &chain.Tx{
			CyclesLimit: chain.Cycles(cycles), CellsLimit: chain.Cells(cells), MaxFeePerCycle: math.MaxUint64, MaxFeePerCell: math.MaxUint64,
			TipPerCycle: chain.Wei(tipCycle), TipPerCell: chain.Wei(tipCell),
		}
		got := p.tierOf(tx, limitsOf(tx))
		if got < 0 || got >= Tiers {
			t.Fatalf("tier %d", got)
		}
		n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
		weight := new(big.Int).Add(n(cycles), new(big.Int).Mul(n(cells), n(20)))
		if weight.BitLen() <= 64 && weight.Sign() > 0 {
			tips := new(big.Int).Add(new(big.Int).Mul(n(cycles), n(tipCycle)), new(big.Int).Mul(n(cells), n(tipCell)))
			density := tips.Lsh(tips, 4).Div(tips, weight)
			if want := min(density.BitLen(), Tiers-1); got != want {
				t.Fatalf("tier %d, want %d", got, want)
			}
		}
		tx.TipPerCycle = max(tx.TipPerCycle, tx.TipPerCycle+chain.Wei(more))
		if p.tierOf(tx, limitsOf(tx)) < got {
			t.Fatal("a higher tip fell to a lower tier")
		}
	})
}

func TestRepriceLooksOnlyWhereAnEdgeIsCrossed(t *testing.T) {
	var m maker
	p := testPool()
	p.lanes[chain.LaneUser].setCap(100, 100)
	p.lanes[chain.LaneUser].bytesMax = 1 << 20
	for sender := range byte(50) {
		tx := m.tx(sender, 0, 1)
		tx.Tx.MaxFeePerCycle = 1_000 // not cut below a base fee of 1,000
		mustAdd(t, p, tx)
	}
	set := func(base chain.Wei) (moved, looked int) {
		var all [chain.NumLanes]chain.FeePair
		all[chain.LaneUser].PerCycle = base
		for i := range p.shards {
			for l := range p.shards[i].lanes[chain.LaneUser].fifos {
				if f := &p.shards[i].lanes[chain.LaneUser].fifos[l]; f.head != nil && !f.still.hold(all[chain.LaneUser]) {
					looked++
				}
			}
		}
		return p.reprice(all), looked
	}
	for _, base := range []chain.Wei{10, 900, 1, 999} {
		if moved, looked := set(base); moved != 0 || looked != 0 {
			t.Errorf("base fee %d: %d lists looked at, %d moved; want none", base, looked, moved)
		}
	}
	if moved, _ := set(1_000); moved != 50 { // the caps leave no tip
		t.Errorf("%d moved, want all 50", moved)
	}
	if moved, _ := set(1_001); moved != 50 { // priced out
		t.Errorf("%d moved, want all 50", moved)
	}
	if moved, looked := set(5_000); moved != 0 || looked != 0 {
		t.Errorf("further above their caps: %d lists looked at, %d moved; want none", looked, moved)
	}
	if moved, _ := set(500); moved != 50 {
		t.Errorf("%d moved back, want all 50", moved)
	}
}

// levelOfTip is the level of a transfer with a tip under the fees in force.
func (p *bare) levelOfTip(tip chain.Wei) level {
	var m maker
	tx := m.tx(1, 0, tip).Tx
	return p.basis.prices[chain.LaneUser].levelOf(tx, limitsOf(tx))
}

func limitsOf(tx *chain.Tx) chain.Usage {
	return chain.Usage{Cycles: tx.CyclesLimit, Cells: tx.CellsLimit}
}

// TestManyPromotedAtOnce: a crowd of small messages that was barred by few large ones, and
// finds room when these go, is placed among as many that came later by one walk.
func TestManyPromotedAtOnce(t *testing.T) {
	const crowd, after = 12_000, 12_000
	cfg := validatorConfig()
	cfg.actorRefill, cfg.actorMost = 1_000_000, 100_000_000
	p := newBare(cfg, 10)
	var m maker
	actor := chain.Address{0xac, 1}
	add := func(sender, nonce int, to *chain.Address, limit chain.Cycles) {
		tx := m.tx(0, uint64(nonce), 10)
		tx.Tx.To, tx.Tx.CyclesLimit = to, limit
		binary.BigEndian.PutUint64(tx.Sender[:], uint64(sender))
		if _, err := p.add(tx, 0, account{}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 100 { // as much as the actor can serve
		p.message(t, &m, 1, n, actor[1], 1_000_000)
	}
	for i := range crowd {
		add(2+i/250, i%250, &actor, 10)
	}
	for i := range after {
		add(100_000+i/250, i%250, nil, 10)
	}
	if got := p.stats().Lanes[chain.LaneUser].Barred; got < crowd {
		t.Fatalf("%d of %d are barred", got, crowd)
	}
	var large chain.Address
	binary.BigEndian.PutUint64(large[:], 1)
	p.refresh(large, account{Nonce: 100})
	if moved := p.reprice(p.laneBases()); moved != crowd || p.placed() > 2*(crowd+after) {
		t.Errorf("%d of %d moved, past %d of %d entries", moved, crowd, p.placed(), crowd+after)
	}
	p.checkShards(t)
}

// TestBar: messages that found their actors busy make room in a full lane for what pays
// less, and have their places again after some heads.
func TestBar(t *testing.T) { // ADR 128
	const crowd = 40
	cfg := validatorConfig()
	cfg.actorRefill, cfg.actorMost, cfg.LaneTxs[chain.LaneUser] = 1_000_000, 10_000_000, crowd
	p := newBare(cfg, 10)
	var m maker
	add := func(sender byte, to *chain.Address, tip chain.Wei) (*chain.VerifiedTx, error) {
		tx := m.tx(sender, 0, tip)
		tx.Tx.To = to
		_, err := p.add(tx, 0, account{})
		return tx, err
	}
	var busy []*chain.VerifiedTx
	for n := range byte(crowd) {
		tx, err := add(n, &chain.Address{0xac}, 50)
		if err != nil {
			t.Fatal(err)
		}
		busy = append(busy, tx)
	}
	if _, err := add(100, nil, 1); err == nil {
		t.Error("a lane full of what pays more takes what pays less")
	}
	was, _ := p.lookup(busy[3].Hash)
	p.bar(append(busy[:30:30], &chain.VerifiedTx{Hash: chain.Hash{0xff}}))
	p.checkShards(t)
	for n := range byte(20) {
		if _, err := add(100+n, nil, 1); err != nil {
			t.Errorf("payment %d: %v", n, err)
		}
	}
	if s := p.stats().Lanes[chain.LaneUser]; s.Barred != 10 || s.Txs != crowd {
		t.Errorf("%d of %d are barred, want 10", s.Barred, s.Txs)
	}
	for passed := range uint64(barredHeads + 1) {
		is, _ := p.lookup(busy[3].Hash)
		if barred := passed < barredHeads; (is.State == WaitBarred) != barred || !barred && is != was {
			t.Errorf("%d heads later: %+v, first %+v", passed, is, was)
		}
		if err := p.advance(head{Height: chain.Height(passed + 1), BaseFees: p.laneBases(), account: func(chain.Address) (account, error) { return account{Height: chain.Height(passed + 1)}, nil }}, nil, nil); err != nil {
			t.Fatal(err)
		}
		p.checkShards(t)
	}
}
