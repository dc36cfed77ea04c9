package lanes

import (
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// laneRoom is how full a lane is, across all shards. Admission into any shard
// reserves here first, with one compare-and-swap, so the caps hold exactly.
//
// An operation takes effect at the instant at which it draws its number. Room
// that it needs is reserved before, room that it frees is given back after, and
// from the one to the other the lane is marked as changing: who reads the word
// without a mark reads what the operations numbered so far have left.
type laneRoom struct {
	txsMax   atomic.Int64
	txsLeast int64 // what txsMax goes down to as transactions leave; changes while all shards are held
	bytesMax int
	held     atomic.Uint64 // changing<<56 | txs<<36 | bytes
	floor    atomic.Uint64 // version<<8 | level: nothing in the lane stands below that level
	_        [24]byte
}

// setCap sets how many transactions the lane may hold, and how many it is to hold once
// enough have left. All shards are held, or nobody uses them yet.
func (r *laneRoom) setCap(most, least int) {
	r.txsMax.Store(int64(most))
	r.txsLeast = int64(least)
}

// narrow takes the places of n transactions away that are about to leave, as long as the
// lane has more than it should have: who waits for a place would keep it as large as it is.
func (r *laneRoom) narrow(n int) {
	for n > 0 {
		most := r.txsMax.Load()
		to := max(most-int64(n), r.txsLeast)
		if to >= most || r.txsMax.CompareAndSwap(most, to) {
			return
		}
	}
}

// usersAmong counts entries of the user lane, whose cap follows the chain (see Resize).
func usersAmong(entries []*entry) (n int) {
	for _, e := range entries {
		if e.lane == chain.LaneUser {
			n++
		}
	}
	return n
}

const (
	bytesBits    = 36 // laneBytesMax
	changingBits = 56
	oneTx        = 1 << bytesBits
	oneChange    = 1 << changingBits // at most one for each shard: its lock is held
)

// unpack returns the totals of a lane without the mark.
func unpack(held uint64) (txs, bytes int) {
	return int(held & (oneChange - 1) >> bytesBits), int(held & laneBytesMax)
}

// demand is what a lane must take when e joins it in the place of old.
func demand(e, old *entry) (txs, bytes int) {
	if old != nil && old.lane == e.lane {
		return 0, e.over - old.over
	}
	return 1, e.over
}

// reserve takes the room that e needs in the place of old, if the caps allow
// it, and marks the lanes of both. The floor is lowered first: see refuse.
// After the change, finish must follow.
func (s *pool) reserve(e, old *entry) bool {
	r := &s.lanes[e.lane]
	txs, bytes := demand(e, old)
	for {
		held := r.held.Load()
		haveTxs, haveBytes := unpack(held)
		if haveTxs+txs > int(r.txsMax.Load()) || haveBytes+bytes > r.bytesMax {
			return false
		}
		r.lower(e.level)
		take := oneChange + uint64(txs)*oneTx + uint64(max(bytes, 0))
		if !r.held.CompareAndSwap(held, held+take) {
			continue
		}
		if txs > 0 && haveTxs+txs > int(r.txsMax.Load()) { // narrowed meanwhile
			r.held.Add(-take)
			return false
		}
		break
	}
	if old != nil && old.lane != e.lane {
		s.lanes[old.lane].held.Add(oneChange)
	}
	return true
}

// completeChange gives back what the change has freed and takes the marks away.
func (s *pool) completeChange(e, old *entry) {
	_, bytes := demand(e, old)
	s.lanes[e.lane].held.Add(-(oneChange + uint64(max(-bytes, 0))))
	if old != nil && old.lane != e.lane {
		s.lanes[old.lane].held.Add(-(oneChange + oneTx + uint64(old.over)))
	}
}

// mark marks all lanes, before something leaves any of them.
func (s *pool) mark() {
	for lane := range s.lanes {
		s.lanes[lane].held.Add(oneChange)
	}
}

// unmark takes the marks away and gives back the room of what has left.
func (s *pool) unmark(left []*entry) {
	var freed [chain.NumLanes]uint64
	for _, e := range left {
		freed[e.lane] += oneTx + uint64(e.over)
	}
	for lane := range s.lanes {
		s.lanes[lane].held.Add(-(oneChange + freed[lane]))
	}
}

// refuse returns the refusal of an entry of the given worth if it can be seen
// without a look at other shards that nothing in the full lane is worth less,
// and nil if it takes that look. A flood of cheap transactions into a full lane
// so costs each producer its own shard's lock and no more.
func (r *laneRoom) refuse(e, old *entry, worth level) error {
	floor := r.floor.Load()
	held := r.held.Load()
	if worth > level(floor) || held >= oneChange || r.floor.Load() != floor {
		return nil
	}
	// At the time of the second load the lane was as full as held says, and
	// nothing in it was worth less: whoever adds something lowers the floor
	// before it counts, and who takes something out does so under a mark.
	txs, bytes := demand(e, old)
	haveTxs, haveBytes := unpack(held)
	if haveTxs+txs <= int(r.txsMax.Load()) && haveBytes+bytes <= r.bytesMax {
		return nil
	}
	return laneFull(e, held)
}

func laneFull(e *entry, held uint64) error {
	txs, bytes := unpack(held)
	return &LaneFullError{Lane: e.lane, Txs: txs, Bytes: bytes, Tier: int(e.level) - int(levelTier0)}
}

// lower is called before something counts or stands at a level of the lane.
func (r *laneRoom) lower(l level) {
	for {
		floor := r.floor.Load()
		if l >= level(floor) || r.floor.CompareAndSwap(floor, (floor>>8+1)<<8|uint64(l)) {
			return
		}
	}
}

// raiseFloor sets the floor to a level that was found by a look at all shards, while
// all of them are held.
func (r *laneRoom) raiseFloor(l level) {
	r.floor.Store((r.floor.Load()>>8+1)<<8 | uint64(l))
}

// room finds what must leave so that e, whose worth is given, fits its lane, or
// reports that nothing there is worth less. Only transactions of e's lane and
// of other senders make room, cheapest level first and the newest of a level
// first, so that those who wait longest keep their turn. A transaction's
// successors in the lane leave before it does: they cannot run before it, so
// they are worth no more, and what stays of the chain still runs. Where bytes are what
// lacks, none leaves that frees none, and stands before none that does.
//
// The victims returned are marked and still in the pool; on error none is.
// All shards are held.
func (s *pool) room(of *sender, e, old *entry, worth level) ([]*entry, error) {
	r := &s.lanes[e.lane]
	held := r.held.Load()
	txs, bytes := demand(e, old)
	haveTxs, haveBytes := unpack(held)
	txs += haveTxs - int(r.txsMax.Load())
	bytes += haveBytes - r.bytesMax
	if txs <= 0 && bytes <= 0 {
		return nil, nil
	}
	filled := s.filled(e.lane)
	if lowest, ok := lowestFrom(filled, levelQueued); ok {
		r.raiseFloor(lowest)
	}
	var victims []*entry
	if s.roomLast = 0; bytes > 0 {
		if victims = s.lighten(of, e.lane, bytes, worth); victims == nil {
			return nil, laneFull(e, held)
		}
		txs -= len(victims)
	}
	for l, ok := lowestFrom(filled, levelQueued); txs > 0 && ok && l < worth; l, ok = lowestFrom(filled, l+1) {
		tails := s.tails(e.lane, l)
		for v := tails.last(); v != nil && txs > 0; v = tails.last() {
			s.roomLast++
			if v.mark || v.of == of {
				continue
			}
			chained := v.of.waiting
			for j := len(chained) - 1; !v.mark && txs > 0; j-- {
				w := chained[j]
				if w.mark || w.lane != e.lane {
					continue
				}
				w.mark = true
				victims = append(victims, w)
				txs--
			}
		}
	}
	if txs <= 0 {
		return victims, nil
	}
	for _, v := range victims {
		v.mark = false
	}
	return nil, laneFull(e, held)
}

// filled returns the levels at which a lane holds anything. All shards are held.
func (s *pool) filled(lane chain.LaneID) (filled uint64) {
	for i := range s.shards {
		filled |= s.shards[i].lanes[lane].filled
	}
	return filled
}

// met returns the levels at which a pick meets anything in a lane.
func (s *pool) met(lane chain.LaneID) (met uint64) {
	for i := range s.shards {
		met |= s.shards[i].lanes[lane].met
	}
	return met
}

// tails walks one level of a lane from the newest entry to the oldest.
type tails struct {
	at [numShards]*entry
	n  int
}

func (s *pool) tails(lane chain.LaneID, l level) (t tails) {
	for i := range s.shards {
		if tail := s.shards[i].lanes[lane].fifos[l].tail; tail != nil {
			t.at[t.n] = tail
			t.n++
		}
	}
	return t
}

// last returns the newest entry that it has not returned before, or nil.
func (t *tails) last() *entry {
	if t.n == 0 {
		return nil
	}
	newest := 0
	for i := 1; i < t.n; i++ {
		if t.at[i].seq > t.at[newest].seq {
			newest = i
		}
	}
	e := t.at[newest]
	if e.prev != nil {
		t.at[newest] = e.prev
	} else {
		t.n--
		t.at[newest] = t.at[t.n]
	}
	return e
}
