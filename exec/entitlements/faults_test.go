package entitlements_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/state"
)

// faulty is a state that goes wrong at one of its reads: it fails, or what it
// returns has a byte more than was written.
type faulty struct {
	state.View
	at    int // counts down
	fail  bool
	wrong bool // it has
}

var errDisk = errors.New("disk is gone")

func (f *faulty) Storage(a chain.Address, key state.StorageKey) ([]byte, error) {
	b, err := f.View.Storage(a, key)
	if f.at--; f.at >= 0 || f.wrong {
		return b, err
	}
	switch {
	case f.fail:
		f.wrong = true
		return nil, errDisk
	case b != nil:
		f.wrong = true
		return append(b[:len(b):len(b)], 0), err
	}
	return b, err
}

// TestFaultsAreNoVerdicts has every read of every call go wrong: nobody is told
// that something is not so because it could not be read.
func TestFaultsAreNoVerdicts(t *testing.T) {
	world := newBook()
	deep := entitlements.Constraints{Delegatable: true, Depth: 3, Uses: 5}
	root, err := grant(world, ann, ben, coin, mint, deep)
	want(t, "grant", err, nil)
	deep.Depth, deep.Uses = 2, 4
	middle, _, err := world.Delegate(ben, root, cat, deep)
	want(t, "delegate", err, nil)
	gone, err := grant(world, ann, cat, coin, burn, entitlements.Constraints{Until: 100})
	want(t, "grant", err, nil)
	last, err := grant(world, cat, cat, pool, join, entitlements.Constraints{})
	want(t, "grant", err, nil)
	role, _, err := world.CreateRole(ann, entitlements.Role{Name: "r", Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{burn}})
	want(t, "create", err, nil)
	for i, to := range []chain.Address{dan, cat} {
		_, err = world.AssignRole(ann, role, to)
		want(t, fmt.Sprint("assign ", i), err, nil)
	}
	second, _, err := world.CreateRole(ann, entitlements.Role{Name: "s", Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{burn}})
	want(t, "create", err, nil)
	_, err = world.AssignRole(ann, second, cat)
	want(t, "assign", err, nil)
	for i := range entitlements.MaxGrants {
		_, err = grant(world, ben, who(77), entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: fmt.Sprint(i)}, all, entitlements.Constraints{Until: 100})
		want(t, "fill a list", err, nil)
	}
	for name, call := range map[string]func(b *entitlements.Book) error{
		"grant": func(b *entitlements.Book) error { _, err := grant(b, ann, dan, coin, mint, deep); return err },
		"grant in a pool": func(b *entitlements.Book) error {
			_, err := grant(b, cat, dan, pool, join, entitlements.Constraints{})
			return err
		},
		"grant to a full list": func(b *entitlements.Book) error { _, err := grant(b, ann, who(77), coin, mint, deep); return err },
		"grant once more":      func(b *entitlements.Book) error { _, err := grant(b, ann, ben, coin, mint, deep); return err },
		"grant again":          func(b *entitlements.Book) error { _, err := grant(b, ann, cat, coin, burn, deep); return err },
		"delegate": func(b *entitlements.Book) error {
			_, _, err := b.Delegate(cat, middle, dan, entitlements.Constraints{Uses: 1})
			return err
		},
		"revoke":            func(b *entitlements.Book) error { _, err := b.Revoke(ann, root); return err },
		"revoke of several": func(b *entitlements.Book) error { _, err := b.Revoke(cat, gone); return err },
		"revoke in a pool":  func(b *entitlements.Book) error { _, err := b.Revoke(cat, last); return err },
		"create a role": func(b *entitlements.Book) error {
			_, _, err := b.CreateRole(ann, entitlements.Role{Name: "t", Scopes: []entitlements.Scope{coin}, Actions: []entitlements.Action{burn}})
			return err
		},
		"assign":             func(b *entitlements.Book) error { _, err := b.AssignRole(ann, role, ben); return err },
		"take a role":        func(b *entitlements.Book) error { _, err := b.RevokeRole(ann, role, cat); return err },
		"check":              func(b *entitlements.Book) error { _, err := b.Check(cat, coin, mint); return err },
		"check what expired": func(b *entitlements.Book) error { _, err := b.Check(cat, coin, burn); return err },
		"check a role":       func(b *entitlements.Book) error { _, err := b.Check(dan, coin, burn); return err },
		"use":                func(b *entitlements.Book) error { _, err := b.Use(cat, coin, mint, 1); return err },
		"in force": func(b *entitlements.Book) error {
			g, err := entitlements.ReadGrant(b.State, middle)
			if err == nil {
				_, err = entitlements.InForce(b.State, b.Height, middle, g)
			}
			return err
		},
		"holder": func(b *entitlements.Book) error { _, _, err := entitlements.Holder(b.State, pool); return err },
		"grants": func(b *entitlements.Book) error { _, err := entitlements.Grants(b.State, cat); return err },
		"roles":  func(b *entitlements.Book) error { _, err := entitlements.Roles(b.State, dan); return err },
	} {
		for _, fail := range []bool{true, false} {
			for at := range 10_000 {
				f := &faulty{View: world.State, at: at, fail: fail}
				b := newBook()
				b.State, b.Height = state.NewOverlay(f), 101
				err := call(b)
				if !f.wrong {
					want(t, name, err, nil)
					break
				}
				if fail && !errors.Is(err, errDisk) || !fail && !errors.Is(err, entitlements.ErrRecord) {
					t.Errorf("%s, read %d, fails %v: %v", name, at, fail, err)
				}
			}
		}
	}
}
