package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/light"
)

type storageCommands struct {
	Backup  storageBackup  `cmd:"" help:"Save all that an actor stores to a file."`
	Restore storageRestore `cmd:"" help:"Put an evicted storage back from a file."`
	Abort   storageAbort   `cmd:"" help:"Drop a restoration that was begun."`
	Allow   storageAllow   `cmd:"" help:"Agree to pay for somebody's restoration."`
}

// Help teaches the commands.
func (storageCommands) Help() string {
	return `The chain forgets a storage that it evicts and keeps only its root. Whoever has the data may put it back: it is yours to keep a backup, and a new one after each change that matters.

    cowboy storage backup 0x… -o actor.backup
    cowboy rent status 0x…                     # dormant: it was evicted
    cowboy storage restore actor.backup`
}

type storageBackup struct {
	actorRef
	Out     string `required:"" short:"o" placeholder:"FILE" help:"File to write."`
	Genesis string `placeholder:"FILE" help:"Genesis file of the chain; default: the one that the node shows, which is then trusted."`
}

// Help teaches the command.
func (storageBackup) Help() string {
	return `All entries are of one block. They are checked against the storage root of the account, and that against the certificate of the chain's validators, before the file is written; then the file is read back and checked again. It is text: a line that says what it is, and a line of JSON for each entry.

Example:

    cowboy storage backup 0x… -o actor.backup --genesis genesis.json`
}

// backupReply is what storage backup prints as JSON.
type backupReply struct {
	File      string `json:"file"`
	Actor     string `json:"actor"`
	Height    uint64 `json:"height"`
	BlockHash string `json:"block_hash"`
	Root      string `json:"storage_root"`
	Bytes     uint64 `json:"storage_bytes"`
	Entries   uint64 `json:"storage_entries"`
}

// Run saves the storage.
func (c *storageBackup) Run(ctx context.Context, s *session) error {
	addr, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	g, err := c.genesis(ctx, s, api)
	if err != nil {
		return err
	}
	v, err := light.NewVerifier(g)
	if err != nil {
		return err
	}
	b, err := api.BackUp(ctx, v, g.ChainID, addr)
	if err != nil {
		return err
	}
	if err := saveBackup(c.Out, b); err != nil {
		return err
	}
	text := &lines{}
	text.add("Storage saved to: %s", c.Out)
	text.add("Verified: %d bytes in %d entries have the root %s", b.Size.Bytes, b.Size.Entries, b.Root)
	text.add("After block: %d, %s", b.Height, b.BlockHash)
	return s.show(backupReply{
		c.Out, b.Actor.String(), uint64(b.Height), b.BlockHash.String(), b.Root.String(), b.Size.Bytes, b.Size.Entries,
	}, text)
}

func (c *storageBackup) genesis(ctx context.Context, s *session, api *client.Client) (*genesis.Genesis, error) {
	if c.Genesis == "" {
		s.note("the genesis is the node's word: --genesis FILE checks the backup against one that you trust")
		return api.Genesis(ctx)
	}
	text, err := readFileBounded(c.Genesis)
	if err != nil {
		return nil, fmt.Errorf("read genesis: %w", err)
	}
	return genesis.Parse(text)
}

// saveBackup writes the file beside its place, reads it back, and puts it there
// only if it is whole: an older backup is not lost to a full disk.
func saveBackup(path string, b *client.Backup) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the reason is being reported
		}
	}()
	err = b.Write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	again, err := openBackup(f.Name())
	if err != nil {
		return fmt.Errorf("%s, read back: %w", path, err)
	}
	if again.Root != b.Root {
		return fmt.Errorf("%s, read back: %w", path, client.ErrBackup)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return client.SyncFolder(filepath.Dir(path))
}

func openBackup(path string) (*client.Backup, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	b, err := client.ReadBackup(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

type storageAbort struct {
	actorRef
	sendFlags
}

// Help teaches the command.
func (storageAbort) Help() string {
	return "Who began a restoration may drop it always, anybody when its deadline has passed, no part has come for a minute, or its data has proved to be wrong. Its bond is burned.\n\nExample:\n\n    cowboy storage abort 0x… --wait"
}

// Run drops what was put.
func (c *storageAbort) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve()
	if err != nil {
		return err
	}
	signed, err := c.prepare(ctx, s, client.RestoreAbortTx(addr))
	if err != nil {
		return err
	}
	return c.dispatch(ctx, s, signed)
}
