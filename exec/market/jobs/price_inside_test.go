package jobs

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// TestEachAttemptPaysForItsJudging: results of each attempt may be judged, since a withheld one
// that costs its runner nothing lets another attempt follow.
func TestEachAttemptPaysForItsJudging(t *testing.T) {
	spec := &chain.JobSpec{JobType: &chain.HTTPJob{URL: "https://a.example/"}, Verification: chain.Verification{Mode: chain.VerifyMajorityVote, Runners: 5, Threshold: 3}}
	for _, attempts := range []uint64{1, 3, 16} {
		p := params.Default()
		p.Job.MaxRetries = attempts
		cycles := func(steps uint64) chain.Cycles {
			terms := &chain.JobTerms{JudgeSteps: steps, ResultSchema: chain.ResultSchema{MaxReturnBytes: 1, DataFormat: chain.FormatText}}
			return passes(&p, spec, terms, 0, 0).Cycles
		}
		if got, want := cycles(chain.MinJudgeSteps+7)-cycles(chain.MinJudgeSteps), chain.Cycles(attempts*5*7); got != want {
			t.Errorf("%d attempts: seven steps more cost %d cycles, want %d", attempts, got, want)
		}
	}
}

// TestSeatsPayForKeptPages: each seat that a job may have pays for a page that is kept, in
// every attempt, however large the registry is.
func TestSeatsPayForKeptPages(t *testing.T) {
	p := params.Default()
	terms := &chain.JobTerms{JudgeSteps: chain.MinJudgeSteps, ResultSchema: chain.ResultSchema{MaxReturnBytes: 1, DataFormat: chain.FormatText}}
	cells := func(n uint8, registered uint64) chain.Cells {
		spec := &chain.JobSpec{JobType: &chain.HTTPJob{URL: "https://a.example/"}, Verification: chain.Verification{Runners: n, Threshold: n}}
		return passes(&p, spec, terms, registered, 0).Cells
	}
	rows := seatRows*chain.Cells(p.API.NewEntryCells) + seatRowBytes
	for _, registered := range []uint64{0, 5_000, 65_536} {
		if got, want := cells(3, registered)-cells(2, registered), 3*(rows+runners.KeptBytes); got != want {
			t.Errorf("of %d registered, one runner more costs %d cells, want %d", registered, got, want)
		}
	}
}
