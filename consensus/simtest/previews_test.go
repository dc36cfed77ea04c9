package simtest

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// A block's execution takes its time once on the way from view to view, not once
// at the leader and once more at everybody else (docs/adr/0014).
func TestPreviewsSaveAnExecution(t *testing.T) {
	const execution = 300 * time.Millisecond
	pace := func(none bool) (time.Duration, Report) {
		w := enact(t, Config{Validators: 4, Latency: 5 * time.Millisecond, Execution: execution, NoPreviews: none})
		w.until("100 blocks", 5*time.Minute, func() bool { return len(w.ledger.chain) >= 100 })
		w.clean()
		return w.now / 100, w.report
	}
	with, r := pace(false)
	without, none := pace(true)
	if r.PreviewsUsed < 250 || r.PreviewsRefused+r.Abandoned > 0 || r.BuiltAhead < 50 || none.PreviewsSent+none.PreviewsUsed > 0 {
		t.Errorf("with previews %+v\nwithout %+v", r, none)
	}
	if saved := without - with; saved < execution*9/10 {
		t.Errorf("a block takes %v with previews and %v without", with, without)
	}
	t.Logf("a block takes %v with previews and %v without", with, without)
}

// What was built and executed ahead for a view that is nullified is dropped, and
// costs nothing but the work.
func TestPreviewsOfNullifiedViewsAreDiscarded(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 5 * time.Millisecond, Execution: 100 * time.Millisecond})
	w.passes = func(_, _ *validator, m message) bool { return m.block == nil || m.viewOf()%3 != 0 }
	w.until("views with previews and no proposal", 10*time.Minute, func() bool { return w.viewsNow()[0] > 60 })
	w.passes = nil
	w.all(5, time.Minute)
	for v := chain.View(3); v <= 60; v += 3 {
		if w.certified(v, simplex.Notarize) {
			t.Errorf("view %d has a block that nobody proposed", v)
		}
	}
	if w.report.PreviewsDiscarded < 40 {
		t.Errorf("%d previews discarded", w.report.PreviewsDiscarded)
	}
	for _, v := range w.validators {
		if n := len(v.ahead.previews); n > previewsKept {
			t.Errorf("validator %d keeps %d previews", v.id, n)
		}
	}
	w.clean()
}

// A leader whose view ends while it builds proposes nothing in it.
func TestBlocksOfViewsThatEndAreAbandoned(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 5 * time.Millisecond, Execution: 2 * leaderTimeout})
	w.pass(time.Minute)
	if w.report.Abandoned < 5 || len(w.ledger.chain) != 0 {
		t.Errorf("%d blocks abandoned, %d final", w.report.Abandoned, len(w.ledger.chain))
	}
	w.cfg.Execution = 0
	w.all(5, time.Minute)
	w.clean()
}

// Previews of other blocks, and in views of others, are of no consequence.
func TestFalseProphet(t *testing.T) {
	cfg := Config{Validators: 4, Latency: 20 * time.Millisecond, Execution: 200 * time.Millisecond, Player: playerNamed(t, "false prophet")}
	w := enact(t, cfg)
	w.all(60, 5*time.Minute)
	if w.report.PreviewsRefused < 50 || w.report.PreviewsUsed == 0 {
		t.Errorf("%d previews refused, %d used", w.report.PreviewsRefused, w.report.PreviewsUsed)
	}
	for v := chain.View(1); v < 60; v++ {
		if w.certified(v, simplex.Nullify) {
			t.Errorf("view %d is nullified", v)
		}
	}
	w.clean()
}
