package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type govCommands struct {
	Propose govPropose `cmd:"" help:"Propose an action; your approval is in it."`
	Approve govApprove `cmd:"" help:"Approve a proposal."`
	Execute govExecute `cmd:"" help:"Carry a proposal out, once enough approved and the timelock ran."`
	Status  govStatus  `cmd:"" help:"Show members, proposals, and parameters."`
}

// Help teaches the commands.
func (govCommands) Help() string {
	return `The members of a multisig change the chain's parameters. One proposes, others approve; with the last approval that is needed the timelock starts, and after it any member has it carried out. It is in force from the next block on.

    cowboy gov status                                    # who, how many, how long
    cowboy gov status --param timer.max_per_actor        # a parameter in force
    cowboy gov propose set timer.max_per_actor=2048 --wait
    cowboy gov status                                    # its id, and when it is ready
    cowboy gov approve 0x… --wait                        # by the others
    cowboy gov execute 0x… --wait

On a devnet there is one member, whose key "cowboyd devnet" prints: pass it with --private-key, give it some CBY, and wait one block.`
}

type govPropose struct {
	Set       govSet       `cmd:"" help:"Set parameters."`
	Deprecate govDeprecate `cmd:"" help:"Announce that an entitlement goes."`
	Entry     govEntry     `cmd:"" help:"Write an entry of a registry: tee_keys, tee_measurements, model_bans."`
	Upgrade   govUpgrade   `cmd:"" help:"Put other code in place of a system actor's."`

	Entitlement govRegistry `cmd:"" help:"Permit, take back or assign in the multisig's name."`
}

// proposing are the flags of every proposal.
type proposing struct {
	Emergency bool `help:"Use the short timelock."`
	sendFlags
}

func (p *proposing) send(ctx context.Context, s *session, a *governance.Action) error {
	if _, err := governance.ParseAction(a.Append(nil)); err != nil {
		return usageError{err}
	}
	signed, err := p.prepare(ctx, s, client.ProposeTx(a, p.Emergency))
	if err != nil {
		return err
	}
	return p.dispatch(ctx, s, signed)
}

type govSet struct {
	Settings []string `arg:"" placeholder:"PATH=JSON" help:"Parameters as paths in the genesis document, with their new values as JSON."`
	proposing
}

// Help teaches the command.
func (govSet) Help() string {
	return `Paths are those of "params" in the genesis; amounts are decimal texts, a group or a list is stated whole. Parameters that must fit each other go into one proposal.

Example:

    cowboy gov propose set rent.exempt_bytes=20480 'timer.base_deposit="5000000000"' --wait
    cowboy gov propose set lane_profile='"custom"' 'lane_share_basis_points={"system":500,"timer":2500,"runner":2500,"user":4500}'`
}

// Run proposes settings.
func (c *govSet) Run(ctx context.Context, s *session) error {
	a := governance.Action{Name: governance.ActionSet}
	for _, text := range c.Settings {
		path, value, ok := strings.Cut(text, "=")
		if !ok {
			return usagef("%q is not PATH=JSON", text)
		}
		if !json.Valid([]byte(value)) {
			return usagef("%s: %s is not JSON: texts and amounts need quotes, as in '%s=\"%s\"'", path, value, path, value)
		}
		if err := params.CheckSettable(path); err != nil {
			return usageError{err}
		}
		a.Settings = append(a.Settings, params.Setting{Path: path, Value: []byte(value)})
	}
	return c.send(ctx, s, &a)
}

type govDeprecate struct {
	ID string `arg:"" help:"Entitlement, such as storage.blob."`
	proposing
}

// Help teaches the command.
func (govDeprecate) Help() string {
	return "It works for entitlements.deprecation_window_blocks more; then actors that hold it do not run until their creators deploy them again without it.\n\nExample:\n\n    cowboy gov propose deprecate storage.blob --wait"
}

// Run proposes the end of an entitlement.
func (c *govDeprecate) Run(ctx context.Context, s *session) error {
	return c.send(ctx, s, &governance.Action{Name: governance.ActionDeprecate, ID: c.ID})
}

type govEntry struct {
	Table  string `arg:"" help:"tee_keys, tee_measurements or model_bans."`
	Key    string `arg:"" help:"Key of the entry."`
	Value  string `placeholder:"TEXT" help:"Its value; empty by default."`
	Remove bool   `help:"Remove the entry."`
	proposing
}

// Help teaches the command.
func (govEntry) Help() string {
	return "Example:\n\n    cowboy gov propose entry model_bans some-model --wait\n    cowboy gov propose entry model_bans some-model --remove --wait"
}

// Run proposes an entry.
func (c *govEntry) Run(ctx context.Context, s *session) error {
	a := governance.Action{Name: governance.ActionEntry, Table: c.Table, Key: c.Key, Value: []byte(c.Value)}
	if c.Remove {
		a.Value = nil
	}
	return c.send(ctx, s, &a)
}

type govUpgrade struct {
	actorRef
	Code string `required:"" placeholder:"FILE" help:"The new source."`
	proposing
}

// Help teaches the command.
func (govUpgrade) Help() string {
	return "The actor must hold sys.upgrade; all others never change.\n\nExample:\n\n    cowboy gov propose upgrade 0x… --code oracle.py --wait"
}

// Run proposes an upgrade.
func (c *govUpgrade) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve()
	if err != nil {
		return err
	}
	f, err := os.Open(c.Code)
	if err != nil {
		return err
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, chain.MaxTxBytes+1))
	if err != nil {
		return err
	}
	return c.send(ctx, s, &governance.Action{Name: governance.ActionUpgrade, Actor: addr, Source: source})
}

// proposalRef names a proposal.
type proposalRef struct {
	ID string `arg:"" help:"Id of the proposal; gov status lists them."`
	sendFlags
}

func (p *proposalRef) send(ctx context.Context, s *session, tx func(chain.Hash) *chain.Tx) error {
	id, err := client.ParseHash(p.ID)
	if err != nil {
		return usageError{err}
	}
	signed, err := p.prepare(ctx, s, tx(id))
	if err != nil {
		return err
	}
	return p.dispatch(ctx, s, signed)
}

type govApprove struct{ proposalRef }

// Help teaches the command.
func (govApprove) Help() string { return "Example:\n\n    cowboy gov approve 0x… --wait" }

// Run approves.
func (c *govApprove) Run(ctx context.Context, s *session) error {
	return c.send(ctx, s, client.ApproveTx)
}

type govExecute struct{ proposalRef }

// Help teaches the command.
func (govExecute) Help() string {
	return "It fails with wrong_state before its time, and with bad_argument where the parameters would not fit each other any more.\n\nExample:\n\n    cowboy gov execute 0x… --wait"
}

// Run carries out.
func (c *govExecute) Run(ctx context.Context, s *session) error {
	return c.send(ctx, s, client.ExecuteTx)
}

type govStatus struct {
	Param string `placeholder:"PATH" help:"Print this parameter, or this group of parameters, in force."`
}

// Help teaches the command.
func (govStatus) Help() string {
	return "Example:\n\n    cowboy gov status\n    cowboy gov status --param rent"
}

// Run shows governance, or one parameter.
func (c *govStatus) Run(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	g, err := api.Governance(ctx)
	if err != nil {
		return err
	}
	if c.Param == "" {
		return s.show(g, govText(g))
	}
	value := g.Params
	for rest := c.Param; rest != ""; {
		var name string
		var members map[string]json.RawMessage
		name, rest, _ = strings.Cut(rest, ".")
		if json.Unmarshal(value, &members) != nil || members[name] == nil {
			return usagef("no parameter %q", c.Param)
		}
		value = members[name]
	}
	text := &lines{}
	text.add("%s", value)
	return s.show(value, text)
}

func govText(g *rpc.GovernanceReply) *lines {
	text := &lines{}
	text.add("Members: %d, of whom %d decide", len(g.Members), g.Threshold)
	for _, m := range g.Members {
		text.add("  %s", m)
	}
	text.add("Timelock: %d blocks, in an emergency %d (height now %d)", g.Timelock, g.Emergency, g.Height)
	for _, v := range g.Settings {
		text.add("Set: %s = %s", v.Path, v.Value)
	}
	for i := range g.Proposals {
		p := &g.Proposals[i]
		text.add("Proposal %d: %s", p.Number, p.ID)
		text.add("  %s%s", p.Action, proposalDetail(p))
		switch {
		case p.Done > 0:
			text.add("  carried out in block %d", p.Done)
		case p.Ready > 0:
			text.add("  %d of %d approvals, may be carried out from block %d on", len(p.Approvals), g.Threshold, p.Ready)
		default:
			text.add("  %d of %d approvals", len(p.Approvals), g.Threshold)
		}
	}
	return text
}

func proposalDetail(p *rpc.ProposalReply) string {
	var b strings.Builder
	for _, v := range p.Settings {
		b.WriteString(" " + v.Path + "=" + string(v.Value))
	}
	for _, name := range []string{"entitlement", "table", "key", "value", "actor", "meaning"} {
		if v, ok := p.Detail[name]; ok {
			b.WriteString(" " + v)
		}
	}
	return b.String()
}
