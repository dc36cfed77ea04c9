package results_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// committee is a world with a job of five runners, three of whom decide, in its first block.
// Commitments are due by 26, the aggregator is alone until 35, the deadline is 42 (the job
// was submitted in 2 and is assigned in 3 with 40 blocks).
func committee(t testing.TB) (*world, chain.Hash, []*runner) {
	t.Helper()
	w, id := newWorld(t), chain.Hash{0x0b}
	var all []*runner
	for n := range 5 {
		all = append(all, newRunner(t, n))
		w.stakes(all[n], 1_000_000)
	}
	w.height = 3
	spec, terms := asks(5, 3, 50_000, 7)
	w.assign(id, spec, terms, w.seatsOf(all...))
	return w, id, all
}

// commitAll lets all commit to one result.
func (w *world) commitAll(id chain.Hash, all []*runner, result []byte) {
	w.Helper()
	w.block(func() {
		for _, r := range all {
			w.must(w.commit(id, r, result))
		}
	})
}

// TestCommitments: market design §5, row 7.
func TestCommitments(t *testing.T) { // resolutions 11.1, 11.27, 12.26
	w, id, all := committee(t)
	j := w.job(id)
	if j.CommitBy != 26 || j.GatherUntil != 35 || j.Deadline != 42 {
		t.Fatalf("windows %d, %d, %d", j.CommitBy, j.GatherUntil, j.Deadline)
	}
	result := resultOf(0, "42")
	refuse := func(rule string, want error, by *runner, job chain.Hash) {
		t.Helper()
		if err := w.commit(job, by, result); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	w.block(func() {
		w.must(w.commit(id, all[0], result))
		refuse("a second one", results.ErrCommitted, all[0], id)
		refuse("of a stranger", results.ErrUnknown, newRunner(t, 99), id)
		refuse("to no job", results.ErrUnknown, all[1], chain.Hash{1})
	})
	s := w.seats(id)[0]
	if s.Commitment == nil || s.CommittedAt != 4 || s.Millis != 4_000 {
		t.Errorf("seat %+v", s)
	}
	w.until(25)
	w.block(func() {
		w.must(w.commit(id, all[1], result)) // 26, the last height
		w.must(w.commit(id, all[2], result))
	})
	w.block(func() { refuse("behind the deadline", results.ErrLate, all[3], id) })
	for n, want := range []int{0, 0, 0, 1, 1} {
		if got := w.registry.said[all[n].addr]["silent"]; got != want {
			t.Errorf("runner %d was silent %d times, want %d", n, got, want)
		}
	}
}

// TestReveals: market design §5, row 8, in the order of its checks.
func TestReveals(t *testing.T) { // resolutions 11.1, 11.27, 12.24, 12.29, 12.31-12.33
	w, id, all := committee(t)
	result := resultOf(0, "42")
	early := func() {
		if err := w.reveal(id, all[0], result); !errors.Is(err, results.ErrEarly) {
			t.Errorf("early: %v", err)
		}
	}
	w.block(func() {
		for _, r := range all[:4] {
			w.must(w.commit(id, r, result))
		}
		early()
	})
	w.until(25)
	w.block(early)   // 26: the fifth may still commit
	w.block(func() { // 27
		for _, r := range all[1:4] {
			if err := w.reveal(id, r, result); !errors.Is(err, results.ErrAlone) {
				t.Errorf("beside the aggregator: %v", err)
			}
		}
		refused(t, w, id, all[0])
		w.must(w.reveal(id, all[0], result)) // the aggregator
		if err := w.reveal(id, all[0], result); !errors.Is(err, results.ErrRevealed) {
			t.Errorf("a second one: %v", err)
		}
	})
	s := w.seats(id)[0]
	if s.Reveal == nil || s.Reveal.At != 27 || s.Reveal.Gathered || s.Reveal.Tx != (chain.Hash{27}) || s.Reveal.Usage.WallMillis != 1_000 || s.CommittedAt != 4 {
		t.Errorf("seat %+v, reveal %+v", s, s.Reveal)
	}
	if w.registry.active[all[0].addr] != 0 || w.registry.said[all[0].addr]["revealed"] != 1 {
		t.Error("who has revealed is not let go")
	}
	w.until(35)
	w.block(func() { // 36: anybody who committed
		w.must(w.reveal(id, all[2], result))
		if err := w.reveal(id, all[4], result); !errors.Is(err, results.ErrNoCommitment) {
			t.Errorf("without a commitment: %v", err)
		}
	})
	w.until(41)
	w.block(func() { w.must(w.reveal(id, all[3], result)) }) // 42, the last height
	w.block(func() {
		if err := w.reveal(id, all[1], result); !errors.Is(err, results.ErrLate) {
			t.Errorf("behind the deadline: %v", err)
		}
	})
}

// refused tries results that the aggregator has not committed to, or that are none.
func refused(t *testing.T, w *world, id chain.Hash, by *runner) {
	t.Helper()
	good := resultOf(0, "42")
	change := func(f func(*chain.RunnerResult)) []byte { return resultOf(0, "42", f) }
	for _, c := range []struct {
		what   string
		result []byte
		detail string // "" is a proof that fails
	}{
		{"another result", resultOf(0, "43"), ""},
		{"no result", []byte("none"), "result: "},
		{"a byte more", append(append([]byte(nil), good...), 0), "result: "},
		{"another attempt", resultOf(1, "42"), "result.attempt"},
		{"too long", resultOf(0, strings.Repeat("x", 65)), "result.data"},
		{"evidence of an enclave", change(func(r *chain.RunnerResult) { r.TEE = []byte{1} }), "result.tee"},
		{"an embedding", change(func(r *chain.RunnerResult) { r.Embedding = []byte{0, 1} }), "result.embedding"},
		{"tokens in", change(func(r *chain.RunnerResult) { r.Usage.InputTokens = 1 }), "input_tokens"},
		{"tokens out", change(func(r *chain.RunnerResult) { r.Usage.OutputTokens = 1 }), "output_tokens"},
		{"time", change(func(r *chain.RunnerResult) { r.Usage.WallMillis = 10_001 }), "wall_ms"},
		{"memory", change(func(r *chain.RunnerResult) { r.Usage.MemoryMB = 513 }), "memory_mb"},
		{"requests", change(func(r *chain.RunnerResult) { r.Usage.Requests = 4 }), "requests"},
	} {
		err := w.reveal(id, by, c.result)
		if v, _ := verdict.Of(err); c.detail != "" && (v.Reason != verdict.Argument || !strings.Contains(v.Text, c.detail)) {
			t.Errorf("%s: %v, want one that names %s", c.what, err, c.detail)
		}
		if c.detail == "" && !errors.Is(err, results.ErrCommitment) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	at := &chain.ResultReveal{JobID: id, Result: good, RunnerSig: by.sign(id, good)}
	at.RunnerSig[64] ^= 1
	if err := w.do(by, at); !errors.Is(err, results.ErrCommitment) {
		t.Errorf("another signature: %v", err)
	}
}

// TestCopiedCommitment: who commits to what another has committed to cannot open it, as the
// signature is another's (resolution 11.1).
func TestCopiedCommitment(t *testing.T) {
	w, id, all := committee(t)
	result := resultOf(0, "42")
	sig := all[0].sign(id, result)
	w.block(func() {
		for _, r := range all {
			w.must(w.do(r, &chain.ResultCommit{JobID: id, Commitment: chain.ResultCommitment(result, sig)}))
		}
	})
	w.until(35)
	w.block(func() {
		for n, r := range all {
			err := w.do(r, &chain.ResultReveal{JobID: id, Result: result, RunnerSig: sig})
			if n == 0 && err != nil || n > 0 && !errors.Is(err, results.ErrSignature) {
				t.Errorf("runner %d: %v", n, err)
			}
		}
	})
}

// TestSubmissions: market design §5, row 9: all or nothing, in the order of the seats, by
// the aggregator or behind its window.
func TestSubmissions(t *testing.T) { // resolution 12.30
	w, id, all := committee(t)
	result := resultOf(0, "42")
	w.commitAll(id, all, result)
	s := func(n int) chain.Reveal { return shown(id, all[n], result) }
	try := func(by *runner, reveals ...chain.Reveal) error {
		return w.do(by, &chain.ResultSubmit{JobID: id, Reveals: reveals})
	}
	w.block(func() {
		forged := s(1)
		forged.Runner = all[2].addr
		stranger := s(1)
		stranger.Runner = chain.Address{9}
		for _, c := range []struct {
			what string
			err  error
			want verdict.Reason
		}{
			{"by another", try(all[1], s(1)), verdict.State},
			{"none", try(all[0]), verdict.Argument},
			{"not in order", try(all[0], s(1), s(0)), verdict.Argument},
			{"one twice", try(all[0], s(1), s(1)), verdict.Argument},
			{"more than there are", try(all[0], s(0), s(1), s(2), s(3), s(4), s(4)), verdict.Argument},
			{"of a stranger", try(all[0], stranger), verdict.Argument},
			{"forged, behind good ones", try(all[0], s(0), forged), verdict.Proof},
		} {
			if v, ok := verdict.Of(c.err); !ok || v.Reason != c.want {
				t.Errorf("%s: %v", c.what, c.err)
			}
		}
		for n, seat := range w.seats(id) {
			if seat.Reveal != nil {
				t.Errorf("seat %d was shown by a submission that failed", n)
			}
		}
		w.must(try(all[0], s(0), s(2)))
		w.must(try(all[0], s(1))) // another of the same runner
		if err := try(all[0], s(1), s(3)); !errors.Is(err, results.ErrRevealed) {
			t.Errorf("a result that was shown: %v", err)
		}
	})
	for n, want := range []bool{false, true, true} {
		if r := w.seats(id)[n].Reveal; r == nil || r.Gathered != want {
			t.Errorf("seat %d: %+v", n, r)
		}
	}
	if j := w.job(id); j.Phase != jobs.Closing || j.Outcome != jobs.OK {
		t.Errorf("three of five agree: %+v", j)
	}
	w.until(35)
	w.block(func() { w.must(try(all[4], s(3), s(4))) }) // behind the window anybody, for others without a bonus
	if w.seats(id)[3].Reveal.Gathered {
		t.Error("who is not the aggregator gathers")
	}
}

// TestRecoveredSigners: signers that were recovered with the transaction's own signature
// decide as the plain rule does.
func TestRecoveredSigners(t *testing.T) {
	w, id, all := committee(t)
	result := resultOf(0, "42")
	w.commitAll(id, all, result)
	q := &chain.ResultSubmit{JobID: id, Reveals: []chain.Reveal{shown(id, all[0], result), shown(id, all[1], result)}}
	w.block(func() {
		for _, signers := range [][]chain.Address{{all[0].addr, {}}, {all[0].addr, all[2].addr}, {{}, all[1].addr}} {
			if err := w.do(all[0], q, signers...); !errors.Is(err, results.ErrSignature) {
				t.Errorf("%v: %v", signers, err)
			}
		}
		w.must(w.do(all[0], q, all[0].addr, all[1].addr))
	})
}
