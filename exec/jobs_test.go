package exec_test

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
)

// jobOrder is a job that everybody may submit: one runner fetches a page, and nobody is told.
func jobOrder() *chain.JobSubmit {
	return &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType:      &chain.HTTPJob{URL: "https://api.example.com/price", Method: "GET"},
			Bounds:       chain.ResourceBounds{MaxWallTimeSeconds: 10, MaxMemoryMB: 64},
			Verification: chain.Verification{Runners: 1, Threshold: 1},
			MaxPrice:     1_000, Tip: 10, TimeoutBlocks: 50, Callback: chain.Callback{Context: []byte{}},
		},
		Terms: chain.JobTerms{
			Version: 1, JudgeSteps: chain.MinJudgeSteps,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: 1_000, ExpectedExecutionMillis: 100, DataFormat: chain.FormatText},
		},
	}
}

func (c *testChain) jobTx(from chain.Address, value chain.Wei, q chain.Request) *chain.VerifiedTx {
	tx := c.program(from, &chain.AddrJobDispatcher, chain.EncodeRequest(q)).Tx
	tx.Value = value
	return verified(tx, from)
}

func (c *testChain) jobDoes(from chain.Address, value chain.Wei, q chain.Request) chain.Receipt {
	c.t.Helper()
	return c.block(c.jobTx(from, value, q)).Receipts[0]
}

// submitted puts a job into a block by itself, and returns its id.
func (c *testChain) submitted(from chain.Address, q *chain.JobSubmit) (chain.Hash, chain.Receipt) {
	c.t.Helper()
	tx := c.jobTx(from, q.Spec.MaxPrice+q.Spec.Tip, q)
	r := c.block(tx).Receipts[0]
	return chain.JobID(tx.Hash, c.height), r
}

// dispatcherBooks holds the dispatcher's balance to what its jobs hold.
func (c *testChain) dispatcherBooks(ids ...chain.Hash) {
	c.t.Helper()
	var sum chain.Wei
	for _, id := range ids {
		sum += c.job(id).Held
	}
	if got := c.state.Balance(chain.AddrJobDispatcher); got != sum {
		c.t.Errorf("the dispatcher holds %d, its jobs say %d", got, sum)
	}
}

func (c *testChain) row(k state.StorageKey) []byte {
	c.t.Helper()
	row, err := c.state.Storage(chain.AddrJobDispatcher, k)
	if err != nil {
		c.t.Fatal(err)
	}
	return row
}

// TestJobIsSubmittedAndTakenBack: a job's escrow, rows and id, and what is left of them when
// its submitter takes it back.
func TestJobIsSubmittedAndTakenBack(t *testing.T) { // CIP-2 §3; resolutions 5.18, 12.22
	c := marketChain(t, rich(alice), rich(bob))
	before := c.state.Balance(alice)
	id, r := c.submitted(alice, jobOrder())
	if r.Code != chain.CodeOK || len(r.Events) != 1 || r.Events[0].Name != jobs.EventSubmitted {
		t.Fatalf("submit: %+v", r)
	}
	if !bytes.Equal(r.Output, cbor.AppendBytes(nil, id[:])) {
		t.Errorf("the answer is %x, want the id %s", r.Output, id)
	}
	if spent := before - c.state.Balance(alice) - r.Fee; spent != 1_010 {
		t.Errorf("the escrow is %d", spent)
	}
	j := c.job(id)
	if j.Phase != jobs.Fresh || j.Held != 1_010 || j.Submitter != alice || j.SubmittedAt != c.height {
		t.Errorf("%+v", j)
	}
	c.dispatcherBooks(id)
	spec, err := jobs.ReadSpec(c.state, id)
	if err != nil || spec.JobID != id || spec.Submitter != alice || spec.SubmittedAt != c.height || spec.SpecHash() != j.SpecHash {
		t.Errorf("specification %+v, %v", spec, err)
	}
	terms, err := jobs.ReadTerms(c.state, id)
	if err != nil || terms.TermsHash() != j.TermsHash {
		t.Errorf("terms %+v, %v", terms, err)
	}
	fresh, live := jobs.AtKey(jobs.TableFresh, j.SubmittedAt, id), jobs.AtKey(jobs.TableLive, j.SubmittedAt, id)
	if c.row(fresh) == nil || c.row(live) == nil {
		t.Error("nothing says that it is to be drawn for")
	}
	after := c.state.Balance(alice)
	c.block() // nobody is registered
	if j = c.job(id); j.Outcome != jobs.NoCandidates || c.state.Balance(alice) != after+1_010 {
		t.Errorf("without runners: %+v", j)
	}
	c.dispatcherBooks(id)

	// Taking back is of the block of the submission alone: the next one draws.
	submit := c.jobTx(alice, 1_010, jobOrder())
	id = chain.JobID(submit.Hash, c.height+1)
	cancel := func(from chain.Address, nonce uint64, id chain.Hash) *chain.VerifiedTx {
		tx := c.jobTx(from, 0, &chain.JobCancel{JobID: id}).Tx
		tx.Nonce += nonce
		return verified(tx, from)
	}
	before = c.state.Balance(alice)
	result := c.block(submit, cancel(bob, 0, id), cancel(alice, 1, chain.Hash{}), cancel(alice, 2, id), cancel(alice, 3, id))
	fee := chain.Wei(0)
	for i, want := range []uint16{chain.CodeOK, chain.CodeForbidden, chain.CodeNotFound, chain.CodeOK, chain.CodeWrongState} {
		r := result.Receipts[i]
		if r.Code != want {
			t.Errorf("instruction %d: %s, want %s", i, chain.CodeName(r.Code), chain.CodeName(want))
		}
		if i != 1 {
			fee += r.Fee
		}
	}
	if r = result.Receipts[3]; len(r.Events) != 1 || r.Events[0].Name != jobs.EventCancelled || c.state.Balance(alice) != before-fee {
		t.Errorf("cancel: %+v, balance %d of %d", r, c.state.Balance(alice), before-fee)
	}
	j = c.job(id)
	fresh, live = jobs.AtKey(jobs.TableFresh, j.SubmittedAt, id), jobs.AtKey(jobs.TableLive, j.SubmittedAt, id)
	if j.Phase != jobs.Ended || j.Outcome != jobs.Cancelled || j.Held != 0 || c.row(fresh) != nil || c.row(live) != nil {
		t.Errorf("cancelled: %+v", j)
	}
	if due := c.row(jobs.AtKey(jobs.TableDue, c.height+86_400, id)); !bytes.Equal(due, []byte{byte(jobs.AtPrune), 0}) {
		t.Errorf("its rows go: %x", due)
	}
	c.dispatcherBooks(id)
	c.block()
	if j := c.job(id); j.Outcome != jobs.Cancelled {
		t.Errorf("drawn for after it was taken back: %+v", j)
	}
}

// TestJobRefusals: the smallest violation of every check of a submission is bad_argument and
// changes nothing but the fee, and its nearest neighbour passes (market table §7).
func TestJobRefusals(t *testing.T) { // R1, R2, R24; resolutions 11.27, 12.14, 12.62
	const ok, bad = chain.CodeOK, chain.CodeBadArgument
	type order = chain.JobSubmit
	committee := func(mode chain.VerificationMode, runners, threshold uint8) func(*order) {
		return func(q *order) {
			q.Spec.Verification = chain.Verification{Mode: mode, Runners: runners, Threshold: threshold}
			if mode == chain.VerifyStructured {
				q.Spec.Verification.Checks = []chain.VerifierCheck{&chain.FieldsCheck{Fields: []string{"a"}}}
				q.Terms.ResultSchema.DataFormat = chain.FormatJSON
			}
		}
	}
	llm := func(change func(*chain.LLMJob, *chain.ResourceBounds)) func(*order) {
		return func(q *order) {
			j := &chain.LLMJob{Prompt: "p", MaxTokens: 10}
			q.Spec.Bounds.MaxInputTokens, q.Spec.Bounds.MaxOutputTokens = 10, 10
			change(j, &q.Spec.Bounds)
			q.Spec.JobType = j
		}
	}
	page := func(url, method string) func(*order) {
		return func(q *order) { q.Spec.JobType = &chain.HTTPJob{URL: url, Method: method} }
	}
	sgx, none := "sgx", "sgx2"
	for _, tt := range []struct {
		rule   string
		change func(*order)
		value  chain.Wei
		code   uint16
	}{
		{"as it is", func(*order) {}, 1_010, ok},
		{"value one more", func(*order) {}, 1_011, bad},
		{"value one less", func(*order) {}, 1_009, bad},
		{"price beyond 64 bits", func(q *order) { q.Spec.MaxPrice = 1<<64 - 1 }, 9, bad},
		{"an id", func(q *order) { q.Spec.JobID[31] = 1 }, 1_010, bad},
		{"itself the submitter", func(q *order) { q.Spec.Submitter = alice }, 1_010, ok},
		{"another the submitter", func(q *order) { q.Spec.Submitter = bob }, 1_010, bad},
		{"a height", func(q *order) { q.Spec.SubmittedAt = 1 }, 1_010, bad},
		{"no seconds", func(q *order) { q.Spec.Bounds.MaxWallTimeSeconds = 0 }, 1_010, bad},
		{"no memory", func(q *order) { q.Spec.Bounds.MaxMemoryMB = 0 }, 1_010, bad},
		{"a model", llm(func(*chain.LLMJob, *chain.ResourceBounds) {}), 1_010, ok},
		{"no tokens to read", llm(func(_ *chain.LLMJob, b *chain.ResourceBounds) { b.MaxInputTokens = 0 }), 1_010, bad},
		{"no tokens to write", llm(func(j *chain.LLMJob, b *chain.ResourceBounds) { b.MaxOutputTokens, j.MaxTokens = 0, 0 }), 1_010, bad},
		{"one token more than the bound", llm(func(j *chain.LLMJob, _ *chain.ResourceBounds) { j.MaxTokens = 11 }), 1_010, bad},
		{"a banned model", llm(func(j *chain.LLMJob, _ *chain.ResourceBounds) { j.ModelID[0] = 0xba }), 1_010, bad},
		{"a model of no name", llm(func(j *chain.LLMJob, _ *chain.ResourceBounds) { j.ModelID[0] = 0xbb }), 1_010, ok},
		{"plain http", page("http://a.com", "GET"), 1_010, ok},
		{"another scheme", page("ftp://a.com", "GET"), 1_010, bad},
		{"no host", page("https:///x", "GET"), 1_010, bad},
		{"a user", page("https://a.com@b.com", "GET"), 1_010, bad},
		{"a space", page("https://a.com/a b", "GET"), 1_010, bad},
		{"two lines", page("https://a.com/\r\nX: y", "GET"), 1_010, bad},
		{"no method", page("https://a.com", ""), 1_010, bad},
		{"the least price", func(q *order) { q.Spec.MaxPrice = 1 }, 11, ok},
		{"no price", func(q *order) { q.Spec.MaxPrice = 0 }, 10, bad},
		{"eleven blocks", func(q *order) { q.Spec.TimeoutBlocks = 11 }, 1_010, ok},
		{"ten blocks, of which the draw leaves nine", func(q *order) { q.Spec.TimeoutBlocks = 10 }, 1_010, bad},
		{"one block", func(q *order) { q.Spec.TimeoutBlocks = 1 }, 1_010, bad},
		{"no block", func(q *order) { q.Spec.TimeoutBlocks = 0 }, 1_010, bad},
		{"a day", func(q *order) { q.Spec.TimeoutBlocks = 86_400 }, 1_010, ok},
		{"a day and a block", func(q *order) { q.Spec.TimeoutBlocks = 86_401 }, 1_010, bad},
		{"the longest window", func(q *order) { q.Spec.Verification.DisputeWindowBlocks = 20 }, 1_010, ok},
		{"longer than stakes unbond", func(q *order) { q.Spec.Verification.DisputeWindowBlocks = 21 }, 1_010, bad},
		{"none with two", committee(chain.VerifyNone, 2, 2), 1_010, bad},
		{"a bond with one", committee(chain.VerifyEconomicBond, 1, 1), 1_010, ok},
		{"a bond with two", committee(chain.VerifyEconomicBond, 2, 2), 1_010, bad},
		{"the largest bond", func(q *order) {
			committee(chain.VerifyEconomicBond, 1, 1)(q)
			q.Terms.BondMultiplierE6 = new(uint64(10_000_000))
		}, 1_010, ok},
		{"a larger bond", func(q *order) {
			committee(chain.VerifyEconomicBond, 1, 1)(q)
			q.Terms.BondMultiplierE6 = new(uint64(10_000_001))
		}, 1_010, bad},
		{"a bond that none must hold", committee(chain.VerifyEconomicBond, 1, 0), 1_010, bad},
		{"majority of three", committee(chain.VerifyMajorityVote, 3, 2), 1_010, ok},
		{"majority of two", committee(chain.VerifyMajorityVote, 2, 2), 1_010, bad},
		{"structured with two", committee(chain.VerifyStructured, 2, 2), 1_010, ok},
		{"structured with one", committee(chain.VerifyStructured, 1, 1), 1_010, bad},
		{"deterministic with one", committee(chain.VerifyDeterministic, 1, 1), 1_010, bad},
		{"similarity with two", committee(chain.VerifySimilarity, 2, 2), 1_010, bad},
		{"sixteen", committee(chain.VerifyMajorityVote, 16, 9), 1_010, ok},
		{"seventeen", committee(chain.VerifyMajorityVote, 17, 9), 1_010, bad},
		{"half", committee(chain.VerifyMajorityVote, 4, 2), 1_010, bad},
		{"more than all", committee(chain.VerifyMajorityVote, 4, 5), 1_010, bad},
		{"median of two", func(q *order) {
			committee(chain.VerifyStructured, 2, 2)(q)
			q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian}
		}, 1_010, bad},
		{"twenty blocks for several", func(q *order) { committee(chain.VerifyMajorityVote, 3, 2)(q); q.Spec.TimeoutBlocks = 20 }, 1_010, ok},
		{"nineteen blocks for several", func(q *order) { committee(chain.VerifyMajorityVote, 3, 2)(q); q.Spec.TimeoutBlocks = 19 }, 1_010, bad},
		{"sixteen large results in the least time", func(q *order) {
			committee(chain.VerifyMajorityVote, 16, 9)(q)
			q.Terms.ResultSchema.MaxReturnBytes, q.Spec.TimeoutBlocks = 50_000, 121
		}, 1_010, ok},
		{"in a block less", func(q *order) {
			committee(chain.VerifyMajorityVote, 16, 9)(q)
			q.Terms.ResultSchema.MaxReturnBytes, q.Spec.TimeoutBlocks = 50_000, 120
		}, 1_010, chain.CodeLimitReached},
		{"an enclave", func(q *order) { q.Spec.Verification.TEERequired, q.Spec.Verification.RequiredTEEType = true, &sgx }, 1_010, ok},
		{"an enclave nobody knows", func(q *order) { q.Spec.Verification.TEERequired, q.Spec.Verification.RequiredTEEType = true, &none }, 1_010, bad},
		{"a kind of enclave and none", func(q *order) { q.Spec.Verification.RequiredTEEType = &sgx }, 1_010, bad},
		{"a pool", func(q *order) { q.Spec.RequiredRunnerPool = []byte("pool") }, 1_010, ok},
		{"a pool without name", func(q *order) { q.Spec.RequiredRunnerPool = []byte{} }, 1_010, bad},
		{"a secret", func(q *order) { q.Terms.SecretRef = new(string) }, 1_010, bad},
		{"too much in return", func(q *order) { q.Terms.ResultSchema.MaxReturnBytes = 50_001 }, 1_010, bad},
		{"cycles for nobody", func(q *order) { q.Terms.CallbackCycles = 1 }, 1_010, bad},
		{"more cycles than an actor has", func(q *order) { q.Terms.VerifierCycles = 2_000_001 }, 1_010, bad},
		{"an answer to no actor", func(q *order) { q.Spec.Callback.Actor, q.Spec.Callback.Handler = bob, "h" }, 1_010, bad},
		{"a verifier that is no address", func(q *order) {
			committee(chain.VerifyStructured, 2, 2)(q)
			q.Spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: "bob", Method: "m"}}
		}, 1_010, bad},
		{"a verifier without code", func(q *order) {
			committee(chain.VerifyStructured, 2, 2)(q)
			q.Spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: bob.String(), Method: "m"}}
		}, 1_010, bad},
	} {
		c := marketChain(t, rich(alice), rich(bob))
		c.g.Params.Job.MaxReturnBytes, c.g.Params.Job.RequirePrice = 50_000, true
		c.ban(chain.Hash{0xba})
		before := c.state.Balance(alice)
		q := jobOrder()
		tt.change(q)
		r := c.jobDoes(alice, tt.value, q)
		if r.Code != tt.code {
			t.Errorf("%s: %s, want %s", tt.rule, chain.CodeName(r.Code), chain.CodeName(tt.code))
		}
		if r.Code != ok && (c.state.Balance(alice) != before-r.Fee || c.state.Balance(chain.AddrJobDispatcher) != 0 || len(r.Events) != 0) {
			t.Errorf("%s: more than the fee changed", tt.rule)
		}
	}
}

// ban writes the entry that governance writes.
func (c *testChain) ban(model chain.Hash) {
	key := state.NewStorageKey(state.VMNamespaceSystem, []byte("table/"+governance.TableModelBans+"/"+model.String()))
	c.put(func(o *state.Overlay) error {
		o.SetStorage(chain.AddrGovernance, key, []byte{1})
		return nil
	})
}

// TestModelMustBePublished: with the parameter, a job names a published model or none.
func TestModelMustBePublished(t *testing.T) { // resolution 12.62
	for _, tt := range []struct {
		model chain.Hash
		code  uint16
	}{{chain.Hash{}, chain.CodeOK}, {chain.Hash{1}, chain.CodeBadArgument}, {chain.Hash{2}, chain.CodeOK}} {
		c := marketChain(t, rich(alice))
		c.g.Params.Job.RequireRegisteredModel = true
		c.put(func(o *state.Overlay) error {
			two := chain.Hash{2}
			o.SetStorage(chain.AddrRunnerRegistry, state.NewStorageKey(state.VMNamespaceSystem, append([]byte("model/"), two[:]...)), []byte{0x80})
			return nil
		})
		q := jobOrder()
		q.Spec.JobType = &chain.LLMJob{ModelID: tt.model, Prompt: "p", MaxTokens: 1}
		q.Spec.Bounds.MaxInputTokens, q.Spec.Bounds.MaxOutputTokens = 1, 1
		if r := c.jobDoes(alice, 1_010, q); r.Code != tt.code {
			t.Errorf("%s: %s", tt.model, chain.CodeName(r.Code))
		}
	}
}

// TestJobPrice: what a submission costs is what the market table says, each part by itself.
func TestJobPrice(t *testing.T) { // market table §7; resolutions 12.20, 12.21, 12.54
	used := func(c *testChain, change func(*chain.JobSubmit)) chain.Receipt {
		t.Helper()
		q := jobOrder()
		change(q)
		r := c.jobDoes(alice, q.Spec.MaxPrice+q.Spec.Tip, q)
		if r.Code != chain.CodeOK {
			t.Fatal(chain.CodeName(r.Code))
		}
		return r
	}
	plain := func(q *chain.JobSubmit) {}
	pooled := func(q *chain.JobSubmit) { q.Spec.RequiredRunnerPool = []byte("p") }
	judged := func(steps uint64) func(*chain.JobSubmit) {
		return func(q *chain.JobSubmit) {
			q.Spec.Verification = chain.Verification{Mode: chain.VerifyMajorityVote, Runners: 3, Threshold: 2}
			q.Terms.JudgeSteps = steps
		}
	}
	c := marketChain(t, rich(alice), rich(bob))
	base, pool := used(c, plain), used(c, pooled)
	few, many := used(c, judged(1_000)), used(c, judged(5_000))
	if got := many.CyclesUsed - few.CyclesUsed; got < 36_000 || got > 36_100 { // and a byte or two of their encoding
		t.Errorf("4,000 steps for each of three results in each of three attempts cost %d", got)
	}
	if few.CellsUsed <= base.CellsUsed+2*3*3*144 {
		t.Errorf("the seats of two more runners cost %d cells", few.CellsUsed-base.CellsUsed)
	}
	if r := c.runnerDoes(bob, 30*chain.WeiPerCBY, plainRegistration(0)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	base2, pool2 := used(c, plain), used(c, pooled)
	// It is a candidate once, and in each of three attempts again.
	if got := base2.CyclesUsed - base.CyclesUsed; got != 4*20 {
		t.Errorf("one more registered runner costs %d", got)
	}
	if got := pool2.CyclesUsed - pool.CyclesUsed; got != 4*20+500 {
		t.Errorf("one more registered runner, asked for its pool, costs %d", got)
	}
}

const requester = `
from cowboy_sdk import actor, public, submit_job, cancel_job, job_status, send, call, RUNNER, CowboyError

@actor
class Requester:
    @public
    def init(self, msg):
        pass

    @public
    def ask(self, msg):
        self.storage["id"] = submit_job(msg.payload, "answer")
        return self.storage["id"]

    @public
    def tell(self, msg):
        self.storage["id"] = send(RUNNER, msg.payload)
        return self.storage["id"]

    @public
    def tell_handler(self, msg):
        try:
            send(RUNNER, msg.payload, "submit")
        except CowboyError as e:
            return str(e)

    @public
    def tell_value(self, msg):
        try:
            send(RUNNER, msg.payload, value=1)
        except CowboyError as e:
            return str(e)

    @public
    def attempt(self, msg):
        try:
            return submit_job(msg.payload)
        except CowboyError as e:
            return str(e)

    @public
    def status(self, msg):
        return job_status(msg.payload)

    @public
    def cancel(self, msg):
        return cancel_job(msg.payload)

    @public
    def both(self, msg):
        id = submit_job(msg.payload)
        return [job_status(id), cancel_job(id), cancel_job(id), job_status(id)]

    @public
    def answer(self, msg):
        self.storage["answer"] = msg.payload
`

func jobText(m ...any) []byte {
	b := cbor.AppendMap(nil, len(m)/2)
	for _, v := range m {
		switch v := v.(type) {
		case string:
			b = cbor.AppendText(b, v)
		case int:
			b = cbor.AppendUint(b, uint64(v))
		}
	}
	return b
}

// TestRequiredDomainsArePaid: an actor whose manifest names domains pays for each of them and
// each registered runner.
func TestRequiredDomainsArePaid(t *testing.T) {
	c := marketChain(t, rich(alice), rich(bob))
	c.engine = testEngine(t)
	grants := manifest.Grants{
		{ID: "http.fetch", Params: []manifest.Param{{Name: manifest.Domains, Kind: manifest.ParamList, List: []string{"a.com", "b.com"}}}},
		{ID: "oracle.llm"},
		{ID: "storage.kv"},
	}
	d := actor.Deployment{
		Source: []byte(requester), Salt: []byte{1}, Manifest: grants.Append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))); r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r.Receipts[0])
	}
	a := actor.AddressOf(alice, d.Salt, d.Source)
	c.give(a, 2*chain.WeiPerCBY)
	ask := func() chain.Cycles {
		r := c.ask(a, "ask", jobText("tip", 5, "type", "llm", "prompt", "p", "max_price", 1_000))
		if r.Code != chain.CodeOK {
			t.Fatalf("submit_job: %+v", r)
		}
		return r.CyclesUsed
	}
	ask() // the first one writes rows that the others write again
	nobody := ask()
	if r := c.runnerDoes(bob, 30*chain.WeiPerCBY, plainRegistration(0)); r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	if got := ask() - nobody; got != 20*(1+3)+2*20 { // found once and for each of three attempts, and two domains
		t.Errorf("one more registered runner costs %d cycles", got)
	}
}

// TestActorSubmitsAJob: the two ways in which a program asks runners, what they cost it, and
// how it takes a job back.
func TestActorSubmitsAJob(t *testing.T) { // resolutions 5.18, 11.36, 12.56-12.58
	c := marketChain(t, rich(alice), rich(bob))
	c.engine = testEngine(t)
	a := c.deployed(requester, 1, "storage.kv", "oracle.llm")
	c.give(a, 2*chain.WeiPerCBY)
	dict := jobText("tip", 5, "type", "llm", "prompt", "p", "max_price", 1_000)
	r := c.ask(a, "ask", dict)
	if r.Code != chain.CodeOK {
		t.Fatalf("submit_job: %+v", r)
	}
	id := chain.ActorJobID(a, 0, c.height)
	if !bytes.Equal(r.Output, cbor.AppendText(nil, id.String())) {
		t.Errorf("answer %q, want %s", r.Output, id)
	}
	if got := c.state.Balance(a); got != 2*chain.WeiPerCBY-1_005 {
		t.Errorf("the actor has %d", got)
	}
	spec, err := jobs.ReadSpec(c.state, id)
	if err != nil || spec.Callback.Actor != a || spec.Callback.Handler != "answer" || spec.Callback.CorrelationID == "" || spec.Submitter != a {
		t.Fatalf("%+v, %v", spec, err)
	}
	if data, ok := event(&r, jobs.EventSubmitted); !ok || !bytes.Contains(data, id[:]) {
		t.Errorf("events %+v", r.Events)
	}
	c.dispatcherBooks(id)
	text := cbor.AppendText(nil, id.String())
	// Nobody is registered, so the next block gives the escrow back and says so.
	r = c.ask(a, "cancel", text)
	if !bytes.Equal(r.Output, cbor.AppendBool(nil, false)) || c.state.Balance(a) != 2*chain.WeiPerCBY {
		t.Errorf("cancel after the draw %q of %d, balance %d", r.Output, r.Code, c.state.Balance(a))
	}
	if r := c.ask(a, "cancel", cbor.AppendText(nil, chain.Hash{1}.String())); !bytes.Equal(r.Output, cbor.AppendBool(nil, false)) {
		t.Errorf("cancel of no job: %q", r.Output)
	}
	if r := c.ask(a, "status", text); !bytes.Equal(r.Output, cbor.AppendText(nil, "failed")) {
		t.Errorf("status %q", r.Output)
	}
	if r := c.ask(a, "status", cbor.AppendText(nil, chain.Hash{1}.String())); !bytes.Equal(r.Output, cbor.AppendText(nil, "unknown")) {
		t.Errorf("status of no job %q", r.Output)
	}

	r = c.ask(a, "tell", jobText("type", "llm", "prompt", "p", "reply_handler", "answer"))
	second := chain.ActorJobID(a, 1, c.height)
	if r.Code != chain.CodeOK || !bytes.Equal(r.Output, cbor.AppendText(nil, second.String())) || len(r.Trace) != 0 {
		t.Fatalf("send(RUNNER): %+v", r)
	}
	if spec, err = jobs.ReadSpec(c.state, second); err != nil || spec.Callback.Handler != "answer" || spec.Callback.CorrelationID != second.String() || spec.MaxPrice != 100_000_000 {
		t.Errorf("%+v, %v", spec, err)
	}
	c.dispatcherBooks(id, second)
	for _, handler := range []string{"tell_handler", "tell_value"} {
		if r := c.ask(a, handler, dict); r.Code != chain.CodeOK || len(r.Output) < 10 {
			t.Errorf("%s: %+v", handler, r)
		}
	}
	want := cbor.AppendBool(cbor.AppendBool(cbor.AppendText(cbor.AppendArray(nil, 4), "pending"), true), false)
	before := c.state.Balance(a)
	if r := c.ask(a, "both", dict); !bytes.Equal(r.Output, cbor.AppendText(want, "cancelled")) {
		t.Errorf("submitted and taken back in a call: %+v", r)
	}
	if got := c.state.Balance(a); got != before {
		t.Errorf("balance %d, was %d", got, before)
	}
	c.dispatcherBooks(id, second)
}

// TestActorJobRefusals: what a program catches, and what ends it.
func TestActorJobRefusals(t *testing.T) {
	c := marketChain(t, rich(alice), rich(bob))
	c.engine = testEngine(t)
	a := c.deployed(requester, 1, "storage.kv", "oracle.llm")
	c.give(a, 999)
	for _, tt := range []struct {
		name string
		dict []byte
		text string
		code uint16
	}{
		{"too dear", jobText("type", "llm", "prompt", "p", "max_price", 1_000), "balance too small", chain.CodeOK},
		{"unknown key", jobText("type", "llm", "promt", "p", "prompt", "p"), "promt", chain.CodeOK},
		{"more tokens than the default, which are its bound", jobText("type", "llm", "prompt", "p", "max_price", 1, "max_tokens", 2_001), "0x", chain.CodeOK},
		{"no block", jobText("type", "llm", "prompt", "p", "max_price", 1, "timeout_blocks", 0), "timeout_blocks", chain.CodeOK},
		{"the other spelling of a kind that is not granted", jobText("url", "https://a.com", "type", "http"), "", chain.CodeNotEntitled},
		{"http", jobText("url", "https://a.com", "job_type", "http"), "", chain.CodeNotEntitled},
		{"mcp by name", jobText("tool", "t", "type", "mcp", "server", "search.example.com"), "", chain.CodeNotEntitled},
	} {
		r := c.ask(a, "attempt", tt.dict)
		if r.Code != tt.code || tt.code == chain.CodeOK && !bytes.Contains(r.Output, []byte(tt.text)) {
			t.Errorf("%s: %s, %q", tt.name, chain.CodeName(r.Code), r.Output)
		}
	}
	if r := c.ask(a, "ask", jobText("type", "llm", "prompt", "p", "max_price", 1)); r.Code != chain.CodeOK {
		t.Errorf("what it can pay: %s", chain.CodeName(r.Code))
	}
}

// TestJobInAHandlerThatFails: a job submitted before a handler fails never was, and the
// escrow is where it was.
func TestJobInAHandlerThatFails(t *testing.T) {
	c := marketChain(t, rich(alice), rich(bob))
	c.engine = testEngine(t)
	source := `
from cowboy_sdk import actor, public, submit_job

@actor
class Failing:
    @public
    def init(self, msg):
        pass

    @public
    def fail(self, msg):
        submit_job(msg.payload)
        raise ValueError("no")

    @public
    def starve(self, msg):
        while True:
            submit_job(msg.payload)
`
	a := c.deployed(source, 1, "oracle.llm")
	c.give(a, 10*chain.WeiPerCBY)
	for _, handler := range []string{"fail", "starve"} {
		r := c.ask(a, handler, jobText("type", "llm", "prompt", "p", "max_price", 1))
		if r.Code == chain.CodeOK || c.state.Balance(a) != 10*chain.WeiPerCBY || c.state.Balance(chain.AddrJobDispatcher) != 0 || len(r.Events) != 0 {
			t.Errorf("%s: %s, %d, %d", handler, chain.CodeName(r.Code), c.state.Balance(a), c.state.Balance(chain.AddrJobDispatcher))
		}
	}
	q, err := actor.ReadQuota(c.state, a)
	if err != nil || q.Jobs != 0 {
		t.Errorf("%d jobs, %v", q.Jobs, err)
	}
}
