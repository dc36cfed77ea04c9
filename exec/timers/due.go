package timers

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// Advance begins a block: it moves the base fee, brings what comes near into the
// nearer tiers, and what is due into the ready tree. It returns the head.
func Advance(o *state.Overlay, c Clock) (Head, error) {
	q, err := open(o, c)
	if err != nil {
		return Head{}, err
	}
	q.adjust()
	// Bounded: by three steps.
	for _, step := range [...]func() error{q.approach, q.migrate, q.fall} {
		if err := step(); err != nil {
			return q.Head, err
		}
	}
	q.close()
	return q.Head, nil
}

// Reprice moves the base fee as Advance does, and nothing else: for who looks at a
// transaction in a block that does not begin.
func Reprice(o *state.Overlay, c Clock) error {
	q, err := open(o, c)
	if err != nil {
		return err
	}
	q.adjust()
	q.close()
	return nil
}

// move files a timer anew.
func (q *queue) move(id ID) error {
	t, err := Load(q.o, id)
	if err == nil && t == nil {
		err = fmt.Errorf("%w: timer %s is in a tier and missing", ErrRecord, id)
	}
	if err != nil {
		return err
	}
	if err := q.removeFromTier(t); err != nil {
		return err
	}
	switch to := q.tier(t.due); {
	case to == inReady:
		err = q.unaim(t)
	case to.home() != t.home && t.aimed:
		if err = q.unaim(t); err == nil {
			_, err = q.aim(t, t.due)
		}
	}
	if err != nil {
		return err
	}
	return q.put(t)
}

// approach moves timers out of the overflow tree whose epoch has come into the
// range of the queue.
func (q *queue) approach() error {
	// Bounded: by timer.moves_per_block, 512.
	for range q.limits().MovesPerBlock {
		if q.farFirst == 0 || q.tier(q.farFirst) == inTree {
			return nil
		}
		first, err := farTree(q.o).first(q.farRoot)
		if err != nil {
			return err
		}
		if err := q.move(first.id()); err != nil {
			return err
		}
	}
	return nil
}

// migrate moves the next epoch's timers into the ring, over the blocks of the
// present one.
func (q *queue) migrate() error {
	last := q.epochOf(q.Height) + 1
	if q.epoch == 0 {
		q.epoch = last // nothing was set before the first block that knows of timers
	}
	// Bounded: by timer.moves_per_block, 512, and the epochs since the last block that got so far, one for each that passed.
	for moves := uint64(0); q.epoch <= last; {
		e, err := q.loadEnds(inEpoch, key(keyEpoch, number(q.epoch)))
		if err != nil {
			return err
		}
		if e.first == (ID{}) {
			q.epoch++
			continue
		}
		if moves++; moves > q.limits().MovesPerBlock {
			return nil
		}
		if err := q.move(e.first); err != nil {
			return err
		}
	}
	return nil
}

// Note ends a block: it keeps what all its lanes used.
func Note(o *state.Overlay, c Clock, used chain.Cycles) error {
	q, err := open(o, c)
	if err != nil {
		return err
	}
	q.Used = used
	q.close()
	return nil
}

// Ready returns the first timers in the order of their turns, at most limit.
func Ready(o *state.Overlay, h Head, limit int) ([]ID, error) {
	return readyTree(o).walk(h.readyRoot, nil, limit)
}

// AnyDue reports whether timers may be due at a height that was not begun yet:
// some wait for their turn or in a tier that is behind, or the height's slot
// holds some.
func AnyDue(v state.View, c Clock) (bool, error) {
	h, err := ReadHead(v, c.Params)
	if err != nil || h.Ready > 0 || h.Depth == 0 {
		return h.Ready > 0, err
	}
	q := queue{Clock: c, o: state.NewOverlay(v), Head: h}
	return q.anyDue()
}

// SetBid notes what an agent bids, and burns what asking it has cost of the
// escrow. The timer changes its place in the order.
func SetBid(p funds.Purse, o *state.Overlay, c Clock, t *Timer, b Bid, spent chain.Wei) error {
	q, err := open(o, c)
	if err != nil {
		return err
	}
	if err := q.removeFromTier(t); err != nil {
		return err
	}
	t.Bid = &b
	t.Escrow -= spent
	err = q.putReady(t)
	q.close()
	if err != nil {
		return err
	}
	return errors.Join(p.Burn(spent), p.Debit(chain.AddrTimers, spent))
}

// postpone makes a timer that is due wait for a later block, and there behind those that
// are due for the first time: it could not have fired, and would stand in the way of those
// who can. unfunded says that money is what it lacks.
func postpone(o *state.Overlay, c Clock, t *Timer, until chain.Height, unfunded bool) error {
	q, err := open(o, c)
	if err != nil {
		return err
	}
	if err := q.removeFromTier(t); err != nil {
		return err
	}
	switch {
	case !unfunded:
		t.Unfunded = 0
	case t.Unfunded == 0:
		t.Unfunded = c.Height
	}
	if t.since == 0 {
		t.since = c.Height
	}
	t.due, t.line = until, putOff
	err = q.put(t)
	q.close()
	return err
}

// TopUp notes that the escrow grew.
func TopUp(o *state.Overlay, c Clock, t *Timer, by chain.Wei) {
	t.Escrow += by
	q := queue{o: o, Clock: c}
	q.saveLink(t)
}

// LoadDue returns a timer that is due still; nil for one that was cancelled or moved.
func LoadDue(v state.View, id ID) (*Timer, error) {
	t, err := Load(v, id)
	if err != nil || t == nil || !t.Due() {
		return nil, err
	}
	return t, nil
}

// Take gets a timer that is due out of the order for its firing.
func Take(o *state.Overlay, c Clock, t *Timer) (*Taken, error) {
	if err := t.openData(o); err != nil {
		return nil, err
	}
	q, err := open(o, c)
	if err != nil {
		return nil, err
	}
	if err := q.removeFromTier(t); err != nil {
		return nil, err
	}
	taken := &Taken{Timer: t, escrow: t.Escrow}
	t.Escrow = 0
	if t.Every == 0 {
		taken.deposit = t.Deposit
		err = q.erase(t)
	} else {
		t.Bid, t.Unfunded, t.since = nil, 0, 0
		q.saveLink(t)
	}
	q.close()
	return taken, err
}

// rearm sets an interval that has fired for its next block: the first above the
// present that is a whole number of intervals away. It keeps its deposit and pays
// base fee and surcharge anew (resolution 11.24). Nil for an interval that its
// own handler cancelled or extended.
func rearm(o *state.Overlay, c Clock, id ID) (*Timer, Bill, error) {
	t, err := Load(o, id)
	if err != nil || t == nil || t.place != nowhere {
		return nil, Bill{}, err
	}
	q, err := open(o, c)
	if err != nil {
		return nil, Bill{}, err
	}
	h := t.Height + chain.Height(t.Every*(1+uint64(c.Height-t.Height)/t.Every))
	k, err := q.aim(t, h)
	if err != nil {
		return nil, Bill{}, err
	}
	t.Escrow, t.line = q.escrow(&t.Spec), lineOf(k)
	err = q.put(t)
	q.close()
	return t, Bill{Actor: t.Actor, Fee: q.price(k), Lock: t.Escrow}, err
}
