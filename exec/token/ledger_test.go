package token_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
)

var (
	ann = chain.Address{0: 0xa1}
	ben = chain.Address{0: 0xb2}
	cat = chain.Address{0: 0xc3}

	none = chain.Amount{}
	most = chain.Amount{Hi: math.MaxUint64, Lo: math.MaxUint64}
)

func n(v uint64) chain.Amount { return chain.Amount{Lo: v} }

// made is an overlay with a token of ann's.
func made(t *testing.T, supply chain.Amount, limit *chain.Amount) (*state.Overlay, token.ID) {
	t.Helper()
	o := state.NewOverlay(state.Empty{})
	id, err := token.Create(o, ann, &token.Token{Name: "Gold", Symbol: "GLD", Decimals: 18, Supply: supply, Max: limit})
	if err != nil {
		t.Fatal(err)
	}
	return o, id
}

func want(t *testing.T, rule string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || want == nil && got != nil {
		t.Errorf("%s: %v, want %v", rule, got, want)
	}
}

func holds(t *testing.T, o *state.Overlay, id token.ID, a chain.Address, want chain.Amount) {
	t.Helper()
	if got, err := token.Balance(o, id, a); err != nil || got != want {
		t.Errorf("%s holds %s, %v; want %s", a, got, err, want)
	}
}

func TestCreate(t *testing.T) { // CIP-20: token_id, record
	o, first := made(t, n(100), nil)
	if first != token.NewID(ann, "GLD", 0) {
		t.Errorf("id %s", first)
	}
	second, err := token.Create(o, ann, &token.Token{Name: "Gold", Symbol: "GLD"})
	if err != nil || second != token.NewID(ann, "GLD", 1) || second == first {
		t.Errorf("second token of that symbol: %s, %v", second, err)
	}
	if count, err := token.Count(o); count != 2 || err != nil {
		t.Errorf("%d tokens, %v", count, err)
	}
	for i, id := range []token.ID{first, second} {
		if got, err := token.At(o, uint64(i+1)); got != id || err != nil {
			t.Errorf("token %d is %s, %v", i+1, got, err)
		}
	}
	if _, err := token.At(o, 3); !errors.Is(err, token.ErrRecord) {
		t.Errorf("token 3: %v", err)
	}
	got, err := token.Read(o, first)
	if err != nil || got.Name != "Gold" || got.Symbol != "GLD" || got.Decimals != 18 || got.Supply != n(100) ||
		got.Max != nil || got.Creator != ann || *got.Owner != ann || got.Hooks != nil || got.Number != 1 {
		t.Errorf("record %+v, %v", got, err)
	}
	holds(t, o, first, ann, n(100))

	ok := token.Token{Name: strings.Repeat("n", 64), Symbol: strings.Repeat("s", 16), Decimals: 38, Supply: n(5), Max: &chain.Amount{Lo: 5}}
	for _, c := range []struct {
		rule   string
		want   error
		change func(*token.Token)
	}{
		{"boundaries", nil, func(*token.Token) {}},
		{"no name", token.ErrForm, func(t *token.Token) { t.Name = "" }},
		{"name of 65", token.ErrForm, func(t *token.Token) { t.Name += "n" }},
		{"no symbol", token.ErrForm, func(t *token.Token) { t.Symbol = "" }},
		{"symbol of 17", token.ErrForm, func(t *token.Token) { t.Symbol += "s" }},
		{"no text", token.ErrForm, func(t *token.Token) { t.Name = "\xff" }},
		{"39 decimals", token.ErrForm, func(t *token.Token) { t.Decimals = 39 }},
		{"supply above max", token.ErrForm, func(t *token.Token) { t.Supply = n(6) }},
		{"all of 128 bits", nil, func(t *token.Token) { t.Supply, t.Max = most, &most }},
		{"max of 0, supply 0", nil, func(t *token.Token) { t.Supply, t.Max = none, &none }},
	} {
		spec := ok
		c.change(&spec)
		_, err := token.Create(o, ben, &spec)
		want(t, c.rule, err, c.want)
	}
}

func TestTransfer(t *testing.T) {
	o, id := made(t, n(100), nil)
	want(t, "nobody's token", token.Transfer(o, token.ID{1}, ann, ben, n(1)), token.ErrNoToken)
	want(t, "one too many", token.Transfer(o, id, ann, ben, n(101)), token.ErrBalance)
	want(t, "beyond 64 bits", token.Transfer(o, id, ann, ben, chain.Amount{Hi: 1}), token.ErrBalance)
	want(t, "one too many to oneself", token.Transfer(o, id, ann, ann, n(101)), token.ErrBalance)
	want(t, "to oneself", token.Transfer(o, id, ann, ann, n(100)), nil)
	want(t, "nothing from nothing", token.Transfer(o, id, ben, cat, none), nil)
	holds(t, o, id, ann, n(100))
	want(t, "all", token.Transfer(o, id, ann, ben, n(100)), nil)
	holds(t, o, id, ann, none)
	holds(t, o, id, ben, n(100))
}

func TestFrozen(t *testing.T) { // CIP-20: freeze per account
	o, id := made(t, n(100), nil)
	want(t, "move before", token.Transfer(o, id, ann, ben, n(10)), nil)
	want(t, "another's", token.Freeze(o, id, ben, ann, true), token.ErrNotOwner)
	want(t, "freeze", token.Freeze(o, id, ann, ben, true), nil)
	want(t, "freeze again", token.Freeze(o, id, ann, ben, true), nil)
	want(t, "send", token.Transfer(o, id, ben, ann, n(1)), token.ErrFrozen)
	want(t, "receive", token.Transfer(o, id, ann, ben, n(1)), token.ErrFrozen)
	want(t, "send nothing", token.Transfer(o, id, ben, ann, none), token.ErrFrozen)
	want(t, "be minted to", token.Mint(o, id, ann, ben, n(1)), token.ErrFrozen)
	want(t, "burn", token.Burn(o, id, ben, n(1)), token.ErrFrozen)
	want(t, "approve", token.Approve(o, id, ben, cat, n(5)), nil)
	want(t, "be spent for", token.TransferFrom(o, id, cat, ben, ann, n(1)), token.ErrFrozen)
	want(t, "be allowed", token.Approve(o, id, ann, ben, n(5)), nil)
	want(t, "spend another's", token.TransferFrom(o, id, ben, ann, cat, n(1)), nil)
	want(t, "spend another's for oneself", token.TransferFrom(o, id, ben, ann, ben, n(1)), token.ErrFrozen)
	if frozen, err := token.Frozen(o, id, ben); !frozen || err != nil {
		t.Errorf("frozen: %t, %v", frozen, err)
	}
	want(t, "thaw", token.Freeze(o, id, ann, ben, false), nil)
	want(t, "send again", token.Transfer(o, id, ben, ann, n(10)), nil)
}

func TestAllowance(t *testing.T) {
	o, id := made(t, n(100), nil)
	want(t, "without", token.TransferFrom(o, id, ben, ann, cat, n(1)), token.ErrAllowance)
	want(t, "nothing without", token.TransferFrom(o, id, ben, ann, cat, none), nil)
	want(t, "approve", token.Approve(o, id, ann, ben, n(10)), nil)
	want(t, "one too many", token.TransferFrom(o, id, ben, ann, cat, n(11)), token.ErrAllowance)
	want(t, "a third's", token.TransferFrom(o, id, cat, ann, cat, n(1)), token.ErrAllowance)
	want(t, "some", token.TransferFrom(o, id, ben, ann, cat, n(4)), nil)
	if left, _ := token.Allowance(o, id, ann, ben); left != n(6) {
		t.Errorf("%s left", left)
	}
	want(t, "one's own needs it too", token.TransferFrom(o, id, ann, ann, cat, n(1)), token.ErrAllowance)
	want(t, "set anew", token.Approve(o, id, ann, ben, n(7)), nil)
	want(t, "the rest", token.TransferFrom(o, id, ben, ann, cat, n(7)), nil)
	want(t, "all used", token.TransferFrom(o, id, ben, ann, cat, n(1)), token.ErrAllowance)
	want(t, "more than there is", token.Approve(o, id, ann, ben, most), nil)
	want(t, "allowed, not held", token.TransferFrom(o, id, ben, ann, cat, n(90)), token.ErrBalance)
	if left, _ := token.Allowance(o, id, ann, ben); left != most {
		t.Errorf("a transfer that failed took of the allowance: %s left", left)
	}
	want(t, "of no token", token.Approve(o, token.ID{}, ann, ben, n(1)), token.ErrNoToken)
}

func TestSupply(t *testing.T) {
	limit := n(110)
	o, id := made(t, n(100), &limit)
	want(t, "another's", token.Mint(o, id, ben, ben, n(1)), token.ErrNotOwner)
	want(t, "one too many", token.Mint(o, id, ann, ben, n(11)), token.ErrSupply)
	want(t, "up to the maximum", token.Mint(o, id, ann, ben, n(10)), nil)
	want(t, "beyond it", token.Mint(o, id, ann, ben, n(1)), token.ErrSupply)
	want(t, "burn too many", token.Burn(o, id, ben, n(11)), token.ErrBalance)
	want(t, "burn", token.Burn(o, id, ben, n(10)), nil)
	want(t, "mint what was burned", token.Mint(o, id, ann, ann, n(10)), nil)

	o, id = made(t, most, nil)
	want(t, "2^128", token.Mint(o, id, ann, ann, n(1)), token.ErrSupply)
	want(t, "burn one", token.Burn(o, id, ann, n(1)), nil)
	want(t, "2^128-1", token.Mint(o, id, ann, ann, n(1)), nil)
	o, id = made(t, most, &most)
	want(t, "2^128 below a maximum of all 128 bits", token.Mint(o, id, ann, ben, n(1)), token.ErrSupply)
	holds(t, o, id, ann, most)
}

func TestOwner(t *testing.T) {
	o, id := made(t, n(100), nil)
	want(t, "another's", token.SetOwner(o, id, ben, &ben), token.ErrNotOwner)
	want(t, "hand over", token.SetOwner(o, id, ann, &ben), nil)
	want(t, "not any more", token.SetHooks(o, id, ann, &cat), token.ErrNotOwner)
	want(t, "the new owner's", token.SetHooks(o, id, ben, &cat), nil)
	want(t, "give up", token.SetOwner(o, id, ben, nil), nil)
	for _, by := range []chain.Address{ann, ben, {}} {
		want(t, "owner none: mint", token.Mint(o, id, by, by, n(1)), token.ErrNotOwner)
		want(t, "owner none: freeze", token.Freeze(o, id, by, ann, true), token.ErrNotOwner)
		want(t, "owner none: hooks", token.SetHooks(o, id, by, nil), token.ErrNotOwner)
		want(t, "owner none: owner", token.SetOwner(o, id, by, &by), token.ErrNotOwner)
	}
	want(t, "holders go on", token.Transfer(o, id, ann, ben, n(1)), nil)
	if got, err := token.Read(o, id); err != nil || got.Owner != nil || *got.Hooks != cat {
		t.Errorf("record %+v, %v", got, err)
	}
}

// naive is the rules in maps.
type naive struct {
	supply, limit *big.Int
	owned         bool
	held, allowed map[string]*big.Int
	frozen        map[chain.Address]bool
}

func (m *naive) get(of map[string]*big.Int, key string) *big.Int {
	if of[key] == nil {
		of[key] = new(big.Int)
	}
	return of[key]
}

func (m *naive) balance(a chain.Address) *big.Int { return m.get(m.held, string(a[:])) }

func (m *naive) transfer(from, to chain.Address, n *big.Int) error {
	switch {
	case m.frozen[from] || m.frozen[to]:
		return token.ErrFrozen
	case m.balance(from).Cmp(n) < 0:
		return token.ErrBalance
	}
	m.balance(from).Sub(m.balance(from), n)
	m.balance(to).Add(m.balance(to), n)
	return nil
}

// step does one operation drawn from r on both and returns what they say.
func (m *naive) step(o *state.Overlay, id token.ID, r *rand.Rand) (string, error, error) {
	who := [...]chain.Address{ann, ben, cat}
	a, b, by := who[r.IntN(3)], who[r.IntN(3)], who[r.IntN(3)]
	amount := chain.Amount{Lo: r.Uint64N(40)}
	switch r.IntN(12) {
	case 0:
		amount = chain.Amount{Hi: r.Uint64(), Lo: r.Uint64()}
	case 1:
		amount, _ = token.Balance(o, id, a)
	}
	n := amount.Big()
	name := fmt.Sprintf("%x %x by %x, %s", a[0], b[0], by[0], amount)
	owner := func(do func() error) error {
		if !m.owned || by != ann {
			return token.ErrNotOwner
		}
		return do()
	}
	switch r.IntN(7) {
	case 0:
		return "transfer " + name, token.Transfer(o, id, a, b, amount), m.transfer(a, b, n)
	case 1:
		left := m.get(m.allowed, string(a[:])+string(by[:]))
		err := error(token.ErrAllowance)
		if left.Cmp(n) >= 0 {
			if err = m.transfer(a, b, n); err == nil {
				left.Sub(left, n)
			}
		}
		return "transfer from " + name, token.TransferFrom(o, id, by, a, b, amount), err
	case 2:
		m.allowed[string(a[:])+string(b[:])] = n
		return "approve " + name, token.Approve(o, id, a, b, amount), nil
	case 3:
		return "mint " + name, token.Mint(o, id, by, b, amount), owner(func() error {
			sum := new(big.Int).Add(m.supply, n)
			if m.frozen[b] {
				return token.ErrFrozen
			}
			if sum.Cmp(m.limit) > 0 {
				return token.ErrSupply
			}
			m.supply = sum
			m.balance(b).Add(m.balance(b), n)
			return nil
		})
	case 4:
		err := error(nil)
		switch {
		case m.frozen[a]:
			err = token.ErrFrozen
		case m.balance(a).Cmp(n) < 0:
			err = token.ErrBalance
		default:
			m.balance(a).Sub(m.balance(a), n)
			m.supply.Sub(m.supply, n)
		}
		return "burn " + name, token.Burn(o, id, a, amount), err
	case 5:
		on := r.IntN(3) == 0
		return "freeze " + name, token.Freeze(o, id, by, a, on), owner(func() error { m.frozen[a] = on; return nil })
	}
	if r.IntN(50) > 0 {
		return "nothing", nil, nil
	}
	return "give up " + name, token.SetOwner(o, id, by, nil), owner(func() error { m.owned = false; return nil })
}

// FuzzLedger holds the ledger to its naive twin and the balances to the supply.
func FuzzLedger(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed, seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, bounded bool) {
		r := rand.New(rand.NewPCG(seed, 20))
		limit := most
		spec := &token.Token{Name: "n", Symbol: "s", Supply: n(100)}
		if bounded {
			limit = n(200)
			spec.Max = &limit
		}
		o := state.NewOverlay(state.Empty{})
		id, err := token.Create(o, ann, spec)
		if err != nil {
			t.Fatal(err)
		}
		m := &naive{supply: big.NewInt(100), limit: limit.Big(), owned: true, held: map[string]*big.Int{string(ann[:]): big.NewInt(100)}, allowed: map[string]*big.Int{}, frozen: map[chain.Address]bool{}}
		for range 300 {
			name, got, want := m.step(o, id, r)
			if !errors.Is(got, want) || want == nil && got != nil {
				t.Fatalf("seed %d: %s: %v, want %v", seed, name, got, want)
			}
			sum := new(big.Int)
			for _, a := range [...]chain.Address{ann, ben, cat} {
				held, err := token.Balance(o, id, a)
				if err != nil || held.Big().Cmp(m.balance(a)) != 0 {
					t.Fatalf("seed %d: %s: %x holds %s, %v; want %s", seed, name, a[0], held, err, m.balance(a))
				}
				sum.Add(sum, held.Big())
			}
			rec, err := token.Read(o, id)
			if err != nil || rec.Supply.Big().Cmp(sum) != 0 || sum.Cmp(m.supply) != 0 {
				t.Fatalf("seed %d: %s: supply %v, balances %s, want %s, %v", seed, name, rec, sum, m.supply, err)
			}
		}
	})
}
