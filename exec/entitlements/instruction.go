package entitlements

import (
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ReadAsked reads the arguments of [chain.OpEntitlementGrant].
func ReadAsked(r *cbor.Reader) (a Asked, err error) {
	if err = r.BytesInto(a.Grantee[:]); err != nil {
		return a, err
	}
	if a.Scope, err = Inside(r, ReadScope); err != nil {
		return a, err
	}
	if a.Action, err = Inside(r, ReadAction); err != nil {
		return a, err
	}
	a.Constraints, err = Inside(r, ReadConstraints)
	return a, err
}

// ReadRoleAsked reads the arguments of [chain.OpRoleCreate].
func ReadRoleAsked(r *cbor.Reader) (role Role, err error) {
	name, err := r.Bytes(MaxNameBytes)
	if err != nil {
		return role, fmt.Errorf("%w: name of a role: %w", ErrArgument, err)
	}
	role.Name = string(name)
	if role.Scopes, err = Inside(r, ReadScopes); err != nil {
		return role, err
	}
	if role.Actions, err = Inside(r, ReadActions); err != nil {
		return role, err
	}
	role.Constraints, err = Inside(r, ReadConstraints)
	return role, err
}

// Inside reads an argument that is a byte string with one canonical item
// (resolution 8.5).
func Inside[T any](r *cbor.Reader, read func(*cbor.Reader) (T, error)) (v T, err error) {
	b, err := r.Bytes(chain.MaxTxBytes)
	if err != nil {
		return v, err
	}
	item := cbor.NewReader(b)
	if v, err = read(&item); err == nil {
		if err = item.End(); err != nil {
			err = fmt.Errorf("%w: %w", ErrArgument, err)
		}
	}
	return v, err
}

// Describe says for people what an instruction [opcode, args…] to
// [chain.AddrEntitlements] asks for: who votes on one sees it. The error tells why
// it is none.
func Describe(payload []byte) (string, error) {
	r := cbor.NewReader(payload)
	if _, err := r.Array(len(payload)); err != nil {
		return "", err
	}
	opcode, err := r.Uint()
	if err != nil {
		return "", err
	}
	switch opcode {
	case chain.OpEntitlementGrant:
		a, err := ReadAsked(&r)
		return fmt.Sprintf("grant %s for %s to %s%s", a.Action, a.Scope, a.Grantee, a.Constraints.words()), err
	case chain.OpRoleCreate:
		role, err := ReadRoleAsked(&r)
		return fmt.Sprintf("create role %q: %v for %v%s", role.Name, role.Actions, role.Scopes, role.Constraints.words()), err
	}
	var of chain.Hash
	if err := r.BytesInto(of[:]); err != nil {
		return "", err
	}
	if opcode == chain.OpEntitlementRevoke {
		return fmt.Sprintf("revoke %s", of), nil
	}
	var who chain.Address
	if err := r.BytesInto(who[:]); err != nil {
		return "", err
	}
	switch opcode {
	case chain.OpEntitlementDelegate:
		c, err := Inside(&r, ReadConstraints)
		return fmt.Sprintf("delegate %s to %s%s", of, who, c.words()), err
	case chain.OpRoleAssign:
		return fmt.Sprintf("assign role %s to %s", of, who), nil
	case chain.OpRoleRevoke:
		return fmt.Sprintf("take role %s from %s", of, who), nil
	default:
		return "", fmt.Errorf("%w: no instruction %d", ErrArgument, opcode)
	}
}

// words are the conditions that there are, each after a comma.
func (c *Constraints) words() string {
	var b strings.Builder
	// Bounded: by six conditions.
	for _, v := range []struct {
		name string
		n    uint64
	}{
		{"from block", uint64(c.From)},
		{"until block", uint64(c.Until)},
		{"uses", c.Uses},
		{"amount per use", c.AmountPerUse},
		{"amount in all", c.TotalAmount},
		{"delegation depth", c.Depth},
	} {
		if v.n > 0 {
			fmt.Fprintf(&b, ", %s %d", v.name, v.n)
		}
	}
	if c.Rate != nil {
		fmt.Fprintf(&b, ", %d uses in %d blocks", c.Rate.Uses, c.Rate.Blocks)
	}
	if c.Irrevocable {
		b.WriteString(", irrevocable")
	}
	return b.String()
}
