package timers

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// The verdicts.
var (
	// ErrPast means a height that is not above the present (resolution 7.6).
	ErrPast = verdict.New(verdict.Past, "height is not in the future")
	// ErrTooFar means a height beyond MaxAhead.
	ErrTooFar = verdict.New(verdict.TooFar, "height is too far ahead")
	// ErrEarlier means an extension to a height below the timer's.
	ErrEarlier = verdict.New(verdict.Argument, "a timer is extended to a later height")
	// ErrArgument means a handler, data or limits that no timer may have.
	ErrArgument = verdict.New(verdict.Argument, "no such timer may be set")
	// ErrLimit means that the actor has as many timers as one may have.
	ErrLimit = verdict.New(verdict.Limit, "the actor has as many timers as it may")
	// ErrNotFound means that the actor has no such timer.
	ErrNotFound = verdict.New(verdict.Missing, "no such timer")
	// ErrDue means a change of a timer whose block has come.
	ErrDue = verdict.New(verdict.State, "the timer is due")
	// ErrBidder means a bidder of any but an actor for a timer of its own, out of whose
	// balance what is bid is paid.
	ErrBidder = verdict.New(verdict.Forbidden, "an actor alone says who bids for its timers")
)

// Bill is the money of a change.
type Bill struct {
	Fee    chain.Wei     // base fee and surcharge: burned
	Lock   chain.Wei     // from who asks to chain.AddrTimers
	Refund chain.Wei     // from chain.AddrTimers to the actor
	Actor  chain.Address // of the timer

	Read    uint64 // bytes of data that were handled for it, also for a change that is refused: cycles
	Written uint64 // bytes of data that were written again in their place: cells
}

// Total is what is to be paid; false where nobody could.
func (b Bill) Total() (chain.Wei, bool) {
	return b.Fee + b.Lock, b.Fee <= math.MaxUint64-b.Lock && b.Lock != math.MaxUint64
}

// checkAhead says whether a timer may be set for a height.
func (c *Clock) checkAhead(h chain.Height) error {
	switch {
	case h <= c.Height:
		return ErrPast
	case h > c.Height+MaxAhead:
		return ErrTooFar
	}
	return nil
}

// Check says whether a timer may be set as s says.
func (s *Spec) Check(c *Clock) error {
	most, least := MostLimits(c.Params), c.limits().MinCycles
	switch {
	case c.checkAhead(s.Height) != nil:
		return c.checkAhead(s.Height)
	case s.Every > MaxAhead:
		return ErrTooFar
	case len(s.Handler) == 0 || len(s.Handler) > MaxHandlerBytes:
		return fmt.Errorf("%w: handler of %d bytes", ErrArgument, len(s.Handler))
	case !utf8.ValidString(s.Handler): // its record could not be read again
		return fmt.Errorf("%w: handler is not UTF-8", ErrArgument)
	case uint64(len(s.Data)) > c.Params.Actor.InlineBlobBytes:
		return fmt.Errorf("%w: data of %d bytes", ErrArgument, len(s.Data))
	case s.To.IsSystem():
		return fmt.Errorf("%w: a system actor takes no messages", ErrArgument)
	case s.Limits.Cycles < least || s.Limits.Cycles > most.Cycles || s.Limits.Cells > most.Cells:
		return fmt.Errorf("%w: limits %+v, want %d to %+v", ErrArgument, s.Limits, least, most)
	}
	return nil
}

// Set sets a timer. Its id is keccak256(actor ‖ height ‖ data ‖ number), the
// number that of the timer among all that the actor ever set (CIP-5).
func Set(o *state.Overlay, c Clock, s Spec) (ID, Bill, error) {
	if err := s.Check(&c); err != nil {
		return ID{}, Bill{}, err
	}
	roster, err := ReadRoster(o, s.Actor)
	if err != nil {
		return ID{}, Bill{}, err
	}
	if roster.Active >= c.limits().MaxPerActor {
		return ID{}, Bill{}, ErrLimit
	}
	q, err := open(o, c)
	if err != nil {
		return ID{}, Bill{}, err
	}
	h := binary.BigEndian.AppendUint64(nil, uint64(s.Height))
	t := &Timer{Spec: s, ID: keccak.Sum256(s.Actor[:], h, s.Data, binary.BigEndian.AppendUint64(nil, roster.Set))}
	t.Deposit, t.Escrow = q.deposit(roster.Active+1), q.escrow(&s)
	k, err := q.aim(t, s.Height)
	if err != nil {
		return ID{}, Bill{}, err
	}
	t.line = lineOf(k)
	bill := Bill{Actor: s.Actor, Fee: q.price(k), Lock: t.Deposit + min(t.Escrow, math.MaxUint64-t.Deposit)}
	roster.Active++
	roster.Set++
	q.saveRoster(s.Actor, roster)
	q.Depth++
	err = q.put(t)
	q.close()
	bill.Read = uint64(len(s.Data))
	return t.ID, bill, err
}

// Party is who asks for a change of a timer, and for which actor: of the actor's own timers
// any, and of the asker's those that it sends to the actor. Mostly they are one.
type Party struct{ By, Actor chain.Address }

// find returns a timer that the party may change, and of the bill what to look for it comes
// to: others' timers are found as well, and refused.
func find(v state.View, w Party, id ID) (*Timer, Bill, error) {
	t, err := Load(v, id)
	if err != nil {
		return nil, Bill{}, err
	}
	if t == nil {
		return nil, Bill{}, ErrNotFound
	}
	b := Bill{Actor: t.Actor, Read: uint64(len(t.Data)) + t.apart}
	if t.Actor != w.Actor && (t.Actor != w.By || t.To != w.Actor) {
		return nil, b, ErrNotFound
	}
	return t, b, nil
}

// Extend moves a timer to a later height: base fee and surcharge are those of a
// new timer there, the escrow is filled up to it, the deposit stays.
func Extend(o *state.Overlay, c Clock, w Party, id ID, h chain.Height) (Bill, error) {
	t, bill, err := find(o, w, id)
	switch {
	case err != nil:
		return bill, err
	case c.checkAhead(h) != nil:
		return bill, c.checkAhead(h)
	case h <= t.Height:
		return bill, ErrEarlier
	}
	q, err := open(o, c)
	if err != nil {
		return bill, err
	}
	if err := q.retire(t); err != nil {
		return bill, err
	}
	k, err := q.aim(t, h)
	if err != nil {
		return bill, err
	}
	before := t.Escrow
	t.Bid, t.Unfunded, t.since, t.line = nil, 0, 0, lineOf(k)
	t.Escrow = max(before, q.escrow(&t.Spec))
	err = q.put(t)
	q.close()
	bill.Fee, bill.Lock = q.price(k), t.Escrow-before
	return bill, err
}

// retire takes a timer out of its tier and its block's count.
func (q *queue) retire(t *Timer) error {
	if err := q.removeFromTier(t); err != nil {
		return err
	}
	return q.unaim(t)
}

// Cancel ends a timer: deposit and escrow come back, what was burned
// does not (resolution 7.9).
func Cancel(o *state.Overlay, c Clock, w Party, id ID) (Bill, error) {
	t, bill, err := find(o, w, id)
	if err != nil {
		return bill, err
	}
	back, err := End(o, c, t)
	bill.Refund = back.Refund
	return bill, err
}

// End ends a timer that was loaded.
func End(o *state.Overlay, c Clock, t *Timer) (Bill, error) {
	q, err := open(o, c)
	if err != nil {
		return Bill{}, err
	}
	refund, err := q.endTimer(t)
	q.close()
	return Bill{Refund: refund}, err
}

// endTimer ends a timer and returns what it gives back.
func (q *queue) endTimer(t *Timer) (refund chain.Wei, err error) {
	if err := q.retire(t); err != nil {
		return 0, err
	}
	return t.Deposit + t.Escrow, q.erase(t)
}

// Config is what may be changed of a timer.
type Config struct {
	Bidder    *chain.Address // if SetBidder; nil: none
	SetBidder bool
	Limits    chain.Usage // 0: as it was
}

// Configure changes a timer that is not due, and fills or empties its escrow to
// what a new timer's would be.
func Configure(o *state.Overlay, c Clock, w Party, id ID, n Config) (Bill, error) {
	t, bill, err := find(o, w, id)
	switch {
	case err != nil:
		return bill, err
	case t.place == inReady || t.place == nowhere || t.due <= c.Height:
		return bill, ErrDue
	case n.SetBidder && (t.Actor != w.By || w.By != w.Actor):
		return bill, ErrBidder
	}
	if n.SetBidder {
		t.Bidder = n.Bidder
	}
	if n.Limits.Cycles > 0 {
		t.Limits.Cycles = n.Limits.Cycles
	}
	if n.Limits.Cells > 0 {
		t.Limits.Cells = n.Limits.Cells
	}
	s := t.Spec
	s.Height = max(s.Height, t.due) // of one that was postponed
	if err := s.Check(&c); err != nil {
		return bill, err
	}
	q, err := open(o, c)
	if err != nil {
		return bill, err
	}
	before := t.Escrow
	t.Bid, t.Escrow = nil, q.escrow(&s)
	q.saveSpec(t)
	q.saveLink(t)
	bill.Lock, bill.Refund = t.Escrow-min(t.Escrow, before), before-min(t.Escrow, before)
	bill.Written = uint64(len(t.Data)) // they stand in the record of what changed, unless they lie apart
	return bill, nil
}

// DropAll ends up to limit timers of an actor, those that are near first and the
// newest first of either, and returns how many and what they give back (resolution
// 11.24: eviction refunds deposits). It has ended all when it ended fewer than
// limit.
func DropAll(o *state.Overlay, c Clock, actor chain.Address, limit int) (dropped int, refund chain.Wei, err error) {
	q, err := open(o, c)
	if err != nil {
		return 0, 0, err
	}
	defer q.close()
	// Bounded: by limit, timer.max_per_actor for one eviction.
	for ; dropped < limit; dropped++ {
		roster, err := ReadRoster(o, actor)
		newest := roster.newest
		if newest == (ID{}) {
			newest = roster.asleep
		}
		if err != nil || newest == (ID{}) {
			return dropped, refund, err
		}
		t, err := Load(o, newest)
		if err == nil && t == nil {
			err = fmt.Errorf("%w: newest of %s is missing", ErrRecord, actor)
		}
		if err != nil {
			return dropped, refund, err
		}
		back, err := q.endTimer(t)
		if err != nil {
			return dropped, refund, err
		}
		refund += back
	}
	return dropped, refund, nil
}
