package exec

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/permit"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// instructRegistry runs an instruction to [chain.AddrEntitlements]. A verdict
// undoes it and is the receipt's code. The error is a [*Fault].
func (b *block) instructRegistry(ins chain.Instruction, tx *chain.VerifiedTx, limit chain.Usage) (out actor.Outcome, err error) {
	price := permit.Price(&b.in.Params.Entitlements, ins.Opcode)
	switch {
	case tx.Tx.Value != 0:
		return actor.Outcome{Code: chain.CodeBadArgument, Detail: errValue.Error()}, nil
	case price.Cycles > limit.Cycles:
		return actor.Outcome{Code: chain.CodeCyclesExhausted, Used: chain.Usage{Cycles: limit.Cycles}}, nil
	case price.Cells > limit.Cells:
		return actor.Outcome{Code: chain.CodeCellsExhausted, Used: chain.Usage{Cycles: price.Cycles, Cells: limit.Cells}}, nil
	}
	mark := b.state.Snapshot()
	out.Used = price
	book := b.registry()
	id, event, err := b.permit(book, tx.Sender, tx.Tx.Payload)
	if err != nil {
		b.state.Revert(mark)
		out.Detail = err.Error()
		out.Code, err = permitCode(err)
		return out, err
	}
	events := []chain.Event{event}
	if out.Used.Cells += b.eventCells(events); out.Used.Cells > limit.Cells {
		b.state.Revert(mark)
		out.Code, out.Used.Cells = chain.CodeCellsExhausted, limit.Cells
		return out, nil
	}
	out.Events = events
	if id != nil {
		out.Output = cbor.AppendBytes(nil, id[:])
	}
	return out, nil
}

// permitCode turns a verdict of package permit into the receipt's code; the error
// is a [*Fault].
func permitCode(err error) (uint16, error) {
	code, known := verdicts{
		{chain.CodeBadArgument, []error{permit.ErrArgument}},
		{chain.CodeForbidden, []error{permit.ErrForbidden}},
		{chain.CodeNotFound, []error{permit.ErrNotFound}},
		{chain.CodeExists, []error{permit.ErrExists}},
		{chain.CodeWrongState, []error{permit.ErrExpired}},
		{chain.CodeLimitReached, []error{permit.ErrLimit}},
	}.codeOf(err)
	if known {
		return code, nil
	}
	return 0, &Fault{"run an instruction of the entitlement registry", err}
}

// registry is the Entitlement Registry in this block.
func (b *block) registry() *permit.Book {
	return &permit.Book{State: b.state, Height: b.in.Height, Owner: func(s permit.Scope) (chain.Address, bool, error) {
		if s.Kind == permit.ScopeToken {
			t, err := token.Read(b.state, token.ID([]byte(s.Name)))
			if err != nil || t == nil || t.Owner == nil {
				return chain.Address{}, false, err
			}
			return *t.Owner, true, nil
		}
		rec, err := actor.ReadRecord(b.state, chain.Address([]byte(s.Name)))
		if err != nil || rec == nil {
			return chain.Address{}, false, err
		}
		return rec.Creator, true, nil
	}}
}

// permit runs [opcode, args…] for a sender: of a transaction, or governance. The id
// is of what was made.
func (b *block) permit(book *permit.Book, by chain.Address, payload []byte) (id *chain.Hash, e chain.Event, err error) {
	ins, err := (&chain.Tx{To: &chain.AddrEntitlements, Payload: payload}).Classify()
	if err != nil {
		return nil, e, fmt.Errorf("%w: %w", permit.ErrArgument, err)
	}
	r, err := arguments(payload)
	if err != nil {
		return nil, e, err
	}
	switch ins.Opcode {
	case chain.OpEntitlementGrant:
		a, err := permit.ReadAsked(&r)
		if err != nil {
			return nil, e, err
		}
		made, e, err := book.Grant(by, &a)
		return &made, e, err
	case chain.OpRoleCreate:
		role, err := permit.ReadRoleAsked(&r)
		if err != nil {
			return nil, e, err
		}
		made, e, err := book.CreateRole(by, role)
		return &made, e, err
	default:
		return permitOf(book, by, ins.Opcode, &r)
	}
}

// permitOf runs an instruction about a grant or a role that there is.
func permitOf(book *permit.Book, by chain.Address, opcode uint64, r *cbor.Reader) (id *chain.Hash, e chain.Event, err error) {
	var of chain.Hash
	if err = r.BytesInto(of[:]); err != nil {
		return nil, e, err
	}
	if opcode == chain.OpEntitlementRevoke {
		e, err = book.Revoke(by, of)
		return nil, e, err
	}
	var who chain.Address
	if err = r.BytesInto(who[:]); err != nil {
		return nil, e, err
	}
	switch opcode {
	case chain.OpEntitlementDelegate:
		c, err := permit.Inside(r, permit.ReadConstraints)
		if err != nil {
			return nil, e, err
		}
		made, e, err := book.Delegate(by, of, who, c)
		return &made, e, err
	case chain.OpRoleAssign:
		e, err = book.AssignRole(by, of, who)
	default:
		e, err = book.RevokeRole(by, of, who)
	}
	return nil, e, err
}
