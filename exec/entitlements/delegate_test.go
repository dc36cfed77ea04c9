package entitlements_test

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
)

func TestDelegation(t *testing.T) { // CIP-2 §7.2, §7.5
	b := newBook()
	deep := func(d uint64) entitlements.Constraints {
		return entitlements.Constraints{Delegatable: d > 0, Depth: d, Uses: 5 + d}
	}
	root, err := grant(b, ann, who(10), coin, mint, deep(entitlements.MaxDepth))
	want(t, "grant", err, nil)
	ids := []chain.Hash{root}
	for d := uint64(1); d <= entitlements.MaxDepth; d++ {
		id, _, err := b.Delegate(who(9+d), ids[d-1], who(10+d), deep(entitlements.MaxDepth-d))
		want(t, fmt.Sprint("depth ", d), err, nil)
		ids = append(ids, id)
	}
	last := who(10 + entitlements.MaxDepth)
	_, _, err = b.Delegate(last, ids[entitlements.MaxDepth], dan, entitlements.Constraints{})
	want(t, "deeper", err, entitlements.ErrForbidden)
	_, _, err = b.Delegate(ben, root, dan, deep(1))
	want(t, "another's", err, entitlements.ErrForbidden)
	_, _, err = b.Delegate(ben, chain.Hash{9}, dan, deep(1))
	want(t, "of none", err, entitlements.ErrNotFound)
	for _, tt := range []struct {
		name string
		c    entitlements.Constraints
	}{
		{"as deep", deep(entitlements.MaxDepth)},
		{"more uses", entitlements.Constraints{Uses: 11}},
		{"any uses", entitlements.Constraints{}},
		{"irrevocable", entitlements.Constraints{Uses: 1, Irrevocable: true}},
	} {
		_, _, err = b.Delegate(who(10), root, dan, tt.c)
		want(t, tt.name, err, entitlements.ErrArgument)
	}
	if ok, err := b.Use(last, coin, mint, 1); !ok || err != nil {
		t.Errorf("a use at the end: %v, %v", ok, err)
	}
	for i, id := range ids {
		if g, _ := entitlements.ReadGrant(b.State, id); g.Used != 1 {
			t.Errorf("grant %d of the way counts %d uses", i, g.Used)
		}
	}
	for range 8 { // it has one less than the root
		if ok, _ := b.Use(who(11), coin, mint, 1); !ok {
			t.Error("uses are left")
		}
	}
	if may(t, b, last, coin, mint) {
		t.Error("uses of others above count for all below")
	}
	if _, err := b.Revoke(ann, ids[2]); err != nil {
		t.Fatal(err)
	}
	_, err = grant(b, ann, who(10), coin, mint, deep(entitlements.MaxDepth)) // uses again
	want(t, "renew", err, nil)
	if may(t, b, last, coin, mint) {
		t.Error("below what was taken back")
	}
	if g, _ := entitlements.ReadGrant(b.State, ids[entitlements.MaxDepth]); g != nil {
		t.Error("what can never hold again goes with the first look")
	}
}

// TestGrantsDoNotComeBack takes a grant away in every way and makes it once more:
// what had been delegated from it stays gone.
func TestGrantsDoNotComeBack(t *testing.T) { // CIP-2 §7.2
	shared := entitlements.Constraints{Delegatable: true, Depth: 2}
	timed := shared
	timed.Until = 120
	for _, tt := range []struct {
		rule  string
		first entitlements.Constraints
		gone  func(b *entitlements.Book, root, middle chain.Hash) error
		again func(b *entitlements.Book, root chain.Hash) error
	}{
		{"revoked", shared, func(b *entitlements.Book, root, _ chain.Hash) error {
			_, err := b.Revoke(ann, root)
			return err
		}, nil},
		{"expired early", shared, func(b *entitlements.Book, _, _ chain.Hash) error {
			_, err := grant(b, ann, ben, coin, mint, timed)
			b.Height = 121
			return err
		}, nil},
		{"revoked in the middle", shared, func(b *entitlements.Book, _, middle chain.Hash) error {
			_, err := b.Revoke(cat, middle)
			return err
		}, func(b *entitlements.Book, root chain.Hash) error {
			_, _, err := b.Delegate(ben, root, cat, entitlements.Constraints{Delegatable: true, Depth: 1})
			return err
		}},
		{"revoked above the middle", shared, func(b *entitlements.Book, root, _ chain.Hash) error {
			_, err := b.Revoke(ann, root)
			return err
		}, func(b *entitlements.Book, root chain.Hash) error {
			if _, err := grant(b, ann, ben, coin, mint, shared); err != nil {
				return err
			}
			_, _, err := b.Delegate(ben, root, cat, entitlements.Constraints{Delegatable: true, Depth: 1})
			return err
		}},
	} {
		b := newBook()
		root, err := grant(b, ann, ben, coin, mint, tt.first)
		want(t, tt.rule, err, nil)
		middle, _, err := b.Delegate(ben, root, cat, entitlements.Constraints{Delegatable: true, Depth: 1})
		want(t, tt.rule, err, nil)
		_, _, err = b.Delegate(cat, middle, dan, entitlements.Constraints{})
		want(t, tt.rule, err, nil)
		want(t, tt.rule, tt.gone(b, root, middle), nil)
		if tt.again == nil {
			tt.again = func(b *entitlements.Book, _ chain.Hash) error {
				_, err := grant(b, ann, ben, coin, mint, shared)
				return err
			}
		}
		want(t, tt.rule, tt.again(b, root), nil)
		if !may(t, b, ben, coin, mint) || may(t, b, dan, coin, mint) {
			t.Errorf("%s: what was delegated came back", tt.rule)
		}
		_, _, err = b.Delegate(ben, root, cat, entitlements.Constraints{Delegatable: true, Depth: 1})
		want(t, tt.rule, err, nil)
		_, _, err = b.Delegate(cat, middle, dan, entitlements.Constraints{})
		want(t, tt.rule, err, nil)
		if !may(t, b, dan, coin, mint) {
			t.Errorf("%s: what is delegated again does not hold", tt.rule)
		}
		_, err = grant(b, ann, ben, coin, mint, shared)
		want(t, tt.rule, err, nil)
		if !may(t, b, dan, coin, mint) {
			t.Errorf("%s: to renew a grant ended what was delegated from it", tt.rule)
		}
		for _, a := range []chain.Address{ben, cat, dan} {
			if ids, err := entitlements.Grants(b.State, a); len(ids) != 1 || err != nil {
				t.Errorf("%s: %s has %d grants, %v", tt.rule, a, len(ids), err)
			}
		}
	}
}
