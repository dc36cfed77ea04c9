package entitlements

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// Owners says who answers for an actor or a token: false for nobody.
type Owners func(c *service.Call, s Scope) (chain.Address, bool, error)

// operation reads the arguments of an instruction and carries it out. The id is of what
// was made.
type operation func(b *Book, by chain.Address, r *cbor.Reader) (id *chain.Hash, e chain.Event, err error)

// operations are those at [chain.AddrEntitlements] (CIP-2 §7.2).
var operations = []struct {
	opcode uint64
	do     operation
}{
	{chain.OpEntitlementGrant, func(b *Book, by chain.Address, r *cbor.Reader) (*chain.Hash, chain.Event, error) {
		a, err := ReadAsked(r)
		if err != nil {
			return nil, chain.Event{}, err
		}
		id, e, err := b.Grant(by, &a)
		return &id, e, err
	}},
	{chain.OpEntitlementRevoke, func(b *Book, by chain.Address, r *cbor.Reader) (*chain.Hash, chain.Event, error) {
		var of chain.Hash
		if err := r.BytesInto(of[:]); err != nil {
			return nil, chain.Event{}, err
		}
		e, err := b.Revoke(by, of)
		return nil, e, err
	}},
	{chain.OpEntitlementDelegate, about(func(b *Book, by chain.Address, of chain.Hash, who chain.Address, r *cbor.Reader) (*chain.Hash, chain.Event, error) {
		c, err := Inside(r, ReadConstraints)
		if err != nil {
			return nil, chain.Event{}, err
		}
		id, e, err := b.Delegate(by, of, who, c)
		return &id, e, err
	})},
	{chain.OpRoleCreate, func(b *Book, by chain.Address, r *cbor.Reader) (*chain.Hash, chain.Event, error) {
		role, err := ReadRoleAsked(r)
		if err != nil {
			return nil, chain.Event{}, err
		}
		id, e, err := b.CreateRole(by, role)
		return &id, e, err
	}},
	{chain.OpRoleAssign, about(func(b *Book, by chain.Address, of chain.Hash, who chain.Address, _ *cbor.Reader) (*chain.Hash, chain.Event, error) {
		e, err := b.AssignRole(by, of, who)
		return nil, e, err
	})},
	{chain.OpRoleRevoke, about(func(b *Book, by chain.Address, of chain.Hash, who chain.Address, _ *cbor.Reader) (*chain.Hash, chain.Event, error) {
		e, err := b.RevokeRole(by, of, who)
		return nil, e, err
	})},
}

// about reads the grant or the role that an instruction is about, and whom.
func about(do func(b *Book, by chain.Address, of chain.Hash, who chain.Address, r *cbor.Reader) (*chain.Hash, chain.Event, error)) operation {
	return func(b *Book, by chain.Address, r *cbor.Reader) (*chain.Hash, chain.Event, error) {
		var of chain.Hash
		if err := r.BytesInto(of[:]); err != nil {
			return nil, chain.Event{}, err
		}
		var who chain.Address
		if err := r.BytesInto(who[:]); err != nil {
			return nil, chain.Event{}, err
		}
		return do(b, by, of, who, r)
	}
}

// Instructions returns those of the Entitlement Registry.
func Instructions(owners Owners) service.Table {
	t := service.Table{Address: chain.AddrEntitlements}
	// Bounded: by the operations, six.
	for _, op := range operations {
		t.Instructions = append(t.Instructions, service.Instruction{
			Opcode: op.opcode,
			Price:  func(p *params.Params, _ service.Args) chain.Usage { return Price(&p.Entitlements, op.opcode) },
			Run: func(c *service.Call, a service.Args) ([]byte, error) {
				id, e, err := op.do(bookOf(c, owners), c.By, a.(*cbor.Reader))
				if err != nil {
					return nil, err
				}
				again, err := OverwritePrice(c)
				if err == nil {
					err = c.Run.Take(again)
				}
				if err != nil {
					return nil, err
				}
				if err := c.Run.TakeCells(c.Params.API.OfEvent(len(e.Name), len(e.Data))); err != nil {
					return nil, err
				}
				c.Run.Emit(e)
				if id == nil {
					return nil, nil
				}
				return cbor.AppendBytes(nil, id[:]), nil
			},
		})
	}
	return t
}

func bookOf(c *service.Call, owners Owners) *Book {
	return &Book{State: c.State, Height: c.Height, Owner: func(s Scope) (chain.Address, bool, error) { return owners(c, s) }}
}

// Carry carries out [opcode, args…] for governance, whose charge is its own.
func Carry(c *service.Call, owners Owners, payload []byte) (chain.Event, error) {
	r := cbor.NewReader(payload)
	if _, err := r.Array(len(payload)); err != nil {
		return chain.Event{}, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	opcode, err := r.Uint()
	if err != nil {
		return chain.Event{}, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	// Bounded: by the operations, six.
	for _, op := range operations {
		if op.opcode == opcode {
			_, e, err := op.do(bookOf(c, owners), chain.AddrGovernance, &r)
			return e, err
		}
	}
	return chain.Event{}, fmt.Errorf("%w: no instruction %d", ErrArgument, opcode)
}
