package results_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestPaidByHand: three of five agree, two of them through the aggregator; one disagrees, one
// comes behind the verdict and one withholds (resolutions 6.3-6.5, 11.28, 12.13, 12.81).
func TestPaidByHand(t *testing.T) {
	w, id, all := committee(t)
	good, bad := resultOf(0, "42"), resultOf(0, "43")
	w.block(func() {
		for n, r := range all {
			result := good
			if n == 1 {
				result = bad
			}
			w.must(w.commit(id, r, result))
		}
	})
	w.block(func() {
		w.must(w.do(all[0], &chain.ResultSubmit{JobID: id, Reveals: []chain.Reveal{
			shown(id, all[0], good), shown(id, all[1], bad), shown(id, all[2], good), shown(id, all[3], good),
		}}))
	})
	j := w.job(id)
	if j.Phase != jobs.Closing || j.Outcome != jobs.OK || j.VerdictAt != 5 || j.WindowEnd != 25 || j.CanonicalSeat != 0 {
		t.Fatalf("verdict %+v", j)
	}
	latest, err := w.o.Storage(chain.AddrJobDispatcher, jobs.LatestKey(chain.Address{submitter}, chain.JobHTTP))
	if err != nil || len(latest) != 28 || chain.Address(latest) != all[0].addr || latest[27] != 5 {
		t.Errorf("who succeeded last: %x, %v", latest, err)
	}
	w.until(42) // one could still come by then
	if w.job(id).Phase != jobs.Closing || w.balance(all[0].addr) != 0 {
		t.Error("paid before the shares are fixed")
	}
	w.books(id)
	w.block(func() {})
	w.books(id)
	// 1,000 for a request and 300 for a second: 13 to the Treasury and 19 to who gathered,
	// of each of three. Of a tip of 7 each gets 2, and the first 1 more.
	for n, want := range []chain.Wei{1_300 - 13 - 19 + 2 + 1 + 3*19, 0, 1_300 - 13 - 19 + 2, 1_300 - 13 - 19 + 2, 0} {
		if got := w.balance(all[n].addr); got != want {
			t.Errorf("runner %d has %d, want %d", n, got, want)
		}
	}
	if got := w.balance(chain.AddrTreasury); got != 39 {
		t.Errorf("the Treasury has %d", got)
	}
	if got := w.balance(chain.Address{submitter}); got != 50_000-3_900 {
		t.Errorf("the submitter has %d", got)
	}
	if w.registry.burned != 200_000 || w.registry.stake[all[4].addr] != 800_000 {
		t.Errorf("burned %d, left %d", w.registry.burned, w.registry.stake[all[4].addr])
	}
	if w.registry.said[all[0].addr]["gathered"] != 1 || w.registry.said[all[1].addr]["disagreed"] != 1 {
		t.Errorf("said %v, %v", w.registry.said[all[0].addr], w.registry.said[all[1].addr])
	}
	p, err := jobs.ReadPrices(w.o, chain.JobHTTP, chain.Hash{})
	if want := (jobs.Prices{Count: 3, Sum: [2]uint64{0, 3_900}, Squares: [4]uint64{0, 0, 0, 3 * 1_300 * 1_300}}); err != nil || p != want {
		t.Errorf("prices %+v, %v", p, err)
	}
	var names []string
	for _, e := range w.events {
		if names = append(names, e.Name); len(e.Name)+len(e.Data) > 128 {
			t.Errorf("%s has %d bytes", e.Name, len(e.Name)+len(e.Data))
		}
	}
	if want := []string{results.EventVerdict, results.EventSettled}; !slices.Equal(names, want) {
		t.Errorf("events %v, want %v", names, want)
	}
}

// TestBonds: what a runner has promised for a job comes back when that is settled.
func TestBonds(t *testing.T) { // resolution 12.8
	w, id, r := newWorld(t), chain.Hash{1}, newRunner(t, 0)
	w.height = 3
	w.stakes(r, 1_000_000)
	spec, terms := asks(1, 1, 10_000, 0)
	spec.Verification.Mode = chain.VerifyEconomicBond
	seats := w.seatsOf(r)
	seats[0].Bonded, w.registry.bonded[r.addr] = 20_000, 20_000
	w.assign(id, spec, terms, seats)
	w.block(func() { w.must(w.reveal(id, r, resultOf(0, "42"))) })
	if w.registry.bonded[r.addr] != 20_000 {
		t.Error("a bond that came back with the result")
	}
	w.until(25)
	if w.registry.bonded[r.addr] != 0 || w.job(id).Phase != jobs.Ended {
		t.Errorf("%d bonded, %+v", w.registry.bonded[r.addr], w.job(id))
	}
}

// TestObjectiveFaults: an output that fails what the job declares is slashed by 10 %, once.
func TestObjectiveFaults(t *testing.T) { // resolutions 12.44, 12.81
	w, id, r := newWorld(t), chain.Hash{1}, newRunner(t, 0)
	w.height = 3
	w.stakes(r, 1_000_000)
	spec, terms := asks(1, 1, 10_000, 9)
	spec.Verification.Mode = chain.VerifyEconomicBond
	terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: 3}}
	w.assign(id, spec, terms, w.seatsOf(r))
	w.block(func() { w.must(w.reveal(id, r, resultOf(0, "42"))) })
	if s := w.seats(id)[0]; s.Frozen != 100_000 || w.job(id).Outcome != jobs.NoAgreement || w.registry.said[r.addr]["disagreed"] != 1 {
		t.Errorf("seat %+v of %+v", s, w.job(id))
	}
	w.books(id)
	w.until(25)
	if w.books(id); w.registry.burned != 100_000 || w.balance(chain.Address{submitter}) != 10_009 {
		t.Errorf("burned %d, back %d", w.registry.burned, w.balance(chain.Address{submitter}))
	}
}

// textSteps is what judging the text of two bytes takes that the tests show.
const textSteps = 64 + 1

// TestJudgingIsBounded: what a block has no steps for waits in order, and comes to the same.
func TestJudgingIsBounded(t *testing.T) {
	w := newWorld(t)
	w.height = 3
	var ids []chain.Hash
	var all []*runner
	for n := range 7 {
		r := newRunner(t, n)
		w.stakes(r, 1_000_000)
		spec, terms := asks(1, 1, 10_000, 0)
		ids, all = append(ids, chain.Hash{byte(n + 1)}), append(all, r)
		w.assign(ids[n], spec, terms, w.seatsOf(r))
	}
	// The second begins with what the first has left of a half.
	w.params.Job.JudgeStepsPerBlock = uint64(2 * (w.readSteps(ids[0]) + bodySteps(resultOf(0, "42")) + textSteps + 1))
	w.block(func() {
		for n, r := range all {
			w.must(w.reveal(ids[n], r, resultOf(0, "42")))
		}
	})
	for done := 2; done < 9; done += 2 {
		for n, id := range ids {
			if got, want := w.job(id).Outcome == jobs.OK, n < done; got != want {
				t.Errorf("height %d: job %d has a verdict: %v", w.height, n, got)
			}
		}
		w.block(func() {})
	}
	for _, table := range []string{jobs.TableReady, jobs.TableTouched} {
		rows, err := w.o.Scan(chain.AddrJobDispatcher, state.Span{Prefix: jobs.TablePrefix(table), Entries: 1, Bytes: 1})
		if err != nil || len(rows) > 0 {
			t.Errorf("%s: %d rows are left, %v", table, len(rows), err)
		}
	}
	w.params.Job.JudgeStepsPerBlock = 1 // less than any job: one a block
	w.until(60)
	w.books(ids...)
}

// TestRightsGoByHeights: a result that came in time is judged and paid though the block that
// judges it lies behind the deadline.
func TestRightsGoByHeights(t *testing.T) {
	w := newWorld(t)
	w.height, w.params.Job.JudgeStepsPerBlock = 3, 1
	var ids []chain.Hash
	for n := range 6 {
		r := newRunner(t, n)
		w.stakes(r, 1_000_000)
		spec, terms := asks(1, 1, 10_000, 0)
		ids = append(ids, chain.Hash{byte(n + 1)})
		w.assign(ids[n], spec, terms, w.seatsOf(r))
	}
	w.until(41)
	w.block(func() { // 42, the last height
		for n, id := range ids {
			w.must(w.reveal(id, newRunner(t, n), resultOf(0, "42")))
		}
	})
	w.until(90)
	for n, id := range ids {
		if j := w.job(id); j.Outcome != jobs.OK || j.Phase != jobs.Ended || w.balance(newRunner(t, n).addr) == 0 {
			t.Errorf("job %d: %+v", n, j)
		}
	}
	w.books(ids...)
}

// says is an answer of a verifier.
func says(valid bool, rest ...string) []byte {
	b := cbor.AppendBool(cbor.AppendText(cbor.AppendMap(nil, 1+len(rest)/2), "valid"), valid)
	for _, s := range rest {
		b = cbor.AppendText(b, s)
	}
	return b
}

// TestVerifiers: an actor that a job names decides, once there is room for it. If it says no,
// the work is paid by a share; if it fails, what the results have come to stands. Whatever it
// does, all of the escrow is somewhere.
func TestVerifiers(t *testing.T) {
	for _, c := range []struct {
		what    string
		answer  []byte
		err     error
		outcome jobs.Outcome
		output  any
	}{
		{"yes", says(true), nil, jobs.OK, "42"},
		{"yes, with another output", says(true, "canonical_output", "forty-two"), nil, jobs.OK, "forty-two"},
		{"yes, with one that is too long", says(true, "canonical_output", strings.Repeat("4", 65)), nil, jobs.OK, "42"},
		{"no", says(false), nil, jobs.NoAgreement, nil},
		{"no, with an output", says(false, "canonical_output", "43"), nil, jobs.NoAgreement, nil},
		{"no map", []byte{0xf5}, nil, jobs.OK, "42"},
		{"a map that does not say", cbor.AppendMap(nil, 0), nil, jobs.OK, "42"},
		{"nothing", nil, nil, jobs.OK, "42"},
		{"a failure", nil, results.ErrFailed, jobs.OK, "42"},
	} {
		w, id, r := newWorld(t), chain.Hash{1}, newRunner(t, 0)
		w.height = 3
		w.stakes(r, 1_000_000)
		spec, terms := asks(1, 1, 10_000, 9)
		spec.Verification.Mode = chain.VerifyEconomicBond
		spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xfe), Method: "check"}}
		terms.VerifierCycles = 5_000
		w.assign(id, spec, terms, w.seatsOf(r))
		asked, looked, full := 0, 0, true
		w.room = func(q *results.Inquiry) (bool, error) {
			if looked++; q.Cycles != 5_000 || q.Handler != "check" || q.Actor != (chain.Address{19: 0xfe}) || q.By != (chain.Address{submitter}) {
				t.Errorf("%s: room for %+v", c.what, q)
			}
			return !full, nil
		}
		ask := func(q *results.Inquiry) ([]byte, error) {
			asked++
			m := fields(t, q.Payload)
			if q.Cycles != 5_000 || q.Handler != "check" || q.Actor != (chain.Address{19: 0xfe}) || len(m["outputs"].([]any)) != 1 {
				t.Errorf("%s: asked %+v, %v", c.what, q, m)
			}
			return c.answer, c.err
		}
		w.ask = ask
		w.block(func() { w.must(w.reveal(id, r, resultOf(0, "42"))) })
		if w.block(func() {}); asked != 0 || looked != 2 || w.job(id).Phase != jobs.Assigned {
			t.Errorf("%s: asked %d times while there was no room: %+v", c.what, asked, w.job(id))
		}
		roomIs, unread := w.room, errors.New("the state cannot be read")
		w.room = func(*results.Inquiry) (bool, error) { return false, unread }
		w.height++
		if err := w.verifier().JudgeTouched(); !errors.Is(err, unread) {
			t.Errorf("%s: a fault is taken for no room: %v", c.what, err)
		}
		w.room, full = roomIs, false
		w.ask = func(*results.Inquiry) ([]byte, error) { return nil, unread }
		if err := w.verifier().JudgeTouched(); !errors.Is(err, unread) {
			t.Errorf("%s: a fault is taken for an answer: %v", c.what, err)
		}
		w.ask = ask
		w.block(func() {})
		if got := w.job(id).Outcome; got != c.outcome || asked != 1 {
			t.Errorf("%s: outcome %d, want %d", c.what, got, c.outcome)
		}
		if got := fields(t, w.callbacks[0].Payload)["output"]; got != c.output {
			t.Errorf("%s: the output is %v", c.what, got)
		}
		w.until(40)
		paid, toTreasury := chain.Wei(1_300-13+9), chain.Wei(13)
		if c.outcome != jobs.OK { // half of 1,300; the tip goes back
			paid, toTreasury = 650-6, 6
		}
		w.paidOut(c.what, 10_009, map[chain.Address]chain.Wei{r.addr: paid, chain.AddrTreasury: toTreasury})
		w.books(id)
		if said := w.registry.said[r.addr]; said["disagreed"] > 0 || said["frozen"] > 0 || (said["succeeded"] > 0) != (c.outcome == jobs.OK) {
			t.Errorf("%s: said %v", c.what, said)
		}
	}
}

// paidOut holds balances to what an escrow was divided into; the rest of it is the submitter's.
func (w *world) paidOut(what string, escrow chain.Wei, want map[chain.Address]chain.Wei) {
	w.Helper()
	for a, amount := range want {
		if got := w.balance(a); got != amount {
			w.Errorf("%s: %s has %d, want %d", what, a, got, amount)
		}
		escrow -= amount
	}
	if got := w.balance(chain.Address{submitter}); got != escrow {
		w.Errorf("%s: the submitter has %d, want %d", what, got, escrow)
	}
	if left := w.balance(chain.AddrJobDispatcher); left != 0 {
		w.Errorf("%s: %d is left", what, left)
	}
}

// TestRejectedCommittees: of several runners those that agree are paid their share of what
// they cost when the verifier says no, whoever else withholds; the others are not blamed.
func TestRejectedCommittees(t *testing.T) {
	for _, share := range []uint64{0, 1, 5_000, 10_000} {
		for _, withheld := range []bool{false, true} {
			what := fmt.Sprintf("share %d, withheld %v", share, withheld)
			w, id := newWorld(t), chain.Hash{1}
			w.height, w.params.Job.RejectedShareBasisPoints = 3, share
			var all []*runner
			for n := range 5 {
				all = append(all, newRunner(t, n))
				w.stakes(all[n], 1_000_000)
			}
			spec, terms := asks(5, 3, 50_000, 7)
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xfe), Method: "check"}}
			w.assign(id, spec, terms, w.seatsOf(all...))
			w.ask = func(*results.Inquiry) ([]byte, error) { return says(false), nil }
			good, bad := resultOf(0, "42"), resultOf(0, "43")
			of := [][]byte{good, bad, good, good, bad}
			w.block(func() {
				for n, r := range all {
					w.must(w.commit(id, r, of[n]))
				}
			})
			w.block(func() {
				q := &chain.ResultSubmit{JobID: id}
				for n, r := range all {
					if n < 4 || !withheld {
						q.Reveals = append(q.Reveals, shown(id, r, of[n]))
					}
				}
				w.must(w.do(all[0], q))
			})
			w.until(100)
			if j := w.job(id); j.Phase != jobs.Ended || j.Outcome != jobs.NoAgreement || j.Attempt != 0 || len(w.callbacks) != 1 {
				t.Errorf("%s: %+v, %d answers", what, j, len(w.callbacks))
			}
			each := chain.Wei(1_300 * share / 10_000)
			toTreasury, bonus := each*100/10_000, each*150/10_000
			w.paidOut(what, 50_007, map[chain.Address]chain.Wei{
				all[0].addr: each - toTreasury - bonus + 3*bonus, all[1].addr: 0, all[2].addr: each - toTreasury - bonus,
				all[3].addr: each - toTreasury - bonus, all[4].addr: 0, chain.AddrTreasury: 3 * toTreasury,
			})
			w.books(id)
			for n, r := range all {
				frozen := n == 4 && withheld
				if said := w.registry.said[r.addr]; said["disagreed"] > 0 || said["succeeded"] > 0 || (said["frozen"] > 0) != frozen {
					t.Errorf("%s: of runner %d: %v", what, n, said)
				}
			}
		}
	}
}

// TestCopiesEarnNothing: behind its window the aggregator is paid nothing for the results of
// others, which everybody sees on their way into a block and could copy.
func TestCopiesEarnNothing(t *testing.T) {
	for _, late := range []chain.Height{0, 1} {
		w, id, all := committee(t)
		result := resultOf(0, "42")
		w.block(func() {
			for _, r := range all {
				w.must(w.commit(id, r, result))
			}
		})
		w.until(w.job(id).GatherUntil - 1 + late)
		w.block(func() {
			q := &chain.ResultSubmit{JobID: id}
			for _, r := range all {
				q.Reveals = append(q.Reveals, shown(id, r, result))
			}
			w.must(w.do(all[0], q))
		})
		w.until(60)
		bonus := chain.Wei(1_300 * 150 / 10_000)
		if late > 0 {
			bonus = 0
		}
		paid := map[chain.Address]chain.Wei{chain.AddrTreasury: 5 * 13, all[0].addr: 1_300 - 13 + 1 + 2 + 4*bonus}
		for _, r := range all[1:] {
			paid[r.addr] = 1_300 - 13 + 1 - bonus
		}
		w.paidOut(fmt.Sprint("late ", late), 50_007, paid)
		if got := w.registry.said[all[0].addr]["gathered"] > 0; got != (late == 0) {
			t.Errorf("late %d: gathered %v", late, got)
		}
		w.books(id)
	}
}

// TestSettlementReadsNoPapers: what a job asks for is read at its verdict, in steps, and not
// again when the escrow is divided, though prices are counted by its model.
func TestSettlementReadsNoPapers(t *testing.T) {
	w, id, r := newWorld(t), chain.Hash{1}, newRunner(t, 0)
	w.height = 3
	w.stakes(r, 1_000_000)
	spec, terms := asks(1, 1, 10_000, 0)
	model := chain.Hash{7}
	spec.JobType = &chain.LLMJob{ModelID: model, Prompt: strings.Repeat("p", 100<<10)}
	spec.Bounds.MaxInputTokens, spec.Bounds.MaxOutputTokens = 10, 10
	seats := w.seatsOf(r)
	seats[0].Rates.OutputToken = 9
	w.assign(id, spec, terms, seats)
	read := w.readSteps(id) // more than the job pays for to be judged
	w.params.Job.JudgeStepsPerBlock = uint64(2 * read)
	other, single := w.solo(t, 4, func(*chain.JobSpec, *chain.JobTerms) {})
	w.block(func() {
		w.must(w.reveal(id, r, resultOf(0, "42", func(r *chain.RunnerResult) { r.Usage.OutputTokens = 3 })))
		w.must(w.reveal(other, single, resultOf(0, "42")))
	})
	if w.job(id).Outcome != jobs.OK || w.job(other).Outcome == jobs.OK || w.job(id).Model != model {
		t.Errorf("%+v\nbefore %+v", w.job(id), w.job(other))
	}
	w.o.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(id), nil)
	w.o.SetStorage(chain.AddrJobDispatcher, jobs.TermsKey(id), nil)
	w.until(60)
	if w.job(id).Phase != jobs.Ended || w.job(other).Outcome != jobs.OK {
		t.Errorf("%+v\n%+v", w.job(id), w.job(other))
	}
	if p, err := jobs.ReadPrices(w.o, chain.JobLLM, model); err != nil || p.Count != 1 {
		t.Errorf("prices %+v, %v", p, err)
	}
	w.books(id, other)
}
