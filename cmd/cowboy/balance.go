package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
)

type walletAddress struct {
	keyFlag
}

// Help teaches the command.
func (walletAddress) Help() string {
	return "Example:\n\n    cowboy wallet address\n    cowboy wallet address --key keys/alice"
}

// Run prints the bare address, so that scripts can use it as it is.
func (c *walletAddress) Run(ctx context.Context, s *session) error {
	addr, err := c.address(s)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("%s", addr)
	return s.show(map[string]string{"address": addr.String()}, text)
}

type walletBalance struct {
	keyFlag
}

// Help teaches the command.
func (walletBalance) Help() string {
	return "Example:\n\n    cowboy wallet balance"
}

// Run prints the balance of the own account.
func (c *walletBalance) Run(ctx context.Context, s *session) error {
	addr, err := c.address(s)
	if err != nil {
		return err
	}
	return showBalance(ctx, s, addr)
}

// showBalance prints a balance, and what of it cannot be spent yet.
func showBalance(ctx context.Context, s *session, addr chain.Address) error {
	account, err := s.accountOrEmpty(ctx, addr)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Address: %s", account.Address)
	text.add("Balance: %s", cby(account.Balance))
	if account.Spendable != account.Balance {
		text.add("Spendable: %s (the rest is vesting)", cby(account.Spendable))
	}
	return s.show(account, text)
}

type walletFund struct {
	keyFlag
	Address string `arg:"" optional:"" help:"Account to fund; default: the own one."`
}

// Help teaches the command.
func (walletFund) Help() string {
	return "Only development networks have a faucet.\n\nExample:\n\n    cowboy wallet fund"
}

// Run asks the faucet.
func (c *walletFund) Run(ctx context.Context, s *session) error {
	var addr chain.Address
	var err error
	if c.Address != "" {
		addr, err = s.addressOr(c.Address)
	} else {
		addr, err = c.address(s)
	}
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	grant, err := api.Faucet(ctx, addr)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Transaction hash: %s", grant.TxHash)
	text.add("Amount: %s", cby(grant.Amount))
	text.add("Finality: %s", grant.Finality)
	return s.show(grant, text)
}
