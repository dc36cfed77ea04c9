package host

import (
	"encoding/binary"
	"math/big"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// ledger is a token of a [Recorder].
type ledger struct {
	Token
	held    map[chain.Address]*big.Int
	allowed map[[2]chain.Address]Amount
	frozen  map[chain.Address]bool
}

func (l *ledger) add(a chain.Address, n *big.Int) {
	if l.held[a] == nil {
		l.held[a] = new(big.Int)
	}
	l.held[a].Add(l.held[a], n)
}

func (l *ledger) move(from chain.Address, p Payment) error {
	if l.frozen[from] || l.frozen[p.To] {
		return &Refusal{Code: RefusedFrozen, Text: "the token account is frozen"}
	}
	n := p.Amount.Big()
	if l.held[from] == nil || l.held[from].Cmp(n) < 0 {
		return &Refusal{Code: RefusedFunds, Text: "the token balance is too small"}
	}
	l.add(from, new(big.Int).Neg(n))
	l.add(p.To, n)
	return nil
}

// token notes a call about a token and returns the token.
func (r *Recorder) token(name string, id TokenID, n Amount) (*ledger, error) {
	if err := r.recordCall(name, "", nil, n.Lo); err != nil {
		return nil, err
	}
	l := r.tokens[id]
	if l == nil {
		return nil, &Refusal{Code: RefusedTarget, Text: "no such token"}
	}
	return l, nil
}

func (r *Recorder) owned(name string, id TokenID, n Amount) (*ledger, error) {
	l, err := r.token(name, id, n)
	if err == nil && (l.Owner == nil || *l.Owner != r.Here.Self) {
		err = &Refusal{Code: RefusedPermission, Text: "only the token's owner may do this"}
	}
	return l, err
}

// CreateToken keeps a token.
func (r *Recorder) CreateToken(t Token) (TokenID, error) {
	if err := r.recordCall("CreateToken", t.Symbol, nil, t.Supply.Lo); err != nil {
		return TokenID{}, err
	}
	self := r.Here.Self
	nonce := binary.BigEndian.AppendUint64(nil, uint64(len(r.tokens)))
	id := TokenID(keccak.Sum256(self[:], []byte(t.Symbol), nonce))
	t.Owner = &self
	r.tokens[id] = &ledger{
		Token: t, held: map[chain.Address]*big.Int{self: t.Supply.Big()},
		allowed: map[[2]chain.Address]Amount{}, frozen: map[chain.Address]bool{},
	}
	return id, nil
}

// TransferToken moves what the actor has.
func (r *Recorder) TransferToken(id TokenID, p Payment) error {
	l, err := r.token("TransferToken", id, p.Amount)
	if err != nil {
		return err
	}
	return l.move(r.Here.Self, p)
}

// TransferTokens makes the payments up to the first that fails.
func (r *Recorder) TransferTokens(id TokenID, ps []Payment) error {
	l, err := r.token("TransferTokens", id, Amount{Lo: uint64(len(ps))})
	if err != nil {
		return err
	}
	for _, p := range ps {
		if err := l.move(r.Here.Self, p); err != nil {
			return err
		}
	}
	return nil
}

// TransferTokenFrom moves what owner has approved.
func (r *Recorder) TransferTokenFrom(id TokenID, owner chain.Address, p Payment) error {
	l, err := r.token("TransferTokenFrom", id, p.Amount)
	if err != nil {
		return err
	}
	key := [2]chain.Address{owner, r.Here.Self}
	left, ok := chain.AmountOf(new(big.Int).Sub(l.allowed[key].Big(), p.Amount.Big()))
	if !ok {
		return &Refusal{Code: RefusedAllowance, Text: "the allowance is too small"}
	}
	l.allowed[key] = left
	return l.move(owner, p)
}

// ApproveToken sets an allowance.
func (r *Recorder) ApproveToken(id TokenID, spender chain.Address, amount Amount) error {
	l, err := r.token("ApproveToken", id, amount)
	if err != nil {
		return err
	}
	l.allowed[[2]chain.Address{r.Here.Self, spender}] = amount
	return nil
}

// MintToken adds to the supply.
func (r *Recorder) MintToken(id TokenID, p Payment) error {
	l, err := r.owned("MintToken", id, p.Amount)
	if err != nil {
		return err
	}
	n := l.Supply.Big()
	supply, ok := chain.AmountOf(n.Add(n, p.Amount.Big()))
	if !ok || l.Max != nil && n.Cmp(l.Max.Big()) > 0 {
		return &Refusal{Code: RefusedLimit, Text: "the supply would pass its bound"}
	}
	l.Supply = supply
	l.add(p.To, p.Amount.Big())
	return nil
}

// BurnToken takes from the supply.
func (r *Recorder) BurnToken(id TokenID, amount Amount) error {
	l, err := r.token("BurnToken", id, amount)
	if err != nil {
		return err
	}
	if err := l.move(r.Here.Self, Payment{Amount: amount}); err != nil {
		return err
	}
	l.held[chain.Address{}] = nil
	l.Supply, _ = chain.AmountOf(new(big.Int).Sub(l.Supply.Big(), amount.Big()))
	return nil
}

// FreezeToken freezes or thaws an account.
func (r *Recorder) FreezeToken(id TokenID, holder chain.Address, frozen bool) error {
	l, err := r.owned("FreezeToken", id, Amount{})
	if err == nil {
		l.frozen[holder] = frozen
	}
	return err
}

// SetTokenOwner hands the token over.
func (r *Recorder) SetTokenOwner(id TokenID, owner *chain.Address) error {
	l, err := r.owned("SetTokenOwner", id, Amount{})
	if err == nil {
		l.Owner = owner
	}
	return err
}

// SetTokenHooks sets the hooks, which nothing calls.
func (r *Recorder) SetTokenHooks(id TokenID, hooks *chain.Address) error {
	l, err := r.owned("SetTokenHooks", id, Amount{})
	if err == nil {
		l.Hooks = hooks
	}
	return err
}

// TokenBalance reads a balance.
func (r *Recorder) TokenBalance(id TokenID, holder chain.Address) (Amount, error) {
	l, err := r.token("TokenBalance", id, Amount{})
	if err != nil || l.held[holder] == nil {
		return Amount{}, err
	}
	n, _ := chain.AmountOf(l.held[holder])
	return n, nil
}

// TokenAllowance reads an allowance.
func (r *Recorder) TokenAllowance(id TokenID, owner, spender chain.Address) (Amount, error) {
	l, err := r.token("TokenAllowance", id, Amount{})
	if err != nil {
		return Amount{}, err
	}
	return l.allowed[[2]chain.Address{owner, spender}], nil
}

// TokenFrozen tells whether an account is frozen.
func (r *Recorder) TokenFrozen(id TokenID, holder chain.Address) (bool, error) {
	l, err := r.token("TokenFrozen", id, Amount{})
	if err != nil {
		return false, err
	}
	return l.frozen[holder], nil
}

// Token returns the record.
func (r *Recorder) Token(id TokenID) (Token, error) {
	l, err := r.token("Token", id, Amount{})
	if err != nil {
		return Token{}, err
	}
	return l.Token, nil
}
