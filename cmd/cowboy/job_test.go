package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// as is the same story told by another of the chain's accounts.
func (l *live) as(n int) *live {
	part := *l.story
	part.env = map[string]string{"COWBOY_RPC_URL": l.env["COWBOY_RPC_URL"], "COWBOY_PRIVATE_KEY": client.KeyHex(setup.DevAccounts()[n].Key)}
	return &live{&part, l.t}
}

// file writes a file of the story's folder and returns its path.
func (l *live) file(name, text string) string {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// submitJob submits a job and returns its id.
func (l *live) submitJob(file string) string {
	l.t.Helper()
	code, stdout, stderr := l.run("job", "submit", "--job-spec", file)
	_, text, ok := strings.Cut(stdout, "Transaction hash: ")
	if code != 0 || !ok {
		l.t.Fatalf("submit: exit %d\n%s%s", code, stdout, stderr)
	}
	hash, _, _ := strings.Cut(text, "\n")
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		if l.final(hash) {
			break
		}
	}
	r := l.receipt(hash)
	tx, err := client.ParseHash(hash)
	if err != nil || r.Status != "success" {
		l.t.Fatalf("submit: %+v %v", r, err)
	}
	return chain.JobID(tx, chain.Height(r.BlockHeight)).String()
}

// final reports whether a transaction is in a block.
func (l *live) final(hash string) bool {
	l.t.Helper()
	var r statusReply
	l.do(&r, "transaction", "status", hash)
	return r.Receipt != nil
}

// TestJobByHand plays a job of three runners to its end with commands alone: two agree,
// one differs, and the two are paid.
func TestJobByHand(t *testing.T) {
	l := newLiveWith(t, func(p *params.Params) { p.Runner.HeartbeatTimeoutBlocks = 100_000 })
	var receipt rpc.ReceiptReply
	for n := 1; n <= 3; n++ {
		l.as(n).do(&receipt, "runner", "register", "--stake", "10000", "--wait")
	}
	l.runnersAsClientsRead()
	spec := l.file("job.json", `{"type": "http", "url": "https://example.com/p", "max_price": 300000000, "timeout_blocks": 1500,
		"verification": {"mode": "majority_vote", "vote_field": "usd", "runners": 3, "threshold": 2}}`)
	id := l.submitJob(spec)
	l.advance(2)

	var job rpc.JobReply
	l.do(&job, "job", "get", id)
	if job.Phase != "committing" || job.Held != 300_000_000 || job.Threshold != 2 || job.MovesAt == nil || *job.MovesAt != job.CommitBy+1 {
		t.Fatalf("after the draw: %+v", job)
	}
	l.candidates(id, &job)
	l.owe(id, "commit")
	answers := []string{`{"usd": 42}`, `{"usd": 42, "at": "noon"}`, `{"usd": 43}`}
	for n, answer := range answers {
		if code, _, stderr := l.as(n+1).run("runner", "reveal", id); code != exitUsage || !strings.Contains(stderr, "commit first") {
			t.Errorf("reveal before a commitment: exit %d %s", code, stderr)
		}
		if code, _, stderr := l.as(n+1).run("runner", "commit", id, "--data", l.file("answer.json", `{"eur": 42}`)); code != exitUsage || !strings.Contains(stderr, "usd") {
			t.Errorf("data without the field: exit %d %s", code, stderr)
		}
		l.as(n+1).do(&receipt, "runner", "commit", id, "--data", l.file("answer.json", answer), "--requests", "1", "--wait")
	}
	if code, _, stderr := l.as(4).run("runner", "commit", id, "--data", l.file("answer.json", "{}")); code != exitFailed || !strings.Contains(stderr, "not drawn") {
		t.Errorf("commitment of a stranger: exit %d %s", code, stderr)
	}
	if code, _, stderr := l.as(1).run("runner", "commit", id, "--data", l.file("answer.json", "other")); code != exitUsage || !strings.Contains(stderr, "leave --data out") {
		t.Errorf("another result over one that is kept: exit %d %s", code, stderr)
	}
	if err := os.Mkdir(filepath.Join(l.dir, ".cowboy"), 0o700); err != nil {
		t.Fatal(err)
	}
	deep := l.as(1)
	deep.dir = filepath.Join(l.dir, "deep") // of the same project
	if code, _, stderr := deep.run("runner", "commit", id, "--data", l.file("answer.json", `{"usd": 44}`)); code != exitUsage || !strings.Contains(stderr, "leave --data out") {
		t.Errorf("another result, from a folder in the project: exit %d %s", code, stderr)
	}
	l.do(&job, "job", "get", id)
	if job.Phase != "revealing" {
		t.Fatalf("when all have committed: %+v", job)
	}
	if due := l.owe(id, "aggregate", "reveal"); due["aggregate"] != 1 {
		t.Errorf("to do when all have committed: %v", due)
	}
	l.revealAll(id, &job)

	var results rpc.JobResultsReply
	l.do(&results, "job", "results", id)
	if results.TotalCount != 3 || results.Outcome != "ok" {
		t.Fatalf("results: %+v", results)
	}
	var came rpc.JobVerifiedReply
	l.do(&came, "job", "verified", id)
	if came.Text == nil || *came.Text != answers[0] && *came.Text != answers[1] || came.ConsensusCount != 2 || came.TotalRunners != 3 {
		t.Errorf("verified: %+v", came)
	}
	earned := map[string]chain.Wei{}
	for _, r := range results.Results {
		for n, answer := range answers {
			if r.Runner == setup.DevAccounts()[n+1].Address.String() && (r.Text == nil || *r.Text != answer || (r.Mark == "agrees") != (n < 2) || (r.Cost > 0) != (n < 2)) {
				t.Errorf("result of runner %d: %+v", n+1, r)
			}
		}
		earned[r.Runner] = r.Cost
	}
	l.jobEnds(id, &job, earned)
	l.owe(id)
	l.listed(id, "done")
}

// runnersAsClientsRead checks of a runner that works, and of one that pauses, what clients of
// other networks read (neighbours §11).
func (l *live) runnersAsClientsRead() {
	l.t.Helper()
	var receipt rpc.ReceiptReply
	l.as(4).do(&receipt, "runner", "register", "--stake", "10000", "--wait")
	l.as(4).do(&receipt, "runner", "pause", "--wait")
	cooldown := params.Default().Runner.OfferCooldownBlocks
	for n, health := range map[int]string{1: "healthy", 4: "paused"} {
		var r rpc.RunnerReply
		l.as(n).do(&r, "runner", "get")
		if r.Health != health || r.RateCard.CooldownBlocks != cooldown || r.RateCard.LastUpdated != r.RegisteredAt || r.RegisteredAt == 0 {
			l.t.Errorf("runner %d: %+v, want it %s, with a cooldown of %d blocks since it joined", n, r, health, cooldown)
		}
	}
}

// candidates checks the list of candidates and the proof of each.
func (l *live) candidates(id string, job *rpc.JobReply) {
	l.t.Helper()
	var list []rpc.CandidateReply
	l.do(&list, "job", "candidates", id)
	if len(list) != 3 {
		l.t.Fatalf("candidates: %+v", list)
	}
	root, _ := client.ParseHash(job.CandidatesRoot)
	for _, c := range list {
		var got rpc.CandidateProofReply
		l.do(&got, "job", "candidates", id, "--runner", c.Runner)
		addr, _ := client.ParseAddress(got.Candidate.Runner)
		proof := selection.Proof{Index: got.Candidate.Index, Candidate: chain.Candidate{
			Runner: addr, EffectiveStake: got.Candidate.EffectiveStake, ReputationX1e9: got.Candidate.ReputationX1e9, BaseWeight: got.Candidate.BaseWeight,
		}}
		for _, text := range got.Siblings {
			sibling, _ := client.ParseHash(text)
			proof.Siblings = append(proof.Siblings, sibling)
		}
		if !proof.Verify(root) || got.Candidate != c {
			l.t.Errorf("the proof of %s does not lead to the root of the job", c.Runner)
		}
	}
	stranger := setup.DevAccounts()[0].Address.String()
	if code, _, stderr := l.run("job", "candidates", id, "--runner", stranger, "--json"); code != exitFailed || !strings.Contains(stderr, fmt.Sprint(rpc.CodeNoCandidate)) {
		l.t.Errorf("proof of a stranger: exit %d %s", code, stderr)
	}
}

// revealAll lets each runner reveal, behind the time that the aggregator has alone.
func (l *live) revealAll(id string, job *rpc.JobReply) {
	l.t.Helper()
	if h := l.height(); h <= uint64(job.GatherUntil) {
		l.advance(uint64(job.GatherUntil) - h)
	}
	for n := 1; n <= 3; n++ {
		var receipt rpc.ReceiptReply
		l.as(n).do(&receipt, "runner", "reveal", id, "--wait")
	}
	l.advance(1)
}

// jobEnds lets the job end, and checks what it did to the books.
func (l *live) jobEnds(id string, job *rpc.JobReply, earned map[string]chain.Wei) {
	l.t.Helper()
	before := map[string]chain.Wei{}
	for runner := range earned {
		before[runner] = l.balance(runner)
	}
	l.do(job, "job", "get", id)
	if job.Phase != "closing" || job.Status != "done" || job.MovesAt == nil {
		l.t.Fatalf("behind the verdict: %+v", job)
	}
	if code, _, stderr := l.run("job", "candidates", id, "--json"); code != exitFailed || !strings.Contains(stderr, fmt.Sprint(rpc.CodeCandidatesGone)) {
		l.t.Errorf("candidates more than 1,024 blocks behind the submission: exit %d %s", code, stderr)
	}
	if h := l.height(); h <= uint64(*job.MovesAt) {
		l.advance(uint64(*job.MovesAt) - h + 1)
	}
	l.do(job, "job", "get", id)
	var watched rpc.JobStatusReply
	if l.do(&watched, "job", "watch", id); watched.Phase != "ended" || watched.Outcome != "ok" {
		l.t.Errorf("a job that is watched to its end: %+v", watched)
	}
	if job.Phase != "ended" || job.Held != 0 || job.MovesAt != nil {
		l.t.Fatalf("behind the window: %+v", job)
	}
	for n, agreed := range map[int]uint64{1: 1, 2: 1, 3: 0} {
		var stats statsReply
		l.as(n).do(&stats, "runner", "stats")
		if stats.Successes != agreed || stats.Disagreements != 1-agreed || stats.ActiveJobs != 0 || stats.Silences != 0 || stats.Slashed != 0 {
			l.t.Errorf("runner %d: %+v", n, stats)
		}
	}
	for runner, cost := range earned {
		want := cost - cost/100 // job.treasury_basis_points
		if got := l.balance(runner) - before[runner]; got != want {
			l.t.Errorf("%s was paid %d, want %d", runner, got, want)
		}
	}
}

func TestJobCommandsRefuse(t *testing.T) {
	l := newLive(t)
	unknown := "0x" + strings.Repeat("11", 32)
	for _, args := range [][]string{{"get"}, {"status"}, {"runners"}, {"results"}, {"verified"}, {"candidates"}} {
		code, _, stderr := l.run("job", args[0], unknown, "--json")
		var f failure
		if json.Unmarshal([]byte(stderr), &f) != nil || code != exitFailed || f.Code != rpc.CodeUnknownJob {
			t.Errorf("job %s: exit %d %s", args[0], code, stderr)
		}
		if code, _, _ := l.run("job", args[0], "0x12"); code != exitUsage {
			t.Errorf("job %s of a short id: exit %d", args[0], code)
		}
	}
	for text, want := range map[string]string{
		`{"type": "http", "url": "https://a.com", "prise": 1}`:            "prise",
		`{"type": "http", "url": "https://a.com", "reply_handler": "on"}`: "reply_to",
		`[]`: "no JSON object",
		`{"job_type": {"type": "Http", "url": "https://a.com"}} {}`:                      "text behind",
		`{"job_type": {"type": "Http", "url": "https://a.com"}, "url": "https://b.com"}`: "url: it is said twice",
	} {
		code, _, stderr := l.run("job", "submit", "--job-spec", l.file("bad.json", text))
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d %s", text, code, stderr)
		}
	}
	if code, _, _ := l.run("job", "cancel", unknown); code != exitFailed {
		t.Errorf("cancel of nothing: exit %d", code)
	}
}

// TestJobSpecForms reads the same job in the spellings of actors and of other tools.
func TestJobSpecForms(t *testing.T) {
	p := params.Default()
	numbers := func(n int, last byte) string { return "[" + strings.Repeat("0,", n-1) + fmt.Sprint(last) + "]" }
	foreign := `{"job_id": ` + numbers(32, 0) + `, "job_type": {"type": "Llm", "model_id": ` + numbers(32, 7) + `, "prompt": "hi", "system_prompt": null,
		"temperature": 0.5, "max_tokens": 64, "response_model": null}, "bounds": {"max_output_tokens": 100},
		"verification": {"mode": "MajorityVote", "vote_field": "a", "runners": 3, "threshold": 2, "checks": [], "tee_required": false, "dispute_window_blocks": 75},
		"max_price": 0, "tip": 0, "timeout_blocks": 120, "submitter": ` + numbers(20, 0) + `, "submitted_at": 0,
		"callback": {"actor": ` + numbers(20, 9) + `, "handler": "on", "payload": [], "correlation_id": "c", "context": []}}`
	own := `{"type": "llm", "model_id": "0x` + strings.Repeat("00", 31) + `07", "prompt": "hi", "temperature": 0.5, "max_tokens": 64,
		"bounds": {"max_output_tokens": 100}, "verification": {"mode": "majority_vote", "vote_field": "a", "runners": 3, "threshold": 2, "dispute_window_blocks": 75},
		"max_price": 0, "timeout_blocks": 120, "reply_to": "0x` + strings.Repeat("00", 19) + `09", "reply_handler": "on", "correlation_id": "c"}`
	a, err := parseJob([]byte(foreign), &p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := parseJob([]byte(own), &p)
	if err != nil {
		t.Fatal(err)
	}
	if a.Spec.SpecHash() != b.Spec.SpecHash() || a.Terms.TermsHash() != b.Terms.TermsHash() {
		t.Errorf("two spellings are two jobs:\n%+v\n%+v", a, b)
	}
	if a.Spec.Callback.Actor != (chain.Address{19: 9}) || a.Spec.Verification.Runners != 3 {
		t.Errorf("read as %+v", a.Spec)
	}
}

// FuzzParseJob holds that whatever a file says is refused, or is a job that its own form
// has: what is sent decodes to what was read.
func FuzzParseJob(f *testing.F) {
	for _, seed := range []string{
		`{"type": "http", "url": "https://a.com", "max_price": 5}`, `{"job_type": {"type": "Llm", "prompt": "hi"}, "callback": {"actor": [1], "handler": null}}`,
		`{"job_type": {"type": 1}, "verification": {"mode": "MajorityVote"}, "callback": {"actor": "0x0000000000000000000000000000000000000009", "handler": "on"}}`, `null`, `{} 1`,
	} {
		f.Add([]byte(seed))
	}
	p := params.Default()
	f.Fuzz(func(t *testing.T, document []byte) {
		asked, err := parseJob(document, &p)
		if err != nil {
			return
		}
		spec, err := chain.DecodeJobSpec(asked.Spec.Encode())
		if err != nil || spec.SpecHash() != asked.Spec.SpecHash() {
			t.Fatalf("specification: %v", err)
		}
		terms, err := chain.DecodeJobTerms(asked.Terms.Encode())
		if err != nil || terms.TermsHash() != asked.Terms.TermsHash() {
			t.Fatalf("terms: %v", err)
		}
	})
}
