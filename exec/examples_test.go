package exec_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	dispatcher "github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// asking is an example of the SDK on a chain with sixteen runners, which do what a test says.
type asking struct {
	*testChain
	keys map[chain.Address]*secp256k1.PrivateKey
	at   chain.Address
}

// silent stands for what a runner says that gives no sign.
const silent = "\x00"

// startAsking deploys an example as alice's.
func startAsking(t *testing.T, name, init string) *asking {
	t.Helper()
	source, err := os.ReadFile("../sdk/python/examples/" + name + ".py")
	if err != nil {
		t.Fatal(err)
	}
	return startSource(t, source, init)
}

// startSource deploys a program as alice's.
func startSource(t *testing.T, source []byte, init string) *asking {
	t.Helper()
	a := &asking{keys: map[chain.Address]*secp256k1.PrivateKey{}}
	allocations := []genesis.Allocation{rich(alice), rich(bob)}
	for n := byte(20); n < 36; n++ { // who was wrong or silent is not drawn again
		key, addr := keyed(t, n)
		a.keys[addr] = key
		allocations = append(allocations, rich(addr))
	}
	a.testChain = marketChain(t, allocations...)
	a.engine = testEngine(t)
	a.g.Params.Runner.HeartbeatTimeoutBlocks = 10_000
	card := &chain.RateCard{HTTPRequestBase: 10, LLMOutputToken: 1}
	can := &chain.Capabilities{JobTypes: []chain.JobKind{chain.JobLLM, chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 4}
	for addr, key := range a.keys {
		a.must(a.runnerTx(addr, 30*chain.WeiPerCBY, registerPayload(0, card, can, webAndModels(key, addr), "https://runner.example/")))
	}
	d := actor.Deployment{Source: source, Salt: []byte{1}, Manifest: manifestOf(exampleNeeds()...), Init: &actor.Init{Handler: "init", Payload: value(t, init)}}
	tx := a.program(alice, nil, actor.AppendPayload(nil, &d)).Tx
	tx.CellsLimit = min(tx.CellsLimit+chain.Cells(len(source)), a.g.Params.MaxTxCells)
	a.must(verified(tx, alice))
	a.at = actor.AddressOf(alice, d.Salt, d.Source)
	a.give(a.at, 100*chain.WeiPerCBY)
	return a
}

// exampleNeeds are the entitlements of all the examples.
func exampleNeeds() manifest.Grants {
	return manifest.Grants{
		{ID: manifest.HoldBalance},
		{ID: "http.fetch", Params: []manifest.Param{{Name: manifest.Domains, Kind: manifest.ParamList, List: []string{"api.example.org", "disclosures.example.org", "weather.example.org"}}}},
		{ID: manifest.LLM},
		{ID: "storage.kv"},
		{ID: "timer.schedule"},
	}
}

// webAndModels attests all that the examples ask of runners.
func webAndModels(key *secp256k1.PrivateKey, by chain.Address) []byte {
	grants := manifest.Grants{
		{ID: "http.fetch", Params: []manifest.Param{{Name: manifest.Domains, Kind: manifest.ParamList, List: []string{"*"}}}}, {ID: manifest.LLM},
	}
	a := &chain.RunnerAttestation{Runner: by, Capabilities: grants.Append(nil), ValidUntil: 1 << 40}
	sig := key.Sign(a.Digest())
	copy(a.Signature[:], sig.R[:])
	copy(a.Signature[32:], sig.S[:])
	a.Signature[64] = sig.YParity
	return a.Encode()
}

// must puts one transaction into a block, which has to succeed.
func (a *asking) must(tx *chain.VerifiedTx) chain.Receipt {
	a.t.Helper()
	r := a.block(tx).Receipts[0]
	if r.Code != chain.CodeOK {
		a.t.Fatalf("%s %q", chain.CodeName(r.Code), r.Output)
	}
	return r
}

// asks has the actor ask for work; its job is the n-th of the actor's.
func (a *asking) asks(handler, arg string, n uint64) chain.Hash {
	a.t.Helper()
	a.does(handler, arg)
	id := chain.ActorJobID(a.at, n, a.height)
	a.job(id)
	return id
}

// does has alice send a message, which has to succeed, and returns the answer as JSON with the
// names of dicts in ascending order.
func (a *asking) does(handler, arg string) string {
	a.t.Helper()
	tx := a.program(alice, &a.at, actor.AppendMessage(nil, handler, value(a.t, arg))).Tx
	tx.CyclesLimit, tx.CellsLimit = 2_000_000, 200_000 // a job's answers are paid ahead
	r := a.must(verified(tx, alice))
	decoder, err := cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode()
	if err != nil {
		a.t.Fatal(err)
	}
	var out any
	if err := decoder.Unmarshal(r.Output, &out); err != nil {
		a.t.Fatal(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(text)
}

// says holds what a handler answers to what it should.
func (a *asking) says(handler, arg, want string) {
	a.t.Helper()
	if got := a.does(handler, arg); got != want {
		a.t.Errorf("%s: %s, want %s", handler, got, want)
	}
}

// refused has somebody send a message, which has to fail.
func (a *asking) refused(by chain.Address, handler, arg string) {
	a.t.Helper()
	if r := a.block(a.program(by, &a.at, actor.AppendMessage(nil, handler, value(a.t, arg)))).Receipts[0]; r.Code != chain.CodeNotCallable && r.Code != chain.CodeReverted {
		a.t.Errorf("%s from %s: %s", handler, by, chain.CodeName(r.Code))
	}
}

// value is one of Python's, written as JSON; {"$bytes": "..."} are bytes in hex.
func value(t testing.TB, document string) []byte {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(document))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := mode.Marshal(ofJSON(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ofJSON has integers and bytes where JSON has its own forms of them.
func ofJSON(t testing.TB, v any) any {
	t.Helper()
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			t.Fatal(err)
		}
		return n
	case map[string]any:
		if text, ok := v["$bytes"].(string); ok {
			b, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for name, item := range v {
			v[name] = ofJSON(t, item)
		}
	}
	return v
}

// settle lets the runners of a job do it, in the order of their seats, and goes on to the
// answer. It returns the receipts of the block behind the verdict.
func (a *asking) settle(id chain.Hash, say ...string) []chain.Receipt {
	a.t.Helper()
	a.until(id, dispatcher.Assigned)
	seats, err := dispatcher.ReadSeats(a.state, id, 0)
	if err != nil || len(seats) != len(say) {
		a.t.Fatalf("%d seats for %d runners, %v", len(seats), len(say), err)
	}
	if len(say) > 1 {
		for n, s := range seats {
			if say[n] != silent {
				shown := a.result(id, s.Runner, say[n])
				q := &chain.ResultCommit{JobID: id, Commitment: chain.ResultCommitment(shown.Result, shown.RunnerSig)}
				a.must(a.program(s.Runner, &chain.AddrResultVerifier, chain.EncodeRequest(q)))
			}
		}
		for a.height < a.job(id).GatherUntil && a.job(id).Outcome == dispatcher.Open {
			a.block()
		}
	}
	for n, s := range seats {
		if say[n] != silent {
			tx := a.program(s.Runner, &chain.AddrResultVerifier, chain.EncodeRequest(a.result(id, s.Runner, say[n]))).Tx
			tx.CellsLimit = max(tx.CellsLimit, chain.Cells(3*len(say[n])))
			a.must(verified(tx, s.Runner))
		}
	}
	for a.job(id).Outcome == dispatcher.Open {
		a.block()
	}
	return a.block().Receipts
}

// settled settles a job, which has to end so, and whose answer the actor has to take.
func (a *asking) settled(id chain.Hash, want dispatcher.Outcome, say ...string) {
	a.t.Helper()
	told := a.settle(id, say...)
	if got := a.job(id).Outcome; got != want {
		a.t.Errorf("the outcome is %d, want %d", got, want)
	}
	if len(told) != 1 || told[0].Code != chain.CodeOK {
		a.t.Errorf("the answer: %+v", told)
	}
}

// until makes blocks until a job is in a phase.
func (a *asking) until(id chain.Hash, phase dispatcher.Phase) {
	a.t.Helper()
	for range 300 {
		if a.job(id).Phase == phase {
			return
		}
		a.block()
	}
	a.t.Fatalf("the job never gets there: %+v", a.job(id))
}

// result is a runner's, with its signature.
func (a *asking) result(id chain.Hash, by chain.Address, data string) *chain.ResultReveal {
	r := &chain.RunnerResult{Version: chain.RunnerResultVersion, Data: []byte(data)}
	switch a.job(id).Kind {
	case chain.JobHTTP:
		r.Usage = chain.RunnerUsage{WallMillis: 1, Requests: 1}
		r.Source = &chain.ResultSource{URL: "https://api.example.org/", Status: 200}
	default:
		r.Usage = chain.RunnerUsage{WallMillis: 1, InputTokens: 1, OutputTokens: 1}
	}
	q := &chain.ResultReveal{JobID: id, Result: r.Encode()}
	s := a.keys[by].Sign(chain.ResultDigest(a.g.ChainID, id, q.Result))
	copy(q.RunnerSig[:32], s.R[:])
	copy(q.RunnerSig[32:64], s.S[:])
	q.RunnerSig[64] = s.YParity
	return q
}
