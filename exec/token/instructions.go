package token

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// args are the arguments of an instruction, those that it has.
type args struct {
	made     Token
	id       ID
	a, b     chain.Address
	maybe    *chain.Address
	amount   chain.Amount
	payments []Payment
}

// Instructions returns those at [chain.AddrTokens] (CIP-20; resolution 11.46), with what
// each costs besides what is intrinsic (whitepaper §17.3; CIP-20).
func Instructions() service.Table {
	return service.Table{Address: chain.AddrTokens, Instructions: []service.Instruction{
		row(chain.OpTokenCreate, readCreate,
			func(p *params.TokenCosts, _ *args) chain.Cycles { return p.CreateCycles },
			func(c *Call, a *args) ([]byte, error) {
				id, err := c.Create(&a.made)
				return cbor.AppendBytes(nil, id[:]), err
			}),
		row(chain.OpTokenTransfer, readTo,
			func(p *params.TokenCosts, _ *args) chain.Cycles { return p.TransferCycles },
			func(c *Call, a *args) ([]byte, error) { return nil, c.Transfer(a.id, a.a, a.amount) }),
		row(chain.OpTokenTransferFrom, readFromTo,
			func(p *params.TokenCosts, _ *args) chain.Cycles { return p.TransferFromCycles },
			func(c *Call, a *args) ([]byte, error) { return nil, c.TransferFrom(a.id, a.a, a.b, a.amount) }),
		row(chain.OpTokenApprove, readTo,
			func(p *params.TokenCosts, _ *args) chain.Cycles { return p.ApproveCycles },
			func(c *Call, a *args) ([]byte, error) { return nil, c.Approve(a.id, a.a, a.amount) }),
		row(chain.OpTokenMint, readTo,
			func(p *params.TokenCosts, _ *args) chain.Cycles { return p.MintCycles },
			func(c *Call, a *args) ([]byte, error) { return nil, c.Mint(a.id, a.a, a.amount) }),
		row(chain.OpTokenBurn, readAmountOf,
			func(p *params.TokenCosts, _ *args) chain.Cycles { return p.BurnCycles },
			func(c *Call, a *args) ([]byte, error) { return nil, c.Burn(a.id, a.amount) }),
		row(chain.OpTokenFreeze, readHolder, admin,
			func(c *Call, a *args) ([]byte, error) { return nil, c.Freeze(a.id, a.a, true) }),
		row(chain.OpTokenUnfreeze, readHolder, admin,
			func(c *Call, a *args) ([]byte, error) { return nil, c.Freeze(a.id, a.a, false) }),
		row(chain.OpTokenOwner, readMaybe, admin,
			func(c *Call, a *args) ([]byte, error) { return nil, c.SetOwner(a.id, a.maybe) }),
		row(chain.OpTokenHooks, readMaybe, admin,
			func(c *Call, a *args) ([]byte, error) { return nil, c.SetHooks(a.id, a.maybe) }),
		row(chain.OpTokenBatch, readBatch,
			func(p *params.TokenCosts, a *args) chain.Cycles {
				return p.BatchCycles + chain.Cycles(len(a.payments))*p.BatchEachCycles
			},
			func(c *Call, a *args) ([]byte, error) { return nil, c.TransferMany(a.id, a.payments) }),
	}}
}

func admin(p *params.TokenCosts, _ *args) chain.Cycles { return p.AdminCycles }

// row makes a row of the table out of what is its own.
func row(opcode uint64, read func(*cbor.Reader, *args) error, price func(*params.TokenCosts, *args) chain.Cycles, run func(*Call, *args) ([]byte, error)) service.Instruction {
	return service.Instruction{
		Opcode: opcode,
		Read: func(r *cbor.Reader) (service.Args, error) {
			a := new(args)
			return a, read(r, a)
		},
		Price: func(p *params.Params, a service.Args) chain.Usage {
			return chain.Usage{Cycles: price(&p.Token, a.(*args))}
		},
		Run: func(c *service.Call, a service.Args) ([]byte, error) { return run(&Call{Call: c}, a.(*args)) },
	}
}

// readCreate reads [name, symbol, decimals, initial supply, maximum or null, hooks or null].
func readCreate(r *cbor.Reader, a *args) (err error) {
	t := &a.made
	if t.Name, err = r.Text(MaxNameBytes); err != nil {
		return err
	}
	if t.Symbol, err = r.Text(MaxSymbolBytes); err != nil {
		return err
	}
	decimals, err := r.Uint()
	if err != nil {
		return err
	}
	t.Decimals = uint8(min(decimals, MaxDecimals+1))
	if t.Supply, err = chain.ReadAmount(r); err != nil {
		return err
	}
	if t.Max, err = ReadMax(r); err != nil {
		return err
	}
	t.Hooks, err = ReadAddress(r)
	return err
}

func readHolder(r *cbor.Reader, a *args) error {
	if err := r.BytesInto(a.id[:]); err != nil {
		return err
	}
	return r.BytesInto(a.a[:])
}

func readTo(r *cbor.Reader, a *args) (err error) {
	if err = readHolder(r, a); err == nil {
		a.amount, err = chain.ReadAmount(r)
	}
	return err
}

func readFromTo(r *cbor.Reader, a *args) (err error) {
	if err = readHolder(r, a); err == nil {
		err = r.BytesInto(a.b[:])
	}
	if err == nil {
		a.amount, err = chain.ReadAmount(r)
	}
	return err
}

func readAmountOf(r *cbor.Reader, a *args) (err error) {
	if err = r.BytesInto(a.id[:]); err == nil {
		a.amount, err = chain.ReadAmount(r)
	}
	return err
}

func readMaybe(r *cbor.Reader, a *args) (err error) {
	if err = r.BytesInto(a.id[:]); err == nil {
		a.maybe, err = ReadAddress(r)
	}
	return err
}

func readBatch(r *cbor.Reader, a *args) (err error) {
	if err = r.BytesInto(a.id[:]); err == nil {
		a.payments, err = readPayments(r)
	}
	return err
}

// readPayments reads a list of pairs of receiver and amount.
func readPayments(r *cbor.Reader) ([]Payment, error) {
	n, err := r.Array(MaxPayments)
	if err != nil {
		return nil, err
	}
	out := make([]Payment, n)
	// Bounded: by MaxPayments, 256; the bytes of the transaction pay.
	for i := range out {
		if err = r.ArrayOf(2); err != nil {
			return nil, err
		}
		if err = r.BytesInto(out[i].To[:]); err != nil {
			return nil, err
		}
		if out[i].Amount, err = chain.ReadAmount(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
