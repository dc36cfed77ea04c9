package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/governance"
)

// instructGovernance runs an instruction to [chain.AddrGovernance]. A verdict
// undoes it and is the receipt's code.
func (b *block) instructGovernance(ins chain.Instruction, tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	mark := b.state.Snapshot()
	out, err := b.govern(ins.Opcode, tx)
	if err == nil && tx.Tx.Value != 0 {
		err = errValue
	}
	if err == nil && out.Code == chain.CodeOK {
		out.Used.Cells = b.eventCells(out.Events)
		if out.Used.Cells <= limit.Cells {
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
	}.codeOf(err)
	if !known {
		return actor.Outcome{}, &Fault{"govern", err}
	}
	out.Code, out.Detail = code, err.Error()
	return out, nil
}

// govern does the instruction. An error that is no verdict of package governance
// is a fault.
func (b *block) govern(opcode uint64, tx *chain.VerifiedTx) (out actor.Outcome, err error) {
	r, err := arguments(tx.Tx.Payload)
	if err != nil {
		return out, err
	}
	book := &governance.Book{State: b.state, Params: b.in.Params, Height: b.in.Height}
	if opcode == chain.OpGovernancePropose {
		action, err := r.Raw(cbor.DefaultLimits())
		if err != nil {
			return out, err
		}
		emergency, err := r.Bool()
		if err != nil {
			return out, err
		}
		id, events, err := book.Propose(tx.Sender, action, emergency)
		out.Output, out.Events = cbor.AppendBytes(nil, id[:]), events
		return out, err
	}
	var id chain.Hash
	if err := r.BytesInto(id[:]); err != nil {
		return out, err
	}
	if opcode == chain.OpGovernanceApprove {
		out.Events, err = book.Approve(tx.Sender, id)
		return out, err
	}
	effect, events, err := book.Execute(tx.Sender, id)
	out.Events = events
	switch {
	case err != nil:
	case effect.Upgrade != nil:
		out.Code, err = b.upgrade(effect.Upgrade)
	case effect.Registry != nil:
		var e chain.Event
		if _, e, err = b.permit(b.registry(), chain.AddrGovernance, effect.Registry); err != nil {
			out.Detail = err.Error()
			out.Code, err = permitCode(err)
		}
		out.Events = append(out.Events, e)
	}
	return out, err
}

// upgrade puts other code in place of a system actor's (resolution 8.2).
func (b *block) upgrade(a *governance.Action) (uint16, error) {
	if b.in.Engine == nil {
		return 0, ErrNoEngine
	}
	return b.actors.Upgrade(b.state, b.in.Engine, a.Actor, a.Source)
}
