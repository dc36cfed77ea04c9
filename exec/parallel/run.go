package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
)

// run is the transactions of one block under way.
type run struct {
	mode    Mode
	txs     []*chain.VerifiedTx
	jobs    []job
	steps   *exec.Steps
	settled *settled
	warm    *warm
	workers []*worker
	sieve   *sieve
	window  int // how far attempts run ahead of the frontier
	heavy   int // transactions that run programs or instructions
	shake   func()
	clock   func() uint64

	mu       sync.Mutex // guards what follows
	idle     sync.Cond  // on mu: workers that wait for work
	idlers   int
	ready    queue
	waiting  [][]int // by the transaction that they wait for
	admitted int     // transactions planned so far
	waited   int     // of them, those that have to wait for another
	depth    []int32 // of each, how many wait for one another up to it
	deepest  int32
	last     int                        // one that is as deep
	after    []int32                    // of each, whom it waits for
	alone    []bool                     // runs at its turn alone, for what it or its like did
	barred   map[chain.Address]struct{} // culprits of this block, of whom the rest runs alone
	frontier int                        // transactions settled so far
	settling bool                       // somebody settles; the fields below are theirs until then
	stop     bool
	plan     *plan
	memory   *memory

	// The settler's, or anybody's after the join.
	err       error // of transaction frontier: the verdict on the block, or a fault
	panicked  any   // what transaction frontier panicked with
	abandon   bool  // too many conflicts
	late      bool  // the proposer's time is over
	reruns    int
	lone      int // that ran alone
	tallies   map[chain.Address]*tally
	toBar     []chain.Address
	missed    int
	seen      sight
	planNanos uint64
}

// job is one transaction.
type job struct {
	feet footprint
	try  *attempt // from when it is taken up until it is settled
	by   *worker  // who ran it; nil until it is done; guarded by run.mu
}

// worker is one goroutine's share.
type worker struct {
	run         *run
	exec        *exec.Worker
	runNanos    uint64
	settleNanos uint64
	executions  int
	todo        []int // taken up and not begun
	room        [mostAtOnce]int
	spare       []*attempt // to be used again
}

// all runs the transactions up to the end, an error, or too many conflicts.
func (r *run) all() {
	r.idle.L = &r.mu
	r.mu.Lock()
	for r.admitted < min(r.window, len(r.txs)) {
		r.admit()
	}
	r.mu.Unlock()
	var crew sync.WaitGroup
	for _, w := range r.workers[1:] {
		crew.Go(w.work)
	}
	r.workers[0].work()
	crew.Wait()
}

// work attempts what is ready, first things first, until all is settled.
func (w *worker) work() {
	r := w.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for w.find() {
		for len(w.todo) > 0 && !r.stop {
			i := w.todo[0]
			w.todo = w.todo[1:]
			if r.isBarred(i) {
				r.alone[i] = true
				continue
			}
			r.mu.Unlock()
			began := r.now()
			r.jobs[i].try = w.unused()
			r.jobs[i].try.warm.Reset(func(h chain.Hash) (paid, certain bool) { return r.warm.guess(i, h) })
			w.try(i, false)
			w.runNanos += r.now() - began
			r.mu.Lock()
			r.jobs[i].by = w
			w.settle()
			w.share()
		}
	}
}

// mostAtOnce bounds what a worker takes up at a time. Neighbours in the block that
// one worker runs are settled by it, one upon the other, where their traces are.
const mostAtOnce = 8

// find takes up transactions that are ready, and waits for some. It reports false
// when the run is over. The caller holds the lock.
func (w *worker) find() bool {
	r := w.run
	for len(r.ready) == 0 {
		w.settle() // what others have left
		if r.stop || r.frontier == len(r.txs) {
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

// share gives back what the worker has not begun, if somebody has nothing to do.
// The caller holds the lock.
func (w *worker) share() {
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

// settle settles transactions from the frontier on that are done and the worker's,
// unless somebody is at it. The caller holds the lock.
func (w *worker) settle() {
	r := w.run
	if r.settling {
		return
	}
	r.settling = true
	for !r.stop && w.mine(r.frontier) {
		last := r.frontier + 1
		for w.mine(last) {
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

// mine reports whether a transaction is done and for this worker to settle: who ran
// it has its traces near, so others leave it to them while there is enough to do.
// The caller holds the lock.
func (w *worker) mine(i int) bool {
	r := w.run
	if i < len(r.txs) && (r.sieve.spare(i) || i < r.admitted && r.alone[i]) {
		return true
	}
	if i == len(r.txs) || r.jobs[i].by == nil {
		return false
	}
	return r.jobs[i].by == w || r.idlers > 0 || len(r.ready) <= len(r.workers)
}

// advance moves the frontier and lets go who waited for it. The caller holds the
// lock.
func (w *worker) advance(first, settled int) {
	r := w.run
	began := r.now()
	r.frontier = settled
	r.bar()
	for i := first; i < settled; i++ {
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
	if r.late = r.sieve.late(); r.late {
		return false
	}
	if !r.sieve.admit(i) {
		return true
	}
	last := r.sieve.spare(i)
	alone := !last && r.alone[i]
	again := !last && !alone && !w.stands(i)
	if alone || again {
		if alone {
			r.lone++
			j.try = w.unused()
		} else {
			j.try.renew()
		}
		j.try.warm.Reset(r.warm.is)
		w.try(i, false)
		r.sieve.note(i, j.try)
		last = !w.stands(i) // an error, or a balance beyond 64 bits
	}
	if last {
		j.try = r.newAttempt(state.NewOverlay)
		j.try.warm.Reset(r.warm.is)
		w.try(i, true)
		r.sieve.note(i, j.try)
		if r.err != nil {
			r.err = r.sieve.refuse(i, r.err)
			return r.err == nil
		}
	}
	if again {
		r.reruns++
		r.abandon = r.tooMany(i)
	}
	if r.panicked != nil {
		return false
	}
	if r.late = r.sieve.late(); r.late {
		return false
	}
	if r.shake != nil {
		r.shake()
	}
	r.warm.take(j.try.warm)
	r.err = r.settled.take(i, j.try.over, &j.try.view)
	if r.err == nil {
		r.err = r.steps.Settle(r.txs[i], &j.try.result)
	}
	if r.err != nil {
		return false
	}
	r.sieve.keep(i)
	if !last && !alone && !again {
		r.sieve.note(i, j.try)
	}
	if !alone {
		r.tried(i, again)
	}
	r.learn(i, again || alone)
	if !last {
		w.keep(j.try)
	}
	return true
}

// tooMany reports whether the block is to be finished one by one: as much had to
// run again as half of what does more than to pay, or most of what has been settled up
// to transaction i. Whose conflicts they are runs alone long before ([run.tried]), so
// this is for blocks that are conflicts of ever new culprits and little else.
func (r *run) tooMany(i int) bool {
	if r.reruns < leastReruns {
		return false
	}
	return 2*r.reruns >= max(r.heavy, len(r.txs)/4) || i >= trial && 2*r.reruns > i
}

// serial reports whether nearly all of the block had to wait for one another, so
// that to run it in parallel gained nothing.
func (r *run) serial() bool { return 8*int(r.deepest) > 7*len(r.txs) }

const (
	leastReruns = 4  // below which no block is given up
	trial       = 16 // transactions after which most says something
)

// stands reports whether an attempt is what happens at the frontier.
func (w *worker) stands(i int) bool {
	r, a := w.run, w.run.jobs[i].try
	if !a.good || !r.settled.unchanged(&a.view) || !a.warm.Stands(r.warm.block) || !r.steps.Fits(r.txs[i]) {
		return false
	}
	fits, err := r.settled.roomFor(a.over.Peaks())
	return fits && err == nil // an error shows again when it runs
}

// try runs a transaction as an attempt, or for the last time, at the frontier, where
// its end is the block's. Attempts at the frontier are as those before it, so that
// what is learned of a credit does not depend on where it ran: the last try reads
// the balance, and who does that has others wait for it. A panic there is the
// caller's, or to a sieve an error.
func (w *worker) try(i int, last bool) {
	r, a := w.run, w.run.jobs[i].try
	w.executions++
	took := r.sieve.measure(i)
	defer func() {
		a.nanos = took()
		switch p := recover(); {
		case p == nil || !last:
		case r.sieve != nil:
			r.err = exec.Panicked(p)
		default:
			r.panicked = p
		}
	}()
	var err error
	a.result, err = w.exec.Attempt(a.over, a.warm, i, r.txs[i], last)
	a.good = err == nil
	if last {
		r.err = err
	}
}
