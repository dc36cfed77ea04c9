package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

type actorUpgrade struct {
	actorRef
	Code string `required:"" placeholder:"FILE" help:"The new source; - for stdin."`
	sendFlags
}

// Help teaches the command.
func (actorUpgrade) Help() string {
	return "Only a system deployer may, of an actor that it made with sys.upgrade; all others never change: deploy the new source under another address.\n\n" +
		"Example:\n\n    cowboy actor upgrade-actor 0x… --code oracle.py --wait"
}

// Run puts other source in place of an actor's.
func (c *actorUpgrade) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve()
	if err != nil {
		return err
	}
	source, err := s.readSource(c.Code)
	if err != nil {
		return err
	}
	payload := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpActorUpgrade)
	payload = cbor.AppendBytes(cbor.AppendBytes(payload, addr[:]), source)
	to := chain.AddrActors
	signed, err := c.prepare(ctx, s, &chain.Tx{To: &to, Payload: payload})
	if err != nil {
		return err
	}
	return c.dispatch(ctx, s, signed)
}
