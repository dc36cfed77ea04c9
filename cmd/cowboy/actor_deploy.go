package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/manifest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// originFlags say what a deployment makes of which source.
type originFlags struct {
	File string `arg:"" optional:"" name:"file" placeholder:"FILE" help:"Source of the actor; - for stdin."`
	Code string `placeholder:"FILE" help:"The same as a flag."`
	Salt string `placeholder:"0x…" help:"Up to 32 bytes that tell actors of one source apart; default: drawn."`
}

// read returns source and salt.
func (f *originFlags) read(s *session) (source, salt []byte, err error) {
	if source, err = sourceFile(s, f.File, f.Code); err != nil {
		return nil, nil, err
	}
	if f.Salt == "" {
		salt = make([]byte, 16)
		if _, err := rand.Read(salt); err != nil {
			return nil, nil, err
		}
		return source, salt, nil
	}
	salt, err = hex.DecodeString(strings.TrimPrefix(f.Salt, "0x"))
	if err != nil || len(salt) > chain.MaxSaltBytes {
		return nil, nil, usagef("--salt is no hex of at most %d bytes", chain.MaxSaltBytes)
	}
	return source, salt, nil
}

type actorAddress struct {
	originFlags
	From string `placeholder:"ADDRESS" help:"Who deploys; default: the own key."`
}

// Help teaches the command.
func (actorAddress) Help() string {
	return "The last 20 bytes of keccak256(deployer, salt, code hash).\n\nExample:\n\n    cowboy actor address --code counter.py --salt 0x01"
}

// Run prints an address.
func (c *actorAddress) Run(s *session) error {
	if c.Salt == "" {
		return usagef("--salt is missing: without it every deployment has another address")
	}
	source, salt, err := c.read(s)
	if err != nil {
		return err
	}
	from, err := s.addressOr(c.From)
	if err != nil {
		return err
	}
	addr := actor.AddressOf(from, salt, source)
	text := &lines{}
	text.add("Actor address: %s", addr)
	return s.show(map[string]string{"address": addr.String()}, text)
}

type actorDeploy struct {
	originFlags
	Manifest    string `name:"manifest-json" placeholder:"JSON|FILE" help:"Entitlements: {\"entitlements\": [{\"id\": …}]} or a file with that; default: the least that the source needs by the look of it, which is printed."`
	NoInit      bool   `name:"no-init" help:"Call no handler."`
	InitHandler string `name:"init-handler" placeholder:"NAME" help:"Handler to call in the same transaction; default: init, where the source has one."`
	InitPayload string `name:"init-payload" placeholder:"HEX" help:"Its argument as JSON, in hex."`
	InitArgs    string `name:"init-args" placeholder:"JSON" help:"Its argument as JSON."`
	Amount      string `default:"0" placeholder:"AMOUNT" help:"CBY for the actor."`
	sendFlags
}

// Help teaches the command.
func (actorDeploy) Help() string {
	return "Examples:\n\n    cowboy actor deploy --code counter.py --wait\n    cowboy actor deploy --code counter.py --salt 0x01 --init-args '{\"n\": 5}' --wait\n" +
		"    cowboy actor deploy --code bot.py --manifest-json '{\"entitlements\": [{\"id\": \"storage.kv\"}]}'\n\nExample:\n\n    cowboy actor deploy --code counter.py"
}

// deployReply is what actor deploy prints as JSON.
type deployReply struct {
	Address  string            `json:"actor"`
	TxHash   string            `json:"tx_hash"`
	Manifest []manifest.Grant  `json:"entitlements"`
	Receipt  *rpc.ReceiptReply `json:"receipt,omitempty"`
}

// Run deploys an actor.
func (c *actorDeploy) Run(ctx context.Context, s *session) error {
	d, grants, err := c.deployment(s)
	if err != nil {
		return err
	}
	amount, err := client.ParseAmount(c.Amount)
	if err != nil {
		return usageError{err}
	}
	tx := &chain.Tx{Value: amount, Payload: actor.AppendPayload(nil, d)}
	signed, err := c.prepare(ctx, s, tx)
	if err != nil {
		return err
	}
	if c.DryRun {
		return showUnsent(s, signed)
	}
	found, err := s.key()
	if err != nil {
		return err
	}
	reply := deployReply{
		Address: actor.AddressOf(client.AddressOf(found.Key), d.Salt, d.Source).String(), TxHash: signed.Hash.String(), Manifest: grants,
	}
	text := &lines{}
	if c.Manifest == "" {
		text.add("Manifest (inferred): %s", manifest.JSON(grants))
	}
	return c.submit(ctx, s, signed, reply, text)
}

// submit sends the deployment and prints what other programs look for.
func (c *actorDeploy) submit(ctx context.Context, s *session, signed client.Signed, reply deployReply, text *lines) error {
	text.add("Actor address: %s", reply.Address)
	text.add("Transaction hash: %s", reply.TxHash)
	if !c.Wait {
		if _, err := submitted(ctx, s, signed); err != nil {
			return err
		}
		text.add("Actor deployment transaction submitted successfully")
		return s.show(reply, text)
	}
	receipt, err := awaitReceipt(ctx, s, signed, c.Timeout)
	if err != nil {
		return err
	}
	reply.Receipt = receipt
	text.add("Actor deployment transaction submitted successfully")
	receiptLines(text, receipt)
	if err := s.show(reply, text); err != nil {
		return err
	}
	if receipt.Status != "success" {
		return failedOnChain(receipt)
	}
	return nil
}

// deployment puts the payload together.
func (c *actorDeploy) deployment(s *session) (*actor.Deployment, []manifest.Grant, error) {
	source, salt, err := c.read(s)
	if err != nil {
		return nil, nil, err
	}
	grants, err := c.grants(source)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := manifest.Encode(grants)
	if err != nil {
		return nil, nil, usageError{err}
	}
	d := &actor.Deployment{Source: source, Salt: salt, Manifest: encoded}
	handler := c.InitHandler
	if handler == "" && manifest.Defines(source, "init") {
		handler = "init"
	}
	arg, err := argumentFlags{c.InitPayload, c.InitArgs}.encode()
	switch {
	case err != nil:
		return nil, nil, err
	case c.NoInit && c.InitHandler+c.InitPayload+c.InitArgs != "":
		return nil, nil, usagef("--no-init stands beside another flag of init")
	case c.NoInit:
	case handler != "":
		d.Init = &actor.Init{Handler: handler, Payload: arg}
	case c.InitPayload+c.InitArgs != "":
		return nil, nil, usagef("the source has no handler init: name one with --init-handler")
	}
	return d, grants, nil
}

// manifestBytesMax bounds a manifest in a file.
const manifestBytesMax = 1 << 20

func (c *actorDeploy) grants(source []byte) ([]manifest.Grant, error) {
	if c.Manifest == "" {
		grants, err := manifest.Infer(source)
		if err != nil {
			return nil, errors.New(compileText(c.File+c.Code, source, errors.Unwrap(err)))
		}
		return grants, nil
	}
	text := []byte(c.Manifest)
	if !strings.HasPrefix(strings.TrimSpace(c.Manifest), "{") {
		f, err := os.Open(c.Manifest)
		if err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		defer f.Close()
		if text, err = io.ReadAll(io.LimitReader(f, manifestBytesMax)); err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
	}
	grants, err := manifest.Parse(text)
	return grants, asUsage(err)
}
