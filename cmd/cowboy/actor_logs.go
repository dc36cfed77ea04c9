package main

import (
	"context"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type actorLogs struct {
	actorRef
	Limit  uint64 `default:"20" help:"Most events to print."`
	From   uint64 `placeholder:"HEIGHT" help:"First block; default: that of the chain, with --follow the next."`
	To     uint64 `placeholder:"HEIGHT" help:"Last block; default: the head."`
	After  string `placeholder:"PLACE" help:"Where to go on, as the page before said."`
	Oldest bool   `help:"Oldest event first."`
	Follow bool   `help:"Print events from --from on, oldest first, and then as they come, one a line, until interrupted."`
}

// Help teaches the command.
func (actorLogs) Help() string {
	return "Newest block first.\n\nExample:\n\n    cowboy actor logs 0x… --limit 5\n    cowboy actor logs 0x… --from 1000 --to 2000\n    cowboy actor logs 0x… --follow"
}

// Run prints events.
func (c *actorLogs) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve()
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	if c.Follow {
		if c.To != 0 || c.After != "" {
			return usagef("--follow has no end and begins at --from: leave out --to and --after")
		}
		return c.follow(ctx, s, api, addr)
	}
	page, err := api.ActorLogs(ctx, addr, client.LogsOf{
		From: chain.Height(c.From), To: chain.Height(c.To), Limit: c.Limit, After: c.After, OldestFirst: c.Oldest,
	})
	if err != nil {
		return err
	}
	out := &lines{}
	for i := range page.Logs {
		out.log(&page.Logs[i])
	}
	if n := len(page.Logs); n == 1 {
		out.add("1 event")
	} else {
		out.add("%d events", n)
	}
	if page.Next != "" {
		out.add("more with --after %s", page.Next)
	}
	return s.show(page, out)
}

func (l *lines) log(e *rpc.LogReply) {
	l.add("%d %s %s %s", e.BlockHeight, e.TxHash, e.Name, valueText(e.Value))
}

// follow prints the events up to the head and then those of each block that
// becomes final.
func (c *actorLogs) follow(ctx context.Context, s *session, api *client.Client, addr chain.Address) error {
	head, err := api.Height(ctx)
	if err != nil {
		return err
	}
	if c.From != 0 && chain.Height(c.From) <= head {
		if err := c.stretch(ctx, s, api, addr, chain.Height(c.From), head); err != nil {
			return err
		}
	}
	err = api.Events(ctx, head, func(b *rpc.BlockReply) error {
		h := chain.Height(b.Height)
		if uint64(h) < c.From {
			return nil
		}
		return c.stretch(ctx, s, api, addr, h, h)
	})
	if errors.Is(err, context.Canceled) {
		return nil // interrupted, as it should be
	}
	return err
}

// stretch prints all events of a part of the chain, one a line.
func (c *actorLogs) stretch(ctx context.Context, s *session, api *client.Client, addr chain.Address, from, to chain.Height) error {
	ask := client.LogsOf{From: from, To: to, OldestFirst: true}
	for {
		page, err := api.ActorLogs(ctx, addr, ask)
		if err != nil {
			return err
		}
		for i := range page.Logs {
			text := &lines{}
			text.log(&page.Logs[i])
			if err := s.show(&page.Logs[i], text); err != nil {
				return err
			}
		}
		if ask.After = page.Next; ask.After == "" {
			return nil
		}
	}
}
