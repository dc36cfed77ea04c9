package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/tools"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
)

type snapshotCommand struct {
	Export snapshotExportCommand `cmd:"" help:"Write the state of a stopped node, with block and certificate, to a file."`
	Verify snapshotVerifyCommand `cmd:"" help:"Check a snapshot against a genesis alone: certificate, every chunk, the whole root."`
	Import snapshotImportCommand `cmd:"" help:"Let a data folder without a chain begin with a snapshot. Cut off, it goes on when it is called again."`
}

// snapshotBuffer is what is read and written at a time.
const snapshotBuffer = 1 << 20

type snapshotExportCommand struct {
	Data string `help:"Data folder of a stopped node." required:"" type:"existingdir" placeholder:"DIR"`
	Out  string `arg:"" help:"File to write, or - for standard output. It must not exist." default:"-"`
}

// Run writes to a file beside the one that was asked for and gives it its name
// when it is whole.
func (c *snapshotExportCommand) Run(ctx context.Context) error {
	if c.Out == "-" {
		out := bufio.NewWriterSize(os.Stdout, snapshotBuffer)
		sum, err := tools.ExportSnapshot(ctx, c.Data, out, showProgress("exported"))
		if err = errors.Join(err, out.Flush()); err != nil {
			return err
		}
		return describe(os.Stderr, "exported", sum)
	}
	if _, err := os.Stat(c.Out); err == nil {
		return fmt.Errorf("%s exists already", c.Out)
	}
	part, err := os.CreateTemp(filepath.Dir(c.Out), filepath.Base(c.Out)+".part-")
	if err != nil {
		return fmt.Errorf("create snapshot: %w", err)
	}
	defer os.Remove(part.Name()) // of no use unless it was renamed
	out := bufio.NewWriterSize(part, snapshotBuffer)
	sum, err := tools.ExportSnapshot(ctx, c.Data, out, showProgress("exported"))
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), c.Out); err != nil {
		return fmt.Errorf("name snapshot: %w", err)
	}
	return describe(os.Stdout, "exported", sum)
}

type snapshotVerifyCommand struct {
	Genesis string `help:"Genesis file of the chain." required:"" type:"existingfile" placeholder:"FILE"`
	File    string `arg:"" help:"Snapshot file, or - for standard input."`
}

// Run checks a file and says what is in it.
func (c *snapshotVerifyCommand) Run(ctx context.Context) error {
	raw, err := os.ReadFile(c.Genesis)
	if err != nil {
		return fmt.Errorf("read genesis: %w", err)
	}
	genesis, err := genesis.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Genesis, err)
	}
	return withSnapshot(c.File, func(r io.Reader) error {
		sum, err := tools.VerifySnapshot(ctx, genesis, r, showProgress("verified"))
		if err != nil {
			return err
		}
		return describe(os.Stdout, "ok:", sum)
	})
}

type snapshotImportCommand struct {
	Data      string `help:"Data folder with genesis.json and keys.json, and no chain." required:"" type:"existingdir" placeholder:"DIR"`
	UnusedKey bool   `help:"This validator's key has never signed anything, here or elsewhere: start a new watermark. Wrong, it costs the stake."`
	File      string `arg:"" help:"Snapshot file, or - for standard input."`
}

// Run fills a data folder.
func (c *snapshotImportCommand) Run(ctx context.Context) error {
	return withSnapshot(c.File, func(r io.Reader) error {
		sum, err := tools.ImportSnapshot(ctx, c.Data, r, c.UnusedKey, showProgress("imported"))
		if err != nil {
			return err
		}
		if err := describe(os.Stdout, "imported", sum); err != nil {
			return err
		}
		_, err = fmt.Printf("cowboyd run --data %s goes on from there\n", c.Data)
		return err
	})
}

func withSnapshot(name string, read func(io.Reader) error) error {
	if name == "-" {
		return read(bufio.NewReaderSize(os.Stdin, snapshotBuffer))
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open snapshot: %w", err)
	}
	defer f.Close()
	return read(bufio.NewReaderSize(f, snapshotBuffer))
}

// showProgress writes one line that changes, in steps of a hundredth.
func showProgress(what string) snapshot.Progress {
	last := -1
	return func(covered uint32, so snapshot.Summary) {
		if percent := int(covered * 100 >> 16); percent != last {
			last = percent
			fmt.Fprintf(os.Stderr, "\r%s %3d %%, %d accounts ", what, percent, so.Accounts)
		}
	}
}

func describe(w io.Writer, what string, s snapshot.Summary) error {
	fmt.Fprintln(os.Stderr) // ends the line of the progress
	size := ""
	if s.Bytes > 0 {
		size = fmt.Sprintf(", %d bytes", s.Bytes)
	}
	_, err := fmt.Fprintf(w, "%s the state of block %d %s: %d accounts, %d storage values in %d chunks%s, state root %s\n",
		what, s.Height, s.Digest, s.Accounts, s.Slots, s.Chunks, size, s.Root)
	return err
}
