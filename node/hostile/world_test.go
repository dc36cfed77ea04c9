package hostile

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// The people of the world. Alice may send everything: she is a validator and in
// governance, and the actor and the token are hers.
var (
	alice    = chain.Address{0: 0xa1}
	bob      = chain.Address{0: 0xb0}
	mallory  = chain.Address{0: 0xee} // has money and no role
	proposer = chain.Address{0: 0xdd}
)

const program = `
from cowboy_sdk import actor, public, emit_event

@actor
class Target:
    @public
    def go(self, msg):
        self.storage["n"] = self.storage.get("n", 0) + 1
        emit_event("went", self.storage["n"])
        return self.storage["n"]

    def tick(self, msg):
        self.storage["n"] = 0
`

// world is a state in which every instruction has something to act on.
type world struct {
	t         testing.TB
	genesis   *genesis.Genesis
	store     *store.Store
	state     *store.Version // its head
	height    chain.Height
	engines   []*pvm.Engine // the last is for sequential execution
	executors []*parallel.Executor
	lanes     *lanes.Lanes
	idle      map[place]bool // what a block without transactions writes
	wage      chain.Wei      // what such a block pays alice

	nonces   map[chain.Address]uint64
	target   chain.Address // actor of alice
	token    token.ID      // of alice
	timer    chain.Hash    // of the actor
	job      chain.Hash    // of bob's, for alice to do
	proposal chain.Hash    // by mallory's friend bob, approved by nobody else
}

func newWorld(t testing.TB) *world { return newWorldUnder(t, func(*params.Params) {}) }

// newWorldUnder is a world with other parameters.
func newWorldUnder(t testing.TB, change func(*params.Params)) *world {
	t.Helper()
	w := &world{t: t, genesis: testGenesis(t), nonces: map[chain.Address]uint64{}}
	if change(&w.genesis.Params); w.genesis.Params.Check() != nil {
		t.Fatal(w.genesis.Params.Check())
	}
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		w.engines = append(w.engines, pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits()))
	}
	for i, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
		x, err := parallel.New(parallel.Config{Mode: mode, Workers: 2}, w.engines[2*i:2*i+2])
		if err != nil {
			t.Fatal(err)
		}
		w.executors = append(w.executors, x)
	}
	s, err := store.Open(t.TempDir(), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := exec.GenesisDelta(w.genesis)
	if err == nil {
		w.furnishJob(d)
		err = s.Init(store.GenesisRecord{Hash: chain.Hash{1}, Delta: d})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.store, w.state = s, s.Head()
	w.furnish()
	if w.lanes, err = lanes.New(w.lanesConfig(), &w.genesis.Params, w.genesis.ChainID, lanes.FinalizedHead{Height: w.height, View: w.state, BaseFees: w.inputs().BaseFees}); err != nil {
		t.Fatal(err)
	}
	nothing := w.mustApply()
	w.idle = w.wrote(nothing)
	before, after, err := w.balance(alice, &nothing)
	if err != nil {
		t.Fatal(err)
	}
	w.wage = after - before
	return w
}

func (w *world) lanesConfig() lanes.Config {
	cfg := lanes.DefaultConfig()
	cfg.Epochs = epoch.Of(w.genesis)
	return cfg
}

func testGenesis(t testing.TB) *genesis.Genesis {
	t.Helper()
	g := genesis.DevnetTemplate()
	p := &g.Params
	p.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	p.Governance.Members, p.Governance.Threshold, p.Governance.Seats = []chain.Address{alice, bob}, 2, 2
	set := make([]chain.Validator, 2)
	for i := range set {
		set[i] = chain.Validator{
			PeerKey: chain.PeerKey{0: byte(i + 1)}, ShareIndex: uint32(i),
			BLSKey: [96]byte{0: 0x80, 95: byte(i + 1)}, BLSPossession: [48]byte{0: 0x80}, PublicShare: [96]byte{0: 0x80},
			Stake: 50_000 * chain.WeiPerCBY, RewardAddress: []chain.Address{alice, proposer}[i],
		}
	}
	points := make([][96]byte, chain.Quorum(len(set)))
	for i := range points {
		points[i][0] = 0x80
	}
	var rich []genesis.Allocation
	for _, a := range []chain.Address{alice, bob, mallory} {
		rich = append(rich, genesis.Allocation{Name: "rich", Address: a, Amount: 10_000 * chain.WeiPerCBY})
	}
	if err := g.Complete(set, points[0], points, rich, 1); err != nil {
		t.Fatal(err)
	}
	return g
}

// furnishJob writes a job for which alice was drawn alone, long before her registration. It
// was never handed to her (of/), so nothing of the registry changes when she is done.
func (w *world) furnishJob(d *state.Delta) {
	w.job = chain.Hash{0: 0x0b}
	spec := &chain.JobSpec{
		JobID: w.job, JobType: &chain.HTTPJob{URL: "https://a.example/", Method: "GET"}, Submitter: bob, TimeoutBlocks: 1 << 40,
		Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1}, Verification: chain.Verification{Runners: 1, Threshold: 1},
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, JudgeSteps: chain.MinJudgeSteps,
		ResultSchema: chain.ResultSchema{MaxReturnBytes: 100, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
	}
	j := &jobs.Job{
		Submitter: bob, Kind: chain.JobHTTP, Phase: jobs.Assigned, Runners: 1, Threshold: 1, TimeoutBlocks: 1 << 40, AssignedAt: 1,
		Deadline: 1 << 40, CommitBy: 1 << 40,
	}
	for key, row := range map[state.StorageKey][]byte{
		jobs.JobKey(w.job): j.Encode(), jobs.SpecKey(w.job): spec.Encode(), jobs.TermsKey(w.job): terms.Encode(),
		jobs.SeatKey(w.job, 0, 0): (&jobs.Seat{Runner: alice}).Encode(), jobs.WhoKey(w.job, alice): {0, 0},
	} {
		d.SetStorage(chain.AddrJobDispatcher, key, row)
	}
}

// furnish makes what the instructions act on.
func (w *world) furnish() {
	d := actor.Deployment{Source: []byte(program), Salt: []byte{1}, Manifest: manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule")}
	w.target = actor.AddressOf(alice, d.Salt, d.Source)
	w.must(w.tx(alice, nil, 100*chain.WeiPerCBY, actor.AppendPayload(nil, &d)))
	w.token = token.NewID(alice, "TOK", 0)
	w.must(w.instruct(alice, chain.AddrTokens, chain.OpTokenCreate, text("Token"), text("TOK"), uintOf(2), uintOf(1000), uintOf(2000), null))
	w.must(w.instruct(alice, chain.AddrTokens, chain.OpTokenTransfer, bytesOf(w.token[:]), bytesOf(bob[:]), uintOf(100)))
	w.must(w.instruct(bob, chain.AddrTokens, chain.OpTokenApprove, bytesOf(w.token[:]), bytesOf(alice[:]), uintOf(50)))
	w.must(w.instruct(alice, chain.AddrTokens, chain.OpTokenFreeze, bytesOf(w.token[:]), bytesOf(mallory[:])))
	out := w.must(w.instruct(alice, chain.AddrActors, chain.OpTimerSchedule, bytesOf(w.target[:]), uintOf(50_000), null, text("tick"), bytesOf(null)))
	w.timer = chain.Hash(out[2:])
	out = w.must(w.instruct(bob, chain.AddrGovernance, chain.OpGovernancePropose, setting, []byte{0xf4}))
	w.proposal = chain.Hash(out[2:])
	register := payload(chain.OpRunnerRegister, uintOf(0), new(chain.RateCard).Encode(), runnerCan(), null, text(""))
	registry := chain.AddrRunnerRegistry
	w.must(w.tx(alice, &registry, 2*w.genesis.Params.Runner.StakeFloor, register))
	w.must(w.message(alice, "go"))
}

// setting is an action of governance.
var setting = join(cbor.AppendArray(nil, 3), text("set_param"), text("intrinsic_costs.transfer_cycles"), text("22000"))

var null = cbor.AppendNull(nil)

func text(s string) []byte { return cbor.AppendText(nil, s) }

func bytesOf(b []byte) []byte { return cbor.AppendBytes(nil, b) }

func uintOf(n uint64) []byte { return cbor.AppendUint(nil, n) }

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// payload is [opcode, args…], or without an opcode [args…].
func payload(opcode uint64, args ...[]byte) []byte {
	if opcode == 0 {
		return join(append([][]byte{cbor.AppendArray(nil, len(args))}, args...)...)
	}
	return join(append([][]byte{cbor.AppendArray(nil, 1+len(args)), uintOf(opcode)}, args...)...)
}

// tx is a sender's next transaction, with limits that every lane has room for.
func (w *world) tx(from chain.Address, to *chain.Address, value chain.Wei, data []byte) *chain.VerifiedTx {
	return w.verified(from, chain.Tx{To: to, Value: value, Payload: data, Nonce: w.nonces[from], CyclesLimit: 450_000, CellsLimit: 20_000})
}

func (w *world) instruct(from, to chain.Address, opcode uint64, args ...[]byte) *chain.VerifiedTx {
	return w.tx(from, &to, 0, payload(opcode, args...))
}

func (w *world) message(from chain.Address, handler string) *chain.VerifiedTx {
	return w.tx(from, &w.target, 0, actor.AppendMessage(nil, handler, null))
}

// verified is a transaction as signature recovery hands it on.
func (w *world) verified(from chain.Address, tx chain.Tx) *chain.VerifiedTx {
	if tx.ChainID == 0 {
		tx.ChainID = w.genesis.ChainID
	}
	tx.MaxFeePerCycle, tx.MaxFeePerCell, tx.TipPerCycle = 10, 10, 2
	tx.Signature = &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}}
	body := tx.Encode()
	v := &chain.VerifiedTx{Tx: &tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
	}
	return v
}

func (w *world) inputs() exec.Inputs {
	in := exec.Inputs{
		Params: &w.genesis.Params, ChainID: w.genesis.ChainID, Height: w.height + 1, Proposer: proposer,
		Validators: w.genesis.Validators, Engine: w.engines[len(w.engines)-1],
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

func (w *world) mustApply(txs ...*chain.VerifiedTx) exec.Result {
	w.t.Helper()
	r, err := exec.Apply(w.state, w.inputs(), txs)
	if err != nil {
		w.t.Fatalf("height %d: %v", w.height+1, err)
	}
	return r
}

// must keeps a block of one transaction that succeeds and returns its output.
func (w *world) must(tx *chain.VerifiedTx) []byte {
	w.t.Helper()
	r := w.mustApply(tx)
	if r.Receipts[0].Code != chain.CodeOK {
		w.t.Fatalf("furnish: %s", chain.CodeName(r.Receipts[0].Code))
	}
	w.keep(&r, tx)
	return r.Receipts[0].Output
}

// keep commits a block.
func (w *world) keep(r *exec.Result, txs ...*chain.VerifiedTx) {
	w.t.Helper()
	next, err := w.state.Apply(r.Delta)
	if err == nil {
		w.height++
		err = w.store.Commit(next, store.BlockRecord{Height: w.height, Digest: keccak.Sum256(fmt.Append(nil, w.height)), Block: []byte{1}})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.state = next
	for _, tx := range txs {
		w.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
}
