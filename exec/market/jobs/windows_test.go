package jobs

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

func TestWindowsOfOthers(t *testing.T) { // resolutions 11.27, 12.24
	var file struct {
		Windows []struct {
			Assigned, Deadline chain.Height
			CommitDeadline     chain.Height `json:"commit_deadline"`
			AggregatorUntil    chain.Height `json:"aggregator_until"`
		}
	}
	vectors.Decode(t, "selection/rest.json", &file)
	p := params.Default().Job
	for _, w := range file.Windows {
		j := &Job{Runners: 3, AssignedAt: w.Assigned, Deadline: w.Deadline}
		if commitBy, gather := windows(&p, j); commitBy != w.CommitDeadline || gather != w.AggregatorUntil {
			t.Errorf("%+v: %d and %d", w, commitBy, gather)
		}
		j.Runners = 1 // resolution 12.26
		if commitBy, gather := windows(&p, j); commitBy != w.Deadline || gather != 0 {
			t.Errorf("%+v with one runner: %d and %d", w, commitBy, gather)
		}
	}
	if len(file.Windows) < 6 {
		t.Errorf("%d windows", len(file.Windows))
	}
}

// TestBonds: what a seat binds is what the filter asks, rounded up.
func TestBonds(t *testing.T) { // resolution 12.8
	most := ^uint64(0)
	for _, c := range []struct {
		mode  chain.VerificationMode
		e6    *uint64
		price chain.Wei
		want  chain.Wei
	}{
		{chain.VerifyEconomicBond, nil, 7, 14},
		{chain.VerifyEconomicBond, new(uint64(1)), 7, 1},
		{chain.VerifyEconomicBond, new(uint64(0)), 7, 0},
		{chain.VerifyEconomicBond, new(uint64(1_500_000)), 3, 5},
		{chain.VerifyEconomicBond, &most, 1 << 40, ^chain.Wei(0)},
		{chain.VerifyEconomicBond, new(uint64(1_000_000)), ^chain.Wei(0), ^chain.Wei(0)},
		{chain.VerifyNone, &most, 7, 0},
	} {
		if got := bondOf(&Job{Mode: c.mode, MaxPrice: c.price}, &chain.JobTerms{BondMultiplierE6: c.e6}); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
