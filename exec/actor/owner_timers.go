package actor

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// TimerOrder is what the owner of an actor, who is its creator, wants of its
// timers. The value goes to the actor, which pays. Exactly one of Set and Change
// is there.
type TimerOrder struct {
	Owner, Actor chain.Address
	Value        chain.Wei
	Set          *timers.Spec
	Change       func(timers.Clock) (timers.Bill, error)
}

// OrderTimer carries an order out. What [Run.First] says of the value holds. The
// answer to Set is the id. The error is a fault.
func (r *Run) OrderTimer(o *TimerOrder) (Outcome, error) {
	m := r.mark()
	v, read, err := r.orderTimer(o)
	if err != nil {
		return Outcome{}, err
	}
	price := chain.Cycles(read) * r.block.Params.API.StorageReadByteCycles
	if price > r.cycles {
		price, v = r.cycles, refused(chain.CodeCyclesExhausted, "the timer's %d bytes of data cost %d cycles", read, price)
	}
	r.cycles -= price
	if v.code != chain.CodeOK {
		r.undo(m)
	}
	return r.finish(m, v)
}

// orderTimer returns the bytes of data that it read as well.
func (r *Run) orderTimer(o *TimerOrder) (v verdict, read uint64, err error) {
	rec, err := ReadRecord(r.state, o.Actor)
	switch {
	case err != nil:
		return verdict{}, 0, err
	case rec == nil:
		return refused(chain.CodeNotFound, "%s is no actor", o.Actor), 0, nil
	case rec.Creator != o.Owner:
		return refused(chain.CodeForbidden, "%s did not create %s", o.Owner, o.Actor), 0, nil
	}
	if c, err := r.pay(&Envelope{From: o.Owner, To: o.Actor, Value: o.Value}); err != nil || c != chain.CodeOK {
		return refused(c, "value does not fit the actor's balance"), 0, err
	}
	if o.Set == nil {
		read, err = r.changeTimer(o.Actor, o.Change)
		v, err = timerVerdict(err)
		return v, read, err
	}
	grants, err := r.grants(rec)
	if err != nil {
		return verdict{}, 0, fmt.Errorf("manifest of %s: %w", o.Actor, err)
	}
	g, ok := grants.Find(entitle.Schedule)
	if !ok {
		return refused(chain.CodeNotEntitled, "%s is not in the manifest", entitle.Schedule), 0, nil
	}
	id, read, err := r.setTimer(*o.Set, g)
	if v, err = timerVerdict(err); err != nil || v.code != chain.CodeOK {
		return v, read, err
	}
	v.output = cbor.AppendBytes(nil, id[:])
	return v, read, r.answer(&v)
}

// answer charges the cells of an answer that no handler gave.
func (r *Run) answer(v *verdict) error {
	err := r.takeCells(uint64(len(v.output)) * uint64(r.block.Params.API.ReturnByteCells))
	if ended, ok := trapped(err); ok {
		*v = ended
		return nil
	}
	return err
}

// timerVerdict turns a verdict of package timers into a receipt's code; what is
// none is a fault.
func timerVerdict(err error) (verdict, error) {
	if v, ok := trapped(err); ok {
		return v, nil
	}
	// Bounded: by the verdicts, eight.
	for _, row := range []struct {
		err  error
		code uint16
	}{
		{timers.ErrPast, chain.CodeBadArgument},
		{timers.ErrTooFar, chain.CodeBadArgument},
		{timers.ErrEarlier, chain.CodeBadArgument},
		{timers.ErrArgument, chain.CodeBadArgument},
		{timers.ErrLimit, chain.CodeLimitReached},
		{timers.ErrNotFound, chain.CodeNotFound},
		{timers.ErrDue, chain.CodeWrongState},
		{funds.ErrShort, chain.CodeInsufficientBalance},
	} {
		if errors.Is(err, row.err) {
			return refused(row.code, "%v", err), nil
		}
	}
	return verdict{}, err
}
