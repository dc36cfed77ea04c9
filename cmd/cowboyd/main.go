// Command cowboyd runs a Cowboy validator.
//
// It parses flags and calls package node; everything it decides is how to say
// what happened to the person at the terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/byzantine"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/release"
)

// commands is the grammar of the command line.
type commands struct {
	Devnet   devnetCommand   `cmd:"" help:"Run a development chain of one or more validators on this machine."`
	Run      runCommand      `cmd:"" help:"Run the validator, or the full node, of a data folder."`
	Verify   verifyCommand   `cmd:"" help:"Re-execute every block of a stopped node from genesis and compare roots."`
	Snapshot snapshotCommand `cmd:"" help:"Write, check or take in the state of a chain, so that a node need not execute its past."`
	Guard    guardCommand    `cmd:"" help:"Carry the memory of what a validator's key signed from machine to machine."`
	Keys     keysCommand     `cmd:"" help:"Show, encrypt or decrypt the keys of a data folder."`
	Block    blockCommand    `cmd:"" help:"Export a block, alter it, and see which rule refuses it."`
	Doctor   doctorCommand   `cmd:"" help:"Check how this machine suits a validator, and say what to mend."`
	Genesis  genesisCommand  `cmd:"" help:"Check a genesis file, or make one."`
	Version  versionCommand  `cmd:"" help:"Print the version."`

	LogFormat string `help:"Log format." enum:"text,json" default:"text"`
	LogLevel  string `help:"Least level that is logged." enum:"debug,info,warn,error" default:"info"`
}

const description = `A validator for the Cowboy chain.

  cowboyd devnet                     a throw-away chain on 127.0.0.1:4000
  cowboyd devnet --data ./chain      one that goes on where it stopped
  cowboyd devnet --validators 4      four validators, each a process of its own
  cowboyd devnet --validators 4 --byzantine equivocator    one of which lies
  cowboyd verify --data ./chain      re-execute it from genesis and compare`

func main() {
	var c commands
	parser := kong.Must(&c, kong.Name("cowboyd"), kong.Description(description+"\n\n"+exitCodes),
		kong.Vars{"kinds": byzantine.Names(), "lanes": strings.Join(params.LaneProfiles(), " or ")}, kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	parsed, err := parser.Parse(os.Args[1:])
	if err != nil {
		var wrong *kong.ParseError
		if errors.As(err, &wrong) {
			_ = wrong.Context.PrintUsage(true)
		}
		fmt.Fprintln(os.Stderr, "cowboyd:", err)
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends a stop that hangs
	c.Devnet.childLogLevel = c.LogLevel
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(c.logger())
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "cowboyd:", err)
	}
	if code := exitCode(err, context.Cause(ctx)); code != exitDone {
		os.Exit(code)
	}
}

func (c *commands) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts))
}

type versionCommand struct {
	Tables bool `help:"Print also the hashes of the Python machine's tables, which a genesis must have."`
}

// Run prints name and version on one line, and the tables on one each.
func (c versionCommand) Run() error {
	fmt.Println("cowboyd", release.Version)
	if c.Tables {
		tables := datadir.MachineTables()
		fmt.Printf("cost_table      %s\nexception_texts %s\n", tables.CostTable, tables.ExceptionTexts)
	}
	return nil
}
