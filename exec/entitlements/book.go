package entitlements

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// Limits of an address in one scope (CIP-2 §7.5). Only who answers for a scope, or was
// allowed to delegate in it, puts anything there: so nobody's room is a stranger's to
// fill (ADR 77).
const (
	MaxGrants = 256
	MaxRoles  = 64
)

// MaxListed bounds how many of an address's grants, and of its roles, are listed for
// readers. Nothing else goes through these lists.
const MaxListed = 1024

// The verdicts.
var (
	// ErrArgument means a scope, action or constraint that is none, or that means
	// nothing together with the others.
	ErrArgument = verdict.New(verdict.Argument, "bad argument")
	// ErrForbidden means that the sender does not answer for the scope, may not
	// delegate, or may not take the grant or the role back.
	ErrForbidden = verdict.New(verdict.Forbidden, "not the sender's to decide")
	// ErrNotFound means a grant, a role or an assignment that there is not.
	ErrNotFound = verdict.New(verdict.Missing, "no such grant or role")
	// ErrExists means a role or an assignment that is there already.
	ErrExists = verdict.New(verdict.Exists, "exists already")
	// ErrExpired means a grant whose time, or that of one above it, is over.
	ErrExpired = verdict.New(verdict.State, "has expired")
	// ErrLimit means that an address has as many in a scope as it may.
	ErrLimit = verdict.New(verdict.Limit, "limit reached")
)

// Names of the events, all by [chain.AddrEntitlements].
const (
	EventGranted      = "EntitlementGranted"   // [id, grantee, grantor, scope, action]
	EventDelegated    = "EntitlementDelegated" // [id, grantee, grantor, parent]
	EventRevoked      = "EntitlementRevoked"   // [id, by]
	EventRoleCreated  = "RoleCreated"          // [id, creator, name]
	EventRoleAssigned = "RoleAssigned"         // [id, assignee, by]
	EventRoleRevoked  = "RoleRevoked"          // [id, assignee, by]
)

// Book is the registry in one block.
type Book struct {
	State  *state.Overlay
	Height chain.Height
	// Owner returns who answers for an actor or a token: false for nobody.
	Owner func(s Scope) (chain.Address, bool, error)
}

// answers reports whether an account decides about a scope. With claim, a pool or
// a namespace of nobody becomes its own.
func (b *Book) answers(by chain.Address, s Scope, claim bool) (bool, error) {
	if by == chain.AddrGovernance {
		return true, nil
	}
	switch s.Kind {
	case ScopeGlobal:
		return false, nil
	case ScopeRunner:
		return s.Name == string(by[:]), nil
	case ScopeActor, ScopeToken:
		owner, ok, err := b.Owner(s)
		return ok && owner == by, err
	}
	holder, ok, err := Holder(b.State, s)
	if err == nil && !ok && claim {
		b.State.SetStorage(chain.AddrEntitlements, holderKey(s), by[:])
		return true, nil
	}
	return ok && holder == by, err
}

// Holder returns who answers for a pool or a namespace: false for nobody yet.
func Holder(v Reader, s Scope) (a chain.Address, ok bool, err error) {
	row, err := v.Storage(chain.AddrEntitlements, holderKey(s))
	if err != nil || row == nil {
		return a, false, err
	}
	if len(row) != len(a) {
		return a, false, fmt.Errorf("%w: holder of %s", ErrRecord, s)
	}
	return chain.Address(row), true, nil
}

func (b *Book) mustAnswer(by chain.Address, s Scope, claim bool) error {
	ok, err := b.answers(by, s, claim)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s does not answer for %s", ErrForbidden, by, s)
	}
	return err
}

// receives refuses who cannot have a grant or a role.
func receives(a chain.Address) error {
	if a.IsSystem() || a == (chain.Address{}) {
		return fmt.Errorf("%w: %s receives none", ErrArgument, a)
	}
	return nil
}

func (b *Book) write(id chain.Hash, g *Grant) {
	b.State.SetStorage(chain.AddrEntitlements, grantKey(id), g.encode())
}

func event(name string, fields ...[]byte) chain.Event {
	data := cbor.AppendArray(nil, len(fields))
	// Bounded: by the fields of an event.
	for _, f := range fields {
		data = cbor.AppendBytes(data, f)
	}
	return chain.Event{Emitter: chain.AddrEntitlements, Name: name, Data: data}
}
