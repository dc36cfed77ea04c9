//spec:implements resolutions 11

package ask

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// Caller is who asks, and what the call says besides the dictionary.
type Caller struct {
	Actor       chain.Address
	Handler     string // that takes the answer; "" leaves it to the dictionary
	Correlation string // given back with the answer
	Resumes     bool   // Handler finds what waits by Correlation, whatever the dictionary says
}

// Asked is a job in its one form. The chain has yet to fill in id, submitter and height.
type Asked struct {
	Spec  chain.JobSpec
	Terms chain.JobTerms
	VRAM  uint64 // GiB of an accelerator's memory that it wants: no runner is told, the gate reads it
}

// asker turns one dictionary into a job.
type asker struct {
	*table
	p       *params.Params
	by      *Caller
	out     *Asked
	compare bool // fields of the results are looked at, which are JSON then
}

// Read returns what a dictionary asks for, a canonical map of at most [MaxBytes]. The caller
// has paid for its bytes. The error is a [*KeyError].
func Read(dict []byte, by *Caller, p *params.Params) (*Asked, error) {
	lim := limits()
	if err := cbor.Scan(dict, lim); err != nil {
		return nil, &KeyError{Err: err}
	}
	r := new(reader)
	a := &asker{table: r.table("", dict), p: p, by: by, out: new(Asked)}
	a.ask()
	if r.err != nil {
		return nil, r.err
	}
	return a.out, a.out.check()
}

// ask takes all keys of the dictionary. Bounds come before the job, whose tokens they bound.
func (a *asker) ask() {
	t, s := &a.out.Terms, &a.out.Spec
	t.Version = chain.JobTermsVersion
	a.bounds()
	a.job()
	a.verification()
	a.freshness()
	a.snapshot()
	a.callback()
	a.terms()
	s.TimeoutBlocks = a.uint("timeout_blocks", a.p.Job.DefaultTimeoutBlocks, 0, math.MaxUint64)
	s.Tip = chain.Wei(a.uint("tip", 0, 0, math.MaxUint64))
	if pool := a.text("required_runner_pool"); pool != nil {
		s.RequiredRunnerPool = []byte(*pool)
	}
	a.out.VRAM = a.uint(manifest.MinVRAM, 0, 0, math.MaxUint64)
	a.trust()
	a.leaveNone()
}

// check holds the job to the forms that it is kept in: what it says there decodes again.
func (a *Asked) check() error {
	spec, terms := a.Spec.Encode(), a.Terms.Encode()
	if n := len(spec) + len(terms); n > chain.MaxJobBytes {
		return &KeyError{Err: fmt.Errorf("a job of %d bytes, %d are allowed", n, chain.MaxJobBytes)}
	}
	if _, err := chain.DecodeJobSpec(spec); err != nil {
		return &KeyError{Err: err}
	}
	if _, err := chain.DecodeJobTerms(terms); err != nil {
		return &KeyError{Err: err}
	}
	return nil
}

// bounds reads what the work may use, and the price, which stands among the bounds or
// outside.
func (a *asker) bounds() {
	d, b := &a.p.Job.Defaults, &a.out.Spec.Bounds
	t := a.sub("bounds")
	if t == nil {
		t = &table{r: a.r}
	}
	// A job without a bound of output that says how much it wants has asked for no less.
	output := max(d.MaxOutputTokens, a.lookAt("max_tokens"))
	b.MaxInputTokens = uint32(t.uint("max_input_tokens", d.MaxInputTokens, 0, math.MaxUint32))
	b.MaxOutputTokens = uint32(t.uint("max_output_tokens", min(output, math.MaxUint32), 0, math.MaxUint32))
	b.MaxWallTimeSeconds = uint32(t.uint("max_wall_time_seconds", d.MaxWallTimeSeconds, 0, math.MaxUint32))
	b.MaxMemoryMB = uint32(t.uint("max_memory_mb", d.MaxMemoryMB, 0, math.MaxUint32))
	b.MaxRetries = uint32(t.uint("max_retries", a.retries(d.MaxRetries), 0, math.MaxUint32))
	inside, outside := t.take("max_price"), a.take("max_price")
	if inside != nil && outside != nil {
		a.wrong("max_price", ErrTwice)
	}
	price := t.uintOf("max_price", inside, uint64(d.MaxPrice), 0, math.MaxUint64)
	a.out.Spec.MaxPrice = chain.Wei(a.uintOf("max_price", outside, price, 0, math.MaxUint64))
	t.leaveNone()
}

// lookAt is an integer that is read again where it belongs; 0 for anything else.
func (a *asker) lookAt(name string) uint64 {
	// Bounded: by maxPairs, 64.
	for _, p := range a.pairs {
		if c := cbor.NewReader(p.item); p.name == name {
			n, _ := c.Uint()
			return n
		}
	}
	return 0
}

// retries reads the SDK's Retry. A runner tries again at once: another backoff than that of
// one block, which is the SDK's own, would be a promise that nobody keeps.
func (a *asker) retries(otherwise uint64) uint64 {
	t := a.sub("retry")
	if t == nil {
		return otherwise
	}
	n := t.uint("attempts", otherwise, 0, math.MaxUint32)
	t.uint("backoff", 1, 1, 1)
	t.leaveNone()
	return n
}

// callback reads who takes the answer: the handler of the call, or the one that the
// dictionary names. Without a handler there is no answer.
func (a *asker) callback() {
	cb := &a.out.Spec.Callback
	to := a.by.Actor
	named := a.raw("reply_to", to[:])
	if named && a.by.Resumes {
		a.wrong("reply_to", fmt.Errorf("%w: the handler that waits takes the answer", ErrTwice))
	}
	if cb.Handler = a.by.Handler; !utf8.ValidString(cb.Handler) || !utf8.ValidString(a.by.Correlation) {
		a.wrong("reply_handler", cbor.ErrUTF8)
	}
	if h := a.text("reply_handler"); h != nil {
		if a.by.Handler != "" && *h != a.by.Handler {
			a.wrong("reply_handler", ErrTwice)
		}
		cb.Handler = *h
	}
	cb.CorrelationID = a.by.Correlation
	if id := a.text("correlation_id"); id != nil && !a.by.Resumes {
		cb.CorrelationID = *id
	}
	cb.Context = append([]byte{}, a.take("context")...)
	reserve := uint64(a.p.Actor.MessageReserveCycles)
	switch {
	case cb.Handler != "":
		cb.Actor = to
	case named:
		a.wrong("reply_handler", ErrMissing)
	default:
		reserve = 0
	}
	a.out.Terms.CallbackCycles = chain.Cycles(a.uint("callback_cycles", reserve, 0, math.MaxUint64))
}

// terms reads what results must look like, and what is paid for judging them.
func (a *asker) terms() {
	t, d := &a.out.Terms, &a.p.Job.Defaults
	format := chain.FormatText
	if a.compare {
		format = chain.FormatJSON
	}
	s := a.sub("result_schema")
	if s == nil {
		s = &table{r: a.r}
	}
	if f := s.text("data_format"); f != nil {
		format = chain.DataFormat(*f)
	}
	t.ResultSchema = chain.ResultSchema{
		MaxReturnBytes:          uint32(s.uint("max_return_bytes", d.MaxReturnBytes, 1, chain.MaxReturnBytes)),
		ExpectedExecutionMillis: s.uint("expected_execution_ms", d.ExpectedExecutionMillis, 1, math.MaxUint64),
		DataFormat:              format,
		Schema:                  s.jsonText("schema"),
	}
	s.leaveNone()
	a.raw("toolchain_digest", t.ToolchainDigest[:])
	t.Seed = a.uint("seed", t.Seed, 0, math.MaxUint64)
	verifier := uint64(0)
	// Bounded: by chain.MaxJobChecks, 16.
	for _, c := range a.out.Spec.Verification.Checks {
		if _, custom := c.(*chain.CustomCheck); custom {
			verifier = uint64(a.p.Actor.MessageReserveCycles)
		}
	}
	t.VerifierCycles = chain.Cycles(a.uint("verifier_cycles", verifier, 0, math.MaxUint64))
	t.JudgeSteps = a.uint("judge_steps", d.JudgeSteps, chain.MinJudgeSteps, chain.MaxJudgeSteps)
	a.declared()
	auth := a.sub("auth")
	if auth == nil {
		return
	}
	if kind := auth.text("type"); kind != nil && *kind != "bearer" {
		auth.wrong("type", fmt.Errorf("%w: want bearer", ErrRange))
	}
	name := auth.need("secret_ref")
	t.SecretRef = &name
	auth.leaveNone()
}

// declared gives checks that name no schema the one that the job declares.
func (a *asker) declared() {
	t := &a.out.Terms
	schema := t.ResultSchema.Schema
	if schema == nil && t.Extraction != nil {
		schema = t.Extraction.Schema
	}
	// Bounded: by chain.MaxJobChecks, 16.
	for i, c := range a.out.Spec.Verification.Checks {
		want, ok := c.(*chain.SchemaCheck)
		switch {
		case !ok || want.Schema != "":
		case schema == nil:
			a.wrong(fmt.Sprintf("verification.checks[%d].schema", i), ErrMissing)
		default:
			want.Schema = *schema
		}
	}
}
