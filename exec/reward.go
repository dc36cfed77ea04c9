package exec

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// reward pays the block's issuance and tips. Issuance goes to the validators in
// proportion to their stakes, each share rounded down; what rounding leaves goes
// to the proposer, with the tips (whitepaper §8.2, §8.4, "Staking and Rewards";
// resolution 2.15).
func (b *block) reward() error {
	s := &b.supply
	s.startYear(b.in.Params, b.in.Height)
	b.result.Issued = s.issuance(b.in.Params)
	left := b.result.Issued
	var stakes chain.Wei
	// Bounded: by the validators of an epoch, once a block.
	for i := range b.in.Validators {
		if !add(&stakes, b.in.Validators[i].Stake) {
			return &Fault{"add up stakes", ErrMoney}
		}
	}
	// Bounded: by the validators of an epoch, once a block.
	for i := range b.in.Validators {
		v := &b.in.Validators[i]
		if v.Stake == 0 {
			continue // also keeps a set without stake from dividing by 0
		}
		hi, lo := bits.Mul64(uint64(b.result.Issued), uint64(v.Stake))
		share, _ := bits.Div64(hi, lo, uint64(stakes)) // stake <= stakes, so the quotient fits
		left -= chain.Wei(share)
		if err := b.credit(v.RewardAddress, chain.Wei(share)); err != nil {
			return err
		}
	}
	if !add(&left, b.result.Tips) {
		return &Fault{"add up rewards", ErrMoney}
	}
	if err := b.credit(b.in.Proposer, left); err != nil {
		return err
	}
	return s.settle(b.result.Issued, b.result.Burned)
}

// startYear notes the supply at the start of each year, which is what the
// year's issuance is a part of (resolution 9.4). Block 1 starts year 1.
func (s *SupplyRecord) startYear(p *chain.Params, h chain.Height) {
	if year := uint64(h-1)/p.BlocksPerYear + 1; s.Year != year {
		s.Year, s.YearStart = year, s.Total
	}
}

// issuance returns what one block of the current year issues: the supply at its
// start times the year's rate over the blocks of a year, rounded down, and
// never past 64 bits of supply.
func (s *SupplyRecord) issuance(p *chain.Params) chain.Wei {
	hi, lo := bits.Mul64(uint64(s.YearStart), yearRate(p, s.Year))
	divisor := chain.BasisPoints * p.BlocksPerYear
	if hi >= divisor {
		return math.MaxUint64 - s.Total // unreachable under Params.Check: rates are at most 1
	}
	issued, _ := bits.Div64(hi, lo, divisor)
	return min(chain.Wei(issued), math.MaxUint64-s.Total)
}

// yearRate returns the issuance rate of a year, counted from 1, in basis points
// (whitepaper §8.2). A year that two rows name belongs to the first (resolution
// 9.3).
func yearRate(p *chain.Params, year uint64) uint64 {
	// Bounded: by the rows of the genesis.
	for _, step := range p.InflationBasisPoints {
		if year <= step.UntilYear || step.UntilYear == 0 {
			return step.BasisPoints
		}
	}
	return 0
}
