package ask

import (
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
)

// verification reads how many runners work, and when they agree (whitepaper, "Verification
// Mode Details" and "Verification Modes for HTTP Jobs").
func (a *asker) verification() {
	v := &a.out.Spec.Verification
	v.Runners, v.Threshold = 1, 1
	v.TEERequired = a.truth("tee_required")
	t := a.sub("verification")
	if t == nil {
		return
	}
	a.mode(t)
	a.committee(t)
	v.TEERequired = t.truth("tee_required") || v.TEERequired
	v.RequiredTEEType = t.text("required_tee_type")
	v.DisputeWindowBlocks = t.uint("dispute_window_blocks", 0, 0, math.MaxUint64)
	terms := &a.out.Terms
	if terms.VoteField = t.text("vote_field"); terms.VoteField != nil {
		a.compare = true
	}
	a.checks(t)
	if fields := t.texts("fields"); fields != nil {
		v.Checks = append(v.Checks, &chain.FieldsCheck{Fields: fields})
		a.compare = true
	}
	a.objectives(t)
	if terms.BondMultiplierE6 = t.parts("bond_multiplier", millionths, math.MaxUint64); terms.BondMultiplierE6 == nil && v.Mode == chain.VerifyEconomicBond {
		terms.BondMultiplierE6 = new(uint64)
		*terms.BondMultiplierE6 = 2 * millionths
	}
	a.inference(t)
	a.similarity(t)
	t.leaveNone()
}

// mode reads the mode. "median" and "majority" are those of jobs of the web, and name a
// snapshot as well (resolution 12.56).
func (a *asker) mode(t *table) {
	v, s := &a.out.Spec.Verification, &a.out.Terms.Snapshot
	switch m := t.need("mode"); m {
	case "none":
		v.Mode = chain.VerifyNone
	case "economic_bond":
		v.Mode = chain.VerifyEconomicBond
	case "majority_vote":
		v.Mode = chain.VerifyMajorityVote
	case "structured_match":
		v.Mode = chain.VerifyStructured
	case "deterministic":
		v.Mode = chain.VerifyDeterministic
	case "semantic_similarity":
		v.Mode = chain.VerifySimilarity
	case "median":
		v.Mode, *s = chain.VerifyStructured, &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: math.MaxUint64}
		a.compare = true
	case "majority":
		v.Mode, *s = chain.VerifyMajorityVote, &chain.Snapshot{Mode: chain.SnapshotMajority}
	default:
		t.wrong("mode", fmt.Errorf("there is no mode %q", m))
	}
}

// committee reads runners and threshold. One runner works under the modes of one; else what
// is not said is the chain's, or more than half of what is.
func (a *asker) committee(t *table) {
	v, j := &a.out.Spec.Verification, &a.p.Job
	runners, threshold := uint64(1), uint64(1)
	if v.Mode != chain.VerifyNone && v.Mode != chain.VerifyEconomicBond {
		runners, threshold = min(j.DefaultRunners, math.MaxUint8), min(j.DefaultThreshold, math.MaxUint8)
	}
	asked := t.uint("runners", runners, 1, math.MaxUint8)
	if asked != runners {
		threshold = asked/2 + 1
	}
	v.Runners = uint8(asked)
	v.Threshold = uint8(t.uint("threshold", threshold, 1, math.MaxUint8))
}

// trust reads the word of the whitepaper's first specification for who is believed. It says
// nothing that verification does not: a committee that nobody asked for otherwise votes on
// its whole answers.
func (a *asker) trust() {
	model := a.text("trust_model")
	if model == nil {
		return
	}
	v, j := &a.out.Spec.Verification, &a.p.Job
	switch {
	case *model != "n_of_m":
		a.wrong("trust_model", fmt.Errorf("%w: want n_of_m", ErrRange))
	case a.has("verification") && v.Runners == 1:
		a.wrong("trust_model", fmt.Errorf("%w: verification asks for one runner", ErrRange))
	case !a.has("verification"):
		v.Mode = chain.VerifyMajorityVote
		v.Runners, v.Threshold = uint8(min(j.DefaultRunners, math.MaxUint8)), uint8(min(j.DefaultThreshold, math.MaxUint8))
	}
}

// has reports whether a key is said.
func (t *table) has(name string) bool { return t.take(name) != nil }

// freshness reads how old data of the web may be (resolution 12.46).
func (a *asker) freshness() {
	t := a.sub("freshness")
	if t == nil {
		return
	}
	job, ok := a.out.Spec.JobType.(*chain.HTTPJob)
	if !ok {
		a.wrong("freshness", fmt.Errorf("%w: it is of jobs of the web", ErrRange))
		return
	}
	const most = math.MaxUint64 / 1_000
	job.Freshness = &chain.Freshness{
		MaxAgeSeconds: t.uint("max_age_seconds", 0, 0, most), CacheControl: t.text("cache_control"), TimestampField: t.text("timestamp_field"),
	}
	f := &chain.FreshnessReference{Reference: chain.FreshAtBlock}
	if r := t.text("reference"); r != nil {
		switch *r {
		case "block":
		case "submission":
			f.Reference = chain.FreshAtSubmission
		case "absolute":
			f.Reference = chain.FreshAtTime
			f.TimestampMillis = t.uint("timestamp_ms", 0, 0, math.MaxUint64)
			if f.TimestampMillis == 0 {
				t.wrong("timestamp_ms", ErrMissing)
			}
		default:
			t.wrong("reference", fmt.Errorf("there is no reference %q", *r))
		}
	}
	f.ToleranceMillis = t.uint("tolerance_ms", 1_000*job.Freshness.MaxAgeSeconds, 0, math.MaxUint64)
	t.leaveNone()
	a.out.Terms.FreshnessReference = f
}

// snapshot reads which of several answers counts. A mode that names a snapshot allows no
// other beside it.
func (a *asker) snapshot() {
	t := a.sub("snapshot")
	if t == nil {
		return
	}
	s := new(chain.Snapshot)
	switch m := t.need("mode"); m {
	case "first_valid":
		s.Mode = chain.SnapshotFirstValid
	case "median":
		s.Mode, s.OutlierE6 = chain.SnapshotMedian, math.MaxUint64 // flags nothing
	case "majority":
		s.Mode = chain.SnapshotMajority
	case "latest":
		s.Mode = chain.SnapshotLatest
	default:
		t.wrong("mode", fmt.Errorf("there is no snapshot %q", m))
	}
	if named := a.out.Terms.Snapshot; named != nil && named.Mode != s.Mode {
		t.wrong("mode", ErrTwice)
	}
	if o := t.parts("outlier_threshold", millionths, math.MaxUint64-1); o != nil {
		s.OutlierE6 = *o
	}
	t.leaveNone()
	a.compare = a.compare || s.Mode == chain.SnapshotMedian
	a.out.Terms.Snapshot = s
}

// inference reads the configuration that deterministic runs are pinned to.
func (a *asker) inference(t *table) {
	terms := &a.out.Terms
	if c := t.sub("inference_config"); c != nil {
		terms.Seed = c.uint("seed", 0, 0, math.MaxUint64)
	}
	terms.InferenceConfig = t.jsonOf("inference_config", chain.MaxInferenceBytes)
}

// similarity reads when two answers mean the same.
func (a *asker) similarity(t *table) {
	at := t.parts("similarity_threshold", millionths, millionths)
	var model chain.Hash
	named := t.raw("embedding_model", model[:])
	switch {
	case at == nil && !named && a.out.Spec.Verification.Mode != chain.VerifySimilarity:
	case at == nil:
		t.wrong("similarity_threshold", ErrMissing)
	default:
		a.out.Terms.Similarity = &chain.Similarity{ThresholdE6: uint32(*at), EmbeddingModel: model}
	}
}
