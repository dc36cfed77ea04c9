package jobs

import (
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// defaultBondE6 is what economic_bond asks of a runner's stake where the terms do not say:
// twice the value of the job (whitepaper §5), in millionths.
const defaultBondE6 = 2_000_000

// MaxBondMultiplierE6 is the largest bond that a job may ask for, in millionths of its price:
// ten times it. Without a bound the smallest escrow could bind the whole stake of whoever is
// drawn, and keep it from other work and from unbonding.
const MaxBondMultiplierE6 = 10_000_000

// BoundsOf returns the most that one runner may use for a job. One request is free to fail
// as often as the job allows retries.
func BoundsOf(s *chain.JobSpec) selection.Bounds {
	b := &s.Bounds
	return selection.Bounds{
		InputTokens: uint64(b.MaxInputTokens), OutputTokens: uint64(b.MaxOutputTokens), Requests: 1 + uint64(b.MaxRetries),
		WallSeconds: uint64(b.MaxWallTimeSeconds), MemoryMB: uint64(b.MaxMemoryMB),
	}
}

// bondE6 is what a job asks of a runner's free stake, in millionths of its price; 0 for no
// bond (resolution 12.8).
func bondE6(j *Job, t *chain.JobTerms) uint64 {
	switch {
	case j.Mode != chain.VerifyEconomicBond:
		return 0
	case t.BondMultiplierE6 == nil:
		return defaultBondE6
	}
	return *t.BondMultiplierE6
}

// wantedOf returns what a job asks of its runners. A requirement of its submitter's
// manifest is added by who knows it.
func wantedOf(j *Job, s *chain.JobSpec, t *chain.JobTerms) selection.Wanted {
	w := selection.Wanted{
		Kind: j.Kind, Tee: s.Verification.TEERequired, MaxPrice: j.MaxPrice, Runners: uint64(j.Runners), Bounds: BoundsOf(s),
		Pool: string(s.RequiredRunnerPool), BondE6: bondE6(j, t),
	}
	if s.Verification.RequiredTEEType != nil {
		w.TeeType = *s.Verification.RequiredTEEType
	}
	switch job := s.JobType.(type) {
	case *chain.HTTPJob:
		w.Host, _ = manifest.HostOf(job.URL) // none is covered by "*" alone
	case *chain.LLMJob:
		w.Model = job.ModelID
	}
	return w
}

// expectedPrice is the price of all that a job's bounds allow at a runner's rates, at most
// 2^64-1: what is paid is bounded by a share of the escrow.
func expectedPrice(k chain.JobKind, s *chain.JobSpec, r *Rates) chain.Wei {
	bounds := BoundsOf(s)
	rates := selection.Rates{
		InputToken: uint64(r.InputToken), OutputToken: uint64(r.OutputToken), Request: uint64(r.RequestBase),
		ComputeSecond: uint64(r.ComputeSecond), MemoryMB: uint64(r.MemoryMB),
	}
	if price, ok := rates.Most(k, &bounds); ok {
		return price
	}
	return math.MaxUint64
}
