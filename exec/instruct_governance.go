package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/permit"
)

// instructGovernance runs an instruction to [chain.AddrGovernance]. A verdict
// undoes it and is the receipt's code.
func (b *block) instructGovernance(ins chain.Instruction, tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	mark := b.state.Snapshot()
	g := governing{block: b, book: &governance.Book{State: b.state, Params: b.in.Params, Height: b.in.Height, Cycles: limit.Cycles}}
	out, err := g.govern(ins.Opcode, tx)
	out.Used.Cycles = limit.Cycles - g.book.Cycles
	if err == nil && tx.Tx.Value != 0 {
		err = errValue
	}
	if err == nil && out.Code == chain.CodeOK {
		cells, err := g.cells(mark, out.Events)
		if err != nil {
			return actor.Outcome{}, &Fault{"weigh what an instruction adds", err}
		}
		if out.Used.Cells = cells; cells <= limit.Cells {
			return out, nil
		}
		out.Code, out.Used.Cells = chain.CodeCellsExhausted, limit.Cells
	}
	b.state.Revert(mark)
	out.Events, out.Output = nil, nil
	if err == nil {
		return out, nil
	}
	code, known := verdicts{
		{chain.CodeBadArgument, []error{governance.ErrAction, errValue}},
		{chain.CodeForbidden, []error{governance.ErrMember}},
		{chain.CodeNotFound, []error{governance.ErrNoProposal}},
		{chain.CodeWrongState, []error{governance.ErrState}},
		{chain.CodeCyclesExhausted, []error{governance.ErrCycles}},
	}.codeOf(err)
	if !known {
		return actor.Outcome{}, &Fault{"govern", err}
	}
	out.Code, out.Detail = code, err.Error()
	return out, nil
}

// governing is one instruction of governance.
type governing struct {
	*block
	book  *governance.Book
	paid  int         // bytes of its rows that stood in its payload
	extra chain.Cells // price of what it does besides
}

// cells is what it pays for its events and for what it has written since the mark. Its
// members are few and can raise the limit of a full state, so that it costs them what
// it costs on a young chain (ADR 88).
func (g *governing) cells(mark int, events []chain.Event) (chain.Cells, error) {
	growth, err := g.actors.Growth(g.state, mark, chain.Hash{})
	growth.Unpaid += g.book.Overwritten
	growth.Unpaid -= min(growth.Unpaid, uint64(g.paid))
	return g.extra + g.eventCells(events) + growth.Cells(g.in.Params, fees.GrowthOne), err
}

// govern does the instruction. An error that is no verdict of package governance is a
// fault.
func (g *governing) govern(opcode uint64, tx *chain.VerifiedTx) (out actor.Outcome, err error) {
	r, err := arguments(tx.Tx.Payload)
	if err != nil {
		return out, err
	}
	if opcode == chain.OpGovernancePropose {
		action, err := r.Raw(cbor.DefaultLimits())
		if err != nil {
			return out, err
		}
		emergency, err := r.Bool()
		if err != nil {
			return out, err
		}
		g.paid = len(action)
		id, events, err := g.book.Propose(tx.Sender, action, emergency)
		out.Output, out.Events = cbor.AppendBytes(nil, id[:]), events
		return out, err
	}
	var id chain.Hash
	if err := r.BytesInto(id[:]); err != nil {
		return out, err
	}
	if opcode == chain.OpGovernanceApprove {
		out.Events, err = g.book.Approve(tx.Sender, id)
		return out, err
	}
	effect, events, err := g.book.Execute(tx.Sender, id)
	out.Events = events
	switch {
	case err != nil:
	case effect.Upgrade != nil:
		out.Code, err = g.upgrade(effect.Upgrade)
	case effect.Registry != nil:
		err = g.register(effect.Registry, &out)
	}
	return out, err
}

// register carries an instruction to the registry out, at the price that it has there.
func (g *governing) register(payload []byte, out *actor.Outcome) error {
	ins, err := (&chain.Tx{To: &chain.AddrEntitlements, Payload: payload}).Classify()
	price := permit.Price(&g.in.Params.Entitlements, ins.Opcode)
	switch {
	case err != nil: // the proposal was judged by an earlier build
		out.Code, out.Detail = chain.CodeBadArgument, err.Error()
		return nil
	case price.Cycles > g.book.Cycles:
		out.Code, g.book.Cycles = chain.CodeCyclesExhausted, 0
		return nil
	}
	g.book.Cycles -= price.Cycles
	g.extra = price.Cells
	_, e, err := g.permit(g.registry(), chain.AddrGovernance, payload)
	if err != nil {
		out.Detail = err.Error()
		out.Code, err = permitCode(err)
		return err
	}
	out.Events = append(out.Events, e)
	return nil
}

// upgrade puts other code in place of a system actor's (resolution 8.2), at the price
// of compiling it.
func (g *governing) upgrade(a *governance.Action) (uint16, error) {
	if g.in.Engine == nil {
		return 0, ErrNoEngine
	}
	code, used, err := g.actors.Upgrade(g.state, g.in.Engine, a.Actor, a.Source, g.book.Cycles)
	g.book.Cycles -= used
	return code, err
}
