package lanes

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// level is where a transaction stands inside its lane. Levels order both
// picking (highest first) and eviction (lowest first).
type level uint8

const (
	levelQueued      level = iota // a nonce before it is missing: cannot run yet
	levelUnderpriced              // a fee cap is below the base fee (resolution 2.13)
	levelBarred                   // its actor or its lane has enough before it (see targets), or it waits for what may not run: runs last
	levelTier0                    // tiers 0..Tiers-1 follow
)

// Tiers is the number of fee tiers of a lane. Tier t > 0 holds the tips from
// 2^(t-5) up to 2^(t-4) Wei per cycle of weight (see tierOf); tier 0 holds less
// than a sixteenth of a Wei, and the last tier everything above its edge.
const Tiers = 32

const numLevels = int(levelTier0) + Tiers // 35, so that one word is the bitmap

// entry is one waiting transaction. What picking looks at is copied here from
// the transaction: a pick then reads one object instead of three, and that is
// where its time went.
type entry struct {
	tx         *chain.VerifiedTx
	of         *sender
	prev, next *entry // neighbours in the fifo of (shard, lane, level)
	anchor     *entry // at whose turn it is picked; see anchorOf
	seq        uint64 // place in the order of arrival, across all shards
	nonce      uint64
	cost       chain.Wei     // most that the transaction can take from its sender
	maxFee     chain.FeePair // fee caps
	uses       chain.Usage   // most that it uses
	unused     chain.Usage   // the rest of its limits
	expected   chain.Usage   // use that it was ranked by when it came
	least      chain.Usage   // likewise, and what it uses in any case; or zero
	ran        chain.Usage   // use in an execution that showed that guesses are wrong, if any
	key        uint64        // what it runs, where only a guess says what it uses; or 0
	calls      call          // what it may take from an actor
	claim      chain.Cycles  // what it asks of its lane, if it may come to nothing; see claimOf
	wide       bool          // few of its kind find room in a block
	stops      bool          // it may find no room for long, and nobody comes by it; see claimOf
	seated     bool          // its sender must have been drawn for the job that it names
	seat       uint64        // the last pick that found that he was
	mayCall    bool          // it is a payment as long as its target has no code
	needs      chain.Means   // what it cannot do without
	drains     chain.Means   // what it may leave those of its sender behind it without
	bytes      int           // of the body
	over       int           // bytes that its place in a lane does not hold (see Config.over)
	born       uint64        // time of the head at which it came
	until      uint64        // count of heads up to which it stays barred, as it found its actor busy
	replaced   uint8         // how many it stands for, one after the other
	lane       chain.LaneID
	level      level
	priced     uint64 // version of the prices that found was found under
	found      level  // of its lane's tiers, whatever bars it
	low        level  // least of its sender's chain in its lane up to it, as of the last follow
	weighed    bool   // it is among the heavies of its lane, at low
	mark       bool   // to be evicted by the admission at hand; false between operations
	final      bool   // stands in the head that is being taken in
	anchors    bool   // it may be another's anchor
}

func newEntry(o *offer, of *sender) *entry {
	tx := o.Tx
	e := &entry{
		tx: tx, of: of, cost: o.Cost, nonce: tx.Tx.Nonce, lane: tx.Lane, bytes: len(tx.Body),
		maxFee: tx.Tx.FeeCaps(),
		uses:   chain.Usage{Cycles: tx.Tx.CyclesLimit - o.Unused.Cycles, Cells: tx.Tx.CellsLimit - o.Unused.Cells},
		unused: o.Unused, calls: o.Calls, mayCall: o.MayCall, expected: o.Expected, least: o.Least, key: o.Key,
		needs: o.Needs, drains: o.Drains, seated: o.Seated,
	}
	if e.expected == (chain.Usage{}) {
		e.expected = e.uses
	}
	return e
}

// countsOne is 1 for what targets count.
func (e *entry) countsOne() int {
	if e.calls.Actor != nil || e.claim > 0 {
		return 1
	}
	return 0
}

// stopsOne is 1 for what bars those behind it.
func (e *entry) stopsOne() int {
	if e.stops {
		return 1
	}
	return 0
}

// levelOfEntry is the level of an executable entry under the base fee: that of its tip on
// what it is expected to use, or on what it uses in any case, if that is lower. A high
// tip on much that is not used then would be paid by nobody (docs/adr/0132).
func (p *pricing) levelOfEntry(e *entry) level {
	l := p.levelOf(e.tx.Tx, e.expected)
	if l > levelTier0 && e.least != (chain.Usage{}) {
		l = min(l, p.levelOf(e.tx.Tx, e.least))
	}
	return l
}

// space is what the entry takes of a block's bytes (see fees.TxBytes).
func (e *entry) space() uint64 { return uint64(e.bytes) + chain.BodyFrameBytes }

// fifo is a list of entries in ascending seq, and a bound on what a change of
// base fee can do to them: while the new one is within still, none of them
// changes its level, and the list is not looked at.
type fifo struct {
	head, tail *entry
	still      bounds
}

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

// laneQueue holds what one shard has of one lane, by level.
type laneQueue struct {
	fifos  [numLevels]fifo
	filled uint64                   // bit i is set while fifos[i] holds anything
	turns  [numLevels]turns         // those of each fifo that lead themselves
	met    uint64                   // bit i is set while turns[i] holds anything
	holed  uint64                   // bit i is set while turns[i] has holes; none between operations
	idle   [levelTier0]atomic.Int64 // entries that are queued, underpriced, barred; read by Stats
	heavy  heavies
	resume *entry   // of the barred: where the next promote of the lane goes on, if it is midway; nil: there is none
	calls  *targets // of the whole pool

	manyLeave bool // in the operation at hand
}

func (q *laneQueue) insertBefore(e, at *entry, p *pricing) {
	q.link(e, at, p)
	q.calls.joinTarget(e)
}

// link is insertBefore of one whose call is counted already.
func (q *laneQueue) link(e, at *entry, p *pricing) {
	f := &q.fifos[e.level]
	if e.level != levelQueued {
		if b := p.boundsOf(e); q.filled>>e.level&1 == 0 {
			f.still = b
		} else {
			f.still.narrow(b)
		}
	}
	f.insertBefore(e, at)
	q.filled |= 1 << e.level
	if e.level < levelTier0 {
		q.idle[e.level].Add(1)
	}
	if e.level == levelBarred {
		q.calls.barred.Add(1)
	}
}

func (q *laneQueue) remove(e *entry) {
	if e.anchor == e {
		q.endTurn(e)
	}
	e.anchor, e.anchors = nil, false
	q.lift(e)
	if q.resume == e {
		q.resume = e.next
	}
	f := &q.fifos[e.level]
	f.remove(e)
	q.calls.leaveTarget(e)
	if f.head == nil {
		q.filled &^= 1 << e.level
	}
	if e.level < levelTier0 {
		q.idle[e.level].Add(-1)
	}
	if e.level == levelBarred {
		q.calls.barred.Add(-1)
	}
}

// swap puts e in the exact place of old, which leaves. Both have one level.
func (q *laneQueue) swap(old, e *entry, p *pricing) {
	e.seq = old.seq
	q.insertBefore(e, old, p)
	q.remove(old)
}

// highestBelow returns the highest level of the bitmap under l, or false when
// there is none.
func highestBelow(filled uint64, l level) (level, bool) {
	under := filled & (1<<l - 1)
	if under == 0 {
		return 0, false
	}
	return level(bits.Len64(under) - 1), true
}

// lowestFrom returns the lowest level of the bitmap at or above l, or false.
func lowestFrom(filled uint64, l level) (level, bool) {
	over := filled >> l << l
	if over == 0 {
		return 0, false
	}
	return level(bits.TrailingZeros64(over)), true
}

// relevelled is the level that an entry moves to under a new base fee. One that may be
// barred and becomes payable waits among the barred for its turn to be promoted.
func (q *laneQueue) relevelled(p *pricing, e *entry) level {
	to := p.levelOfEntry(e)
	if to >= levelTier0 && e.level < levelTier0 && q.calls.mayBar(e) {
		return levelBarred
	}
	return to
}

// relevel takes every transaction whose level under the new base fee differs out of its
// list and says where it belongs; rejoin must follow. Queued ones are left alone: they
// get a level when they can run. So are the barred, whom the head's promote judges, a part
// of a crowd at a time: who likes can have a lane full of them whose levels change with
// every fee. Lists whose bounds hold the new fee are
// skipped whole, so the cost is that of the lists in which something may cross
// an edge, and a sort of those that did. What moved has no anchor then.
func (q *laneQueue) relevel(p *pricing) (movers []*entry) {
	for l := levelUnderpriced; int(l) < numLevels; l++ {
		f := &q.fifos[l]
		if l == levelBarred || f.head == nil || f.still.hold(p.base) {
			continue
		}
		f.still = anyFee
		for e := f.head; e != nil; {
			next := e.next
			if to := q.relevelled(p, e); to != l {
				q.remove(e)
				e.level = to
				movers = append(movers, e)
			} else {
				f.still.narrow(p.boundsOf(e))
			}
			e = next
		}
	}
	for _, e := range movers {
		q.calls.joinTarget(e)
	}
	return movers
}

// rejoin gives entries that have left other levels the places at theirs that the order of
// arrival says. However many they are, no list is walked more than once. It returns how
// many entries it came to.
func (q *laneQueue) rejoin(movers []*entry, p *pricing) (looked int) {
	slices.SortFunc(movers, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.seq, b.seq))
	})
	var behind *entry
	for i, e := range slices.Backward(movers) {
		if i == len(movers)-1 || movers[i+1].level != e.level {
			behind = nil
		}
		before := q.fifos[e.level].tail
		if behind != nil {
			before = behind.prev
		}
		for looked++; before != nil && before.seq > e.seq; looked++ {
			behind, before = before, before.prev
		}
		q.link(e, behind, p)
		behind = e
	}
	return looked
}
