package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
	"github.com/cowboy-foundation/cowboy/state/store"
)

const (
	chainID = 1
	// wealth is what each person begins with; all of them have less than the supply.
	wealth = 1_000_000 * chain.WeiPerCBY
	// limit is of cycles and of cells, and lets every transaction of this suite run.
	limit = 1 << 24
	seed  = 19
)

var proposer = chain.Address{0: 9, 19: 9}

// world is a chain in the shipping store, whose blocks have no bound but time.
type world struct {
	dir    string
	store  *store.Store
	params params.Params
	engine *pvm.Engine
	memo   *jobs.Memo
	people []*workload.Person
	nonces map[chain.Address]uint64
}

// newWorld is a chain at height 0 with rich people.
func newWorld(people int) (*world, error) {
	w := &world{params: params.Default(), memo: jobs.NewMemo(), nonces: map[chain.Address]uint64{}}
	p := &w.params
	p.CyclesTarget, p.CyclesCap, p.CellsTarget, p.CellsCap = 1<<50, 1<<50, 1<<50, 1<<50
	p.MaxTxCycles, p.MaxTxCells, p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = limit, limit, 1<<40, 1<<41
	p.Runner.ProbationSuccesses, p.Runner.HeartbeatTimeoutBlocks = 0, 1<<30
	p.Job.DuePerBlock, p.Job.JudgeStepsPerBlock = 1<<20, 1<<40
	var err error
	if w.people, err = workload.People(seed, people); err != nil {
		return nil, err
	}
	if w.engine, err = ledger.NewEngine(); err != nil {
		return nil, err
	}
	if w.dir, err = os.MkdirTemp("", "cowboy-bench-market-"); err != nil {
		return nil, err
	}
	if w.store, err = store.Open(w.dir, store.DefaultOptions()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(w.dir))
	}
	if err := w.store.Init(store.GenesisRecord{Hash: chain.Hash{1}, Delta: w.first()}); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// first gives the people their money, and the Treasury its record of the supply.
func (w *world) first() *state.Delta {
	o := state.NewOverlay(statetest.NewMaps(nil))
	for _, p := range w.people {
		a := state.NewAccount()
		a.Balance = wealth
		o.SetAccount(p.Address, a)
	}
	total := uint64(len(w.people)) * uint64(wealth)
	o.SetStorage(chain.AddrTreasury, state.NewStorageKey(state.VMNamespaceSystem, []byte("supply")), cbor.AppendUints(nil, total, 0, 0, 0, total))
	return o.Delta()
}

func (w *world) close() error { return errors.Join(w.store.Close(), os.RemoveAll(w.dir)) }

// inputs are those of the block behind a state.
func (w *world) inputs(v *store.Version) exec.Inputs {
	in := exec.Inputs{
		Params: &w.params, ChainID: chainID, Height: v.Height() + 1, TimestampMillis: 1_000 * (uint64(v.Height()) + 1), Proposer: proposer,
		Validators: []chain.Validator{{Stake: w.params.Staking.MinValidatorStake, RewardAddress: proposer}},
		Engine:     w.engine, Market: w.memo,
	}
	binary.BigEndian.PutUint64(in.ParentHash[:], uint64(v.Height()))
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

// block executes transactions on a state, all of which must succeed.
func (w *world) block(v *store.Version, txs []*chain.VerifiedTx) (exec.Result, error) {
	r, err := exec.Apply(v, w.inputs(v), txs)
	if err != nil {
		return r, err
	}
	for i := range txs {
		if code := r.Receipts[i].Code; code != chain.CodeOK {
			return r, fmt.Errorf("transaction %d of block %d: %s %q", i, v.Height()+1, chain.CodeName(code), r.Receipts[i].Output)
		}
	}
	return r, nil
}

// keep executes the next block and commits it.
func (w *world) keep(txs ...*chain.VerifiedTx) error {
	next, err := w.then(w.store.Head(), txs)
	if err != nil {
		return err
	}
	rec := store.BlockRecord{Height: next.Height()}
	binary.BigEndian.PutUint64(rec.Digest[:], uint64(rec.Height))
	return w.store.Commit(next, rec)
}

// then returns the state behind a block on v, root and all.
func (w *world) then(v *store.Version, txs []*chain.VerifiedTx) (*store.Version, error) {
	r, err := w.block(v, txs)
	if err != nil {
		return nil, err
	}
	return v.Apply(r.Delta)
}

// tx is the next transaction of a person.
func (w *world) tx(from chain.Address, to *chain.Address, value chain.Wei, payload []byte) *chain.VerifiedTx {
	tx := &chain.Tx{
		ChainID: chainID, Nonce: w.nonces[from], To: to, Value: value, Payload: payload,
		CyclesLimit: limit, CellsLimit: limit / 16, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1,
		Signature: &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}},
	}
	copy(tx.Signature.R[1:], from[:]) // what tells the transactions of two senders apart
	w.nonces[from]++
	v := &chain.VerifiedTx{Tx: tx, Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
		if ins.Lane == chain.LaneRunner && len(payload) == heartbeatBytes {
			tx.CyclesLimit, tx.CellsLimit = w.params.Intrinsic.HeartbeatCycles, heartbeatBytes
		}
	}
	v.Body = tx.Encode()
	v.Hash = chain.TxHash(v.Body)
	return v
}

func (w *world) asks(from chain.Address, to chain.Address, value chain.Wei, q chain.Request) *chain.VerifiedTx {
	return w.tx(from, &to, value, chain.EncodeRequest(q))
}

// heartbeatBytes is how long the payload of a heartbeat is.
const heartbeatBytes = 2

// register makes runners of the first n people.
func (w *world) register(n int) error {
	q := &chain.RunnerRegister{
		RateCard: chain.RateCard{HTTPRequestBase: 1},
		Capabilities: chain.Capabilities{
			JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: chain.MaxConcurrentJobs,
		},
	}
	var txs []*chain.VerifiedTx
	for _, p := range w.people[:n] {
		txs = append(txs, w.asks(p.Address, chain.AddrRunnerRegistry, w.params.Runner.StakeFloor, q))
	}
	return w.keep(txs...)
}
