//spec:implements whitepaper 5.3, 17.7

package results

import (
	"errors"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// basisPoints are the whole of which rates are parts.
const basisPoints = 10_000

// Escrow is what a requester put down for a job, and who is to be paid out of it.
type Escrow struct {
	MaxPrice chain.Wei
	Tip      chain.Wei // 0 where an outcome gives it back (resolution 12.52)
	Runners  uint64    // seats that were asked for; each may cost its share of MaxPrice
	// Costs are usage times rates of the runners that are paid, in the order of the
	// committee.
	Costs []chain.Wei
	// Gathered says that one of these, at place Aggregator, revealed for others.
	Gathered   bool
	Aggregator int

	TreasuryBasisPoints uint64 // of what each runner earns
	BonusBasisPoints    uint64 // of what each runner earns, to the aggregator
}

// Payout is an escrow divided: the sum of its amounts is MaxPrice + Tip.
type Payout struct {
	Runners  []chain.Wei // by place in Escrow.Costs, with tips and bonus
	Treasury chain.Wei
	Refund   chain.Wei // to the requester
}

// ErrEscrow means an escrow that no job has: a fault of the caller.
var ErrEscrow = errors.New("no escrow of a job")

// Settle divides an escrow (resolutions 5.14, 6.3-6.5, 12.13). A runner earns what it
// cost, at most its share of the price; of that the Treasury and the aggregator get their
// parts, each floored. The tip goes to the runners in equal parts, what does not divide to
// the first of them. What nobody earned goes back; the tip too, if nobody is paid.
//
// Nothing overflows: MaxPrice + Tip is checked, a runner earns at most
// floor(MaxPrice/Runners), at most Runners are paid, and both parts of what one earned are
// not more than that.
func (e *Escrow) Settle() (Payout, error) {
	held, carry := bits.Add64(uint64(e.MaxPrice), uint64(e.Tip), 0)
	paid := uint64(len(e.Costs))
	if carry != 0 || e.Runners == 0 || paid > e.Runners || e.TreasuryBasisPoints > basisPoints ||
		e.BonusBasisPoints > basisPoints-e.TreasuryBasisPoints || e.Gathered && (e.Aggregator < 0 || e.Aggregator >= len(e.Costs)) {
		return Payout{}, ErrEscrow
	}
	if paid == 0 {
		return Payout{Refund: chain.Wei(held)}, nil
	}
	p := Payout{Runners: make([]chain.Wei, paid), Refund: e.MaxPrice}
	share := selection.Share(e.MaxPrice, e.Runners)
	var bonuses chain.Wei
	// Bounded: by the seats of a job.
	for place, cost := range e.Costs {
		earned := min(cost, share)
		treasury, bonus := part(earned, e.TreasuryBasisPoints), chain.Wei(0)
		if e.Gathered {
			bonus = part(earned, e.BonusBasisPoints)
		}
		p.Runners[place] = earned - treasury - bonus + e.Tip/chain.Wei(paid)
		p.Treasury += treasury
		bonuses += bonus
		p.Refund -= earned
	}
	p.Runners[0] += e.Tip % chain.Wei(paid)
	if e.Gathered {
		p.Runners[e.Aggregator] += bonuses
	}
	return p, nil
}

// part returns floor(amount · rate / 10,000) for a rate of at most 10,000: no product has
// more than 64 bits, and the whole ten thousands of an amount leave no rest.
func part(amount chain.Wei, rate uint64) chain.Wei {
	r := chain.Wei(rate)
	return amount/basisPoints*r + amount%basisPoints*r/basisPoints
}
