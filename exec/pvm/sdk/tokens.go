package sdk

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Bounds of tokens (CIP-20).
const (
	tokenName     = 64
	tokenSymbol   = 16
	tokenDecimals = 38
	tokenPayments = 256
)

func tokenDefs() []vm.Def {
	return []vm.Def{
		native("token_create", 2, "name symbol decimals supply max_supply hook", tokenCreate),
		native("token_transfer", 3, "token to amount", tokenTransfer),
		native("token_transfer_batch", 2, "token payments", tokenTransferBatch),
		native("token_transfer_from", 4, "token owner to amount", tokenTransferFrom),
		native("token_approve", 3, "token spender amount", tokenApprove),
		native("token_mint", 3, "token to amount", tokenMint),
		native("token_burn", 2, "token amount", tokenBurn),
		native("token_freeze", 2, "token holder", tokenFreeze(true)),
		native("token_unfreeze", 2, "token holder", tokenFreeze(false)),
		native("token_transfer_ownership", 2, "token to", tokenAdmin(host.Host.SetTokenOwner)),
		native("token_set_hook", 2, "token hook", tokenAdmin(host.Host.SetTokenHooks)),
		native("token_balance_of", 1, "token holder", tokenBalance),
		native("token_allowance", 3, "token owner spender", tokenAllowance),
		native("token_is_frozen", 2, "token holder", tokenFrozen),
		native("token_info", 1, "token", tokenInfo),
	}
}

// token returns argument 0 after the charge of the operation.
func (c call) token(price code.Cycles) (host.TokenID, error) {
	id, err := c.id(0)
	if err == nil {
		c.m.Charge(price)
	}
	return host.TokenID(id), err
}

// amount returns argument i, an int of 0 to 2**128-1.
func (c call) amount(i int) (host.Amount, error) {
	v := c.arg(i)
	n, ok := v.BigInt()
	if !ok || v.Kind() == vm.KindBool {
		return host.Amount{}, c.m.TypeError("amount must be int, not %s", c.m.TypeName(v))
	}
	a, ok := chain.AmountOf(n)
	if !ok {
		return host.Amount{}, c.m.ValueError("amount must be between 0 and 2**128-1")
	}
	return a, nil
}

func (c call) amountValue(a host.Amount) vm.Value { return c.m.NewInt(a.Big()) }

// payment returns arguments i and i+1, receiver and amount.
func (c call) payment(i int) (host.Payment, error) {
	to, err := c.address(i)
	if err != nil {
		return host.Payment{}, err
	}
	n, err := c.amount(i + 1)
	return host.Payment{To: to, Amount: n}, err
}

// addressOrNone returns argument i, nil for None.
func (c call) addressOrNone(i int) (*chain.Address, error) {
	if c.arg(i).IsNone() {
		return nil, nil
	}
	a, err := c.address(i)
	return &a, err
}

func tokenCreate(c call) (vm.Value, error) {
	var t host.Token
	var err error
	if t.Name, err = c.text(0, tokenName, "name"); err != nil {
		return vm.None, err
	}
	if t.Symbol, err = c.text(1, tokenSymbol, "symbol"); err != nil {
		return vm.None, err
	}
	decimals := uint64(18)
	if !c.arg(2).IsNone() {
		if decimals, err = c.unsigned(2, "decimals"); err != nil {
			return vm.None, err
		}
	}
	if decimals > tokenDecimals {
		return vm.None, c.m.ValueError("decimals must be at most %d", tokenDecimals)
	}
	t.Decimals = uint8(decimals)
	if !c.arg(3).IsNone() {
		if t.Supply, err = c.amount(3); err != nil {
			return vm.None, err
		}
	}
	if !c.arg(4).IsNone() {
		n, err := c.amount(4)
		if err != nil {
			return vm.None, err
		}
		if n.Big().Cmp(t.Supply.Big()) < 0 {
			return vm.None, c.m.ValueError("supply is above max_supply")
		}
		t.Max = &n
	}
	if t.Hooks, err = c.addressOrNone(5); err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.TokenCreate)
	id, err := c.s.host.CreateToken(t)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

func tokenTransfer(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenTransfer)
	if err != nil {
		return vm.None, err
	}
	p, err := c.payment(1)
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.TransferToken(id, p))
}

// tokenTransferBatch takes a list of pairs of receiver and amount.
func tokenTransferBatch(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenMany)
	if err != nil {
		return vm.None, err
	}
	items, ok := c.arg(1).Items()
	if !ok || len(items) == 0 || len(items) > tokenPayments {
		return vm.None, c.m.ValueError("payments must be a list or tuple of 1 to %d", tokenPayments)
	}
	c.m.ChargeEach(len(items), c.s.costs.TokenEach)
	ps := make([]host.Payment, 0, len(items))
	for _, item := range items {
		pair, ok := item.Items()
		if !ok || len(pair) != 2 {
			return vm.None, c.m.ValueError("a payment is a pair of address and amount")
		}
		p, err := call{m: c.m, s: c.s, a: vm.Args{Values: pair}}.payment(0)
		if err != nil {
			return vm.None, err
		}
		ps = append(ps, p)
	}
	return vm.None, c.done(c.s.host.TransferTokens(id, ps))
}

func tokenTransferFrom(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenFrom)
	if err != nil {
		return vm.None, err
	}
	owner, err := c.address(1)
	if err != nil {
		return vm.None, err
	}
	p, err := c.payment(2)
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.TransferTokenFrom(id, owner, p))
}

func tokenApprove(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenApprove)
	if err != nil {
		return vm.None, err
	}
	p, err := c.payment(1)
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.ApproveToken(id, p.To, p.Amount))
}

func tokenMint(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenMint)
	if err != nil {
		return vm.None, err
	}
	p, err := c.payment(1)
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.MintToken(id, p))
}

func tokenBurn(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenBurn)
	if err != nil {
		return vm.None, err
	}
	n, err := c.amount(1)
	if err != nil {
		return vm.None, err
	}
	return vm.None, c.done(c.s.host.BurnToken(id, n))
}

func tokenFreeze(frozen bool) func(c call) (vm.Value, error) {
	return func(c call) (vm.Value, error) {
		id, err := c.token(c.s.costs.TokenAdmin)
		if err != nil {
			return vm.None, err
		}
		a, err := c.address(1)
		if err != nil {
			return vm.None, err
		}
		return vm.None, c.done(c.s.host.FreezeToken(id, a, frozen))
	}
}

// tokenAdmin sets an address of the record; None removes it.
func tokenAdmin(set func(h host.Host, id host.TokenID, a *chain.Address) error) func(c call) (vm.Value, error) {
	return func(c call) (vm.Value, error) {
		id, err := c.token(c.s.costs.TokenAdmin)
		if err != nil {
			return vm.None, err
		}
		a, err := c.addressOrNone(1)
		if err != nil {
			return vm.None, err
		}
		return vm.None, c.done(set(c.s.host, id, a))
	}
}

func tokenBalance(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenBalance)
	if err != nil {
		return vm.None, err
	}
	a, err := c.addressOrSelf(1)
	if err != nil {
		return vm.None, err
	}
	n, err := c.s.host.TokenBalance(id, a)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.amountValue(n), nil
}

func tokenAllowance(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenBalance)
	if err != nil {
		return vm.None, err
	}
	owner, err := c.address(1)
	if err != nil {
		return vm.None, err
	}
	spender, err := c.address(2)
	if err != nil {
		return vm.None, err
	}
	n, err := c.s.host.TokenAllowance(id, owner, spender)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.amountValue(n), nil
}

func tokenFrozen(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenBalance)
	if err != nil {
		return vm.None, err
	}
	a, err := c.address(1)
	if err != nil {
		return vm.None, err
	}
	return c.truth(c.s.host.TokenFrozen(id, a))
}

func tokenInfo(c call) (vm.Value, error) {
	id, err := c.token(c.s.costs.TokenInfo)
	if err != nil {
		return vm.None, err
	}
	t, err := c.s.host.Token(id)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	bound := vm.None
	if t.Max != nil {
		bound = c.amountValue(*t.Max)
	}
	return c.makeDict([]field{
		{"name", c.m.NewStr(t.Name)},
		{"symbol", c.m.NewStr(t.Symbol)},
		{"decimals", vm.SmallInt(int64(t.Decimals))},
		{"total_supply", c.amountValue(t.Supply)},
		{"max_supply", bound},
		{"owner", c.addressValue(t.Owner)},
		{"hook", c.addressValue(t.Hooks)},
	})
}

// addressValue is an address as text, None for nil.
func (c call) addressValue(a *chain.Address) vm.Value {
	if a == nil {
		return vm.None
	}
	return c.hexText(a[:])
}
