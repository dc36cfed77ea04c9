//spec:implements whitepaper 8.1-8.3

package staking

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// Block is what rewards depend on.
type Block struct {
	State        *state.Overlay
	Params       *params.Params
	Height       chain.Height
	Validators   []chain.Validator // of the block's epoch
	Proposer     chain.Address
	Burned, Tips chain.Wei // of everything in the block
}

// Reward pays the block's issuance and tips, and writes the record. Issuance goes to
// the validators in proportion to their stakes, each share rounded down; what rounding
// leaves goes to the proposer, with the tips (whitepaper §8.2, §8.4, "Staking and
// Rewards"; resolution 2.15). The error is a fault.
func (s *Supply) Reward(b *Block) (issued chain.Wei, err error) {
	s.startYear(b.Params, b.Height)
	issued = s.issuance(b.Params)
	left := issued
	var stakes chain.Wei
	// Bounded: by the validators of an epoch, once a block.
	for i := range b.Validators {
		if !funds.Add(&stakes, b.Validators[i].Stake) {
			return 0, fmt.Errorf("%w: add up stakes", funds.ErrMoney)
		}
	}
	// Bounded: by the validators of an epoch, once a block.
	for i := range b.Validators {
		v := &b.Validators[i]
		if v.Stake == 0 {
			continue // also keeps a set without stake from dividing by 0
		}
		hi, lo := bits.Mul64(uint64(issued), uint64(v.Stake))
		share, _ := bits.Div64(hi, lo, uint64(stakes)) // stake <= stakes, so the quotient fits
		left -= chain.Wei(share)
		if err := funds.Issue(b.State, v.RewardAddress, chain.Wei(share)); err != nil {
			return 0, fmt.Errorf("%w: reward %s", err, v.RewardAddress)
		}
	}
	if !funds.Add(&left, b.Tips) {
		return 0, fmt.Errorf("%w: add up rewards", funds.ErrMoney)
	}
	if err := funds.Issue(b.State, b.Proposer, left); err != nil {
		return 0, fmt.Errorf("%w: reward %s", err, b.Proposer)
	}
	if err := s.bookBlock(issued, b.Burned); err != nil {
		return 0, err
	}
	b.State.SetStorage(chain.AddrTreasury, supplyKey(), s.encode())
	return issued, nil
}

// startYear notes the supply at the start of each year, which is what the
// year's issuance is a part of (resolution 9.4). Block 1 starts year 1.
func (s *Supply) startYear(p *params.Params, h chain.Height) {
	if year := uint64(h-1)/p.BlocksPerYear + 1; s.Year != year {
		s.Year, s.YearStart = year, s.Total
	}
}

// issuance returns what one block of the current year issues: the supply at its
// start times the year's rate over the blocks of a year, rounded down, and
// never past 64 bits of supply.
func (s *Supply) issuance(p *params.Params) chain.Wei {
	hi, lo := bits.Mul64(uint64(s.YearStart), yearRate(p, s.Year))
	divisor := params.BasisPoints * p.BlocksPerYear
	if hi >= divisor {
		return math.MaxUint64 - s.Total // unreachable under Params.Check: rates are at most 1
	}
	issued, _ := bits.Div64(hi, lo, divisor)
	return min(chain.Wei(issued), math.MaxUint64-s.Total)
}

// yearRate returns the issuance rate of a year, counted from 1, in basis points
// (whitepaper §8.2). A year that two rows name belongs to the first (resolution
// 9.3).
func yearRate(p *params.Params, year uint64) uint64 {
	// Bounded: by the rows of the genesis.
	for _, step := range p.InflationBasisPoints {
		if year <= step.UntilYear || step.UntilYear == 0 {
			return step.BasisPoints
		}
	}
	return 0
}
