package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// Names of the events of tokens, which [chain.AddrTokens] emits. Their data is an
// array that begins with the token's id; an amount is written as
// [chain.AppendAmount] writes it.
const (
	EventTokenCreate    = "token_create"    // id, creator, name, symbol, decimals, supply, maximum or null, hooks or null
	EventTokenTransfer  = "token_transfer"  // id, from, to, amount
	EventTokenApprove   = "token_approve"   // id, owner, spender, amount
	EventTokenMint      = "token_mint"      // id, to, amount
	EventTokenBurn      = "token_burn"      // id, holder, amount
	EventTokenFreeze    = "token_freeze"    // id, holder
	EventTokenUnfreeze  = "token_unfreeze"  // id, holder
	EventTokenOwnership = "token_ownership" // id, owner or null
	EventTokenHooks     = "token_hooks"     // id, hooks or null
)

// TokenCall is an operation on tokens by an account: a transaction, or the host
// call of a handler. Its methods charge cells; their cycles are charged by who
// begins the call. A method that fails leaves nothing behind but the charge of
// the hooks that have run. Its error is a [*host.Refusal], a [*Trap] or a fault.
type TokenCall struct {
	run    *Run
	by     chain.Address
	depth  uint64       // of the hooks' handlers
	parent uint64       // of what they send
	left   chain.Cycles // that hooks may use
	used   chain.Cycles // that they have used, with what their messages reserve
	spare  uint64       // cells of the operation's price that its events have not used up
}

// do makes an operation all or nothing.
func (c *TokenCall) do(cells chain.Cells, fn func() error) error {
	if err := c.run.takeCells(uint64(cells)); err != nil {
		return err
	}
	m := c.run.mark()
	c.spare = uint64(cells)
	err := refuseToken(fn())
	if err == nil {
		return nil
	}
	back := c.run.undo(m)
	c.used -= back
	c.left += back
	return err
}

// refuseToken turns the verdicts of package token into refusals.
func refuseToken(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, token.ErrNoToken):
		return &host.Refusal{Code: host.RefusedTarget, Text: err.Error()}
	case errors.Is(err, token.ErrBalance):
		return &host.Refusal{Code: host.RefusedFunds, Text: err.Error()}
	case errors.Is(err, token.ErrAllowance):
		return &host.Refusal{Code: host.RefusedAllowance, Text: err.Error()}
	case errors.Is(err, token.ErrFrozen):
		return &host.Refusal{Code: host.RefusedFrozen, Text: err.Error()}
	case errors.Is(err, token.ErrNotOwner):
		return &host.Refusal{Code: host.RefusedPermission, Text: err.Error()}
	case errors.Is(err, token.ErrSupply):
		return &host.Refusal{Code: host.RefusedLimit, Text: err.Error()}
	case errors.Is(err, token.ErrForm):
		return &host.Refusal{Code: host.RefusedArgument, Text: err.Error()}
	}
	return err
}

// emit adds an event. The price of the operation pays for it, and where that is less
// than the bytes of the event cost, the rest is charged: an approval of nothing keeps
// 130 bytes of receipt and no row.
func (c *TokenCall) emit(name string, data []byte) error {
	if len(c.run.events) >= chain.MaxEvents {
		return &host.Refusal{Code: host.RefusedLimit, Text: "the transaction emits no more events"}
	}
	price := c.run.block.Params.API.OfEvent(len(name), len(data))
	paid := min(price, c.spare)
	if err := c.run.takeCells(price - paid); err != nil {
		return err
	}
	c.spare -= paid
	c.run.events = append(c.run.events, chain.Event{Emitter: chain.AddrTokens, Name: name, Data: data})
	return nil
}

// record begins the data of an event with n elements after the id.
func record(n int, id token.ID) []byte {
	return cbor.AppendBytes(cbor.AppendArray(make([]byte, 0, 112), 1+n), id[:])
}

// Create makes a token.
func (c *TokenCall) Create(t *token.Token) (id token.ID, err error) {
	costs := &c.run.block.Params.Token
	cells := uint64(costs.CreateCells) + uint64(len(t.Name)+len(t.Symbol))
	err = c.do(chain.Cells(cells), func() error {
		if id, err = token.Create(c.run.state, c.by, t); err != nil {
			return err
		}
		data := cbor.AppendBytes(record(7, id), c.by[:])
		data = cbor.AppendText(cbor.AppendText(data, t.Name), t.Symbol)
		data = chain.AppendAmount(cbor.AppendUint(data, uint64(t.Decimals)), t.Supply)
		return c.emit(EventTokenCreate, token.AppendAddress(token.AppendMax(data, t.Max), t.Hooks))
	})
	return id, err
}

// Transfer moves the caller's.
func (c *TokenCall) Transfer(id token.ID, to chain.Address, amount chain.Amount) error {
	return c.do(c.run.block.Params.Token.TransferCells, func() error { return c.transfer(id, to, amount) })
}

// TransferMany makes all payments, at least one, or none.
func (c *TokenCall) TransferMany(id token.ID, ps []host.Payment) error {
	if len(ps) == 0 || len(ps) > token.MaxPayments {
		return &host.Refusal{Code: host.RefusedArgument, Text: "several transfers are 1 to 256"}
	}
	cells := chain.Cells(len(ps)) * c.run.block.Params.Token.TransferCells
	return c.do(cells, func() error {
		// Paid: by token_transfer_each, in sdk or the instruction; 256 at most.
		for _, p := range ps {
			if err := c.transfer(id, p.To, p.Amount); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *TokenCall) transfer(id token.ID, to chain.Address, amount chain.Amount) error {
	return c.asked(id, transferOf{c.by, to, amount}, func() error {
		return token.Transfer(c.run.state, id, c.by, to, amount)
	})
}

// TransferFrom moves owner's within what the caller may.
func (c *TokenCall) TransferFrom(id token.ID, owner, to chain.Address, amount chain.Amount) error {
	return c.do(c.run.block.Params.Token.TransferFromCells, func() error {
		return c.asked(id, transferOf{owner, to, amount}, func() error {
			return token.TransferFrom(c.run.state, id, c.by, owner, to, amount)
		})
	})
}

// Approve sets what spender may move of the caller's.
func (c *TokenCall) Approve(id token.ID, spender chain.Address, amount chain.Amount) error {
	return c.do(c.run.block.Params.Token.ApproveCells, func() error {
		if err := token.Approve(c.run.state, id, c.by, spender, amount); err != nil {
			return err
		}
		data := cbor.AppendBytes(cbor.AppendBytes(record(3, id), c.by[:]), spender[:])
		return c.emit(EventTokenApprove, chain.AppendAmount(data, amount))
	})
}

// Mint makes more for to.
func (c *TokenCall) Mint(id token.ID, to chain.Address, amount chain.Amount) error {
	return c.do(c.run.block.Params.Token.MintCells, func() error {
		if err := token.Mint(c.run.state, id, c.by, to, amount); err != nil {
			return err
		}
		return c.emit(EventTokenMint, chain.AppendAmount(cbor.AppendBytes(record(2, id), to[:]), amount))
	})
}

// Burn destroys some of the caller's.
func (c *TokenCall) Burn(id token.ID, amount chain.Amount) error {
	return c.do(c.run.block.Params.Token.BurnCells, func() error {
		if err := token.Burn(c.run.state, id, c.by, amount); err != nil {
			return err
		}
		return c.emit(EventTokenBurn, chain.AppendAmount(cbor.AppendBytes(record(2, id), c.by[:]), amount))
	})
}

// Freeze freezes or thaws an account.
func (c *TokenCall) Freeze(id token.ID, holder chain.Address, frozen bool) error {
	name := EventTokenUnfreeze
	if frozen {
		name = EventTokenFreeze
	}
	return c.do(c.run.block.Params.Token.AdminCells, func() error {
		if err := token.Freeze(c.run.state, id, c.by, holder, frozen); err != nil {
			return err
		}
		return c.emit(name, cbor.AppendBytes(record(1, id), holder[:]))
	})
}

// SetOwner hands the token over; nil gives it up.
func (c *TokenCall) SetOwner(id token.ID, owner *chain.Address) error {
	return c.do(c.run.block.Params.Token.AdminCells, func() error {
		if err := token.SetOwner(c.run.state, id, c.by, owner); err != nil {
			return err
		}
		return c.emit(EventTokenOwnership, token.AppendAddress(record(1, id), owner))
	})
}

// SetHooks sets who is asked about transfers; nil is nobody.
func (c *TokenCall) SetHooks(id token.ID, hooks *chain.Address) error {
	return c.do(c.run.block.Params.Token.AdminCells, func() error {
		if err := token.SetHooks(c.run.state, id, c.by, hooks); err != nil {
			return err
		}
		return c.emit(EventTokenHooks, token.AppendAddress(record(1, id), hooks))
	})
}
