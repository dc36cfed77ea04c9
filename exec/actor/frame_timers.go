package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// timers runs an operation of the actor's.
func (f *frame) timers(do func(c timers.Call) error) error {
	return f.serve(func(c *service.Call) error {
		if _, err := f.need(manifest.Schedule); err != nil {
			return err
		}
		return do(timers.Call{Call: c})
	})
}

// SetTimer implements host.Timers.
func (f *frame) SetTimer(t host.Timer) (id host.ID, err error) {
	if err := checkText(t.Handler); err != nil {
		return host.ID{}, err
	}
	err = f.timers(func(c timers.Call) error {
		if err := c.Run.TakeCells(uint64(len(t.Handler) + len(t.Data))); err != nil {
			return err
		}
		set, err := c.Set(f.env.Self, timers.Spec{
			Actor: f.env.Self, To: t.To, Height: chain.Height(t.Height), Every: t.Every, Handler: t.Handler,
			Data: t.Data, Bidder: t.Bidder, Limits: chain.Usage{Cycles: chain.Cycles(t.Cycles), Cells: chain.Cells(t.Cells)},
		})
		id = host.ID(set)
		return err
	})
	return id, err
}

// ExtendTimer implements host.Timers.
func (f *frame) ExtendTimer(id host.ID, height uint64) error {
	return f.timers(func(c timers.Call) error { return c.Extend(f.env.Self, chain.Hash(id), chain.Height(height)) })
}

// CancelTimer implements host.Timers.
func (f *frame) CancelTimer(id host.ID) (bool, error) {
	err := f.timers(func(c timers.Call) error { return c.Cancel(f.env.Self, chain.Hash(id)) })
	var refusal *host.Refusal
	if errors.As(err, &refusal) && refusal.Code == host.RefusedTarget {
		return false, nil
	}
	return err == nil, err
}
