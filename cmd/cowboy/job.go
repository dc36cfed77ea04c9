package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type jobCommands struct {
	Submit     jobSubmit     `cmd:"" help:"Ask runners for work; the price is held until they are paid."`
	Get        jobGet        `cmd:"" help:"Show a job and what it asks for."`
	Status     jobStatus     `cmd:"" help:"Show which phase a job is in, and when that ends."`
	Runners    jobRunners    `cmd:"" help:"Show who was drawn for a job and what became of it."`
	Results    jobResults    `cmd:"" help:"Show the results that runners have revealed."`
	Verified   jobVerified   `cmd:"" help:"Print what the results came to, once they agree."`
	Candidates jobCandidates `cmd:"" help:"Print who can be drawn for a job as a JSON array, or the proof of one of them."`
	List       jobList       `cmd:"" help:"List the jobs that an account has asked for, or that a runner was drawn for."`
	Watch      jobWatch      `cmd:"" help:"Follow a job until it is settled, and tell each phase."`
	Cancel     jobCancel     `cmd:"" help:"Take a job back while nobody is assigned; the price comes back."`
}

// jobArg names a job.
type jobArg struct {
	ID string `arg:"" placeholder:"JOB" help:"Id of the job: 32 bytes of hex."`
}

func (a *jobArg) resolve() (chain.Hash, error) {
	id, err := client.ParseHash(a.ID)
	return id, asUsage(err)
}

type jobSubmit struct {
	JobSpec string        `name:"job-spec" required:"" placeholder:"FILE" help:"The job in JSON; - is stdin."`
	Wait    bool          `help:"Wait for the outcome and tell each phase on stderr."`
	Timeout time.Duration `default:"10m" help:"How long --wait waits."`
	DryRun  bool          `name:"dry-run" help:"Sign and print it, send nothing."`
	priceFlags
}

// Help teaches the command.
func (jobSubmit) Help() string {
	return `A job is the dictionary that an actor gives submit_job, in JSON; docs/market.md lists the keys, and the chain has a value for what is not said. max_price is in base units, 1000000000 of which are a CBY, and pays all runners of the job.

    {
      "type": "http", "url": "https://example.com/price.json",
      "verification": {"mode": "majority_vote", "vote_field": "usd", "runners": 3, "threshold": 2},
      "max_price": 100000000, "timeout_blocks": 100
    }

With "reply_to" (an actor) and "reply_handler" an actor gets the outcome. The other form, with "job_type": {"type": "Llm", …}, is read too.

A job waits for the next block, which draws runners. Fewer candidates than the threshold end it at once: those who are new take one job at a time. Several commit to their results first and reveal them when all have, so that nobody copies; one runner reveals at once. With the outcome the job closes; when its window is over, runners are paid and the rest comes back. The exit code is 0 with the outcome ok, and 1 with another.

Example:

    cowboy job submit --job-spec job.json --wait`
}

// submittedReply is what job submit --wait prints as JSON.
type submittedReply struct {
	TxHash string `json:"tx_hash"`
	*rpc.JobStatusReply
}

// Run submits a job.
func (c *jobSubmit) Run(ctx context.Context, s *session) error {
	asked, err := readJob(ctx, s, c.JobSpec)
	if err != nil {
		return err
	}
	escrow := asked.Spec.MaxPrice + asked.Spec.Tip
	if escrow < asked.Spec.Tip {
		return usagef("max_price and tip exceed 64 bits")
	}
	to := chain.AddrJobDispatcher
	tx := &chain.Tx{To: &to, Value: escrow, Payload: chain.EncodeRequest(&chain.JobSubmit{Spec: asked.Spec, Terms: asked.Terms})}
	send := sendFlags{Timeout: c.Timeout, DryRun: c.DryRun, priceFlags: c.priceFlags}
	signed, err := send.prepare(ctx, s, tx)
	if err != nil {
		return err
	}
	if c.DryRun || !c.Wait {
		return send.dispatch(ctx, s, signed)
	}
	end := time.Now().Add(c.Timeout)
	receipt, err := awaitReceipt(ctx, s, signed, c.Timeout)
	if err != nil {
		return err
	}
	if receipt.Status != "success" {
		return failedOnChain(receipt)
	}
	id := chain.JobID(signed.Hash, chain.Height(receipt.BlockHeight))
	s.note("job %s", id)
	status, err := awaitOutcome(ctx, s, id, end)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Transaction hash: %s", signed.Hash)
	statusLines(text, status)
	if err := s.show(submittedReply{signed.Hash.String(), status}, text); err != nil {
		return err
	}
	if status.Outcome != "ok" {
		return fmt.Errorf("the job has the outcome %s", status.Outcome)
	}
	return nil
}

// jobPoll is how long awaitOutcome lets pass between two questions: about a quarter of a
// block of the shortest time that networks have.
const jobPoll = 250 * time.Millisecond

// awaitOutcome asks where a job is until its outcome is known, and tells each phase.
func awaitOutcome(ctx context.Context, s *session, id chain.Hash, end time.Time) (*rpc.JobStatusReply, error) {
	return follow(ctx, s, id, end, func(r *rpc.JobStatusReply) bool { return r.Outcome != "open" })
}

// follow asks where a job is until it is as far as the caller wants it, and tells each phase.
func follow(ctx context.Context, s *session, id chain.Hash, end time.Time, far func(*rpc.JobStatusReply) bool) (*rpc.JobStatusReply, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	told := ""
	for {
		status, err := api.JobStatus(ctx, id)
		if err != nil {
			return nil, err
		}
		if now := phaseText(status); now != told {
			told = now
			s.note("block %d: %s", status.Height, now)
		}
		if far(status) {
			return status, nil
		}
		if !time.Now().Before(end) {
			return nil, errors.New("not so far yet: ask `cowboy job status " + id.String() + "`")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(jobPoll):
		}
	}
}

// phaseText says which phase a job is in and what ends it.
func phaseText(r *rpc.JobStatusReply) string {
	at := chain.Height(0)
	if r.MovesAt != nil {
		at = *r.MovesAt
	}
	switch r.Phase {
	case "waiting":
		return fmt.Sprintf("waiting for a draw of runners, in block %d", at)
	case "committing":
		return fmt.Sprintf("attempt %d: runners commit to results; who has not at block %d is silent", r.Attempt+1, at)
	case "revealing":
		return fmt.Sprintf("attempt %d: results are awaited; the attempt ends at block %d", r.Attempt+1, at)
	case "closing":
		return fmt.Sprintf("outcome %s; settled at block %d", r.Outcome, at)
	case "disputed":
		return fmt.Sprintf("outcome %s, disputed", r.Outcome)
	}
	return fmt.Sprintf("ended with the outcome %s", r.Outcome)
}

func statusLines(text *lines, r *rpc.JobStatusReply) {
	text.add("Job: %s", r.JobID)
	text.add("Status: %s", r.Status)
	text.add("Phase at block %d: %s", r.Height, phaseText(r))
}

type jobStatus struct{ jobArg }

// Help teaches the command.
func (jobStatus) Help() string { return "Example:\n\n    cowboy job status 0x…" }

// Run shows where a job is.
func (c *jobStatus) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	r, err := api.JobStatus(ctx, id)
	if err != nil {
		return err
	}
	text := &lines{}
	statusLines(text, r)
	return s.show(r, text)
}

type jobWatch struct {
	jobArg
	Timeout time.Duration `default:"10m" help:"How long to follow it."`
}

// Help teaches the command.
func (jobWatch) Help() string {
	return "Each phase is told on stderr with the height at which it ends by itself. The exit code is 0 with the outcome ok, and 1 with another.\n\nExample:\n\n    cowboy job watch 0x…"
}

// Run follows a job.
func (c *jobWatch) Run(ctx context.Context, s *session) error {
	id, err := c.resolve()
	if err != nil {
		return err
	}
	status, err := follow(ctx, s, id, time.Now().Add(c.Timeout), func(r *rpc.JobStatusReply) bool { return r.Phase == "ended" })
	if err != nil {
		return err
	}
	text := &lines{}
	statusLines(text, status)
	if err := s.show(status, text); err != nil {
		return err
	}
	if status.Outcome != "ok" {
		return fmt.Errorf("the job has the outcome %s", status.Outcome)
	}
	return nil
}

type jobGet struct{ jobArg }

// Help teaches the command.
func (jobGet) Help() string { return "Example:\n\n    cowboy job get 0x…" }

// Run shows a job.
func (c *jobGet) Run(ctx context.Context, s *session) error {
	id, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	j, err := api.Job(ctx, id)
	if err != nil {
		return err
	}
	spec, terms, err := jobPapers(ctx, api, id)
	if err != nil {
		return err
	}
	text := &lines{}
	statusLines(text, &j.JobStatusReply)
	text.add("Submitted at: %d by %s", j.SubmittedAt, j.Submitter)
	text.add("Asks: %s", workText(spec.JobType))
	text.add("Answer: %s of at most %d bytes", terms.ResultSchema.DataFormat, terms.ResultSchema.MaxReturnBytes)
	text.add("Judged by: %s, %d of %d runners", j.Mode, j.Threshold, j.Runners)
	if terms.VoteField != nil {
		text.add("Vote field: %s", *terms.VoteField)
	}
	text.add("Price: at most %s, and %s as tip", cby(j.MaxPrice), cby(j.Tip))
	text.add("Held: %s", cby(j.Held))
	if j.AssignedAt > 0 {
		text.add("Attempt %d: drawn at %d, commitments up to %d, results up to %d", j.Attempt+1, j.AssignedAt, j.CommitBy, j.Deadline)
	}
	return s.show(j, text)
}

// workText is what a job asks for, in a line.
func workText(t chain.JobType) string {
	switch t := t.(type) {
	case *chain.HTTPJob:
		return fmt.Sprintf("%s %s", t.Method, t.URL)
	case *chain.LLMJob:
		return fmt.Sprintf("a model's answer to %q", t.Prompt)
	case *chain.MCPJob:
		return fmt.Sprintf("tool %s of %s", t.ToolName, t.Server)
	case *chain.CustomJob:
		return fmt.Sprintf("program %s", t.ExecutorHash)
	case *chain.AgentJob:
		return fmt.Sprintf("an agent's answer to %q", t.Query)
	}
	return rpc.JobTypes()[t.Kind()]
}

// jobPapers returns what a job asks for.
func jobPapers(ctx context.Context, api *client.Client, id chain.Hash) (*chain.JobSpec, *chain.JobTerms, error) {
	r, err := api.JobTerms(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := unhex(r.Spec)
	if err != nil {
		return nil, nil, err
	}
	spec, err := chain.DecodeJobSpec(encoded)
	if err != nil {
		return nil, nil, err
	}
	if encoded, err = unhex(r.Terms); err != nil {
		return nil, nil, err
	}
	terms, err := chain.DecodeJobTerms(encoded)
	return spec, terms, err
}

type jobCancel struct {
	jobArg
	sendFlags
}

// Help teaches the command.
func (jobCancel) Help() string {
	return "By the submitter alone, and for a block or two: the next block draws runners.\n\nExample:\n\n    cowboy job cancel 0x… --wait"
}

// Run takes a job back.
func (c *jobCancel) Run(ctx context.Context, s *session) error {
	id, err := c.resolve()
	to := chain.AddrJobDispatcher
	return c.order(ctx, s, &chain.Tx{To: &to, Payload: chain.EncodeRequest(&chain.JobCancel{JobID: id})}, err)
}
