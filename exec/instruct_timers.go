package exec

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// orderTimer carries out what the creator of an actor wants of its timers.
func (b *block) orderTimer(ins chain.Instruction, tx *chain.VerifiedTx, intrinsic chain.Usage) (actor.Outcome, error) {
	o, err := b.timerOrder(ins.Opcode, tx.Tx.Payload)
	if err != nil {
		return actor.Outcome{Code: chain.CodeBadArgument, Detail: err.Error()}, nil
	}
	o.Owner, o.Value = tx.Sender, tx.Tx.Value
	limit := limitsLeft(tx, intrinsic)
	r := actor.NewRun(b.actors, b.state, b.in.Engine, actor.Start{Origin: tx.Sender, ID: tx.Hash, Cycles: limit.Cycles, Cells: limit.Cells})
	out, err := r.OrderTimer(&o)
	return out, fault("see to a timer", err)
}

// timerOrder reads the arguments, whose types were checked before; an error is a
// value that is out of range.
func (b *block) timerOrder(opcode uint64, payload []byte) (o actor.TimerOrder, err error) {
	r, err := arguments(payload)
	if err == nil {
		err = r.BytesInto(o.Actor[:])
	}
	if err != nil {
		return o, err
	}
	if opcode == chain.OpTimerSchedule {
		o.Set, err = readSchedule(&r, o.Actor)
		return o, err
	}
	var id timers.ID
	if err = r.BytesInto(id[:]); err != nil {
		return o, err
	}
	switch opcode {
	case chain.OpTimerExtend:
		var until uint64
		until, err = r.Uint()
		o.Change = func(c timers.Clock) (timers.Bill, error) {
			return timers.Extend(b.state, c, o.Actor, id, chain.Height(until))
		}
	case chain.OpTimerConfig:
		var config timers.Config
		config, err = readTimerConfig(&r)
		o.Change = func(c timers.Clock) (timers.Bill, error) {
			return timers.Configure(b.state, c, o.Actor, id, config)
		}
	default:
		o.Change = func(c timers.Clock) (timers.Bill, error) { return timers.Cancel(b.state, c, o.Actor, id) }
	}
	return o, err
}

// readSchedule reads [height, interval or null, handler, payload]. An interval
// of 0 is none.
func readSchedule(r *cbor.Reader, owned chain.Address) (*timers.Spec, error) {
	height, err := r.Uint()
	if err != nil {
		return nil, err
	}
	s := &timers.Spec{Actor: owned, Height: chain.Height(height)}
	if !r.Null() {
		if s.Every, err = r.Uint(); err != nil {
			return nil, err
		}
	}
	if s.Handler, err = r.Text(timers.MaxHandlerBytes); err != nil {
		return nil, err
	}
	if s.Data, err = r.Bytes(chain.MaxTxBytes); err != nil {
		return nil, err
	}
	return s, cbor.Scan(s.Data, cbor.DefaultLimits())
}

// readTimerConfig reads {"bidder"?: address or null, "cells_limit"?: uint,
// "cycles_limit"?: uint}.
func readTimerConfig(r *cbor.Reader) (c timers.Config, err error) {
	n, err := r.Map(3)
	if err != nil {
		return c, err
	}
	var prev []byte
	// Bounded: by three settings.
	for range n {
		at := *r
		if prev, err = r.Key(prev, cbor.DefaultLimits()); err != nil {
			return c, err
		}
		name, err := at.Text(len("cycles_limit"))
		if err != nil {
			return c, err
		}
		if err := readTimerSetting(r, name, &c); err != nil {
			return c, err
		}
	}
	return c, nil
}

func readTimerSetting(r *cbor.Reader, name string, c *timers.Config) error {
	switch name {
	case "bidder":
		c.SetBidder = true
		if r.Null() {
			return nil
		}
		c.Bidder = new(chain.Address)
		return r.BytesInto(c.Bidder[:])
	case "cycles_limit":
		n, err := r.Uint()
		c.Limits.Cycles = chain.Cycles(n)
		return err
	case "cells_limit":
		n, err := r.Uint()
		c.Limits.Cells = chain.Cells(n)
		return err
	}
	return fmt.Errorf("no setting %q of a timer", name)
}
