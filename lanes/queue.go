package lanes

import (
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// level is where a transaction stands inside its lane. Levels order both
// picking (highest first) and eviction (lowest first).
type level uint8

const (
	levelParked      level = iota // a nonce before it is missing: cannot run yet
	levelUnderpriced              // a fee cap is below the base fee (resolution 2.13)
	levelTier0                    // tiers 0..Tiers-1 follow
)

// Tiers is the number of fee tiers of a lane. Tier t > 0 holds the tips from
// 2^(t-5) up to 2^(t-4) Wei per cycle of weight (see tierOf); tier 0 holds less
// than a sixteenth of a Wei, and the last tier everything above its edge.
const Tiers = 32

const numLevels = int(levelTier0) + Tiers // 34, so that one word is the bitmap

// entry is one transaction in the pool.
type entry struct {
	tx    *chain.VerifiedTx
	of    *sender
	cost  chain.Wei // most that the transaction can take from its sender
	seq   uint64    // place in the order of arrival; ascending along every fifo
	level level
	mark  bool // to be evicted by the admission at hand; false between operations
	final bool // stands in the head that is being taken in

	prev, next *entry // neighbours in the fifo of (lane, level)
}

func (e *entry) nonce() uint64 { return e.tx.Tx.Nonce }

// fifo is a list of entries in ascending seq.
type fifo struct{ head, tail *entry }

// insertBefore puts e in front of at, or at the tail when at is nil.
func (f *fifo) insertBefore(e, at *entry) {
	if at == nil {
		e.prev, e.next = f.tail, nil
		f.tail = e
	} else {
		e.prev, e.next = at.prev, at
		at.prev = e
	}
	if e.prev == nil {
		f.head = e
	} else {
		e.prev.next = e
	}
}

func (f *fifo) remove(e *entry) {
	if e.prev == nil {
		f.head = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		f.tail = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}

// laneQueue holds the transactions of one lane by level, and their totals.
type laneQueue struct {
	fifos  [numLevels]fifo
	counts [numLevels]int
	filled uint64 // bit i is set while fifos[i] holds anything
	txs    int
	bytes  int
}

// push appends e to the fifo of its level.
func (q *laneQueue) push(e *entry) { q.insertBefore(e, nil) }

func (q *laneQueue) insertBefore(e, at *entry) {
	q.fifos[e.level].insertBefore(e, at)
	q.counts[e.level]++
	q.filled |= 1 << e.level
	q.txs++
	q.bytes += len(e.tx.Body)
}

func (q *laneQueue) remove(e *entry) {
	q.fifos[e.level].remove(e)
	if q.counts[e.level]--; q.counts[e.level] == 0 {
		q.filled &^= 1 << e.level
	}
	q.txs--
	q.bytes -= len(e.tx.Body)
}

// swap puts e in the exact place of old, which leaves. Both have one level.
func (q *laneQueue) swap(old, e *entry) {
	e.seq = old.seq
	q.insertBefore(e, old)
	q.remove(old)
}

// below returns the highest filled level under l, or false when there is none.
func (q *laneQueue) below(l level) (level, bool) {
	under := q.filled & (1<<l - 1)
	if under == 0 {
		return 0, false
	}
	return level(bits.Len64(under) - 1), true
}

// above returns the lowest filled level at or above l, or false.
func (q *laneQueue) above(l level) (level, bool) {
	over := q.filled >> l << l
	if over == 0 {
		return 0, false
	}
	return level(bits.TrailingZeros64(over)), true
}

// relevel moves every transaction whose level under the new base fee differs,
// keeping arrival order in the level it joins. Parked ones are left alone: they
// get a level when they can run. The cost is one pass over the lane and a sort
// of those that moved.
func (q *laneQueue) relevel(levelOf func(*chain.Tx) level) (moved int) {
	var movers []*entry
	for l := levelUnderpriced; int(l) < numLevels; l++ {
		for e := q.fifos[l].head; e != nil; {
			next := e.next
			if to := levelOf(e.tx.Tx); to != l {
				q.remove(e)
				e.level = to
				movers = append(movers, e)
			}
			e = next
		}
	}
	slices.SortFunc(movers, func(a, b *entry) int {
		if a.level != b.level {
			return int(a.level) - int(b.level)
		}
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	var at *entry
	for i, e := range movers {
		if i == 0 || movers[i-1].level != e.level {
			at = q.fifos[e.level].head
		}
		for at != nil && at.seq < e.seq {
			at = at.next
		}
		q.insertBefore(e, at)
	}
	return len(movers)
}

// pricing turns fees into levels.
type pricing struct {
	base       chain.FeePair
	cellWeight uint64 // cycles that one cell counts for: cycles target / cells target
}

// levelOf returns where a runnable transaction stands under the base fee.
func (p pricing) levelOf(tx *chain.Tx) level {
	if tx.MaxFeePerCycle < p.base.PerCycle || tx.MaxFeePerCell < p.base.PerCell {
		return levelUnderpriced
	}
	return levelTier0 + level(p.tierOf(tx))
}

// tierOf buckets the tip that the proposer would earn per cycle of weight, if
// the whole limits were used. A cell weighs as many cycles as there are cycles
// per cell in a full block, so one number compares both meters:
//
//	density = (tip_c·cycles_limit + tip_b·cells_limit) / (cycles_limit + cellWeight·cells_limit)
//
// with tip_x the effective tip, min(tip_per_x, max_fee_per_x − base_x)
// (whitepaper §2.3). Tiers
// are the powers of two of 16·density.
func (p pricing) tierOf(tx *chain.Tx) int {
	tip := fees.EffectiveTip(tx, p.base)
	cHi, cLo := bits.Mul64(uint64(tip.PerCycle), uint64(tx.CyclesLimit))
	bHi, bLo := bits.Mul64(uint64(tip.PerCell), uint64(tx.CellsLimit))
	lo, carry := bits.Add64(cLo, bLo, 0)
	hi, over := bits.Add64(cHi, bHi, carry)

	wHi, w := bits.Mul64(uint64(tx.CellsLimit), p.cellWeight)
	w, carry = bits.Add64(w, uint64(tx.CyclesLimit), 0)
	if wHi|carry != 0 {
		return 0 // limits beyond any block: never packed, so of no value
	}
	w = max(w, 1)
	if over != 0 || hi>>60 != 0 {
		return Tiers - 1
	}
	hi, lo = hi<<4|lo>>60, lo<<4
	if hi >= w { // the quotient has more than 64 bits
		return Tiers - 1
	}
	density, _ := bits.Div64(hi, lo, w)
	return min(bits.Len64(density), Tiers-1)
}
