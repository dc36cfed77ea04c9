package entitlements_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
)

func TestRoles(t *testing.T) {
	b := newBook()
	minter := entitlements.Role{Name: "minter", Scopes: []entitlements.Scope{coin, pool}, Actions: []entitlements.Action{mint, join}}
	id, _, err := b.CreateRole(ann, minter)
	want(t, "create", err, nil)
	_, _, err = b.CreateRole(ann, minter)
	want(t, "create twice", err, entitlements.ErrExists)
	other, _, err := b.CreateRole(ben, minter)
	want(t, "of the same name by another", err, nil)
	for _, tt := range []struct {
		rule string
		r    entitlements.Role
	}{
		{"no name", entitlements.Role{Scopes: minter.Scopes, Actions: minter.Actions}},
		{"twice", entitlements.Role{Name: "x", Scopes: []entitlements.Scope{coin, coin}, Actions: []entitlements.Action{mint}}},
		{"meaningless", entitlements.Role{Name: "x", Scopes: []entitlements.Scope{pool}, Actions: []entitlements.Action{mint}}},
		{"an action twice", entitlements.Role{Name: "x", Scopes: minter.Scopes, Actions: []entitlements.Action{mint, mint}}},
		{"counting uses", entitlements.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: entitlements.Constraints{Uses: 1}}},
		{"with an amount", entitlements.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: entitlements.Constraints{AmountPerUse: 1}}},
		{"with a total", entitlements.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: entitlements.Constraints{TotalAmount: 1}}},
		{"with a rate", entitlements.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: entitlements.Constraints{Rate: &entitlements.Rate{Uses: 1, Blocks: 1}}}},
		{"to be delegated", entitlements.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: entitlements.Constraints{Delegatable: true, Depth: 1}}},
	} {
		_, _, err := b.CreateRole(ann, tt.r)
		want(t, tt.rule, err, entitlements.ErrArgument)
	}
	assign := func(by chain.Address, id chain.Hash, to chain.Address) error {
		mark := b.State.Snapshot()
		_, err := b.AssignRole(by, id, to)
		if err != nil {
			b.State.Revert(mark)
		}
		return err
	}
	want(t, "a role that there is not", assign(ann, chain.Hash{1}, cat), entitlements.ErrNotFound)
	want(t, "another's role", assign(ben, id, cat), entitlements.ErrForbidden)
	want(t, "of another's token", assign(ben, other, cat), entitlements.ErrForbidden)
	want(t, "assign", assign(ann, id, cat), nil)
	want(t, "assign twice", assign(ann, id, cat), entitlements.ErrExists)
	want(t, "to a system address", assign(ann, id, chain.AddrTreasury), entitlements.ErrArgument)
	if !may(t, b, cat, coin, mint) || !may(t, b, cat, pool, join) || may(t, b, cat, coin, burn) || may(t, b, ben, coin, mint) {
		t.Error("what the role permits")
	}
	revoke := func(by chain.Address) error { _, err := b.RevokeRole(by, id, cat); return err }
	want(t, "taken by anybody", revoke(ben), entitlements.ErrForbidden)
	want(t, "taken by its creator", revoke(ann), nil)
	want(t, "taken twice", revoke(ann), entitlements.ErrNotFound)
	if may(t, b, cat, coin, mint) {
		t.Error("after it was taken")
	}
	var roles []chain.Hash
	for i := range entitlements.MaxRoles + 1 {
		id, _, err := b.CreateRole(dan, entitlements.Role{Name: fmt.Sprint(i), Scopes: []entitlements.Scope{{Kind: entitlements.ScopeNamespace, Name: "dan"}}, Actions: []entitlements.Action{all}})
		want(t, "create", err, nil)
		roles = append(roles, id)
		limit := error(nil)
		if i == entitlements.MaxRoles {
			limit = entitlements.ErrLimit
		}
		want(t, fmt.Sprint("role ", i), assign(dan, id, ben), limit)
	}
	for i, id := range roles[:entitlements.MaxRoles] {
		if _, err := b.RevokeRole(ben, id, ben); err != nil {
			t.Fatalf("role %d given up: %v", i, err)
		}
	}
	if left, err := entitlements.Roles(b.State, ben); len(left) != 0 || err != nil {
		t.Errorf("%d roles, %v", len(left), err)
	}
	if n := rowsOf(b, ben); n != 0 {
		t.Errorf("%d rows are left of who has no roles", n)
	}
}

// rowsOf counts the rows in the state with an address in their keys.
func rowsOf(b *entitlements.Book, a chain.Address) (n int) {
	for _, c := range b.State.Delta().Accounts() {
		for _, s := range c.Storage {
			if s.Value != nil && strings.Contains(string(s.Key), string(a[:])) {
				n++
			}
		}
	}
	return n
}

func TestWhoTakesARole(t *testing.T) { // CIP-2 §7.3
	for _, tt := range []struct {
		rule        string
		by          chain.Address
		irrevocable bool
		want        error
	}{
		{"by its creator", ann, false, nil},
		{"by who has it", cat, false, nil},
		{"by governance", chain.AddrGovernance, false, nil},
		{"by who answers for one of its scopes", dan, false, nil},
		{"by anybody", ben, false, entitlements.ErrForbidden},
		{"irrevocable, by its creator", ann, true, entitlements.ErrForbidden},
		{"irrevocable, by governance", chain.AddrGovernance, true, entitlements.ErrForbidden},
		{"irrevocable, by who answers for one of its scopes", dan, true, entitlements.ErrForbidden},
		{"irrevocable, by who has it", cat, true, nil},
	} {
		b := newBook()
		id, _, err := b.CreateRole(ann, entitlements.Role{
			Name: "minter", Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}, Constraints: entitlements.Constraints{Irrevocable: tt.irrevocable},
		})
		want(t, tt.rule, err, nil)
		_, err = b.AssignRole(ann, id, cat)
		want(t, tt.rule, err, nil)
		b.Owner = func(s entitlements.Scope) (chain.Address, bool, error) { return dan, s == coin, nil }
		_, err = b.RevokeRole(tt.by, id, cat)
		want(t, tt.rule, err, tt.want)
		if may(t, b, cat, coin, mint) != (tt.want != nil) {
			t.Errorf("%s: the check says otherwise", tt.rule)
		}
	}
	b := newBook()
	id, _, err := b.CreateRole(chain.AddrGovernance, entitlements.Role{Name: "r", Scopes: []entitlements.Scope{coin, pool}, Actions: []entitlements.Action{join}})
	want(t, "create", err, nil)
	_, err = b.RevokeRole(ben, id, cat)
	want(t, "of who has it not", err, entitlements.ErrNotFound)
	_, err = b.AssignRole(chain.AddrGovernance, id, cat)
	want(t, "assign", err, nil)
	_, err = b.RevokeRole(ben, id, cat)
	want(t, "by anybody, for a pool of nobody", err, entitlements.ErrForbidden)
	if _, ok, err := entitlements.Holder(b.State, pool); ok || err != nil {
		t.Errorf("the pool is somebody's: %v", err)
	}
	_, _, err = b.Grant(dan, &entitlements.Asked{Grantee: ben, Scope: pool, Action: join})
	want(t, "claim the pool", err, nil)
	_, err = b.RevokeRole(dan, id, cat)
	want(t, "by who answers for the second of its scopes", err, nil)
	_, err = b.RevokeRole(ben, chain.Hash{1}, cat)
	want(t, "that there is not", err, entitlements.ErrNotFound)
}

func TestWhatARolePermits(t *testing.T) { // CIP-2 §7.1
	space := entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: "ann"}
	for _, tt := range []struct {
		rule   string
		role   entitlements.Role
		assign error
		mint   bool // in block 100, of the coin
		join   bool // the pool
	}{
		{"one of each", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}}, nil, true, false},
		{"everything of one", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{all}}, nil, true, false},
		{"one thing everywhere", entitlements.Role{Scopes: []entitlements.Scope{global}, Actions: []entitlements.Action{mint}}, nil, true, false},
		{"everything", entitlements.Role{Scopes: []entitlements.Scope{global}, Actions: []entitlements.Action{all}}, nil, true, true},
		{"the action elsewhere", entitlements.Role{Scopes: []entitlements.Scope{space}, Actions: []entitlements.Action{all}}, nil, false, false},
		{"another action", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{burn}}, nil, false, false},
		{"not yet", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}, Constraints: entitlements.Constraints{From: 101}}, nil, false, false},
		{"from now on", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}, Constraints: entitlements.Constraints{From: 100}}, nil, true, false},
		{"to the last block", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}, Constraints: entitlements.Constraints{Until: 100}}, nil, true, false},
		{"expired", entitlements.Role{Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}, Constraints: entitlements.Constraints{Until: 99}}, entitlements.ErrExpired, false, false},
	} {
		b := newBook()
		b.Owner = func(entitlements.Scope) (chain.Address, bool, error) { return chain.AddrGovernance, true, nil }
		tt.role.Name = "r"
		id, _, err := b.CreateRole(chain.AddrGovernance, tt.role)
		want(t, tt.rule, err, nil)
		_, err = b.AssignRole(chain.AddrGovernance, id, cat)
		want(t, tt.rule, err, tt.assign)
		if may(t, b, cat, coin, mint) != tt.mint || may(t, b, cat, pool, join) != tt.join {
			t.Errorf("%s: mint %v, join %v", tt.rule, !tt.mint, !tt.join)
		}
		if b.Height = 101; tt.role.Constraints.Until != 0 && may(t, b, cat, coin, mint) {
			t.Errorf("%s: after its end", tt.rule)
		}
	}
}
