package timers

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Call is an operation on the timers of an actor: an instruction of its creator, or the
// host call of its own handler.
type Call struct{ *service.Call }

func (c Call) clock() Clock {
	return Clock{Params: c.Params, Height: c.Height, Base: c.TimerBase}
}

// Set sets a timer of an actor that may have as many as its manifest says (entitlements
// §9.8); the protocol's own limit is a verdict. What the timer leaves open it gets from
// the parameters.
func (c Call) Set(s Spec) (id ID, err error) {
	if s.To == (chain.Address{}) {
		s.To = s.Actor
	}
	if s.Every > 0 && s.Height == 0 {
		s.Height = c.Height + chain.Height(min(s.Every, MaxAhead+1))
	}
	s.Limits = Limits(c.Params, s.Limits)
	if s.Load, err = c.Run.FirstUse(s.Actor, s.To); err != nil {
		return id, err
	}
	roster, err := ReadRoster(c.State, s.Actor)
	if err != nil {
		return id, err
	}
	if err := c.Run.MayHaveTimer(s.Actor, roster.Active); err != nil {
		return id, err
	}
	err = c.change(s.Actor, func(clock Clock) (b Bill, err error) {
		id, b, err = Set(c.State, clock, s)
		return b, err
	})
	return id, err
}

// Extend moves a timer to a later height.
func (c Call) Extend(actor chain.Address, id ID, h chain.Height) error {
	return c.change(actor, func(clock Clock) (Bill, error) { return Extend(c.State, clock, actor, id, h) })
}

// Cancel ends a timer.
func (c Call) Cancel(actor chain.Address, id ID) error {
	return c.change(actor, func(clock Clock) (Bill, error) { return Cancel(c.State, clock, actor, id) })
}

// Configure changes a timer that is not due.
func (c Call) Configure(actor chain.Address, id ID, n Config) error {
	return c.change(actor, func(clock Clock) (Bill, error) { return Configure(c.State, clock, actor, id, n) })
}

// change makes a change and moves its money, or does neither. The bytes that it read are
// paid in either case.
func (c Call) change(actor chain.Address, do func(Clock) (Bill, error)) error {
	return c.Run.Whole(func() error {
		bill, err := do(c.clock())
		c.Run.Handled(bill.Read)
		if err == nil {
			err = Pay(c.Run, actor, bill)
		}
		if err == nil {
			err = c.Run.TakeCells(bill.Written * uint64(c.Params.API.StorageWriteByteCells))
		}
		return err
	})
}

// owned refuses who did not create an actor, and hands it the value that came: it pays.
func (c Call) owned(actor chain.Address) error {
	creator, ok, err := c.Run.Creator(actor)
	switch {
	case err != nil:
		return err
	case !ok:
		return verdict.New(verdict.Missing, fmt.Sprintf("%s is no actor", actor))
	case creator != c.By:
		return verdict.New(verdict.Forbidden, fmt.Sprintf("%s did not create %s", c.By, actor))
	}
	return c.Run.Credit(actor, c.Value)
}
