package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
)

type actorCommands struct {
	New     actorNew     `cmd:"" help:"Write an actor to begin with."`
	Address actorAddress `cmd:"" help:"Where an actor would be."`
	Deploy  actorDeploy  `cmd:"" help:"Put an actor on the chain."`
	Execute actorExecute `cmd:"" help:"Send a message to an actor."`
	Read    actorRead    `cmd:"" help:"Ask an actor without a transaction."`
	Get     actorGet     `cmd:"" help:"Show an actor and what it has stored."`
	Logs    actorLogs    `cmd:"" help:"Show the events of an actor."`
	Fund    actorFund    `cmd:"" name:"fund-actor" aliases:"fund" help:"Give an actor CBY without a message."`
	Upgrade actorUpgrade `cmd:"" name:"upgrade-actor" aliases:"upgrade" help:"Put other source in place of a system actor's."`
}

// argumentFlags are the value that a handler gets, in one of two spellings.
type argumentFlags struct {
	Payload string `placeholder:"HEX" help:"The argument as JSON, in hex: 7b7d is {}."`
	Args    string `placeholder:"JSON" help:"The argument as JSON: {\"n\": 5}, 5, \"text\"; bytes are {\"$bytes\": \"0x…\"}."`
}

// encode returns the canonical argument; without one, None.
func (f argumentFlags) encode() ([]byte, error) {
	text := []byte(f.Args)
	switch {
	case f.Payload != "" && f.Args != "":
		return nil, usagef("the argument is given twice: with --payload and --args")
	case f.Payload != "":
		var err error
		if text, err = hex.DecodeString(strings.TrimPrefix(f.Payload, "0x")); err != nil {
			return nil, usagef("--payload is no hex of JSON: %w", err)
		}
	}
	if len(text) == 0 {
		text = []byte("null")
	}
	b, err := pyvalue.Encode(text)
	if err != nil {
		return nil, usagef("the argument is no value: %w", err)
	}
	return b, nil
}

// sendFlags are what every command has that sends a transaction to a program.
type sendFlags struct {
	Wait    bool          `help:"Wait until it is final and print the result."`
	Timeout time.Duration `default:"30s" help:"How long --wait waits."`
	DryRun  bool          `name:"dry-run" help:"Sign and print it, send nothing."`
	priceFlags
}

// prepare completes and signs a transaction. Limits that are not given come from a
// trial on the node, with a margin because the next block may differ.
func (f *sendFlags) prepare(ctx context.Context, s *session, tx *chain.Tx) (client.Signed, error) {
	found, err := s.key()
	if err != nil {
		return client.Signed{}, err
	}
	sender := client.AddressOf(found.Key)
	if f.CyclesLimit == nil || f.CellsLimit == nil {
		if err := f.estimate(ctx, s, sender, tx); err != nil {
			return client.Signed{}, err
		}
	}
	if err := f.capToActor(ctx, s, tx); err != nil {
		return client.Signed{}, err
	}
	if err := f.fill(ctx, s, tx, sender); err != nil {
		return client.Signed{}, err
	}
	return client.SignTx(found.Key, tx), nil
}

// failedTx is a transaction that did nothing, or would have in a trial.
type failedTx struct{ text, reason string }

func (f *failedTx) Error() string { return f.text }

// estimate fills in the limits that are not given.
func (f *sendFlags) estimate(ctx context.Context, s *session, sender chain.Address, tx *chain.Tx) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	try := *tx
	override(&try.CyclesLimit, f.CyclesLimit)
	override(&try.CellsLimit, f.CellsLimit)
	quote, err := api.Estimate(ctx, sender, &try)
	if err != nil {
		return err
	}
	if quote.Status != "success" {
		if detail := strings.TrimSpace(quote.Detail); detail != "" {
			s.note("%s", detail)
		}
		text := fmt.Sprintf("a trial on the node failed (%s), nothing is sent: give --cycles-limit and --cells-limit to send it all the same", reason(quote.Code, quote.RevertReason))
		return &failedTx{text, quote.RevertReason}
	}
	limits, err := api.BaseFee(ctx)
	if err != nil {
		return err
	}
	withMargin := func(n, most uint64) *uint64 {
		n = max(n, min(n+n/4+1_000, most))
		return &n
	}
	if f.CyclesLimit == nil {
		f.CyclesLimit = withMargin(quote.CyclesLimit, limits.MaxTx.Cycles)
	}
	if f.CellsLimit == nil {
		f.CellsLimit = withMargin(quote.CellsLimit, limits.MaxTx.Cells)
	}
	return nil
}

// capToActor lowers the cycles limit to what the receiver may use in the next
// block: with more, the transaction would wait for ever.
func (f *sendFlags) capToActor(ctx context.Context, s *session, tx *chain.Tx) error {
	if tx.To == nil || tx.To.IsSystem() {
		return nil
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	a, err := api.Actor(ctx, *tx.To, "", "", 0)
	if err != nil {
		return err
	}
	costs, err := api.IntrinsicCosts(ctx)
	if err != nil {
		return err
	}
	if most := a.CyclesLeft + uint64(costs.MessageCycles); *f.CyclesLimit > most {
		s.note("cycles limit %d is above what the actor may use in a block: using %d", *f.CyclesLimit, most)
		f.CyclesLimit = &most
	}
	return nil
}

// dispatch sends a signed transaction as the flags say.
func (f *sendFlags) dispatch(ctx context.Context, s *session, signed client.Signed) error {
	switch {
	case f.DryRun:
		return showUnsent(s, signed)
	case f.Wait:
		return sendAndWait(ctx, s, signed, f.Timeout)
	}
	return send(ctx, s, signed)
}

// sourceFile reads the source of an actor, given as an argument or with --code.
func sourceFile(s *session, positional, flag string) ([]byte, error) {
	path, err := exactlyOne("code", positional, flag)
	if err != nil {
		return nil, err
	}
	return s.readSource(path)
}

type actorNew struct {
	Name string `arg:"" optional:"" default:"counter" placeholder:"NAME" help:"Name of the file, without .py."`
}

// Help teaches the command.
func (actorNew) Help() string { return "Example:\n\n    cowboy actor new counter" }

// template is an actor to begin with.
const template = `from cowboy_sdk import actor, callable_by, emit_event, public, OWNER
from cowboy_sdk import assume_ownership_if_unowned


@actor
class Counter:
    def init(self, msg):
        assume_ownership_if_unowned()
        self.storage["n"] = 0

    @public
    def add(self, msg):
        self.storage["n"] += msg.payload
        emit_event("added", self.storage["n"])
        return self.storage["n"]

    @public
    def get(self, msg):
        return self.storage["n"]

    @callable_by(OWNER)
    def reset(self, msg):
        self.storage["n"] = 0
`

// Run writes the template.
func (c *actorNew) Run(s *session) error {
	name := strings.TrimSuffix(c.Name, ".py")
	if name == "" || strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, ".") {
		return usagef("%q is no name of a file", c.Name)
	}
	path := name + ".py"
	if s.flags.Dir != "." {
		path = s.flags.Dir + string(os.PathSeparator) + path
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(template)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	text := &lines{}
	text.add("Actor written: %s", path)
	text.add("Next steps:")
	text.add("  cowboy dev --code %s --handler add --args 5", path)
	text.add("  cowboy actor deploy --code %s --wait", path)
	return s.show(map[string]string{"file": path}, text)
}

// valueText is a value for people, in one line.
func valueText(v json.RawMessage) string {
	if len(v) == 0 {
		return "null"
	}
	return string(v)
}
