package entitlements_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/state"
)

func who(n uint64) (a chain.Address) {
	binary.BigEndian.PutUint64(a[:], n+1)
	a[19] = 1
	return a
}

var (
	ann, ben, cat, dan = who(1), who(2), who(3), who(4)
	coin               = entitlements.Scope{Kind: entitlements.ScopeToken, Name: string(make([]byte, 32))}
	pool               = entitlements.Scope{Kind: entitlements.ScopePool, Name: "eu"}
	join               = entitlements.Action{Kind: entitlements.ActionRunnerJoinPool, Name: "eu"}
	mint               = entitlements.Action{Kind: entitlements.ActionTokenMint}
	burn               = entitlements.Action{Kind: entitlements.ActionTokenBurn}
	all                = entitlements.Action{}
	global             = entitlements.Scope{}
)

// newBook is a registry at height 100 of a chain where ann owns the coin.
func newBook() *entitlements.Book {
	return &entitlements.Book{State: state.NewOverlay(state.Empty{}), Height: 100, Owner: func(s entitlements.Scope) (chain.Address, bool, error) {
		return ann, s == coin, nil
	}}
}

func want(t *testing.T, rule string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", rule, err, want)
	}
}

func grant(b *entitlements.Book, by, to chain.Address, s entitlements.Scope, a entitlements.Action, c entitlements.Constraints) (chain.Hash, error) {
	id, _, err := b.Grant(by, &entitlements.Asked{Grantee: to, Scope: s, Action: a, Constraints: c})
	return id, err
}

func may(t *testing.T, b *entitlements.Book, a chain.Address, s entitlements.Scope, act entitlements.Action) bool {
	t.Helper()
	ok, err := b.Check(a, s, act)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestWhoMayGrant(t *testing.T) { // CIP-2 §7.3
	actor := entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(dan[:])}
	runner := entitlements.Scope{Kind: entitlements.ScopeRunner, Name: string(ben[:])}
	send := entitlements.Action{Kind: entitlements.ActionActorSendMessage}
	submit := entitlements.Action{Kind: entitlements.ActionRunnerSubmitJob}
	for _, tt := range []struct {
		rule string
		by   chain.Address
		s    entitlements.Scope
		a    entitlements.Action
		want error
	}{
		{"a token's owner", ann, coin, mint, nil},
		{"somebody else of a token", ben, coin, mint, entitlements.ErrForbidden},
		{"governance of a token", chain.AddrGovernance, coin, mint, nil},
		{"an actor that there is not", ann, actor, send, entitlements.ErrForbidden},
		{"a runner of itself", ben, runner, submit, nil},
		{"a runner of another", ann, runner, submit, entitlements.ErrForbidden},
		{"the first in a pool", cat, pool, join, nil},
		{"the whole chain", ann, global, mint, entitlements.ErrForbidden},
		{"governance of the whole chain", chain.AddrGovernance, global, all, nil},
		{"an action of another kind", ann, coin, submit, entitlements.ErrArgument},
		{"another pool's membership", cat, pool, entitlements.Action{Kind: entitlements.ActionRunnerJoinPool, Name: "us"}, entitlements.ErrArgument},
		{"of the system for a token", ann, coin, entitlements.Action{Kind: entitlements.ActionSystemUpgrade}, entitlements.ErrArgument},
		{"anything for a token", ann, coin, entitlements.Action{Kind: entitlements.ActionCustom, Name: "x"}, nil},
	} {
		b := newBook()
		_, err := grant(b, tt.by, cat, tt.s, tt.a, entitlements.Constraints{})
		want(t, tt.rule, err, tt.want)
		if may(t, b, cat, tt.s, tt.a) != (tt.want == nil) {
			t.Errorf("%s: the check says otherwise", tt.rule)
		}
	}
	b := newBook()
	_, err := grant(b, cat, ben, pool, join, entitlements.Constraints{})
	want(t, "claim a pool", err, nil)
	_, err = grant(b, ben, ann, pool, join, entitlements.Constraints{})
	want(t, "another's pool", err, entitlements.ErrForbidden)
	if h, ok, err := entitlements.Holder(b.State, pool); h != cat || !ok || err != nil {
		t.Errorf("the pool is %s's, %v, %v", h, ok, err)
	}
	for _, to := range []chain.Address{{}, chain.AddrTreasury} {
		_, err = grant(b, cat, to, pool, join, entitlements.Constraints{})
		want(t, "to "+to.String(), err, entitlements.ErrArgument)
	}
}

func TestWildcards(t *testing.T) { // CIP-2 §7.1
	for _, tt := range []struct {
		s    entitlements.Scope
		a    entitlements.Action
		mint bool
		join bool
	}{{coin, mint, true, false}, {coin, all, true, false}, {global, mint, true, false}, {global, all, true, true}, {coin, burn, false, false}} {
		b := newBook()
		_, err := grant(b, chain.AddrGovernance, cat, tt.s, tt.a, entitlements.Constraints{})
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
	id, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{From: 110, Until: 120})
	want(t, "later", err, nil)
	for _, tt := range []struct {
		h  chain.Height
		in bool
	}{{109, false}, {110, true}, {120, true}} {
		if b.Height = tt.h; may(t, b, cat, coin, mint) != tt.in {
			t.Errorf("in block %d: %v", tt.h, !tt.in)
		}
	}
	b.Height = 121
	if g, _ := entitlements.ReadGrant(b.State, id); g == nil {
		t.Error("gone before anybody looked")
	}
	if may(t, b, cat, coin, mint) {
		t.Error("after its end")
	}
	if g, _ := entitlements.ReadGrant(b.State, id); g != nil {
		t.Error("CIP-2 §7.5: what has expired goes with the first look")
	}
	if ids, err := entitlements.Grants(b.State, cat); len(ids) != 0 || err != nil {
		t.Errorf("%d grants, %v", len(ids), err)
	}
	_, err = grant(b, ann, cat, coin, mint, entitlements.Constraints{Until: 120})
	want(t, "of the past", err, entitlements.ErrArgument)
	_, err = grant(b, ann, cat, coin, mint, entitlements.Constraints{Until: 121})
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
	renew := func(c entitlements.Constraints) {
		t.Helper()
		_, err := grant(b, ann, cat, coin, mint, c)
		want(t, "renew", err, nil)
	}
	renew(entitlements.Constraints{Uses: 2})
	if !may(t, b, cat, coin, mint) || !use(1) || !use(1) || use(1) || may(t, b, cat, coin, mint) {
		t.Error("max_uses 2")
	}
	renew(entitlements.Constraints{AmountPerUse: 10, TotalAmount: 15})
	if use(11) || !use(10) || use(6) || !use(5) || use(1) || !use(0) || !may(t, b, cat, coin, mint) {
		t.Error("max_amount_per_use 10, max_total_amount 15")
	}
	renew(entitlements.Constraints{Rate: &entitlements.Rate{Uses: 2, Blocks: 3}})
	for _, step := range []struct {
		at chain.Height
		ok bool
	}{{100, true}, {102, true}, {102, false}, {103, true}, {103, true}, {105, false}, {106, true}} {
		if b.Height = step.at; use(1) != step.ok {
			t.Errorf("rate of 2 in 3 blocks: at %d not %v", step.at, step.ok)
		}
	}
	renew(entitlements.Constraints{Rate: &entitlements.Rate{Uses: 1, Blocks: 1_000}}) // more than there were
	for _, step := range []struct {
		at chain.Height
		ok bool
	}{{106, true}, {1_000, false}, {1_105, false}, {1_106, true}} {
		if b.Height = step.at; use(1) != step.ok {
			t.Errorf("rate of 1 in 1,000 blocks: at %d not %v", step.at, step.ok)
		}
	}
	renew(entitlements.Constraints{})
	if !use(math.MaxUint64) || !use(1) {
		t.Error("without bounds")
	}
	g, err := entitlements.ReadGrant(b.State, entitlements.GrantID(cat, coin, mint, nil))
	if err != nil || g.Used != 2 || g.AmountUsed != math.MaxUint64 {
		t.Errorf("uses are counted as %+v, %v", g, err)
	}
}

// TestUsedUpBesideOthers: of several grants of the same, one that permits is found
// behind those that do not.
func TestUsedUpBesideOthers(t *testing.T) { // CIP-2 §7.3
	for rule, first := range map[string]entitlements.Constraints{
		"used up":       {Uses: 1},
		"not yet":       {From: 200},
		"with a rate":   {Rate: &entitlements.Rate{Uses: 1, Blocks: 50}},
		"below so much": {AmountPerUse: 1},
	} {
		b := newBook()
		_, err := grant(b, ann, cat, coin, mint, first)
		want(t, rule, err, nil)
		root, err := grant(b, ann, ben, coin, mint, entitlements.Constraints{Delegatable: true, Depth: 1})
		want(t, rule, err, nil)
		_, _, err = b.Delegate(ben, root, cat, entitlements.Constraints{})
		want(t, rule, err, nil)
		for range 2 {
			if ok, err := b.Use(cat, coin, mint, 2); !ok || err != nil {
				t.Errorf("%s: %v, %v", rule, ok, err)
			}
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
		{"by anybody", ben, false, entitlements.ErrForbidden},
		{"irrevocable, by who made it", ann, true, entitlements.ErrForbidden},
		{"irrevocable, by governance", chain.AddrGovernance, true, entitlements.ErrForbidden},
		{"irrevocable, by who has it", cat, true, nil},
	} {
		b := newBook()
		id, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{Irrevocable: tt.irrevocable})
		want(t, "grant", err, nil)
		_, err = b.Revoke(tt.by, id)
		want(t, tt.rule, err, tt.want)
		if may(t, b, cat, coin, mint) != (tt.want != nil) {
			t.Errorf("%s: the check says otherwise", tt.rule)
		}
	}
	b := newBook()
	_, err := b.Revoke(ann, chain.Hash{1})
	want(t, "none", err, entitlements.ErrNotFound)

	// A token that changed hands: who made the grant and who answers for it by now.
	for rule, by := range map[string]chain.Address{"by the token's former owner": ann, "by its owner": dan} {
		b := newBook()
		id, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{})
		want(t, rule, err, nil)
		b.Owner = func(entitlements.Scope) (chain.Address, bool, error) { return dan, true, nil }
		_, err = b.Revoke(by, id)
		want(t, rule, err, nil)
	}

	// Governance grants in a pool without taking it for itself.
	id, err := grant(b, chain.AddrGovernance, cat, pool, join, entitlements.Constraints{})
	want(t, "in a pool of nobody", err, nil)
	_, err = b.Revoke(ben, id)
	want(t, "by anybody, in a pool of nobody", err, entitlements.ErrForbidden)
	if _, ok, err := entitlements.Holder(b.State, pool); ok || err != nil {
		t.Errorf("the pool is somebody's: %v", err)
	}
}

func TestEvents(t *testing.T) { // CIP-2 §7.2
	b := newBook()
	said := func(e chain.Event, err error, name string, fields ...[]byte) {
		t.Helper()
		data := cbor.AppendArray(nil, len(fields))
		for _, f := range fields {
			data = cbor.AppendBytes(data, f)
		}
		if err != nil || e.Emitter != chain.AddrEntitlements || e.Name != name || !bytes.Equal(e.Data, data) {
			t.Errorf("%s %x, %v; want %s %x", e.Name, e.Data, err, name, data)
		}
	}
	root, e, err := b.Grant(ann, &entitlements.Asked{Grantee: ben, Scope: coin, Action: mint, Constraints: entitlements.Constraints{Delegatable: true, Depth: 1}})
	said(e, err, entitlements.EventGranted, root[:], ben[:], ann[:], coin.Append(nil), mint.Append(nil))
	child, e, err := b.Delegate(ben, root, cat, entitlements.Constraints{})
	said(e, err, entitlements.EventDelegated, child[:], cat[:], ben[:], root[:])
	e, err = b.Revoke(ann, root)
	said(e, err, entitlements.EventRevoked, root[:], ann[:])
	role, e, err := b.CreateRole(ann, entitlements.Role{Name: "r", Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}})
	said(e, err, entitlements.EventRoleCreated, role[:], ann[:], []byte("r"))
	e, err = b.AssignRole(ann, role, cat)
	said(e, err, entitlements.EventRoleAssigned, role[:], cat[:], ann[:])
	e, err = b.RevokeRole(cat, role, cat)
	said(e, err, entitlements.EventRoleRevoked, role[:], cat[:], cat[:])
}
