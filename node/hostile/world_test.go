package hostile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
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
	genesis   *chain.Genesis
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
	proposal chain.Hash    // by mallory's friend bob, approved by nobody else
}

func newWorld(t testing.TB) *world { return newWorldUnder(t, func(*chain.Params) {}) }

// newWorldUnder is a world with other parameters.
func newWorldUnder(t testing.TB, change func(*chain.Params)) *world {
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
	cfg.Validators = w.genesis.Validators
	return cfg
}

func testGenesis(t testing.TB) *chain.Genesis {
	t.Helper()
	g := chain.DevnetGenesisTemplate()
	p := &g.Params
	p.Machine = chain.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	p.Governance.Members, p.Governance.Threshold, p.Governance.Seats = []chain.Address{alice, bob}, 2, 2
	p.Runner.RehearsalEnabled = true
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
	var rich []chain.Allocation
	for _, a := range []chain.Address{alice, bob, mallory} {
		rich = append(rich, chain.Allocation{Name: "rich", Address: a, Amount: 10_000 * chain.WeiPerCBY})
	}
	if err := g.Complete(set, points[0], points, rich, 1); err != nil {
		t.Fatal(err)
	}
	return g
}

// furnish makes what the instructions act on.
func (w *world) furnish() {
	d := actor.Deployment{Source: []byte(program), Salt: []byte{1}, Manifest: entitle.Manifest("econ.hold_balance", "storage.kv", "timer.schedule")}
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
	w.must(w.message(alice, "go"))
}

// setting is an action of governance.
var setting = join(cbor.AppendArray(nil, 3), text("set_param"), text("intrinsic_costs.transfer_cycles"), text("22000"))

var null = cbor.AppendNull(nil)

func text(s string) []byte    { return cbor.AppendText(nil, s) }
func bytesOf(b []byte) []byte { return cbor.AppendBytes(nil, b) }
func uintOf(n uint64) []byte  { return cbor.AppendUint(nil, n) }
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

// answer is what became of a transaction: a refusal or a receipt.
type answer struct {
	refused error
	receipt *chain.Receipt
}

func (a answer) String() string {
	if a.refused != nil {
		return "refused: " + a.refused.Error()
	}
	return chain.CodeName(a.receipt.Code)
}

// judge hands a transaction to the lanes, and to execution in each of its ways, and
// holds them to one answer and the answer to the rules.
func (w *world) judge(tx *chain.VerifiedTx) (answer, error) {
	admitted := w.lanes.Admit(context.Background(), []*chain.VerifiedTx{tx})[0]
	if admitted == nil {
		if err := w.lanes.Discard(context.Background(), []chain.Hash{tx.Hash}); err != nil {
			return answer{}, err
		}
	}
	r, err := exec.Apply(w.state, w.inputs(), []*chain.VerifiedTx{tx})
	want := render(r, err)
	for i, x := range w.executors {
		if got := render(x.Apply(w.state, w.inputs(), []*chain.VerifiedTx{tx})); got != want {
			return answer{}, fmt.Errorf("executor %d: %s, want %s", i, got, want)
		}
	}
	var invalid *exec.InvalidTx
	switch {
	case errors.As(err, &invalid):
		return answer{refused: invalid.Err}, sameReason(admitted, invalid.Err)
	case err != nil:
		return answer{}, err
	case admitted != nil:
		return answer{}, fmt.Errorf("lanes refuse what a block takes: %w", admitted)
	}
	a := answer{receipt: &r.Receipts[0]}
	if err := w.conserves(&r); err != nil {
		return a, err
	}
	if a.receipt.Code != chain.CodeOK {
		return a, w.paidOnly(tx, &r)
	}
	return a, nil
}

// sameReason wants lanes to refuse for the reason for which a block does. A nonce is
// named by two types: to the pool one that is ahead is welcome.
func sameReason(admitted, invalid error) error {
	var low *lanes.NonceTooLowError
	switch {
	case admitted == nil && exec.MayPass(invalid):
		return nil
	case admitted == nil:
		return fmt.Errorf("lanes take what no block takes: %w", invalid)
	case errors.As(admitted, &low), admitted.Error() == invalid.Error():
		return nil
	}
	return fmt.Errorf("lanes: %w; block: %w", admitted, invalid)
}

// render writes out what all ways of execution must agree on.
func render(r exec.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	for i := range r.Receipts {
		fmt.Fprintf(&s, "%x\n", r.Receipts[i].Encode())
	}
	fmt.Fprintln(&s, r.Used, r.Burned, r.Issued, r.Tips)
	for _, c := range r.Delta.Accounts() {
		fmt.Fprintln(&s, c.Address, c.Cleared, c.Account)
		for _, e := range c.Storage {
			fmt.Fprintf(&s, "  %q %v %x\n", e.Key, e.Value == nil, e.Value)
		}
	}
	return s.String()
}

// conserves holds the balances that a block changes to what it issued and burned.
func (w *world) conserves(r *exec.Result) error {
	gained := int64(0)
	for _, c := range r.Delta.Accounts() {
		if c.Account == nil {
			continue
		}
		before, _, err := w.state.Account(c.Address)
		if err != nil {
			return err
		}
		gained += int64(c.Account.Balance) - int64(before.Balance)
	}
	if want := int64(r.Issued) - int64(r.Burned); gained != want {
		return fmt.Errorf("balances grew by %d, want %d", gained, want)
	}
	return nil
}

// place is an account, or an entry of its storage.
type place struct {
	addr chain.Address
	key  state.StorageKey
}

// wrote returns the places that a block writes.
func (w *world) wrote(r exec.Result) map[place]bool {
	out := map[place]bool{}
	for _, c := range r.Delta.Accounts() {
		if c.Account != nil || c.Cleared {
			out[place{addr: c.Address}] = true
		}
		for _, e := range c.Storage {
			out[place{c.Address, e.Key}] = true
		}
	}
	return out
}

// paidOnly wants a failed transaction to have changed its sender's nonce and
// balance, what the block changes anyway, and what the actor may use in the block.
func (w *world) paidOnly(tx *chain.VerifiedTx, r *exec.Result) error {
	receipt := &r.Receipts[0]
	for at := range w.wrote(*r) {
		ledger := at.addr == chain.AddrActors && strings.Contains(string(at.key), "ledger")
		if at != (place{addr: tx.Sender}) && !w.idle[at] && !ledger {
			return fmt.Errorf("%s wrote %s %q", chain.CodeName(receipt.Code), at.addr, at.key)
		}
	}
	if len(receipt.Output) > 0 {
		return fmt.Errorf("%s has an answer", chain.CodeName(receipt.Code))
	}
	before, after, err := w.balance(tx.Sender, r)
	if err != nil {
		return err
	}
	if tx.Sender == alice {
		before += w.wage
	}
	if after != before-receipt.Fee {
		return fmt.Errorf("sender had %d and has %d, the fee is %d", before, after, receipt.Fee)
	}
	return nil
}

// balance returns the balance of an account before and after a block.
func (w *world) balance(addr chain.Address, r *exec.Result) (before, after chain.Wei, err error) {
	a, _, err := w.state.Account(addr)
	before, after = a.Balance, a.Balance
	for _, c := range r.Delta.Accounts() {
		if c.Address == addr && c.Account != nil {
			after = c.Account.Balance
		}
	}
	return before, after, err
}
