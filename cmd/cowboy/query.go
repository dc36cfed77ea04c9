package main

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/release"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type queryCommands struct {
	Blocks       queryBlocks       `cmd:"" help:"Final blocks, newest first."`
	Transactions queryTransactions `cmd:"" help:"Final transactions, newest block first."`
	Height       queryHeight       `cmd:"" help:"Height of the newest final block."`
	Basefee      queryBaseFee      `cmd:"" help:"Prices of the next block."`
}

// pageFlags choose a part of a list.
type pageFlags struct {
	Limit  uint64 `default:"20" help:"Most lines to print."`
	Offset uint64 `help:"Blocks to skip from the newest."`
}

// clamp lowers the limit to what a node serves at once and says so.
func (f *pageFlags) clamp(s *session) error {
	if f.Limit == 0 {
		return usagef("--limit must be above 0")
	}
	if most := rpc.DefaultConfig().ListMax; f.Limit > most {
		s.note("limit %d is above what a node lists at once: using %d, go on with --offset", f.Limit, most)
		f.Limit = most
	}
	return nil
}

type queryBlocks struct{ pageFlags }

// Help teaches the command.
func (queryBlocks) Help() string { return "Example:\n\n    cowboy query blocks --limit 5" }

// Run lists blocks.
func (c *queryBlocks) Run(ctx context.Context, s *session) error {
	if err := c.clamp(s); err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	list, err := api.Blocks(ctx, c.Offset, c.Limit)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("%-8s %-23s %5s %9s %s", "HEIGHT", "TIME", "TXS", "BYTES", "HASH")
	for _, b := range list.Blocks {
		text.add("%-8d %-23s %5d %9d %s", b.Height, when(b.TimestampMillis)[:23], b.TxCount, b.SizeBytes, b.Hash)
	}
	text.add("%d of %d blocks", len(list.Blocks), list.TotalCount)
	return s.show(list, text)
}

type queryTransactions struct {
	pageFlags
	Blocks uint64 `default:"100" help:"Most blocks to look through."`
}

// Help teaches the command.
func (queryTransactions) Help() string {
	return "Looks through the newest blocks until it has found enough.\n\nExample:\n\n    cowboy query transactions --limit 10"
}

// foundTx is a line of query transactions.
type foundTx struct {
	rpc.BlockTxReply
	BlockHeight uint64 `json:"block_height"`
}

// transactionsReply is what query transactions prints as JSON.
type transactionsReply struct {
	Transactions []foundTx `json:"transactions"`
	FromHeight   uint64    `json:"from_height"` // oldest block looked at
	ToHeight     uint64    `json:"to_height"`
}

// Run lists transactions.
func (c *queryTransactions) Run(ctx context.Context, s *session) error {
	if err := c.clamp(s); err != nil {
		return err
	}
	reply, err := c.search(ctx, s)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("%-8s %5s %-6s %-66s %-42s %s", "HEIGHT", "SLOT", "LANE", "HASH", "SENDER", "NONCE")
	for _, tx := range reply.Transactions {
		text.add("%-8d %5d %-6s %s %s %d", tx.BlockHeight, tx.Slot, tx.Lane, tx.Hash, tx.Sender, tx.Nonce)
	}
	text.add("%d transactions in blocks %d to %d", len(reply.Transactions), reply.FromHeight, reply.ToHeight)
	return s.show(reply, text)
}

// search fetches only blocks that the list shows to have transactions.
func (c *queryTransactions) search(ctx context.Context, s *session) (*transactionsReply, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	most := rpc.DefaultConfig().ListMax
	if c.Blocks > most {
		s.note("--blocks %d is above what a node lists at once: using %d", c.Blocks, most)
		c.Blocks = most
	}
	list, err := api.Blocks(ctx, c.Offset, max(c.Blocks, 1))
	if err != nil {
		return nil, err
	}
	reply := &transactionsReply{Transactions: []foundTx{}}
	for i, line := range list.Blocks {
		if i == 0 {
			reply.ToHeight = line.Height
		}
		reply.FromHeight = line.Height
		if line.TxCount == 0 {
			continue
		}
		block, err := api.BlockByHeight(ctx, chain.Height(line.Height))
		if err != nil {
			return nil, err
		}
		for _, tx := range block.Txs {
			if uint64(len(reply.Transactions)) == c.Limit {
				return reply, nil
			}
			reply.Transactions = append(reply.Transactions, foundTx{tx, block.Height})
		}
	}
	return reply, nil
}

type queryHeight struct{}

// Help teaches the command.
func (queryHeight) Help() string { return "Example:\n\n    cowboy query height" }

// Run prints the height.
func (c *queryHeight) Run(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	height, err := api.Height(ctx)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("%d", height)
	return s.show(rpc.HeightReply{Height: uint64(height)}, text)
}

type queryBaseFee struct{}

// Help teaches the command.
func (queryBaseFee) Help() string { return "Example:\n\n    cowboy query basefee" }

// Run prints prices and limits, lanes in their order in a block.
func (c *queryBaseFee) Run(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	quote, err := api.BaseFee(ctx)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Chain id: %d", quote.ChainID)
	text.add("Base fee in base units: %d a cycle, %d a cell", quote.Cycle, quote.Cell)
	for lane := range chain.NumLanes {
		if fee, ok := quote.Lanes[lane.String()]; ok {
			text.add("  %-6s lane: %d a cycle, %d a cell", lane, fee.Cycle, fee.Cell)
		}
	}
	text.add("Most of one transaction: %d cycles, %d cells", quote.MaxTx.Cycles, quote.MaxTx.Cells)
	return s.show(quote, text)
}

type versionCommand struct{}

// Help teaches the command.
func (versionCommand) Help() string { return "Example:\n\n    cowboy version" }

// Run prints the version.
func (c *versionCommand) Run(ctx context.Context, s *session) error {
	text := &lines{}
	text.add("cowboy %s", release.Version)
	return s.show(map[string]string{"version": release.Version}, text)
}
