package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type jobRunners struct{ jobArg }

// Help teaches the command.
func (jobRunners) Help() string {
	return "The seats of all attempts, in the order in which they were drawn.\n\nExample:\n\n    cowboy job runners 0x…"
}

// Run shows who was drawn.
func (c *jobRunners) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	r, err := api.JobRunners(ctx, id)
	if err != nil {
		return err
	}
	text := &lines{}
	for i := range r.Runners {
		text.add("%s", seatText(&r.Runners[i]))
	}
	if len(r.Runners) == 0 {
		text.add("Nobody is drawn yet")
	}
	return s.show(r, text)
}

// seatText is a seat in a line.
func seatText(r *rpc.SeatReply) string {
	line := fmt.Sprintf("Attempt %d seat %d: %s", r.Attempt+1, r.Seat, r.Runner)
	switch {
	case r.RevealedAt > 0:
		line += fmt.Sprintf(" revealed at %d, %s", r.RevealedAt, r.Mark)
	case r.Silent:
		line += " silent"
	case r.Commitment != nil:
		line += fmt.Sprintf(" committed at %d", r.CommittedAt)
	default:
		line += " works"
	}
	if r.Cost > 0 {
		line += ", earned " + cby(r.Cost)
	}
	if r.Frozen > 0 {
		line += ", slashed " + cby(r.Frozen)
	}
	return line
}

type jobResults struct{ jobArg }

// Help teaches the command.
func (jobResults) Help() string {
	return "Results stand in the transactions that revealed them.\n\nExample:\n\n    cowboy job results 0x…"
}

// Run shows the results.
func (c *jobResults) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	r, err := api.JobResults(ctx, id)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Outcome: %s", r.Outcome)
	for i := range r.Results {
		one := &r.Results[i]
		text.add("%s: %s, %s, %s", one.Runner, one.Outcome, one.Mark, dataText(one))
	}
	return s.show(r, text)
}

// dataText is the data of a result, or why there is none.
func dataText(r *rpc.ResultReply) string {
	switch {
	case r.Detail != nil:
		return *r.Detail
	case r.Text != nil:
		return strings.TrimSpace(*r.Text)
	case r.Data != nil:
		return *r.Data
	}
	return "the node does not keep transaction " + r.TxHash
}

type jobVerified struct{ jobArg }

// Help teaches the command.
func (jobVerified) Help() string {
	return "It is printed as text where it is one, else as hex. The keccak256 of the data is the job's data_hash (--json shows it), which \"cowboy proof storage\" proves. The exit code is 1 while there is no verdict, and where the results came to nothing.\n\nExample:\n\n    cowboy job verified 0x… > answer.json"
}

// Run prints the data.
func (c *jobVerified) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	r, err := api.JobVerified(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case r.VerdictAt == 0 && r.Outcome == "open":
		return fmt.Errorf("job %s has no verdict yet: see \"cowboy job status\"", id)
	case r.Outcome != "ok":
		return fmt.Errorf("the results of job %s came to nothing: %s", id, r.Outcome)
	case r.Data == nil:
		return fmt.Errorf("the node cannot tell the data of job %s, whose hash is %s: ask one that keeps the transactions", id, r.DataHash)
	}
	text := &lines{}
	if text.add("%s", *r.Data); r.Text != nil {
		text = &lines{}
		text.add("%s", strings.TrimSpace(*r.Text))
	}
	return s.show(r, text)
}

type jobCandidates struct {
	jobArg
	Runner string `placeholder:"ADDRESS" help:"Print the proof of this one instead: leaf and siblings up to the job's candidates_root."`
	Offset uint64 `default:"0" placeholder:"N" help:"Candidates to leave out."`
	Limit  uint64 `default:"1000" placeholder:"N" help:"Most to print."`
}

// Help teaches the command.
func (jobCandidates) Help() string {
	return "They are fixed when the job is submitted. Of a job that is over, a node knows them for 1,024 blocks from the submission on, an archive for ever.\n\nExample:\n\n    cowboy job candidates 0x…\n    cowboy job candidates 0x… --runner 0x…"
}

// Run prints the list, or a proof.
func (c *jobCandidates) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	if c.Runner == "" {
		return showAll(s, c.Offset, c.Limit, func(offset, limit uint64) ([]rpc.CandidateReply, uint64, error) {
			r, err := api.JobCandidates(ctx, id, offset, limit)
			if err != nil {
				return nil, 0, err
			}
			return r.Candidates, r.TotalCount, nil
		})
	}
	runner, err := client.ParseAddress(c.Runner)
	if err != nil {
		return usageError{err}
	}
	r, err := api.JobCandidate(ctx, id, runner)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Candidates root: %s", r.CandidatesRoot)
	text.add("Candidate %d: %s, stake %s, weight %d", r.Candidate.Index, r.Candidate.Runner, cby(r.Candidate.EffectiveStake), r.Candidate.BaseWeight)
	text.add("Leaf: %s", r.Leaf)
	for _, sibling := range r.Siblings {
		text.add("Sibling: %s", sibling)
	}
	return s.show(r, text)
}
