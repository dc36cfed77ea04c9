package main

import (
	"context"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type runnerCommands struct {
	Register   runnerRegister   `cmd:"" help:"Become a runner: put up a stake and say on what terms the own account works."`
	Update     runnerUpdate     `cmd:"" help:"Change prices, abilities, endpoint or largest job."`
	Attest     runnerAttest     `cmd:"" help:"Publish what the runner attests, under its signature."`
	Stake      runnerStake      `cmd:"" help:"Add to the stake."`
	Unstake    runnerUnstake    `cmd:"" help:"Put some of the stake aside; it is free after the time of unbonding."`
	Withdraw   runnerWithdraw   `cmd:"" help:"Take out what is free."`
	Pause      runnerPause      `cmd:"" help:"Take no jobs for now."`
	Resume     runnerResume     `cmd:"" help:"Take jobs again."`
	Heartbeat  runnerHeartbeat  `cmd:"" help:"Say that the runner is there."`
	Return     runnerReturn     `cmd:"" help:"Come back after the reputation fell below the minimum."`
	Deregister runnerDeregister `cmd:"" help:"Leave; all stake begins to unbond."`
	Commit     runnerCommit     `cmd:"" help:"Commit to a result by hand, in place of a runner's program."`
	Reveal     runnerReveal     `cmd:"" help:"Reveal a result by hand."`
	Get        runnerGet        `cmd:"" help:"Show a runner."`
	Jobs       runnerJobs       `cmd:"" help:"Show what a runner owes: its open seats, what is due of each and until when."`
	Stats      runnerStats      `cmd:"" help:"Show how a runner has done: results, silences, slashes, reputation."`
	List       runnerList       `cmd:"" help:"Print all runners as a JSON array, in the order in which they joined."`
}

// runnerTx is an instruction to the registry with value.
func runnerTx(value chain.Wei, opcode uint64, args ...[]byte) *chain.Tx {
	tx := systemTx(chain.AddrRunnerRegistry, opcode, args...)
	tx.Value = value
	return tx
}

type runnerRegister struct {
	Stake       string `default:"10000" placeholder:"AMOUNT" help:"In CBY (10000) or base units: at least the floor of the chain (10000; 100 on development chains) and 1.5 times the largest job."`
	Offer       string `type:"existingfile" placeholder:"FILE" help:"Prices and abilities in TOML; default: HTTP jobs of every domain."`
	Attestation string `type:"existingfile" placeholder:"FILE" help:"A signed attestation in canonical CBOR."`
	sendFlags
}

// Help teaches the command.
func (runnerRegister) Help() string {
	return "An offer is a file like this; what is left out has the value of the default.\n\n" + offerExample +
		"\nA runner that is not heard for 100 blocks gets no jobs: cowboy runner heartbeat.\n\nExample:\n\n    cowboy runner register --stake 10000 --offer offer.toml --wait\n    cowboy runner register --stake 100 --wait               # on a development chain"
}

// Run registers the own account.
func (c *runnerRegister) Run(ctx context.Context, s *session) error {
	stake, err := client.ParseAmount(c.Stake)
	if err != nil {
		return usageError{err}
	}
	o, err := readOffer(c.Offer)
	if err != nil {
		return err
	}
	attestation, err := readAttestationFile(c.Attestation)
	if err != nil {
		return err
	}
	return c.order(ctx, s, runnerTx(stake, chain.OpRunnerRegister, cbor.AppendUint(nil, uint64(o.largest)),
		o.card.Encode(), o.can.Encode(), attestation, cbor.AppendText(nil, o.endpoint)), nil)
}

type runnerUpdate struct {
	Offer    string  `type:"existingfile" placeholder:"FILE" help:"The whole new offer in TOML: see runner register --help."`
	Endpoint *string `placeholder:"URL" help:"Change the endpoint alone, as often as needed; an empty one takes it away."`
	sendFlags
}

// Help teaches the command.
func (runnerUpdate) Help() string {
	return "Prices, abilities and the largest job change once an hour at most; jobs under way keep the prices that they began with.\n\nExample:\n\n    cowboy runner update --offer offer.toml --wait\n    cowboy runner update --endpoint https://runner.example:8443/results --wait"
}

// Run changes the offer of the own account.
func (c *runnerUpdate) Run(ctx context.Context, s *session) error {
	null := cbor.AppendNull(nil)
	switch {
	case (c.Offer == "") == (c.Endpoint == nil):
		return usagef("give --offer or --endpoint")
	case c.Endpoint != nil:
		return c.order(ctx, s, runnerTx(0, chain.OpRunnerUpdate, null, null, null, null, cbor.AppendText(nil, *c.Endpoint)), nil)
	}
	o, err := readOffer(c.Offer)
	if err != nil {
		return err
	}
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerUpdate, cbor.AppendUint(nil, uint64(o.largest)),
		o.card.Encode(), o.can.Encode(), null, cbor.AppendText(nil, o.endpoint)), nil)
}

type runnerAttest struct {
	Attestation string `arg:"" type:"existingfile" placeholder:"FILE" help:"A signed attestation in canonical CBOR."`
	sendFlags
}

// Help teaches the command.
func (runnerAttest) Help() string {
	return "Example:\n\n    cowboy runner attest attestation.cbor --wait"
}

// Run publishes an attestation.
func (c *runnerAttest) Run(ctx context.Context, s *session) error {
	a, err := readAttestationFile(c.Attestation)
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerAttest, a), err)
}

// readAttestationFile returns the encoding of an attestation in a file, or null for none.
func readAttestationFile(name string) ([]byte, error) {
	if name == "" {
		return cbor.AppendNull(nil), nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if _, err := chain.DecodeRunnerAttestation(b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

type runnerStake struct {
	Amount string `arg:"" placeholder:"AMOUNT" help:"In CBY (1.5) or base units (1500000000wei)."`
	sendFlags
}

// Help teaches the command.
func (runnerStake) Help() string { return "Example:\n\n    cowboy runner stake 500 --wait" }

// Run adds to the stake.
func (c *runnerStake) Run(ctx context.Context, s *session) error {
	amount, err := client.ParseAmount(c.Amount)
	if err != nil {
		return usageError{err}
	}
	null := cbor.AppendNull(nil)
	return c.order(ctx, s, runnerTx(amount, chain.OpRunnerUpdate, null, null, null, null, null), nil)
}

type runnerUnstake struct {
	Amount string `arg:"" placeholder:"AMOUNT" help:"In CBY (1.5) or base units (1500000000wei)."`
	sendFlags
}

// Help teaches the command.
func (runnerUnstake) Help() string {
	return "It stays at risk until it is free. Below what the offer asks for only a paused runner may go.\n\nExample:\n\n    cowboy runner unstake 500 --wait"
}

// Run puts some of the stake aside.
func (c *runnerUnstake) Run(ctx context.Context, s *session) error {
	amount, err := client.ParseAmount(c.Amount)
	if err != nil {
		return usageError{err}
	}
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerUnstake, cbor.AppendUint(nil, uint64(amount))), nil)
}

type runnerWithdraw struct{ sendFlags }

// Help teaches the command.
func (runnerWithdraw) Help() string { return "Example:\n\n    cowboy runner withdraw --wait" }

// Run takes out what is free.
func (c *runnerWithdraw) Run(ctx context.Context, s *session) error {
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerWithdraw), nil)
}

type runnerPause struct{ sendFlags }

// Help teaches the command.
func (runnerPause) Help() string { return "Example:\n\n    cowboy runner pause --wait" }

// Run pauses the own account.
func (c *runnerPause) Run(ctx context.Context, s *session) error {
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerPause, cbor.AppendBool(nil, true)), nil)
}

type runnerResume struct{ sendFlags }

// Help teaches the command.
func (runnerResume) Help() string { return "Example:\n\n    cowboy runner resume --wait" }

// Run ends a pause.
func (c *runnerResume) Run(ctx context.Context, s *session) error {
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerPause, cbor.AppendBool(nil, false)), nil)
}

type runnerHeartbeat struct{ sendFlags }

// Help teaches the command.
func (runnerHeartbeat) Help() string {
	return "Once every 80 blocks keeps a runner healthy on a chain with the defaults.\n\nExample:\n\n    cowboy runner heartbeat"
}

// Run says that the own account is there.
func (c *runnerHeartbeat) Run(ctx context.Context, s *session) error {
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerHeartbeat), nil)
}

type runnerReturn struct{ sendFlags }

// Help teaches the command.
func (runnerReturn) Help() string {
	return "Once for each fall, a day after it on a chain with the defaults; the runner is on probation again.\n\nExample:\n\n    cowboy runner return --wait"
}

// Run brings the own account back.
func (c *runnerReturn) Run(ctx context.Context, s *session) error {
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerReturn), nil)
}

type runnerDeregister struct{ sendFlags }

// Help teaches the command.
func (runnerDeregister) Help() string { return "Example:\n\n    cowboy runner deregister --wait" }

// Run takes the own account out of the registry.
func (c *runnerDeregister) Run(ctx context.Context, s *session) error {
	return c.order(ctx, s, runnerTx(0, chain.OpRunnerDeregister), nil)
}

type runnerGet struct {
	Address string `placeholder:"ADDRESS" help:"Runner; default: the own account."`
}

// Help teaches the command.
func (runnerGet) Help() string { return "Example:\n\n    cowboy runner get --address 0x…" }

// runner asks for a runner; the own account if address is empty.
func (s *session) runner(ctx context.Context, address string) (*rpc.RunnerReply, error) {
	addr, err := s.addressOr(address)
	if err != nil {
		return nil, err
	}
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	return api.Runner(ctx, addr)
}

// Run shows a runner.
func (c *runnerGet) Run(ctx context.Context, s *session) error {
	r, err := s.runner(ctx, c.Address)
	if err != nil {
		return err
	}
	return s.show(r, runnerLines(r))
}

func runnerLines(r *rpc.RunnerReply) *lines {
	text := &lines{}
	text.add("Address: %s", r.Address)
	text.add("Health: %s", r.Health)
	text.add("Stake: %s", cby(r.Stake))
	if r.Understaked && r.Health != "deregistered" {
		text.add("The stake does not cover what the offer says: no jobs until it does")
	}
	for _, u := range r.Unbonding {
		text.add("Unbonding: %s, free at block %d", cby(u.Amount), u.Free)
	}
	text.add("Largest job: %s", cby(r.MaxJobValue))
	text.add("Job types: %v", r.Capabilities.JobTypes)
	text.add("Jobs: %d of %d at a time", r.ActiveJobs, r.Capabilities.MaxConcurrentJobs)
	text.add("Reputation: %.3f", r.Reputation)
	text.add("Registered at: %d", r.RegisteredAt)
	if r.LastHeartbeat != nil {
		text.add("Last heartbeat: %d", *r.LastHeartbeat)
	}
	return text
}

type runnerStats struct {
	Address string `placeholder:"ADDRESS" help:"Runner; default: the own account."`
}

// Help teaches the command.
func (runnerStats) Help() string { return "Example:\n\n    cowboy runner stats --address 0x…" }

// statsReply is what runner stats prints as JSON.
type statsReply struct {
	Address       string    `json:"address"`
	Reputation    float64   `json:"reputation"` // points
	ActiveJobs    uint32    `json:"active_jobs"`
	Successes     uint64    `json:"successes"`
	Disagreements uint64    `json:"disagreements"`
	Silences      uint64    `json:"silences"`
	Slashed       chain.Wei `json:"slashed,string"` // in all
}

// Run shows the counters of a runner.
func (c *runnerStats) Run(ctx context.Context, s *session) error {
	r, err := s.runner(ctx, c.Address)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Reputation: %.3f", r.Reputation)
	text.add("Jobs under way: %d", r.ActiveJobs)
	text.add("Results that agreed: %d", r.Successes)
	text.add("Results that differed: %d", r.Disagreements)
	text.add("Silences: %d", r.Silences)
	text.add("Slashed: %s", cby(r.Slashed))
	return s.show(statsReply{r.Address, r.Reputation, r.ActiveJobs, r.Successes, r.Disagreements, r.Silences, r.Slashed}, text)
}

type runnerList struct {
	Offset uint64 `default:"0" placeholder:"N" help:"Runners to leave out."`
	Limit  uint64 `default:"1000" placeholder:"N" help:"Most to print."`
}

// Help teaches the command.
func (runnerList) Help() string { return "Example:\n\n    cowboy runner list" }

// Run prints the list, which is JSON with --json and without.
func (c *runnerList) Run(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	return showAll(s, c.Offset, c.Limit, func(offset, limit uint64) ([]rpc.RunnerReply, uint64, error) {
		reply, err := api.Runners(ctx, offset, limit)
		if err != nil {
			return nil, 0, err
		}
		return reply.Runners, reply.TotalCount, nil
	})
}
