package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// tokenArgs are the arguments of an instruction at [chain.AddrTokens], those
// that it has.
type tokenArgs struct {
	made     token.Token
	id       token.ID
	a, b     chain.Address
	maybe    *chain.Address
	amount   chain.Amount
	payments []host.Payment
}

// instructToken runs an instruction on tokens (CIP-20; resolution 11.46). The
// creation of a token answers with its id. The error is a [*Fault].
func (b *block) instructToken(ins chain.Instruction, tx *chain.VerifiedTx, intrinsic chain.Usage) (actor.Outcome, error) {
	if tx.Tx.Value != 0 { // a token is not paid in base units
		return actor.Outcome{Code: chain.CodeBadArgument, Detail: "tokens take no value"}, nil
	}
	args, err := readTokenArgs(ins.Opcode, tx)
	if err != nil { // the types of arguments were judged, what is in them not
		return actor.Outcome{Code: chain.CodeBadArgument, Detail: err.Error()}, nil
	}
	r, err := b.start(tx, intrinsic)
	if err != nil {
		return actor.Outcome{}, err
	}
	out, err := r.Tokens(tx.Sender, args.price(ins.Opcode, &b.in.Params.Token), func(c *actor.TokenCall) ([]byte, error) {
		return args.run(ins.Opcode, c)
	})
	return out, fault("run an instruction on tokens", err)
}

// readTokenArgs reads the payload of an instruction whose types were judged.
func readTokenArgs(opcode uint64, tx *chain.VerifiedTx) (*tokenArgs, error) {
	r, err := arguments(tx.Tx.Payload)
	if err != nil {
		return nil, err
	}
	a := new(tokenArgs)
	if opcode == chain.OpTokenCreate {
		return a, a.readCreate(&r)
	}
	if err := r.BytesInto(a.id[:]); err != nil {
		return nil, err
	}
	return a, a.read(opcode, &r)
}

func (a *tokenArgs) readCreate(r *cbor.Reader) (err error) {
	t := &a.made
	if t.Name, err = r.Text(token.MaxNameBytes); err != nil {
		return err
	}
	if t.Symbol, err = r.Text(token.MaxSymbolBytes); err != nil {
		return err
	}
	decimals, err := r.Uint()
	if err != nil {
		return err
	}
	t.Decimals = uint8(min(decimals, token.MaxDecimals+1))
	if t.Supply, err = chain.ReadAmount(r); err != nil {
		return err
	}
	if t.Max, err = token.ReadMax(r); err != nil {
		return err
	}
	t.Hooks, err = token.ReadAddress(r)
	return err
}

// read takes what follows the id.
func (a *tokenArgs) read(opcode uint64, r *cbor.Reader) (err error) {
	switch opcode {
	case chain.OpTokenOwner, chain.OpTokenHooks:
		a.maybe, err = token.ReadAddress(r)
		return err
	case chain.OpTokenBatch:
		a.payments, err = readPayments(r)
		return err
	case chain.OpTokenBurn:
		a.amount, err = chain.ReadAmount(r)
		return err
	}
	if err = r.BytesInto(a.a[:]); err != nil {
		return err
	}
	switch opcode {
	case chain.OpTokenFreeze, chain.OpTokenUnfreeze:
		return nil
	case chain.OpTokenTransferFrom:
		if err = r.BytesInto(a.b[:]); err != nil {
			return err
		}
	}
	a.amount, err = chain.ReadAmount(r)
	return err
}

// readPayments reads a list of pairs of receiver and amount.
func readPayments(r *cbor.Reader) ([]host.Payment, error) {
	n, err := r.Array(token.MaxPayments)
	if err != nil {
		return nil, err
	}
	out := make([]host.Payment, n)
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

// price is what an instruction costs besides what is intrinsic (whitepaper
// §17.3; CIP-20).
func (a *tokenArgs) price(opcode uint64, c *chain.TokenCosts) chain.Cycles {
	switch opcode {
	case chain.OpTokenCreate:
		return c.CreateCycles
	case chain.OpTokenTransfer:
		return c.TransferCycles
	case chain.OpTokenTransferFrom:
		return c.TransferFromCycles
	case chain.OpTokenApprove:
		return c.ApproveCycles
	case chain.OpTokenMint:
		return c.MintCycles
	case chain.OpTokenBurn:
		return c.BurnCycles
	case chain.OpTokenBatch:
		return c.BatchCycles + chain.Cycles(len(a.payments))*c.BatchEachCycles
	}
	return c.AdminCycles
}

// run calls the operation.
func (a *tokenArgs) run(opcode uint64, c *actor.TokenCall) (output []byte, err error) {
	switch opcode {
	case chain.OpTokenCreate:
		id, err := c.Create(&a.made)
		return cbor.AppendBytes(nil, id[:]), err
	case chain.OpTokenTransfer:
		return nil, c.Transfer(a.id, a.a, a.amount)
	case chain.OpTokenTransferFrom:
		return nil, c.TransferFrom(a.id, a.a, a.b, a.amount)
	case chain.OpTokenApprove:
		return nil, c.Approve(a.id, a.a, a.amount)
	case chain.OpTokenMint:
		return nil, c.Mint(a.id, a.a, a.amount)
	case chain.OpTokenBurn:
		return nil, c.Burn(a.id, a.amount)
	case chain.OpTokenFreeze, chain.OpTokenUnfreeze:
		return nil, c.Freeze(a.id, a.a, opcode == chain.OpTokenFreeze)
	case chain.OpTokenOwner:
		return nil, c.SetOwner(a.id, a.maybe)
	case chain.OpTokenHooks:
		return nil, c.SetHooks(a.id, a.maybe)
	}
	return nil, c.TransferMany(a.id, a.payments)
}
