package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/node/manifest"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

type devCommand struct {
	File    string `arg:"" optional:"" name:"file" placeholder:"FILE" help:"Source of the actor; - for stdin."`
	Code    string `placeholder:"FILE" help:"The same as a flag."`
	Handler string `required:"" placeholder:"NAME" help:"Handler to run."`
	argumentFlags
	CyclesLimit uint64 `default:"2000000" name:"cycles-limit" help:"Most cycles to use."`
	Manifest    string `name:"manifest-json" placeholder:"JSON|FILE" help:"Entitlements, as for actor deploy."`
	NoInit      bool   `name:"no-init" help:"Do not call init before."`
	Strict      bool   `help:"Hold the actor to the manifest that a deployment would get. Without it every entitlement is granted."`
}

// Help teaches the command.
func (devCommand) Help() string {
	return "Deploys the source to an empty chain in memory, calls init where there is one, then the handler, with the charges and limits of the chain. " +
		"The last line is JSON: {ok, output, events, messages, state, gas_used}, or {ok: false, error_code, error, …}.\n\nExample:\n\n    cowboy dev --code counter.py --handler add --args 5"
}

// devReply is the last line of dev.
type devReply struct {
	OK        bool                       `json:"ok"`
	ErrorCode string                     `json:"error_code,omitempty"`
	Error     string                     `json:"error,omitempty"`
	Output    json.RawMessage            `json:"output,omitempty"`
	Events    []devEvent                 `json:"events"`
	Messages  []rpc.MessageReply         `json:"messages"`
	State     map[string]json.RawMessage `json:"state"`
	GasUsed   uint64                     `json:"gas_used"`
}

type devEvent struct {
	Emitter string          `json:"emitter"`
	Name    string          `json:"name"`
	Data    json.RawMessage `json:"data"`
}

// devSender is who calls the actor, which it also deployed.
var devSender = chain.Address{0: 0xde, 19: 0x01}

// Run tries a handler.
func (c *devCommand) Run(s *session) error {
	source, err := sourceFile(s, c.File, c.Code)
	if err != nil {
		return err
	}
	arg, err := c.encode()
	if err != nil {
		return err
	}
	grants, err := c.grants(source)
	if err != nil {
		return err
	}
	b, err := newDevChain()
	if err != nil {
		return err
	}
	out, err := c.try(b, source, grants, arg)
	if err != nil {
		return err
	}
	reply := b.reply(&out)
	line, err := json.Marshal(reply)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if !s.flags.JSON {
		if out.Detail != "" {
			s.note("%s", strings.TrimSpace(out.Detail))
		}
		s.note("Manifest: %s", manifest.JSON(grants))
	}
	if _, err := s.world.stdout.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	if !reply.OK {
		return silentError{errors.New(reply.Error)}
	}
	return nil
}

func (c *devCommand) grants(source []byte) ([]manifest.Grant, error) {
	if c.Manifest != "" || c.Strict {
		return (&actorDeploy{Manifest: c.Manifest}).grants(source)
	}
	all := []manifest.Grant{}
	for _, id := range []string{
		"econ.hold_balance", "econ.transfer", "exec.spawn", "http.fetch", "oracle.llm", "storage.blob", "storage.kv", "timer.schedule",
	} {
		g := manifest.Grant{ID: id}
		if id == "http.fetch" {
			g.Params = map[string]any{"allowlist_domains": []string{"*"}}
		}
		all = append(all, g)
	}
	return all, nil
}

// try deploys the source, then runs the handler as a transaction of the next
// block would.
func (c *devCommand) try(b *devChain, source []byte, grants []manifest.Grant, arg []byte) (actor.Outcome, error) {
	encoded, err := manifest.Encode(grants)
	if err != nil {
		return actor.Outcome{}, usageError{err}
	}
	d := &actor.Deployment{Creator: devSender, Source: source, Manifest: encoded}
	if !c.NoInit && c.Handler != "init" && manifest.Defines(source, "init") {
		d.Init = &actor.Init{Handler: "init"}
	}
	if c.Handler == "init" {
		d.Init = &actor.Init{Handler: "init", Payload: arg}
	}
	b.actor = actor.AddressOf(devSender, nil, source)
	out, err := b.run(b.params.MaxTxCycles).Deploy(d)
	if err != nil || out.Code != chain.CodeOK || c.Handler == "init" {
		return out, err
	}
	return b.run(chain.Cycles(c.CyclesLimit)).First(actor.Envelope{From: devSender, To: b.actor, Handler: c.Handler, Payload: arg})
}

// devChain is a chain in memory: one block, without transactions.
type devChain struct {
	params *params.Params
	engine *pvm.Engine
	state  *state.Overlay
	actor  chain.Address
	runs   byte
}

func newDevChain() (*devChain, error) {
	rt, err := pvm.NewRuntime(hashKey())
	if err != nil {
		return nil, err
	}
	return &devChain{
		params: &genesis.DevnetTemplate().Params, state: state.NewOverlay(state.Empty{}),
		engine: pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits()),
	}, nil
}

// run begins a transaction in a block of its own.
func (b *devChain) run(cycles chain.Cycles) *actor.Run {
	b.runs++
	block := actor.NewBlock(actor.Block{
		Params: b.params, ChainID: 1, Height: chain.Height(b.runs), TimestampMillis: uint64(b.runs) * b.params.BlockTimeMillis,
		Beacon: chain.Hash{31: b.runs},
	})
	return actor.NewRun(block, b.state, b.engine, actor.Start{
		Origin: devSender, ID: chain.Hash{31: b.runs}, Cycles: cycles, Cells: b.params.MaxTxCells, Explain: true,
	})
}

func (b *devChain) reply(out *actor.Outcome) devReply {
	r := devReply{
		OK: out.Code == chain.CodeOK, Events: []devEvent{}, Messages: rpc.MessageReplies(out.Trace),
		State: map[string]json.RawMessage{}, GasUsed: uint64(out.Used.Cycles),
	}
	if r.OK {
		r.Output = valueOf(out.Output)
	} else {
		lines := strings.Split(strings.TrimSpace(out.Detail), "\n")
		r.ErrorCode, r.Error = chain.CodeName(out.Code), lines[len(lines)-1]
	}
	for _, e := range out.Events {
		r.Events = append(r.Events, devEvent{e.Emitter.String(), e.Name, valueOf(e.Data)})
	}
	for _, a := range b.state.Delta().Accounts() {
		if a.Address != b.actor {
			continue
		}
		for _, slot := range a.Storage {
			if slot.Value != nil && slot.Key[0] == state.VMNamespacePVM {
				r.State[string(slot.Key[1:])] = valueOf(slot.Value)
			}
		}
	}
	return r
}

func valueOf(data []byte) json.RawMessage {
	v, err := pyvalue.JSON(data)
	if err != nil {
		return json.RawMessage("null")
	}
	return v
}
