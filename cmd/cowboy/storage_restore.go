package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

type storageRestore struct {
	File        string        `arg:"" help:"The backup."`
	Blocks      uint64        `default:"3600" help:"Blocks within which nobody else may put data, as long as parts come; then others may begin anew."`
	Payer       string        `placeholder:"ADDRESS" help:"Who pays the rent and has allowed it (cowboy storage allow); default: the sender."`
	ChunkBytes  int           `name:"chunk-bytes" default:"65536" help:"Most bytes of storage in one transaction."`
	TipPerCycle uint64        `placeholder:"N" name:"tip-per-cycle" help:"Tip in base units, for each of the transactions."`
	Timeout     time.Duration `default:"60s" help:"How long to wait for each of the transactions."`
}

// Help teaches the command.
func (storageRestore) Help() string {
	return `Anybody who has the data may do it. The file is checked against the root that the chain has recorded before anything is sent. Then it is put back in parts, each a transaction that is waited for, and in the end the missed rent and a tenth of it are paid and the actor runs again. A bond is put down at first that comes back in the end, and is lost if nothing is put for a minute (rent.restore_idle_blocks) and others begin anew.

If it is interrupted, run it again: it goes on behind the last part that the chain has.

Example:

    cowboy storage restore actor.backup`
}

// restoredReply is what storage restore prints as JSON.
type restoredReply struct {
	Actor        string    `json:"actor"`
	Root         string    `json:"storage_root"`
	Bytes        uint64    `json:"storage_bytes"`
	Transactions int       `json:"transactions"`
	Fees         chain.Wei `json:"fees"`
	Height       uint64    `json:"height"` // from which on the actor runs
}

// restoring is a restoration under way.
type restoring struct {
	command *storageRestore
	s       *session
	api     *client.Client
	file    *client.Backup
	own     chain.Address
	payer   *chain.Address // nil: the sender
	reply   restoredReply
}

// Run puts a storage back.
func (c *storageRestore) Run(ctx context.Context, s *session) error {
	if c.Blocks == 0 || c.Blocks > rent.MaxBlocksAhead || c.ChunkBytes < 1 || c.ChunkBytes > client.RestoreChunkMax {
		return usagef("--blocks must be from 1 to %d, --chunk-bytes from 1 to %d", rent.MaxBlocksAhead, client.RestoreChunkMax)
	}
	b, err := openBackup(c.File)
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	found, err := s.key()
	if err != nil {
		return err
	}
	r := &restoring{command: c, s: s, api: api, file: b, own: client.AddressOf(found.Key)}
	if c.Payer != "" {
		payer, err := client.ParseAddress(c.Payer)
		if err != nil {
			return err
		}
		r.payer = &payer
	}
	r.reply = restoredReply{Actor: b.Actor.String(), Root: b.Root.String(), Bytes: b.Size.Bytes}
	if err := r.run(ctx); err != nil {
		if ctx.Err() != nil {
			s.note("interrupted: the same command goes on behind the last part that the chain has")
		}
		return err
	}
	text := &lines{}
	text.add("Restored: %s", r.reply.Actor)
	text.add("Storage: %d bytes, root %s", r.reply.Bytes, r.reply.Root)
	text.add("Transactions: %d, fees %s", r.reply.Transactions, cby(r.reply.Fees))
	return s.show(r.reply, text)
}

func (r *restoring) run(ctx context.Context) error {
	status, err := r.checkFile(ctx)
	if err != nil {
		return err
	}
	chunks, err := r.rest(ctx, status)
	if err != nil {
		return err
	}
	if p := status.Evicted.Restoring; p == nil || status.Height >= p.Deadline || p.By != r.own.String() {
		if err := r.sendAndWait(ctx, client.RestoreBeginTx(r.file.Actor, chain.Height(status.Height+r.command.Blocks))); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		r.s.note("begun with a bond of %s: until height %d nobody else may put data, as long as parts come", cby(status.Evicted.Bond), status.Height+r.command.Blocks)
	}
	done := r.file.Size.Bytes
	for _, c := range chunks {
		done -= sizeOf(c)
	}
	for i, c := range chunks {
		if err := r.sendAndWait(ctx, client.RestorePutTx(r.file.Actor, c)); err != nil {
			return fmt.Errorf("part %d of %d: %w", i+1, len(chunks), err)
		}
		done += sizeOf(c)
		r.s.note("part %d of %d: %d of %d bytes", i+1, len(chunks), done, r.file.Size.Bytes)
	}
	r.s.note("paying %s of rent", cby(status.Evicted.Cost))
	if err := r.sendAndWait(ctx, client.RestoreCommitTx(r.file.Actor, r.payer)); err != nil {
		err = fmt.Errorf("commit: %w", err)
		var failed *failedTx
		if errors.As(err, &failed) && failed.reason == chain.CodeName(chain.CodeBadProof) {
			return r.giveUp(ctx, err)
		}
		return err
	}
	return nil
}

// checkFile says whether the file is what the chain lacks.
func (r *restoring) checkFile(ctx context.Context) (*rpc.RentReply, error) {
	quote, err := r.api.BaseFee(ctx)
	if err != nil {
		return nil, err
	}
	if quote.ChainID != r.file.ChainID {
		return nil, fmt.Errorf("the backup is of chain %d, the node is on chain %d", r.file.ChainID, quote.ChainID)
	}
	status, err := r.api.Rent(ctx, r.file.Actor)
	if err != nil {
		return nil, err
	}
	e := status.Evicted
	switch {
	case e == nil:
		return nil, fmt.Errorf("%s is not evicted (%s): there is nothing to restore", r.file.Actor, status.State)
	case e.Root != r.file.Root.String():
		return nil, fmt.Errorf("the backup, of height %d, is not what was evicted: it has the root %s, the chain recorded %s", r.file.Height, r.file.Root, e.Root)
	}
	if p := e.Restoring; p != nil && p.By != r.own.String() && status.Height < p.Lapses {
		return nil, fmt.Errorf("%s is restoring it, until height %d (now %d) if no part comes: nobody else may before", p.By, p.Lapses, status.Height)
	}
	return status, nil
}

// rest returns the parts that are still to be put. A restoration that is our own
// and still open goes on where its record says, if what is there is of this file.
func (r *restoring) rest(ctx context.Context, status *rpc.RentReply) ([][]state.StorageChange, error) {
	p := status.Evicted.Restoring
	left := *r.file
	if p != nil && p.By == r.own.String() && status.Height < p.Deadline && p.Bytes > 0 {
		cursor, err := client.ParseHash(p.Cursor)
		if err != nil {
			return nil, fmt.Errorf("cursor of the restoration: %w", err)
		}
		left.Entries = nil
		there := r.file.Size.Bytes
		for _, e := range r.file.Entries {
			if sum := keccak.Sum256([]byte(e.Key)); bytes.Compare(sum[:], cursor[:]) > 0 {
				left.Entries = append(left.Entries, e)
				there -= uint64(len(e.Key) + len(e.Value))
			}
		}
		if there != p.Bytes {
			return nil, r.giveUp(ctx, fmt.Errorf("%d bytes were put that are not those of this file", p.Bytes))
		}
		r.s.note("going on: %d of %d bytes are there", p.Bytes, r.file.Size.Bytes)
	}
	return left.Chunks(r.command.ChunkBytes)
}

// giveUp begins nothing anew by itself: it ends what can only be wrong, and says why.
func (r *restoring) giveUp(ctx context.Context, cause error) error {
	if err := r.sendAndWait(ctx, client.RestoreAbortTx(r.file.Actor)); err != nil {
		return errors.Join(cause, fmt.Errorf("drop what was put: %w", err))
	}
	return fmt.Errorf("%w: it was dropped, run the command again to begin anew", cause)
}

// sendAndWait sends one transaction and waits for it.
func (r *restoring) sendAndWait(ctx context.Context, tx *chain.Tx) error {
	flags := sendFlags{priceFlags: priceFlags{TipPerCycle: r.command.TipPerCycle}}
	signed, err := flags.prepare(ctx, r.s, tx)
	if err != nil {
		return err
	}
	receipt, err := awaitReceipt(ctx, r.s, signed, r.command.Timeout)
	if err != nil {
		return err
	}
	r.reply.Transactions++
	r.reply.Fees += receipt.Fee
	r.reply.Height = receipt.BlockHeight + 1
	if receipt.Status != "success" {
		return &failedTx{failedOnChain(receipt).Error(), receipt.RevertReason}
	}
	return nil
}

func sizeOf(chunk []state.StorageChange) (n uint64) {
	for _, e := range chunk {
		n += state.SizeOf(e.Key, e.Value).Bytes
	}
	return n
}
