package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// Stats is what the lanes have done since they started and what it holds.
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
	Aged      uint64 // left because they had waited too long
	Moved     uint64 // changed tier with the base fee
	Packs     uint64 // candidate blocks picked
	Packed    uint64 // transactions in them

	Lanes [chain.NumLanes]LaneStats
}

// LaneStats is what one lane holds.
type LaneStats struct {
	Txs         int
	Bytes       int // that those with large bodies hold, of each beyond Config.SmallBytes
	Queued      int // of Txs: wait for an earlier nonce
	Underpriced int // of Txs: wait for a lower base fee
	Barred      int // of Txs: wait for a busy actor
}

// Stats returns the counters. It waits for nobody, so numbers that belong
// together may be one operation apart.
func (l *Lanes) Stats() Stats { return l.pool.stats() }

func (s *pool) stats() Stats {
	out := Stats{Packs: s.counts.picks.Load(), Packed: s.counts.picked.Load()}
	for i := range s.shards {
		h := &s.shards[i]
		c := &h.counts
		out.Admitted += c.admitted.Load()
		out.Known += c.known.Load()
		out.Full += c.full.Load()
		out.Refused += c.refused.Load()
		out.Replaced += c.replaced.Load()
		out.Evicted += c.evicted.Load()
		out.Included += c.included.Load()
		out.Outdated += c.outdated.Load()
		out.Starved += c.starved.Load()
		out.Discarded += c.discarded.Load()
		out.Aged += c.aged.Load()
		out.Moved += c.moved.Load()
		for lane := range h.lanes {
			idle := &h.lanes[lane].idle
			out.Lanes[lane].Queued += int(idle[levelQueued].Load())
			out.Lanes[lane].Underpriced += int(idle[levelUnderpriced].Load())
			out.Lanes[lane].Barred += int(idle[levelBarred].Load())
		}
	}
	for lane := range s.lanes {
		out.Lanes[lane].Txs, out.Lanes[lane].Bytes = unpack(s.lanes[lane].held.Load())
	}
	return out
}

// Executable is how many transactions are at the level from which blocks are picked: next
// in their sender's order, paid for, and waiting for no actor. It waits for nobody, so that
// it may be some operations behind.
func (l *Lanes) Executable() int { return l.pool.executable() }

func (s *pool) executable() int {
	n := s.held()
	for i := range s.shards {
		for lane := range s.shards[i].lanes {
			idle := &s.shards[i].lanes[lane].idle
			n -= int(idle[levelQueued].Load() + idle[levelUnderpriced].Load() + idle[levelBarred].Load())
		}
	}
	return max(n, 0)
}

// held is how many transactions the pool holds.
func (s *pool) held() (n int) {
	for lane := range s.lanes {
		txs, _ := unpack(s.lanes[lane].held.Load())
		n += txs
	}
	return n
}
