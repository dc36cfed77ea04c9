package rent

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// Price is the rate of rent at one moment.
type Price struct {
	params *params.Params
	factor uint64
}

// PriceOf returns the rate of the view.
func PriceOf(v state.View, p *params.Params) (Price, error) {
	t, err := ReadTotals(v)
	return Price{p, t.Factor}, err
}

// taxed returns the bytes that rent is paid for: used or bonded, whichever is
// more, beyond the exempt ones (resolutions 3.1, 3.4).
func (p Price) taxed(used, quota uint64) uint64 {
	n := max(used, quota)
	return n - min(n, p.params.Rent.ExemptBytes)
}

// Yearly returns the rent of a year for so many bytes, all of them counted; it
// saturates.
func (p Price) Yearly(used, quota uint64) chain.Wei {
	return chain.Wei(p.yearly(p.taxed(used, quota)))
}

func (p Price) yearly(bytes uint64) uint64 {
	return mulDiv(mulDiv(bytes, uint64(p.params.Rent.PricePerByteYear), 1), p.factor, Unit)
}

// days is how many charges a year has.
func (p Price) days() uint64 {
	return max(p.params.BlocksPerYear/max(p.params.Rent.ChargeBlocks, 1), 1)
}

// daily returns one charge and what its division leaves for the next, rest being
// what the last one left (resolution 3.5).
func (p Price) daily(bytes, rest uint64) (chain.Wei, uint64) {
	year, carry := bits.Add64(p.yearly(bytes), rest, 0)
	if carry >= p.days() {
		return math.MaxUint64, 0
	}
	due, left := bits.Div64(carry, year, p.days())
	return chain.Wei(due), left
}

// PerEpoch returns the rent of one epoch of the API, rounded up (resolution
// 11.35: a charge is 24 of them by default).
func (p Price) PerEpoch(used, quota uint64) chain.Wei {
	epochs := max(p.params.BlocksPerYear/max(p.params.EpochBlocks, 1), 1)
	year := p.yearly(p.taxed(used, quota))
	return chain.Wei(year/epochs + min(year%epochs, 1))
}

// Reserve returns what of an actor's balance only rent may use: a part of a
// year's rent (whitepaper, "Minimum Balance Reserve").
func (p Price) Reserve(used, quota uint64) chain.Wei {
	return chain.Wei(mulDiv(uint64(p.Yearly(used, quota)), p.params.Rent.ReserveBasisPoints, params.BasisPoints))
}

// WithFee adds the catch-up fee to missed rent (whitepaper, "Grace Period").
func (p Price) WithFee(missed chain.Wei) chain.Wei {
	return plus(missed, chain.Wei(mulDiv(uint64(missed), p.params.Rent.CatchUpBasisPoints, params.BasisPoints)))
}

// plus returns a+b; it saturates.
func plus(a, b chain.Wei) chain.Wei {
	n, carry := bits.Add64(uint64(a), uint64(b), 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return chain.Wei(n)
}

// advanceFactor moves the factor once a rent epoch: by (S-T)/(T·alpha), at most delta
// either way, never below 1 (whitepaper, "Market-Based Rent Pricing"; resolutions
// 3.1, 11.35, 14.3).
func (t *Totals) advanceFactor(p *params.Rent) {
	target := max(p.TargetStateBytes, 1)
	gap := max(t.Bytes, target) - min(t.Bytes, target)
	step := min(mulDiv(mulDiv(t.Factor, gap, target), 1, max(p.Alpha, 1)), mulDiv(t.Factor, p.DeltaBasisPoints, params.BasisPoints))
	if t.Bytes >= target {
		sum, carry := bits.Add64(t.Factor, step, 0)
		if carry == 0 {
			t.Factor = sum
		}
		return
	}
	t.Factor = max(t.Factor-step, Unit)
}

// mulDiv returns a·b/c rounded down; it saturates.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}
