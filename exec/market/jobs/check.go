//spec:implements CIP-2 1, 3

package jobs

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// Rules is what the dispatcher asks other services about a job that is submitted.
type Rules struct {
	// Banned reports whether no job may name a model; nil: none is banned. The error is a
	// fault.
	Banned func(v state.View, model chain.Hash) (bool, error)
}

// argument is a verdict on what stands under a key.
func argument(key, format string, args ...any) error {
	return verdict.New(verdict.Argument, key+": "+fmt.Sprintf(format, args...))
}

// check judges what the forms leave open of a job that is submitted (market table §7). The
// error is a verdict that names the key, or a fault.
func (c *Call) check(spec *chain.JobSpec, terms *chain.JobTerms) error {
	// Bounded: by the rules below.
	for _, rule := range []func(*chain.JobSpec, *chain.JobTerms) error{
		c.checkBounds, c.checkPrice, c.checkTerms, c.checkJudged, c.checkLane, c.checkVerifier, c.checkNames, c.checkModel, c.checkCallback,
	} {
		if err := rule(spec, terms); err != nil {
			return err
		}
	}
	return nil
}

// checkBounds refuses work without bounds (CIP-2 §3), and a page of no host.
func (c *Call) checkBounds(spec *chain.JobSpec, _ *chain.JobTerms) error {
	b := &spec.Bounds
	switch {
	case b.MaxWallTimeSeconds == 0:
		return argument("bounds.max_wall_time_seconds", "want at least 1")
	case b.MaxMemoryMB == 0:
		return argument("bounds.max_memory_mb", "want at least 1")
	}
	switch job := spec.JobType.(type) {
	case *chain.LLMJob:
		switch {
		case b.MaxInputTokens == 0:
			return argument("bounds.max_input_tokens", "want at least 1")
		case b.MaxOutputTokens == 0:
			return argument("bounds.max_output_tokens", "want at least 1")
		case job.MaxTokens > b.MaxOutputTokens:
			return argument("job_type.max_tokens", "%d, bounds.max_output_tokens allow %d", job.MaxTokens, b.MaxOutputTokens)
		}
	case *chain.HTTPJob:
		if _, ok := manifest.HostOf(job.URL); !ok || !oneLine(job.URL) {
			return argument("job_type.url", "%q is no address of the web: want http:// or https://, a host, and no spaces", job.URL)
		}
		if job.Method == "" {
			return argument("job_type.method", "it is empty")
		}
	}
	return nil
}

// oneLine reports whether a text has neither spaces nor other characters that print nothing.
func oneLine(s string) bool {
	// Bounded: by chain.MaxURLBytes, 2,048.
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// checkPrice judges what a job pays and for how long it may take.
func (c *Call) checkPrice(spec *chain.JobSpec, _ *chain.JobTerms) error {
	p := &c.Params.Job
	switch {
	case spec.MaxPrice == 0 && p.RequirePrice:
		return argument("max_price", "want at least 1")
	case spec.TimeoutBlocks <= p.MinWindowBlocks || spec.TimeoutBlocks > p.MaxTimeoutBlocks: // the draw takes a block of them
		return argument("timeout_blocks", "%d, want %d to %d", spec.TimeoutBlocks, p.MinWindowBlocks+1, p.MaxTimeoutBlocks)
	case spec.Verification.Runners > 1 && spec.TimeoutBlocks < p.MinCommitteeTimeoutBlocks: // resolution 11.27
		return argument("timeout_blocks", "%d, want at least %d for several runners", spec.TimeoutBlocks, p.MinCommitteeTimeoutBlocks)
	case spec.Verification.DisputeWindowBlocks > c.Params.Runner.UnbondingBlocks: // resolution 11.30
		return argument("verification.dispute_window_blocks", "%d, stakes unbond after %d", spec.Verification.DisputeWindowBlocks, c.Params.Runner.UnbondingBlocks)
	}
	return nil
}

// checkJudged asks the judge of results whether it can judge them: modes, how many runners
// work and must agree, checks and paths (CIP-2 §9; resolution 12.14).
func (c *Call) checkJudged(spec *chain.JobSpec, terms *chain.JobTerms) error {
	if v := &spec.Verification; uint64(v.Runners) > c.Params.Job.MaxRunners {
		return argument("verification.runners", "%d, want at most %d", v.Runners, c.Params.Job.MaxRunners)
	}
	if err := judge.Check(spec, terms); err != nil {
		return verdict.New(verdict.Argument, err.Error())
	}
	return nil
}

// checkTerms holds what the terms ask for to what the chain allows.
func (c *Call) checkTerms(_ *chain.JobSpec, terms *chain.JobTerms) error {
	burst := c.Params.Actor.BlockCyclesBurst
	switch {
	case uint64(terms.ResultSchema.MaxReturnBytes) > c.Params.Job.MaxReturnBytes:
		return argument("terms.result_schema.max_return_bytes", "%d, want at most %d", terms.ResultSchema.MaxReturnBytes, c.Params.Job.MaxReturnBytes)
	case terms.CallbackCycles > burst:
		return argument("terms.callback_cycles", "%d, an actor may use %d", terms.CallbackCycles, burst)
	case terms.VerifierCycles > burst:
		return argument("terms.verifier_cycles", "%d, an actor may use %d", terms.VerifierCycles, burst)
	case terms.BondMultiplierE6 != nil && *terms.BondMultiplierE6 > MaxBondMultiplierE6:
		return argument("terms.bond_multiplier_e6", "%d, want at most %d", *terms.BondMultiplierE6, uint64(MaxBondMultiplierE6))
	case terms.SecretRef != nil:
		return argument("terms.secret_ref", "secrets are not supported yet")
	}
	return nil
}

// checkVerifier wants code behind a verifier.
func (c *Call) checkVerifier(spec *chain.JobSpec, _ *chain.JobTerms) error {
	a, _, named := judge.Custom(spec)
	if !named {
		return nil
	}
	if has, err := c.hasCode(a); err != nil || !has {
		return orFault(err, argument("verification.checks", "the verifier %s has no code", a))
	}
	return nil
}

// orFault is the error of a look at the state, or else the verdict on what was seen.
func orFault(unread, refused error) error {
	if unread != nil {
		return unread
	}
	return refused
}

func (c *Call) hasCode(a chain.Address) (bool, error) {
	account, err := c.State.CodeAndMeta(a)
	return account.HasCode(), err
}

// checkNames judges names that the chain has to know.
func (c *Call) checkNames(spec *chain.JobSpec, _ *chain.JobTerms) error {
	if t := spec.Verification.RequiredTEEType; t != nil {
		switch {
		case !spec.Verification.TEERequired:
			return argument("verification.required_tee_type", "tee_required is false")
		case !slices.Contains(c.Params.TEETypes, *t): // Bounded: by the types of the genesis.
			return argument("verification.required_tee_type", "the chain knows no enclave %q", *t)
		}
	}
	if spec.RequiredRunnerPool != nil && len(spec.RequiredRunnerPool) == 0 {
		return argument("required_runner_pool", "it is empty")
	}
	return nil
}

// checkModel judges the model that a job names (resolution 12.62).
func (c *Call) checkModel(spec *chain.JobSpec, _ *chain.JobTerms) error {
	job, ok := spec.JobType.(*chain.LLMJob)
	if !ok || job.ModelID == (chain.Hash{}) {
		return nil
	}
	if c.Rules.Banned != nil {
		if banned, err := c.Rules.Banned(c.State, job.ModelID); err != nil || banned {
			return orFault(err, argument("job_type.model_id", "%s is banned", job.ModelID))
		}
	}
	if !c.Params.Job.RequireRegisteredModel {
		return nil
	}
	known, err := runners.Published(c.State, job.ModelID)
	if err != nil || known {
		return err
	}
	return argument("job_type.model_id", "%s is not published", job.ModelID)
}

// checkCallback wants somebody who can take the answer, unless none is asked for.
func (c *Call) checkCallback(spec *chain.JobSpec, terms *chain.JobTerms) error {
	cb := &spec.Callback
	if cb.Actor == (chain.Address{}) {
		if terms.CallbackCycles != 0 {
			return argument("terms.callback_cycles", "%d, and callback.actor is nobody", terms.CallbackCycles)
		}
		return nil
	}
	if cb.Handler == "" {
		return argument("callback.handler", "it is empty")
	}
	if has, err := c.hasCode(cb.Actor); err != nil || !has {
		return orFault(err, argument("callback.actor", "%s has no code", cb.Actor))
	}
	return nil
}
