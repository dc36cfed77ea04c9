package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// heavies are the entries of a lane whose bodies are longer than their places hold
// ([Config.SmallBytes]), by the least level of their sender's chain in the lane up to them:
// what they are worth, as they cannot run before what they wait for. Where a lane lacks bytes,
// one of these leaves: to look for it among all others would stop the pool for as long as
// that takes, and to drop others would free nothing (docs/adr/0156).
type heavies struct {
	by     [numLevels]turns // in each, ascending by seq
	over   [numLevels]int   // bytes beyond their places
	filled uint64           // bit i is set while by[i] holds any
}

func (h *heavies) add(e *entry) {
	h.by[e.low].add(e)
	h.over[e.low] += e.over
	h.filled |= 1 << e.low
	e.weighed = true
}

func (h *heavies) remove(e *entry) {
	h.by[e.low].remove(e)
	h.over[e.low] -= e.over
	if len(h.by[e.low].remaining()) == 0 {
		h.filled &^= 1 << e.low
	}
	e.weighed = false
}

// weigh notes the least level of a chain up to e, behind what stands before it in the
// lane, and reports whether that is another than before.
func (q *laneQueue) weigh(e, before *entry) (moved bool) {
	low := e.level
	if before != nil {
		low = min(low, before.low)
	}
	moved = e.low != low
	if e.over > 0 && (moved || !e.weighed) {
		q.lift(e)
		e.low = low
		q.heavy.add(e)
	}
	e.low = low
	return moved
}

// mixed reports whether a sender has something in several lanes, which few may.
func (s *sender) mixed() bool {
	some := 0
	for _, n := range s.inLane {
		if n > 0 {
			some++
		}
	}
	return some > 1
}

// weighAll weighs all of a sender's.
func (h *shard) weighAll(s *sender) {
	var before [chain.NumLanes]*entry
	for _, e := range s.waiting {
		h.lanes[e.lane].weigh(e, before[e.lane])
		before[e.lane] = e
	}
}

// lift takes e out of the heavies, if it is among them.
func (q *laneQueue) lift(e *entry) {
	if e.weighed {
		q.heavy.remove(e)
	}
}

// lighten finds which heavy entries of a lane, of other senders than of, must leave so
// that so many bytes are free: those worth the least first, of these the newest, and each
// behind its successors in the lane. It marks them. nil: all that are worth less are not
// enough. All shards are held.
func (s *pool) lighten(of *sender, lane chain.LaneID, bytes int, worth level) (victims []*entry) {
	if s.overBelow(of, lane, worth) < bytes {
		return nil
	}
	for l := levelQueued; l < worth; l++ {
		at := s.heaviest(lane, l)
		for v := at.last(); v != nil; v = at.last() {
			s.roomLast++
			if v.mark || v.of == of {
				continue
			}
			chained := v.of.waiting
			for j := len(chained) - 1; !v.mark; j-- {
				w := chained[j]
				if w.mark || w.lane != lane {
					continue
				}
				w.mark = true
				victims = append(victims, w)
				if bytes -= w.over; bytes <= 0 {
					return victims
				}
			}
		}
	}
	return victims
}

// overBelow sums up what the entries of a lane that are worth less would free.
func (s *pool) overBelow(of *sender, lane chain.LaneID, worth level) (bytes int) {
	for i := range s.shards {
		h := &s.shards[i].lanes[lane].heavy
		for l, ok := lowestFrom(h.filled, levelQueued); ok && l < worth; l, ok = lowestFrom(h.filled, l+1) {
			bytes += h.over[l]
		}
	}
	for _, e := range of.waiting {
		if e.weighed && e.lane == lane && e.low < worth {
			bytes -= e.over
		}
	}
	return bytes
}

// newestHeavies walks the heavies of one worth from the newest to the oldest.
type newestHeavies struct {
	rest [numShards][]arrival
	n    int
}

func (s *pool) heaviest(lane chain.LaneID, l level) (t newestHeavies) {
	for i := range s.shards {
		if list := s.shards[i].lanes[lane].heavy.by[l].remaining(); len(list) > 0 {
			t.rest[t.n] = list
			t.n++
		}
	}
	return t
}

// last returns the newest entry that it has not returned before, or nil.
func (t *newestHeavies) last() *entry {
	if t.n == 0 {
		return nil
	}
	newest := 0
	end := func(i int) arrival { return t.rest[i][len(t.rest[i])-1] }
	for i := 1; i < t.n; i++ {
		if end(i).seq > end(newest).seq {
			newest = i
		}
	}
	e := end(newest).e
	if t.rest[newest] = t.rest[newest][:len(t.rest[newest])-1]; len(t.rest[newest]) == 0 {
		t.n--
		t.rest[newest] = t.rest[t.n]
	}
	return e
}
