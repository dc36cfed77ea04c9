package results_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/state"
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
	const block, text = 96_000, "0123456789abcdef"
	w := newWorld(t)
	w.height, w.params.Job.JudgeStepsPerBlock = 3, block
	heavy, showHeavy := w.crowd(t, 0, 10, strings.Repeat("x", 5_000), func(_ *chain.JobSpec, terms *chain.JobTerms) {
		terms.ResultSchema.DataFormat, terms.ResultSchema.MaxReturnBytes, terms.JudgeSteps = chain.FormatBytes, 5_000, 6_000
	})
	var light []chain.Hash
	var all []*runner
	for n := range 160 {
		id, r := w.solo(t, 40+n, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode, terms.ResultSchema.DataFormat = chain.VerifyEconomicBond, chain.FormatBytes
			terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.EntropyObjective{}}
		})
		light, all = append(light, id), append(all, r)
	}
	w.block(func() {
		showHeavy()
		for n, r := range all {
			w.must(w.reveal(light[n], r, resultOf(0, text)))
		}
	})
	// Four heavy jobs take half of a block and more. Light ones take the other half, but for the
	// last one, for which there must be all that it may take: the 1,000 steps that it declares,
	// and the longest result.
	heavySteps := w.readSteps(heavy[0]) + 3*(64+5_000+bodySteps(resultOf(0, strings.Repeat("x", 5_000))))
	if 3*heavySteps >= block/2 || 4*heavySteps < block/2 {
		t.Errorf("a heavy job takes %d", heavySteps)
	}
	lightSteps := w.readSteps(light[0]) + 64 + 512 + 2 + bodySteps(resultOf(0, text))
	most := w.readSteps(light[0]) + 1_000 + chain.MaxResultBytes/results.ReadBytes + 1
	perBlock := 1 + (block/2-most)/lightSteps
	for n, block := range w.verdicts(append(heavy, light...)) {
		want := n / 4
		if n >= len(heavy) {
			want = (n - len(heavy)) / perBlock
		}
		if want != block {
			t.Errorf("job %d has its verdict in block %d, want %d", n, block, want)
		}
	}
}

// readSteps is what it takes to read what a job asks for.
func (w *world) readSteps(id chain.Hash) int {
	w.Helper()
	spec, err := w.o.Storage(chain.AddrJobDispatcher, jobs.SpecKey(id))
	w.must(err)
	terms, err := w.o.Storage(chain.AddrJobDispatcher, jobs.TermsKey(id))
	w.must(err)
	return (len(spec)+len(terms))/results.ReadBytes + 1
}

// bodySteps is what it takes to read a result.
func bodySteps(result []byte) int { return len(result)/results.ReadBytes + 1 }

// TestAMajorityIsReadOnce: a result that agrees with no other yet is not read again with each
// one that comes: what it took is there for the job behind it.
func TestAMajorityIsReadOnce(t *testing.T) {
	const bytes = 5_000
	w, id := newWorld(t), chain.Hash{1}
	w.height = 3
	long := func(terms *chain.JobTerms) {
		terms.ResultSchema.DataFormat, terms.ResultSchema.MaxReturnBytes, terms.JudgeSteps = chain.FormatBytes, bytes, bytes+1_000
	}
	var all []*runner
	for n := range 7 {
		all = append(all, newRunner(t, n))
		w.stakes(all[n], 1_000_000)
	}
	spec, terms := asks(7, 4, 70_000, 0)
	long(terms)
	w.assign(id, spec, terms, w.seatsOf(all...))
	// Three say a, one b, and then there is a fault of each kind; the last one decides.
	terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: 2}}
	w.o.SetStorage(chain.AddrJobDispatcher, jobs.TermsKey(id), terms.Encode())
	of := make([][]byte, 7)
	for n, data := range []string{"a", "b", "a", "b", "short", "a", "a"} {
		if data = strings.Repeat(data, bytes); n == 4 {
			data = "x"
		}
		of[n] = resultOf(0, data)
	}
	w.block(func() {
		for n, r := range all {
			w.must(w.commit(id, r, of[n]))
		}
	})
	w.until(w.job(id).GatherUntil)                           // everybody shows its own
	w.params.Job.JudgeStepsPerBlock = 2 * (64 + bytes + 600) // for one text and more, not for two
	for n, r := range all {
		other, single := w.solo(t, 20+n, func(_ *chain.JobSpec, terms *chain.JobTerms) { terms.JudgeSteps = 10_000 })
		w.block(func() {
			w.must(w.reveal(id, r, of[n]))
			w.must(w.reveal(other, single, resultOf(0, "42")))
		})
		if got, want := w.job(other).Outcome == jobs.OK, n != 3; got != want { // the fourth is the first to be read, with the three before
			t.Errorf("with result %d the job behind has a verdict: %v", n, got)
		}
		if got := w.job(id).Outcome == jobs.OK; got != (n == 6) {
			t.Errorf("result %d: %+v", n, w.job(id))
		}
	}
	if j := w.job(id); j.CanonicalSeat != 0 || j.DataHash != keccak.Sum256([]byte(strings.Repeat("a", bytes))) {
		t.Errorf("the result is %x of seat %d", j.DataHash, j.CanonicalSeat)
	}
	for n, s := range w.seats(id) {
		want := jobs.Differs
		if n%2 == 0 && n != 4 || n == 5 {
			want = jobs.Agrees
		}
		if s.Mark != want || (s.Frozen > 0) != (n == 4) {
			t.Errorf("seat %d: %+v", n, s)
		}
	}
	w.until(100)
	w.books(id)
	rows, err := w.o.Scan(chain.AddrJobDispatcher, state.Span{Prefix: state.NewStorageKey(state.VMNamespaceSystem, []byte("found/")), Entries: 1, Bytes: 1})
	if err != nil || len(rows) > 0 {
		t.Errorf("%d rows are left, %v", len(rows), err)
	}
}

// TestWithoutRoomNothingIsJudged: a job whose verifier finds no room is not read before it
// does, waits apart from the others, and holds nobody, nor those that need less room.
func TestWithoutRoomNothingIsJudged(t *testing.T) {
	const bytes = 5_000
	w := newWorld(t)
	w.height, w.params.Job.JudgeStepsPerBlock = 3, 2*(64+bytes+1) // for one text
	var ids []chain.Hash
	var all []*runner
	for n := range 4 {
		id, r := w.solo(t, n, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode, terms.ResultSchema.DataFormat = chain.VerifyEconomicBond, chain.FormatText
			terms.ResultSchema.MaxReturnBytes, terms.JudgeSteps = bytes, bytes+1_000
			terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.EntropyObjective{}}
			if n != 2 {
				spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xf0+n), Method: "check"}}
				terms.VerifierCycles = chain.Cycles(1_000 * (4 - n))
			}
		})
		ids, all = append(ids, id), append(all, r)
	}
	room, looked, asked := chain.Cycles(0), 0, 0
	w.room = func(q *results.Inquiry) (bool, error) {
		looked++
		return q.Cycles <= room, nil
	}
	w.ask = func(*results.Inquiry) ([]byte, error) { asked++; return says(true), nil }
	has := func(want ...bool) {
		t.Helper()
		for n, id := range ids {
			if got := w.job(id).Outcome == jobs.OK; got != want[n] {
				t.Errorf("height %d: job %d has a verdict: %v", w.height, n, got)
			}
		}
	}
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, strings.Repeat("x", bytes))))
		}
	})
	has(false, false, true, false)
	for before := looked; looked < before+3; {
		if w.block(func() {}); asked > 0 {
			t.Fatal("asked without room")
		}
	}
	has(false, false, true, false)
	room = 1_000 // for the last one, which those before it do not keep from it
	w.block(func() {})
	has(false, false, true, true)
	room = 4_000
	w.block(func() {})
	w.block(func() {})
	if has(true, true, true, true); asked != 3 {
		t.Errorf("asked %d times", asked)
	}
	w.until(90)
	w.books(ids...)
}

// TestTriesAreBounded: of the jobs whose actors find no room a block looks at a few.
func TestTriesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.height = 3
	var ids []chain.Hash
	var all []*runner
	for n := range results.AskingTries + 4 {
		id, r := w.solo(t, n, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode = chain.VerifyEconomicBond
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xf0), Method: "check"}}
		})
		ids, all = append(ids, id), append(all, r)
	}
	looked := 0
	w.room = func(*results.Inquiry) (bool, error) { looked++; return false, nil }
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, "42")))
		}
	})
	looked = 0
	w.block(func() {})
	if looked != results.AskingTries+1 {
		t.Errorf("%d looks in vain", looked)
	}
	w.room, looked = func(*results.Inquiry) (bool, error) { return true, nil }, 0
	w.ask = func(*results.Inquiry) ([]byte, error) { looked++; return says(true), nil }
	w.block(func() {})
	for n, id := range ids {
		if w.job(id).Outcome != jobs.OK || looked != len(ids) {
			t.Errorf("job %d of %d that were asked: %+v", n, looked, w.job(id))
		}
	}
}

// TestThoseThatAskAreTriedInTurn: jobs whose actors find no room do not stand in front for ever,
// so that those behind them whose actors need less are tried.
func TestThoseThatAskAreTriedInTurn(t *testing.T) {
	w := newWorld(t)
	w.height = 3
	var ids []chain.Hash
	var all []*runner
	const many = 2*results.AskingTries + 2
	for n := range many {
		id, r := w.solo(t, n, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode = chain.VerifyEconomicBond
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xf0), Method: "check"}}
			if terms.VerifierCycles = 9_000; n == many-1 {
				terms.VerifierCycles = 1_000
			}
		})
		ids, all = append(ids, id), append(all, r)
	}
	w.room = func(q *results.Inquiry) (bool, error) { return q.Cycles <= 1_000, nil }
	w.ask = func(*results.Inquiry) ([]byte, error) { return says(true), nil }
	room := w.room
	w.room = func(*results.Inquiry) (bool, error) { return false, nil }
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, "42")))
		}
	})
	w.room = room
	for range many / results.AskingTries {
		w.block(func() {})
	}
	if j := w.job(ids[many-1]); j.Outcome != jobs.OK {
		t.Errorf("the one whose actor has room: %+v", j)
	}
	w.room = func(*results.Inquiry) (bool, error) { return true, nil }
	w.block(func() {})
	for n, id := range ids {
		if j := w.job(id); j.Outcome != jobs.OK {
			t.Errorf("job %d: %+v", n, j)
		}
	}
}

// TestNothingIsReadForAVerifierAhead: a majority whose verifier has the last word reads no result
// before all are in.
func TestNothingIsReadForAVerifierAhead(t *testing.T) {
	w, id := newWorld(t), chain.Hash{1}
	w.height = 3
	var all []*runner
	for n := range 5 {
		all = append(all, newRunner(t, n))
	}
	spec, terms := asks(5, 3, 50_000, 7)
	spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xfe), Method: "check"}}
	w.assign(id, spec, terms, w.seatsOf(all...))
	w.ask = func(*results.Inquiry) ([]byte, error) { return says(true), nil }
	w.block(func() {
		for _, r := range all {
			w.must(w.commit(id, r, resultOf(0, "42")))
		}
	})
	w.until(w.job(id).GatherUntil)
	var bodies [][]byte
	for n, r := range all { // the bodies are not there: who reads one finds a fault
		w.block(func() {
			w.must(w.reveal(id, r, resultOf(0, "42")))
			body := jobs.BodyKey(id, 0, uint8(n))
			row, err := w.o.Storage(chain.AddrJobDispatcher, body)
			w.must(err)
			bodies = append(bodies, row)
			w.o.SetStorage(chain.AddrJobDispatcher, body, nil)
			if n == len(all)-1 {
				for i, row := range bodies {
					w.o.SetStorage(chain.AddrJobDispatcher, jobs.BodyKey(id, 0, uint8(i)), row)
				}
			}
		})
	}
	if j := w.job(id); j.Outcome != jobs.OK {
		t.Errorf("%+v", j)
	}
}

// TestSomeJobIsLight: no vote leaves a block with so few steps that the job which needs the
// fewest is heavy.
func TestSomeJobIsLight(t *testing.T) {
	p := params.Default()
	for steps, ok := range map[uint64]bool{results.LightPart * chain.MinJudgeSteps: true, results.LightPart*chain.MinJudgeSteps - 1: false} {
		p.Job.JudgeStepsPerBlock = steps
		p.Machine = params.MachineTables{CostTable: chain.Hash{1}, ExceptionTexts: chain.Hash{2}}
		if err := p.Check(); (err == nil) != ok {
			t.Errorf("%d steps in a block: %v", steps, err)
		}
	}
}
