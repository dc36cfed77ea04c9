package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type accountCommands struct {
	Balance accountBalance `cmd:"" help:"Balance of an account."`
	Nonce   accountNonce   `cmd:"" help:"Nonce of an account."`
	Info    accountInfo    `cmd:"" help:"All of an account."`
}

// accountRef names an account in either spelling; neither means the own one.
type accountRef struct {
	Account string `arg:"" optional:"" name:"account" help:"Address; default: the own one."`
	Address string `name:"address" short:"a" placeholder:"0x…" help:"The same as a flag."`
}

func (r accountRef) resolve(s *session) (chain.Address, error) {
	text, err := atMostOne("address", r.Account, r.Address)
	if err != nil {
		return chain.Address{}, err
	}
	return s.addressOr(text)
}

// read returns the account, an empty one where the chain has none.
func (r accountRef) read(ctx context.Context, s *session) (*rpc.AccountReply, error) {
	addr, err := r.resolve(s)
	if err != nil {
		return nil, err
	}
	return s.accountOrEmpty(ctx, addr)
}

type accountBalance struct{ accountRef }

// Help teaches the command.
func (accountBalance) Help() string {
	return "Example:\n\n    cowboy account balance 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
}

// Run prints a balance.
func (c *accountBalance) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve(s)
	if err != nil {
		return err
	}
	return showBalance(ctx, s, addr)
}

// nonceReply is what account nonce prints as JSON.
type nonceReply struct {
	Address     string `json:"address"`
	Nonce       uint64 `json:"nonce"`
	PendingNext uint64 `json:"pending_nonce"`
}

type accountNonce struct{ accountRef }

// Help teaches the command.
func (accountNonce) Help() string {
	return "Prints the nonce that a new transaction must carry.\n\nExample:\n\n    cowboy account nonce"
}

// Run prints the nonce of the account's next transaction.
func (c *accountNonce) Run(ctx context.Context, s *session) error {
	account, err := c.read(ctx, s)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Nonce: %d", account.PendingNext)
	if waiting := account.PendingNext - account.Nonce; waiting > 0 {
		text.add("Pending: %d transactions wait from nonce %d on", waiting, account.Nonce)
	}
	return s.show(nonceReply{account.Address, account.Nonce, account.PendingNext}, text)
}

type accountInfo struct{ accountRef }

// Help teaches the command.
func (accountInfo) Help() string {
	return "Example:\n\n    cowboy account info --address 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
}

// Run prints an account.
func (c *accountInfo) Run(ctx context.Context, s *session) error {
	account, err := c.read(ctx, s)
	if err != nil {
		return err
	}
	return s.show(account, accountText(account))
}

func accountText(a *rpc.AccountReply) *lines {
	text := &lines{}
	text.add("Address: %s", a.Address)
	text.add("Balance: %s", cby(a.Balance))
	text.add("Spendable: %s", cby(a.Spendable))
	text.add("Nonce: %d (next to use: %d)", a.Nonce, a.PendingNext)
	if a.CodeHash == "" {
		text.add("The chain has no such account yet: it begins with the first transfer to it.")
		return text
	}
	text.add("Code hash: %s", a.CodeHash)
	text.add("Storage root: %s", a.StorageRoot)
	text.add("At height: %d", a.Height)
	return text
}
