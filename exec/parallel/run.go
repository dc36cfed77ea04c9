package parallel

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// run is the transactions of one block under way.
//
// The first fields are set before the workers start and not changed. Then follow those
// under mu, the commit index among them, and those of the commit role. The role is a
// second, longer critical section: a worker takes it by setting committing under mu, works
// without mu, and gives it back under mu, so that all it wrote happens before whoever takes
// it next. The transactions in front of the commit index are committed, in the order of
// the block; those up to admitted are planned; at most window are between.
type run struct {
	mode      Mode
	txs       []*chain.VerifiedTx
	jobs      []job
	steps     *exec.Steps
	committed *committed
	warm      *warm
	workers   []*worker
	builder   *builder
	window    int    // how far executions run ahead of the commit index
	heavy     int    // transactions that run programs or instructions
	pays      []bool // may be payments
	payments  int    // how many
	shake     func()
	clock     func() uint64

	// crowded: calls of two transactions were nested deep at once, of which one waits for
	// the other's machines. From then on such calls run at their turn alone.
	crowded atomic.Bool

	mu          sync.Mutex // guards what follows
	idle        sync.Cond  // on mu: workers that wait for work
	idlers      int
	ready       queue
	waiting     [][]int // by the transaction that they wait for
	admitted    int     // transactions planned so far
	waited      int     // of them, those that have to wait for another
	depth       []int32 // of each, how many wait for one another up to it
	deepest     int32
	deepestAt   int                        // one that is as deep
	waitsFor    []int32                    // of each, whom it waits for
	alone       []bool                     // runs at its turn alone: it pays, its deep calls were refused, or for what it or its like did
	barred      map[chain.Address]struct{} // culprits of this block, of whom the rest runs alone
	commitIndex int                        // transactions committed so far; the next to commit
	committing  bool                       // a worker commits; the fields of the second part are its own until it ends
	stop        bool
	plan        *plan
	memory      *memory

	// Of who holds the commit role, or anybody's after the join.
	err          error // of the transaction at the commit index: the verdict on the block, or a fault
	panicked     any   // what that one panicked with
	fallBack     bool  // too many conflicts: the caller executes the rest serially
	late         bool  // the proposer's time is over
	reexecuted   int
	ranAlone     int // that ran alone
	tallies      map[chain.Address]*tally
	toBar        []chain.Address
	mispredicted int
	observed     observed
	planNanos    uint64
}

// job is one transaction. Its life: planned (footprint read under run.mu), ready, executing
// (execution is the worker's), executed (by is set; execution is the commit role's), and
// zero once it is committed, so that what it held can be used again.
type job struct {
	footprint footprint
	execution *execution // from when it is taken up until it is committed
	by        *worker    // who ran it; nil until it is done; guarded by run.mu
}

// worker is one goroutine's share. Its fields are read and written by that goroutine alone,
// and by the caller before it starts and after the join.
type worker struct {
	run         *run
	exec        *exec.Worker
	engine      *pvm.Engine // of exec
	runNanos    uint64
	commitNanos uint64
	executions  int
	todo        []int // taken up and not begun
	room        [mostAtOnce]int
	free        []*execution // to be used again
}

// all runs the transactions up to the end, an error, or too many conflicts.
//
// It ends: a transaction waits only for one before it, so while any is left, either one is
// ready or under way, or the one at the commit index is executed and some worker commits
// it. A worker sleeps only while nothing is ready and it could commit nothing. What ends
// either state wakes somebody: advance signals for what it makes ready, and the worker that
// gives the commit role back with the block at its end wakes all. The worker that finishes
// the transaction at the commit index while another has the role leaves it to that one,
// which looks again under mu before it gives the role back (ownsCommit).
func (r *run) all() {
	r.idle.L = &r.mu
	r.mu.Lock()
	for r.admitted < min(r.window, len(r.txs)) {
		r.planNext()
	}
	r.mu.Unlock()
	var crew sync.WaitGroup
	for _, w := range r.workers[1:] {
		crew.Go(w.work)
	}
	r.workers[0].work()
	crew.Wait()
}

// work executes what is ready, the first of the block first, until all is committed.
func (w *worker) work() {
	r := w.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for w.acquireReady() {
		for len(w.todo) > 0 && !r.stop {
			i := w.todo[0]
			w.todo = w.todo[1:]
			if r.isBarred(i) {
				r.alone[i] = true
				continue
			}
			deep := r.descentOf(i)
			r.mu.Unlock()
			began := r.now()
			r.jobs[i].execution = w.fresh()
			r.jobs[i].execution.warm.Reset(func(h chain.Hash) (paid, certain bool) { return r.warm.guess(i, h) })
			w.execute(i, false, deep)
			refused := w.discardRefused(i)
			w.runNanos += r.now() - began
			r.mu.Lock()
			if refused {
				r.alone[i] = true
			} else {
				r.jobs[i].by = w
			}
			w.commitReady()
			w.giveBack()
		}
	}
}

// descentOf says what deep calls of a transaction do that is about to be executed. The machines
// for them are for one engine at a time (ADR 240), and the transaction at the commit index must
// not wait behind speculations, one after the other, which may all be in vain: whose turn it
// is waits, all others yield. Once two have met in a block, no other tries: at its turn it
// finds the machines free. The caller holds the lock.
func (r *run) descentOf(i int) pvm.Descent {
	switch {
	case i == r.commitIndex:
		return pvm.Waits
	case r.crowded.Load():
		return pvm.Stays
	}
	return pvm.Yields
}

// discardRefused drops an execution whose deep calls did not get the machines, and reports
// whether it was one. It says nothing of conflicts, so nobody is blamed for it.
func (w *worker) discardRefused(i int) bool {
	j := &w.run.jobs[i]
	if !j.execution.refused {
		return false
	}
	w.recycle(j.execution)
	j.execution = nil
	return true
}

// mostAtOnce bounds what a worker takes up at a time. Neighbours in the block that
// one worker executes are committed by it, one upon the other, from its own caches.
const mostAtOnce = 8

// acquireReady takes up transactions that are ready, and waits for some. It reports false
// when the run is over. The caller holds the lock.
func (w *worker) acquireReady() bool {
	r := w.run
	for len(r.ready) == 0 {
		w.commitReady() // what others have left
		if r.stop || r.commitIndex == len(r.txs) {
			return false
		}
		if len(r.ready) > 0 {
			break
		}
		r.idlers++
		r.idle.Wait()
		r.idlers--
	}
	w.todo = w.room[:0]
	for range min(max(len(r.ready)/(2*len(r.workers)), 1), mostAtOnce) {
		w.todo = append(w.todo, r.ready.pop())
	}
	return !r.stop
}

// giveBack gives back what the worker has not begun, if somebody has nothing to do.
// The caller holds the lock.
func (w *worker) giveBack() {
	r := w.run
	if r.idlers == 0 || len(w.todo) == 0 {
		return
	}
	for _, i := range w.todo {
		r.ready.push(i)
	}
	w.todo = w.todo[:0]
	r.idle.Signal()
}

// now reads the clock.
func (r *run) now() uint64 {
	if r.clock == nil {
		return 0
	}
	return r.clock()
}

// commitReady commits transactions from the commit index on that are executed and the
// worker's, unless another worker holds the commit role. The caller holds the lock.
func (w *worker) commitReady() {
	r := w.run
	if r.committing {
		return
	}
	r.committing = true
	for !r.stop && w.ownsCommit(r.commitIndex) {
		last := r.commitIndex + 1
		for w.ownsCommit(last) {
			last++
		}
		first := r.commitIndex
		r.mu.Unlock()
		began := r.now()
		upTo := first
		for upTo < last && !r.fallBack && w.commitNext(upTo) {
			upTo++
		}
		w.commitNanos += r.now() - began
		r.mu.Lock()
		w.advance(first, upTo)
		if upTo < last || r.fallBack {
			r.stop = true
		}
	}
	r.committing = false
	if r.stop || r.commitIndex == len(r.txs) {
		r.idle.Broadcast()
	}
}

// ownsCommit reports whether a transaction is executed and for this worker to commit.
// Its writes lie in the caches of the worker that executed it, so others leave it to
// that one while there is enough to do. The caller holds the lock.
func (w *worker) ownsCommit(i int) bool {
	r := w.run
	if i < len(r.txs) && (r.builder.overcommitted(i) || i < r.admitted && r.alone[i]) {
		return true
	}
	if i == len(r.txs) || r.jobs[i].by == nil {
		return false
	}
	return r.jobs[i].by == w || r.idlers > 0 || len(r.ready) <= len(r.workers)
}

// advance moves the commit index and makes ready what waited for it, whose writes are all
// in committed now. It wakes as many as there is work for, less one for the caller, which
// goes on itself. The caller holds the lock.
func (w *worker) advance(first, upTo int) {
	r := w.run
	began := r.now()
	r.commitIndex = upTo
	r.bar()
	for i := first; i < upTo; i++ {
		r.jobs[i] = job{}
		for _, j := range r.waiting[i] {
			r.ready.push(j)
		}
		r.waiting[i] = nil
	}
	for r.admitted < min(upTo+r.window, len(r.txs)) {
		r.planNext()
	}
	r.planNanos += r.now() - began
	for n := min(len(r.ready)-1, r.idlers); n > 0; n-- { // one is the caller's
		r.idle.Signal()
	}
}

// commitNext commits the transaction at the commit index, after it is validated, or
// executed again where it conflicts. It reports whether the block goes on.
func (w *worker) commitNext(i int) bool {
	r, j := w.run, &w.run.jobs[i]
	if r.late = r.builder.late(); r.late {
		return false
	}
	if !r.builder.mayCommit(i) {
		return true
	}
	if r.pays[i] {
		if done := w.pay(i); done || r.err != nil {
			return r.err == nil && !r.late
		}
	}
	last := r.builder.overcommitted(i)
	alone := !last && r.alone[i]
	again := !last && !alone && !w.validate(i)
	if alone || again {
		if alone {
			r.ranAlone++
			j.execution = w.fresh()
		} else {
			j.execution.reset()
		}
		j.execution.warm.Reset(r.warm.paid)
		w.execute(i, false, pvm.Waits)
		r.builder.measured(i, j.execution)
		last = !w.validate(i) // an error, or a balance beyond 64 bits
	}
	if last {
		j.execution = r.newExecution(state.NewOverlay)
		j.execution.warm.Reset(r.warm.paid)
		w.execute(i, true, pvm.Waits)
		r.builder.measured(i, j.execution)
		if r.err != nil {
			r.err = r.builder.skip(i, r.err)
			return r.err == nil
		}
	}
	if again {
		r.reexecuted++
		r.fallBack = r.tooManyConflicts(i)
	}
	if r.panicked != nil {
		return false
	}
	if r.late = r.builder.late(); r.late {
		return false
	}
	if r.shake != nil {
		r.shake()
	}
	r.warm.commit(j.execution.warm)
	r.err = r.committed.commit(i, j.execution.over, &j.execution.view)
	if r.err == nil {
		r.err = r.steps.Commit(r.txs[i], &j.execution.result)
	}
	if r.err != nil {
		return false
	}
	r.builder.recordCommitted(i)
	if !last && !alone && !again {
		r.builder.measured(i, j.execution)
	}
	if !alone {
		r.noteConflict(i, again)
	}
	r.learn(i, again || alone)
	if !last {
		w.recycle(j.execution)
	}
	return true
}

// tooManyConflicts reports whether to fall back to serial execution: re-executions exceed
// half of the transactions that do more than pay, or half of those committed up to
// transaction i, an early exit for blocks that conflict throughout. Whose conflicts they
// are runs alone long before ([run.noteConflict]), so this is for blocks that are conflicts
// of ever new culprits and little else.
func (r *run) tooManyConflicts(i int) bool {
	if r.reexecuted < leastReexecuted {
		return false
	}
	return 2*r.reexecuted >= max(r.heavy, len(r.txs)/4) || i >= trial && 2*r.reexecuted > i
}

// serial reports whether nearly all of the block had to wait for one another, so
// that to run it in parallel gained nothing.
func (r *run) serial() bool { return 8*int(r.deepest) > 7*len(r.txs) }

const (
	leastReexecuted = 4  // below which no block is given up
	trial           = 16 // transactions after which most says something
)

// validate reports whether a speculative execution is what happens at its commit index.
//
// It is right: an execution is a function of what it reads, and everything that it reads
// goes through its view, is told by warm, or is judged by steps. The view's read set has the
// version of each place at its first read, and all later reads of the place are answered
// from the set; a scan is a read of the whole storage. If every version is still that of the place, the same execution at the
// commit index would read the same values and so do the same (the validation of Kung and
// Robinson, "On Optimistic Methods for Concurrency Control", 1981, with versions as in
// Block-STM). A version grows with each write and never returns: it is the index of the
// transaction that wrote. Credits are the exception, since they read nothing: their sum is
// checked against the balance instead.
func (w *worker) validate(i int) bool {
	r, a := w.run, w.run.jobs[i].execution
	if !a.succeeded || !r.committed.validate(&a.view) || !a.warm.Stands(r.warm.block) || !r.steps.Fits(r.txs[i]) {
		return false
	}
	fits, err := r.committed.roomFor(a.over.Peaks())
	return fits && err == nil // an error shows again when it runs
}

// execute executes transaction i. With last=false the execution is speculative and must
// be validated before it is committed, also at the commit index. With last=true it runs
// at the commit index, nothing else commits meanwhile, and its result is final: an error
// is the block's, a panic the caller's, or a builder's error. Only the final execution
// reads the balances that it credits; all others record credits as deltas, so that what
// is learned of a credit does not depend on where it ran. deep is what its deep calls do; at
// the commit index they wait.
func (w *worker) execute(i int, last bool, deep pvm.Descent) {
	r, a := w.run, w.run.jobs[i].execution
	w.executions++
	took := r.builder.measure(i)
	defer func() {
		a.nanos = took()
		switch p := recover(); {
		case p == nil || !last:
		case r.builder != nil:
			r.err = exec.Panicked(p)
		default:
			r.panicked = p
		}
	}()
	crowded, err := w.engine.Attempt(deep, func() (err error) {
		a.result, err = w.exec.Execute(a.over, a.warm, i, r.txs[i], last)
		return err
	})
	if crowded {
		r.crowded.Store(true)
	}
	a.succeeded, a.refused = err == nil, errors.Is(err, pvm.ErrReserved)
	if last {
		r.err = err
	}
}
