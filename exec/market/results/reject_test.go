package results_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
)

// disagreements are jobs of three runners whose results differ, and these.
var disagreements = map[string]struct {
	change func(*chain.JobSpec, *chain.JobTerms)
	of     [3]string
}{
	"free text": {func(*chain.JobSpec, *chain.JobTerms) {}, [3]string{"a poem", "another", "a third"}},
	"medians without any distance": {func(s *chain.JobSpec, t *chain.JobTerms) {
		s.Verification.Mode, t.ResultSchema.DataFormat = chain.VerifyStructured, chain.FormatJSON
		t.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 1}
	}, [3]string{`{"p":100}`, `{"p":101}`, `{"p":99}`}},
	"one does not count":  {func(*chain.JobSpec, *chain.JobTerms) {}, [3]string{"a poem", "another", "\xff"}},
	"one of three spoils": {func(s *chain.JobSpec, _ *chain.JobTerms) { s.Verification.Threshold = 3 }, [3]string{"a poem", "a poem", "noise"}},
	"medians that one spoils": {func(s *chain.JobSpec, t *chain.JobTerms) {
		s.Verification.Mode, s.Verification.Threshold, t.ResultSchema.DataFormat = chain.VerifyStructured, 3, chain.FormatJSON
		t.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 10_000}
	}, [3]string{`{"p":100}`, `{"p":101}`, `{"p":7}`}},
	"two do not count": {func(*chain.JobSpec, *chain.JobTerms) {}, [3]string{"a poem", "\xfe", "\xff"}},
}

// TestDisagreementIsNoFreeWork: a requester that chooses what runners cannot agree on pays for
// those results that count by themselves, if these would have been enough (ADR 228), and nothing
// for what one shows beside most of these (ADR 234).
func TestDisagreementIsNoFreeWork(t *testing.T) {
	for name, c := range disagreements {
		w, id := newWorld(t), chain.Hash{1}
		w.height = 3
		all := []*runner{newRunner(t, 0), newRunner(t, 1), newRunner(t, 2)}
		spec, terms := asks(3, 2, 50_000, 7)
		c.change(spec, terms)
		w.assign(id, spec, terms, w.seatsOf(all...))
		w.block(func() {
			for n, r := range all {
				w.must(w.commit(id, r, resultOf(0, c.of[n])))
			}
		})
		w.until(w.job(id).GatherUntil)
		w.block(func() {
			for n, r := range all {
				w.must(w.reveal(id, r, resultOf(0, c.of[n])))
			}
		})
		w.until(100)
		if j := w.job(id); j.Phase != jobs.Ended || j.Outcome != jobs.NoAgreement {
			t.Fatalf("%s: %+v", name, j)
		}
		const half, treasury = 650, 6 // of 1,300
		paid := map[string]int{"one does not count": 2, "two do not count": 0, "one of three spoils": 2, "medians that one spoils": 2}
		n, some := paid[name]
		if !some {
			n = 3
		}
		want := map[chain.Address]chain.Wei{chain.AddrTreasury: chain.Wei(n) * treasury}
		for i, r := range all {
			if want[r.addr] = 0; i < n {
				want[r.addr] = half - treasury
			}
			if said := w.registry.said[r.addr]; said["disagreed"] > 0 || said["succeeded"] > 0 || said["frozen"] > 0 {
				t.Errorf("%s: of runner %d: %v", name, i, said)
			}
		}
		w.paidOut(name, 50_007, want)
		w.books(id)
	}
}

// TestARejectedRunnerEarnsNothing: the share of a runner that has come to nothing too often
// goes to the Treasury, and no part of it to who has had the work (ADR 228).
func TestARejectedRunnerEarnsNothing(t *testing.T) {
	for _, barred := range []bool{false, true} {
		w, id, r := newWorld(t), chain.Hash{1}, newRunner(t, 0)
		w.registry.barred = map[chain.Address]bool{r.addr: barred}
		spec, terms := asks(1, 1, 50_000, 7)
		spec.Verification.Mode = chain.VerifyEconomicBond
		spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xfe), Method: "check"}}
		w.assign(id, spec, terms, w.seatsOf(r))
		w.ask = func(*results.Inquiry) ([]byte, error) { return says(false), nil }
		w.block(func() { w.must(w.reveal(id, r, resultOf(0, "garbage"))) })
		w.until(60)
		want := map[chain.Address]chain.Wei{r.addr: 650 - 6, chain.AddrTreasury: 6}
		if barred {
			want = map[chain.Address]chain.Wei{r.addr: 0, chain.AddrTreasury: 650}
		}
		w.paidOut(fmt.Sprintf("barred %v", barred), 50_007, want)
		if said := w.registry.said[r.addr]; said["rejected"] != 1 || said["confirmed"] > 0 {
			t.Errorf("%v", said)
		}
	}
}

// TestWhatConfirms: what a runner has shown counts as confirmed where somebody else stands
// behind it, be it other runners that agree in something or the actor of who asked. A job that
// takes whatever comes does not let a runner begin anew, be it of one or of several, nor does a
// verifier that says nothing.
func TestWhatConfirms(t *testing.T) {
	yes, fails := func(*results.Inquiry) ([]byte, error) { return says(true), nil }, func(*results.Inquiry) ([]byte, error) { return nil, results.ErrFailed }
	other := func(*results.Inquiry) ([]byte, error) {
		return says(true, "canonical_output", strings.Repeat("x", 2_000)), nil
	}
	for name, c := range map[string]struct {
		runners  uint8
		mode     chain.VerificationMode
		snapshot *chain.Snapshot
		verifier func(*results.Inquiry) ([]byte, error)
		want     int
	}{
		"none":                              {1, chain.VerifyNone, nil, nil, 0},
		"a bond":                            {1, chain.VerifyEconomicBond, nil, nil, 0},
		"a verifier":                        {1, chain.VerifyEconomicBond, nil, yes, 1},
		"a verifier that fails":             {1, chain.VerifyEconomicBond, nil, fails, 0},
		"a verifier of another output":      {1, chain.VerifyEconomicBond, nil, other, 0}, // longer than it may be
		"a majority":                        {3, chain.VerifyMajorityVote, nil, nil, 1},
		"a majority whose verifier fails":   {3, chain.VerifyMajorityVote, nil, fails, 1},
		"the latest":                        {3, chain.VerifyStructured, &chain.Snapshot{Mode: chain.SnapshotLatest}, nil, 0},
		"the latest, and a verifier":        {3, chain.VerifyStructured, &chain.Snapshot{Mode: chain.SnapshotLatest}, yes, 1},
		"nothing but a verifier that fails": {3, chain.VerifyStructured, nil, fails, 0},
		"medians":                           {3, chain.VerifyStructured, &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 10_000}, nil, 1},
		"medians of whatever comes":         {3, chain.VerifyStructured, &chain.Snapshot{Mode: chain.SnapshotMedian}, nil, 0},
		"medians of nearly whatever":        {3, chain.VerifyStructured, &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 1_000_000}, nil, 0},
	} {
		w, id := newWorld(t), chain.Hash{1}
		w.height = 3
		var all []*runner
		for n := range int(c.runners) {
			all = append(all, newRunner(t, n))
		}
		spec, terms := asks(c.runners, c.runners/2+1, 50_000, 7)
		spec.Verification.Mode, terms.Snapshot = c.mode, c.snapshot
		if terms.ResultSchema.DataFormat = chain.FormatJSON; c.verifier != nil {
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: fmt.Sprintf("%040x", 0xfe), Method: "check"}}
		}
		w.assign(id, spec, terms, w.seatsOf(all...))
		w.ask = c.verifier
		if c.runners > 1 {
			w.block(func() {
				for _, r := range all {
					w.must(w.commit(id, r, resultOf(0, `{"p":42}`)))
				}
			})
			w.until(w.job(id).GatherUntil)
		}
		w.block(func() {
			for _, r := range all {
				w.must(w.reveal(id, r, resultOf(0, `{"p":42}`)))
			}
		})
		w.until(100)
		if j := w.job(id); j.Outcome != jobs.OK || j.Phase != jobs.Ended {
			t.Errorf("%s: %+v", name, j)
		}
		for _, r := range all {
			if said := w.registry.said[r.addr]; said["succeeded"] != 1 || said["confirmed"] != c.want {
				t.Errorf("%s: %v", name, said)
			}
		}
	}
}
