package entitlements_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
)

func TestConstraints(t *testing.T) { // CIP-2 §7.1, §7.5
	number := func(name string, v uint64) []byte { return cbor.AppendUint(cbor.AppendText(nil, name), v) }
	flag := func(name string, v bool) []byte { return cbor.AppendBool(cbor.AppendText(nil, name), v) }
	rate := func(n ...uint64) []byte {
		b := cbor.AppendArray(cbor.AppendText(nil, "rate_limit"), len(n))
		for _, v := range n {
			b = cbor.AppendUint(b, v)
		}
		return b
	}
	for _, tt := range []struct {
		rule   string
		fields [][]byte
		ok     bool
	}{
		{"none", nil, true},
		{"uses", [][]byte{number("max_uses", 1)}, true},
		{"any number of uses", [][]byte{number("max_uses", 0)}, true},
		{"uses as a flag", [][]byte{flag("max_uses", true)}, false},
		{"first block", [][]byte{number("valid_from", 0)}, true},
		{"one block", [][]byte{number("valid_from", 7), number("valid_until", 7)}, true},
		{"ends before it begins", [][]byte{number("valid_from", 7), number("valid_until", 6)}, false},
		{"ends with the first block of all", [][]byte{number("valid_until", 1)}, true},
		{"ends before all", [][]byte{number("valid_until", 0)}, false},
		{"an amount", [][]byte{number("max_total_amount", 1), number("max_amount_per_use", 1)}, true},
		{"nothing in all", [][]byte{number("max_total_amount", 0)}, false},
		{"nothing at a time", [][]byte{number("max_amount_per_use", 0)}, false},
		{"a rate", [][]byte{rate(1, 1)}, true},
		{"a rate of nothing", [][]byte{rate(0, 1)}, false},
		{"a rate in no time", [][]byte{rate(1, 0)}, false},
		{"a rate of one number", [][]byte{rate(1)}, false},
		{"a rate of three", [][]byte{rate(1, 1, 1)}, false},
		{"deepest", [][]byte{flag("delegatable", true), number("delegation_depth_max", entitlements.MaxDepth)}, true},
		{"too deep", [][]byte{flag("delegatable", true), number("delegation_depth_max", entitlements.MaxDepth+1)}, false},
		{"delegatable by nobody", [][]byte{flag("delegatable", true)}, false},
		{"a depth of what is not delegatable", [][]byte{number("delegation_depth_max", 1)}, false},
		{"revocable", [][]byte{flag("revocable", true)}, true},
		{"irrevocable", [][]byte{flag("revocable", false)}, true},
		{"revocable as a number", [][]byte{number("revocable", 1)}, false},
		{"unknown", [][]byte{number("max_usage", 1)}, false},
		{"twice", [][]byte{number("max_uses", 1), number("max_uses", 1)}, false},
		{"in another order", [][]byte{number("valid_from", 1), number("max_uses", 1)}, false},
		{"a name that is a number", [][]byte{cbor.AppendUint(cbor.AppendUint(nil, 1), 1)}, false},
	} {
		b := cbor.AppendMap(nil, len(tt.fields))
		for _, f := range tt.fields {
			b = append(b, f...)
		}
		r := cbor.NewReader(b)
		if _, err := entitlements.ReadConstraints(&r); (err == nil) != tt.ok || err != nil && !errors.Is(err, entitlements.ErrArgument) {
			t.Errorf("%s: %v", tt.rule, err)
		}
		if tt.ok {
			r = cbor.NewReader(b[:len(b)-1])
			if _, err := entitlements.ReadConstraints(&r); !errors.Is(err, entitlements.ErrArgument) {
				t.Errorf("%s, cut short: %v", tt.rule, err)
			}
		}
	}
}

// TestDelegationNarrows goes through the constraints one by one: what is delegated allows
// less than what it is from in each of them.
func TestDelegationNarrows(t *testing.T) { // CIP-2 §7.2
	wide := func() entitlements.Constraints {
		return entitlements.Constraints{
			From: 50, Until: 200, Uses: 10, AmountPerUse: 20, TotalAmount: 30, Rate: &entitlements.Rate{Uses: 4, Blocks: 5},
			Delegatable: true, Depth: 2, Irrevocable: true,
		}
	}
	narrow := func() entitlements.Constraints {
		return entitlements.Constraints{
			From: 51, Until: 199, Uses: 9, AmountPerUse: 19, TotalAmount: 29, Rate: &entitlements.Rate{Uses: 3, Blocks: 5},
			Delegatable: true, Depth: 1, Irrevocable: true,
		}
	}
	for _, tt := range []struct {
		rule   string
		change func(c *entitlements.Constraints)
		want   error
	}{
		{"narrower", func(*entitlements.Constraints) {}, nil},
		{"revocable", func(c *entitlements.Constraints) { c.Irrevocable = false }, nil},
		{"as often in more time", func(c *entitlements.Constraints) { *c.Rate = entitlements.Rate{Uses: 4, Blocks: 6} }, nil},
		{"not deep at all", func(c *entitlements.Constraints) { c.Delegatable, c.Depth = false, 0 }, nil},
		{"from the same block", func(c *entitlements.Constraints) { c.From = 50 }, entitlements.ErrArgument},
		{"to the same block", func(c *entitlements.Constraints) { c.Until = 200 }, entitlements.ErrArgument},
		{"as many uses", func(c *entitlements.Constraints) { c.Uses = 10 }, entitlements.ErrArgument},
		{"as much at a time", func(c *entitlements.Constraints) { c.AmountPerUse = 20 }, entitlements.ErrArgument},
		{"as much in all", func(c *entitlements.Constraints) { c.TotalAmount = 30 }, entitlements.ErrArgument},
		{"as often", func(c *entitlements.Constraints) { c.Rate.Uses = 4 }, entitlements.ErrArgument},
		{"earlier", func(c *entitlements.Constraints) { c.From = 49 }, entitlements.ErrArgument},
		{"from ever", func(c *entitlements.Constraints) { c.From = 0 }, entitlements.ErrArgument},
		{"longer", func(c *entitlements.Constraints) { c.Until = 201 }, entitlements.ErrArgument},
		{"for ever", func(c *entitlements.Constraints) { c.Until = 0 }, entitlements.ErrArgument},
		{"more uses", func(c *entitlements.Constraints) { c.Uses = 11 }, entitlements.ErrArgument},
		{"any number of uses", func(c *entitlements.Constraints) { c.Uses = 0 }, entitlements.ErrArgument},
		{"more at a time", func(c *entitlements.Constraints) { c.AmountPerUse = 21 }, entitlements.ErrArgument},
		{"any amount at a time", func(c *entitlements.Constraints) { c.AmountPerUse = 0 }, entitlements.ErrArgument},
		{"more in all", func(c *entitlements.Constraints) { c.TotalAmount = 31 }, entitlements.ErrArgument},
		{"any amount in all", func(c *entitlements.Constraints) { c.TotalAmount = 0 }, entitlements.ErrArgument},
		{"at any rate", func(c *entitlements.Constraints) { c.Rate = nil }, entitlements.ErrArgument},
		{"more often", func(c *entitlements.Constraints) { c.Rate.Uses = 5 }, entitlements.ErrArgument},
		{"in less time", func(c *entitlements.Constraints) { c.Rate.Blocks = 4 }, entitlements.ErrArgument},
		{"as deep", func(c *entitlements.Constraints) { c.Depth = 2 }, entitlements.ErrArgument},
	} {
		b := newBook()
		parent, err := grant(b, ann, ben, coin, mint, wide())
		want(t, tt.rule, err, nil)
		c := narrow()
		tt.change(&c)
		_, _, err = b.Delegate(ben, parent, cat, c)
		want(t, tt.rule, err, tt.want)
	}
}

// TestDelegationNeedsAGrantInForce: what is over cannot be given on.
func TestDelegationNeedsAGrantInForce(t *testing.T) { // CIP-2 §7.2
	deep := func(d uint64) entitlements.Constraints {
		return entitlements.Constraints{From: 100 - chain.Height(d), Until: 150 + chain.Height(d), Delegatable: d > 0, Depth: d}
	}
	for _, tt := range []struct {
		rule string
		from entitlements.Constraints
		at   chain.Height
		want error
	}{
		{"in its last block but one", deep(2), 151, nil},
		{"in its last block, when no time is left that is shorter", deep(2), 152, entitlements.ErrArgument},
		{"after its end", deep(2), 153, entitlements.ErrExpired},
		{"before its beginning", entitlements.Constraints{From: 101, Until: 152, Delegatable: true, Depth: 2}, 100, entitlements.ErrExpired},
	} {
		b := newBook()
		parent, err := grant(b, ann, ben, coin, mint, tt.from)
		want(t, tt.rule, err, nil)
		b.Height = tt.at
		_, _, err = b.Delegate(ben, parent, cat, entitlements.Constraints{From: 102, Until: 151})
		want(t, tt.rule, err, tt.want)
	}
	b := newBook()
	root, err := grant(b, ann, ben, coin, mint, deep(2))
	want(t, "grant", err, nil)
	middle, _, err := b.Delegate(ben, root, cat, deep(1))
	want(t, "delegate", err, nil)
	_, err = b.Revoke(ann, root)
	want(t, "revoke", err, nil)
	_, _, err = b.Delegate(cat, middle, dan, deep(0))
	want(t, "from what was taken back above", err, entitlements.ErrExpired)
	for _, to := range []chain.Address{{}, chain.AddrTreasury} {
		_, err = grant(b, ann, ben, coin, mint, deep(2))
		want(t, "grant", err, nil)
		_, _, err = b.Delegate(ben, root, to, deep(1))
		want(t, "to "+to.String(), err, entitlements.ErrArgument)
	}
}

func FuzzRead(f *testing.F) {
	c := entitlements.Constraints{From: 1, Until: 2, Uses: 3, AmountPerUse: 4, TotalAmount: 5, Rate: &entitlements.Rate{Uses: 6, Blocks: 7}, Delegatable: true, Depth: 5, Irrevocable: true}
	f.Add(c.Append(join.Append(pool.Append(nil))))
	f.Add((&entitlements.Constraints{}).Append(all.Append(global.Append(nil))))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := cbor.NewReader(b)
		s, err := entitlements.ReadScope(&r)
		if err != nil {
			return
		}
		a, err := entitlements.ReadAction(&r)
		if err != nil {
			return
		}
		c, err := entitlements.ReadConstraints(&r)
		if err != nil || r.End() != nil {
			return
		}
		again := cbor.NewReader(c.Append(a.Append(s.Append(nil))))
		s2, err1 := entitlements.ReadScope(&again)
		a2, err2 := entitlements.ReadAction(&again)
		c2, err3 := entitlements.ReadConstraints(&again)
		rate := c.Rate == nil && c2.Rate == nil || c.Rate != nil && c2.Rate != nil && *c.Rate == *c2.Rate
		c.Rate, c2.Rate = nil, nil
		if errors.Join(err1, err2, err3, again.End()) != nil || s != s2 || a != a2 || c != c2 || !rate {
			t.Errorf("%x came back as %v %v %+v", b, s2, a2, c2)
		}
	})
}
