package results_test

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/state"
)

// solo assigns a job of one runner, the n-th, and returns its id and its runner.
func (w *world) solo(t *testing.T, n int, change func(*chain.JobSpec, *chain.JobTerms)) (chain.Hash, *runner) {
	t.Helper()
	r, id := newRunner(t, n), chain.Hash{byte(n + 1)}
	w.stakes(r, 1_000_000)
	spec, terms := asks(1, 1, 10_000, 0)
	change(spec, terms)
	w.assign(id, spec, terms, w.seatsOf(r))
	return id, r
}

// TestNothingJudgedTakesNothing: bytes that nothing is asked of pay for no steps, and take
// none from those that pay, whatever their jobs declare.
func TestNothingJudgedTakesNothing(t *testing.T) {
	w := newWorld(t)
	w.height = 3
	var ids []chain.Hash
	var all []*runner
	for n := range 9 {
		id, r := w.solo(t, n, func(_ *chain.JobSpec, terms *chain.JobTerms) {
			if terms.JudgeSteps = chain.MaxJudgeSteps; n < 8 {
				terms.ResultSchema.DataFormat = chain.FormatBytes
			}
		})
		ids, all = append(ids, id), append(all, r)
	}
	w.params.Job.JudgeStepsPerBlock = chain.MaxJudgeSteps
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, "42")))
		}
	})
	for n, id := range ids {
		if w.job(id).Outcome != jobs.OK {
			t.Errorf("job %d has no verdict in the block of its result", n)
		}
	}
}

// TestLargeCasesStopNobody: jobs that declare more than a block has, and use little, are
// judged with the others.
func TestLargeCasesStopNobody(t *testing.T) {
	w := newWorld(t)
	w.height, w.params.Job.JudgeStepsPerBlock = 3, 2_000
	var ids []chain.Hash
	var all []*runner
	for n := range 6 {
		id, r := w.solo(t, n, func(_ *chain.JobSpec, terms *chain.JobTerms) {
			if n < 3 {
				terms.JudgeSteps = 10_000
			}
		})
		ids, all = append(ids, id), append(all, r)
	}
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, "42")))
		}
	})
	for n, id := range ids {
		if w.job(id).Outcome != jobs.OK {
			t.Errorf("job %d has no verdict", n)
		}
	}
}

// TestQueuesOfOtherBlocks: jobs that wait as heavy ones are light once a block has more steps,
// and are judged in their order, each once.
func TestQueuesOfOtherBlocks(t *testing.T) {
	const count, block, text = 220, 96_000, "0123456789abcdef"
	w := newWorld(t)
	w.height, w.params.Job.JudgeStepsPerBlock = 3, 1
	var ids []chain.Hash
	var all []*runner
	for n := range count {
		id, r := w.solo(t, n, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode, terms.ResultSchema.DataFormat = chain.VerifyEconomicBond, chain.FormatBytes
			terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.EntropyObjective{}}
		})
		ids, all = append(ids, id), append(all, r)
	}
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, text)))
		}
	})
	w.params.Job.JudgeStepsPerBlock = block
	most := w.readSteps(ids[0]) + 1_000 + chain.MaxResultBytes/results.ReadBytes + 1
	perBlock := 1 + (block-most)/(w.readSteps(ids[0])+64+512+2+bodySteps(resultOf(0, text)))
	if most > block/results.LightPart || perBlock >= count {
		t.Errorf("a job may take %d, and %d are judged in a block", most, perBlock)
	}
	for want := 1; want < count+perBlock; want += perBlock {
		for n, id := range ids {
			if got := w.job(id).Outcome == jobs.OK; got != (n < want) {
				t.Errorf("height %d: job %d has a verdict: %v", w.height, n, got)
			}
		}
		w.block(func() {})
	}
	if len(w.callbacks) != count {
		t.Errorf("%d answers", len(w.callbacks))
	}
}

// TestAJobIsJudgedOnceInABlock: one that waits and has a new result too is not judged twice,
// and its verifier not asked twice under one id.
func TestAJobIsJudgedOnceInABlock(t *testing.T) {
	w := newWorld(t)
	w.height = 3
	id, r := w.solo(t, 0, func(spec *chain.JobSpec, terms *chain.JobTerms) {
		spec.Verification.Mode = chain.VerifyEconomicBond
		spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xfe), Method: "check"}}
		terms.VerifierCycles = 5_000
	})
	asked, full := 0, true
	w.ask = func(*results.Inquiry) ([]byte, error) {
		if asked++; full {
			return nil, judge.ErrNoRoom
		}
		return cbor.AppendBool(cbor.AppendText(cbor.AppendMap(nil, 1), "valid"), true), nil
	}
	w.block(func() { w.must(w.reveal(id, r, resultOf(0, "42"))) })
	for want := 2; want < 5; want++ {
		if w.block(func() { w.jobs().Touch(id) }); asked != want {
			t.Errorf("height %d: asked %d times, want %d", w.height, asked, want)
		}
		rows, err := w.o.Scan(chain.AddrJobDispatcher, state.Span{Prefix: jobs.TablePrefix(jobs.TableAsking), Entries: 3, Bytes: 1 << 10})
		if err != nil || len(rows) != 1 {
			t.Errorf("height %d: %d rows of a job that waits, %v", w.height, len(rows), err)
		}
	}
	full = false
	w.block(func() { w.jobs().Touch(id) })
	if asked != 5 || w.job(id).Outcome != jobs.OK {
		t.Errorf("asked %d times: %+v", asked, w.job(id))
	}
}

// TestLooksAreShared: a block looks at so many jobs, and half of these looks are left for the
// light ones, however many others wait and are done with at a look.
func TestLooksAreShared(t *testing.T) {
	w := newWorld(t)
	w.height = 9
	const waiting = params.JudgedJobsMax
	tables := []string{jobs.TableAsking, jobs.TableHeavy, jobs.TableReady}
	for k, table := range tables {
		for n := range waiting {
			w.o.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(table, 1, chain.Hash{byte(n >> 8), byte(n), byte(k)}), []byte{})
		}
	}
	w.end()
	left := map[string]int{}
	for _, table := range tables {
		rows, err := w.o.Scan(chain.AddrJobDispatcher, state.Span{Prefix: jobs.TablePrefix(table), Entries: 2 * waiting, Bytes: 1 << 20})
		w.must(err)
		left[table] = len(rows)
	}
	if left[jobs.TableHeavy] != waiting/2 || left[jobs.TableAsking] != waiting || left[jobs.TableReady] != waiting/2 {
		t.Errorf("left %v", left)
	}
}
