package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/governance"
)

// govRegistry proposes instructions to the entitlement registry, which run with the
// multisig as their sender (CIP-2 §7.3, resolution 11.11).
type govRegistry struct {
	Grant      govGrant      `cmd:"" help:"Permit an account something."`
	Revoke     govRevoke     `cmd:"" help:"Take a permission back."`
	CreateRole govCreateRole `cmd:"" name:"create-role" help:"Name scopes and actions."`
	AssignRole govAssignRole `cmd:"" name:"assign-role" help:"Give an account a role of the multisig's."`
	RevokeRole govRevokeRole `cmd:"" name:"revoke-role" help:"Take a role from an account."`
}

// Help teaches the commands.
func (govRegistry) Help() string {
	return `The multisig answers for every scope, and nobody else for the whole chain. The flags are those of "cowboy entitlement".`
}

// order proposes an instruction to the entitlement registry. err is what kept tx
// from being made.
func (p *proposing) order(ctx context.Context, s *session, tx *chain.Tx, err error) error {
	if err != nil {
		return asUsage(err)
	}
	return p.send(ctx, s, &governance.Action{Name: governance.ActionRegistry, Instruction: tx.Payload})
}

type govGrant struct {
	grantTerms
	proposing
}

// Help teaches the command.
func (govGrant) Help() string {
	return "Example:\n\n    cowboy gov propose entitlement grant --to 0x… --scope global --action custom:audit --wait"
}

// Run proposes a permission.
func (c *govGrant) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type govRevoke struct {
	revokeTerms
	proposing
}

// Help teaches the command.
func (govRevoke) Help() string {
	return "Example:\n\n    cowboy gov propose entitlement revoke 0x… --wait"
}

// Run proposes that a permission ends.
func (c *govRevoke) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type govCreateRole struct {
	roleTerms
	proposing
}

// Help teaches the command.
func (govCreateRole) Help() string {
	return "Example:\n\n    cowboy gov propose entitlement create-role --name auditor --scope global --action custom:audit --wait"
}

// Run proposes a role.
func (c *govCreateRole) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type govAssignRole struct {
	assignTerms
	proposing
}

// Help teaches the command.
func (govAssignRole) Help() string {
	return "Example:\n\n    cowboy gov propose entitlement assign-role 0x… --account 0x… --wait"
}

// Run proposes that an account gets a role.
func (c *govAssignRole) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type govRevokeRole struct {
	unassignTerms
	proposing
}

// Help teaches the command.
func (govRevokeRole) Help() string {
	return "Example:\n\n    cowboy gov propose entitlement revoke-role 0x… --account 0x… --wait"
}

// Run proposes that an account loses a role.
func (c *govRevokeRole) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}
