package main

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type actorLogs struct {
	actorRef
	Limit  uint64 `placeholder:"N" help:"Most events to print; default: 20, with --follow all that come."`
	From   uint64 `placeholder:"HEIGHT" help:"First block; default: that of the chain, with --follow the next."`
	To     uint64 `placeholder:"HEIGHT" help:"Last block; default: the head."`
	After  string `placeholder:"PLACE" help:"Where to go on, as the page before said."`
	Oldest bool   `help:"Oldest event first."`
	Follow bool   `help:"Print events from --from on, oldest first, and then as they come, one a line, until interrupted or --limit are printed."`
}

// Help teaches the command.
func (actorLogs) Help() string {
	return "Newest block first.\n\nExample:\n\n    cowboy actor logs 0x… --limit 5\n    cowboy actor logs 0x… --from 1000 --to 2000\n    cowboy actor logs 0x… --follow\n    cowboy actor logs 0x… --follow --limit 1   # waits for the next"
}

// Run prints events.
func (c *actorLogs) Run(ctx context.Context, s *session) error {
	addr, api, err := ask(s, c.resolve)
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
		From: chain.Height(c.From), To: chain.Height(c.To), Limit: cmp.Or(c.Limit, 20), After: c.After, OldestFirst: c.Oldest,
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
// becomes final, until interrupted or at the limit.
func (c *actorLogs) follow(ctx context.Context, s *session, api *client.Client, addr chain.Address) error {
	head, err := api.Height(ctx)
	if err != nil {
		return err
	}
	tail := &logTail{session: s, api: api, actor: addr, left: cmp.Or(c.Limit, math.MaxUint64)}
	if c.From != 0 && chain.Height(c.From) <= head {
		err = tail.print(ctx, chain.Height(c.From), head)
	}
	if err == nil {
		err = api.Events(ctx, head, func(b *rpc.BlockReply) error {
			if b.Height < c.From {
				return nil
			}
			return tail.print(ctx, chain.Height(b.Height), chain.Height(b.Height))
		})
	}
	if errors.Is(err, errTailDone) || errors.Is(err, context.Canceled) { // interrupted, as it should be
		return nil
	}
	return err
}

// errTailDone ends a tail that has printed as many events as were asked for.
var errTailDone = errors.New("all events asked for are printed")

// logTail prints events of an actor as they come.
type logTail struct {
	session *session
	api     *client.Client
	actor   chain.Address
	left    uint64 // events still to print
}

// print prints the events of a part of the chain, one a line, oldest first, and
// returns errTailDone behind the last that was asked for.
func (t *logTail) print(ctx context.Context, from, to chain.Height) error {
	ask := client.LogsOf{From: from, To: to, OldestFirst: true}
	for {
		page, err := t.api.ActorLogs(ctx, t.actor, ask)
		if err != nil {
			return err
		}
		for i := range page.Logs {
			text := &lines{}
			text.log(&page.Logs[i])
			if err := t.session.show(&page.Logs[i], text); err != nil {
				return err
			}
			if t.left--; t.left == 0 {
				return errTailDone
			}
		}
		if ask.After = page.Next; ask.After == "" {
			return nil
		}
	}
}
