package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// run is the transactions of one block under way.
type run struct {
	mode    Mode
	txs     []*chain.VerifiedTx
	jobs    []job
	steps   *exec.Steps
	settled *settled
	window  int // how far attempts run ahead of the frontier
	shake   func()
	clock   func() uint64

	mu       sync.Mutex // guards what follows
	idle     sync.Cond  // on mu: workers that wait for work
	idlers   int
	ready    queue
	waiting  [][]int // by the transaction that they wait for
	admitted int     // transactions planned so far
	waited   int     // of them, those that have to wait for another
	frontier int     // transactions settled so far
	settling bool    // somebody settles; the fields below are theirs until then
	stop     bool
	plan     *plan
	memory   *memory
	spare    []*attempt // to be used again

	// The settler's, or anybody's after the join.
	err       error // of transaction frontier: the verdict on the block, or a fault
	panicked  any   // what transaction frontier panicked with
	abandon   bool  // too many conflicts
	reruns    int
	missed    int
	seen      []touch
	planNanos uint64
}

// job is one transaction.
type job struct {
	feet footprint
	try  *attempt // from when it is taken up until it is settled
	done bool     // guarded by run.mu
}

// worker is one goroutine's share.
type worker struct {
	run         *run
	exec        *exec.Worker
	runNanos    uint64
	settleNanos uint64
	executions  int
}

// all runs the transactions up to the end, an error, or too many conflicts, with
// one worker for each engine.
func (r *run) all(engines []*pvm.Engine) []worker {
	workers := make([]worker, len(engines))
	for i := range workers {
		workers[i] = worker{run: r, exec: r.steps.Worker(engines[i])}
	}
	r.idle.L = &r.mu
	r.mu.Lock()
	for r.admitted < min(r.window, len(r.txs)) {
		r.admit()
	}
	r.mu.Unlock()
	var crew sync.WaitGroup
	for i := 1; i < len(workers); i++ {
		crew.Go(workers[i].work)
	}
	workers[0].work()
	crew.Wait()
	return workers
}

// work attempts what is ready, first things first, until all is settled.
func (w *worker) work() {
	r := w.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for len(r.ready) == 0 && !r.stop && r.frontier < len(r.txs) {
			r.idlers++
			r.idle.Wait()
			r.idlers--
		}
		if r.stop || len(r.ready) == 0 {
			return
		}
		i := r.ready.pop()
		r.jobs[i].try = r.unused()
		r.mu.Unlock()
		began := r.now()
		w.try(i, false)
		w.runNanos += r.now() - began
		r.mu.Lock()
		r.jobs[i].done = true
		w.settle()
	}
}

// now reads the clock.
func (r *run) now() uint64 {
	if r.clock == nil {
		return 0
	}
	return r.clock()
}

// settle settles all transactions from the frontier on that are done, unless
// somebody is at it. The caller holds the lock.
func (w *worker) settle() {
	r := w.run
	if r.settling {
		return
	}
	r.settling = true
	for !r.stop && r.frontier < len(r.txs) && r.jobs[r.frontier].done {
		last := r.frontier + 1
		for last < len(r.txs) && r.jobs[last].done {
			last++
		}
		first := r.frontier
		r.mu.Unlock()
		began := r.now()
		settled := first
		for settled < last && !r.abandon && w.book(settled) {
			settled++
		}
		w.settleNanos += r.now() - began
		r.mu.Lock()
		w.advance(first, settled)
		if settled < last || r.abandon {
			r.stop = true
		}
	}
	r.settling = false
	if r.stop || r.frontier == len(r.txs) {
		r.idle.Broadcast()
	}
}

// advance moves the frontier and lets go who waited for it. The caller holds the
// lock.
func (w *worker) advance(first, settled int) {
	r := w.run
	began := r.now()
	r.frontier = settled
	for i := first; i < settled; i++ {
		if a := r.jobs[i].try; a != nil {
			a.view.from = nil
			r.spare = append(r.spare, a)
		}
		r.jobs[i] = job{}
		for _, j := range r.waiting[i] {
			r.ready.push(j)
		}
		r.waiting[i] = nil
	}
	for r.admitted < min(settled+r.window, len(r.txs)) {
		r.admit()
	}
	r.planNanos += r.now() - began
	for n := min(len(r.ready)-1, r.idlers); n > 0; n-- { // one is the caller's
		r.idle.Signal()
	}
}

// book settles the transaction at the frontier, and reports whether the block goes
// on.
func (w *worker) book(i int) bool {
	r, j := w.run, &w.run.jobs[i]
	again, last := !w.stands(i), false
	if again {
		r.reruns++
		j.try.renew()
		w.try(i, false)
		if last = !w.stands(i); last { // an error, or a balance beyond 64 bits
			j.try = r.newAttempt(state.NewOverlay)
			w.try(i, true)
		}
		r.abandon = r.tooMany(i)
	}
	if r.err != nil || r.panicked != nil {
		return false
	}
	if r.shake != nil {
		r.shake()
	}
	r.err = r.settled.take(i, j.try.over, &j.try.view)
	if r.err == nil {
		r.err = r.steps.Settle(r.txs[i], &j.try.result)
	}
	if r.err != nil {
		return false
	}
	r.learn(i, again)
	if last || len(j.try.view.reads) > mostKept {
		j.try = nil
	} else {
		j.try.renew()
	}
	return true
}

// tooMany reports whether the block is to be finished one by one: a quarter of it
// had to run again, or most of what has been settled up to transaction i, so that
// a block that is all conflicts does not cost a quarter more.
func (r *run) tooMany(i int) bool {
	if r.reruns < leastReruns {
		return false
	}
	return 4*r.reruns >= len(r.txs) || i >= trial && 2*r.reruns > i
}

const (
	leastReruns = 4  // below which no block is given up
	trial       = 16 // transactions after which most says something
)

// stands reports whether an attempt is what happens at the frontier.
func (w *worker) stands(i int) bool {
	r, a := w.run, w.run.jobs[i].try
	if !a.good || !r.settled.unchanged(&a.view) || !r.steps.Fits(r.txs[i]) {
		return false
	}
	fits, err := r.settled.roomFor(a.over.Peaks())
	return fits && err == nil // an error shows again when it runs
}

// try runs a transaction as an attempt, or for the last time, at the frontier, where
// its end is the block's. Attempts at the frontier are as those before it, so that
// what is learned of a credit does not depend on where it ran: the last try reads
// the balance, and who does that has others wait for it.
func (w *worker) try(i int, last bool) {
	r, a := w.run, w.run.jobs[i].try
	w.executions++
	defer func() {
		if p := recover(); p != nil && last {
			r.panicked = p
		}
	}()
	var err error
	a.result, err = w.exec.Attempt(a.over, i, r.txs[i], last)
	a.good = err == nil
	if last {
		r.err = err
	}
}
