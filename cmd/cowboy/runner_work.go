package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// maxDataFile bounds the file that a result's data is read from, as results are.
const maxDataFile = chain.MaxReturnBytes

// resultFlags are what a person says in place of a runner's work.
type resultFlags struct {
	Data         string `type:"existingfile" placeholder:"FILE" help:"What was found; of a failure, why."`
	Outcome      string `default:"ok" enum:"ok,impossible,actor_fault,external_fault" help:"How the work ended: ok, impossible, actor_fault or external_fault."`
	WallMillis   uint32 `name:"wall-ms" default:"0" placeholder:"N" help:"Time that it took; this and the next decide what the runner earns."`
	MemoryMB     uint32 `name:"memory-mb" default:"0" placeholder:"N" help:"Memory that it took."`
	Requests     uint32 `default:"0" placeholder:"N" help:"Requests that it made."`
	InputTokens  uint32 `name:"input-tokens" default:"0" placeholder:"N" help:"Tokens that a model read."`
	OutputTokens uint32 `name:"output-tokens" default:"0" placeholder:"N" help:"Tokens that a model wrote."`
	SourceURL    string `name:"source-url" placeholder:"URL" help:"Where the data of an HTTP job came from; default: the job's url."`
	SourceStatus uint16 `name:"source-status" default:"200" placeholder:"N" help:"Status that it came with."`
}

var resultOutcomes = []string{
	chain.OutcomeOK: "ok", chain.OutcomeImpossible: "impossible", chain.OutcomeActorFault: "actor_fault",
	chain.OutcomeExternalFault: "external_fault",
}

// result makes a result for a job, which the judge of the job would count.
func (f *resultFlags) result(w *work) ([]byte, error) {
	data, err := f.read()
	if err != nil {
		return nil, err
	}
	r := &chain.RunnerResult{
		Version: chain.RunnerResultVersion, Attempt: w.attempt, Outcome: chain.Outcome(slices.Index(resultOutcomes, f.Outcome)), Data: data,
		Usage: chain.RunnerUsage{
			InputTokens: f.InputTokens, OutputTokens: f.OutputTokens, WallMillis: f.WallMillis, MemoryMB: f.MemoryMB, Requests: f.Requests,
		},
		TimestampMillis: uint64(time.Now().UnixMilli()),
	}
	if r.Outcome != chain.OutcomeOK {
		r.Data, r.Detail = []byte{}, &chain.ResultDetail{Total: 1, Text: strings.TrimSpace(string(data))}
	} else if err := judge.Accepts(w.spec, w.terms, data); err != nil {
		return nil, usagef("the job would not count %s: %w", f.Data, err)
	}
	if fetch, ok := w.spec.JobType.(*chain.HTTPJob); ok && r.Outcome == chain.OutcomeOK {
		r.Source = &chain.ResultSource{URL: cmp.Or(f.SourceURL, fetch.URL), Status: f.SourceStatus, ResponseHash: keccak.Sum256(data)}
	}
	encoded := r.Encode()
	if _, err := chain.DecodeRunnerResult(encoded); err != nil {
		return nil, usageError{err}
	}
	return encoded, nil
}

// read reads the data.
func (f *resultFlags) read() ([]byte, error) {
	info, err := os.Stat(f.Data)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxDataFile {
		return nil, usagef("%s has %d bytes, a result has at most %d", f.Data, info.Size(), maxDataFile)
	}
	return os.ReadFile(f.Data)
}

// work is a runner's part in a job.
type work struct {
	job     chain.Hash
	key     *secp256k1.PrivateKey
	chainID uint64
	attempt uint8
	several bool // runners work
	spec    *chain.JobSpec
	terms   *chain.JobTerms
	file    string
}

// begin finds out at which attempt a job is, for which the own account must be drawn, and
// where its result is kept on this machine.
func begin(ctx context.Context, s *session, arg *jobArg) (*work, error) {
	id, api, err := ask(s, arg.resolve)
	if err != nil {
		return nil, err
	}
	found, err := s.key()
	if err != nil {
		return nil, err
	}
	j, err := api.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	spec, terms, err := jobPapers(ctx, api, id)
	if err != nil {
		return nil, err
	}
	quote, err := api.BaseFee(ctx)
	if err != nil {
		return nil, err
	}
	me := client.AddressOf(found.Key).String()
	seats, err := api.JobRunners(ctx, id)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(seats.Runners, func(r rpc.SeatReply) bool { return r.Runner == me && r.Attempt == j.Attempt }) {
		return nil, fmt.Errorf("%s is not drawn for attempt %d of the job, which is %s: cowboy job runners %s", me, j.Attempt+1, j.Phase, id)
	}
	p, err := s.project()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("result-%s-%s-%d.cbor", id.String()[2:], me[2:], j.Attempt+1)
	return &work{
		job: id, key: found.Key, chainID: quote.ChainID, attempt: j.Attempt, several: j.Runners > 1, spec: spec, terms: terms,
		file: filepath.Join(p.Root, name),
	}, nil
}

// kept reads the result that is kept for the attempt; nil where there is none.
func (w *work) kept() ([]byte, error) {
	encoded, err := os.ReadFile(w.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := chain.DecodeRunnerResult(encoded); err != nil {
		return nil, fmt.Errorf("%s: %w", w.file, err)
	}
	return encoded, nil
}

// keep puts a result in its place, durably, and only if there is none: whoever has committed
// to a result and cannot show it loses stake.
func (w *work) keep(result []byte) error {
	err := client.WriteNew(w.file, result, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another command has kept a result for this attempt in the meantime: leave --data out to commit to it: %w", err)
	}
	if err != nil {
		return fmt.Errorf("keep the result in %s: %w", w.file, err)
	}
	return nil
}

// signature is the runner's of a result (resolution 11.1).
func (w *work) signature(result []byte) (sig [65]byte) {
	signed := w.key.Sign(chain.ResultDigest(w.chainID, w.job, result))
	copy(sig[:32], signed.R[:])
	copy(sig[32:64], signed.S[:])
	sig[64] = signed.YParity
	return sig
}

type runnerCommit struct {
	jobArg
	resultFlags
	sendFlags
}

// Help teaches the command.
func (runnerCommit) Help() string {
	return `Plays a runner by hand. The chain learns a hash that nobody can copy; the result itself is kept in result-JOB-RUNNER-ATTEMPT.cbor of the project folder until runner reveal. Without that file the runner cannot reveal, and loses a fifth of its stake: a result that is kept is committed to again, never written over.

Example:

    echo '{"usd": 42}' > answer.json
    cowboy runner commit 0x… --data answer.json --requests 1 --wait
    cowboy runner reveal 0x… --wait                # when all have committed: cowboy job status`
}

// Run commits to a result.
func (c *runnerCommit) Run(ctx context.Context, s *session) error {
	w, err := begin(ctx, s, &c.jobArg)
	if err != nil {
		return err
	}
	result, err := w.kept()
	switch {
	case err != nil:
		return err
	case result != nil && c.Data != "":
		return usagef("a result for this attempt is kept: leave --data out to commit to it")
	case result == nil && c.Data == "":
		return usagef("give the result with --data")
	case result == nil:
		if result, err = c.result(w); err != nil {
			return err
		}
		if err := w.keep(result); err != nil {
			return err
		}
		s.note("the result is kept in %s", w.file)
	}
	to := chain.AddrResultVerifier
	payload := chain.EncodeRequest(&chain.ResultCommit{JobID: w.job, Commitment: chain.ResultCommitment(result, w.signature(result))})
	return c.order(ctx, s, &chain.Tx{To: &to, Payload: payload}, nil)
}

type runnerReveal struct {
	jobArg
	resultFlags
	sendFlags
}

// Help teaches the command.
func (runnerReveal) Help() string {
	return `Shows the result that runner commit has kept; where one runner works, that of --data without a commitment. Of several runners the one of the best reputation reveals alone at first, up to gather_until of cowboy job get --json; the others after it. With --wait the command waits for its turn.

Example:

    cowboy runner reveal 0x… --wait
    cowboy runner reveal 0x… --data answer.json --requests 1 --wait    # one runner works`
}

// Run reveals a result.
func (c *runnerReveal) Run(ctx context.Context, s *session) error {
	w, err := begin(ctx, s, &c.jobArg)
	if err != nil {
		return err
	}
	result, err := w.kept()
	switch {
	case err != nil:
		return err
	case result != nil && c.Data != "":
		return usagef("the result of this attempt is kept: leave --data out to reveal it")
	case result == nil && w.several:
		return usagef("no result is kept in %s: several runners work, so commit first", filepath.Dir(w.file))
	case result == nil && c.Data == "":
		return usagef("give the result with --data")
	case result == nil:
		if result, err = c.result(w); err != nil {
			return err
		}
	}
	if w.several && c.Wait && !c.DryRun {
		err := w.awaitTurn(ctx, s)
		if errors.Is(err, errShown) {
			var text lines
			text.add("Shown by the aggregator: nothing is left to do")
			return s.show(shownReply{w.job.String(), true}, &text)
		}
		if err != nil {
			return err
		}
	}
	to := chain.AddrResultVerifier
	payload := chain.EncodeRequest(&chain.ResultReveal{JobID: w.job, Result: result, RunnerSig: w.signature(result)})
	return c.order(ctx, s, &chain.Tx{To: &to, Payload: payload}, nil)
}
