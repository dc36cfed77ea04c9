package lanes

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// targets count what waiting messages may take of the actors that they call, and what
// waits and may come to nothing asks of its lane. An actor
// serves so many cycles a block, so of a crowd before one actor only what it can serve
// within some blocks stands in tiers; the rest is barred: behind everything that can
// run, and the first to leave a full lane after what cannot run at all.
//
// Messages that need more than a block gives, which an actor that is in use never has,
// are counted apart from the others, so that they bar none of these. What pays less is
// not counted before what pays more. A message counts with what it will likely take: who
// holds places before an actor that others want pays for about as much of it.
//
// A lane is counted as an actor is (docs/adr/0143). What nobody knows the use of, and
// what has wide limits, may stand in a tier for hours without being in a block, as few of
// it find room in one. So there stands no more of it than some blocks could hold with all
// of its limits.
type targets struct {
	limits

	// Held by operations on messages that hold one shard, from the decision on a level
	// until the entry stands there, so that decisions come in the order of their
	// numbers. Who holds all shards needs it not.
	mu    sync.Mutex
	of    map[chain.Address][]demanded
	asked [chain.NumLanes][]demanded

	barred atomic.Int64 // entries at that level
}

// limits are the bounds of targets.
type limits struct {
	refill, most chain.Cycles                 // what an actor has for a block; what messages to it may wait for in tiers. 0: no bound
	lanes        [chain.NumLanes]chain.Cycles // what may be asked of a lane in tiers by what may come to nothing. 0: no bound
	wide         [chain.NumLanes]chain.Usage  // unused limits above it are too wide for a lane to be sure of room. 0: none is
}

func limitsIn(m *measures) limits {
	l := limits{refill: m.actorRefill, most: m.actorMost}
	for lane, room := range m.laneRoom {
		l.lanes[lane] = chain.Cycles(mulSaturating(m.unsureBlocks, weightOf(room, max(m.cellWeight, 1))))
		l.wide[lane] = part(room, narrowPart)
	}
	return l
}

// adopt takes limits, and counts nothing then.
func (t *targets) adopt(l limits) {
	t.limits, t.of, t.asked = l, map[chain.Address][]demanded{}, [chain.NumLanes][]demanded{}
}

// claimMost bounds what one transaction claims, so that sums do not overflow.
const claimMost = 1 << 43

// claimOf sets what a transaction asks of its lane, all of its limits, if it may come to
// nothing: nobody knows what it uses, or its limits are wide, which says that few of its
// kind find room in a block whatever they used before. Where they are wide, or where it is
// a message of more than its actor gets for a block, it may find no room for as long as
// others do: those behind it are sure of no place either.
func (h *shard) claimOf(e *entry, o *offer) {
	targets, limits := &h.all.targets, sum(e.uses, e.unused)
	unsure, most := limits, targets.wide[e.lane]
	if e.pays() {
		unsure = e.unused
	}
	e.wide = most != (chain.Usage{}) && exceeds(unsure, most)
	if e.wide || o.MayCall || o.Key != 0 && o.Expected == (chain.Usage{}) {
		e.claim = chain.Cycles(min(weightOf(limits, h.basis.prices[e.lane].cellWeight), claimMost))
	}
	e.stops = e.wide || targets.most > 0 && e.calls.Actor != nil && targets.large(&e.calls)
}

// weightOf is a use in cycles, where a cell counts for so many; it saturates.
func weightOf(u chain.Usage, cellWeight uint64) uint64 {
	n, carry := bits.Add64(mulSaturating(uint64(u.Cells), cellWeight), uint64(u.Cycles), 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return n
}

func mulSaturating(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// holds reports whether a lane has room at a level for what e asks of it: the wide and the
// others are counted apart, so that they do not bar each other. old leaves for it.
func (t *targets) holds(e *entry, l level, old *entry) bool {
	most := t.lanes[e.lane]
	if e.claim == 0 || most == 0 {
		return true
	}
	sum := e.claim
	for _, d := range t.asked[e.lane] {
		if d.level >= l && d.large == e.wide {
			sum += d.cycles
		}
	}
	if old != nil && old.lane == e.lane && old.wide == e.wide && old.level >= max(l, levelTier0) {
		sum -= old.claim
	}
	return sum <= most
}

// demanded is what the messages of one level may take of an actor.
type demanded struct {
	level  level
	large  bool // messages above what a block gives; of a lane, wide ones
	n      int  // messages, some of which may take nothing
	cycles chain.Cycles
}

func (t *targets) large(c *call) bool { return c.Most > t.refill }

// demandPart: a message that runs anything counts with a part in so many of what its actor
// has for a block at least. With a limit of a few cycles, which a busy actor lacks as surely
// as many, as many messages as a lane holds would count next to nothing.
const demandPart = 256

// demands is what a message counts with before its actor.
func (t *targets) demands(c *call) chain.Cycles {
	if c.Most == 0 {
		return 0 // no actor is too busy for it
	}
	return max(c.demands(), t.refill/demandPart)
}

// fits reports whether an actor can serve one more message at a level. old leaves for it.
func (t *targets) fits(c *call, l level, old *entry) bool {
	sum := t.demands(c)
	for _, d := range t.of[*c.Actor] {
		if d.level >= l && d.large == t.large(c) {
			sum += d.cycles
		}
	}
	if old != nil && t.counts(old) && *old.calls.Actor == *c.Actor && old.level >= l && t.large(&old.calls) == t.large(c) {
		sum -= t.demands(&old.calls)
	}
	return sum <= t.most
}

// counts reports whether an entry is counted where it stands.
func (t *targets) counts(e *entry) bool {
	return t.most > 0 && e.calls.Actor != nil && e.level >= levelTier0
}

// joinTarget counts an entry that has come to a level.
func (t *targets) joinTarget(e *entry) {
	if t.counts(e) {
		t.of[*e.calls.Actor] = counted(t.of[*e.calls.Actor], e.level, t.large(&e.calls), t.demands(&e.calls))
	}
	if t.claims(e) {
		t.asked[e.lane] = counted(t.asked[e.lane], e.level, e.wide, e.claim)
	}
}

// leaveTarget takes back what join has counted.
func (t *targets) leaveTarget(e *entry) {
	if t.claims(e) {
		t.asked[e.lane] = uncounted(t.asked[e.lane], e.level, e.wide, e.claim)
	}
	if !t.counts(e) {
		return
	}
	if list := uncounted(t.of[*e.calls.Actor], e.level, t.large(&e.calls), t.demands(&e.calls)); len(list) > 0 {
		t.of[*e.calls.Actor] = list
	} else {
		delete(t.of, *e.calls.Actor)
	}
}

// mayBar reports whether an entry may have no place in the tiers that it pays for.
func (t *targets) mayBar(e *entry) bool {
	return t.most > 0 && e.calls.Actor != nil || t.lanes[e.lane] > 0 && e.claim > 0 || e.of.stops > 0
}

// claims reports whether what an entry asks of its lane is counted where it stands.
func (t *targets) claims(e *entry) bool { return e.claim > 0 && e.level >= levelTier0 }

// counted adds one to what is counted at its level.
func counted(list []demanded, l level, large bool, cycles chain.Cycles) []demanded {
	i := slices.IndexFunc(list, func(d demanded) bool { return d.level == l && d.large == large })
	if i < 0 {
		i, list = len(list), append(list, demanded{level: l, large: large})
	}
	list[i].cycles += cycles
	list[i].n++
	return list
}

// uncounted takes back what counted has added.
func uncounted(list []demanded, l level, large bool, cycles chain.Cycles) []demanded {
	i := slices.IndexFunc(list, func(d demanded) bool { return d.level == l && d.large == large })
	list[i].cycles -= cycles
	if list[i].n--; list[i].n > 0 {
		return list
	}
	return slices.Delete(list, i, i+1)
}

// levelOf is the level of an executable entry that takes the place of old, or of nobody.
func (h *shard) levelOf(e, old *entry) level {
	l := h.basis.prices[e.lane].level(e)
	if l >= levelTier0 && (h.barsCall(e, l, old) || !h.all.targets.holds(e, l, old) || e.of.stopped(e)) {
		return levelBarred
	}
	return l
}

// barsCall reports whether a message's actor has enough before it.
func (h *shard) barsCall(e *entry, l level, old *entry) bool {
	targets := &h.all.targets
	return targets.most > 0 && e.calls.Actor != nil && (e.until > h.basis.count || !targets.fits(&e.calls, l, old))
}

// barredHeads is for how many heads a message stays barred that found its actor busy.
const barredHeads = 8

// bar takes messages out of their tiers which an execution had no cycles of their actors
// for, though they were counted on: for some heads they stand behind all that can run,
// and go first from a full lane. Who makes actors busy in the same block would else fill
// a lane with what never runs and pays nothing. Then they have their places again.
func (s *pool) bar(txs []*chain.VerifiedTx) {
	s.holdAll()
	defer s.releaseAll()
	for _, tx := range txs {
		h := s.shardOf(tx.Sender)
		e := h.byHash[tx.Hash]
		if e == nil || !s.targets.counts(e) {
			continue
		}
		s.lanes[e.lane].lower(levelBarred)
		h.lanes[e.lane].remove(e)
		e.level, e.until = levelBarred, h.basis.count+barredHeads
		h.movers[e.lane] = append(h.movers[e.lane], e)
	}
	for i := range s.shards {
		s.shards[i].settleMovers()
	}
}
