package main

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/manifest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

func hexOf(b []byte) string { return "0x" + hex.EncodeToString(b) }

// actorRef names an actor in either spelling.
type actorRef struct {
	Address string `arg:"" optional:"" name:"actor" placeholder:"ADDRESS" help:"The actor."`
	Actor   string `name:"actor" aliases:"address" placeholder:"ADDRESS" help:"The same as a flag."`
}

func (r actorRef) resolve() (chain.Address, error) {
	text, err := exactlyOne("actor", r.Address, r.Actor)
	if err != nil {
		return chain.Address{}, err
	}
	addr, err := client.ParseAddress(text)
	return addr, asUsage(err)
}

type actorGet struct {
	actorRef
	Prefix string `placeholder:"TEXT" help:"Print values of keys that begin so."`
	Limit  uint64 `default:"100" help:"Most values of its storage to print."`
	From   string `placeholder:"SLOT" help:"Where to go on, as the page before said."`
}

// Help teaches the command.
func (actorGet) Help() string {
	return "Example:\n\n    cowboy actor get 0x…\n    cowboy actor get 0x… --prefix order/ --limit 10"
}

// Run prints an actor.
func (c *actorGet) Run(ctx context.Context, s *session) error {
	addr, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	a, err := api.Actor(ctx, addr, c.Prefix, c.From, c.Limit)
	if err != nil {
		return err
	}
	return s.show(a, actorText(a))
}

func actorText(a *rpc.ActorReply) *lines {
	text := &lines{}
	text.add("Actor address: %s", a.Address)
	text.add("Code hash: %s", a.CodeHash)
	text.add("Balance: %s", cby(a.Balance))
	text.add("Creator: %s", a.Creator)
	if a.Parent != nil {
		text.add("Spawned by: %s", *a.Parent)
	}
	text.add("Deployed at height: %d", a.Deployed)
	text.add("Messages sent: %d", a.Nonce)
	text.add("Messages waiting: %d", a.MailboxCount)
	text.add("Cycles left in the next block: %d", a.CyclesLeft)
	if a.Dormant {
		text.add("Dormant: its storage is evicted until somebody restores it")
	}
	grants := make([]manifest.Grant, len(a.Entitlements))
	for i, g := range a.Entitlements {
		grants[i] = manifest.Grant{ID: g.ID, Params: g.Params}
	}
	text.add("Manifest: %s", manifest.JSON(grants))
	text.add("Storage: %d bytes, rent %s", a.StorageBytes, a.Rent.State)
	for _, key := range slices.Sorted(maps.Keys(a.Storage)) {
		text.add("  %s = %s", key, valueText(a.Storage[key]))
	}
	if a.StorageNext != "" {
		text.add("  more with --from %s", a.StorageNext)
	}
	text.add("At height: %d", a.Height)
	return text
}
