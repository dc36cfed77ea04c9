//spec:implements CIP-2 7.3

package entitlements

import (
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
)

// step is a grant on the way from one to the grant that it was delegated from.
type step struct {
	id    chain.Hash
	grant *Grant
}

// way returns a grant and those above it, up to the one that was not delegated;
// nil unless all are in force.
func (b *Book) way(id chain.Hash, g *Grant) ([]step, error) { return wayAt(b.State, b.Height, id, g) }

func wayAt(v Reader, h chain.Height, id chain.Hash, g *Grant) (out []step, err error) {
	// Bounded: by MaxDepth, five.
	for range MaxDepth + 1 {
		if g == nil || !g.Constraints.inForce(h) {
			return nil, nil
		}
		if out = append(out, step{id, g}); g.Parent == nil {
			return out, nil
		}
		id = *g.Parent
		if g, err = above(v, g); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %s was delegated too often", ErrRecord, id)
}

// above returns what a grant was delegated from, nil if that has gone.
func above(v Reader, g *Grant) (*Grant, error) {
	p, err := ReadGrant(v, *g.Parent)
	if p != nil && p.Born != g.ParentBorn {
		p = nil // it was made again
	}
	return p, err
}

// InForce reports whether a grant holds in block h, with all that it was delegated
// from; uses are not looked at.
func InForce(v Reader, h chain.Height, id chain.Hash, g *Grant) (bool, error) {
	way, err := wayAt(v, h, id, g)
	return way != nil, err
}

// pair is what a grant permits.
type pair struct {
	scope  Scope
	action Action
}

// wildcards returns the pairs under which a permission may have been granted:
// itself, all actions, and the same for the whole chain.
func wildcards(s Scope, a Action) [4]pair {
	return [4]pair{{s, a}, {s, Action{}}, {Scope{}, a}, {Scope{}, Action{}}}
}

// Check reports whether an address may do something: by a grant in force that is
// not used up, or by a role. It uses nothing (CIP-2 §7.3).
func (b *Book) Check(grantee chain.Address, s Scope, a Action) (bool, error) {
	_, ok, err := b.firstPermit(grantee, s, a, nil, math.MaxInt)
	return ok, err
}

// FewLooked is how many grants and roles of an address [Book.CheckFew] looks at.
const FewLooked = 8

// CheckFew is Check at a price that is the same for everybody: it looks at [FewLooked] grants
// and roles, those of this scope and action first, and does not find what stands behind
// these. Who answers for the scope takes back what no longer counts to make room.
func (b *Book) CheckFew(grantee chain.Address, s Scope, a Action) (bool, error) {
	_, ok, err := b.firstPermit(grantee, s, a, nil, FewLooked)
	return ok, err
}

// Use is Check for a use of so much: grants that bound their uses count it, with
// all that they were delegated from.
func (b *Book) Use(grantee chain.Address, s Scope, a Action, amount uint64) (bool, error) {
	way, ok, err := b.firstPermit(grantee, s, a, &amount, math.MaxInt)
	if err != nil || !ok {
		return false, err
	}
	// Bounded: by MaxDepth, five.
	for _, w := range way {
		w.grant.countUse(b.Height, amount)
		b.write(w.id, w.grant)
	}
	return true, nil
}

// firstPermit returns the way of the first grant that permits; roles have none. It looks at
// so many grants and roles at most. What has expired is dropped.
func (b *Book) firstPermit(grantee chain.Address, s Scope, a Action, amount *uint64, most int) ([]step, bool, error) {
	// Bounded: by four pairs.
	for _, w := range wildcards(s, a) {
		ids, err := idsAt(b.State, matchKey(grantee, w.scope, w.action))
		if err != nil {
			return nil, false, err
		}
		ids = ids[:min(len(ids), most)]
		most -= len(ids)
		// Bounded: by MaxGrants, 256.
		for _, id := range ids {
			way, err := b.permits(id, amount)
			if err != nil || way != nil {
				return way, way != nil, err
			}
		}
	}
	ok, err := b.byRole(grantee, s, a, most)
	return nil, ok, err
}

// permits returns the way of a grant if it permits a use, and drops it if it has
// expired or what it was delegated from is gone.
func (b *Book) permits(id chain.Hash, amount *uint64) ([]step, error) {
	g, err := b.listed(id)
	if err != nil {
		return nil, err
	}
	way, err := b.way(id, g)
	if err != nil {
		return nil, err
	}
	if way == nil {
		dead, err := b.dead(g)
		if err == nil && dead {
			err = b.remove(id, g)
		}
		return nil, err
	}
	// Bounded: by MaxDepth, five.
	for _, w := range way {
		if !w.grant.leaves(b.Height, amount) {
			return nil, nil
		}
	}
	return way, nil
}

// dead reports whether a grant, or nil for none, will never be in force again.
func (b *Book) dead(g *Grant) (bool, error) {
	// Bounded: by MaxDepth, five.
	for range MaxDepth + 1 {
		if g == nil || g.Constraints.expired(b.Height) {
			return true, nil
		}
		if g.Parent == nil {
			return false, nil // its time has not come
		}
		var err error
		if g, err = above(b.State, g); err != nil {
			return false, err
		}
	}
	return true, nil
}

// leaves reports whether a grant has a use left; for an amount, whether of so
// much.
func (g *Grant) leaves(h chain.Height, amount *uint64) bool {
	c := &g.Constraints
	if c.Uses != 0 && g.Used >= c.Uses {
		return false
	}
	if r := c.Rate; r != nil && g.window(h) == g.RateFrom && g.RateUsed >= r.Uses {
		return false
	}
	if amount == nil {
		return true
	}
	return (c.AmountPerUse == 0 || *amount <= c.AmountPerUse) &&
		(c.TotalAmount == 0 || g.AmountUsed <= c.TotalAmount && *amount <= c.TotalAmount-g.AmountUsed)
}

// window returns the first block of the window of the rate in which h is: windows
// follow each other from the first use on.
func (g *Grant) window(h chain.Height) chain.Height {
	if g.RateFrom == 0 || uint64(h-g.RateFrom) >= g.Constraints.Rate.Blocks {
		return h
	}
	return g.RateFrom
}

// countUse notes a use.
func (g *Grant) countUse(h chain.Height, amount uint64) {
	g.Used = saturating(g.Used, 1)
	g.AmountUsed = saturating(g.AmountUsed, amount)
	if g.Constraints.Rate == nil {
		return
	}
	if at := g.window(h); at != g.RateFrom {
		g.RateFrom, g.RateUsed = at, 0
	}
	g.RateUsed++
}

func saturating(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
