package main

import (
	"context"
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type blockCommands struct {
	ByHeight blockByHeight `cmd:"" name:"by-height" help:"A block by its height."`
	ByHash   blockByHash   `cmd:"" name:"by-hash" help:"A block by its hash."`
	Latest   blockLatest   `cmd:"" help:"The newest final block."`
}

type blockByHeight struct {
	Number string `arg:"" optional:"" name:"number" help:"Height of the block."`
	Height string `name:"height" placeholder:"N" help:"The same as a flag."`
}

// Help teaches the command.
func (blockByHeight) Help() string { return "Example:\n\n    cowboy block by-height 1" }

// Run shows a block.
func (c *blockByHeight) Run(ctx context.Context, s *session) error {
	text, err := exactlyOne("height", c.Number, c.Height)
	if err != nil {
		return err
	}
	height, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return usagef("%q is no height: give a number like 1", text)
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	block, err := api.BlockByHeight(ctx, chain.Height(height))
	return showBlock(s, block, err)
}

type blockByHash struct {
	BlockHash string `arg:"" optional:"" name:"block-hash" help:"Hash of the block."`
	Hash      string `name:"hash" placeholder:"0x…" help:"The same as a flag."`
}

// Help teaches the command.
func (blockByHash) Help() string { return "Example:\n\n    cowboy block by-hash 0x…" }

// Run shows a block.
func (c *blockByHash) Run(ctx context.Context, s *session) error {
	text, err := exactlyOne("hash", c.BlockHash, c.Hash)
	if err != nil {
		return err
	}
	hash, err := client.ParseHash(text)
	if err != nil {
		return usageError{err}
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	block, err := api.BlockByHash(ctx, hash)
	return showBlock(s, block, err)
}

type blockLatest struct{}

// Help teaches the command.
func (blockLatest) Help() string { return "Example:\n\n    cowboy block latest" }

// Run shows the newest final block.
func (c *blockLatest) Run(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	block, err := api.LatestBlock(ctx)
	return showBlock(s, block, err)
}

func showBlock(s *session, block *rpc.BlockReply, err error) error {
	if err != nil {
		return err
	}
	return s.show(block, blockText(block))
}

// blockTextTxs bounds the transactions that the text form lists.
const blockTextTxs = 20

func blockText(b *rpc.BlockReply) *lines {
	text := &lines{}
	text.add("Block: %d", b.Height)
	text.add("Hash: %s", b.Hash)
	text.add("Parent: %s", b.Parent)
	text.add("Time: %s", when(b.TimestampMillis))
	text.add("Epoch, view: %d, %d", b.Epoch, b.View)
	text.add("Proposer: %s", b.Proposer)
	text.add("State root: %s", b.StateRoot)
	text.add("Size: %d bytes", b.SizeBytes)
	text.add("Transactions: %d", len(b.Txs))
	for i, tx := range b.Txs {
		if i == blockTextTxs {
			text.add("  … %d more: use --json to see all", len(b.Txs)-i)
			break
		}
		text.add("  %4d %-6s %s from %s nonce %d", tx.Slot, tx.Lane, tx.Hash, tx.Sender, tx.Nonce)
	}
	return text
}

// when spells a block's time in UTC with milliseconds.
func when(millis uint64) string {
	return time.UnixMilli(int64(millis)).UTC().Format("2006-01-02 15:04:05.000 MST")
}

func txText(t *rpc.TxReply) *lines {
	text := &lines{}
	text.add("Transaction hash: %s", t.Hash)
	if t.BlockHeight != nil {
		text.add("Included in block: %d", *t.BlockHeight)
	} else {
		text.add("Included in block: none yet")
	}
	text.add("From: %s nonce %d", t.Sender, t.Nonce)
	to := "none (deploys an actor)"
	if t.To != nil {
		to = *t.To
	}
	text.add("To: %s", to)
	text.add("Amount: %s", cby(t.Value))
	text.add("Lane: %s", t.Lane)
	text.add("Limits: %d cycles at most %d each, %d cells at most %d each",
		t.CyclesLimit, t.MaxFeePerCycle, t.CellsLimit, t.MaxFeePerCell)
	text.add("Payload: %s", t.Payload)
	return text
}

func receiptText(r *rpc.ReceiptReply) *lines {
	text := &lines{}
	text.add("Transaction hash: %s", r.TxHash)
	receiptLines(text, r)
	return text
}

// receiptLines adds everything but the hash.
func receiptLines(text *lines, r *rpc.ReceiptReply) {
	text.add("Included in block: %d", r.BlockHeight)
	text.add("Fee: %s (%d cycles, %d cells)", cby(r.Fee), r.CyclesUsed, r.CellsUsed)
	status := r.Status
	if r.RevertReason != "" {
		status += ": " + r.RevertReason
	}
	text.add("Status: %s", status)
	if r.Output != "0x" && r.Output != "" {
		text.add("Output: %s", valueText(r.Value))
	}
	for _, e := range r.Events {
		text.add("Event: %s from %s data %s", e.Name, e.Emitter, eventText(e))
	}
	for _, m := range r.Messages {
		status := m.Status
		if m.Reason != "" {
			status += ": " + m.Reason
		}
		text.add("Message: %s to %s depth %d, %d cycles, %s", m.ID, m.To, m.Depth, m.Cycles, status)
	}
}

// eventText is what an event says: a value, else its bytes.
func eventText(e rpc.EventReply) string {
	if v := valueText(e.Value); v != "null" {
		return v
	}
	return e.Data
}
