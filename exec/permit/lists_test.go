package permit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/permit"
)

// TestLists fills an address with grants and takes them away in another order.
func TestLists(t *testing.T) { // CIP-2 §7.5
	b := newBook()
	space := func(i int) permit.Scope {
		return permit.Scope{Kind: permit.ScopeNamespace, Name: fmt.Sprint("n", i)}
	}
	for i := range permit.MaxGrants {
		c := permit.Constraints{}
		if i%100 == 7 {
			c.Until = 150
		}
		_, err := grant(b, ben, cat, space(i), all, c)
		want(t, "grant", err, nil)
	}
	_, err := grant(b, ben, cat, space(999), all, permit.Constraints{})
	want(t, "one more", err, permit.ErrLimit)
	_, err = grant(b, ben, cat, space(3), all, permit.Constraints{Uses: 1})
	want(t, "renewed at the limit", err, nil)
	b.Height = 151
	_, err = grant(b, ben, cat, space(999), all, permit.Constraints{})
	want(t, "in place of an expired one", err, nil)
	for i := range 2 {
		_, err = grant(b, ben, cat, space(1_000+i), all, permit.Constraints{})
		want(t, "in place of another", err, nil)
	}
	_, err = grant(b, ben, cat, space(1_002), all, permit.Constraints{})
	want(t, "when none has expired", err, permit.ErrLimit)
	left, err := permit.Grants(b.State, cat)
	if err != nil || len(left) != permit.MaxGrants {
		t.Fatalf("%d grants, %v", len(left), err)
	}
	rng := rand.New(rand.NewPCG(51, 1))
	rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	for n := len(left); n > 0; n-- {
		if _, err := b.Revoke(cat, left[n-1]); err != nil {
			t.Fatal(err)
		}
		now, err := permit.Grants(b.State, cat)
		if err != nil || len(now) != n-1 || slices.Contains(now, left[n-1]) {
			t.Fatalf("%d grants, want %d, %v", len(now), n-1, err)
		}
		for i, id := range now {
			if g, err := permit.ReadGrant(b.State, id); err != nil || g == nil || g.Slot != uint64(i) {
				t.Fatalf("row %d: %+v, %v", i, g, err)
			}
		}
	}
	if n := rowsOf(b, cat); n != 1 {
		t.Errorf("%d rows are left of who has no grants, want the one with its number of all", n)
	}
}

// TestRoomIsPaidFor bounds what a grant to an address with a full list looks at.
func TestRoomIsPaidFor(t *testing.T) {
	b := newBook()
	for i := range permit.MaxGrants {
		c := permit.Constraints{}
		if i == 10 {
			c.Until = 150
		}
		_, err := grant(b, ben, cat, permit.Scope{Kind: permit.ScopeNamespace, Name: fmt.Sprint("n", i)}, all, c)
		want(t, "grant", err, nil)
	}
	if b.Looks != 10*permit.MaxGrants {
		t.Fatalf("%d looks left: a list with room was looked at", b.Looks)
	}
	b.Height, b.Looks = 151, 10
	_, err := grant(b, ann, cat, coin, mint, permit.Constraints{})
	want(t, "a look too few", err, permit.ErrLooks)
	b.Looks = 11
	_, err = grant(b, ann, cat, coin, mint, permit.Constraints{})
	want(t, "looks enough", err, nil)
	if b.Looks != 0 {
		t.Errorf("%d looks left", b.Looks)
	}
}
