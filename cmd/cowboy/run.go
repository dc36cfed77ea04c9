package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2

	exitInterrupted = 128 + 2  // SIGINT
	exitTerminated  = 128 + 15 // SIGTERM
)

// world is what the process has around it; tests give their own.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string

	machine func(hashKey [2]uint64) (*vm.Runtime, error) // nil: that of the protocol
}

// commandLine is the whole grammar. Global flags may stand before or after the
// command.
type commandLine struct {
	RPCURL     string `name:"rpc-url" aliases:"indexer-url" placeholder:"URL" help:"Node to ask; also COWBOY_RPC_URL, then .cowboy/config.json, then http://localhost:4000."`
	PrivateKey string `name:"private-key" placeholder:"HEX|FILE" help:"Key to sign with; also COWBOY_PRIVATE_KEY, then the configured key_file, then .cowboy/key. A file does not show in the process list."`
	JSON       bool   `name:"json" help:"Print one line of JSON instead of text."`
	Dir        string `name:"dir" default:"." placeholder:"DIR" help:"Project folder; .cowboy is looked for here and in its parents."`

	Init        initCommand         `cmd:"" help:"Make a project: a key and a configuration in .cowboy."`
	Wallet      walletCommands      `cmd:"" help:"Keys and their money."`
	Transfer    transferCommand     `cmd:"" help:"Send CBY."`
	Account     accountCommands     `cmd:"" help:"Any account."`
	Actor       actorCommands       `cmd:"" help:"Programs on the chain: deploy, call, look at them."`
	Block       blockCommands       `cmd:"" help:"Finalized blocks."`
	Transaction transactionGroup    `cmd:"" help:"Transactions: send, look up, sign."`
	Token       tokenCommands       `cmd:"" help:"Fungible tokens."`
	Runner      runnerCommands      `cmd:"" help:"Runners: stake, offer, health."`
	Job         jobCommands         `cmd:"" help:"Work for runners: submit, watch, results."`
	Entitlement entitlementCommands `cmd:"" help:"The entitlement registry: who may do what to what."`
	Proof       proofCommands       `cmd:"" help:"Proofs of what the chain says, for readers who trust no node."`
	Query       queryCommands       `cmd:"" help:"Lists and figures of the chain."`
	Dev         devCommand          `cmd:"" help:"Run a handler on a chain in memory, with its cycles."`
	Rent        rentCommands        `cmd:"" help:"What actors owe for their storage."`
	Gov         govCommands         `cmd:"" help:"Governance: proposals, approvals, parameters in force."`
	Storage     storageCommands     `cmd:"" help:"Backups of what actors store, and their way back."`
	PVM         pvmCommands         `cmd:"" name:"pvm" help:"Python actors on this machine: run, check, disassemble, compare."`
	Version     versionCommand      `cmd:"" help:"Print the version."`
}

const description = `The wallet and looking glass of a Cowboy node.

A first try, with a node started by "make devnet" in another terminal:

    cowboy init local
    cowboy wallet balance
    cowboy transfer --to 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a --amount 1.5 --wait`

// usageError is a wrong argument that the grammar cannot see.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// helpPrinted leaves the parser after --help, which kong would go on behind.
type helpPrinted struct{}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, w world) (code int) {
	var line commandLine
	defer func() {
		if cause := recover(); cause != nil {
			if _, ok := cause.(helpPrinted); !ok {
				panic(cause)
			}
			code = exitDone
		}
	}()
	parser, err := kong.New(&line,
		kong.Name("cowboy"),
		kong.Description(description),
		kong.Vars{"scopes": scopeHelp},
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(int) { panic(helpPrinted{}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoAppDescFormat: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(fmt.Sprintf("cowboy: grammar: %v", err)) // our own struct tags
	}
	chosen, err := parser.Parse(args)
	if err != nil {
		return fail(w, wantsJSON(args), usageError{err}, helpOf(err))
	}
	chosen.BindTo(ctx, (*context.Context)(nil))
	if err := chosen.Run(&session{world: w, flags: &line}); err != nil {
		return fail(w, line.JSON, err, pathOf(chosen))
	}
	return exitDone
}

// helpOf is the command whose help tells what a line that did not parse lacks.
func helpOf(err error) string {
	var failed *kong.ParseError
	if errors.As(err, &failed) && failed.Context != nil {
		return pathOf(failed.Context)
	}
	return "cowboy"
}

func pathOf(c *kong.Context) string {
	path := "cowboy"
	for _, step := range c.Path {
		if step.Command != nil {
			path += " " + step.Command.Name
		}
	}
	return path
}

// wantsJSON looks for --json when the rest of the line did not parse.
func wantsJSON(args []string) bool {
	for _, a := range args {
		if a == "--json" {
			return true
		}
	}
	return false
}

// failure is an error as --json shows it; Code is the node's, if it refused.
type failure struct {
	Code    rpc.Code `json:"code"`
	Message string   `json:"message"`
}

// fail prints err with what to do about it and returns the exit code. The help of
// command shows how it is meant.
func fail(w world, asJSON bool, err error, command string) int {
	var said silentError
	if errors.As(err, &said) {
		return exitFailed
	}
	message := harmless(advise(err))
	var usage usageError
	var noFile *fs.PathError
	if errors.As(err, &usage) || errors.As(err, &noFile) {
		message = client.HideKeys(message) // they repeat arguments, of which one may be a key in a wrong place
	}
	if len(message) > messageMax {
		message = strings.ToValidUTF8(message[:messageMax], "") + "…"
	}
	if asJSON {
		f := failure{Message: message}
		var refused *client.Error
		if errors.As(err, &refused) {
			f = failure{Code: refused.Code, Message: harmless(refused.Message)}
		}
		json.NewEncoder(w.stderr).Encode(f) // nothing is left to do if stderr is gone
	} else {
		fmt.Fprintf(w.stderr, "Error: %s\n", message)
	}
	if errors.As(err, &usage) {
		if !asJSON {
			fmt.Fprintf(w.stderr, "Try `%s --help`.\n", command)
		}
		return exitUsage
	}
	return exitOf(err)
}

// harmless strips control characters except line ends from text that may hold
// what an actor, a node or a file said, so that it cannot steer the terminal.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}

// messageMax bounds an error message in bytes: arguments are repeated in some.
const messageMax = 2_000

// advise adds to an error what a person can do about it.
func advise(err error) string {
	var unreachable *client.UnreachableError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &unreachable):
		return err.Error() + "\nIs a node running there? Start one with `make devnet`, or pass --rpc-url."
	case client.IsCode(err, rpc.CodeInsufficient):
		return err.Error() + "\nOn a development network `cowboy wallet fund` asks the faucet for money."
	default:
		return strings.TrimSpace(err.Error())
	}
}
