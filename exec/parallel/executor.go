package parallel

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// Executor executes blocks. It serves one goroutine: the caller's, which is also the first
// worker. Between blocks nothing of it runs; engines, memory, blames and spare executions
// are its own from New on. A panic of a transaction's final execution is passed on to the
// caller.
type Executor struct {
	cfg     Config
	engines []*pvm.Engine
	memory  *memory
	grants  *manifests
	market  *jobs.Memo
	blames  *blames
	spare   [][]*execution // of each worker
	stats   Stats
	shake   func() // called where goroutines may meet, by tests; or nil
}

// New returns an executor with one engine for each worker, which are its own from
// then on.
func New(cfg Config, engines []*pvm.Engine) (*Executor, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if len(engines) != cfg.Workers {
		return nil, fmt.Errorf("%w: %d, with %d engines", ErrWorkers, cfg.Workers, len(engines))
	}
	return &Executor{cfg: cfg, engines: engines, memory: newMemory(), grants: &manifests{memo: manifest.NewMemo(manifest.CacheBytes)}, market: jobs.NewMemo(), blames: newBlames(), spare: make([][]*execution, cfg.Workers)}, nil
}

// Stats returns what was done so far.
func (x *Executor) Stats() Stats { return x.stats }

// Apply is [exec.Apply], with the engines of the executor.
func (x *Executor) Apply(view state.View, in exec.Inputs, txs []*chain.VerifiedTx) (exec.Result, error) {
	x.beginBlock(&in)
	mode := x.choose(txs)
	if mode == Sequential {
		return exec.Apply(view, in, txs)
	}
	s, err := exec.Begin(view, in, len(txs))
	if err != nil {
		return exec.Result{}, err
	}
	committed, err := x.beside(mode, s, txs, nil)
	if err != nil {
		return exec.Result{}, err
	}
	began := x.now()
	for i := committed; i < len(txs); i++ {
		if err := s.Transact(i, txs[i]); err != nil {
			return exec.Result{}, err
		}
	}
	left := x.now()
	result, err := s.Finish()
	x.stats.RunNanos += left - began // of those that were left, one by one
	x.stats.FinishNanos += x.now() - left
	return result, err
}

// OpenBlock is [exec.Begin] with an engine of the executor, for whoever packs the block. Nothing
// runs in it.
func (x *Executor) OpenBlock(view state.View, in exec.Inputs) (*exec.Steps, error) {
	in.Engine, in.Manifests, in.Market = x.engines[0], x.grants, x.market
	return exec.Begin(view, in, 0)
}

// beginBlock begins a block.
func (x *Executor) beginBlock(in *exec.Inputs) {
	x.stats.Blocks++
	x.blames.block++
	in.Engine, in.Manifests, in.Market = x.engines[0], x.grants, x.market
}

// Build is [exec.Build], with the engines of the executor. Overcommitted transactions are
// executed at their commit index, as what one has an actor do the next has to know.
func (x *Executor) Build(view state.View, in exec.Inputs, sel *order.Selection, watch exec.Watch) (exec.Built, error) {
	x.beginBlock(&in)
	mode := x.choose(sel.Txs)
	if mode == Sequential {
		return exec.Build(view, in, sel, watch)
	}
	s, err := exec.Begin(view, in, len(sel.Txs))
	if err != nil {
		return exec.Built{}, err
	}
	v := s.Builder(sel, watch)
	committed, err := x.beside(mode, s, sel.Txs, &builder{v, sel, watch})
	if err != nil {
		return exec.Built{}, err
	}
	began := x.now()
	if err := v.From(committed); err != nil {
		return exec.Built{}, err
	}
	left := x.now()
	out, err := v.Finish()
	x.stats.RunNanos += left - began
	x.stats.FinishNanos += x.now() - left
	return out, err
}

// beside executes transactions in parallel, from the first on, and returns how many were
// committed: all, unless too much had to be executed again, or the proposer's time was over.
// Their writes are in the state of s then, as if they had been executed one by one.
func (x *Executor) beside(mode Mode, s *exec.Steps, txs []*chain.VerifiedTx, v *builder) (int, error) {
	began := x.now()
	r := x.prepareRun(mode, s, txs)
	r.builder = v
	x.stats.PrepareNanos += x.now() - began
	r.all()
	x.countRun(r)
	if r.panicked != nil {
		panic(r.panicked)
	}
	if r.err != nil {
		return 0, r.err
	}
	began = x.now()
	if err := r.committed.merge(); err != nil {
		return 0, &exec.Fault{Doing: "merge writes", Err: err}
	}
	x.stats.FinishNanos += x.now() - began
	if r.late {
		r.leaveOutRest()
	}
	return r.commitIndex, nil
}

func (x *Executor) now() uint64 {
	if x.cfg.Clock == nil {
		return 0
	}
	return x.cfg.Clock()
}

// Windows: how many transactions for each worker executions run ahead of the commit
// index. With a plan a worker may look far for work; without one what is far ahead
// would mostly read what is stale.
const (
	windowPlanned    = 64
	windowOptimistic = 8
)

// prepareRun prepares the run of a block.
func (x *Executor) prepareRun(mode Mode, s *exec.Steps, txs []*chain.VerifiedTx) *run {
	r := &run{
		mode: mode, txs: txs, jobs: make([]job, len(txs)), steps: s, committed: newCommitted(s.State(), len(txs)), warm: newWarm(s.Warm()),
		waiting: make([][]int, len(txs)), depth: make([]int32, len(txs)), waitsFor: make([]int32, len(txs)), alone: make([]bool, len(txs)), memory: x.memory, shake: x.shake, clock: x.cfg.Clock,
		window: windowOptimistic * x.cfg.Workers, heavy: heavy(txs),
	}
	r.pays, r.payments = payments(txs)
	for i, e := range x.engines {
		r.workers = append(r.workers, &worker{run: r, exec: s.Worker(e), engine: e, free: x.spare[i]})
	}
	if mode == Planned {
		r.window, r.plan = windowPlanned*x.cfg.Workers, newPlan(len(txs))
		for i, tx := range txs {
			if r.payments < len(txs) {
				r.jobs[i].footprint = foresee(tx)
			}
			r.alone[i] = x.blames.alone(culprit(tx))
		}
	}
	return r
}

// countRun adds up what a run did, and draws the lesson for Auto.
func (x *Executor) countRun(r *run) {
	s := &x.stats
	s.Parallel++
	s.Txs += uint64(r.commitIndex)
	s.Reexecuted += uint64(r.reexecuted)
	s.Mispredicted += uint64(r.mispredicted)
	s.Waited += uint64(r.waited)
	s.Alone += uint64(r.ranAlone)
	s.PlanNanos += r.planNanos
	for i, w := range r.workers {
		s.Executions += uint64(w.executions)
		s.RunNanos += w.runNanos
		s.CommitNanos += w.commitNanos
		x.spare[i] = w.free
	}
	if r.fallBack {
		s.Abandoned++
	}
	if r.mode == Planned {
		x.blames.updateCulprits(r)
	}
}

// choose picks the mode of a block.
func (x *Executor) choose(txs []*chain.VerifiedTx) Mode {
	if x.cfg.Mode != Auto {
		return x.cfg.Mode
	}
	if x.cfg.Workers == 1 || x.saved(txs) < leastSaved {
		return Sequential
	}
	return Planned
}

// What transactions take, in microseconds of one core (docs/performance/execution.md). A
// transfer costs less than to run it beside another.
const (
	costDeployment  = 80
	costMessage     = 25
	costInstruction = 8
	costBeside      = 3   // of a transaction's plan, recording and commit
	leastSaved      = 500 // for which it is worth to wake others
)

// saved estimates how many microseconds workers save: what of the block's work may be
// shared, but for what is before one target or of one sender and for what runs alone.
func (x *Executor) saved(txs []*chain.VerifiedTx) int {
	work, longest := 0, 0
	chains := map[chain.Address]int{} // work of each culprit and sender
	for _, tx := range txs {
		cost := costInstruction
		switch to := tx.Tx.To; {
		case len(tx.Tx.Payload) == 0:
			continue
		case to == nil:
			cost = costDeployment
		case !to.IsSystem():
			cost = costMessage
		}
		who := culprit(tx)
		if x.blames.alone(who) {
			continue
		}
		work += cost
		chains[who] += cost
		if who != tx.Sender {
			chains[tx.Sender] += cost
		}
		longest = max(longest, chains[who], chains[tx.Sender])
	}
	return work - max(work/x.cfg.Workers, longest) - len(txs)*costBeside
}

// heavy counts the transactions that do more than to pay.
func heavy(txs []*chain.VerifiedTx) (n int) {
	for _, tx := range txs {
		if len(tx.Tx.Payload) > 0 {
			n++
		}
	}
	return n
}
