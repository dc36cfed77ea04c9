package token

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Names of the events of tokens, which [chain.AddrTokens] emits. Their data is an
// array that begins with the token's id; an amount is written as
// [chain.AppendAmount] writes it.
const (
	EventCreate    = "token_create"    // id, creator, name, symbol, decimals, supply, maximum or null, hooks or null
	EventTransfer  = "token_transfer"  // id, from, to, amount
	EventApprove   = "token_approve"   // id, owner, spender, amount
	EventMint      = "token_mint"      // id, to, amount
	EventBurn      = "token_burn"      // id, holder, amount
	EventFreeze    = "token_freeze"    // id, holder
	EventUnfreeze  = "token_unfreeze"  // id, holder
	EventOwnership = "token_ownership" // id, owner or null
	EventHooks     = "token_hooks"     // id, hooks or null
)

// Call is an operation on tokens by an account: an instruction, or the host call of a
// handler. Its methods charge cells; their cycles are charged by who begins the call. A
// method that fails leaves nothing behind but the charge of the hooks that have run.
type Call struct {
	*service.Call
	spare uint64 // cells of the operation's price that its events have not used up
}

// do makes an operation all or nothing.
func (c *Call) do(cells chain.Cells, fn func() error) error {
	if err := c.Run.TakeCells(uint64(cells)); err != nil {
		return err
	}
	c.spare = uint64(cells)
	return c.Run.Whole(fn)
}

// emit adds an event. The price of the operation pays for it, and where that is less
// than the bytes of the event cost, the rest is charged: an approval of nothing keeps
// 130 bytes of receipt and no row.
func (c *Call) emit(name string, data []byte) error {
	if c.Run.Events() >= chain.MaxEvents {
		return verdict.New(verdict.Limit, "the transaction emits no more events")
	}
	price := c.Params.API.OfEvent(len(name), len(data))
	paid := min(price, c.spare)
	if err := c.Run.TakeCells(price - paid); err != nil {
		return err
	}
	c.spare -= paid
	c.Run.Emit(chain.Event{Emitter: chain.AddrTokens, Name: name, Data: data})
	return nil
}

// record begins the data of an event with n elements after the id.
func record(n int, id ID) []byte {
	return cbor.AppendBytes(cbor.AppendArray(make([]byte, 0, 112), 1+n), id[:])
}

// Create makes a
func (c *Call) Create(t *Token) (id ID, err error) {
	costs := &c.Params.Token
	cells := uint64(costs.CreateCells) + uint64(len(t.Name)+len(t.Symbol))
	err = c.do(chain.Cells(cells), func() error {
		if id, err = Create(c.State, c.By, t); err != nil {
			return err
		}
		data := cbor.AppendBytes(record(7, id), c.By[:])
		data = cbor.AppendText(cbor.AppendText(data, t.Name), t.Symbol)
		data = chain.AppendAmount(cbor.AppendUint(data, uint64(t.Decimals)), t.Supply)
		return c.emit(EventCreate, AppendAddress(AppendMax(data, t.Max), t.Hooks))
	})
	return id, err
}

// Transfer moves the caller's.
func (c *Call) Transfer(id ID, to chain.Address, amount chain.Amount) error {
	return c.do(c.Params.Token.TransferCells, func() error { return c.transfer(id, to, amount) })
}

// Payment is one of several transfers.
type Payment struct {
	To     chain.Address
	Amount chain.Amount
}

// TransferMany makes all payments, at least one, or none.
func (c *Call) TransferMany(id ID, ps []Payment) error {
	if len(ps) == 0 || len(ps) > MaxPayments {
		return verdict.New(verdict.Argument, "several transfers are 1 to 256")
	}
	cells := chain.Cells(len(ps)) * c.Params.Token.TransferCells
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

func (c *Call) transfer(id ID, to chain.Address, amount chain.Amount) error {
	return c.asked(id, transferOf{c.By, to, amount}, func() error {
		return Transfer(c.State, id, c.By, to, amount)
	})
}

// TransferFrom moves owner's within what the caller may.
func (c *Call) TransferFrom(id ID, owner, to chain.Address, amount chain.Amount) error {
	return c.do(c.Params.Token.TransferFromCells, func() error {
		return c.asked(id, transferOf{owner, to, amount}, func() error {
			return TransferFrom(c.State, id, c.By, owner, to, amount)
		})
	})
}

// Approve sets what spender may move of the caller's.
func (c *Call) Approve(id ID, spender chain.Address, amount chain.Amount) error {
	return c.do(c.Params.Token.ApproveCells, func() error {
		if err := Approve(c.State, id, c.By, spender, amount); err != nil {
			return err
		}
		data := cbor.AppendBytes(cbor.AppendBytes(record(3, id), c.By[:]), spender[:])
		return c.emit(EventApprove, chain.AppendAmount(data, amount))
	})
}

// Mint makes more for to.
func (c *Call) Mint(id ID, to chain.Address, amount chain.Amount) error {
	return c.do(c.Params.Token.MintCells, func() error {
		if err := Mint(c.State, id, c.By, to, amount); err != nil {
			return err
		}
		return c.emit(EventMint, chain.AppendAmount(cbor.AppendBytes(record(2, id), to[:]), amount))
	})
}

// Burn destroys some of the caller's.
func (c *Call) Burn(id ID, amount chain.Amount) error {
	return c.do(c.Params.Token.BurnCells, func() error {
		if err := Burn(c.State, id, c.By, amount); err != nil {
			return err
		}
		return c.emit(EventBurn, chain.AppendAmount(cbor.AppendBytes(record(2, id), c.By[:]), amount))
	})
}

// Freeze freezes or thaws an account.
func (c *Call) Freeze(id ID, holder chain.Address, frozen bool) error {
	name := EventUnfreeze
	if frozen {
		name = EventFreeze
	}
	return c.do(c.Params.Token.AdminCells, func() error {
		if err := Freeze(c.State, id, c.By, holder, frozen); err != nil {
			return err
		}
		return c.emit(name, cbor.AppendBytes(record(1, id), holder[:]))
	})
}

// SetOwner hands the token over; nil gives it up.
func (c *Call) SetOwner(id ID, owner *chain.Address) error {
	return c.do(c.Params.Token.AdminCells, func() error {
		if err := SetOwner(c.State, id, c.By, owner); err != nil {
			return err
		}
		return c.emit(EventOwnership, AppendAddress(record(1, id), owner))
	})
}

// SetHooks sets who is asked about transfers; nil is nobody.
func (c *Call) SetHooks(id ID, hooks *chain.Address) error {
	return c.do(c.Params.Token.AdminCells, func() error {
		if err := SetHooks(c.State, id, c.By, hooks); err != nil {
			return err
		}
		return c.emit(EventHooks, AppendAddress(record(1, id), hooks))
	})
}
