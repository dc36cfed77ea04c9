package exec_test

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	dispatcher "github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
)

// asked puts a job on the chain as its submission in the next block does.
func (c *testChain) asked(id chain.Hash, by chain.Address, pool string) {
	c.t.Helper()
	h := c.height + 1
	const price = 1_000
	spec := &chain.JobSpec{
		JobID: id, JobType: &chain.HTTPJob{URL: "https://example.com/"}, MaxPrice: price, TimeoutBlocks: 30, Submitter: by, SubmittedAt: h,
		Verification: chain.Verification{Runners: 1, Threshold: 1},
	}
	if pool != "" {
		spec.RequiredRunnerPool = []byte(pool)
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, ResultSchema: chain.ResultSchema{MaxReturnBytes: 1, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
		JudgeSteps: chain.MinJudgeSteps,
	}
	c.put(func(o *state.Overlay) error {
		b := dispatcher.Book{State: o, Params: &c.g.Params, Height: h}
		b.Put(id, &dispatcher.Job{
			Submitter: by, SubmittedAt: h, Kind: chain.JobHTTP, Runners: 1, Threshold: 1, MaxPrice: price, Held: price, TimeoutBlocks: 30,
			SpecHash: spec.SpecHash(), TermsHash: terms.TermsHash(), Attempts: uint8(c.g.Params.Job.MaxRetries),
		})
		o.SetStorage(chain.AddrJobDispatcher, dispatcher.SpecKey(id), spec.Encode())
		o.SetStorage(chain.AddrJobDispatcher, dispatcher.TermsKey(id), terms.Encode())
		o.SetStorage(chain.AddrJobDispatcher, dispatcher.AtKey(dispatcher.TableFresh, h, id), []byte{})
		o.SetStorage(chain.AddrJobDispatcher, dispatcher.AtKey(dispatcher.TableLive, h, id), []byte{})
		return funds.Move(o, by, chain.AddrJobDispatcher, price, h)
	})
}

func (c *testChain) job(id chain.Hash) *dispatcher.Job {
	c.t.Helper()
	j, err := dispatcher.Read(c.state, id)
	if err != nil || j == nil {
		c.t.Fatalf("job %s: %v, %v", id, j, err)
	}
	return j
}

// candidates are the runners of a job's snapshot.
func (c *testChain) candidates(id chain.Hash) (out []chain.Address) {
	c.t.Helper()
	s, ok, err := dispatcher.Candidates(c.state, id, c.job(id))
	if err != nil || !ok {
		c.t.Fatalf("candidates of %s: %v, %v", id, ok, err)
	}
	for _, r := range s.Candidates() {
		out = append(out, r.Runner)
	}
	return out
}

// hunters is a chain with three runners, of whom key's attests what an actor of the web
// asks for, and Bob is a member of a pool.
func hunters(t *testing.T) (c *testChain, attesting chain.Address) {
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 7))
	if err != nil {
		t.Fatal(err)
	}
	attesting = chain.Address(key.PublicKey().Address())
	c = marketChain(t, rich(alice), rich(bob), rich(attesting))
	c.engine = testEngine(t)
	card, can := offered()
	c.hired(alice, registerPayload(0, card, can, nil, "https://runner.example/"))
	c.hired(bob, registerPayload(0, card, can, nil, "https://runner.example/"))
	c.hired(attesting, registerPayload(0, card, can, attested(key, attesting, 1<<40, manifest.LLM).Encode(), "https://runner.example/"))
	if r := c.registry(alice, grantPayload(bob, euPool, euJoin, entitlements.Constraints{})); r.Code != chain.CodeOK {
		t.Fatalf("grant: %s", chain.CodeName(r.Code))
	}
	c.g.Params.Runner.HeartbeatTimeoutBlocks = 1 << 20
	return c, attesting
}

func (c *testChain) hired(a chain.Address, payload []byte) {
	c.t.Helper()
	if r := c.runnerDoes(a, 30*chain.WeiPerCBY, payload); r.Code != chain.CodeOK {
		c.t.Fatalf("register: %s", chain.CodeName(r.Code))
	}
}

// TestWhoMayWork: jobs of one block, each with other candidates, drawn in the next one; one
// whose submitter may not ask any more is given back.
func TestWhoMayWork(t *testing.T) { // E12, E26, R3, R4
	c, attesting := hunters(t)
	web := c.deployed(worker, 1, manifest.LLM, manifest.HoldBalance)
	plain := c.deployed(worker, 2, manifest.HoldBalance)
	c.give(web, 10_000)
	c.give(plain, 10_000)
	ids := []chain.Hash{{1}, {2}, {3}, {4}}
	c.asked(ids[0], alice, "")
	c.asked(ids[1], alice, "eu")
	c.asked(ids[2], web, "")
	c.asked(ids[3], plain, "")
	c.block()
	everybody := slices.SortedFunc(slices.Values([]chain.Address{alice, bob, attesting}), func(a, b chain.Address) int { return slices.Compare(a[:], b[:]) })
	for i, want := range [][]chain.Address{everybody, {bob}, {attesting}, everybody} {
		if got := c.candidates(ids[i]); !slices.Equal(got, want) {
			t.Errorf("job %d: candidates %v, want %v", i, got, want)
		}
	}
	c.g.Params.Entitlements.Deprecated = []params.Deprecation{{ID: manifest.LLM, From: 1, Last: c.height}}
	before := c.state.Balance(web)
	c.block()
	for i, id := range ids {
		want := dispatcher.Assigned
		if i == 2 {
			want = dispatcher.Ended
		}
		if j := c.job(id); j.Phase != want {
			t.Errorf("job %d is in phase %d, want %d", i, j.Phase, want)
		}
	}
	if j := c.job(ids[2]); j.Outcome != dispatcher.Cancelled || j.Held != 0 || c.state.Balance(web) != before+1_000 {
		t.Errorf("the job of who may not ask: %+v, balance %d", j, c.state.Balance(web))
	}
	if r := c.runner(bob); r.Active == 0 {
		t.Error("the only member of the pool has no work")
	}
	for range 100 { // three attempts in silence
		c.block()
	}
	for i, id := range ids {
		if j := c.job(id); j.Phase != dispatcher.Ended || i != 2 && j.Outcome != dispatcher.Timeout {
			t.Errorf("job %d at last: %+v", i, j)
		}
	}
	if held := c.state.Balance(chain.AddrJobDispatcher); held != 0 {
		t.Errorf("%d are left in escrow", held)
	}
}

// TestSeedsOfDraws: with the hash of the submission block, or the randomness of its round,
// one block behind it; with its parent's hash at once.
func TestSeedsOfDraws(t *testing.T) { // R6; resolutions 11.9, 12.83
	for _, way := range []string{params.SelectionSeedSubmission, params.SelectionSeedBeacon, params.SelectionSeedParent} {
		c, _ := hunters(t)
		c.g.Params.Job.SelectionSeed = way
		id := chain.Hash{9}
		c.asked(id, alice, "")
		submitted := c.height + 1
		next := func(n byte) exec.Inputs {
			in := c.inputs()
			in.ParentHash, in.ParentBeacon = chain.Hash{n}, chain.Hash{n, n}
			return in
		}
		var drawn chain.Height
		for n := byte(1); n <= 2; n++ {
			r, err := exec.Apply(c.state, next(n), nil)
			if err != nil {
				t.Fatal(err)
			}
			c.state = c.state.With(r.Delta)
			c.height++
			if c.job(id).Phase == dispatcher.Assigned && drawn == 0 {
				drawn = c.height
			}
		}
		seed, at := chain.Hash{2}, submitted+1
		switch way {
		case params.SelectionSeedBeacon:
			seed = chain.Hash{2, 2}
		case params.SelectionSeedParent:
			seed, at = chain.Hash{1}, submitted
		}
		if j := c.job(id); j.Seed != chain.SelectionSeedV2(seed, id, submitted) || drawn != at || j.AssignedAt != at || j.Deadline != submitted+30 {
			t.Errorf("%s: drawn in block %d, want %d: %+v", way, drawn, at, j)
		}
	}
}
