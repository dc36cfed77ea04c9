package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/blockdoc"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

type blockCommand struct {
	Export blockExportCommand `cmd:"" help:"Write a block of a stopped node as a document that can be altered."`
	Edit   blockEditCommand   `cmd:"" help:"Alter fields of such a document."`
	Check  blockCheckCommand  `cmd:"" help:"Say what a validator makes of the block: valid, or the rule that refuses it."`
}

type blockExportCommand struct {
	Block string `arg:"" help:"Height, or digest as 0x and hex."`
	Data  string `help:"Data folder of a stopped node." required:"" type:"existingdir" placeholder:"DIR"`
	Out   string `short:"o" help:"File to write, or - for standard output." default:"-" placeholder:"FILE"`
}

// Run writes one block.
func (c *blockExportCommand) Run() error {
	d, err := tools.ExportBlock(c.Data, c.Block)
	if err != nil {
		return err
	}
	return writeBlock(c.Out, d)
}

type blockEditCommand struct {
	File   string   `arg:"" help:"Document, or - for standard input."`
	Set    []string `help:"Give a field another value, such as header.state_root=flip, header.used.user.cycles=+1, txs.0.value=5, txs=reverse. Repeat it for more." placeholder:"FIELD=VALUE" sep:"none"`
	Resign string   `help:"Sign anew what is stale: altered transactions, roots of the bodies, proof of order, certificate of a quorum. DIR holds the keys of a development chain: its folder, or one validator's." type:"existingdir" placeholder:"DIR"`
	Out    string   `short:"o" help:"File to write. Default: the one that was read." placeholder:"FILE"`
}

// Run alters a document.
func (c *blockEditCommand) Run() error {
	d, err := readBlock(c.File)
	if err != nil {
		return err
	}
	before := slices.Clone(d.Block.Txs)
	named := map[string]bool{}
	for _, s := range c.Set {
		path, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("--set %s: want FIELD=VALUE", s)
		}
		if err := d.Set(path, value); err != nil {
			return err
		}
		named[path] = true
	}
	if c.Resign != "" {
		signers, err := tools.BlockSigners(c.Resign)
		if err != nil {
			return err
		}
		switch err := d.Renew(before, signers, named); {
		case errors.Is(err, blockdoc.ErrNoQuorum):
			fmt.Fprintf(os.Stderr, "%v; the rest is signed\n", err)
		case errors.Is(err, blockdoc.ErrNoKey):
			return fmt.Errorf("%w in %s: name the folder of the whole chain, such as the one that genesis new wrote", err, c.Resign)
		case err != nil:
			return err
		}
	}
	if c.Out == "" {
		c.Out = c.File
	}
	return writeBlock(c.Out, d)
}

type blockCheckCommand struct {
	File    string `arg:"" help:"Document, or - for standard input."`
	Data    string `help:"Data folder of a stopped node, whose chain the block extends." type:"existingdir" placeholder:"DIR" xor:"state"`
	Genesis string `help:"Genesis file instead, for block 1." type:"existingfile" placeholder:"FILE" xor:"state"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Run prints the verdict, and fails if it is against the block.
func (c *blockCheckCommand) Run(ctx context.Context) error {
	d, err := readBlock(c.File)
	if err != nil {
		return err
	}
	var g *genesis.Genesis
	switch {
	case c.Genesis != "":
		raw, err := os.ReadFile(c.Genesis)
		if err != nil {
			return fmt.Errorf("read genesis: %w", err)
		}
		if g, err = genesis.Parse(raw); err != nil {
			return fmt.Errorf("%s: %w", c.Genesis, err)
		}
	case c.Data == "":
		return errors.New("the state before the block is needed: give --data DIR, or --genesis FILE for block 1")
	}
	var shown progress
	v, err := tools.CheckBlock(ctx, d, c.Data, g, shown.show)
	shown.end()
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		raw, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("encode verdict: %w", err)
		}
		fmt.Println(string(raw))
	case v.Valid:
		fmt.Printf("valid: block %d %s\n  certificate  %s\n", v.Height, v.Digest, v.Certificate)
	default:
		fmt.Printf("refused: %s\n  block        %d %s\n  certificate  %s\n", v.Rule, v.Height, v.Digest, v.Certificate)
		if v.Detail != "" {
			fmt.Printf("  detail       %s\n", v.Detail)
		}
	}
	if !v.Valid {
		return fmt.Errorf("block refused by the rule %q", v.Rule)
	}
	return nil
}

// progress is one line on standard error that changes; where that is no terminal,
// only the end of each step is written.
type progress struct{ open bool }

func (p *progress) show(step string, done, total chain.Height) {
	info, err := os.Stderr.Stat()
	if err != nil || done < total && info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "\r%s %d of %d blocks", step, done, total)
	if p.open = done < total; !p.open {
		fmt.Fprintln(os.Stderr)
	}
}

// end closes the line that an error has left open.
func (p *progress) end() {
	if p.open {
		fmt.Fprintln(os.Stderr)
	}
}

func readBlock(name string) (*blockdoc.Document, error) {
	in := io.Reader(os.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("open block document: %w", err)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, blockdoc.BytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read block document: %w", err)
	}
	return blockdoc.Parse(raw)
}

func writeBlock(name string, d *blockdoc.Document) error {
	raw, err := d.Encode()
	if err != nil {
		return err
	}
	if name == "-" {
		_, err = os.Stdout.Write(raw)
		return err
	}
	if err := os.WriteFile(name, raw, 0o644); err != nil {
		return fmt.Errorf("write block document: %w", err)
	}
	return nil
}
