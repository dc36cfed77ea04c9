package judge_test

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// jobOf returns a job for so many runners whose results are JSON.
func jobOf(mode chain.VerificationMode, runners, threshold uint8) (*chain.JobSpec, *chain.JobTerms) {
	spec := &chain.JobSpec{
		JobType:      &chain.LLMJob{},
		Verification: chain.Verification{Mode: mode, Runners: runners, Threshold: threshold},
	}
	terms := &chain.JobTerms{
		Version:      chain.JobTermsVersion,
		ResultSchema: chain.ResultSchema{MaxReturnBytes: chain.MaxReturnBytes, ExpectedExecutionMillis: 1, DataFormat: chain.FormatJSON},
		JudgeSteps:   chain.MaxJudgeSteps,
	}
	return spec, terms
}

// fields makes a job compare fields.
func fields(spec *chain.JobSpec, names ...string) {
	spec.Verification.Checks = append(spec.Verification.Checks, &chain.FieldsCheck{Fields: names})
}

// snapshot gives a job a snapshot.
func snapshot(terms *chain.JobTerms, mode chain.SnapshotMode, outlierE6 uint64) {
	terms.Snapshot = &chain.Snapshot{Mode: mode, OutlierE6: outlierE6}
}

const blockMillis = 1_700_000_000_000

// ok is a result of data at a seat, committed one height after that of the seat before.
func ok(seat uint8, data string) judge.Output {
	return judge.Output{
		Seat: seat, CommittedAt: chain.Height(100 + int(seat)), BlockMillis: blockMillis,
		Result: &chain.RunnerResult{Version: 1, Data: []byte(data), TimestampMillis: blockMillis},
	}
}

// failed is a result that says that the work failed.
func failed(seat uint8, outcome chain.Outcome) judge.Output {
	o := ok(seat, "")
	o.Result.Outcome, o.Result.Detail = outcome, &chain.ResultDetail{Total: 1}
	return o
}

// question asks about outputs, all of which are in.
func question(spec *chain.JobSpec, terms *chain.JobTerms, outputs ...judge.Output) *judge.Question {
	return &judge.Question{Spec: spec, Terms: terms, SubmittedMillis: blockMillis - 60_000, Outputs: outputs, Final: true}
}

func pointer[T any](v T) *T { return &v }
