package entitlements

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Asked is what a grant is to say.
type Asked struct {
	Grantee     chain.Address
	Scope       Scope
	Action      Action
	Constraints Constraints
}

// Grant gives a permission, or renews one with other constraints and nothing used
// (resolution 8.6). Errors: ErrArgument, ErrForbidden, ErrLimit.
func (b *Book) Grant(by chain.Address, a *Asked) (chain.Hash, chain.Event, error) {
	err := receives(a.Grantee)
	if err == nil {
		err = a.Action.fits(a.Scope)
	}
	if err == nil {
		err = b.mustAnswer(by, a.Scope, true)
	}
	if err != nil {
		return chain.Hash{}, chain.Event{}, err
	}
	id, err := b.put(by, a, nil, nil)
	return id, event(EventGranted, id[:], a.Grantee[:], by[:], a.Scope.Append(nil), a.Action.Append(nil)), err
}

// Delegate gives what the sender was granted to somebody else, with constraints
// within its own. Errors: ErrNotFound, ErrForbidden, ErrExpired, ErrArgument,
// ErrLimit.
func (b *Book) Delegate(by chain.Address, parent chain.Hash, to chain.Address, c Constraints) (chain.Hash, chain.Event, error) {
	p, err := ReadGrant(b.State, parent)
	switch {
	case err != nil:
	case p == nil:
		err = fmt.Errorf("%w: %s", ErrNotFound, parent)
	case p.Grantee != by || !p.Constraints.Delegatable:
		err = fmt.Errorf("%w: grant %s", ErrForbidden, parent)
	case !c.within(&p.Constraints):
		err = fmt.Errorf("%w: the constraints are not within those of %s", ErrArgument, parent)
	default:
		if err = receives(to); err != nil {
			break
		}
		var way []step
		if way, err = b.way(parent, p); err == nil && way == nil {
			err = fmt.Errorf("%w: %s", ErrExpired, parent)
		}
	}
	if err != nil {
		return chain.Hash{}, chain.Event{}, err
	}
	id, err := b.put(by, &Asked{to, p.Scope, p.Action, c}, &parent, p)
	return id, event(EventDelegated, id[:], to[:], by[:], parent[:]), err
}

// put writes a grant into its lists; p is its parent's record. Only one that could
// hold again is renewed: what has gone is made anew, and what was delegated from it
// has gone, too.
func (b *Book) put(by chain.Address, a *Asked, parent *chain.Hash, p *Grant) (chain.Hash, error) {
	id := GrantID(a.Grantee, a.Scope, a.Action, parent)
	if a.Constraints.expired(b.Height) {
		return id, fmt.Errorf("%w: it ends before it begins", ErrArgument)
	}
	g := &Grant{
		Grantee: a.Grantee, Scope: a.Scope, Action: a.Action, Constraints: a.Constraints,
		Parent: parent, Grantor: by, Made: b.Height,
	}
	if p != nil {
		g.ParentBorn = p.Born
	}
	old, err := ReadGrant(b.State, id)
	if err != nil {
		return id, err
	}
	gone, err := b.dead(old)
	if err != nil {
		return id, err
	}
	if !gone {
		g.Slot, g.Born = old.Slot, old.Born
		b.write(id, g)
		return id, nil
	}
	if old != nil {
		err = b.remove(id, old)
	}
	if err == nil {
		err = enter(b.State, a.Grantee, a.Scope)
	}
	if err == nil {
		g.Born, err = bear(b.State, a.Grantee)
	}
	if err != nil {
		return id, err
	}
	if g.Slot, err = grantsOf.push(b.State, a.Grantee, id); err != nil {
		return id, err
	}
	b.write(id, g)
	return id, b.match(g, func(ids []chain.Hash) []chain.Hash { return append(ids, id) })
}

// listed returns a grant that a list names, and that there is therefore.
func (b *Book) listed(id chain.Hash) (*Grant, error) {
	g, err := ReadGrant(b.State, id)
	if err == nil && g == nil {
		err = fmt.Errorf("%w: no grant %s", ErrRecord, id)
	}
	return g, err
}

// match changes the list of ids under which a check finds grants.
func (b *Book) match(g *Grant, change func([]chain.Hash) []chain.Hash) error {
	at := matchKey(g.Grantee, g.Scope, g.Action)
	ids, err := idsAt(b.State, at)
	if err == nil {
		setIDs(b.State, at, change(ids))
	}
	return err
}

// Revoke takes a grant back, and with it whatever was delegated from it. Errors:
// ErrNotFound, ErrForbidden.
func (b *Book) Revoke(by chain.Address, id chain.Hash) (chain.Event, error) {
	g, err := ReadGrant(b.State, id)
	if err != nil {
		return chain.Event{}, err
	}
	if g == nil {
		return chain.Event{}, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	may := by == g.Grantee
	if !may && !g.Constraints.Irrevocable {
		if may = by == g.Grantor; !may {
			if may, err = b.answers(by, g.Scope, false); err != nil {
				return chain.Event{}, err
			}
		}
	}
	if !may {
		return chain.Event{}, fmt.Errorf("%w: grant %s", ErrForbidden, id)
	}
	return event(EventRevoked, id[:], by[:]), b.remove(id, g)
}

// remove takes a grant out of all lists.
func (b *Book) remove(id chain.Hash, g *Grant) error {
	moved, err := grantsOf.removeAt(b.State, g.Grantee, g.Slot)
	if err != nil {
		return err
	}
	if moved != (chain.Hash{}) {
		other, err := b.listed(moved)
		if err != nil {
			return err
		}
		other.Slot = g.Slot
		b.write(moved, other)
	}
	b.State.SetStorage(chain.AddrEntitlements, grantKey(id), nil)
	if err := leave(b.State, g.Grantee, g.Scope); err != nil {
		return err
	}
	return b.match(g, func(ids []chain.Hash) []chain.Hash {
		// Bounded: by MaxGrants, 256, for the price of the instruction.
		return slices.DeleteFunc(ids, func(other chain.Hash) bool { return other == id })
	})
}
