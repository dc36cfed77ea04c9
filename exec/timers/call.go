package timers

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Call is an operation on timers for an actor: an instruction of its creator, or the host
// call of its own handler. Who asks pays.
type Call struct{ *service.Call }

func (c Call) clock() Clock {
	return Clock{Params: c.Params, Height: c.Height, Base: c.TimerBase}
}

// Set sets a timer, where the manifest of an actor allows that actor one more (entitlements
// §9.8); the protocol's own limit, of the timer's actor, is a verdict. What the timer leaves
// open it gets from the parameters.
func (c Call) Set(by chain.Address, s Spec) (id ID, err error) {
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
	roster, err := ReadRoster(c.State, by)
	if err != nil {
		return id, err
	}
	if err := c.Run.MayHaveTimer(by, roster.Active); err != nil {
		return id, err
	}
	err = c.change(func(clock Clock) (b Bill, err error) {
		id, b, err = Set(c.State, clock, s)
		return b, err
	})
	return id, err
}

// Extend moves a timer to a later height.
func (c Call) Extend(actor chain.Address, id ID, h chain.Height) error {
	return c.change(func(clock Clock) (Bill, error) { return Extend(c.State, clock, c.of(actor), id, h) })
}

// Cancel ends a timer.
func (c Call) Cancel(actor chain.Address, id ID) error {
	return c.change(func(clock Clock) (Bill, error) { return Cancel(c.State, clock, c.of(actor), id) })
}

// Configure changes a timer that is not due.
func (c Call) Configure(actor chain.Address, id ID, n Config) error {
	return c.change(func(clock Clock) (Bill, error) { return Configure(c.State, clock, c.of(actor), id, n) })
}

// of says which timers this call may change: those of an actor, and the caller's for it.
func (c Call) of(actor chain.Address) Party { return Party{By: c.By, Actor: actor} }

// change makes a change and moves its money, or does neither. The bytes that it read are
// paid in either case.
func (c Call) change(do func(Clock) (Bill, error)) error {
	return c.Run.Whole(func() error {
		bill, err := do(c.clock())
		c.Run.Handled(bill.Read)
		if err == nil {
			err = Pay(c.Run, c.By, bill)
		}
		if err == nil {
			err = c.Run.TakeCells(bill.Written * uint64(c.Params.API.StorageWriteByteCells))
		}
		return err
	})
}

// created refuses who did not create an actor.
func (c Call) created(actor chain.Address) error {
	creator, ok, err := c.Run.Creator(actor)
	switch {
	case err != nil:
		return err
	case !ok:
		return verdict.New(verdict.Missing, fmt.Sprintf("%s is no actor", actor))
	case creator != c.By:
		return verdict.New(verdict.Forbidden, fmt.Sprintf("%s did not create %s", c.By, actor))
	}
	return nil
}
