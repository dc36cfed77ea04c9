package timers

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// Fund fills the escrow of a due timer up to what so much use takes at the price of its
// bid ([Offer]). It returns the tip within that price; false where the bid's caps are below the base
// fees, or its actor's balance is too small.
func Fund(p funds.Purse, o *state.Overlay, c Clock, t *Timer, bid Bid, use chain.Usage) (tip chain.FeePair, ok bool, err error) {
	tip, ok = bid.Price(c.Base)
	if ok {
		ok, err = Fill(p, o, c, t, use, c.at(tip).Most)
	}
	return tip, ok, err
}

// at is the price of a firing at the base fees and a tip.
func (c *Clock) at(tip chain.FeePair) fees.Bid { return fees.Bid{Most: c.Base.Plus(tip), Tip: tip} }

// Look is what became of a due timer that could not fire: what it has paid for to be looked
// at, which is of the timers' lane, and whether it has ended.
type Look struct {
	Used  chain.Usage
	Ended bool
}

// Wait makes a due timer whose receiver has no cycles left wait before it asks again. It
// ends the timer where it cannot pay for being looked at once more.
func Wait(p funds.Purse, o *state.Overlay, c Clock, t *Timer) (l Look, err error) {
	var paid bool
	if l.Used, paid, err = payLook(p, o, c, t); err != nil {
		return l, err
	}
	if !paid {
		return Look{Ended: true}, dismiss(p, o, c, t)
	}
	return l, postpone(o, c, t, c.Height+min(c.pause(t), busyPause), false)
}

// WaitUnfunded makes a due timer wait that cannot pay, or ends it when it could not for
// timer.max_unfunded_deferrals blocks (resolution 11.23) or cannot pay for being looked at
// once more.
func WaitUnfunded(p funds.Purse, o *state.Overlay, c Clock, t *Timer) (l Look, err error) {
	since := t.Unfunded
	if since == 0 {
		since = c.Height
	}
	last := since + chain.Height(c.limits().MaxUnfundedDeferrals)
	if c.Height >= last {
		return Look{Ended: true}, dismiss(p, o, c, t)
	}
	var paid bool
	if l.Used, paid, err = payLook(p, o, c, t); err != nil {
		return l, err
	}
	if !paid {
		return Look{Ended: true}, dismiss(p, o, c, t)
	}
	return l, postpone(o, c, t, min(c.Height+c.pause(t), last), true)
}

// busyPause bounds how long a timer waits for a receiver, in blocks. It is the receiver's
// cycles that are missing, which strangers can use up in the few blocks in which a timer
// that waits ever longer would ask for them.
const busyPause = 64

// pause is how long a timer waits that cannot fire: timer.rebid_deferrals blocks, then as
// long as it has waited already, up to timer.max_unfunded_deferrals. So one that stays that
// way is looked at eleven times in an hour (ADR 207).
func (c *Clock) pause(t *Timer) chain.Height {
	var waited chain.Height
	if t.since != 0 {
		waited = c.Height - t.since
	}
	l := c.limits()
	return max(min(waited, chain.Height(l.MaxUnfundedDeferrals)), chain.Height(l.RebidDeferrals))
}

// payLook burns what it costs to look in vain at a timer that was put off before, out of
// its escrow or, where that is spent, its actor's balance; false where neither has it. The
// first look was paid for when the timer was set.
func payLook(p funds.Purse, o *state.Overlay, c Clock, t *Timer) (look chain.Usage, paid bool, err error) {
	if t.since == 0 {
		return look, true, nil
	}
	look.Cycles = c.Params.API.FiringCycles
	if paid, err = Fill(p, o, c, t, look, c.Base); err != nil || !paid {
		return chain.Usage{}, false, err
	}
	price, _ := Cost(look, c.Base) // fits, as it was filled
	t.Escrow -= price
	return look, true, errors.Join(p.Burn(price), p.Debit(chain.AddrTimers, price))
}

// dismiss ends a timer that cannot pay, and gives its actor back what it holds.
func dismiss(p funds.Purse, o *state.Overlay, c Clock, t *Timer) error {
	bill, err := End(o, c, t)
	if err != nil {
		return err
	}
	return refund(p, t.Actor, bill.Refund)
}

// Taken is a timer that was taken out of the order for its firing, with its data, also
// where they lay apart. One that fires once is then gone from the state.
type Taken struct {
	*Timer
	escrow  chain.Wei // it holds for the firing, in base units
	deposit chain.Wei // comes back; of an interval nothing, which keeps it
}

// Settlement is what a firing has paid, in base units: Burned of the base fees, and Tip to
// the proposer, which the caller books.
type Settlement struct {
	Burned, Tip chain.Wei
	Ended       bool // it was an interval, and could not pay for its next block (resolution 11.24)
}

// Settle pays for a firing at the tip that it was chosen with, and sets an interval for its
// next block, which its actor pays, or ends it.
//
// Money: the escrow was filled with the cost of all of its limits at the price it bid when
// it was chosen ([Fund]). Of that the fee is what it used, at the base fee and its tip, so
// at most the escrow; the rest, and the deposit for its record, goes back to the actor.
func (t *Taken) Settle(p funds.Purse, o *state.Overlay, c Clock, tip chain.FeePair, used chain.Usage) (s Settlement, err error) {
	fee, burned, tipped, err := c.at(tip).Charge(c.Base, used)
	if err != nil {
		return s, err
	}
	s.Burned, s.Tip = burned, tipped
	if err := p.Debit(chain.AddrTimers, fee); err != nil {
		return s, err
	}
	if err := refund(p, t.Actor, t.escrow-fee+t.deposit); err != nil {
		return s, err
	}
	if t.Every > 0 {
		s.Ended, err = renew(p, o, c, t.ID)
	}
	return s, err
}

// renew sets an interval for its next block and has its actor pay for it, or ends it and
// reports that.
func renew(p funds.Purse, o *state.Overlay, c Clock, id ID) (ended bool, err error) {
	before := o.Snapshot()
	next, bill, err := rearm(o, c, id)
	if err != nil || next == nil {
		return false, err
	}
	err = Pay(p, next.Actor, bill)
	if !errors.Is(err, funds.ErrShort) {
		return false, err
	}
	o.Revert(before)
	t, err := Load(o, id)
	if err != nil || t == nil {
		return false, err
	}
	return true, dismiss(p, o, c, t)
}

// Drop ends all timers of an actor that was evicted, of which it may have more than it
// could set by now, and gives it back what they hold (whitepaper, "Eviction Mechanics";
// resolution 11.24).
func Drop(p funds.Purse, o *state.Overlay, c Clock, owner chain.Address) error {
	roster, err := ReadRoster(o, owner)
	if err != nil {
		return err
	}
	_, held, err := DropAll(o, c, owner, int(roster.Active))
	if err != nil {
		return err
	}
	return refund(p, owner, held)
}
