package lanes

import (
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
)

// barredLooks is how many barred entries of a lane a head looks at in vain, before it
// leaves the rest to the next ones: everybody waits meanwhile, and whoever likes can have
// a lane full of them for next to nothing (docs/adr/0205).
const barredLooks = 4_096

// promote lets what is barred into the tiers for which its actor and its lane have room
// now, and nothing stands in the way, the first to come first, and puts what a fee cap has
// priced out meanwhile among the underpriced. Room only shrinks meanwhile,
// so what has none before has none later. It takes effect at one instant, like any
// operation: all shards stand still, on one basis, as who calls holds coming.
//
// Of a crowd that finds no room it looks at a part, and at the next head goes on where it
// left off. Each head begins at the oldest where there is no crowd.
func (s *pool) promote() (moved int) {
	s.promoteLooked = 0
	if s.targets.barred.Load() == 0 {
		return 0
	}
	s.holdAll()
	defer s.releaseAll()
	w := s.walkBarred()
	var vain [chain.NumLanes]int
	for h, e := w.oldest(); e != nil; h, e = w.oldest() {
		s.promoteLooked++
		l := h.levelOf(e, nil)
		if l < levelTier0 {
			if vain[e.lane]++; vain[e.lane] == s.barredLooks {
				s.midway[e.lane] = w.leave(e.lane)
			}
		}
		if l == levelBarred {
			continue
		}
		s.lanes[e.lane].lower(l)
		h.lanes[e.lane].remove(e)
		e.level = l
		s.targets.joinTarget(e) // before the next is judged
		h.movers[e.lane] = append(h.movers[e.lane], e)
		moved++
	}
	for i := range s.shards {
		s.shards[i].settleMovers()
	}
	return moved
}

// barredWalk goes through what is barred in all lanes from the oldest to the newest. The
// entry that it has returned may leave.
type barredWalk struct {
	shards [barredQueues]*shard // of the queues that have more
	at     [barredQueues]*entry // what each of them has next
	seqs   [barredQueues]uint64 // its place, so that finding the oldest reads no entries
	n      int
}

const barredQueues = numShards * int(chain.NumLanes)

// walkBarred starts in each lane where its last walk was left off, or at the oldest. All
// shards are held.
func (s *pool) walkBarred() *barredWalk {
	w := &s.barredWalk
	w.n = 0
	for i := range s.shards {
		h := &s.shards[i]
		for lane := range h.lanes {
			q := &h.lanes[lane]
			e := q.fifos[levelBarred].head
			if s.midway[lane] {
				e = q.resume
			}
			q.resume = nil
			if e != nil {
				w.shards[w.n], w.at[w.n], w.seqs[w.n] = h, e, e.seq
				w.n++
			}
		}
	}
	s.midway = [chain.NumLanes]bool{}
	return w
}

// oldest returns the oldest that it has not returned before, and its shard; nil at the end.
func (w *barredWalk) oldest() (*shard, *entry) {
	if w.n == 0 {
		return nil, nil
	}
	first, least := 0, uint64(math.MaxUint64)
	for i, seq := range w.seqs[:w.n] {
		if seq < least {
			first, least = i, seq
		}
	}
	h, e := w.shards[first], w.at[first]
	if next := e.next; next != nil {
		w.at[first], w.seqs[first] = next, next.seq
	} else {
		w.drop(first)
	}
	return h, e
}

// drop takes a queue out.
func (w *barredWalk) drop(i int) {
	w.n--
	w.shards[i], w.at[i], w.seqs[i] = w.shards[w.n], w.at[w.n], w.seqs[w.n]
	w.at[w.n] = nil
}

// leave notes where the next walk of a lane is to go on, takes the lane out, and reports
// whether it had more.
func (w *barredWalk) leave(lane chain.LaneID) (more bool) {
	for i := 0; i < w.n; {
		if w.at[i].lane != lane {
			i++
			continue
		}
		w.shards[i].lanes[lane].resume = w.at[i]
		w.drop(i)
		more = true
	}
	return more
}

// settleMovers gives the movers their places, and their senders their anchors, once.
func (h *shard) settleMovers() {
	for lane, movers := range h.movers {
		h.placed += h.lanes[lane].rejoin(movers, &h.basis.prices[lane])
		for _, e := range movers {
			e.of.stale = true
		}
	}
	for lane, movers := range h.movers {
		for _, e := range movers {
			if e.of.stale { // with all places of the sender new
				e.of.stale = false
				h.updateTurns(e.of, 0, len(e.of.waiting))
			}
		}
		h.movers[lane] = nil
	}
}
