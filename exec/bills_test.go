package exec_test

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/state"
)

// Whatever runs in a block is in somebody's bill: the machines are watched from outside,
// and what they have done is held to what receipts, lanes and fees say (issue 14, the
// second point). It knows nothing of runs and verdicts: a handler that runs behind the
// count of its cycles, a call whose cycles nobody is charged, or a run without a receipt
// shows wherever it is.

var errUnbilled = errors.New("cycles that nobody was billed for")

// witness watches the machines of an engine.
type witness struct {
	open  []chain.Cycles // calls under way: what those that they called have done themselves
	done  chain.Cycles   // by calls that nobody had called, and by those that they called
	calls int
	err   error // first
}

func (w *witness) Begin() { w.open = append(w.open, 0) }

func (w *witness) End(b vm.Bill) {
	w.calls++
	last := len(w.open) - 1
	below := w.open[last]
	w.open = w.open[:last]
	if b.Spent != b.Told {
		w.fail("a call of %d cycles used %d after it said that it had used %d", b.Given, b.Spent-b.Told, b.Told)
	}
	if b.Spent > b.Given || b.Called+b.Reserved > b.Spent || b.Called < 0 || b.Reserved < 0 {
		w.fail("the bill of a call does not add up: %+v", b)
	}
	if below > chain.Cycles(b.Called) {
		w.fail("handlers have done %d cycles for one that was charged %d for them", below, b.Called)
	}
	own := chain.Cycles(b.Spent-b.Called-b.Reserved) + below
	if last > 0 {
		w.open[last-1] += own
	} else {
		w.done += own
	}
}

func (w *witness) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: "+format, append([]any{errUnbilled}, args...)...)
	}
}

// took returns what was done since it was last asked.
func (w *witness) took() chain.Cycles {
	n := w.done
	w.done = 0
	return n
}

// apply is [exec.Apply], with every block held to its bills, its caps and the table of
// instructions.
func apply(view state.View, in exec.Inputs, txs []*chain.VerifiedTx) (exec.Result, error) {
	if in.Engine == nil {
		r, err := exec.Apply(view, in, txs)
		if err != nil {
			return r, err
		}
		left, err := meansOf(behind{view, r.Delta}, txs)
		return r, errors.Join(err, withinCaps(in.Params, &r), billed(&in, txs, &r), drained(view, left, txs, &r))
	}
	w := &witness{}
	in.Engine.Watch(w)
	defer in.Engine.Watch(nil)
	s, err := exec.Begin(view, in, len(txs))
	if err != nil {
		return exec.Result{}, err
	}
	agents := w.took()
	each := make([]chain.Cycles, len(txs))
	for i, tx := range txs {
		if err := s.Transact(i, tx); err != nil {
			return exec.Result{}, err
		}
		each[i] = w.took()
	}
	left, err := meansOf(s.State(), txs) // before timers fire, whose next firings are their accounts' to pay
	if err != nil {
		return exec.Result{}, err
	}
	r, err := s.Finish()
	if err != nil {
		return r, err
	}
	return r, errors.Join(w.err, withinCaps(in.Params, &r), billed(&in, txs, &r), drained(view, left, txs, &r), w.receipts(&in, txs, &r, agents, each))
}

// receipts holds what ran to the receipts: each transaction to its own, beside what is
// intrinsic to it; messages that waited and firings to theirs together, agents to the
// rest of the lane of timers.
func (w *witness) receipts(in *exec.Inputs, txs []*chain.VerifiedTx, r *exec.Result, agents chain.Cycles, each []chain.Cycles) error {
	for i, did := range each {
		ins, err := txs[i].Tx.Classify()
		if err != nil {
			return err
		}
		costs := &in.Params.Intrinsic // a memo is a message where its target has code: a vote may make one of them dearer
		own := min(costs.Of(ins).Cycles, costs.Of(ins.WithCode(true)).Cycles)
		if used := r.Receipts[i].CyclesUsed; used < own || did > used-own {
			return fmt.Errorf("%w: transaction %d did %d, its receipt says %d, %d of them intrinsic", errUnbilled, i, did, used, own)
		}
	}
	var later, firings chain.Cycles
	for i := range r.Receipts[len(each):] {
		rec := &r.Receipts[len(each)+i]
		later += rec.CyclesUsed
		if rec.Lane == chain.LaneTimer {
			firings += rec.CyclesUsed
		}
	}
	if did := w.took(); did > later {
		return fmt.Errorf("%w: deliveries and firings did %d, their receipts say %d", errUnbilled, did, later)
	}
	if asked := r.Used[chain.LaneTimer].Cycles - firings; agents > asked {
		return fmt.Errorf("%w: agents did %d, of the lane %d went to them", errUnbilled, agents, asked)
	}
	return nil
}

// billed holds the sums of a block to its receipts, and each receipt of a transaction to
// its limits and prices.
func billed(in *exec.Inputs, txs []*chain.VerifiedTx, r *exec.Result) error {
	var used [chain.NumLanes]chain.Usage
	var tips, burned chain.Wei
	for i := range r.Receipts {
		rec := &r.Receipts[i]
		tips += rec.Tip
		burned += rec.Fee - rec.Tip
		of := chain.Usage{Cycles: rec.CyclesUsed, Cells: rec.CellsUsed}
		if i < len(txs) {
			tx := txs[i].Tx
			fee, _, tip, err := fees.Charge(tx, in.BaseFees[txs[i].Lane], of)
			if err != nil || fee != rec.Fee || tip != rec.Tip || of.Cycles > tx.CyclesLimit || of.Cells > tx.CellsLimit {
				return fmt.Errorf("%w: transaction %d used %+v of %d and %d, paid %d, tip %d, want %d and %d: %v", errUnbilled, i, of, tx.CyclesLimit, tx.CellsLimit, rec.Fee, rec.Tip, fee, tip, err)
			}
		}
		if i < len(txs) || rec.Lane == chain.LaneTimer {
			used[rec.Lane].Cycles += of.Cycles
			used[rec.Lane].Cells += of.Cells
		} else if rec.Fee != 0 {
			return fmt.Errorf("%w: a message that waited paid %d", errUnbilled, rec.Fee)
		}
	}
	for lane := range used {
		got, want := r.Used[lane], used[lane]
		if chain.LaneID(lane) == chain.LaneTimer && got.Cycles >= want.Cycles && got.Cells >= want.Cells {
			continue // the rest went to agents
		}
		if got != want {
			return fmt.Errorf("%w: lane %d used %+v, its receipts say %+v", errUnbilled, lane, got, want)
		}
	}
	if tips != r.Tips || burned > r.Burned {
		return fmt.Errorf("%w: tips of %d and base fees of %d, the receipts say %d and %d", errUnbilled, r.Tips, r.Burned, tips, burned)
	}
	return nil
}
