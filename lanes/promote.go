package lanes

import (
	"cmp"
	"slices"
)

// promote lets what is barred into the tiers for which its actor and its lane have room
// now, and nothing stands in the way, the first to come first. Room only shrinks meanwhile,
// so what has none before has none later, and of a crowd before few actors next to nothing
// is sorted. It takes effect at one instant, like any operation.
//
// Who may have room is found shard by shard. While nothing leaves that took room, nobody else
// finds room: then only those found are looked at again when all shards stand still, else
// all. Who calls holds coming, so that all shards stand on one basis.
func (s *pool) promote() (moved int) {
	if s.targets.barred.Load() == 0 {
		return 0
	}
	var found []*entry
	left := s.targets.left.Load()
	for i := range s.shards {
		h := &s.shards[i]
		h.mu.Lock()
		s.targets.mu.Lock()
		found = h.promotable(found)
		s.targets.mu.Unlock()
		h.mu.Unlock()
		s.letOthers(h)
	}
	s.holdAll()
	defer s.releaseAll()
	if s.targets.left.Load() != left {
		found = found[:0]
		for i := range s.shards {
			found = s.shards[i].promotable(found)
		}
	}
	return s.promoteOf(found)
}

// promotable appends what is barred and would not be if it came now.
func (h *shard) promotable(to []*entry) []*entry {
	for lane := range h.lanes {
		for e := h.lanes[lane].fifos[levelBarred].head; e != nil; e = e.next {
			if h.levelOf(e, nil) != levelBarred {
				to = append(to, e)
			}
		}
	}
	return to
}

// promoteOf promotes of those found that are barred still who has room. All shards are
// held.
func (s *pool) promoteOf(found []*entry) (moved int) {
	slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	for _, e := range found {
		h := s.shardOf(e.tx.Sender)
		if h.byHash[e.tx.Hash] != e || e.level != levelBarred {
			continue
		}
		l := h.levelOf(e, nil)
		if l == levelBarred {
			continue
		}
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
