package exec

import (
	"encoding/binary"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// firing is a timer that fires in this block, at what it bid.
type firing struct {
	want
	id   timers.ID
	to   chain.Address // its receiver, which a timer keeps as long as it lives
	tip  chain.FeePair
	held *promise // nil: its receiver owes it nothing
}

// want is what a firing takes of its lane at the most.
type want struct {
	bid    timers.Bid   // what it pays
	limits chain.Usage  // of its handler
	code   chain.Hash   // of its receiver
	load   chain.Cycles // besides, for the first use of that in the block
}

func (w *want) whole() chain.Usage {
	return chain.Usage{Cycles: w.limits.Cycles + w.load, Cells: w.limits.Cells}
}

// promise is cycles held back in an actor's bucket for its own timer.
type promise struct {
	to     chain.Address
	cycles chain.Cycles
	waits  timers.ID // that keeps its place meanwhile; of one that fires none
}

// Events of the timers themselves, with the id of the timer and the address of
// its actor as data.
const (
	eventTimerUnfunded = "timer_unfunded" // ended after timer.max_unfunded_deferrals blocks (resolution 11.23), or when it could not pay for waiting (ADR 207)
	eventIntervalEnded = "interval_ended" // could not pay for its next block (resolution 11.24)
)

func (b *block) clock() timers.Clock {
	return timers.Clock{Params: b.in.Params, Height: b.in.Height, Base: b.in.BaseFees[chain.LaneTimer]}
}

// firingID names one firing: a timer fires at most once in a block.
func (b *block) firingID(kind string, id timers.ID) chain.Hash {
	return keccak.Sum256([]byte(kind), id[:], binary.BigEndian.AppendUint64(nil, uint64(b.in.Height)))
}

// selectTimers begins the block of the timers (resolutions 11.14, 11.23): it asks
// agents for their bids, chooses who fires within the lane's share of the target,
// and reserves their limits, so that what is left over is there for the lanes
// after. Where due timers find no room, it reserves all of the share for them: what the chosen
// ones do not use is for these ([block.fireMore]), who else could be kept out by limits of half
// of the lane that nobody uses (ADR 241).
//
// It is a greedy fill in the order of timers.Ready, whose rank does not change while a timer
// waits (ADR 41): a timer that finds no room keeps its place, and one that has waited for
// long is the first whatever others bid, for whom askAgents leaves room (ADR 127). At most
// candidates_per_block timers are looked at, whatever is due.
func (b *block) selectTimers() error {
	c := b.clock()
	head, err := timers.Advance(b.state, c)
	if err != nil {
		return &Fault{"advance the timers", err}
	}
	if head.Ready == 0 {
		return nil
	}
	reserved, err := b.askAgents(&head)
	if err != nil {
		return err
	}
	ids, err := b.candidates(&head)
	if err != nil {
		return err
	}
	lane := fees.LaneTarget(b.in.Params, chain.LaneTimer)
	left := chain.Usage{Cycles: lane.Cycles - reserved.Cycles, Cells: lane.Cells - reserved.Cells}
	b.crowded = head.Ready > uint64(len(ids))
	// Bounded: by timer.candidates_per_block, 65,536 at most.
	for _, id := range ids {
		if left.Cycles < b.in.Params.Timer.MinCycles {
			b.crowded = true
			break
		}
		t, err := timers.Load(b.state, id)
		if err == nil {
			err = b.giveTurn(t, &left, false)
		}
		if err != nil {
			return fault("choose a timer", err)
		}
	}
	b.forTimers = chain.Usage{Cycles: lane.Cycles - left.Cycles, Cells: lane.Cells - left.Cells}
	if b.crowded {
		b.forTimers = lane
	}
	b.budget.Reserve(chain.LaneTimer, b.forTimers)
	return nil
}

// candidates are the due timers that are looked at, in their order. The error is a [*Fault].
func (b *block) candidates(head *timers.Head) ([]timers.ID, error) {
	ids, err := timers.Ready(b.state, *head, int(b.in.Params.Timer.CandidatesPerBlock))
	return ids, fault("order the timers", err)
}

// giveTurn chooses a timer if its limits are left and it can pay for them. One
// whose limits are not left keeps its place in the order.
//
// What an actor's own timer may use is held back in the actor's bucket from here on,
// so that neither transactions nor messages nor calls take it: the timer was paid for,
// and due, before them. Timers of others compete as their messages would, or anybody
// could hold up an actor with timers that use nothing (ADR 74).
//
// again says that others have fired since the timer was looked at. One that waits for its
// actor's cycles keeps its place; what found no room before is looked at for the first time.
func (b *block) giveTurn(t *timers.Timer, left *chain.Usage, again bool) error {
	w, err := b.wants(t)
	if err != nil {
		return err
	}
	room := w.whole()
	if !again { // those that fired have loaded what they use
		room.Cycles -= min(w.load, b.putAside(w.code))
	}
	if room.Cycles > left.Cycles || room.Cells > left.Cells {
		b.crowded = true
		return nil
	}
	busy, err := b.busy(t.To, w.limits.Cycles)
	if err != nil {
		return err
	}
	if busy && again && b.savedUp(t.ID) {
		return nil // it was looked at before the others
	}
	if busy {
		look, err := b.saveUp(t)
		left.Cycles -= look.Cycles // no more than the limits, which are left
		return err
	}
	tip, ok, err := timers.Fund(purse{b}, b.state, b.clock(), t, w.bid, w.whole())
	if err != nil {
		return err
	}
	if !ok {
		look, err := b.unfunded(t)
		left.Cycles -= look.Cycles
		return err
	}
	d := firing{want: w, id: t.ID, to: t.To, tip: tip}
	if t.To == t.Actor {
		if d.held, err = b.hold(t.To, w.limits.Cycles); err != nil {
			return err
		}
	}
	b.due = append(b.due, d)
	left.Cycles -= room.Cycles
	left.Cells -= room.Cells
	return nil
}

// putAside is the most that a timer which is to fire was counted with for the first use
// of a code: one of those that fire the same code loads it. Others may put less aside for
// it than its own actor, who then is counted with the rest.
func (b *block) putAside(code chain.Hash) (most chain.Cycles) {
	// Bounded: by timer.candidates_per_block, twice 65,536 firings at most.
	for i := range b.due {
		if b.due[i].code == code {
			most = max(most, b.due[i].load)
		}
	}
	return most
}

// wants returns what a firing of a due timer is counted with, within its lane.
func (b *block) wants(t *timers.Timer) (w want, err error) {
	c, api := b.clock(), &b.in.Params.API
	w.bid = timers.Offer(&c, t)
	w.limits = chain.Usage{Cycles: max(w.bid.Limits.Cycles, api.FiringCycles), Cells: max(w.bid.Limits.Cells, api.FiringCells)}
	if w.code, w.load, err = b.loadOf(t.Actor, t.To); err != nil {
		return w, err
	}
	most := fees.TimerMost(b.in.Params).Cycles
	w.load = min(w.load, most-min(w.limits.Cycles, most))
	return w, nil
}

// loadOf returns the code at an address, and what an actor puts aside for using it in
// this block.
func (b *block) loadOf(by, to chain.Address) (chain.Hash, chain.Cycles, error) {
	code, load, err := b.actors.FirstUse(b.state, by, to)
	if b.warm.Paid(code) {
		load = 0
	}
	return code, load, err
}

// hold holds cycles back in an actor's bucket.
func (b *block) hold(to chain.Address, cycles chain.Cycles) (*promise, error) {
	held, err := actor.Hold(b.state, &b.in.Params.Actor, b.in.Height, to, cycles)
	return &promise{to: to, cycles: held}, err
}

// giveBack ends a promise.
func (b *block) giveBack(p *promise) error {
	return actor.GiveBack(b.state, &b.in.Params.Actor, b.in.Height, p.to, p.cycles)
}

// saveUp deals with a due timer whose receiver has too few cycles left in its bucket.
// For an actor's own the rest of the bucket is held back until the block ends, and it
// keeps its place: as no limits are above what a bucket holds, it fires after
// block_cycles_burst / block_cycles blocks. Another timer waits before it asks again. It
// returns what the look at it took of the lane.
func (b *block) saveUp(t *timers.Timer) (chain.Usage, error) {
	if t.To == t.Actor && !b.promisedTo(t.To) {
		rest, err := b.hold(t.To, b.in.Params.Actor.BlockCyclesBurst)
		rest.waits = t.ID
		b.saved = append(b.saved, rest)
		return chain.Usage{}, err
	}
	return b.putOff(t)
}

// promisedTo reports whether cycles of an actor are held back for a timer already, who
// need not be waited with by another.
func (b *block) promisedTo(a chain.Address) bool {
	// Bounded: by timer.candidates_per_block, twice 65,536 firings at most.
	for i := range b.due {
		if p := b.due[i].held; p != nil && p.to == a {
			return true
		}
	}
	// Bounded: by timer.candidates_per_block, 65,536 at most.
	return slices.ContainsFunc(b.saved, func(p *promise) bool { return p.to == a })
}

// savedUp reports whether cycles are held back for this timer, which keeps its place.
func (b *block) savedUp(id timers.ID) bool {
	// Bounded: by timer.candidates_per_block, 65,536 at most.
	return slices.ContainsFunc(b.saved, func(p *promise) bool { return p.waits == id })
}

// busy reports whether an actor has used up its cycles of this block (resolution
// 11.22).
func (b *block) busy(addr chain.Address, cycles chain.Cycles) (bool, error) {
	left, err := b.leftOf(addr)
	return err == nil && left < cycles, err
}

// putOff makes a timer wait whose receiver is busy, or ends it and says so where it cannot
// pay for that. It returns what the look at it took of the lane.
func (b *block) putOff(t *timers.Timer) (chain.Usage, error) {
	look, err := timers.Wait(purse{b}, b.state, b.clock(), t)
	return b.looked(t, look), err
}

// unfunded makes a timer wait that cannot pay, or ends it and says so. It returns what the
// look at it took of the lane.
func (b *block) unfunded(t *timers.Timer) (chain.Usage, error) {
	look, err := timers.WaitUnfunded(purse{b}, b.state, b.clock(), t)
	return b.looked(t, look), err
}

// looked books a look at a timer that did not fire. It is paid like a firing, so the base fee
// of the lane follows it, and takes its room like one.
func (b *block) looked(t *timers.Timer, look timers.Look) chain.Usage {
	if look.Ended {
		b.announceEnd(t, eventTimerUnfunded)
	}
	b.use(chain.LaneTimer, look.Used)
	return look.Used
}

// announceEnd says that a timer has ended because it could not pay.
func (b *block) announceEnd(t *timers.Timer, event string) {
	b.announce([]chain.Event{{Emitter: chain.AddrTimers, Name: event, Data: append(t.ID[:], t.Actor[:]...)}})
}

// fireTimers runs the chosen timers in their order, after the transactions and
// the messages that waited (resolution 7.5).
func (b *block) fireTimers() error {
	// Bounded: by timer.candidates_per_block, twice 65,536 firings at most.
	for i := range b.due {
		if err := b.fire(&b.due[i]); err != nil {
			return fault("fire timer "+b.due[i].id.String(), err)
		}
	}
	if err := b.fireMore(); err != nil {
		return fault("fire more timers", err)
	}
	// Bounded: by timer.candidates_per_block, 65,536 at most.
	for _, p := range b.saved {
		if err := b.giveBack(p); err != nil {
			return fault("give back cycles of "+p.to.String(), err)
		}
	}
	var used chain.Cycles
	// Bounded: by the lanes.
	for _, u := range b.result.Used {
		used += u.Cycles
	}
	return fault("close the timers", timers.Note(b.state, b.clock(), used))
}

// fireMore gives what the chosen timers did not use of their limits to those behind them,
// in their order, one after the other: what is reserved for a lane is filled by use, or
// timers that do nothing with large limits would keep all others out (ADR 86). Each
// candidate is looked at once.
func (b *block) fireMore() error {
	if len(b.due) == 0 {
		return nil
	}
	head, err := timers.ReadHead(b.state, b.in.Params)
	if err != nil || head.Ready == 0 {
		return err
	}
	ids, err := b.candidates(&head)
	if err != nil {
		return err
	}
	// Bounded: by timer.candidates_per_block, 65,536 at most.
	for _, id := range ids {
		used := b.result.Used[chain.LaneTimer]
		left := chain.Usage{
			Cycles: b.forTimers.Cycles - min(used.Cycles, b.forTimers.Cycles), Cells: b.forTimers.Cells - min(used.Cells, b.forTimers.Cells),
		}
		if left.Cycles < b.in.Params.Timer.MinCycles {
			return nil
		}
		t, err := timers.LoadDue(b.state, id)
		if err != nil {
			return err
		}
		if t == nil {
			continue // cancelled, or moved, by a timer that has fired meanwhile
		}
		chosen := len(b.due)
		if err := b.giveTurn(t, &left, true); err != nil {
			return err
		}
		if len(b.due) > chosen {
			if err := b.fire(&b.due[chosen]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fire runs one timer. One that a transaction of the block cancelled or moved has
// lost its turn, and one whose receiver has no cycles left in this block waits. The money
// is package timers' matter; of the fee the block books the parts.
func (b *block) fire(d *firing) error {
	if d.held != nil {
		if err := b.giveBack(d.held); err != nil {
			return err
		}
	}
	busy, err := b.busy(d.to, d.limits.Cycles)
	if err != nil {
		return err
	}
	t, err := timers.LoadDue(b.state, d.id)
	if err != nil || t == nil {
		return err
	}
	if busy {
		_, err = b.putOff(t) // within the limits that it was chosen with
		return err
	}
	taken, err := timers.Take(b.state, b.clock(), t)
	if err != nil {
		return err
	}
	id := b.firingID("cowboy-timer-firing-v1", t.ID)
	api := &b.in.Params.API
	own := chain.Usage{Cycles: min(api.FiringCycles, d.limits.Cycles), Cells: min(api.FiringCells, d.limits.Cells)}
	r := actor.NewRun(b.actors, b.state, b.in.Engine, actor.Start{
		Origin: t.Actor, ID: id, Cycles: d.limits.Cycles + d.load - own.Cycles, Cells: d.limits.Cells - own.Cells,
		Load: d.load, Warm: b.warm,
	})
	out, err := r.First(actor.Envelope{From: t.Actor, To: t.To, Handler: t.Handler, Payload: t.Data})
	if err != nil {
		return err
	}
	out.Used.Cycles += own.Cycles
	out.Used.Cells += own.Cells
	paid, err := taken.Settle(purse{b}, b.state, b.clock(), d.tip, out.Used)
	if err != nil {
		return err
	}
	b.use(chain.LaneTimer, out.Used)
	if err := b.write(id, chain.LaneTimer, &out, paid.Burned, paid.Tip); err != nil {
		return err
	}
	if paid.Ended {
		b.announceEnd(t, eventIntervalEnded)
	}
	return nil
}
