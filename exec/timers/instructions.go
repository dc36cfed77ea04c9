package timers

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// order is what the creator of an actor wants of timers for it.
type order struct {
	actor  chain.Address
	id     ID
	until  chain.Height
	config Config
	spec   *Spec
}

// Instructions returns those with which the creator of an actor sees to timers for it. One
// that it sets is its own: it pays for it, and the actor gets it as a message of its
// creator. Of those that the actor has set it may end, move and limit any, at its own
// expense (ADR 206).
func Instructions() []service.Instruction {
	return []service.Instruction{
		row(chain.OpTimerSchedule,
			func(r *cbor.Reader, o *order) (err error) {
				o.spec, err = readSchedule(r)
				return err
			},
			func(c Call, o *order) ([]byte, error) {
				o.spec.Actor, o.spec.To = c.By, o.actor
				id, err := c.Set(o.actor, *o.spec)
				if err != nil {
					return nil, err
				}
				answer := cbor.AppendBytes(nil, id[:])
				return answer, c.Run.TakeCells(uint64(len(answer)) * uint64(c.Params.API.ReturnByteCells))
			}),
		row(chain.OpTimerCancel, readID,
			func(c Call, o *order) ([]byte, error) { return nil, c.Cancel(o.actor, o.id) }),
		row(chain.OpTimerConfig,
			func(r *cbor.Reader, o *order) (err error) {
				if err = readID(r, o); err == nil {
					o.config, err = readTimerConfig(r)
				}
				return err
			},
			func(c Call, o *order) ([]byte, error) { return nil, c.Configure(o.actor, o.id, o.config) }),
		row(chain.OpTimerExtend,
			func(r *cbor.Reader, o *order) error {
				if err := readID(r, o); err != nil {
					return err
				}
				until, err := r.Uint()
				o.until = chain.Height(until)
				return err
			},
			func(c Call, o *order) ([]byte, error) { return nil, c.Extend(o.actor, o.id, o.until) }),
	}
}

// row makes a row of the table out of what is its own.
func row(opcode uint64, read func(*cbor.Reader, *order) error, run func(Call, *order) ([]byte, error)) service.Instruction {
	return service.Instruction{
		Opcode: opcode,
		Read: func(r *cbor.Reader) (service.Args, error) {
			o := new(order)
			if err := r.BytesInto(o.actor[:]); err != nil {
				return nil, err
			}
			return o, read(r, o)
		},
		Run: func(call *service.Call, a service.Args) ([]byte, error) {
			c, o := Call{call}, a.(*order)
			if err := c.created(o.actor); err != nil {
				return nil, err
			}
			return run(c, o)
		},
	}
}

func readID(r *cbor.Reader, o *order) error { return r.BytesInto(o.id[:]) }

// readSchedule reads [height, interval or null, handler, payload]. An interval
// of 0 is none.
func readSchedule(r *cbor.Reader) (*Spec, error) {
	height, err := r.Uint()
	if err != nil {
		return nil, err
	}
	s := &Spec{Height: chain.Height(height)}
	if !r.Null() {
		if s.Every, err = r.Uint(); err != nil {
			return nil, err
		}
	}
	if s.Handler, err = r.Text(MaxHandlerBytes); err != nil {
		return nil, err
	}
	if s.Data, err = r.Bytes(chain.MaxTxBytes); err != nil {
		return nil, err
	}
	return s, cbor.Scan(s.Data, cbor.DefaultLimits())
}

// readTimerConfig reads {"bidder"?: address or null, "cells_limit"?: uint,
// "cycles_limit"?: uint}.
func readTimerConfig(r *cbor.Reader) (c Config, err error) {
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

func readTimerSetting(r *cbor.Reader, name string, c *Config) error {
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
