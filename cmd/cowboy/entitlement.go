package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type entitlementCommands struct {
	Grant      entitlementGrant    `cmd:"" help:"Permit an account something."`
	Delegate   entitlementDelegate `cmd:"" help:"Give a permission of the own account to another."`
	Revoke     entitlementRevoke   `cmd:"" help:"Take a permission back, or give one up."`
	CreateRole roleCreate          `cmd:"" name:"create-role" help:"Name scopes and actions."`
	AssignRole roleAssign          `cmd:"" name:"assign-role" help:"Give an account a role of the own one's."`
	RevokeRole roleRevoke          `cmd:"" name:"revoke-role" help:"Take a role from an account, or give one up."`
	Show       entitlementShow     `cmd:"" help:"Show a permission."`
	List       entitlementList     `cmd:"" help:"Show the permissions and roles of an account."`
	Holder     scopeHolder         `cmd:"" help:"Show who answers for a pool of runners or a namespace."`
}

// scopeHelp is how scopes are written.
const scopeHelp = "global, actor:0x…, token:0x…, runner:0x…, runner_pool:NAME or namespace:NAME; a NAME after 0x is hex."

// conditionFlags are the constraints of a grant.
type conditionFlags struct {
	From        uint64 `name:"valid-from" placeholder:"HEIGHT" help:"First block."`
	Until       uint64 `name:"valid-until" placeholder:"HEIGHT" help:"Last block."`
	Uses        uint64 `name:"max-uses" placeholder:"N" help:"Most uses; default: any number."`
	Depth       uint64 `name:"delegation-depth" placeholder:"N" help:"How many may delegate it one after the other; at most 5."`
	Irrevocable bool   `help:"Only who has it may give it up."`
}

func (f *conditionFlags) constraints() entitlements.Constraints {
	return entitlements.Constraints{
		From: chain.Height(f.From), Until: chain.Height(f.Until), Uses: f.Uses,
		Delegatable: f.Depth > 0, Depth: f.Depth, Irrevocable: f.Irrevocable,
	}
}

// idArg names a permission or a role.
type idArg struct {
	ID string `arg:"" placeholder:"ID" help:"32 bytes of hex."`
}

func (a *idArg) parseHash() (chain.Hash, error) {
	id, err := client.ParseHash(a.ID)
	return id, asUsage(err)
}

// order signs and sends an instruction. err is what kept tx from being made.
func (f *sendFlags) order(ctx context.Context, s *session, tx *chain.Tx, err error) error {
	if err != nil {
		return asUsage(err)
	}
	signed, err := f.prepare(ctx, s, tx)
	if err != nil {
		return err
	}
	return f.dispatch(ctx, s, signed)
}

// grantTerms are what a grant says; the own account sends them, or the multisig has
// them carried out (gov propose entitlement).
type grantTerms struct {
	To     string `required:"" placeholder:"ADDRESS" help:"Who gets it."`
	Scope  string `required:"" placeholder:"SCOPE" help:"What it is about: ${scopes}"`
	Action string `required:"" placeholder:"ACTION" help:"What is permitted: all, token_mint, runner_join_pool:NAME, custom:NAME and others (CIP-2 §7.1)."`
	conditionFlags
}

func (g *grantTerms) instruction() (*chain.Tx, error) {
	a := entitlements.Asked{Constraints: g.constraints()}
	var err error
	if a.Grantee, err = client.ParseAddress(g.To); err == nil {
		a.Scope, err = entitlements.ParseScope(g.Scope)
	}
	if err == nil {
		a.Action, err = entitlements.ParseAction(g.Action)
	}
	return client.GrantTx(&a), err
}

type entitlementGrant struct {
	grantTerms
	sendFlags
}

// Help teaches the command.
func (entitlementGrant) Help() string {
	return "The actor's creator, the token's owner, the runner itself, and the first to grant in a pool or a namespace may; for all others governance. The same again renews it. The receipt's output is its id.\n\n" +
		"Example:\n\n    cowboy entitlement grant --to 0x… --scope runner_pool:eu --action runner_join_pool:eu --valid-until 900000 --wait"
}

// Run permits something.
func (c *entitlementGrant) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type entitlementDelegate struct {
	idArg
	To string `required:"" placeholder:"ADDRESS" help:"Who gets it."`
	conditionFlags
	sendFlags
}

// Help teaches the command.
func (entitlementDelegate) Help() string {
	return "Its conditions must lie within those of the own permission, and it can be delegated less far.\n\nExample:\n\n    cowboy entitlement delegate 0x… --to 0x… --max-uses 3 --wait"
}

// Run delegates.
func (c *entitlementDelegate) Run(ctx context.Context, s *session) error {
	id, err := c.parseHash()
	if err != nil {
		return err
	}
	to, err := client.ParseAddress(c.To)
	if err != nil {
		return usageError{err}
	}
	conditions := c.constraints()
	return c.order(ctx, s, client.DelegateTx(id, to, &conditions), nil)
}

// revokeTerms name the permission that ends.
type revokeTerms struct{ idArg }

func (r *revokeTerms) instruction() (*chain.Tx, error) {
	id, err := r.parseHash()
	return client.RevokeGrantTx(id), err
}

type entitlementRevoke struct {
	revokeTerms
	sendFlags
}

// Help teaches the command.
func (entitlementRevoke) Help() string {
	return "What was delegated from it ends with it.\n\nExample:\n\n    cowboy entitlement revoke 0x… --wait"
}

// Run takes a permission back.
func (c *entitlementRevoke) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

// roleTerms are what a role consists of.
type roleTerms struct {
	Name        string   `required:"" placeholder:"NAME" help:"1 to 64 bytes."`
	Scopes      []string `name:"scope" required:"" placeholder:"SCOPE" help:"Once for each: ${scopes}"`
	Actions     []string `name:"action" required:"" placeholder:"ACTION" help:"Once for each."`
	Irrevocable bool     `help:"Only who has it may give it up."`
}

func (c *roleTerms) instruction() (*chain.Tx, error) {
	r := entitlements.Role{Name: c.Name, Constraints: entitlements.Constraints{Irrevocable: c.Irrevocable}}
	for _, text := range c.Scopes {
		scope, err := entitlements.ParseScope(text)
		if err != nil {
			return nil, err
		}
		r.Scopes = append(r.Scopes, scope)
	}
	for _, text := range c.Actions {
		action, err := entitlements.ParseAction(text)
		if err != nil {
			return nil, err
		}
		r.Actions = append(r.Actions, action)
	}
	return client.CreateRoleTx(&r), nil
}

type roleCreate struct {
	roleTerms
	sendFlags
}

// Help teaches the command.
func (roleCreate) Help() string {
	return "It gives nobody anything until it is assigned. The receipt's output is its id.\n\nExample:\n\n    cowboy entitlement create-role --name minter --scope token:0x… --action token_mint --action token_burn --wait"
}

// Run names scopes and actions.
func (c *roleCreate) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

// roleOf names a role and an account.
type roleOf struct {
	idArg
	Account string `required:"" placeholder:"ADDRESS" help:"Whose role it is to be, or is."`
}

func (c *roleOf) about(tx func(chain.Hash, chain.Address) *chain.Tx) (*chain.Tx, error) {
	id, err := c.parseHash()
	if err != nil {
		return nil, err
	}
	account, err := client.ParseAddress(c.Account)
	return tx(id, account), err
}

// assignTerms give a role, and unassignTerms take one.
type (
	assignTerms   struct{ roleOf }
	unassignTerms struct{ roleOf }
)

func (c *assignTerms) instruction() (*chain.Tx, error)   { return c.about(client.AssignRoleTx) }
func (c *unassignTerms) instruction() (*chain.Tx, error) { return c.about(client.RevokeRoleTx) }

type roleAssign struct {
	assignTerms
	sendFlags
}

// Help teaches the command.
func (roleAssign) Help() string {
	return "The own account answers for all of the role's scopes.\n\nExample:\n\n    cowboy entitlement assign-role 0x… --account 0x… --wait"
}

// Run assigns a role.
func (c *roleAssign) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type roleRevoke struct {
	unassignTerms
	sendFlags
}

// Help teaches the command.
func (roleRevoke) Help() string {
	return "Example:\n\n    cowboy entitlement revoke-role 0x… --account 0x… --wait"
}

// Run takes a role.
func (c *roleRevoke) Run(ctx context.Context, s *session) error {
	tx, err := c.instruction()
	return c.order(ctx, s, tx, err)
}

type entitlementShow struct{ idArg }

// Help teaches the command.
func (entitlementShow) Help() string { return "Example:\n\n    cowboy entitlement show 0x…" }

// Run prints a permission.
func (c *entitlementShow) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.parseHash)
	if err != nil {
		return err
	}
	g, err := api.Entitlement(ctx, id)
	if err != nil {
		return err
	}
	text := &lines{}
	text.grant(g)
	return s.show(g, text)
}

func (l *lines) grant(g *rpc.GrantReply) {
	state := "in force"
	if !g.InForce {
		state = "not in force"
	}
	l.add("%s %s may %s for %s, by %s, %s, used %d times", g.ID, g.Grantee, g.Action, g.Scope, g.Grantor, state, g.Used)
}

type entitlementList struct {
	Address string `arg:"" optional:"" placeholder:"ADDRESS" help:"Default: the own account."`
}

// Help teaches the command.
func (entitlementList) Help() string { return "Example:\n\n    cowboy entitlement list 0x…" }

// Run prints permissions and roles.
func (c *entitlementList) Run(ctx context.Context, s *session) error {
	addr, err := s.addressOr(c.Address)
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	reply, err := api.Entitlements(ctx, addr)
	if err != nil {
		return err
	}
	text := &lines{}
	for i := range reply.Entitlements {
		text.grant(&reply.Entitlements[i])
	}
	for _, r := range reply.Roles {
		text.add("%s role %s of %s: %v for %v", r.ID, r.Name, r.Creator, r.Actions, r.Scopes)
	}
	text.add("%d permissions, %d roles", len(reply.Entitlements), len(reply.Roles))
	return s.show(reply, text)
}

type scopeHolder struct {
	Scope string `arg:"" placeholder:"SCOPE" help:"runner_pool:NAME or namespace:NAME."`
}

// Help teaches the command.
func (scopeHolder) Help() string { return "Example:\n\n    cowboy entitlement holder runner_pool:eu" }

// Run prints who answers for a scope.
func (c *scopeHolder) Run(ctx context.Context, s *session) error {
	scope, err := entitlements.ParseScope(c.Scope)
	if err != nil {
		return usageError{err}
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	reply, err := api.ScopeHolder(ctx, scope)
	if err != nil {
		return err
	}
	text := &lines{}
	if reply.Holder == nil {
		text.add("Holder: nobody, the first to grant in it")
	} else {
		text.add("Holder: %s", reply.Holder)
	}
	return s.show(reply, text)
}
