package sched

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
)

// targets count what waiting messages may take of the actors that they call. An actor
// serves so many cycles a block, so of a crowd before one actor only what it can serve
// within some blocks stands in tiers; the rest is barred: behind everything that can
// run, and the first to leave a full lane after what cannot run at all.
//
// Messages that need more than a block gives, which an actor that is in use never has,
// are counted apart from the others, so that they bar none of these. What pays less is
// not counted before what pays more. A message counts with what it will likely take: who
// holds places before an actor that others want pays for about as much of it.
type targets struct {
	refill, most chain.Cycles // what an actor has for a block; what messages to it may wait for in tiers. 0: no bound

	// Held by operations on messages that hold one shard, from the decision on a level
	// until the entry stands there, so that decisions come in the order of their
	// numbers. Who holds all shards needs it not.
	mu sync.Mutex
	of map[chain.Address][]demanded
}

// demanded is what the messages of one level may take of an actor.
type demanded struct {
	level  level
	large  bool // messages above what a block gives
	n      int  // messages, some of which may take nothing
	cycles chain.Cycles
}

func (t *targets) large(c *Call) bool { return c.Most > t.refill }

// fits reports whether an actor can serve one more message at a level. old leaves for it.
func (t *targets) fits(c *Call, l level, old *entry) bool {
	sum := c.demands()
	for _, d := range t.of[*c.Actor] {
		if d.level >= l && d.large == t.large(c) {
			sum += d.cycles
		}
	}
	if old != nil && t.counts(old) && *old.calls.Actor == *c.Actor && old.level >= l && t.large(&old.calls) == t.large(c) {
		sum -= old.calls.demands()
	}
	return sum <= t.most
}

// counts reports whether an entry is counted where it stands.
func (t *targets) counts(e *entry) bool {
	return t.most > 0 && e.calls.Actor != nil && e.level >= levelTier0
}

// join counts an entry that has come to a level.
func (t *targets) join(e *entry) {
	if !t.counts(e) {
		return
	}
	list := t.of[*e.calls.Actor]
	i := slices.IndexFunc(list, func(d demanded) bool { return d.level == e.level && d.large == t.large(&e.calls) })
	if i < 0 {
		i, list = len(list), append(list, demanded{level: e.level, large: t.large(&e.calls)})
	}
	list[i].cycles += e.calls.demands()
	list[i].n++
	t.of[*e.calls.Actor] = list
}

// leave takes back what join has counted.
func (t *targets) leave(e *entry) {
	if !t.counts(e) {
		return
	}
	list := t.of[*e.calls.Actor]
	i := slices.IndexFunc(list, func(d demanded) bool { return d.level == e.level && d.large == t.large(&e.calls) })
	list[i].cycles -= e.calls.demands()
	if list[i].n--; list[i].n > 0 {
		return
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(t.of, *e.calls.Actor)
	} else {
		t.of[*e.calls.Actor] = list
	}
}

// levelOf is the level of a runnable entry that takes the place of old, or of nobody.
func (s *Scheduler) levelOf(e, old *entry) level {
	l := s.prices[e.lane].levelOfEntry(e)
	if l >= levelTier0 && s.targets.most > 0 && e.calls.Actor != nil && (e.until > s.heads || !s.targets.fits(&e.calls, l, old)) {
		return levelBarred
	}
	return l
}

// barredHeads is for how many heads a message stays barred that found its actor busy.
const barredHeads = 8

// Bar takes messages out of their tiers which an execution had no cycles of their actors
// for, though they were counted on: for some heads they stand behind all that can run,
// and go first from a full lane. Who makes actors busy in the same block would else fill
// a lane with what never runs and pays nothing. Then they have their places again.
func (s *Scheduler) Bar(hashes []chain.Hash) {
	s.holdAll()
	defer s.releaseAll()
	for _, hash := range hashes {
		for i := range s.shards {
			h := &s.shards[i]
			e := h.byHash[hash]
			if e == nil {
				continue
			}
			if s.targets.counts(e) {
				s.lanes[e.lane].lower(levelBarred)
				h.lanes[e.lane].remove(e)
				e.level, e.until = levelBarred, s.heads+barredHeads
				h.movers[e.lane] = append(h.movers[e.lane], e)
			}
			break
		}
	}
	for i := range s.shards {
		s.shards[i].settleMovers()
	}
}

// promote lets barred messages into the tiers whose actors can serve them now, the
// first to come first. Room only shrinks meanwhile, so what has none before has none
// later, and of a crowd before few actors next to nothing is sorted. All shards are held.
func (s *Scheduler) promote() (moved int) {
	if s.targets.most == 0 {
		return 0
	}
	var barred []*entry
	for i := range s.shards {
		for lane := range chain.NumLanes {
			for e := s.shards[i].lanes[lane].fifos[levelBarred].head; e != nil; e = e.next {
				if s.levelOf(e, nil) != levelBarred {
					barred = append(barred, e)
				}
			}
		}
	}
	slices.SortFunc(barred, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	for _, e := range barred {
		l := s.levelOf(e, nil)
		if l == levelBarred {
			continue
		}
		h := s.shardOf(e.tx.Sender)
		h.lanes[e.lane].remove(e)
		e.level = l
		s.targets.join(e) // before the next is judged
		h.movers[e.lane] = append(h.movers[e.lane], e)
		moved++
	}
	for i := range s.shards {
		s.shards[i].settleMovers()
	}
	return moved
}

// settleMovers gives the movers their places, and their senders their leaders, once.
func (h *shard) settleMovers() {
	for lane, movers := range h.movers {
		h.all.movedLast += h.lanes[lane].rejoin(movers, &h.all.prices[lane])
		for _, e := range movers {
			e.of.stale = true
		}
	}
	for lane, movers := range h.movers {
		for _, e := range movers {
			if e.of.stale { // with all places of the sender new
				e.of.stale = false
				h.follow(e.of, 0, len(e.of.waiting))
			}
		}
		h.movers[lane] = nil
	}
}
