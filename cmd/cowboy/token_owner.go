package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
)

type tokenFreeze struct {
	tokenRef
	Account string `required:"" placeholder:"ADDRESS" help:"Account that is to send and receive nothing of it."`
	sendFlags
}

// Help teaches the command.
func (tokenFreeze) Help() string {
	return "Example:\n\n    cowboy token freeze 0x… --account 0x… --wait"
}

// Run stops an account.
func (c *tokenFreeze) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenFreeze).accountArg(c.Account))
}

type tokenUnfreeze struct {
	tokenRef
	Account string `required:"" placeholder:"ADDRESS" help:"Account that was frozen."`
	sendFlags
}

// Help teaches the command.
func (tokenUnfreeze) Help() string {
	return "Example:\n\n    cowboy token unfreeze 0x… --account 0x… --wait"
}

// Run lets an account go on.
func (c *tokenUnfreeze) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenUnfreeze).accountArg(c.Account))
}

type tokenSetOwner struct {
	tokenRef
	Owner string `required:"" placeholder:"ADDRESS|none" help:"Account that is to own the token; none gives it up for good."`
	sendFlags
}

// Help teaches the command.
func (tokenSetOwner) Help() string {
	return "Without an owner nobody can mint, freeze or change hooks any more.\n\nExample:\n\n    cowboy token set-owner 0x… --owner 0x… --wait"
}

// Run changes the owner.
func (c *tokenSetOwner) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenOwner).accountOrNone(c.Owner))
}

type tokenSetHooks struct {
	tokenRef
	Hooks string `required:"" placeholder:"ADDRESS|none" help:"Actor whose can_transfer and on_transfer are to run with every transfer; none: nobody is asked."`
	sendFlags
}

// Help teaches the command.
func (tokenSetHooks) Help() string {
	return "Example:\n\n    cowboy token set-hooks 0x… --hooks 0x… --wait"
}

// Run changes the hooks.
func (c *tokenSetHooks) Run(ctx context.Context, s *session) error {
	return c.instruct(ctx, s, c.instruction(chain.OpTokenHooks).accountOrNone(c.Hooks))
}
