package main

import (
	"context"
	"errors"

	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type rentCommands struct {
	Status  rentStatus  `cmd:"" help:"Show what an actor owes, and until when it has paid."`
	Prepay  rentPrepay  `cmd:"" help:"Pay an actor's rent ahead, arrears first."`
	Sponsor rentSponsor `cmd:"" help:"The same for an actor that is not yours."`
}

// Help teaches the commands.
func (rentCommands) Help() string {
	return `An actor that stores more than the exempt size (10,240 bytes) pays rent for the rest: once a day out of what was prepaid, then out of its balance. Where neither is enough it is in arrears, and anybody may pay them with a tenth on top. Arrears that are not paid for some ten days end with the storage being evicted: the actor keeps its address, code and money, but does not run until somebody puts its storage back.

    cowboy rent status 0x…                        # is it in arrears?
    cowboy rent prepay 0x… --epochs 720 --wait    # 30 days at one epoch an hour
    cowboy storage backup 0x… -o actor.backup     # before it is too late
    cowboy storage restore actor.backup           # after it was evicted`
}

type rentStatus struct{ actorRef }

// Help teaches the command.
func (rentStatus) Help() string {
	return "State is paid, grace (in arrears), warning (soon to be evicted) or dormant (evicted).\n\nExample:\n\n    cowboy rent status 0x…"
}

// Run prints how an actor stands.
func (c *rentStatus) Run(ctx context.Context, s *session) error {
	addr, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	r, err := api.Rent(ctx, addr)
	if err != nil {
		return err
	}
	return s.show(r, rentText(r))
}

func rentText(r *rpc.RentReply) *lines {
	text := &lines{}
	text.add("Actor address: %s", r.Address)
	text.add("State: %s", r.State)
	text.add("Stored: %d of %d bytes", r.Bytes, r.Quota)
	text.add("Rent: %s per epoch", cby(r.PerEpoch))
	text.add("Prepaid: %s, %d epochs", cby(r.PrepaidWei), r.Prepaid)
	text.add("Paid through epoch: %d (now %d)", r.PaidThrough, r.Epoch)
	text.add("Reserved of its balance: %s", cby(r.Reserve))
	if r.Bond > 0 {
		text.add("Bond for its quota: %s", cby(r.Bond))
	}
	if r.Owed > 0 {
		text.add("Owed: %s", cby(r.Owed))
	}
	if r.EvictionAt > 0 && r.Evicted == nil {
		text.add("Evicted at height: %d (now %d) unless it is paid", r.EvictionAt, r.Height)
	}
	if e := r.Evicted; e != nil {
		text.add("Evicted storage: %d bytes in %d entries, root %s", e.Bytes, e.Entries, e.Root)
		text.add("To restore: %s and fees", cby(e.Cost))
		if p := e.Restoring; p != nil {
			text.add("Being restored by: %s, %d of %d bytes, until height %d", p.By, p.Bytes, e.Bytes, p.Deadline)
		}
	}
	return text
}

// payment is a number of epochs to pay for.
type payment struct {
	actorRef
	Epochs uint64 `required:"" placeholder:"N" help:"Epochs to pay ahead, at the present size and rate."`
	sendFlags
}

type rentPrepay struct{ payment }

// Help teaches the command.
func (rentPrepay) Help() string {
	return "The money leaves your account, not the actor's, and is burned like all rent. An actor that grows afterwards uses it up sooner.\n\nExample:\n\n    cowboy rent prepay 0x… --epochs 720 --wait"
}

type rentSponsor struct{ payment }

// Help teaches the command.
func (rentSponsor) Help() string {
	return "Anybody may pay anybody's rent; nothing comes back.\n\nExample:\n\n    cowboy rent sponsor 0x… --epochs 24 --wait"
}

var errNoRent = errors.New("there is nothing to pay: the actor stores no more than is exempt and owes nothing")

// Run sends the payment.
func (c *payment) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve()
	if err != nil {
		return err
	}
	if c.Epochs == 0 {
		return usagef("--epochs must be above 0")
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	r, err := api.Rent(ctx, addr)
	if err != nil {
		return err
	}
	switch {
	case r.Owed == 0 && r.PerEpoch == 0:
		return errNoRent
	case r.Evicted != nil:
		s.note("the storage is evicted: this pays what is owed, `cowboy storage restore` brings it back")
	}
	s.note("paying %d epochs at %s, and %s of arrears", c.Epochs, cby(r.PerEpoch), cby(r.Owed))
	signed, err := c.prepare(ctx, s, client.RentPrepayTx(addr, c.Epochs))
	if err != nil {
		return err
	}
	return c.dispatch(ctx, s, signed)
}
