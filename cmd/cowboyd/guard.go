package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

type guardCommand struct {
	Show   guardShowCommand   `cmd:"" help:"Print the newest vote of each kind that the key of a stopped validator signed."`
	Export guardExportCommand `cmd:"" help:"Write what the key signed, for another machine."`
	Import guardImportCommand `cmd:"" help:"Take in what the key signed on another machine. The highest of each kind counts."`
	Reopen guardReopenCommand `cmd:"" help:"Let a validator without others go on whose votes are withheld for a block that is gone, as after a full disk."`
	Init   guardInitCommand   `cmd:"" help:"Start the memory of a key that has never signed anything."`
}

type guardShowCommand struct {
	Data string `help:"Data folder of a stopped validator." required:"" type:"existingdir" placeholder:"DIR"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// shownVote is the newest vote of a kind.
type shownVote struct {
	Kind   string      `json:"kind"`
	Epoch  chain.Epoch `json:"epoch"`
	View   chain.View  `json:"view"`
	Digest *chain.Hash `json:"digest,omitempty"` // absent: a nullification, or not known
}

// Run prints the watermark.
func (c *guardShowCommand) Run() error {
	mark, err := tools.GuardVotes(c.Data)
	if err != nil {
		return err
	}
	shown := []shownVote{}
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		m := mark[k]
		if m == (simplex.Mark{}) {
			continue
		}
		v := shownVote{Kind: k.String(), Epoch: m.Proposal.Round.Epoch, View: m.Proposal.Round.View}
		if k != simplex.Nullify && !m.Blind {
			v.Digest = &m.Proposal.Payload
		}
		shown = append(shown, v)
	}
	if c.JSON {
		raw, err := json.MarshalIndent(shown, "", "  ")
		if err != nil {
			return fmt.Errorf("encode votes: %w", err)
		}
		fmt.Println(string(raw))
		return nil
	}
	if len(shown) == 0 {
		fmt.Println("nothing was signed yet")
	}
	for _, v := range shown {
		fmt.Printf("%-9s epoch %d view %d", v.Kind, v.Epoch, v.View)
		if v.Digest != nil {
			fmt.Printf("  block %s", v.Digest)
		}
		fmt.Println()
	}
	return nil
}

type guardExportCommand struct {
	Data   string `help:"Data folder of a stopped validator." required:"" type:"existingdir" placeholder:"DIR"`
	Retire bool   `help:"Leave this folder without a memory, so that it cannot start and sign beside the new one."`
	Out    string `short:"o" help:"File to write, or - for standard output. It must not exist." default:"-" placeholder:"FILE"`
}

// Run writes the exchange file and, on request, retires the folder.
func (c *guardExportCommand) Run() error {
	if c.Out == "-" {
		return tools.ExportGuard(c.Data, os.Stdout, c.Retire)
	}
	f, err := os.OpenFile(c.Out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create export: %w", err)
	}
	return errors.Join(tools.ExportGuard(c.Data, f, c.Retire), f.Close())
}

type guardImportCommand struct {
	Data string `help:"Data folder with genesis.json and keys.json." required:"" type:"existingdir" placeholder:"DIR"`
	File string `arg:"" help:"File that guard export wrote." type:"existingfile"`
}

// Run merges the file into the folder's memory.
func (c *guardImportCommand) Run() error {
	f, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("open export: %w", err)
	}
	defer f.Close()
	if err := tools.ImportGuard(c.Data, f); err != nil {
		return err
	}
	return (&guardShowCommand{Data: c.Data}).Run()
}

type guardReopenCommand struct {
	Data         string `help:"Data folder of a stopped validator that is alone on its chain." required:"" type:"existingdir" placeholder:"DIR"`
	NeverPutBack bool   `name:"never-put-back" help:"I know that no file of this folder was ever put back from a copy. Wrong, the chain can come to have two final blocks of one height." required:""`
}

// Run opens the closed views again.
func (c *guardReopenCommand) Run() error {
	done, err := tools.ReopenGuard(c.Data)
	if err != nil {
		return err
	}
	fmt.Println(done)
	return nil
}

type guardInitCommand struct {
	Data      string `help:"Data folder with genesis.json and keys.json." required:"" type:"existingdir" placeholder:"DIR"`
	UnusedKey bool   `help:"I know that this key has never signed anything, here or elsewhere. Wrong, it costs the stake." required:""`
}

// Run makes an empty memory.
func (c *guardInitCommand) Run() error {
	if err := tools.InitGuard(c.Data); err != nil {
		return err
	}
	fmt.Println("the key may sign from now on, in this folder only")
	return nil
}
