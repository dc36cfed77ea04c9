package lanes

import (
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Stats is what the lanes have done since they started and what they hold.
type Stats struct {
	Admitted  uint64 // taken into the pool, replacements included
	Known     uint64 // refused because they were there
	Full      uint64 // refused because their lane was full of better ones
	Refused   uint64 // refused for nonce, balance, price or protocol rules
	Replaced  uint64 // pushed out by one of the same sender and nonce
	Evicted   uint64 // pushed out of a full lane by a better one
	Included  uint64 // left with a finalized block
	Outdated  uint64 // left because another transaction used their nonce
	Starved   uint64 // left because their sender's balance fell
	Discarded uint64 // left because the ledger said so
	Moved     uint64 // changed tier with the base fee
	Packs     uint64 // candidate blocks packed
	Packed    uint64 // transactions in them

	Lanes [chain.NumLanes]LaneStats
}

// LaneStats is what one lane holds.
type LaneStats struct {
	Txs         int
	Bytes       int
	Parked      int // of Txs: wait for an earlier nonce
	Underpriced int // of Txs: wait for a lower base fee
}

// counters is Stats as the owner writes and anyone reads it.
type counters struct {
	admitted, known, full, refused         atomic.Uint64
	replaced, evicted                      atomic.Uint64
	included, outdated, starved, discarded atomic.Uint64
	moved, packs, packed                   atomic.Uint64

	lanes [chain.NumLanes]struct{ txs, bytes, parked, underpriced atomic.Int64 }
}

// publish makes the owner's totals visible to Stats.
func (l *Lanes) publish() {
	for i := range l.pool.lanes {
		q, c := &l.pool.lanes[i], &l.counts.lanes[i]
		c.txs.Store(int64(q.txs))
		c.bytes.Store(int64(q.bytes))
		c.parked.Store(int64(q.counts[levelParked]))
		c.underpriced.Store(int64(q.counts[levelUnderpriced]))
	}
}

// Stats returns the counters. It never waits for the owner, so numbers that
// belong together may be one request apart.
func (l *Lanes) Stats() Stats {
	c := &l.counts
	s := Stats{
		Admitted: c.admitted.Load(), Known: c.known.Load(), Full: c.full.Load(), Refused: c.refused.Load(),
		Replaced: c.replaced.Load(), Evicted: c.evicted.Load(),
		Included: c.included.Load(), Outdated: c.outdated.Load(), Starved: c.starved.Load(), Discarded: c.discarded.Load(),
		Moved: c.moved.Load(), Packs: c.packs.Load(), Packed: c.packed.Load(),
	}
	for i := range c.lanes {
		q := &c.lanes[i]
		s.Lanes[i] = LaneStats{
			Txs: int(q.txs.Load()), Bytes: int(q.bytes.Load()),
			Parked: int(q.parked.Load()), Underpriced: int(q.underpriced.Load()),
		}
	}
	return s
}
