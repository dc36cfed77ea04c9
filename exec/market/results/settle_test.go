package results_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
)

// wei is an amount as the vectors spell it.
type wei chain.Wei

func (w *wei) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	*w = wei(v)
	return err
}

func amounts[T ~uint64](list ...T) []chain.Wei {
	var out []chain.Wei
	for _, v := range list {
		out = append(out, chain.Wei(v))
	}
	return out
}

func TestSettlementsOfOthers(t *testing.T) { // resolution 12.13
	var rest struct {
		Settlements []struct {
			MaxPrice   wei `json:"max_price"`
			Tip        wei
			Runners    uint64
			Costs      []wei
			Aggregator *int
			Pays       struct {
				Runners          []wei
				Treasury, Refund wei
			}
		}
	}
	vectors.Decode(t, "selection/rest.json", &rest)
	for i, s := range rest.Settlements {
		e := results.Escrow{
			MaxPrice: chain.Wei(s.MaxPrice), Tip: chain.Wei(s.Tip), Runners: s.Runners, Costs: amounts(s.Costs...),
			TreasuryBasisPoints: 100, BonusBasisPoints: 150,
		}
		if s.Aggregator != nil {
			e.Gathered, e.Aggregator = true, *s.Aggregator
		}
		got, err := e.Settle()
		if err != nil || !slices.Equal(got.Runners, amounts(s.Pays.Runners...)) ||
			got.Treasury != chain.Wei(s.Pays.Treasury) || got.Refund != chain.Wei(s.Pays.Refund) {
			t.Errorf("settlement %d: %+v, want %+v: %v", i, got, s.Pays, err)
		}
	}
	if len(rest.Settlements) < 8 {
		t.Errorf("%d settlements", len(rest.Settlements))
	}
}

func TestSettlements(t *testing.T) { // by hand: resolutions 5.14, 6.3-6.5, 12.13
	for _, c := range []struct {
		name string
		e    results.Escrow
		want results.Payout
	}{
		{
			"one runner",
			results.Escrow{MaxPrice: 10_000, Tip: 7, Runners: 1, Costs: amounts[uint64](5_000)},
			results.Payout{Runners: amounts[uint64](4_957), Treasury: 50, Refund: 5_000},
		},
		{
			"two of three, one gathered, neither divides", results.Escrow{
				MaxPrice: 30_002, Tip: 5, Runners: 3, Costs: amounts[uint64](199, 20_000), Gathered: true, Aggregator: 1,
			}, // 199: Treasury 1, bonus 2; the share 10,000: Treasury 100, bonus 150; tip 2 and 1 more
			results.Payout{Runners: amounts[uint64](199-1-2+3, 10_000-100-150+2+152), Treasury: 101, Refund: 30_002 - 10_199},
		},
		{"nobody", results.Escrow{MaxPrice: 9, Tip: 5, Runners: 3}, results.Payout{Refund: 14}},
		{
			"a price below the number of runners",
			results.Escrow{MaxPrice: 2, Tip: 2, Runners: 3, Costs: amounts[uint64](1, 1, 1)},
			results.Payout{Runners: amounts[uint64](2, 0, 0), Refund: 2},
		},
		{
			"all there is",
			results.Escrow{MaxPrice: 1<<64 - 2, Tip: 1, Runners: 1, Costs: []chain.Wei{1<<64 - 1}},
			results.Payout{Runners: []chain.Wei{18262276632972456098 + 1}, Treasury: 184467440737095516},
		},
	} {
		c.e.TreasuryBasisPoints, c.e.BonusBasisPoints = 100, 150
		got, err := c.e.Settle()
		if err != nil || !slices.Equal(got.Runners, c.want.Runners) || got.Treasury != c.want.Treasury || got.Refund != c.want.Refund {
			t.Errorf("%s: %+v, want %+v: %v", c.name, got, c.want, err)
		}
	}
}

func TestNoEscrow(t *testing.T) {
	good := results.Escrow{MaxPrice: 9, Tip: 1, Runners: 2, Costs: amounts[uint64](1, 2), TreasuryBasisPoints: 100, BonusBasisPoints: 9_900, Gathered: true, Aggregator: 1}
	if _, err := good.Settle(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*results.Escrow){
		"more than 64 bits":     func(e *results.Escrow) { e.MaxPrice = 1<<64 - 1 },
		"for nobody":            func(e *results.Escrow) { e.Runners, e.Costs, e.Gathered = 0, nil, false },
		"more paid than asked":  func(e *results.Escrow) { e.Runners = 1 },
		"more parts than whole": func(e *results.Escrow) { e.BonusBasisPoints++ },
		"a Treasury above all":  func(e *results.Escrow) { e.TreasuryBasisPoints, e.BonusBasisPoints = 10_001, 0 },
		"an aggregator unpaid":  func(e *results.Escrow) { e.Aggregator = 2 },
		"an aggregator before":  func(e *results.Escrow) { e.Aggregator = -1 },
	} {
		e := good
		spoil(&e)
		if _, err := e.Settle(); !errors.Is(err, results.ErrEscrow) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzSettle: the amounts sum to the escrow, and are those of the rule in numbers without a
// bound.
func FuzzSettle(f *testing.F) {
	f.Add(uint64(100_000_001), uint64(7), uint8(5), uint8(4), uint8(0), uint64(1))
	f.Add(^uint64(0), uint64(0), uint8(1), uint8(1), uint8(9), uint64(2))
	f.Add(uint64(1)<<63, uint64(1)<<63-1, uint8(16), uint8(16), uint8(3), uint64(3))
	f.Fuzz(func(t *testing.T, price, tip uint64, runners, paid, aggregator uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		e := results.Escrow{MaxPrice: chain.Wei(price), Tip: chain.Wei(min(tip, ^price)), Runners: 1 + uint64(runners), TreasuryBasisPoints: rng.Uint64N(10_001)}
		e.BonusBasisPoints = rng.Uint64N(10_001 - e.TreasuryBasisPoints)
		for range uint64(paid) % (e.Runners + 1) {
			e.Costs = append(e.Costs, chain.Wei(rng.Uint64()>>rng.IntN(64)))
		}
		e.Gathered, e.Aggregator = int(aggregator) < len(e.Costs), int(aggregator)
		got, err := e.Settle()
		if err != nil {
			t.Fatal(err)
		}
		want := plainSettle(&e)
		have := append(append([]chain.Wei(nil), got.Runners...), got.Treasury, got.Refund)
		sum := new(big.Int)
		for i, v := range have {
			n := new(big.Int).SetUint64(uint64(v))
			if i >= len(want) || n.Cmp(want[i]) != 0 {
				t.Fatalf("%+v: %+v, want %v", e, got, want)
			}
			sum.Add(sum, n)
		}
		if held := new(big.Int).SetUint64(uint64(e.MaxPrice) + uint64(e.Tip)); sum.Cmp(held) != 0 || len(have) != len(want) {
			t.Fatalf("%+v: %v of %v", e, sum, held)
		}
	})
}

// plainSettle is resolution 12.13 term by term: the runners, the Treasury, the refund.
func plainSettle(e *results.Escrow) []*big.Int {
	n := func(v chain.Wei) *big.Int { return new(big.Int).SetUint64(uint64(v)) }
	rate := func(v *big.Int, bp uint64) *big.Int {
		out := new(big.Int).Mul(v, new(big.Int).SetUint64(bp))
		return out.Div(out, big.NewInt(10_000))
	}
	paid := int64(len(e.Costs))
	if paid == 0 {
		return []*big.Int{new(big.Int), new(big.Int).Add(n(e.MaxPrice), n(e.Tip))}
	}
	share := new(big.Int).Div(n(e.MaxPrice), new(big.Int).SetUint64(e.Runners))
	treasury, bonuses, spent := new(big.Int), new(big.Int), new(big.Int)
	var out []*big.Int
	for _, cost := range e.Costs {
		g := n(cost)
		if g.Cmp(share) > 0 {
			g.Set(share)
		}
		spent.Add(spent, g)
		cut, bonus := rate(g, e.TreasuryBasisPoints), new(big.Int)
		if e.Gathered {
			bonus = rate(g, e.BonusBasisPoints)
		}
		treasury.Add(treasury, cut)
		bonuses.Add(bonuses, bonus)
		g = new(big.Int).Sub(new(big.Int).Sub(g, cut), bonus)
		out = append(out, g.Add(g, new(big.Int).Div(n(e.Tip), big.NewInt(paid))))
	}
	out[0].Add(out[0], new(big.Int).Mod(n(e.Tip), big.NewInt(paid)))
	if e.Gathered {
		out[e.Aggregator].Add(out[e.Aggregator], bonuses)
	}
	return append(out, treasury, new(big.Int).Sub(n(e.MaxPrice), spent))
}
