package entitlements_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
)

// TestLists fills an address with grants and takes them away in another order.
func TestLists(t *testing.T) { // CIP-2 §7.5
	b := newBook()
	space := func(i int) entitlements.Scope {
		return entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: fmt.Sprint("n", i)}
	}
	for i := range entitlements.MaxGrants {
		_, err := grant(b, ben, cat, space(i), all, entitlements.Constraints{})
		want(t, "grant", err, nil)
	}
	left, err := entitlements.Grants(b.State, cat)
	if err != nil || len(left) != entitlements.MaxGrants {
		t.Fatalf("%d grants, %v", len(left), err)
	}
	rng := rand.New(rand.NewPCG(51, 1))
	rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	for n := len(left); n > 0; n-- {
		if _, err := b.Revoke(cat, left[n-1]); err != nil {
			t.Fatal(err)
		}
		now, err := entitlements.Grants(b.State, cat)
		if err != nil || len(now) != n-1 || slices.Contains(now, left[n-1]) {
			t.Fatalf("%d grants, want %d, %v", len(now), n-1, err)
		}
		for i, id := range now {
			if g, err := entitlements.ReadGrant(b.State, id); err != nil || g == nil || g.Slot != uint64(i) {
				t.Fatalf("row %d: %+v, %v", i, g, err)
			}
		}
	}
	if n := rowsOf(b, cat); n != 1 {
		t.Errorf("%d rows are left of who has no grants, want the one with its number of all", n)
	}
}

// TestStrangersFillNobodysRoom: whatever accounts grant and assign in scopes of their own,
// who answers for another scope finds room there (ADR 77).
func TestStrangersFillNobodysRoom(t *testing.T) {
	b := newBook()
	for i := range 2 * entitlements.MaxGrants {
		mine := entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: fmt.Sprint("mine", i)}
		_, err := grant(b, ben, cat, mine, all, entitlements.Constraints{})
		want(t, "a stranger's grant", err, nil)
		role, _, err := b.CreateRole(ben, entitlements.Role{Name: fmt.Sprint("r", i), Scopes: []entitlements.Scope{mine}, Actions: []entitlements.Action{all}})
		want(t, "a stranger's role", err, nil)
		_, err = b.AssignRole(ben, role, cat)
		want(t, "a stranger's role assigned", err, nil)
	}
	_, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{})
	want(t, "the owner's grant", err, nil)
	// A full room is its own: here one of roles.
	for i := range entitlements.MaxRoles + 1 {
		id, _, err := b.CreateRole(ann, entitlements.Role{Name: fmt.Sprint("coin", i), Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{mint}})
		want(t, "role", err, nil)
		_, err = b.AssignRole(ann, id, cat)
		if i < entitlements.MaxRoles {
			want(t, "role assigned", err, nil)
			continue
		}
		want(t, "a role too many", err, entitlements.ErrLimit)
	}
	if ok, err := b.Check(cat, coin, mint); !ok || err != nil {
		t.Errorf("the owner's grant does not hold: %v", err)
	}
	if list, err := entitlements.Grants(b.State, cat); err != nil || len(list) != 2*entitlements.MaxGrants+1 {
		t.Errorf("%d grants are listed, %v", len(list), err)
	}
}

// TestRoomOfAScope: delegations fill a scope's room up to its limit and no other's.
func TestRoomOfAScope(t *testing.T) { // CIP-2 §7.5
	b := newBook()
	for i := range entitlements.MaxGrants {
		holder := who(uint64(1_000 + i))
		id, err := grant(b, ann, holder, coin, mint, entitlements.Constraints{Delegatable: true, Depth: 1})
		want(t, "grant", err, nil)
		_, _, err = b.Delegate(holder, id, cat, entitlements.Constraints{})
		want(t, "delegate", err, nil)
	}
	_, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{})
	want(t, "one more", err, entitlements.ErrLimit)
	_, err = grant(b, ben, cat, entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: "other"}, all, entitlements.Constraints{})
	want(t, "elsewhere", err, nil)
	id := entitlements.GrantID(cat, coin, mint, nil)
	list, err := entitlements.Grants(b.State, cat)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Revoke(ann, list[0])
	want(t, "the owner takes one back", err, nil)
	got, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{})
	want(t, "then", err, nil)
	if got != id {
		t.Errorf("grant %s, want %s", got, id)
	}
}

// TestCheckFewLooksAtFew: behind so many grants and roles that do not permit nothing is found,
// and who takes one of them back finds it again. A full check finds it all the time.
func TestCheckFewLooksAtFew(t *testing.T) {
	b := newBook()
	var used []chain.Hash
	for i := range entitlements.FewLooked {
		holder := who(uint64(100 + i))
		from, err := grant(b, ann, holder, coin, mint, entitlements.Constraints{Delegatable: true, Depth: 1})
		want(t, "a grant to delegate", err, nil)
		id, _, err := b.Delegate(holder, from, cat, entitlements.Constraints{Uses: 1})
		want(t, "a grant of one use", err, nil)
		used = append(used, id)
		if ok, err := b.Use(cat, coin, mint, 0); !ok || err != nil {
			t.Fatalf("use: %v, %v", ok, err)
		}
	}
	few := func() bool {
		t.Helper()
		ok, err := b.CheckFew(cat, coin, mint)
		want(t, "check", err, nil)
		return ok
	}
	_, err := grant(b, ann, cat, coin, mint, entitlements.Constraints{})
	want(t, "a grant", err, nil)
	if !may(t, b, cat, coin, mint) || few() {
		t.Error("the ninth grant is looked at, or lost")
	}
	_, err = b.Revoke(ann, used[3])
	want(t, "revoke", err, nil)
	if !few() {
		t.Error("the eighth grant is not looked at")
	}
	var roles []chain.Hash
	for i := range entitlements.FewLooked + 1 { // all but the last are for something else
		act := burn
		if i == entitlements.FewLooked {
			act = mint
		}
		role, _, err := b.CreateRole(ann, entitlements.Role{Name: fmt.Sprint("r", i), Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{act}})
		want(t, "a role", err, nil)
		_, err = b.AssignRole(ann, role, dan)
		want(t, "a role assigned", err, nil)
		roles = append(roles, role)
	}
	if ok, err := b.CheckFew(dan, coin, mint); ok || err != nil || !may(t, b, dan, coin, mint) {
		t.Errorf("the ninth role is looked at, or lost: %v, %v", ok, err)
	}
	_, err = b.RevokeRole(ann, roles[0], dan)
	want(t, "a role taken back", err, nil)
	if ok, err := b.CheckFew(dan, coin, mint); !ok || err != nil {
		t.Errorf("the eighth role: %v, %v", ok, err)
	}
}
