package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
)

type storageAllow struct {
	actorRef
	Restorer string `required:"" placeholder:"ADDRESS" help:"Who restores the actor."`
	Most     uint64 `required:"" placeholder:"N" help:"Most base units to pay; 0 takes an earlier agreement back."`
	Blocks   uint64 `default:"86400" help:"For how many blocks."`
	sendFlags
}

// Help teaches the command.
func (storageAllow) Help() string {
	return `Whoever restores an actor pays its missed rent, unless somebody else has agreed to: this agrees, for one restorer, one actor and one restoration, up to an amount and for some blocks. The restorer names you with --payer.

Example:

    cowboy storage allow 0x… --restorer 0x… --most 5000000000 --wait`
}

// Run sends the agreement.
func (c *storageAllow) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve()
	if err != nil {
		return err
	}
	restorer, err := client.ParseAddress(c.Restorer)
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	quote, err := api.Rent(ctx, addr)
	if err != nil {
		return err
	}
	until := chain.Height(quote.Height + max(c.Blocks, 1))
	signed, err := c.prepare(ctx, s, client.RestoreAllowTx(restorer, addr, chain.Wei(c.Most), until))
	if err != nil {
		return err
	}
	return c.dispatch(ctx, s, signed)
}
