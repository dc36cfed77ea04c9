package results_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// crowd assigns jobs of three runners each, all of whom commit to a result and show it in the
// next block, and returns the ids. Jobs are those of [asks], changed.
func (w *world) crowd(t *testing.T, from, count int, data string, change func(*chain.JobSpec, *chain.JobTerms)) (ids []chain.Hash, show func()) {
	t.Helper()
	committees := make([][]*runner, count)
	for n := range count {
		id := chain.Hash{byte((from + n) >> 8), byte(from + n)}
		ids = append(ids, id)
		for i := range 3 {
			r := newRunner(t, 3*(from+n)%240+i)
			committees[n] = append(committees[n], r)
			w.stakes(r, 1_000_000)
		}
		spec, terms := asks(3, 2, 10_000, 0)
		change(spec, terms)
		w.assign(id, spec, terms, w.seatsOf(committees[n]...))
		for _, r := range committees[n] {
			w.must(w.commit(id, r, resultOf(0, data)))
		}
	}
	return ids, func() {
		for n, id := range ids {
			q := &chain.ResultSubmit{JobID: id}
			for _, r := range committees[n] {
				q.Reveals = append(q.Reveals, shown(id, r, resultOf(0, data)))
			}
			w.must(w.do(committees[n][0], q))
		}
	}
}

// verdicts is in which block, from the one of the results, each job has its verdict.
func (w *world) verdicts(ids []chain.Hash) (blocks []int) {
	first := w.height
	for range ids {
		blocks = append(blocks, -1)
	}
	for left := len(ids); left > 0 && w.height < first+200; {
		for n, id := range ids {
			if blocks[n] < 0 && w.job(id).Outcome == jobs.OK {
				blocks[n] = int(w.height - first)
				left--
			}
		}
		w.block(func() {})
	}
	return blocks
}

// TestDeclaredStepsHoldNobody: 76 jobs that declare more steps than a block has, and use few,
// are judged in the block of their results, and so are the honest ones behind them.
func TestDeclaredStepsHoldNobody(t *testing.T) {
	w := newWorld(t)
	w.height = 3
	hostile, showHostile := w.crowd(t, 0, 76, "42", func(_ *chain.JobSpec, terms *chain.JobTerms) { terms.JudgeSteps = chain.MaxJudgeSteps })
	honest, showHonest := w.crowd(t, 76, 3, "42", func(_ *chain.JobSpec, terms *chain.JobTerms) { terms.JudgeSteps = 10_000 })
	w.block(func() { showHostile(); showHonest() })
	if got := fmt.Sprint(w.verdicts(append(honest, hostile...))); got != fmt.Sprint(make([]int, 79)) {
		t.Errorf("verdicts in blocks %s", got)
	}
}

// TestHeavyJobsLeaveHalf: jobs that take many steps are judged one behind the other, as many
// as half a block's steps and the rest of the last one are, and those that take few wait for
// none of them, nor for each other's more than the other half.
func TestHeavyJobsLeaveHalf(t *testing.T) {
	const block, heavySteps, lightSteps = 64_000, 3 * (64 + 5_000), 64 + 512 + 2
	w := newWorld(t)
	w.height, w.params.Job.JudgeStepsPerBlock = 3, block
	heavy, showHeavy := w.crowd(t, 0, 10, strings.Repeat("x", 5_000), func(_ *chain.JobSpec, terms *chain.JobTerms) {
		terms.ResultSchema.DataFormat, terms.ResultSchema.MaxReturnBytes, terms.JudgeSteps = chain.FormatBytes, 5_000, 6_000
	})
	var light []chain.Hash
	var all []*runner
	for n := range 80 {
		id, r := w.solo(t, 40+n, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode, terms.ResultSchema.DataFormat = chain.VerifyEconomicBond, chain.FormatBytes
			terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.EntropyObjective{}}
		})
		light, all = append(light, id), append(all, r)
	}
	w.block(func() {
		showHeavy()
		for n, r := range all {
			w.must(w.reveal(light[n], r, resultOf(0, "0123456789abcdef")))
		}
	})
	// Three heavy jobs take half of a block and more; light ones take the other half, but for
	// the last one, for which there must be the 1,000 steps that it declares.
	perBlock := 1 + (block/2-1_000)/lightSteps
	for n, block := range w.verdicts(append(heavy, light...)) {
		want := n / 3
		if n >= len(heavy) {
			want = (n - len(heavy)) / perBlock
		}
		if want != block {
			t.Errorf("job %d has its verdict in block %d, want %d", n, block, want)
		}
	}
	if used := 3 * heavySteps; used < block/2 || used-heavySteps >= block/2 {
		t.Errorf("three heavy jobs take %d", used)
	}
}
