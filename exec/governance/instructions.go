package governance

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Done is what carrying out an effect came to.
type Done struct {
	Cells  chain.Cells // that it costs besides
	Events []chain.Event
	Failed error // why it was refused, which undoes the instruction; nil: it was not
}

// Carrier carries out what an action does in other services, with the cycles of the book,
// which it charges. The error is a fault.
type Carrier func(c *service.Call, b *Book, e *Effect) (Done, error)

// operation is one instruction. It returns the answer, the events, the bytes of its rows
// that stood in its payload, and what was carried out.
type operation func(c *service.Call, b *Book, r *cbor.Reader, carry Carrier) (result, error)

type result struct {
	answer []byte
	events []chain.Event
	paid   int // bytes of its rows that stood in its payload
	done   Done
}

// Instructions returns those at [chain.AddrGovernance].
func Instructions(carry Carrier) service.Table {
	row := func(opcode uint64, do operation) service.Instruction {
		return service.Instruction{
			Opcode: opcode, Value: service.TakesValue, OwnGrowth: true,
			Run: func(c *service.Call, a service.Args) ([]byte, error) {
				b := &Book{State: c.State, Params: c.Params, Height: c.Height, Cycles: c.Run.Cycles()}
				before := b.Cycles
				res, err := do(c, b, a.(*cbor.Reader), carry)
				err = errors.Join(c.Run.Take(chain.Usage{Cycles: before - b.Cycles}), err)
				switch {
				case err != nil:
					return nil, err
				case c.Value != 0:
					return nil, errValue
				case res.done.Failed != nil:
					return nil, res.done.Failed
				}
				return res.answer, b.chargeInstruction(c, &res)
			},
		}
	}
	return service.Table{Address: chain.AddrGovernance, Instructions: []service.Instruction{
		row(chain.OpGovernancePropose, propose), row(chain.OpGovernanceApprove, approve), row(chain.OpGovernanceExecute, execute),
	}}
}

var errValue = verdict.New(verdict.Argument, "the instruction takes no value")

// chargeInstruction charges an instruction for its events and for what it has written. Its members are
// few and can raise the limit of a full state, so that it costs them what it costs on a
// young chain (ADR 88).
func (b *Book) chargeInstruction(c *service.Call, res *result) error {
	growth, err := c.Run.Growth()
	if err != nil {
		return err
	}
	growth.Unpaid += b.Overwritten
	growth.Unpaid -= min(growth.Unpaid, uint64(res.paid))
	events := append(res.events, res.done.Events...)
	cells := uint64(res.done.Cells + growth.Cells(c.Params, fees.GrowthOne))
	// Bounded: by the events of one instruction.
	for _, e := range events {
		cells += c.Params.API.OfEvent(len(e.Name), len(e.Data))
	}
	if err := c.Run.TakeCells(cells); err != nil {
		return err
	}
	// Bounded: by the events of one instruction.
	for _, e := range events {
		c.Run.Emit(e)
	}
	return nil
}

func propose(c *service.Call, b *Book, r *cbor.Reader, _ Carrier) (res result, err error) {
	action, err := r.Raw(cbor.DefaultLimits())
	if err != nil {
		return res, err
	}
	emergency, err := r.Bool()
	if err != nil {
		return res, err
	}
	res.paid = len(action)
	id, events, err := b.Propose(c.By, action, emergency)
	res.answer, res.events = cbor.AppendBytes(nil, id[:]), events
	return res, err
}

func approve(c *service.Call, b *Book, r *cbor.Reader, _ Carrier) (res result, err error) {
	var id chain.Hash
	if err := r.BytesInto(id[:]); err != nil {
		return res, err
	}
	res.events, err = b.Approve(c.By, id)
	return res, err
}

func execute(c *service.Call, b *Book, r *cbor.Reader, carry Carrier) (res result, err error) {
	var id chain.Hash
	if err := r.BytesInto(id[:]); err != nil {
		return res, err
	}
	effect, events, err := b.Execute(c.By, id)
	if err != nil {
		return res, err
	}
	res.events = events
	res.done, err = carry(c, b, &effect)
	return res, err
}
