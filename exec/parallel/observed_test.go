package parallel

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestHasTraits: a change leaves code and metadata as they were only if they were
// read, both are the same, and the account did not go meanwhile.
func TestHasTraits(t *testing.T) {
	addr, other := chain.Address{1}, chain.Address{2}
	account := func(code chain.Hash, meta string) state.Account {
		return state.Account{Balance: 7, CodeHash: code, Meta: []byte(meta)}
	}
	code := chain.Hash{9}
	tests := []struct {
		name    string
		kind    kind
		of      chain.Address
		was     state.Account
		now     state.Account
		cleared bool
		want    bool
	}{
		{"all was read", ofAccount, addr, account(code, "m"), account(code, "m"), false, true},
		{"they were read", ofCodeAndMeta, addr, account(code, "m"), account(code, "m"), false, true},
		{"its size was read", ofSize, addr, account(code, "m"), account(code, "m"), false, false},
		{"another was read", ofAccount, other, account(code, "m"), account(code, "m"), false, false},
		{"other code", ofAccount, addr, account(code, "m"), account(chain.Hash{8}, "m"), false, false},
		{"other metadata", ofCodeAndMeta, addr, account(code, "m"), account(code, "n"), false, false},
		{"no code", ofAccount, addr, account(state.EmptyCodeHash, ""), account(state.EmptyCodeHash, ""), false, true},
		{"no code, written as none", ofAccount, addr, account(state.EmptyCodeHash, ""), account(chain.Hash{}, ""), false, true},
		{"code that goes", ofAccount, addr, account(code, ""), account(chain.Hash{}, ""), false, false},
		{"an account that goes", ofAccount, addr, account(code, "m"), account(code, "m"), true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v view
			v.addRead(&read{place: place{kind: tt.kind, addr: tt.of}, account: tt.was})
			c := &state.Change{AccountChange: state.AccountChange{Address: addr, Account: &tt.now, Cleared: tt.cleared}}
			if got := v.keepsCodeAndMeta(c); got != tt.want {
				t.Errorf("as they were: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestObserve: an execution has touched what it read and wrote besides what its
// transaction says, each place once and as strongly as it was: code and metadata,
// which hardly ever change, are no touch.
func TestObserve(t *testing.T) {
	said := chain.Address{1, 19: 1}
	at := func(n byte) chain.Address { return chain.Address{n, 19: n} }
	key := state.NewStorageKey(1, []byte{5})
	v := view{reads: []read{
		{place: place{kind: ofAccount, addr: said}},
		{place: place{kind: ofAccount, addr: at(2)}},
		{place: place{kind: ofSlot, addr: at(3), key: key}},
		{place: place{kind: ofSize, addr: at(4)}},
		{place: place{kind: ofRange, addr: at(5)}},
		{place: place{kind: ofCodeAndMeta, addr: at(6)}},
		{place: place{kind: ofRoot, addr: at(7)}},
		{place: place{kind: ofSlot, addr: chain.AddrTokens, key: key}},
		{place: place{kind: ofAccount, addr: at(8)}},
	}}
	o := state.NewDeltaOverlay(state.Empty{})
	o.SetAccount(said, state.Account{Nonce: 1})
	o.SetAccount(at(8), state.Account{Nonce: 1})
	if err := o.ClearStorage(at(9)); err != nil {
		t.Fatal(err)
	}
	if fits, err := o.AddBalance(at(10), 5); err != nil || !fits {
		t.Fatal(fits, err)
	}
	o.SetStorage(at(11), key, []byte{1})
	o.SetStorage(chain.AddrTimers, key, []byte{1})

	f := footprint{touches: []touch{{resource{addr: said}, writes}}, declared: 1}
	s := observed{touches: []touch{{resource{addr: at(99)}, writes}}} // of an execution before
	f.observe(&s, &v, o)
	want := []touch{
		{resource{addr: at(2)}, reads},
		{resource{addr: at(3)}, reads},
		{resource{addr: at(4)}, reads},
		{resource{addr: at(5)}, reads},
		{resource{chain.AddrTokens, key}, reads},
		{resource{addr: at(8)}, writes},
		{resource{addr: at(9)}, writes},
		{resource{addr: at(10)}, credits},
		{resource{addr: at(11)}, writes},
		{resource{chain.AddrTimers, key}, writes},
	}
	if !slices.Equal(s.touches, want) {
		t.Errorf("touched %v,\nwant %v", s.touches, want)
	}
}
