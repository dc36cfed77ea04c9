package fees_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

func TestGrowthFactor(t *testing.T) {
	p := params.State{LimitBytes: 1_300, PriceDoublings: 13}
	for _, row := range []struct{ kept, want uint64 }{
		{0, 10_000},
		{100, 10_000}, // the first part
		{101, 10_100},
		{150, 15_000},
		{200, 20_000},
		{250, 30_000},
		{300, 40_000},
		{1_300, 4_096 * 10_000}, // the limit
		{1_400, 8_192 * 10_000}, // the protocol may go beyond
		{math.MaxUint64, 10_000 << 40},
	} {
		if got := fees.GrowthFactor(&p, row.kept); got != row.want {
			t.Errorf("factor of %d bytes: %d, want %d", row.kept, got, row.want)
		}
	}
	d := params.Default()
	if most := fees.GrowthFactor(&d.State, d.State.LimitBytes); (&fees.Growth{Entries: 1}).Cells(&d, most) <= d.MaxTxCells {
		t.Error("a transaction can afford a new entry at the limit")
	}
}

// FuzzGrowth: the price of growth is what arithmetic without limits says, or more
// than any limit; it never falls as the state grows.
func FuzzGrowth(f *testing.F) {
	f.Add(uint64(2), uint64(3), uint64(700), uint64(60), uint64(5_000_000_000), uint64(5_000_000_001))
	f.Add(uint64(0), uint64(1), uint64(0), uint64(0), uint64(math.MaxUint64), uint64(0))
	f.Fuzz(func(t *testing.T, accounts, entries, bytes, unpaid, kept, more uint64) {
		p := params.Default()
		unpaid = min(unpaid, bytes)
		g := fees.Growth{Accounts: accounts, Entries: entries, Bytes: bytes, Unpaid: unpaid}
		factor := fees.GrowthFactor(&p.State, kept)
		if more > kept && fees.GrowthFactor(&p.State, more) < factor {
			t.Fatalf("cheaper at %d than at %d", more, kept)
		}
		n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
		row := new(big.Int).Mul(n(entries), n(uint64(p.API.NewEntryCells)))
		row.Add(row, new(big.Int).Mul(n(accounts), n(uint64(p.API.NewAccountCells))))
		want := new(big.Int).Add(row, n(unpaid))
		all := new(big.Int).Add(row, n(bytes))
		all.Mul(all, n(factor-fees.GrowthOne)).Add(all, n(fees.GrowthOne-1)).Div(all, n(fees.GrowthOne))
		if want.Add(want, all); !want.IsUint64() {
			want = n(math.MaxUint64)
		}
		if got := g.Cells(&p, factor); n(uint64(got)).Cmp(want) != 0 && got < math.MaxUint64/4 {
			t.Fatalf("%+v at %d costs %d, want %v", g, factor, got, want)
		}
	})
}
