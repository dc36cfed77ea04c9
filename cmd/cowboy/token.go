package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type tokenCommands struct {
	Create        tokenCreate        `cmd:"" help:"Make a token; the own account owns it and holds its supply."`
	Transfer      tokenTransfer      `cmd:"" help:"Send some of the own account's."`
	TransferFrom  tokenTransferFrom  `cmd:"" name:"transfer-from" help:"Send some of another account's, who approved it."`
	TransferBatch tokenTransferBatch `cmd:"" name:"transfer-batch" help:"Send some of the own account's to several accounts: all or none."`
	Approve       tokenApprove       `cmd:"" help:"Say how much another account may send of the own one's."`
	Mint          tokenMint          `cmd:"" help:"Make more of a token; its owner's."`
	Burn          tokenBurn          `cmd:"" help:"Destroy some of the own account's."`
	Freeze        tokenFreeze        `cmd:"" help:"Stop what an account holds from moving; the owner's."`
	Unfreeze      tokenUnfreeze      `cmd:"" help:"Let it move again; the owner's."`
	SetOwner      tokenSetOwner      `cmd:"" name:"set-owner" help:"Give a token to another owner, or give it up; the owner's."`
	SetHooks      tokenSetHooks      `cmd:"" name:"set-hooks" help:"Change the actor that is asked before transfers; the owner's."`
	Info          tokenInfo          `cmd:"" help:"Show a token."`
	Balance       tokenBalance       `cmd:"" help:"Show what an account holds of a token."`
	List          tokenList          `cmd:"" help:"Print all tokens as a JSON array, oldest first."`
}

// tokenRef names a token.
type tokenRef struct {
	ID    string `arg:"" optional:"" name:"token" placeholder:"ID" help:"The token: 32 bytes of hex."`
	Token string `name:"token" aliases:"token-id,id" placeholder:"ID" help:"The same as a flag."`
}

func (f *tokenRef) id() (id token.ID, err error) {
	text, err := exactlyOne("token", f.ID, f.Token)
	if err != nil {
		return id, err
	}
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(b) != len(id) {
		return id, usagef("%q is no token: give 64 hex digits, with or without 0x", text)
	}
	return token.ID(b), nil
}

// units reads a number of smallest units.
func units(flag, text string) (n chain.Amount, err error) {
	if err := n.UnmarshalText([]byte(text)); err != nil {
		return n, usagef("--%s %q: give smallest units of the token, 0 to 2^128-1", flag, text)
	}
	return n, nil
}

// tokenInstruction is an instruction on a token in the making. The first argument that
// cannot be read is its error.
type tokenInstruction struct {
	opcode uint64
	args   [][]byte
	err    error
}

// instruction begins an instruction on the token.
func (f *tokenRef) instruction(opcode uint64) *tokenInstruction {
	id, err := f.id()
	return &tokenInstruction{opcode, [][]byte{cbor.AppendBytes(nil, id[:])}, err}
}

func (i *tokenInstruction) add(arg []byte, err error) *tokenInstruction {
	if i.err == nil {
		i.args, i.err = append(i.args, arg), err
	}
	return i
}

func (i *tokenInstruction) accountArg(text string) *tokenInstruction {
	a, err := client.ParseAddress(text)
	return i.add(cbor.AppendBytes(nil, a[:]), err)
}

// accountOrNone takes the word none for nobody.
func (i *tokenInstruction) accountOrNone(text string) *tokenInstruction {
	if text == "none" {
		return i.add(cbor.AppendNull(nil), nil)
	}
	return i.accountArg(text)
}

func (i *tokenInstruction) amount(text string) *tokenInstruction {
	n, err := units("amount", text)
	return i.add(chain.AppendAmount(nil, n), err)
}

// instruct signs and sends an instruction on a token.
func (f *sendFlags) instruct(ctx context.Context, s *session, i *tokenInstruction) error {
	return f.order(ctx, s, tokenTx(i.opcode, i.args...), i.err)
}

func tokenTx(opcode uint64, args ...[]byte) *chain.Tx {
	return systemTx(chain.AddrTokens, opcode, args...)
}

// systemTx is an instruction to a system address.
func systemTx(to chain.Address, opcode uint64, args ...[]byte) *chain.Tx {
	payload := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, a := range args {
		payload = append(payload, a...)
	}
	return &chain.Tx{To: &to, Payload: payload}
}

type tokenCreate struct {
	Name      string  `required:"" placeholder:"NAME" help:"1 to 64 bytes."`
	Symbol    string  `required:"" placeholder:"SYMBOL" help:"1 to 16 bytes."`
	Decimals  uint8   `default:"18" placeholder:"N" help:"Digits behind the point when people write amounts; at most 38."`
	Supply    string  `default:"0" aliases:"initial-supply,total-supply" placeholder:"UNITS" help:"What there is at first, in smallest units."`
	MaxSupply *string `name:"max-supply" placeholder:"UNITS" help:"Most that there may ever be; default: no bound."`
	Hooks     string  `placeholder:"ADDRESS" help:"Actor whose can_transfer and on_transfer run with every transfer."`
	sendFlags
}

// Help teaches the command.
func (tokenCreate) Help() string {
	return "Waits until the token is there and prints its id.\n\nExample:\n\n    cowboy token create --name Gold --symbol GLD --decimals 2 --supply 100000"
}

// tokenCreated is what token create prints as JSON.
type tokenCreated struct {
	TokenID string            `json:"token_id"`
	TxHash  string            `json:"tx_hash"`
	Receipt *rpc.ReceiptReply `json:"receipt"`
}

// Run makes a token.
func (c *tokenCreate) Run(ctx context.Context, s *session) error {
	tx, err := c.tx()
	if err != nil {
		return err
	}
	signed, err := c.prepare(ctx, s, tx)
	if err != nil {
		return err
	}
	if c.DryRun {
		return showUnsent(s, signed)
	}
	receipt, err := awaitReceipt(ctx, s, signed, c.Timeout)
	if err != nil {
		return err
	}
	if receipt.Status != "success" {
		return failedOnChain(receipt)
	}
	output, err := hex.DecodeString(strings.TrimPrefix(receipt.Output, "0x"))
	if err != nil {
		return fmt.Errorf("read the receipt: %w", err)
	}
	var id token.ID
	r := cbor.NewReader(output)
	if err := r.BytesInto(id[:]); err != nil {
		return fmt.Errorf("read the token's id: %w", err)
	}
	text := &lines{}
	text.add("Token id: %s", id)
	text.add("Transaction hash: %s", signed.Hash)
	if c.Wait {
		receiptLines(text, receipt)
	}
	return s.show(tokenCreated{id.String(), signed.Hash.String(), receipt}, text)
}

func (c *tokenCreate) tx() (*chain.Tx, error) {
	supply, err := units("supply", c.Supply)
	if err != nil {
		return nil, err
	}
	var most *chain.Amount
	if c.MaxSupply != nil {
		n, err := units("max-supply", *c.MaxSupply)
		if err != nil {
			return nil, err
		}
		most = &n
	}
	var hooks *chain.Address
	if c.Hooks != "" {
		a, err := client.ParseAddress(c.Hooks)
		if err != nil {
			return nil, usageError{err}
		}
		hooks = &a
	}
	return tokenTx(chain.OpTokenCreate, cbor.AppendText(nil, c.Name), cbor.AppendText(nil, c.Symbol),
		cbor.AppendUint(nil, uint64(c.Decimals)), chain.AppendAmount(nil, supply), token.AppendMax(nil, most), token.AppendAddress(nil, hooks)), nil
}

type tokenApprove struct {
	tokenRef
	Spender string `required:"" placeholder:"ADDRESS" help:"Account that may send it."`
	Amount  string `required:"" placeholder:"UNITS" help:"In smallest units; replaces what it was before, 0 takes it back."`
	sendFlags
}

// Help teaches the command.
func (tokenApprove) Help() string {
	return "Example:\n\n    cowboy token approve 0x… --spender 0x… --amount 500 --wait"
}

// Run approves a spender.
func (c *tokenApprove) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenApprove).accountArg(c.Spender).amount(c.Amount))
}

type tokenMint struct {
	tokenRef
	To     string `required:"" placeholder:"ADDRESS" help:"Account that gets it."`
	Amount string `required:"" placeholder:"UNITS" help:"In smallest units."`
	sendFlags
}

// Help teaches the command.
func (tokenMint) Help() string {
	return "Example:\n\n    cowboy token mint 0x… --to 0x… --amount 500 --wait"
}

// Run makes more of a token.
func (c *tokenMint) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenMint).accountArg(c.To).amount(c.Amount))
}

type tokenBurn struct {
	tokenRef
	Amount string `required:"" placeholder:"UNITS" help:"In smallest units."`
	sendFlags
}

// Help teaches the command.
func (tokenBurn) Help() string {
	return "Example:\n\n    cowboy token burn 0x… --amount 500 --wait"
}

// Run destroys tokens.
func (c *tokenBurn) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenBurn).amount(c.Amount))
}

type tokenInfo struct {
	tokenRef
}

// Help teaches the command.
func (tokenInfo) Help() string { return "Example:\n\n    cowboy token info 0x…" }

// Run shows a token.
func (c *tokenInfo) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.id)
	if err != nil {
		return err
	}
	t, err := api.Token(ctx, id)
	if err != nil {
		return err
	}
	orNone := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	text := &lines{}
	text.add("Token id: %s", t.TokenID)
	text.add("Name: %s", t.Name)
	text.add("Symbol: %s", t.Symbol)
	text.add("Decimals: %d", t.Decimals)
	text.add("Total supply: %s", t.TotalSupply)
	if t.MaxSupply != nil {
		text.add("Max supply: %s", t.MaxSupply)
	}
	text.add("Owner: %s", orNone(t.Owner))
	text.add("Hooks: %s", orNone(t.Hooks))
	return s.show(t, text)
}

type tokenBalance struct {
	tokenRef
	Address string `placeholder:"ADDRESS" help:"Account; default: the own one."`
}

// Help teaches the command.
func (tokenBalance) Help() string { return "Example:\n\n    cowboy token balance 0x…" }

// Run shows a balance.
func (c *tokenBalance) Run(ctx context.Context, s *session) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	addr, err := s.addressOr(c.Address)
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	b, err := api.TokenBalance(ctx, id, addr)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Address: %s", b.Address)
	text.add("Balance: %s", b.Balance)
	if b.Frozen {
		text.add("Frozen: yes")
	}
	return s.show(b, text)
}

type tokenList struct {
	Offset uint64 `default:"0" placeholder:"N" help:"Tokens to leave out."`
	Limit  uint64 `default:"1000" placeholder:"N" help:"Most to print."`
}

// Help teaches the command.
func (tokenList) Help() string { return "Example:\n\n    cowboy token list" }

// Run prints the list, which is JSON with --json and without.
func (c *tokenList) Run(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	return showAll(s, c.Offset, c.Limit, func(offset, limit uint64) ([]rpc.TokenReply, uint64, error) {
		reply, err := api.Tokens(ctx, offset, limit)
		if err != nil {
			return nil, 0, err
		}
		return reply.Tokens, reply.TotalCount, nil
	})
}

// showAll prints up to limit items of a list of the node as JSON, asking for a page at a
// time: page returns items from an offset on and how many there are in all.
func showAll[T any](s *session, offset, limit uint64, page func(offset, limit uint64) ([]T, uint64, error)) error {
	most := min(limit, rpc.DefaultConfig().ListMax)
	all := []T{}
	for uint64(len(all)) < limit {
		items, total, err := page(offset+uint64(len(all)), max(min(most, limit-uint64(len(all))), 1))
		if err != nil {
			return err
		}
		all = append(all, items...)
		if len(items) == 0 || offset+uint64(len(all)) >= total {
			break
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	text := &lines{}
	text.add("%s", b)
	return s.show(all, text)
}
