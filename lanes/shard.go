package lanes

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// numShards is the number of parts that senders are spread over. A pick merges as
// many lists, and a decision about the whole pool takes as many locks, so it is
// a few times the number of cores of a large machine and no more.
const numShards = 64

// shard has the nonce chains of its senders, and of every lane and level a fifo
// of what they wait with. Its fields belong to whoever holds mu.
//
// Between operations these hold:
//   - an entry is in byHash, in its sender's waiting and in exactly one fifo;
//   - it is queued if and only if a nonce between the head's and its own is
//     missing from waiting;
//   - seq ascends along every fifo; an entry that joins a level by arriving,
//     by becoming executable or by losing a predecessor goes to its tail;
//   - its anchor is what anchorOf says, and it is in the turns of its fifo if and
//     only if it is its own anchor;
//   - a sender's cost does not exceed its spendable balance at the head. It is the sum of
//     the most that its transactions take but for what instructions take besides (docs/adr/0211);
//   - no lane is above its caps.
type shard struct {
	mu      sync.Mutex
	wanted  atomic.Int32 // how many wait for mu to admit
	number  int          // its place in the pool's
	all     *pool
	basis   *basis // by which what waits here is judged
	byHash  map[chain.Hash]*entry
	senders map[chain.Address]*sender
	lanes   [chain.NumLanes]laneQueue
	movers  [chain.NumLanes][]*entry // on their way to other levels; none between operations
	counted int                      // entries that targets count
	placed  int                      // entries that placing movers came to, since the last head; for the tests
	seq     uint64                   // of the operation at hand: its number and, below, its steps
	counts  counters
	_       [64]byte // the next shard's lock is another core's business
}

// enter takes the shard to admit something.
func (h *shard) enter() {
	if h.mu.TryLock() {
		return
	}
	h.wanted.Add(1)
	h.mu.Lock()
	h.wanted.Add(-1)
}

// counters are written under mu and read by anyone.
type counters struct {
	admitted, known, full, refused         atomic.Uint64
	replaced, evicted                      atomic.Uint64
	included, outdated, starved, discarded atomic.Uint64
	moved, aged                            atomic.Uint64
}

// outcome says what a try to add did besides adding.
type outcome struct {
	replaced bool
	evicted  int
	// needsAll means that the lane is full and that other shards must be looked
	// at for what may leave. Nothing was changed.
	needsAll bool
}

// add takes a transaction into the pool or returns one of the refusals of
// errors.go and changes nothing. The transaction is one that checkAndAdd lets pass: it
// does not wait here, and its nonce is not below at's. at is the sender's account at the
// head. Without hold of all shards the outcome may need them (needsAll).
func (h *shard) add(o *offer, at account, holdsAll bool) (outcome, error) {
	tx, cost := o.Tx, o.Cost
	s := h.senders[tx.Sender]
	if s == nil {
		s = &sender{account: at}
	}
	i, taken := s.indexOf(tx.Tx.Nonce)
	var old *entry
	if taken {
		old = s.waiting[i]
	}
	if err := s.checkChain(tx, cost, old, &h.all.cfg); err != nil {
		return outcome{}, err
	}
	e := newEntry(o, s)
	e.born = h.basis.Millis
	e.over = h.all.cfg.over(tx)
	h.claimOf(e, o)
	if !holdsAll && (e.countsOne() > 0 || s.counted > 0) {
		h.all.targets.mu.Lock()
		defer h.all.targets.mu.Unlock()
	}
	e.level = levelQueued
	if e.nonce == s.Nonce+uint64(i) { // nonces are distinct, so none is missing before it
		e.level = h.levelOf(e, old)
	}
	did := outcome{replaced: taken}
	if !h.all.reserve(e, old) {
		worth := s.worth(i, e)
		if !holdsAll {
			if err := h.all.lanes[e.lane].refuse(e, old, worth); err != nil {
				return outcome{}, err
			}
			return outcome{needsAll: true}, nil
		}
		victims, err := h.all.room(s, e, old, worth)
		if err != nil {
			return outcome{}, err
		}
		for _, v := range victims {
			v.mark = false
			h.all.shardOf(v.tx.Sender).remove(v)
		}
		h.all.reserve(e, old) // there is room now
		did.evicted = len(victims)
	}
	h.insert(s, i, e, old)
	h.all.completeChange(e, old)
	return did, nil
}

// insert links e, whose room is reserved, at place i of its sender, instead of
// old if that is there. A replacement that stays in old's lane and level keeps
// old's place in the fifo, so raising a fee never costs the turn; any other
// entry joins at the tail.
func (h *shard) insert(s *sender, i int, e, old *entry) {
	h.draw()
	switch {
	case old == nil:
		s.waiting = slices.Insert(s.waiting, i, e)
		h.push(e)
	case old.lane == e.lane && old.level == e.level:
		s.waiting[i] = e
		h.lanes[e.lane].swap(old, e, &h.basis.prices[e.lane])
	default:
		s.waiting[i] = e
		h.lanes[old.lane].remove(old)
		h.push(e)
	}
	s.counted += e.countsOne()
	h.counted += e.countsOne()
	s.stops += e.stopsOne()
	s.inLane[e.lane]++
	if old != nil {
		s.inLane[old.lane]--
		e.replaced = min(old.replaced, math.MaxUint8-1) + 1
		s.counted -= old.countsOne()
		h.counted -= old.countsOne()
		s.stops -= old.stopsOne()
		s.cost -= old.cost
		s.bytes -= old.bytes
		delete(h.byHash, old.tx.Hash)
	}
	s.cost += e.cost
	s.bytes += e.bytes
	h.byHash[e.tx.Hash] = e
	h.senders[e.tx.Sender] = s
	s.noteStop()
	sure := h.updateExecutable(s, i+1)
	if e.stops && h.barBehind(s, i+1) {
		sure = len(s.waiting)
	}
	h.updateTurns(s, i, sure)
}

// barBehind bars what stands in tiers from place i on, and reports whether anything did: a
// replacement stands before it that it waits for.
func (h *shard) barBehind(s *sender, i int) (any bool) {
	for _, e := range s.waiting[i:] {
		if e.level < levelTier0 {
			continue
		}
		h.lanes[e.lane].remove(e)
		e.level, any = levelBarred, true
		h.push(e)
	}
	return any
}

// stepBits are the low bits of a seq: the steps of one operation.
const stepBits = 16

// draw gives the operation at hand its number among those of all shards. What
// it pushes then stands together in the order of arrival.
func (h *shard) draw() {
	h.seq = h.all.drawn.Add(1) << stepBits // under mu, so it ascends along the shard's fifos
}

// push gives e the next seq of the operation and appends it to its lane.
func (h *shard) push(e *entry) {
	h.all.lanes[e.lane].lower(e.level)
	h.seq++
	e.seq = h.seq
	h.lanes[e.lane].insertBefore(e, nil, &h.basis.prices[e.lane])
}

// updateExecutable parks and unparks the waiting transactions from place i on, after the
// chain before them changed. It stops at the first that stays as it is: if that
// one is queued, so is and was everything after it; if it is executable, the next
// gap behind it is where it was. It returns the place of that one.
func (h *shard) updateExecutable(s *sender, i int) int {
	for ; i < len(s.waiting); i++ {
		e := s.waiting[i]
		executable := e.nonce == s.Nonce+uint64(i)
		if executable == (e.level != levelQueued) {
			break
		}
		h.lanes[e.lane].remove(e)
		e.level = levelQueued
		if executable {
			e.level = h.levelOf(e, nil)
		}
		h.push(e)
	}
	return i
}

// remove takes e out of the pool; its successors become queued. All shards are held, or
// the targets if the shard has anything that they count.
func (h *shard) remove(e *entry) {
	h.all.mark()
	h.draw()
	s := e.of
	i, _ := s.indexOf(e.nonce)
	s.waiting = slices.Delete(s.waiting, i, i+1)
	h.unlink(e)
	s.noteStop()
	h.updateTurns(s, i, h.updateExecutable(s, i))
	h.dropSender(s, e.tx.Sender)
	h.all.unmark([]*entry{e})
}

// unlink unlinks e from everything but its sender's waiting. The caller gives
// its room back.
func (h *shard) unlink(e *entry) {
	h.lanes[e.lane].remove(e)
	delete(h.byHash, e.tx.Hash)
	e.of.cost -= e.cost
	e.of.bytes -= e.bytes
	e.of.counted -= e.countsOne()
	h.counted -= e.countsOne()
	e.of.stops -= e.stopsOne()
	e.of.inLane[e.lane]--
}

// dropSender deletes a sender without transactions.
func (h *shard) dropSender(s *sender, at chain.Address) {
	if len(s.waiting) == 0 {
		delete(h.senders, at)
	}
}

// refresh holds a sender's chain against its account at a new head: used nonces
// leave, and if the balance no longer covers the rest, so do the last ones. It
// returns what left, in nonce order: first used of them by their nonce, the
// others for want of balance.
func (h *shard) refresh(addr chain.Address, at account) (left []*entry, used int) {
	s := h.senders[addr]
	if s == nil {
		return nil, 0
	}
	keep, _ := s.indexOf(at.Nonce)
	cost := s.cost
	for _, e := range s.waiting[:keep] {
		cost -= e.cost
	}
	end := len(s.waiting)
	for ; cost > at.Spendable; end-- {
		cost -= s.waiting[end-1].cost
	}
	same := s.Nonce == at.Nonce
	s.account = at
	if same && keep == 0 && end == len(s.waiting) {
		return nil, 0 // the usual case: nothing leaves, nothing can run that could not before
	}
	h.all.mark()
	h.draw()
	left = slices.Concat(s.waiting[:keep], s.waiting[end:])
	for _, e := range left {
		h.unlink(e)
	}
	kept := copy(s.waiting, s.waiting[keep:end])
	clear(s.waiting[kept:])
	s.waiting = s.waiting[:kept]
	s.noteStop()
	h.updateTurns(s, 0, h.updateExecutable(s, 0))
	h.dropSender(s, addr)
	h.all.lanes[chain.LaneUser].narrow(usersAmong(left))
	h.all.unmark(left)
	return left, keep
}

// countRefreshed counts what refresh removed.
func (h *shard) countRefreshed(left []*entry, used int) {
	for _, e := range left[:used] {
		if e.final {
			h.counts.included.Add(1)
		} else {
			h.counts.outdated.Add(1)
		}
	}
	h.counts.starved.Add(uint64(len(left) - used))
}
