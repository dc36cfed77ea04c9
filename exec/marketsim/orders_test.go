package marketsim

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
)

func ref[T any](v T) *T { return &v }

// order is a job that somebody may want.
func (g *game) order() *chain.JobSubmit {
	r := g.rng
	q := &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType: g.kind(),
			Bounds: chain.ResourceBounds{
				MaxWallTimeSeconds: 1 + r.Uint32N(5), MaxMemoryMB: 1 + r.Uint32N(8), MaxRetries: r.Uint32N(3), MaxInputTokens: 20, MaxOutputTokens: 10,
			},
			MaxPrice: chain.Wei(500 + r.Uint64N(5_000)), Tip: chain.Wei(r.Uint64N(20)), TimeoutBlocks: 6 + r.Uint64N(15),
			Callback: chain.Callback{Context: []byte{}},
		},
		Terms: chain.JobTerms{
			Version: 1, JudgeSteps: 20_000,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: []uint32{200, 200, 200, chain.MaxReturnBytes}[r.IntN(4)], // the largest promise much of the runner lane
				ExpectedExecutionMillis: 1, DataFormat: chain.FormatJSON},
		},
	}
	if q.Terms.ResultSchema.MaxReturnBytes > 200 { // it is as long in some
		q.Terms.JudgeSteps = 150_000
	}
	if g.tight { // many fall due at once
		q.Spec.TimeoutBlocks = 10
	}
	v := &q.Spec.Verification
	v.DisputeWindowBlocks = r.Uint64N(7)
	g.verified(q)
	if v.Mode != chain.VerifyNone && r.IntN(4) == 0 {
		q.Terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: []uint64{2, 5, 9, 17, 18}[r.IntN(5)]}}
		if r.IntN(2) == 0 {
			q.Terms.ObjectiveChecks = append(q.Terms.ObjectiveChecks, &chain.EntropyObjective{MinMillibits: 2_500 + r.Uint64N(700)})
		}
	}
	if g.actor != (chain.Address{}) && r.IntN(2) == 0 {
		g.involve(q)
	}
	if v.Mode != chain.VerifyNone && r.IntN(4) == 0 {
		q.Terms.FreshnessReference = &chain.FreshnessReference{
			Reference: chain.FreshnessOf(r.IntN(2)), ToleranceMillis: 1_000 * (5 + r.Uint64N(9)),
		}
	}
	return q
}

// involve lets the actor of the game verify an order, or take its answer. Long results would take
// more of a verifier than its cycles, which the model does not count.
func (g *game) involve(q *chain.JobSubmit) {
	const cycles = 300_000
	if v := &q.Spec.Verification; v.Mode != chain.VerifyNone && q.Terms.ResultSchema.MaxReturnBytes <= 200 && g.rng.IntN(2) == 0 {
		method := []string{"approve", "reject", "correct", "missing"}[g.rng.IntN(4)]
		v.Checks, q.Terms.VerifierCycles = append(v.Checks, &chain.CustomCheck{Actor: g.actor.String(), Method: method}), cycles
	}
	if g.rng.IntN(2) == 0 {
		q.Spec.Callback.Actor, q.Terms.CallbackCycles = g.actor, cycles
		q.Spec.Callback.Handler = []string{"answer", "fail", "missing"}[g.rng.IntN(3)]
	}
}

func (g *game) kind() chain.JobType {
	switch g.rng.IntN(4) {
	case 0:
		q := &chain.LLMJob{Prompt: "why?", MaxTokens: 5}
		if g.rng.IntN(3) == 0 {
			q.ModelID = chain.Hash{byte(1 + g.rng.IntN(2))}
		}
		return q
	case 1:
		return &chain.CustomJob{Params: []byte{}}
	}
	return &chain.HTTPJob{URL: "https://" + host + "/", Method: "GET"}
}

// verified gives an order one of the modes that are built, and a committee.
func (g *game) verified(q *chain.JobSubmit) {
	v, r := &q.Spec.Verification, g.rng
	committee := func(least int) {
		n := least + r.IntN(4)
		v.Runners, v.Threshold = uint8(n), uint8(n/2+1+r.IntN(n-n/2))
	}
	equal := func() { v.Checks = []chain.VerifierCheck{&chain.FieldsCheck{Fields: []string{"v", "w"}}} }
	switch r.IntN(10) {
	case 0:
		v.Mode, v.Runners, v.Threshold = chain.VerifyNone, 1, 1
	case 1:
		v.Mode, v.Runners, v.Threshold = chain.VerifyEconomicBond, 1, 1
		if r.IntN(2) == 0 {
			q.Terms.BondMultiplierE6 = ref(r.Uint64N(5_000_000))
		}
	case 2:
		v.Mode = chain.VerifyMajorityVote
		committee(3)
		q.Terms.VoteField = ref("v")
	case 3:
		v.Mode = chain.VerifyMajorityVote
		committee(3)
	case 4:
		v.Mode = chain.VerifyMajorityVote
		committee(3)
		q.Terms.ResultSchema.DataFormat = chain.FormatText
	case 5:
		v.Mode = chain.VerifyStructured
		committee(2)
		equal()
	case 6:
		v.Mode = chain.VerifyStructured
		committee(2)
		equal()
		q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotFirstValid}
	case 7:
		v.Mode = chain.VerifyStructured
		committee(3)
		equal()
		q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: uint64(r.IntN(3)) * 100_000}
	case 8:
		v.Mode = chain.VerifyStructured
		committee(2)
		q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotLatest}
	case 9:
		v.Mode = chain.VerifyStructured
		committee(3)
		q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: uint64(r.IntN(2)) * 200_000}
	}
}

// spoil makes an order one that nobody takes, or that asks for something odd.
func (g *game) spoil(q *chain.JobSubmit) {
	r := g.rng
	switch r.IntN(13) {
	case 0:
		q.Spec.TimeoutBlocks = r.Uint64N(5)
	case 1:
		q.Spec.TimeoutBlocks = ^uint64(0)
	case 2:
		q.Spec.MaxPrice = 0
	case 3:
		q.Spec.Verification.Threshold = uint8(r.IntN(8))
	case 4:
		q.Spec.Verification.Runners = 255
	case 5:
		q.Spec.Bounds.MaxWallTimeSeconds = 0
	case 6:
		q.Spec.Bounds.MaxWallTimeSeconds, q.Spec.Bounds.MaxMemoryMB, q.Spec.MaxPrice = ^uint32(0), ^uint32(0), q.Spec.MaxPrice*chain.Wei(r.IntN(2))
	case 7:
		q.Spec.Verification.DisputeWindowBlocks = ^uint64(0)
	case 8:
		q.Spec.MaxPrice = 7
	case 9:
		q.Spec.JobID = chain.Hash{1}
	case 10:
		q.Spec.Submitter = chain.Address{1}
	case 11:
		q.Spec.SubmittedAt = chain.Height(g.height)
	case 12:
		q.Spec.Tip = ^chain.Wei(0) // with the price, more than 64 bits
	}
}

// character is how a runner plays.
type character uint8

const (
	honest      character = iota
	careful               // honest, and never late
	lazy                  // takes jobs and gives no sign
	withholding           // commits and does not show
	liar                  // lies by itself
	colluder              // lies as the others of its kind do
	forger                // shows what it did not commit to, or what another has signed
	complaining           // says that jobs fail
	characters
)

// cast gives a runner its part. In one game of seven most collude, in one of eleven most say
// that jobs fail.
func (g *game) cast() character {
	switch {
	case g.seed%7 == 0 && g.rng.IntN(3) > 0:
		return colluder
	case g.tight && g.rng.IntN(3) == 0:
		return lazy
	case g.seed%11 == 0 && g.rng.IntN(3) > 0:
		return complaining
	}
	if g.rng.IntN(2) == 0 {
		return character(g.rng.IntN(int(lazy)))
	}
	return character(g.rng.IntN(int(characters)))
}

// truth is what an honest runner finds.
func (j *job) truth() int { return 100 + int(j.id[0]) }

// upTo is a number up to another, which has 32 bits.
func upTo(r *rand.Rand, most uint64) uint32 { return uint32(r.Uint64N(most + 1)) }

// answer is the result that a runner makes up for its seat in an attempt.
func (g *game) answer(p *player, j *job) *chain.RunnerResult {
	r := g.rng
	b := &j.spec.Bounds
	out := &chain.RunnerResult{
		Version: 1, Attempt: uint8(j.attempt()), TimestampMillis: 1_000 * (g.height - min(g.height, r.Uint64N(5))),
		Usage: chain.RunnerUsage{
			WallMillis: upTo(r, min(1_000*uint64(b.MaxWallTimeSeconds), math.MaxUint32)), MemoryMB: upTo(r, uint64(b.MaxMemoryMB)),
			Requests: upTo(r, 1+uint64(b.MaxRetries)), InputTokens: upTo(r, uint64(b.MaxInputTokens)), OutputTokens: upTo(r, uint64(b.MaxOutputTokens)),
		},
	}
	if g.prompt || r.IntN(8) > 0 {
		out.Source = &chain.ResultSource{URL: "https://" + host + "/", Status: 200}
	}
	v := j.truth()
	switch p.plays {
	case liar:
		v = 1_000 + r.IntN(1_000)
	case colluder:
		v = 9_999
	case complaining:
		out.Outcome = chain.Outcome(1 + j.id[1]%3)
		if r.IntN(6) == 0 {
			out.Outcome = chain.Outcome(1 + r.IntN(3))
		}
		out.Detail = &chain.ResultDetail{Done: r.Uint32N(4), Total: 3 + r.Uint32N(3), Text: "no"}
		return out
	}
	if j.mode() == chain.VerifyStructured && j.takes() == chain.SnapshotMedian {
		v += r.IntN(5)
	}
	out.Data = g.spelling(j, v)
	if p.plays == forger && r.IntN(3) == 0 {
		out.Usage.Requests = 2 + b.MaxRetries
	}
	return out
}

// spelling is a value in one of the ways in which it can be written.
func (g *game) spelling(j *job, v int) []byte {
	if j.terms.ResultSchema.DataFormat == chain.FormatText {
		return append(fmt.Appendf(nil, "it is %d", v), j.padding()...)
	}
	kind := g.rng.IntN(40)
	if g.prompt {
		kind = max(kind, 5) // all fields, in one way or another
	}
	switch kind {
	case 0, 5, 6, 7:
		return fmt.Appendf(nil, `{"w": "x", "v": %d}`, v)
	case 1, 8, 9:
		return fmt.Appendf(nil, `{"v":%d.0,"w":"x"}`, v)
	case 2:
		return fmt.Appendf(nil, `{"v":%d}`, v) // a field is missing
	case 3:
		return []byte("{}")
	case 4:
		return []byte("no json")
	}
	if j.mode() == chain.VerifyStructured && j.takes() == chain.SnapshotMedian {
		return fmt.Appendf(nil, `{"v":%d,"w":%d}`, v, 7+g.rng.IntN(3))
	}
	if j.nests() {
		return fmt.Appendf(nil, `{"v":%d,"w":"x","far":%s1%s}`, v, strings.Repeat("[", deepNesting), strings.Repeat("]", deepNesting))
	}
	data, _ := json.Marshal(map[string]any{"v": v, "w": "x"})
	return data
}

// deepNesting is deeper than a message nests.
const deepNesting = 40

// padding makes the texts of some jobs as long as an answer has room for, and of as many longer.
func (j *job) padding() string {
	if j.terms.ResultSchema.MaxReturnBytes < 40_000 {
		return ""
	}
	return strings.Repeat("x", 32_000+int(j.id[2])*4)
}

// nests says whether a job has results that nest deeper than a message.
func (j *job) nests() bool { return j.id[2]%2 == 0 && j.terms.ResultSchema.MaxReturnBytes > 150 }
