package main

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// owe checks what the three runners of a job owe: each has the job with one of the dues, none
// if there are none, and who is no runner of it owes nothing. It returns how many have which.
func (l *live) owe(id string, dues ...string) map[string]int {
	l.t.Helper()
	found := map[string]int{}
	for n := 1; n <= 4; n++ {
		var r rpc.RunnerJobsReply
		l.do(&r, "runner", "jobs", setup.DevAccounts()[n].Address.String())
		if n == 4 || len(dues) == 0 {
			if len(r.Jobs) != 0 {
				l.t.Errorf("runner %d owes %+v", n, r.Jobs)
			}
			continue
		}
		if len(r.Jobs) != 1 || r.Jobs[0].JobID != id || r.Jobs[0].DueFrom > r.Jobs[0].DueBy || r.Jobs[0].JobSpec != nil {
			l.t.Fatalf("runner %d owes %+v", n, r.Jobs)
		}
		found[r.Jobs[0].Due]++
	}
	for _, due := range dues {
		if found[due] == 0 {
			l.t.Errorf("nobody is to %s: %v", due, found)
		}
	}
	return found
}

// listed checks that a job is in the lists of its submitter and of its runners, and in no other.
func (l *live) listed(id, status string) {
	l.t.Helper()
	for n := range 5 {
		address := setup.DevAccounts()[n].Address.String()
		var asked, drawn rpc.JobsReply
		l.do(&asked, "job", "list", "--submitter", address)
		if n > 0 {
			l.do(&drawn, "job", "list", "--runner", address)
		}
		for side, tt := range map[string]struct {
			list *rpc.JobsReply
			has  bool
		}{"submitter": {&asked, n == 0}, "runner": {&drawn, n >= 1 && n <= 3}} {
			if len(tt.list.Jobs) != map[bool]int{true: 1}[tt.has] {
				l.t.Errorf("account %d as %s: %+v", n, side, tt.list.Jobs)
			} else if tt.has && (tt.list.Jobs[0].JobID != id || tt.list.Jobs[0].Job == nil || tt.list.Jobs[0].Job.Status != status || tt.list.Since != 1) {
				l.t.Errorf("account %d as %s: %+v", n, side, tt.list)
			}
		}
	}
	if code, stdout, stderr := l.run("job", "list", "--limit", "1"); code != 0 || !strings.Contains(stdout, id) {
		l.t.Errorf("list of the own account: exit %d\n%s%s", code, stdout, stderr)
	}
}

func TestJobListArguments(t *testing.T) {
	l := newLive(t)
	address := setup.DevAccounts()[1].Address.String()
	for _, args := range [][]string{
		{"job", "list", "--submitter", address, "--runner", address},
		{"job", "list", "--submitter", "0x12"},
		{"job", "list", "--runner", "everybody"},
		{"runner", "jobs", "0x12"},
		{"runner", "jobs", address, "--after", "0x12"},
	} {
		if code, stdout, _ := l.run(args...); code != exitUsage {
			t.Errorf("%v: exit %d %s", args, code, stdout)
		}
	}
	for _, args := range [][]string{
		{"job", "list", "--submitter", address, "--after", "somewhere"},
		{"job", "list", "--submitter", address, "--limit", "100000"},
		{"job", "list", "--runner", address}, // which is none
		{"runner", "jobs", address},
	} {
		if code, stdout, stderr := l.run(args...); code != exitFailed || stderr == "" {
			t.Errorf("%v: exit %d %s%s", args, code, stdout, stderr)
		}
	}
	if code, stdout, _ := l.run("job", "list"); code != 0 || !strings.Contains(stdout, "No jobs") {
		t.Errorf("no jobs: exit %d %s", code, stdout)
	}
}

// TestDueText: what is due is told in a sentence that needs no other.
func TestDueText(t *testing.T) {
	id := chain.Hash{1}.String()
	for want, a := range map[string]rpc.AssignmentReply{
		" attempt 1, member: commit by block 9":                                                  {Role: "member", Due: "commit", DueFrom: 6, DueBy: 9},
		" attempt 2, member: wait for the others, until block 9 at the latest":                   {Role: "member", Due: "wait", Attempt: 1, DueFrom: 6, DueBy: 9},
		" attempt 1, aggregator: reveal the results of all by block 9":                           {Role: "aggregator", Due: "aggregate", DueFrom: 6, DueBy: 9},
		" attempt 1, member: reveal from block 8 to 9; before that the aggregator alone reveals": {Role: "member", Due: "reveal", DueFrom: 8, DueBy: 9},
		" attempt 1, alone: reveal by block 9":                                                   {Role: "alone", Due: "reveal", DueFrom: 6, DueBy: 9},
	} {
		a.JobID = id
		if got := dueText(&a, 5); got != id+want {
			t.Errorf("%q, want %q", got, id+want)
		}
	}
}
