package soak

import (
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Jobs of the soak.
const (
	jobURL     = "https://soak.example/"
	jobPrice   = 1_000_000 // of each runner, which a request costs
	jobBlocks  = 50        // of an attempt
	jobSteps   = 20_000
	jobMaxData = 64
	jobOutlier = 50_000 // millionths of the median
	leastData  = 16     // bytes that a bonded result has
)

// jobKind is a way to ask for work and to judge it.
type jobKind struct {
	name               string
	of100              int // jobs among a hundred
	mode               chain.VerificationMode
	runners, threshold uint8
	byActor            bool // an actor asks, and is told
	shape              func(*chain.JobSubmit)
	lie                func(number int, seat uint8) string
	judged             bool // a lie is no outcome
}

var voteField = "$.v"

// jobKinds add up to a hundred.
func jobKinds() []*jobKind {
	fields := func(q *chain.JobSubmit) {
		q.Spec.Verification.Checks = []chain.VerifierCheck{&chain.FieldsCheck{Fields: []string{voteField}}}
	}
	vote := func(q *chain.JobSubmit) { q.Terms.VoteField = &voteField }
	wrong := func(number int, seat uint8) string {
		return fmt.Sprintf(`{"v":%d,"pad":"lie"}`, 1_000_000+10*number+int(seat))
	}
	return []*jobKind{
		{name: "none", of100: 25, mode: chain.VerifyNone, runners: 1, threshold: 1, shape: func(*chain.JobSubmit) {}, lie: wrong},
		{
			name: "economic_bond", of100: 15, mode: chain.VerifyEconomicBond, runners: 1, threshold: 1, judged: true,
			shape: func(q *chain.JobSubmit) {
				q.Terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: leastData}}
			},
			lie: func(int, uint8) string { return `{"v":0}` },
		},
		{name: "majority_vote", of100: 22, mode: chain.VerifyMajorityVote, runners: 3, threshold: 2, shape: vote, lie: wrong, judged: true},
		{name: "majority of five", of100: 3, mode: chain.VerifyMajorityVote, runners: 5, threshold: 3, shape: vote, lie: wrong, judged: true},
		{
			name: "median", of100: 15, mode: chain.VerifyStructured, runners: 3, threshold: 2, lie: wrong,
			shape: func(q *chain.JobSubmit) {
				fields(q)
				q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: jobOutlier}
			},
		},
		{name: "structured_match", of100: 10, mode: chain.VerifyStructured, runners: 2, threshold: 2, shape: fields, lie: wrong, judged: true},
		{name: "majority_vote for an actor", of100: 10, mode: chain.VerifyMajorityVote, runners: 3, threshold: 2, byActor: true, lie: wrong, judged: true},
	}
}

// kindOf spreads the kinds over the jobs.
func kindOf(kinds []*jobKind, number int) *jobKind {
	at := number * 37 % 100 // 37 and 100 have no common divisor
	for _, k := range kinds {
		if at -= k.of100; at < 0 {
			return k
		}
	}
	return kinds[0]
}

// truth is what an honest runner finds. Those of a median differ a little.
func (k *jobKind) truth(number int, seat uint8) string {
	v := 1_000 + number
	if k.name == "median" {
		v += int(seat)
	}
	return fmt.Sprintf(`{"v":%d,"pad":"xxxx"}`, v)
}

// tipOf gives some jobs a tip.
func tipOf(number int) chain.Wei {
	if number%3 > 0 {
		return 0
	}
	return chain.Wei(10_000 + number%7)
}

// escrow is what a job holds.
func (k *jobKind) escrow(number int) chain.Wei {
	return jobPrice*chain.Wei(k.runners) + tipOf(number)
}

// request asks for a job by transaction, or has the actor ask for it.
func (k *jobKind) request(actor chain.Address, number int) chain.Tx {
	if k.byActor {
		return k.wish(actor, number)
	}
	q := &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType: &chain.HTTPJob{URL: jobURL, Method: "GET"}, Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
			MaxPrice: jobPrice * chain.Wei(k.runners), Tip: tipOf(number), TimeoutBlocks: jobBlocks,
			Verification: chain.Verification{Mode: k.mode, Runners: k.runners, Threshold: k.threshold, DisputeWindowBlocks: uint64(1 + number%3)},
		},
		Terms: chain.JobTerms{
			Version: chain.JobTermsVersion, JudgeSteps: jobSteps,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: jobMaxData, ExpectedExecutionMillis: 1, DataFormat: chain.FormatJSON},
		},
	}
	k.shape(q)
	return chain.Tx{
		To: &chain.AddrJobDispatcher, Value: q.Spec.MaxPrice + q.Spec.Tip, Payload: chain.EncodeRequest(q),
		CyclesLimit: 1_000_000, CellsLimit: 60_000,
	}
}

// clientSource is an actor that asks for work and counts what it is told.
const clientSource = `from cowboy_sdk import actor, public, submit_job

@actor
class Client:
    def init(self, msg):
        self.storage["told"] = 0
        self.storage["ok"] = 0

    @public
    def ask(self, msg):
        return submit_job(msg.payload, "answered")

    @public
    def answered(self, msg):
        self.storage["told"] += 1
        if msg.payload["outcome"] == "ok":
            self.storage["ok"] += 1
`

// wish has an actor ask for a job.
func (k *jobKind) wish(actor chain.Address, number int) chain.Tx {
	return callActor(actor, "ask", map[string]any{
		"type": "http", "url": jobURL, "max_price": jobPrice * uint64(k.runners), "tip": uint64(tipOf(number)), "timeout_blocks": uint64(jobBlocks),
		"bounds":        map[string]any{"max_wall_time_seconds": uint64(1), "max_memory_mb": uint64(1), "max_retries": uint64(0)},
		"judge_steps":   uint64(jobSteps),
		"result_schema": map[string]any{"max_return_bytes": uint64(jobMaxData), "data_format": "json"},
		"verification": map[string]any{
			"mode": "majority_vote", "vote_field": voteField, "runners": uint64(k.runners), "threshold": uint64(k.threshold),
			"dispute_window_blocks": uint64(1 + number%3),
		},
	})
}

func callActor(to chain.Address, handler string, argument any) chain.Tx {
	return chain.Tx{To: &to, Payload: inCBOR([]any{handler, inCBOR(argument)}), CyclesLimit: 1_000_000, CellsLimit: 100_000}
}

// clientDeployment makes the actor of a creator.
func clientDeployment(creator chain.Address) (chain.Tx, chain.Address) {
	var grants []any
	for _, id := range []string{"econ.hold_balance", "econ.transfer", "http.fetch", "storage.kv"} {
		g := map[string]any{"id": id}
		if id == "http.fetch" {
			g["params"] = map[string]any{"allowlist_domains": []string{strings.Trim(strings.TrimPrefix(jobURL, "https://"), "/")}}
		}
		grants = append(grants, g)
	}
	salt := []byte("soak")
	tx := chain.Tx{
		Payload:     inCBOR([]any{[]byte(clientSource), salt, map[string]any{"entitlements": grants}, []any{"init", inCBOR(nil)}}),
		CyclesLimit: 3_000_000, CellsLimit: 120_000,
	}
	code := keccak.Sum256([]byte(clientSource))
	hash := keccak.Sum256(creator[:], salt, code[:])
	return tx, chain.Address(hash[12:]) // whitepaper §1.2
}

// inCBOR encodes a value of this package.
func inCBOR(v any) []byte {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are fixed
	}
	b, err := mode.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// resultOf is a runner's result with data, for an attempt.
func resultOf(data string, attempt uint8) []byte {
	r := chain.RunnerResult{
		Version: chain.RunnerResultVersion, Attempt: attempt, Data: []byte(data), Usage: chain.RunnerUsage{WallMillis: 1, Requests: 1},
		Source: &chain.ResultSource{URL: jobURL, Status: 200, ResponseHash: keccak.Sum256([]byte(data))},
	}
	return r.Encode()
}
