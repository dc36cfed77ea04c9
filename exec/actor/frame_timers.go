package actor

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// SetTimer implements host.Timers.
func (f *frame) SetTimer(t host.Timer) (host.ID, error) {
	if err := f.changes(); err != nil {
		return host.ID{}, err
	}
	g, err := f.need(entitle.Schedule)
	if err != nil {
		return host.ID{}, err
	}
	if err := f.run.takeCells(uint64(len(t.Handler) + len(t.Data))); err != nil {
		return host.ID{}, err
	}
	s := timers.Spec{
		Actor: f.env.Self, To: t.To, Height: chain.Height(t.Height), Every: t.Every, Handler: t.Handler,
		Data: t.Data, Bidder: t.Bidder, Limits: chain.Usage{Cycles: chain.Cycles(t.Cycles), Cells: chain.Cells(t.Cells)},
	}
	id, read, err := f.run.setTimer(s, g)
	f.handled(read)
	return host.ID(id), timerRefusal(err)
}

// ExtendTimer implements host.Timers.
func (f *frame) ExtendTimer(id host.ID, height uint64) error {
	return f.changeTimer(func(c timers.Clock) (timers.Bill, error) {
		return timers.Extend(f.run.state, c, f.env.Self, chain.Hash(id), chain.Height(height))
	})
}

// CancelTimer implements host.Timers.
func (f *frame) CancelTimer(id host.ID) (bool, error) {
	err := f.changeTimer(func(c timers.Clock) (timers.Bill, error) {
		return timers.Cancel(f.run.state, c, f.env.Self, chain.Hash(id))
	})
	var refusal *host.Refusal
	if errors.As(err, &refusal) && refusal.Code == host.RefusedTarget {
		return false, nil
	}
	return err == nil, err
}

func (f *frame) changeTimer(change func(timers.Clock) (timers.Bill, error)) error {
	if err := f.changes(); err != nil {
		return err
	}
	if _, err := f.need(entitle.Schedule); err != nil {
		return err
	}
	read, err := f.run.changeTimer(f.env.Self, change)
	f.handled(read)
	return timerRefusal(err)
}

// handled charges the data of a timer that a call had to hash, read or move.
func (f *frame) handled(bytes uint64) {
	f.machine.ChargeEach(int(bytes), f.run.block.costs.ReadByte)
}

// timerRefusal is what a program sees of a verdict of package timers.
func timerRefusal(err error) error {
	// Bounded: by the verdicts, seven.
	for _, row := range []struct {
		err  error
		code string
	}{
		{timers.ErrPast, host.RefusedPast},
		{timers.ErrTooFar, host.RefusedLimit},
		{timers.ErrLimit, host.RefusedLimit},
		{timers.ErrEarlier, host.RefusedArgument},
		{timers.ErrArgument, host.RefusedArgument},
		{timers.ErrNotFound, host.RefusedTarget},
		{funds.ErrShort, host.RefusedFunds},
	} {
		if errors.Is(err, row.err) {
			return &host.Refusal{Code: row.code, Text: err.Error()}
		}
	}
	return err
}

func (r *Run) clock() timers.Clock {
	return timers.Clock{Params: r.block.Params, Height: r.block.Height, Base: r.block.TimerBase}
}

// setTimer sets a timer of an actor that may have as many as its grant says
// (entitlements §9.8): one more is a trap. Where the protocol's own limit is the
// lower, that is a verdict of package timers. What the timer leaves open it gets
// from the parameters.
func (r *Run) setTimer(s timers.Spec, g *entitle.Grant) (id timers.ID, read uint64, err error) {
	if s.To == (chain.Address{}) {
		s.To = s.Actor
	}
	if s.Every > 0 && s.Height == 0 {
		s.Height = r.block.Height + chain.Height(min(s.Every, timers.MaxAhead+1))
	}
	s.Limits = timers.Limits(r.block.Params, s.Limits)
	roster, err := timers.ReadRoster(r.state, s.Actor)
	if err != nil {
		return id, 0, err
	}
	if most, bounded := g.Uint(entitle.MaxTimers); bounded && roster.Active >= most {
		return id, 0, &Trap{chain.CodeEntitlementQuota, entitle.Schedule + "/" + entitle.MaxTimers}
	}
	read, err = r.changeTimer(s.Actor, func(c timers.Clock) (b timers.Bill, err error) {
		id, b, err = timers.Set(r.state, c, s)
		return b, err
	})
	return id, read, err
}

// changeTimer makes a change and moves its money, or does neither. The bytes that it
// read, which whoever asked for it pays, it returns in either case.
func (r *Run) changeTimer(actor chain.Address, change func(timers.Clock) (timers.Bill, error)) (read uint64, err error) {
	before := r.state.Snapshot()
	bill, err := change(r.clock())
	if err == nil {
		err = r.payTimer(actor, bill)
	}
	if err == nil {
		err = r.takeCells(bill.Written * uint64(r.block.Params.API.StorageWriteByteCells))
	}
	if err != nil {
		r.state.Revert(before)
	}
	return bill.Read, err
}

// payTimer moves the money of a bill. What comes back may grow a balance
// (resolution 11.25).
func (r *Run) payTimer(actor chain.Address, b timers.Bill) error {
	total, payable := b.Total()
	if !payable {
		return funds.ErrShort
	}
	held, err := r.rent().Withholds(actor, total)
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("%w: the rest of it is held for rent", funds.ErrShort)
	}
	if err := r.debit(actor, total); err != nil {
		if errors.Is(err, funds.ErrShort) {
			err = fmt.Errorf("%w: a timer's deposit and fees are %d base units", err, total)
		}
		return err
	}
	r.putAside(actor, b.Lock)
	if err := r.credit(chain.AddrTimers, b.Lock); err != nil {
		return err
	}
	r.burned += b.Fee // was in a balance, so the sum fits
	if err := r.debit(chain.AddrTimers, b.Refund); err != nil {
		return err
	}
	return r.giveBack(actor, b.Refund)
}
