package exec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	dispatcher "github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/state"
)

const answeredSource = `
from cowboy_sdk import actor, public, get_sender

@actor
class Requester:
    @public
    def answered(self, msg):
        if msg.payload["output"] == "boom":
            raise ValueError("no")
        if msg.payload["output"] is not None:
            self.storage["got"] = msg.payload["output"]
        self.storage["by"] = get_sender()

    @public
    def got(self, msg):
        return [self.storage.get("got"), self.storage.get("by")]

    @public
    def check(self, msg):
        return {"valid": len(msg.payload["outputs"]) == 1, "canonical_output": "checked"}

    @public
    def refuse(self, msg):
        self.storage["seen"] = True
        return {"valid": False, "reason": "no"}

    @public
    def reject(self, msg):
        return {"valid": False, "reason": "no"}

    @public
    def burn(self, msg):
        while True:
            pass
`

// keyed is a runner with a key.
func keyed(t testing.TB, n byte) (*secp256k1.PrivateKey, chain.Address) {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), n))
	if err != nil {
		t.Fatal(err)
	}
	return key, key.PublicKey().Address()
}

// placed writes the rows of a job of one runner, as one that the next block submits. The
// escrow comes from elsewhere.
func (c *testChain) placed(id chain.Hash, by chain.Address, change func(*chain.JobSpec, *chain.JobTerms)) {
	c.t.Helper()
	h := c.height + 1
	spec := &chain.JobSpec{
		JobID: id, JobType: &chain.HTTPJob{URL: "https://a.example/", Method: "GET"}, Submitter: by, SubmittedAt: h, TimeoutBlocks: 30,
		Bounds:       chain.ResourceBounds{MaxWallTimeSeconds: 10, MaxMemoryMB: 1},
		Verification: chain.Verification{Runners: 1, Threshold: 1, DisputeWindowBlocks: 5}, MaxPrice: 10_000, Tip: 7,
		Callback: chain.Callback{Actor: by, Handler: "answered", CorrelationID: "c-1"},
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, JudgeSteps: chain.MinJudgeSteps, CallbackCycles: 400_000, VerifierCycles: 400_000,
		ResultSchema: chain.ResultSchema{MaxReturnBytes: 100, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
	}
	change(spec, terms)
	c.give(chain.AddrJobDispatcher, spec.MaxPrice+spec.Tip)
	c.put(func(o *state.Overlay) error {
		b := dispatcher.Book{State: o, Params: &c.g.Params, Height: h}
		return b.Submit(id, by, spec, terms, dispatcher.Loads{Answer: 10_000_000, Verifier: 10_000_000}) // more than the first use of any code here
	})
}

// reveals is a transaction that shows a result.
func (c *testChain) reveals(key *secp256k1.PrivateKey, from chain.Address, id chain.Hash, data string) *chain.VerifiedTx {
	result := (&chain.RunnerResult{
		Version: chain.RunnerResultVersion, Data: []byte(data), Usage: chain.RunnerUsage{WallMillis: 2_000, Requests: 1},
		Source: &chain.ResultSource{URL: "https://a.example/", Status: 200},
	}).Encode()
	q := &chain.ResultReveal{JobID: id, Result: result}
	s := key.Sign(chain.ResultDigest(c.g.ChainID, id, result))
	copy(q.RunnerSig[:32], s.R[:])
	copy(q.RunnerSig[32:64], s.S[:])
	q.RunnerSig[64] = s.YParity
	return c.program(from, &chain.AddrResultVerifier, chain.EncodeRequest(q))
}

// TestShownBoundsAReveal: showing the largest result that a job allows takes what a job is
// held to at its submission, and not much less.
func TestShownBoundsAReveal(t *testing.T) {
	key, runner := keyed(t, 9)
	for _, bytes := range []uint32{100, 16 << 10, 64 << 10} {
		c := marketChain(t, rich(alice), rich(bob), rich(runner))
		if r := c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY)); r.Code != chain.CodeOK {
			t.Fatal(chain.CodeName(r.Code))
		}
		id := chain.Hash{1}
		c.placed(id, alice, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Callback, terms.CallbackCycles, terms.VerifierCycles = chain.Callback{}, 0, 0
			terms.ResultSchema.MaxReturnBytes = bytes
		})
		c.block()
		c.block()
		spec, err := dispatcher.ReadSpec(c.state, id)
		if err != nil {
			t.Fatal(err)
		}
		terms, err := dispatcher.ReadTerms(c.state, id)
		if err != nil {
			t.Fatal(err)
		}
		most := dispatcher.Shown(&c.g.Params, spec, terms)
		tx := c.reveals(key, runner, id, strings.Repeat("x", int(bytes)))
		c.g.Params.State.LimitBytes = 1 << 10 // a state that is as full as can be makes it no dearer
		wide := tx.Tx
		wide.CellsLimit = most.Cells
		tx = verified(wide, runner)
		r := c.block(tx).Receipts[0]
		if r.Code != chain.CodeOK {
			t.Fatal(chain.CodeName(r.Code))
		}
		space := fees.TxBytes(tx)
		if r.CyclesUsed > most.Cycles || r.CellsUsed > most.Cells || space > most.Bytes {
			t.Errorf("%d bytes of data take %d cycles, %d cells and %d bytes of a block, the bound is %+v", bytes, r.CyclesUsed, r.CellsUsed, space, most)
		}
		const slack = 5_000 // what else a result may have
		if r.CyclesUsed+16*slack < most.Cycles || r.CellsUsed+2*slack < most.Cells || space+slack < most.Bytes {
			t.Errorf("%d bytes of data take %d cycles, %d cells and %d bytes of a block, far below %+v", bytes, r.CyclesUsed, r.CellsUsed, space, most)
		}
	}
}

// TestAJobFromDrawToPayment: an actor's job is drawn for, shown by its runner alone,
// answered in the block behind its verdict by the verifier, and paid behind its window; money
// is conserved in every block.
func TestAJobFromDrawToPayment(t *testing.T) { // resolutions 11.13, 12.13, 12.53-12.55
	key, runner := keyed(t, 9)
	c := marketChain(t, rich(alice), rich(bob), rich(runner))
	c.engine = testEngine(t)
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	if r := c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	id := chain.Hash{1}
	c.placed(id, actor, func(*chain.JobSpec, *chain.JobTerms) {})
	c.block()
	c.block()
	if _, err := c.try(c.reveals(key, runner, chain.Hash{2}, "42")); !errors.Is(err, fees.ErrRole) || !errors.As(err, new(*exec.InvalidTx)) {
		t.Errorf("a result for no job: %v", err)
	}
	if j := c.job(id); j.Phase != dispatcher.Assigned || c.runner(runner).Active != 1 {
		t.Fatalf("%+v of %+v", j, c.runner(runner))
	}
	if _, err := c.try(c.reveals(key, alice, id, "42")); !errors.Is(err, fees.ErrRole) {
		t.Errorf("a result of who was not drawn: %v", err)
	}
	stranger, _ := keyed(t, 10)
	if r := c.block(c.reveals(stranger, runner, id, "42")).Receipts[0]; r.Code != chain.CodeBadProof {
		t.Errorf("a result under another's signature: %s", chain.CodeName(r.Code))
	}
	before := c.state.Balance(actor)
	r := c.block(c.reveals(key, runner, id, "42"))
	if r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("reveal: %s", chain.CodeName(r.Receipts[0].Code))
	}
	if last := r.Receipts[len(r.Receipts)-1]; len(last.Events) != 1 || last.Events[0].Name != results.EventVerdict {
		t.Errorf("events %+v", last.Events)
	}
	if j := c.job(id); j.Outcome != dispatcher.OK || j.Phase != dispatcher.Closing || c.runner(runner).Active != 0 {
		t.Errorf("%+v of %+v", j, c.runner(runner))
	}
	if r := c.block(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
		t.Errorf("the answer: %+v", r.Receipts)
	}
	if got := c.ask(actor, "got", []byte{0xf6}); string(got.Output) != "\x82\x6242\x78\x2a"+chain.AddrResultVerifier.String() {
		t.Errorf("the actor has %q: %s", got.Output, chain.CodeName(got.Code))
	}
	earned := c.state.Balance(runner)
	for range 5 {
		c.block()
	}
	// 10 for a request and 1 for each of two seconds: nothing for the Treasury, and the tip.
	if got := c.state.Balance(runner) - earned; got != 12+7 || c.job(id).Phase != dispatcher.Ended {
		t.Errorf("paid %d, %+v", got, c.job(id))
	}
	if got := c.state.Balance(actor) - before; got != 10_000-12 || c.state.Balance(chain.AddrJobDispatcher) != 0 {
		t.Errorf("%d came back, %d is left", got, c.state.Balance(chain.AddrJobDispatcher))
	}
	if w := c.runner(runner); w.Successes != 1 || w.Standing.ReputationX1e9 <= 50_000_000_000 {
		t.Errorf("runner %+v", w)
	}
}

// TestAnswersThatFail are counted, and change nothing of what the runner gets.
func TestAnswersThatFail(t *testing.T) { // resolution 6.14
	key, runner := keyed(t, 9)
	c := marketChain(t, rich(alice), rich(bob), rich(runner))
	c.engine = testEngine(t)
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY))
	id := chain.Hash{1}
	c.placed(id, actor, func(*chain.JobSpec, *chain.JobTerms) {})
	c.block()
	c.block()
	c.block(c.reveals(key, runner, id, "boom"))
	if r := c.block(); len(r.Receipts) != 1 || r.Receipts[0].Code == chain.CodeOK {
		t.Errorf("the answer: %+v", r.Receipts)
	}
	if n, err := dispatcher.ReadCalls(c.state, actor); err != nil || n != (dispatcher.Calls{Sent: 1, Failed: 1}) {
		t.Errorf("calls %+v, %v", n, err)
	}
	if c.job(id).Outcome != dispatcher.OK {
		t.Errorf("%+v", c.job(id))
	}
}

// TestAnswersLoadWhatWasPaid: the first use of the code that takes an answer has as many cycles as
// were paid for it at the submission, whatever code the actor has now.
func TestAnswersLoadWhatWasPaid(t *testing.T) {
	key, runner := keyed(t, 9)
	c := marketChain(t, rich(alice), rich(bob), rich(runner))
	c.engine = testEngine(t)
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY))
	c.g.Params.Runner.HeartbeatTimeoutBlocks = 100
	for n, load := range []chain.Cycles{1, 10_000_000} {
		id := chain.Hash{byte(n + 1)}
		c.placed(id, actor, func(_ *chain.JobSpec, terms *chain.JobTerms) { terms.CallbackCycles = 20_000 }) // enough for the handler alone
		c.put(func(o *state.Overlay) error {                                                                 // as if the code had been shorter
			j, err := dispatcher.Read(o, id)
			j.AnswerLoad = load
			(&dispatcher.Book{State: o}).Put(id, j)
			return err
		})
		c.block()
		c.block()
		c.block(c.reveals(key, runner, id, "42"))
		want := chain.CodeCyclesExhausted
		if n > 0 {
			want = chain.CodeOK
		}
		if r := c.block(); len(r.Receipts) != 1 || r.Receipts[0].Code != want {
			t.Errorf("with %d cycles for its code: the answer: %+v", load, r.Receipts)
		}
		for range 6 { // the seat is free again
			c.block()
		}
	}
}

// TestAnActorVerifies: the actor that a job names is asked, reads only, may give another
// output, and may say no. One that raises, writes, runs out of cycles or has no such handler
// has said nothing, and the result stands.
func TestAnActorVerifies(t *testing.T) {
	key, runner := keyed(t, 9)
	c := marketChain(t, rich(alice), rich(bob), rich(runner))
	c.engine = testEngine(t)
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY))
	c.g.Params.Runner.HeartbeatTimeoutBlocks = 100
	for n, method := range []string{"check", "answered", "nothing", "refuse", "burn", "reject"} {
		id := chain.Hash{byte(n + 1)}
		c.placed(id, actor, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Verification.Mode = chain.VerifyEconomicBond
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: actor.String(), Method: method}}
		})
		c.block()
		c.block()
		r := c.block(c.reveals(key, runner, id, "42"))
		if r.Receipts[0].Code != chain.CodeOK {
			t.Fatalf("%s: reveal: %s", method, chain.CodeName(r.Receipts[0].Code))
		}
		want, output := dispatcher.OK, "\x82\x6242"
		switch method {
		case "check":
			output = "\x82\x67checked"
		case "reject":
			want = dispatcher.NoAgreement
		}
		if j := c.job(id); j.Outcome != want {
			t.Errorf("%s: %+v", method, j)
		}
		for range 6 {
			c.block()
		}
		if got := c.ask(actor, "got", []byte{0xf6}); !strings.HasPrefix(string(got.Output), output) {
			t.Errorf("%s: the actor has %q", method, got.Output)
		}
	}
}

// TestVerifiersTakeWhatCanBePaid: a verifier that asks for more than a submission can have paid
// for each attempt gets that much, and the result stands.
func TestVerifiersTakeWhatCanBePaid(t *testing.T) {
	key, runner := keyed(t, 9)
	c := marketChain(t, rich(alice), rich(bob), rich(runner))
	c.engine = testEngine(t)
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY))
	c.g.Params.Job.MaxRetries = 16
	id, paid := chain.Hash{1}, c.g.Params.MaxTxCycles/16
	c.placed(id, actor, func(spec *chain.JobSpec, terms *chain.JobTerms) {
		spec.Verification.Mode, terms.VerifierCycles = chain.VerifyEconomicBond, 2_000_000
		spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: actor.String(), Method: "burn"}}
	})
	c.g.Params.Job.MaxRetries = 1 // a vote: what was paid is paid
	c.block()
	c.block()
	r := c.block(c.reveals(key, runner, id, "42"))
	if len(r.Receipts) < 2 || r.Receipts[1].Code == chain.CodeOK || r.Receipts[1].CyclesUsed > paid || r.Receipts[1].CyclesUsed < paid/2 {
		t.Fatalf("at most %d are paid: %+v", paid, r.Receipts)
	}
	if j := c.job(id); j.Outcome != dispatcher.OK {
		t.Errorf("%+v", j)
	}
}

// TestVerifiersLoadWhatWasPaid: the first use of a verifier's code has as many cycles as were paid
// for it at the submission, whatever code the actor has now. One that needs more has said nothing,
// and the result stands.
func TestVerifiersLoadWhatWasPaid(t *testing.T) {
	key, runner := keyed(t, 9)
	c := marketChain(t, rich(alice), rich(bob), rich(runner))
	c.engine = testEngine(t)
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY))
	c.g.Params.Runner.HeartbeatTimeoutBlocks = 100
	const own, stub = 8_000, 1
	for n, tt := range []struct {
		load chain.Cycles
		want uint16
		data string
	}{{stub, chain.CodeCyclesExhausted, "42"}, {10_000_000, chain.CodeOK, "checked"}} {
		id := chain.Hash{byte(n + 1)}
		c.placed(id, actor, func(spec *chain.JobSpec, terms *chain.JobTerms) {
			spec.Callback, terms.CallbackCycles, terms.VerifierCycles = chain.Callback{}, 0, own // enough for the handler alone
			spec.Verification.Mode = chain.VerifyEconomicBond
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: actor.String(), Method: "check"}}
		})
		c.put(func(o *state.Overlay) error { // as if the code had been shorter
			j, err := dispatcher.Read(o, id)
			j.VerifierLoad = tt.load
			(&dispatcher.Book{State: o}).Put(id, j)
			return err
		})
		c.block()
		c.block()
		r := c.block(c.reveals(key, runner, id, "42"))
		if len(r.Receipts) < 2 || r.Receipts[1].Code != tt.want || r.Receipts[1].CyclesUsed > own+tt.load {
			t.Errorf("with %d cycles for its code: the verifier: %+v", tt.load, r.Receipts)
		}
		if j := c.job(id); j.Outcome != dispatcher.OK || j.DataHash != chain.Hash(keccak.Sum256([]byte(tt.data))) {
			t.Errorf("with %d cycles for its code: %+v", tt.load, j)
		}
		for range 6 { // the seat is free again
			c.block()
		}
	}
}

// commits is a transaction that binds a runner to the result that it will show.
func (c *testChain) commits(key *secp256k1.PrivateKey, from chain.Address, id chain.Hash, data string) *chain.VerifiedTx {
	shown := new(chain.ResultReveal)
	r := cbor.NewReader(c.reveals(key, from, id, data).Tx.Payload)
	if _, err := r.Array(4); err != nil {
		c.t.Fatal(err)
	}
	if _, err := r.Uint(); err != nil {
		c.t.Fatal(err)
	}
	if err := chain.ReadRequest(&r, shown); err != nil {
		c.t.Fatal(err)
	}
	q := &chain.ResultCommit{JobID: id, Commitment: chain.ResultCommitment(shown.Result, shown.RunnerSig)}
	return c.program(from, &chain.AddrResultVerifier, chain.EncodeRequest(q))
}

// TestACommittee: three runners are drawn by the dispatcher and commit; two agree, one of
// them too late for the verdict's block, and one disagrees; nothing is left of the escrow.
func TestACommittee(t *testing.T) { // resolutions 11.27, 11.28, 12.29
	keys, all := map[chain.Address]*secp256k1.PrivateKey{}, []chain.Address{}
	var allocations []genesis.Allocation
	for n := byte(9); n < 12; n++ {
		key, addr := keyed(t, n)
		keys[addr], all, allocations = key, append(all, addr), append(allocations, rich(addr))
	}
	c := marketChain(t, append(allocations, rich(alice), rich(bob))...)
	c.engine = testEngine(t)
	c.g.Params.Runner.HeartbeatTimeoutBlocks = 1_000
	actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
	for _, a := range all {
		if r := c.runnerDoes(a, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY)); r.Code != chain.CodeOK {
			t.Fatal(chain.CodeName(r.Code))
		}
	}
	id := chain.Hash{1}
	c.placed(id, actor, func(spec *chain.JobSpec, _ *chain.JobTerms) {
		spec.Verification.Mode, spec.Verification.Runners, spec.Verification.Threshold = chain.VerifyMajorityVote, 3, 2
	})
	c.block()
	c.block()
	seats, err := dispatcher.ReadSeats(c.state, id, 0)
	if err != nil || len(seats) != 3 {
		t.Fatalf("%d seats, %v", len(seats), err)
	}
	say := []string{"42", "42", "43"}
	var commitments []*chain.VerifiedTx
	for n, s := range seats {
		commitments = append(commitments, c.commits(keys[s.Runner], s.Runner, id, say[n]))
	}
	for i, r := range c.block(commitments...).Receipts {
		if r.Code != chain.CodeOK {
			t.Fatalf("commitment %d: %s", i, chain.CodeName(r.Code))
		}
	}
	for c.height < c.job(id).GatherUntil {
		c.block()
	}
	for n, s := range seats {
		if r := c.block(c.reveals(keys[s.Runner], s.Runner, id, say[n])).Receipts[0]; r.Code != chain.CodeOK {
			t.Fatalf("reveal %d: %s", n, chain.CodeName(r.Code))
		}
		if want := []dispatcher.Phase{dispatcher.Assigned, dispatcher.Closing, dispatcher.Closing}[n]; c.job(id).Phase != want {
			t.Errorf("after %d: %+v", n, c.job(id))
		}
	}
	for range 40 {
		c.block()
	}
	if j := c.job(id); j.Phase != dispatcher.Ended || j.Outcome != dispatcher.OK || c.state.Balance(chain.AddrJobDispatcher) != 0 {
		t.Errorf("%+v, %d left", j, c.state.Balance(chain.AddrJobDispatcher))
	}
	for n, s := range seats {
		w := c.runner(s.Runner)
		if agrees := say[n] == "42"; (w.Successes == 1) != agrees || (w.Disagreements == 1) == agrees || w.Active != 0 {
			t.Errorf("runner %d: %+v", n, w)
		}
	}
	c.registryBooks(all...)
}

// TestASilentRunner: a job whose only candidate gives no sign fails, with an answer and the
// escrow back; one that commits and shows nothing loses a fifth of its stake.
func TestASilentRunner(t *testing.T) { // resolutions 12.26, 12.35, 12.81
	for _, promises := range []bool{false, true} {
		key, runner := keyed(t, 9)
		c := marketChain(t, rich(alice), rich(bob), rich(runner))
		c.engine = testEngine(t)
		c.g.Params.Runner.HeartbeatTimeoutBlocks, c.g.Params.Job.MaxRetries = 1_000, 1
		actor, _ := c.deploy(alice, answeredSource, manifestOf(kv))
		c.runnerDoes(runner, 30*chain.WeiPerCBY, plainRegistration(20*chain.WeiPerCBY))
		id := chain.Hash{1}
		c.placed(id, actor, func(*chain.JobSpec, *chain.JobTerms) {})
		c.block()
		c.block()
		if promises {
			if r := c.block(c.commits(key, runner, id, "42")).Receipts[0]; r.Code != chain.CodeOK {
				t.Fatal(chain.CodeName(r.Code))
			}
		}
		before := c.state.Balance(actor)
		for range 60 {
			c.block()
		}
		if j := c.job(id); j.Phase != dispatcher.Ended || j.Outcome != dispatcher.Timeout {
			t.Errorf("%+v", j)
		}
		if got := c.state.Balance(actor) - before; got != 10_007 {
			t.Errorf("%d came back", got)
		}
		if n, err := dispatcher.ReadCalls(c.state, actor); err != nil || n != (dispatcher.Calls{Sent: 1}) {
			t.Errorf("calls %+v, %v", n, err)
		}
		w, stake := c.runner(runner), 30*chain.WeiPerCBY
		if promises {
			stake = 24 * chain.WeiPerCBY
		}
		if w.Stake != stake || (w.Silences == 1) == promises || w.Active != 0 {
			t.Errorf("runner %+v", w)
		}
		c.registryBooks(runner)
	}
}
