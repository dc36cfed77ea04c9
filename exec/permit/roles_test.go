package permit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/permit"
)

func TestRoles(t *testing.T) {
	b := newBook()
	minter := permit.Role{Name: "minter", Scopes: []permit.Scope{coin, pool}, Actions: []permit.Action{mint, join}}
	id, _, err := b.CreateRole(ann, minter)
	want(t, "create", err, nil)
	_, _, err = b.CreateRole(ann, minter)
	want(t, "create twice", err, permit.ErrExists)
	other, _, err := b.CreateRole(ben, minter)
	want(t, "of the same name by another", err, nil)
	for _, tt := range []struct {
		rule string
		r    permit.Role
	}{
		{"no name", permit.Role{Scopes: minter.Scopes, Actions: minter.Actions}},
		{"twice", permit.Role{Name: "x", Scopes: []permit.Scope{coin, coin}, Actions: []permit.Action{mint}}},
		{"meaningless", permit.Role{Name: "x", Scopes: []permit.Scope{pool}, Actions: []permit.Action{mint}}},
		{"an action twice", permit.Role{Name: "x", Scopes: minter.Scopes, Actions: []permit.Action{mint, mint}}},
		{"counting uses", permit.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: permit.Constraints{Uses: 1}}},
		{"with an amount", permit.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: permit.Constraints{AmountPerUse: 1}}},
		{"with a total", permit.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: permit.Constraints{TotalAmount: 1}}},
		{"with a rate", permit.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: permit.Constraints{Rate: &permit.Rate{Uses: 1, Blocks: 1}}}},
		{"to be delegated", permit.Role{Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: permit.Constraints{Delegatable: true, Depth: 1}}},
	} {
		_, _, err := b.CreateRole(ann, tt.r)
		want(t, tt.rule, err, permit.ErrArgument)
	}
	assign := func(by chain.Address, id chain.Hash, to chain.Address) error {
		mark := b.State.Snapshot()
		_, err := b.AssignRole(by, id, to)
		if err != nil {
			b.State.Revert(mark)
		}
		return err
	}
	want(t, "a role that there is not", assign(ann, chain.Hash{1}, cat), permit.ErrNotFound)
	want(t, "another's role", assign(ben, id, cat), permit.ErrForbidden)
	want(t, "of another's token", assign(ben, other, cat), permit.ErrForbidden)
	want(t, "assign", assign(ann, id, cat), nil)
	want(t, "assign twice", assign(ann, id, cat), permit.ErrExists)
	want(t, "to a system address", assign(ann, id, chain.AddrTreasury), permit.ErrArgument)
	if !may(t, b, cat, coin, mint) || !may(t, b, cat, pool, join) || may(t, b, cat, coin, burn) || may(t, b, ben, coin, mint) {
		t.Error("what the role permits")
	}
	revoke := func(by chain.Address) error { _, err := b.RevokeRole(by, id, cat); return err }
	want(t, "taken by anybody", revoke(ben), permit.ErrForbidden)
	want(t, "taken by its creator", revoke(ann), nil)
	want(t, "taken twice", revoke(ann), permit.ErrNotFound)
	if may(t, b, cat, coin, mint) {
		t.Error("after it was taken")
	}
	var roles []chain.Hash
	for i := range permit.MaxRoles + 1 {
		id, _, err := b.CreateRole(dan, permit.Role{Name: fmt.Sprint(i), Scopes: []permit.Scope{{Kind: permit.ScopeNamespace, Name: "dan"}}, Actions: []permit.Action{all}})
		want(t, "create", err, nil)
		roles = append(roles, id)
		limit := error(nil)
		if i == permit.MaxRoles {
			limit = permit.ErrLimit
		}
		want(t, fmt.Sprint("role ", i), assign(dan, id, ben), limit)
	}
	for i, id := range roles[:permit.MaxRoles] {
		if _, err := b.RevokeRole(ben, id, ben); err != nil {
			t.Fatalf("role %d given up: %v", i, err)
		}
	}
	if left, err := permit.Roles(b.State, ben); len(left) != 0 || err != nil {
		t.Errorf("%d roles, %v", len(left), err)
	}
	if n := rowsOf(b, ben); n != 0 {
		t.Errorf("%d rows are left of who has no roles", n)
	}
}

// rowsOf counts the rows in the state with an address in their keys.
func rowsOf(b *permit.Book, a chain.Address) (n int) {
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
		{"by anybody", ben, false, permit.ErrForbidden},
		{"irrevocable, by its creator", ann, true, permit.ErrForbidden},
		{"irrevocable, by governance", chain.AddrGovernance, true, permit.ErrForbidden},
		{"irrevocable, by who answers for one of its scopes", dan, true, permit.ErrForbidden},
		{"irrevocable, by who has it", cat, true, nil},
	} {
		b := newBook()
		id, _, err := b.CreateRole(ann, permit.Role{
			Name: "minter", Scopes: []permit.Scope{coin}, Actions: []permit.Action{mint}, Constraints: permit.Constraints{Irrevocable: tt.irrevocable},
		})
		want(t, tt.rule, err, nil)
		_, err = b.AssignRole(ann, id, cat)
		want(t, tt.rule, err, nil)
		b.Owner = func(s permit.Scope) (chain.Address, bool, error) { return dan, s == coin, nil }
		_, err = b.RevokeRole(tt.by, id, cat)
		want(t, tt.rule, err, tt.want)
		if may(t, b, cat, coin, mint) != (tt.want != nil) {
			t.Errorf("%s: the check says otherwise", tt.rule)
		}
	}
	b := newBook()
	id, _, err := b.CreateRole(chain.AddrGovernance, permit.Role{Name: "r", Scopes: []permit.Scope{coin, pool}, Actions: []permit.Action{join}})
	want(t, "create", err, nil)
	_, err = b.RevokeRole(ben, id, cat)
	want(t, "of who has it not", err, permit.ErrNotFound)
	_, err = b.AssignRole(chain.AddrGovernance, id, cat)
	want(t, "assign", err, nil)
	_, err = b.RevokeRole(ben, id, cat)
	want(t, "by anybody, for a pool of nobody", err, permit.ErrForbidden)
	if _, ok, err := permit.Holder(b.State, pool); ok || err != nil {
		t.Errorf("the pool is somebody's: %v", err)
	}
	_, _, err = b.Grant(dan, &permit.Asked{Grantee: ben, Scope: pool, Action: join})
	want(t, "claim the pool", err, nil)
	_, err = b.RevokeRole(dan, id, cat)
	want(t, "by who answers for the second of its scopes", err, nil)
	_, err = b.RevokeRole(ben, chain.Hash{1}, cat)
	want(t, "that there is not", err, permit.ErrNotFound)
}

func TestWhatARolePermits(t *testing.T) { // CIP-2 §7.1
	space := permit.Scope{Kind: permit.ScopeNamespace, Name: "ann"}
	for _, tt := range []struct {
		rule   string
		role   permit.Role
		assign error
		mint   bool // in block 100, of the coin
		join   bool // the pool
	}{
		{"one of each", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{mint}}, nil, true, false},
		{"everything of one", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{all}}, nil, true, false},
		{"one thing everywhere", permit.Role{Scopes: []permit.Scope{global}, Actions: []permit.Action{mint}}, nil, true, false},
		{"everything", permit.Role{Scopes: []permit.Scope{global}, Actions: []permit.Action{all}}, nil, true, true},
		{"the action elsewhere", permit.Role{Scopes: []permit.Scope{space}, Actions: []permit.Action{all}}, nil, false, false},
		{"another action", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{burn}}, nil, false, false},
		{"not yet", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{mint}, Constraints: permit.Constraints{From: 101}}, nil, false, false},
		{"from now on", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{mint}, Constraints: permit.Constraints{From: 100}}, nil, true, false},
		{"to the last block", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{mint}, Constraints: permit.Constraints{Until: 100}}, nil, true, false},
		{"expired", permit.Role{Scopes: []permit.Scope{coin}, Actions: []permit.Action{mint}, Constraints: permit.Constraints{Until: 99}}, permit.ErrExpired, false, false},
	} {
		b := newBook()
		b.Owner = func(permit.Scope) (chain.Address, bool, error) { return chain.AddrGovernance, true, nil }
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
