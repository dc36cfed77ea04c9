package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// tokens runs an operation of the actor's.
func (f *frame) tokens(do func(c *token.Call) error) error {
	return f.serve(func(c *service.Call) error { return do(&token.Call{Call: c}) })
}

// CreateToken implements host.Tokens.
func (f *frame) CreateToken(t host.Token) (id host.TokenID, err error) {
	if err := checkText(t.Name, t.Symbol); err != nil {
		return host.TokenID{}, err
	}
	err = f.tokens(func(c *token.Call) error {
		made, err := c.Create(&token.Token{Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals, Supply: t.Supply, Max: t.Max, Hooks: t.Hooks})
		id = host.TokenID(made)
		return err
	})
	return id, err
}

// TransferToken implements host.Tokens.
func (f *frame) TransferToken(id host.TokenID, p host.Payment) error {
	return f.tokens(func(c *token.Call) error { return c.Transfer(token.ID(id), p.To, p.Amount) })
}

// TransferTokens implements host.Tokens.
func (f *frame) TransferTokens(id host.TokenID, ps []host.Payment) error {
	list := make([]token.Payment, len(ps))
	// Paid: by token_transfer_each, in sdk; 256 at most.
	for i, p := range ps {
		list[i] = token.Payment(p)
	}
	return f.tokens(func(c *token.Call) error { return c.TransferMany(token.ID(id), list) })
}

// TransferTokenFrom implements host.Tokens.
func (f *frame) TransferTokenFrom(id host.TokenID, owner chain.Address, p host.Payment) error {
	return f.tokens(func(c *token.Call) error { return c.TransferFrom(token.ID(id), owner, p.To, p.Amount) })
}

// ApproveToken implements host.Tokens.
func (f *frame) ApproveToken(id host.TokenID, spender chain.Address, amount host.Amount) error {
	return f.tokens(func(c *token.Call) error { return c.Approve(token.ID(id), spender, amount) })
}

// MintToken implements host.Tokens.
func (f *frame) MintToken(id host.TokenID, p host.Payment) error {
	return f.tokens(func(c *token.Call) error { return c.Mint(token.ID(id), p.To, p.Amount) })
}

// BurnToken implements host.Tokens.
func (f *frame) BurnToken(id host.TokenID, amount host.Amount) error {
	return f.tokens(func(c *token.Call) error { return c.Burn(token.ID(id), amount) })
}

// FreezeToken implements host.Tokens.
func (f *frame) FreezeToken(id host.TokenID, holder chain.Address, frozen bool) error {
	return f.tokens(func(c *token.Call) error { return c.Freeze(token.ID(id), holder, frozen) })
}

// SetTokenOwner implements host.Tokens.
func (f *frame) SetTokenOwner(id host.TokenID, owner *chain.Address) error {
	return f.tokens(func(c *token.Call) error { return c.SetOwner(token.ID(id), owner) })
}

// SetTokenHooks implements host.Tokens.
func (f *frame) SetTokenHooks(id host.TokenID, hooks *chain.Address) error {
	return f.tokens(func(c *token.Call) error { return c.SetHooks(token.ID(id), hooks) })
}

// token reads a token that must exist.
func (f *frame) token(id host.TokenID) (*token.Token, error) {
	t, err := token.Read(f.run.state, token.ID(id))
	if err == nil && t == nil {
		err = refusal(token.ErrNoToken)
	}
	return t, err
}

// TokenBalance implements host.Tokens.
func (f *frame) TokenBalance(id host.TokenID, holder chain.Address) (host.Amount, error) {
	if _, err := f.token(id); err != nil {
		return host.Amount{}, err
	}
	return token.Balance(f.run.state, token.ID(id), holder)
}

// TokenAllowance implements host.Tokens.
func (f *frame) TokenAllowance(id host.TokenID, owner, spender chain.Address) (host.Amount, error) {
	if _, err := f.token(id); err != nil {
		return host.Amount{}, err
	}
	return token.Allowance(f.run.state, token.ID(id), owner, spender)
}

// TokenFrozen implements host.Tokens.
func (f *frame) TokenFrozen(id host.TokenID, holder chain.Address) (bool, error) {
	if _, err := f.token(id); err != nil {
		return false, err
	}
	return token.Frozen(f.run.state, token.ID(id), holder)
}

// Token implements host.Tokens.
func (f *frame) Token(id host.TokenID) (host.Token, error) {
	t, err := f.token(id)
	if err != nil {
		return host.Token{}, err
	}
	return host.Token{
		Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals, Supply: t.Supply, Max: t.Max, Owner: t.Owner, Hooks: t.Hooks,
	}, nil
}
