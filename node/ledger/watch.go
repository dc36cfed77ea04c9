package ledger

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
)

// DefaultBuildPercent is the part of the block time in which a proposer takes
// transactions: what is left of it, and of the view, is for the root, for the others'
// executions and for a machine that is busy otherwise.
const DefaultBuildPercent = 60

// What an honest machine needs for a cycle is far below slowNanosPerCycle (`make
// bench-exec` holds the worst to 50), so who takes more than that, and long enough for
// a pause of the collector not to explain it, has found something that is priced wrong.
// What counts is the time of the processor: on a machine that is busy otherwise every
// transaction takes long.
const (
	slowNanosPerCycle = 200
	slowLeast         = 50 * time.Millisecond
)

// watch sees to the time of one proposal. Nothing that it says is a rule: what it
// leaves out may stand in the next block, and verifiers have none.
type watch struct {
	now       func() time.Time
	measure   func() func() uint64
	began     time.Time
	most      time.Duration // for all executions together
	overtaken func() bool   // the view that the proposal was for has ended
	keeps     atomic.Int64  // time spent from which the core is the execution's own for coreTime; see letOthers
	slow      []slowTx
}

// slowTx is a transaction that took far longer than it pays for.
type slowTx struct {
	tx    *chain.VerifiedTx
	used  chain.Usage
	nanos uint64
}

func (l *Ledger) newWatch(view context.Context, parent *Executed) *watch {
	// A chain with short blocks must go on with transactions that take longer: what is at
	// stake is the view, for which others wait the leader timeout.
	millis := max(l.blockMillis(parent), parent.Force.Params.LeaderTimeoutMillis/2)
	block := time.Duration(millis) * time.Millisecond
	return &watch{
		now: l.cfg.Now, measure: l.cfg.Measure, began: l.cfg.Now(), most: block * time.Duration(l.cfg.BuildPercent) / 100,
		overtaken: func() bool { return view.Err() != nil },
	}
}

func (w *watch) spent() time.Duration { return w.now().Sub(w.began) }

// exhausted reports whether no further transaction may be taken. It is asked between two
// transactions, and lets others run there now and then.
func (w *watch) exhausted() bool {
	return w.letOthers(w.spent()) > w.most || w.overtaken()
}

// coreTime is for how long an execution keeps its core while others want it. Go takes a core
// away after ten milliseconds: where commit, collector and execution have all cores for so
// long, nobody's submission is answered meanwhile.
const coreTime = time.Millisecond

// letOthers gives the core away if the execution has had it for long, and returns the time
// spent thereafter. Time away is none on the core: the execution then keeps it for at least
// as long, so that it has half a core however many others want it.
func (w *watch) letOthers(spent time.Duration) time.Duration {
	from := w.keeps.Load()
	if int64(spent)-from < int64(coreTime) || !w.keeps.CompareAndSwap(from, int64(spent)) {
		return spent
	}
	runtime.Gosched()
	back := w.spent()
	more := max(0, back-spent-coreTime)
	w.keeps.Store(max(w.keeps.Load(), int64(back+more))) // another worker may have been away for longer
	return back
}

// again reports whether there is time for as much as there was until now.
func (w *watch) again() bool { return 2*w.spent() <= w.most && !w.overtaken() }

// addTime gives as much time as there was at the beginning, for an execution of part of
// what was executed within it.
func (w *watch) addTime() { w.most = max(w.most, w.spent()) + w.most }

// watchSelection watches the execution of a selection.
func (w *watch) watchSelection(txs []*chain.VerifiedTx) exec.Watch {
	return exec.Watch{
		Start: func(i int) func() uint64 {
			if len(txs[i].Tx.Payload) == 0 {
				return func() uint64 { return 0 }
			}
			return w.measure()
		},
		Over: w.exhausted,
		Ran: func(i int, used chain.Usage, nanos uint64) {
			// A payment runs nothing that its sender could have made slow.
			if nanos > uint64(slowLeast) && nanos/slowNanosPerCycle > uint64(used.Cycles) && len(txs[i].Tx.Payload) > 0 {
				w.slow = append(w.slow, slowTx{txs[i], used, nanos})
			}
		},
	}
}

// shun drops from the pool what took far longer than it pays for: kept, it would be
// packed again in every view and cost each as much.
func (l *Ledger) shun(ctx context.Context, w *watch) error {
	if len(w.slow) == 0 {
		return nil
	}
	var txs []*chain.VerifiedTx
	for _, s := range w.slow {
		if slices.Contains(txs, s.tx) {
			continue // ran twice
		}
		txs = append(txs, s.tx)
		l.cfg.Log.Warn("a transaction took far longer than its cycles pay for and was dropped",
			"hash", s.tx.Hash, "took", time.Duration(s.nanos), "cycles", s.used.Cycles)
	}
	w.slow = nil
	l.Stats.Slow.Add(uint64(len(txs)))
	return l.cfg.Pool.Shun(ctx, txs)
}
