package permit_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/permit"
	"github.com/cowboy-foundation/cowboy/state"
)

func who(n uint64) (a chain.Address) {
	binary.BigEndian.PutUint64(a[:], n+1)
	a[19] = 1
	return a
}

var (
	ann, ben, cat, dan = who(1), who(2), who(3), who(4)
	coin               = permit.Scope{Kind: permit.ScopeToken, Name: string(make([]byte, 32))}
	pool               = permit.Scope{Kind: permit.ScopePool, Name: "eu"}
	join               = permit.Action{Kind: permit.ActionRunnerJoinPool, Name: "eu"}
	mint               = permit.Action{Kind: permit.ActionTokenMint}
	burn               = permit.Action{Kind: permit.ActionTokenBurn}
	all                = permit.Action{}
	global             = permit.Scope{}
)

// newBook is a registry at height 100 of a chain where ann owns the coin.
func newBook() *permit.Book {
	return &permit.Book{State: state.NewOverlay(state.Empty{}), Height: 100, Looks: 10 * permit.MaxGrants, Owner: func(s permit.Scope) (chain.Address, bool, error) {
		return ann, s == coin, nil
	}}
}

func want(t *testing.T, rule string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", rule, err, want)
	}
}

func grant(b *permit.Book, by, to chain.Address, s permit.Scope, a permit.Action, c permit.Constraints) (chain.Hash, error) {
	id, _, err := b.Grant(by, &permit.Asked{Grantee: to, Scope: s, Action: a, Constraints: c})
	return id, err
}

func may(t *testing.T, b *permit.Book, a chain.Address, s permit.Scope, act permit.Action) bool {
	t.Helper()
	ok, err := b.Check(a, s, act)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestWhoMayGrant(t *testing.T) { // CIP-2 §7.3
	actor := permit.Scope{Kind: permit.ScopeActor, Name: string(dan[:])}
	runner := permit.Scope{Kind: permit.ScopeRunner, Name: string(ben[:])}
	send := permit.Action{Kind: permit.ActionActorSendMessage}
	submit := permit.Action{Kind: permit.ActionRunnerSubmitJob}
	for _, tt := range []struct {
		rule string
		by   chain.Address
		s    permit.Scope
		a    permit.Action
		want error
	}{
		{"a token's owner", ann, coin, mint, nil},
		{"somebody else of a token", ben, coin, mint, permit.ErrForbidden},
		{"governance of a token", chain.AddrGovernance, coin, mint, nil},
		{"an actor that there is not", ann, actor, send, permit.ErrForbidden},
		{"a runner of itself", ben, runner, submit, nil},
		{"a runner of another", ann, runner, submit, permit.ErrForbidden},
		{"the first in a pool", cat, pool, join, nil},
		{"the whole chain", ann, global, mint, permit.ErrForbidden},
		{"governance of the whole chain", chain.AddrGovernance, global, all, nil},
		{"an action of another kind", ann, coin, submit, permit.ErrArgument},
		{"another pool's membership", cat, pool, permit.Action{Kind: permit.ActionRunnerJoinPool, Name: "us"}, permit.ErrArgument},
		{"of the system for a token", ann, coin, permit.Action{Kind: permit.ActionSystemUpgrade}, permit.ErrArgument},
		{"anything for a token", ann, coin, permit.Action{Kind: permit.ActionCustom, Name: "x"}, nil},
	} {
		b := newBook()
		_, err := grant(b, tt.by, cat, tt.s, tt.a, permit.Constraints{})
		want(t, tt.rule, err, tt.want)
		if may(t, b, cat, tt.s, tt.a) != (tt.want == nil) {
			t.Errorf("%s: the check says otherwise", tt.rule)
		}
	}
	b := newBook()
	_, err := grant(b, cat, ben, pool, join, permit.Constraints{})
	want(t, "claim a pool", err, nil)
	_, err = grant(b, ben, ann, pool, join, permit.Constraints{})
	want(t, "another's pool", err, permit.ErrForbidden)
	if h, ok, err := permit.Holder(b.State, pool); h != cat || !ok || err != nil {
		t.Errorf("the pool is %s's, %v, %v", h, ok, err)
	}
	for _, to := range []chain.Address{{}, chain.AddrTreasury} {
		_, err = grant(b, cat, to, pool, join, permit.Constraints{})
		want(t, "to "+to.String(), err, permit.ErrArgument)
	}
}

func TestWildcards(t *testing.T) { // CIP-2 §7.1
	for _, tt := range []struct {
		s    permit.Scope
		a    permit.Action
		mint bool
		join bool
	}{{coin, mint, true, false}, {coin, all, true, false}, {global, mint, true, false}, {global, all, true, true}, {coin, burn, false, false}} {
		b := newBook()
		_, err := grant(b, chain.AddrGovernance, cat, tt.s, tt.a, permit.Constraints{})
		want(t, "grant", err, nil)
		if got := may(t, b, cat, coin, mint); got != tt.mint {
			t.Errorf("%s for %s: mint %v", tt.a, tt.s, got)
		}
		if got := may(t, b, cat, pool, join); got != tt.join {
			t.Errorf("%s for %s: join %v", tt.a, tt.s, got)
		}
		if may(t, b, ben, coin, mint) {
			t.Error("of somebody else")
		}
	}
}

func TestTimeOfAGrant(t *testing.T) {
	b := newBook()
	id, err := grant(b, ann, cat, coin, mint, permit.Constraints{From: 110, Until: 120})
	want(t, "later", err, nil)
	for h, in := range map[chain.Height]bool{109: false, 110: true, 120: true} {
		if b.Height = h; may(t, b, cat, coin, mint) != in {
			t.Errorf("in block %d: %v", h, !in)
		}
	}
	b.Height = 121
	if g, _ := permit.ReadGrant(b.State, id); g == nil {
		t.Error("gone before anybody looked")
	}
	if may(t, b, cat, coin, mint) {
		t.Error("after its end")
	}
	if g, _ := permit.ReadGrant(b.State, id); g != nil {
		t.Error("CIP-2 §7.5: what has expired goes with the first look")
	}
	if ids, err := permit.Grants(b.State, cat); len(ids) != 0 || err != nil {
		t.Errorf("%d grants, %v", len(ids), err)
	}
	_, err = grant(b, ann, cat, coin, mint, permit.Constraints{Until: 120})
	want(t, "of the past", err, permit.ErrArgument)
	_, err = grant(b, ann, cat, coin, mint, permit.Constraints{Until: 121})
	want(t, "for this block", err, nil)
}

func TestUses(t *testing.T) {
	b := newBook()
	use := func(amount uint64) bool {
		t.Helper()
		ok, err := b.Use(cat, coin, mint, amount)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	renew := func(c permit.Constraints) {
		t.Helper()
		_, err := grant(b, ann, cat, coin, mint, c)
		want(t, "renew", err, nil)
	}
	renew(permit.Constraints{Uses: 2})
	if !may(t, b, cat, coin, mint) || !use(1) || !use(1) || use(1) || may(t, b, cat, coin, mint) {
		t.Error("max_uses 2")
	}
	renew(permit.Constraints{AmountPerUse: 10, TotalAmount: 15})
	if use(11) || !use(10) || use(6) || !use(5) || use(1) || !use(0) {
		t.Error("max_amount_per_use 10, max_total_amount 15")
	}
	renew(permit.Constraints{Rate: &permit.Rate{Uses: 2, Blocks: 3}})
	for _, step := range []struct {
		at chain.Height
		ok bool
	}{{100, true}, {102, true}, {102, false}, {103, true}, {103, true}, {105, false}, {106, true}} {
		if b.Height = step.at; use(1) != step.ok {
			t.Errorf("rate of 2 in 3 blocks: at %d not %v", step.at, step.ok)
		}
	}
}

func TestRevocation(t *testing.T) {
	for _, tt := range []struct {
		rule        string
		by          chain.Address
		irrevocable bool
		want        error
	}{
		{"by who made it", ann, false, nil},
		{"by who has it", cat, false, nil},
		{"by governance", chain.AddrGovernance, false, nil},
		{"by anybody", ben, false, permit.ErrForbidden},
		{"irrevocable, by who made it", ann, true, permit.ErrForbidden},
		{"irrevocable, by governance", chain.AddrGovernance, true, permit.ErrForbidden},
		{"irrevocable, by who has it", cat, true, nil},
	} {
		b := newBook()
		id, err := grant(b, ann, cat, coin, mint, permit.Constraints{Irrevocable: tt.irrevocable})
		want(t, "grant", err, nil)
		_, err = b.Revoke(tt.by, id)
		want(t, tt.rule, err, tt.want)
		if may(t, b, cat, coin, mint) != (tt.want != nil) {
			t.Errorf("%s: the check says otherwise", tt.rule)
		}
	}
	b := newBook()
	_, err := b.Revoke(ann, chain.Hash{1})
	want(t, "none", err, permit.ErrNotFound)
}

func TestRoles(t *testing.T) {
	b := newBook()
	minter := permit.Role{Name: "minter", Scopes: []permit.Scope{coin, pool}, Actions: []permit.Action{mint, join}}
	id, _, err := b.CreateRole(ann, minter)
	want(t, "create", err, nil)
	_, _, err = b.CreateRole(ann, minter)
	want(t, "create twice", err, permit.ErrExists)
	other, _, err := b.CreateRole(ben, minter)
	want(t, "of the same name by another", err, nil)
	for rule, r := range map[string]permit.Role{
		"no name":       {Scopes: minter.Scopes, Actions: minter.Actions},
		"twice":         {Name: "x", Scopes: []permit.Scope{coin, coin}, Actions: []permit.Action{mint}},
		"meaningless":   {Name: "x", Scopes: []permit.Scope{pool}, Actions: []permit.Action{mint}},
		"counting uses": {Name: "x", Scopes: minter.Scopes, Actions: minter.Actions, Constraints: permit.Constraints{Uses: 1}},
	} {
		_, _, err := b.CreateRole(ann, r)
		want(t, rule, err, permit.ErrArgument)
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
}

func TestTexts(t *testing.T) {
	for _, s := range []permit.Scope{global, coin, pool, {Kind: permit.ScopeActor, Name: string(ann[:])}, {Kind: permit.ScopeNamespace, Name: "0x\x00"}} {
		if got, err := permit.ParseScope(s.String()); got != s || err != nil {
			t.Errorf("%s came back as %s, %v", s, got, err)
		}
	}
	for _, a := range []permit.Action{all, mint, join, {Kind: permit.ActionCustom, Name: "a b"}} {
		if got, err := permit.ParseAction(a.String()); got != a || err != nil {
			t.Errorf("%s came back as %s, %v", a, got, err)
		}
	}
	for _, text := range []string{"", "pool:x", "global:x", "actor:0x12", "token", "runner_pool:", "namespace:0xzz"} {
		if _, err := permit.ParseScope(text); !errors.Is(err, permit.ErrArgument) {
			t.Errorf("scope %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "mint", "all:x", "custom", "runner_join_pool:" + string(make([]byte, 65))} {
		if _, err := permit.ParseAction(text); !errors.Is(err, permit.ErrArgument) {
			t.Errorf("action %q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	c := permit.Constraints{From: 1, Until: 2, Uses: 3, AmountPerUse: 4, TotalAmount: 5, Rate: &permit.Rate{Uses: 6, Blocks: 7}, Delegatable: true, Depth: 5, Irrevocable: true}
	f.Add(c.Append(join.Append(pool.Append(nil))))
	f.Add((&permit.Constraints{}).Append(all.Append(global.Append(nil))))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := cbor.NewReader(b)
		s, err := permit.ReadScope(&r)
		if err != nil {
			return
		}
		a, err := permit.ReadAction(&r)
		if err != nil {
			return
		}
		c, err := permit.ReadConstraints(&r)
		if err != nil || r.End() != nil {
			return
		}
		again := cbor.NewReader(c.Append(a.Append(s.Append(nil))))
		s2, err1 := permit.ReadScope(&again)
		a2, err2 := permit.ReadAction(&again)
		c2, err3 := permit.ReadConstraints(&again)
		rate := c.Rate == nil && c2.Rate == nil || c.Rate != nil && c2.Rate != nil && *c.Rate == *c2.Rate
		c.Rate, c2.Rate = nil, nil
		if errors.Join(err1, err2, err3, again.End()) != nil || s != s2 || a != a2 || c != c2 || !rate {
			t.Errorf("%x came back as %v %v %+v", b, s2, a2, c2)
		}
	})
}
