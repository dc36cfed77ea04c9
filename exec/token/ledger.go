package token

import (
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// The verdicts.
var (
	// ErrNoToken means an id that no token has.
	ErrNoToken = verdict.New(verdict.Missing, "no such token")
	// ErrBalance means more than the account holds.
	ErrBalance = verdict.New(verdict.TokenBalance, "the token balance is too small")
	// ErrAllowance means more than the owner has approved.
	ErrAllowance = verdict.New(verdict.Allowance, "the allowance is too small")
	// ErrFrozen means an account that neither sends nor receives.
	ErrFrozen = verdict.New(verdict.Frozen, "the token account is frozen")
	// ErrNotOwner means that the token is another's, or nobody's any more.
	ErrNotOwner = verdict.New(verdict.Forbidden, "only the token's owner may do this")
	// ErrSupply means a supply beyond the token's maximum, or beyond 128 bits.
	ErrSupply = verdict.New(verdict.Limit, "the supply would exceed its maximum")
	// ErrForm means a name, a symbol, decimals or a maximum that no token has.
	ErrForm = verdict.New(verdict.Argument, "a token has a name of 1 to 64 bytes, a symbol of 1 to 16, at most 38 decimals and no more than its maximum")
)

// Create makes a token of t's name, symbol, decimals, supply, maximum and hooks
// whose supply creator holds and which it owns. Errors: ErrForm.
func Create(o *state.Overlay, creator chain.Address, t *Token) (ID, error) {
	if !t.wellFormed() {
		return ID{}, ErrForm
	}
	nonce, err := Created(o, creator)
	if err != nil {
		return ID{}, err
	}
	count, err := Count(o)
	if err != nil {
		return ID{}, err
	}
	id := NewID(creator, t.Symbol, nonce)
	made := *t
	made.Creator, made.Owner, made.Number = creator, &creator, count+1
	writeCount(o, createdKey(creator), nonce+1)
	writeCount(o, countKey(), made.Number)
	o.SetStorage(chain.AddrTokens, numberKey(made.Number), id[:])
	write(o, id, &made)
	writeAmount(o, heldKey(id, creator), t.Supply)
	return id, nil
}

func (t *Token) wellFormed() bool {
	if len(t.Name) == 0 || len(t.Name) > MaxNameBytes || !utf8.ValidString(t.Name) ||
		len(t.Symbol) == 0 || len(t.Symbol) > MaxSymbolBytes || !utf8.ValidString(t.Symbol) || t.Decimals > MaxDecimals {
		return false
	}
	if t.Max == nil {
		return true
	}
	_, ok := t.Max.Sub(t.Supply)
	return ok
}

// find returns a token. Errors: ErrNoToken.
func find(o *state.Overlay, id ID) (*Token, error) {
	t, err := Read(o, id)
	if err == nil && t == nil {
		err = ErrNoToken
	}
	return t, err
}

// owned is find for who must own the token. Errors: also ErrNotOwner.
func owned(o *state.Overlay, id ID, by chain.Address) (*Token, error) {
	t, err := find(o, id)
	if err == nil && (t.Owner == nil || *t.Owner != by) {
		err = ErrNotOwner
	}
	return t, err
}

// Transfer moves amount. Errors: ErrNoToken, ErrFrozen, ErrBalance.
func Transfer(o *state.Overlay, id ID, from, to chain.Address, amount chain.Amount) error {
	if _, err := find(o, id); err != nil {
		return err
	}
	if err := thawed(o, id, from, to); err != nil {
		return err
	}
	return move(o, id, from, to, amount)
}

// TransferFrom moves owner's within what spender may. Errors: as Transfer, and
// ErrAllowance.
func TransferFrom(o *state.Overlay, id ID, spender, owner, to chain.Address, amount chain.Amount) error {
	if _, err := find(o, id); err != nil {
		return err
	}
	allowed, err := Allowance(o, id, owner, spender)
	if err != nil {
		return err
	}
	rest, ok := allowed.Sub(amount)
	if !ok {
		return ErrAllowance
	}
	if err := thawed(o, id, owner, to); err != nil {
		return err
	}
	if err := move(o, id, owner, to, amount); err != nil {
		return err
	}
	writeAmount(o, allowedKey(id, owner, spender), rest)
	return nil
}

// thawed refuses frozen accounts.
func thawed(o *state.Overlay, id ID, accounts ...chain.Address) error {
	// Bounded: by the two accounts of a transfer, or three with a spender.
	for _, a := range accounts {
		frozen, err := Frozen(o, id, a)
		if err != nil {
			return err
		}
		if frozen {
			return ErrFrozen
		}
	}
	return nil
}

// move changes two balances; their sum stays, so the receiver's has room.
func move(o *state.Overlay, id ID, from, to chain.Address, amount chain.Amount) error {
	held, err := Balance(o, id, from)
	if err != nil {
		return err
	}
	rest, ok := held.Sub(amount)
	if !ok {
		return ErrBalance
	}
	if from == to || amount == (chain.Amount{}) {
		return nil
	}
	got, err := Balance(o, id, to)
	if err != nil {
		return err
	}
	sum, ok := got.Add(amount)
	if !ok {
		return ErrRecord // balances beyond the supply
	}
	writeAmount(o, heldKey(id, from), rest)
	writeAmount(o, heldKey(id, to), sum)
	return nil
}

// Approve sets what spender may move of owner's; 0 takes it back. Errors:
// ErrNoToken.
func Approve(o *state.Overlay, id ID, owner, spender chain.Address, amount chain.Amount) error {
	if _, err := find(o, id); err != nil {
		return err
	}
	writeAmount(o, allowedKey(id, owner, spender), amount)
	return nil
}

// Mint makes more for to. Errors: ErrNoToken, ErrNotOwner, ErrFrozen, ErrSupply.
func Mint(o *state.Overlay, id ID, by, to chain.Address, amount chain.Amount) error {
	t, err := owned(o, id, by)
	if err != nil {
		return err
	}
	if err := thawed(o, id, to); err != nil {
		return err
	}
	supply, ok := t.Supply.Add(amount)
	if ok && t.Max != nil {
		_, ok = t.Max.Sub(supply)
	}
	if !ok {
		return ErrSupply
	}
	held, err := Balance(o, id, to)
	if err != nil {
		return err
	}
	if held, ok = held.Add(amount); !ok {
		return ErrRecord
	}
	t.Supply = supply
	write(o, id, t)
	writeAmount(o, heldKey(id, to), held)
	return nil
}

// Burn destroys some of holder's. Errors: ErrNoToken, ErrFrozen, ErrBalance.
func Burn(o *state.Overlay, id ID, holder chain.Address, amount chain.Amount) error {
	t, err := find(o, id)
	if err != nil {
		return err
	}
	if err := thawed(o, id, holder); err != nil {
		return err
	}
	held, err := Balance(o, id, holder)
	if err != nil {
		return err
	}
	rest, ok := held.Sub(amount)
	if !ok {
		return ErrBalance
	}
	if t.Supply, ok = t.Supply.Sub(amount); !ok {
		return ErrRecord
	}
	write(o, id, t)
	writeAmount(o, heldKey(id, holder), rest)
	return nil
}

// Freeze freezes or thaws an account. Errors: ErrNoToken, ErrNotOwner.
func Freeze(o *state.Overlay, id ID, by, holder chain.Address, frozen bool) error {
	if _, err := owned(o, id, by); err != nil {
		return err
	}
	var mark []byte
	if frozen {
		mark = []byte{1}
	}
	o.SetStorage(chain.AddrTokens, frozenKey(id, holder), mark)
	return nil
}

// SetOwner hands a token over; nil gives it up. Errors: ErrNoToken, ErrNotOwner.
func SetOwner(o *state.Overlay, id ID, by chain.Address, owner *chain.Address) error {
	t, err := owned(o, id, by)
	if err != nil {
		return err
	}
	t.Owner = owner
	write(o, id, t)
	return nil
}

// SetHooks sets who is asked about transfers; nil is nobody. Errors: ErrNoToken,
// ErrNotOwner.
func SetHooks(o *state.Overlay, id ID, by chain.Address, hooks *chain.Address) error {
	t, err := owned(o, id, by)
	if err != nil {
		return err
	}
	t.Hooks = hooks
	write(o, id, t)
	return nil
}
