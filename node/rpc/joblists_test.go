package rpc_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// lister is a docket whose node notes whose jobs are which.
type lister struct {
	docket
	asked *rpc.JobsQuery
	page  *rpc.JobsPage
}

func (l lister) JobsOf(_ context.Context, q *rpc.JobsQuery) (*rpc.JobsPage, error) {
	*l.asked = *q
	return l.page, nil
}

func newLister(t testing.TB) (lister, *rpc.Server) {
	d, _ := newDocket(t)
	l := lister{d, new(rpc.JobsQuery), &rpc.JobsPage{Height: 99, Since: 8}}
	cfg := rpc.DefaultConfig()
	cfg.RequestsPerSecond = 0
	return l, newServer(t, cfg, l)
}

func TestJobList(t *testing.T) {
	l, s := newLister(t)
	known, gone := chain.Hash{1}, chain.Hash{2}
	l.putJob(known, func(j *jobs.Job) { j.Phase, j.Outcome = jobs.Ended, jobs.OK })
	l.page.Jobs = []rpc.ListedJob{{JobPlace: rpc.JobPlace{Height: 40, Index: 3}, ID: known}, {JobPlace: rpc.JobPlace{Height: 9}, ID: gone}}
	l.page.Next = &l.page.Jobs[1].JobPlace
	ann, ben := chain.Address{1: 1}, chain.Address{1: 2}
	l.register(t, ben)
	for query, want := range map[string]rpc.JobsQuery{
		"?submitter=" + ann.String():                                 {Of: ann, Limit: 50},
		"?submitter=" + ann.String() + "&limit=1000&order=oldest":    {Of: ann, Limit: 1000, OldestFirst: true},
		"?runner=" + ben.String() + "&after=":                        {Of: ben, Works: true, Limit: 50},
		"?runner=" + ben.String() + "&order=newest&after=9.0":        {Of: ben, Works: true, Limit: 50, After: &rpc.JobPlace{Height: 9}},
		"?submitter=" + ann.String() + "&after=9.2147483647&limit=1": {Of: ann, Limit: 1, After: &rpc.JobPlace{Height: 9, Index: 1<<31 - 1}},
	} {
		got := decode[rpc.JobsReply](t, request(s, http.MethodGet, "/jobs"+query, "", nil))
		if len(got.Jobs) != 2 || got.Next != "9.0" || got.Height != 99 || got.Since != 8 {
			t.Fatalf("%s: %+v", query, got)
		}
		if one, two := got.Jobs[0], got.Jobs[1]; one.JobID != known.String() || one.BlockHeight != 40 || one.Job == nil || one.Job.Status != "done" ||
			two.JobID != gone.String() || two.BlockHeight != 9 || two.Job != nil {
			t.Errorf("%s: %+v", query, got.Jobs)
		}
		asked := *l.asked
		if (asked.After == nil) != (want.After == nil) || asked.After != nil && *asked.After != *want.After {
			t.Errorf("%s: after %v, want %v", query, asked.After, want.After)
		}
		if asked.After, want.After = nil, nil; asked != want {
			t.Errorf("%s: %+v, want %+v", query, asked, want)
		}
	}
}

func TestBadJobLists(t *testing.T) {
	_, s := newLister(t)
	a := chain.Address{1: 1}.String()
	for query, want := range map[string]rpc.Code{
		"":                                                  rpc.CodeBadRequest,
		"?submitter=" + a + "&runner=" + a:                  rpc.CodeBadRequest,
		"?submitter=" + a + "&submitter=" + a:               rpc.CodeBadRequest,
		"?submitter=":                                       rpc.CodeBadAddress,
		"?submitter=0x12":                                   rpc.CodeBadAddress,
		"?runner=everybody":                                 rpc.CodeBadAddress,
		"?submitter=" + a + "&limit=0":                      rpc.CodeBadNumber,
		"?submitter=" + a + "&limit=1001":                   rpc.CodeBadNumber,
		"?submitter=" + a + "&limit=many":                   rpc.CodeBadNumber,
		"?submitter=" + a + "&order=up":                     rpc.CodeBadRequest,
		"?submitter=" + a + "&after=1":                      rpc.CodeBadNumber,
		"?submitter=" + a + "&after=1.":                     rpc.CodeBadNumber,
		"?submitter=" + a + "&after=01.2":                   rpc.CodeBadNumber,
		"?submitter=" + a + "&after=1.2.3":                  rpc.CodeBadNumber,
		"?submitter=" + a + "&after=-1.2":                   rpc.CodeBadNumber,
		"?submitter=" + a + "&after=1.2147483648":           rpc.CodeBadNumber,
		"?submitter=" + a + "&after=36893488147419103232.0": rpc.CodeBadNumber,
		"?%": rpc.CodeBadRequest,
	} {
		wantError(t, request(s, http.MethodGet, "/jobs"+query, "", nil), http.StatusBadRequest, want)
	}
	wantError(t, request(s, http.MethodGet, "/jobs?runner="+a, "", nil), http.StatusNotFound, rpc.CodeUnknownRunner)
	if got := decode[rpc.JobsReply](t, request(s, http.MethodGet, "/jobs?submitter="+a, "", nil)); len(got.Jobs) != 0 || got.Next != "" || got.Since != 8 {
		t.Errorf("who has none: %+v", got)
	}
}

// FuzzJobPlace: what is read as the place of a job is written again as it was.
func FuzzJobPlace(f *testing.F) {
	for _, text := range []string{"0.0", "7.1", "18446744073709551615.2147483647", "1", "1.2.3", ".", "１.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := rpc.ParseJobPlace(text); err == nil && p.String() != text {
			t.Errorf("%q is read as %s", text, p)
		}
	})
}
