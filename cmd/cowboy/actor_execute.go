package main

import (
	"context"
	"errors"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type actorExecute struct {
	Actor   string `required:"" placeholder:"ADDRESS" help:"Whom to send it."`
	Handler string `required:"" placeholder:"NAME" help:"Handler that receives it."`
	argumentFlags
	Amount string `default:"0" placeholder:"AMOUNT" help:"CBY that goes with it."`
	sendFlags
}

// Help teaches the command.
func (actorExecute) Help() string {
	return "Without limits the node tries the message first and says what it needs.\n\nExample:\n\n    cowboy actor execute --actor 0x… --handler add --args 5 --wait"
}

// Run sends a message.
func (c *actorExecute) Run(ctx context.Context, s *session) error {
	to, err := client.ParseAddress(c.Actor)
	if err != nil {
		return usageError{err}
	}
	amount, err := client.ParseAmount(c.Amount)
	if err != nil {
		return usageError{err}
	}
	arg, err := c.encode()
	if err != nil {
		return err
	}
	tx := &chain.Tx{To: &to, Value: amount, Payload: actor.AppendMessage(nil, c.Handler, arg)}
	signed, err := c.prepare(ctx, s, tx)
	if err != nil {
		return err
	}
	return c.dispatch(ctx, s, signed)
}

type actorRead struct {
	Actor   string `required:"" placeholder:"ADDRESS" help:"Whom to ask."`
	Handler string `required:"" placeholder:"NAME" help:"Handler that answers; what would change anything is refused."`
	argumentFlags
	From        string `placeholder:"ADDRESS" help:"Sender that the handler sees; default: nobody."`
	CyclesLimit uint64 `placeholder:"N" name:"cycles-limit" help:"Most cycles to use; default: those of the largest transaction."`
}

// Help teaches the command.
func (actorRead) Help() string {
	return "Costs nothing and changes nothing.\n\nExample:\n\n    cowboy actor read --actor 0x… --handler get"
}

// Run asks a handler.
func (c *actorRead) Run(ctx context.Context, s *session) error {
	arg, err := c.encode()
	if err != nil {
		return err
	}
	to, err := client.ParseAddress(c.Actor)
	if err != nil {
		return usageError{err}
	}
	ask := rpc.ReadRequest{Actor: to.String(), Handler: c.Handler, Payload: hexOf(arg), Cycles: c.CyclesLimit}
	if c.From != "" {
		from, err := client.ParseAddress(c.From)
		if err != nil {
			return usageError{err}
		}
		ask.Sender = from.String()
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	reply, err := api.ReadActor(ctx, ask)
	if err != nil {
		return err
	}
	if reply.Status != "success" {
		s.note("%s", strings.TrimSpace(reply.Detail))
		return errors.New("the handler failed: " + reason(reply.Code, reply.RevertReason))
	}
	text := &lines{}
	text.add("Value: %s", valueText(reply.Value))
	text.add("Cycles used: %d", reply.CyclesUsed)
	text.add("At height: %d", reply.Height)
	return s.show(reply, text)
}

type actorFund struct {
	actorRef
	Amount string `required:"" placeholder:"AMOUNT" help:"In CBY (1.5) or base units (1500000000wei)."`
	sendFlags
}

// Help teaches the command.
func (actorFund) Help() string {
	return "The actor keeps it only with the entitlement econ.hold_balance.\n\nExample:\n\n    cowboy actor fund-actor 0x… --amount 10 --wait"
}

// Run gives an actor money without calling it.
func (c *actorFund) Run(ctx context.Context, s *session) error {
	to, err := c.resolve()
	if err != nil {
		return err
	}
	amount, err := client.ParseAmount(c.Amount)
	if err != nil {
		return usageError{err}
	}
	payload := cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpActorFund)
	system := chain.AddrActors
	tx := &chain.Tx{To: &system, Value: amount, Payload: cbor.AppendBytes(payload, to[:])}
	signed, err := c.prepare(ctx, s, tx)
	if err != nil {
		return err
	}
	return c.dispatch(ctx, s, signed)
}
