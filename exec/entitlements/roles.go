package entitlements

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// CreateRole names scopes and actions. It gives nobody anything: what the creator
// may give away is looked at when the role is assigned. Errors: ErrArgument,
// ErrExists.
func (b *Book) CreateRole(by chain.Address, role Role) (chain.Hash, chain.Event, error) {
	role.Creator, role.Made = by, b.Height
	id := RoleID(by, role.Name)
	if err := checkName(role.Name, -1); err != nil {
		return id, chain.Event{}, fmt.Errorf("%w: role: %w", ErrArgument, err)
	}
	if err := role.check(); err != nil {
		return id, chain.Event{}, err
	}
	old, err := ReadRole(b.State, id)
	if err == nil && old != nil {
		err = fmt.Errorf("%w: role %s", ErrExists, id)
	}
	if err != nil {
		return id, chain.Event{}, err
	}
	b.State.SetStorage(chain.AddrEntitlements, roleKey(id), role.encode())
	return id, event(EventRoleCreated, id[:], by[:], []byte(role.Name)), nil
}

// check refuses what stands twice, an action that means nothing in any of the
// scopes, and conditions that only grants can keep.
func (role *Role) check() error {
	c := &role.Constraints
	if c.Delegatable || c.Uses != 0 || c.AmountPerUse != 0 || c.TotalAmount != 0 || c.Rate != nil {
		return fmt.Errorf("%w: a role has no constraints but its time and whether it can be taken back", ErrArgument)
	}
	// Bounded: by MaxScopes and MaxActions, 16 each.
	for i, s := range role.Scopes {
		// Bounded: by MaxScopes and MaxActions, 16 each.
		if slices.Contains(role.Scopes[:i], s) {
			return fmt.Errorf("%w: scope %s stands twice", ErrArgument, s)
		}
	}
	// Bounded: by MaxScopes and MaxActions, 16 each.
	for i, a := range role.Actions {
		// Bounded: by MaxScopes and MaxActions, 16 each.
		if slices.Contains(role.Actions[:i], a) {
			return fmt.Errorf("%w: action %s stands twice", ErrArgument, a)
		}
		// Bounded: by MaxScopes and MaxActions, 16 each.
		if !slices.ContainsFunc(role.Scopes, func(s Scope) bool { return a.fits(s) == nil }) {
			return fmt.Errorf("%w: %s means nothing in the role's scopes", ErrArgument, a)
		}
	}
	return nil
}

// AssignRole gives a role of the sender's to somebody; the sender answers for all
// of its scopes. Errors: ErrNotFound, ErrForbidden, ErrExpired, ErrExists,
// ErrArgument, ErrLimit.
func (b *Book) AssignRole(by chain.Address, id chain.Hash, to chain.Address) (chain.Event, error) {
	role, err := ReadRole(b.State, id)
	if err != nil {
		return chain.Event{}, err
	}
	switch {
	case role == nil:
		return chain.Event{}, fmt.Errorf("%w: role %s", ErrNotFound, id)
	case role.Creator != by:
		return chain.Event{}, fmt.Errorf("%w: role %s", ErrForbidden, id)
	case role.Constraints.expired(b.Height):
		return chain.Event{}, fmt.Errorf("%w: role %s", ErrExpired, id)
	}
	if err := receives(to); err != nil {
		return chain.Event{}, err
	}
	// Bounded: by MaxScopes and MaxActions, 16 each.
	for _, s := range role.Scopes {
		if err := b.mustAnswer(by, s, true); err != nil {
			return chain.Event{}, err
		}
	}
	if _, ok, err := b.assigned(to, id); err != nil || ok {
		if err == nil {
			err = fmt.Errorf("%w: %s has the role %s", ErrExists, to, id)
		}
		return chain.Event{}, err
	}
	if err := take(b.State, to, id, role.Scopes); err != nil {
		return chain.Event{}, err
	}
	slot, err := rolesOf.push(b.State, to, id)
	if err != nil {
		return chain.Event{}, err
	}
	b.setAssigned(to, id, slot)
	return event(EventRoleAssigned, id[:], to[:], by[:]), nil
}

// RevokeRole takes a role from somebody. Errors: ErrNotFound, ErrForbidden.
func (b *Book) RevokeRole(by chain.Address, id chain.Hash, from chain.Address) (chain.Event, error) {
	role, err := ReadRole(b.State, id)
	if err != nil {
		return chain.Event{}, err
	}
	slot, ok, err := b.assigned(from, id)
	switch {
	case err != nil:
		return chain.Event{}, err
	case role == nil || !ok:
		return chain.Event{}, fmt.Errorf("%w: role %s of %s", ErrNotFound, id, from)
	}
	may := by == from
	if !may && !role.Constraints.Irrevocable {
		if may = by == role.Creator; !may {
			may, err = b.answersForAny(by, role.Scopes)
		}
	}
	if err == nil && !may {
		err = fmt.Errorf("%w: role %s", ErrForbidden, id)
	}
	if err != nil {
		return chain.Event{}, err
	}
	moved, err := rolesOf.removeAt(b.State, from, slot)
	if err != nil {
		return chain.Event{}, err
	}
	if moved != (chain.Hash{}) {
		b.setAssigned(from, moved, slot)
	}
	b.State.SetStorage(chain.AddrEntitlements, assignedKey(from, id), nil)
	if err := giveUp(b.State, from, id, role.Scopes); err != nil {
		return chain.Event{}, err
	}
	return event(EventRoleRevoked, id[:], from[:], by[:]), nil
}

// answersForAny lets who answers for one of the scopes of a role take the role
// from somebody: a part of it cannot be.
func (b *Book) answersForAny(by chain.Address, scopes []Scope) (bool, error) {
	// Bounded: by MaxScopes and MaxActions, 16 each.
	for _, s := range scopes {
		if ok, err := b.answers(by, s, false); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// assigned returns the place of a role in somebody's list.
func (b *Book) assigned(a chain.Address, id chain.Hash) (slot uint64, ok bool, err error) {
	row, err := b.State.Storage(chain.AddrEntitlements, assignedKey(a, id))
	if err != nil || row == nil {
		return 0, false, err
	}
	if slot, err = cbor.DecodeUint(row); err != nil {
		return 0, false, fmt.Errorf("%w: role %s of %s: %w", ErrRecord, id, a, err)
	}
	return slot, true, nil
}

func (b *Book) setAssigned(a chain.Address, id chain.Hash, slot uint64) {
	b.State.SetStorage(chain.AddrEntitlements, assignedKey(a, id), cbor.AppendUint(nil, slot))
}

// byRole reports whether one of an address's roles in a scope permits something.
func (b *Book) byRole(a chain.Address, s Scope, act Action, most int) (bool, error) {
	ids, err := rolesIn(b.State, a, s)
	if err != nil {
		return false, err
	}
	// Bounded: by MaxRoles, 64.
	for _, id := range ids[:min(len(ids), most)] {
		role, err := ReadRole(b.State, id)
		if err == nil && role == nil {
			err = fmt.Errorf("%w: role %s of %s", ErrRecord, id, a)
		}
		if err != nil {
			return false, err
		}
		if role.Constraints.inForce(b.Height) && role.covers(s, act) {
			return true, nil
		}
	}
	return false, nil
}

// covers reports whether a role names a scope and an action, or all of them.
func (role *Role) covers(s Scope, a Action) bool {
	// Bounded: by MaxScopes and MaxActions, 16 each.
	return (slices.Contains(role.Scopes, s) || slices.Contains(role.Scopes, Scope{})) &&
		// Bounded: by MaxScopes and MaxActions, 16 each.
		(slices.Contains(role.Actions, a) || slices.Contains(role.Actions, Action{}))
}
