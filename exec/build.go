package exec

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// counted is what a transaction that is not overcommitted was counted with, and whether
// the overcommitted get what it does not use of that.
func counted(s *order.Selection, i int) (chain.Usage, bool) {
	tx := s.Txs[i]
	switch {
	case tx.Lane != chain.LaneUser:
		return chain.Usage{}, false
	case s.Counts != nil:
		return s.Counts[i], true
	}
	return limitsOf(tx), len(tx.Tx.Payload) > 0
}

// unreserved is the capacity left for overcommitted transactions; below zero where others
// used more than they were counted with.
type unreserved struct{ cycles, cells int64 }

func (s *unreserved) add(u chain.Usage) {
	s.cycles += int64(u.Cycles) // limits are far below 2^63
	s.cells += int64(u.Cells)
}

func (s *unreserved) subtract(u chain.Usage) {
	s.cycles -= int64(u.Cycles)
	s.cells -= int64(u.Cells)
}

func (s *unreserved) holds(u chain.Usage) bool {
	return int64(u.Cycles) <= s.cycles && int64(u.Cells) <= s.cells
}

// Built is a block of those transactions of a selection that may stand in it.
type Built struct {
	Result
	Kept    []*chain.VerifiedTx // in their order
	Skipped []*InvalidTx        // the others; Index is the place in the selection, Err may be a [*Fault]
	Cut     bool                // time was over before the end
}

// Build is [Apply] for a proposer: what may not follow those kept before it is skipped.
// Skipped are thereby the later transactions of its sender, too. So is what
// ends in a fault or a panic, which to [Apply] is this node's: a proposer need not
// have it, and whoever gets a block with it has to stop. The error is a [*Fault] of
// what is no transaction.
func Build(view state.View, in Inputs, sel *order.Selection, watch Watch) (Built, error) {
	s, err := Begin(view, in, len(sel.Txs))
	if err != nil {
		return Built{}, err
	}
	v := s.Builder(sel, watch)
	if err := v.From(0); err != nil {
		return Built{}, err
	}
	return v.Finish()
}

// Builder is a block under way that skips transactions. It serves the goroutine that has
// the Steps. An overcommitted transaction is taken only from what the others leave of the
// lane, beside what those to come are counted with, and of its actor, beside all of their
// limits: where counts hold, none that is not overcommitted is skipped for one that is.
type Builder struct {
	steps      *Steps
	sel        *order.Selection
	watch      Watch // of the proposer's time
	out        Built
	unreserved unreserved
	// reserved are the limits of those to come that are not overcommitted, by actor, for
	// the actors that overcommitted messages call.
	reserved map[chain.Address]chain.Cycles
}

// Builder makes a builder of a block that was just begun.
func (s *Steps) Builder(sel *order.Selection, watch Watch) *Builder {
	v := &Builder{steps: s, sel: sel, watch: watch, reserved: map[chain.Address]chain.Cycles{}}
	v.unreserved.add(sel.Unreserved)
	v.out.Kept = make([]*chain.VerifiedTx, 0, len(sel.Txs))
	// Bounded: by what the packer has chosen for a block, once each.
	for i := range sel.Txs {
		if to := sel.Txs[i].Tx.To; sel.IsOvercommitted(i) && to != nil {
			v.reserved[*to] = 0
		}
	}
	// Bounded: by what the packer has chosen for a block, once each.
	for i, tx := range sel.Txs {
		if !sel.IsOvercommitted(i) && v.rivals(tx) {
			v.reserved[*tx.Tx.To] += tx.Tx.CyclesLimit
		}
	}
	return v
}

// rivals reports whether overcommitted messages call the same actor.
func (v *Builder) rivals(tx *chain.VerifiedTx) bool {
	if tx.Tx.To == nil || len(tx.Tx.Payload) == 0 {
		return false
	}
	_, ok := v.reserved[*tx.Tx.To]
	return ok
}

// From takes the transactions from i on, one after the other, while there is time. The
// error is a [*Fault].
func (v *Builder) From(i int) error {
	// Bounded: by what the packer has chosen for a block, once each.
	for ; i < len(v.sel.Txs) && !v.out.Cut; i++ {
		if v.watch.IsOver() {
			v.CutFrom(i)
			return nil
		}
		if err := v.Transact(i); err != nil {
			return err
		}
	}
	return nil
}

// IsCut reports whether time is over and what was left has been left out.
func (v *Builder) IsCut() bool { return v.out.Cut }

// CutFrom leaves out transaction i and all behind it, once: time is over.
func (v *Builder) CutFrom(i int) {
	if v.out.Cut {
		return
	}
	v.out.Cut = true
	// Bounded: by what the packer has chosen for a block, once each.
	for ; i < len(v.sel.Txs); i++ {
		v.out.Skipped = append(v.out.Skipped, &InvalidTx{Index: i, Err: ErrTime})
	}
}

// Transact takes the next transaction, or leaves it out. One under way when time ends
// is left out with those behind it. The error is a [*Fault].
func (v *Builder) Transact(i int) error {
	if !v.Admit(i) {
		return nil
	}
	if done, err := v.Pay(i, v.steps.b.state); done || err != nil {
		return err
	}
	return v.transactByRule(i)
}

// Pay is [Steps.Pay] for the next transaction, which is admitted. Where time is over, the
// payment is left out with those behind it.
func (v *Builder) Pay(i int, in Accounts) (done bool, err error) {
	p, ok := v.steps.payable(v.sel.Txs[i], in)
	if !ok {
		return false, nil
	}
	return true, v.takePayment(i, p)
}

// takePayment takes a payment, unless time is over. The error is a [*Fault].
func (v *Builder) takePayment(i int, p *payment) error {
	v.watch.Note(i, p.result.Used(), v.watch.Measure(i)())
	if v.watch.IsOver() {
		p.drop()
		v.CutFrom(i)
		return nil
	}
	if err := v.steps.b.takePayment(v.sel.Txs[i], p); err != nil {
		return err
	}
	v.Keep(i)
	return nil
}

// transactByRule takes the next transaction, which is admitted, or leaves it out.
func (v *Builder) transactByRule(i int) error {
	b := v.steps.b
	mark, took := b.state.Snapshot(), v.watch.Measure(i)
	// What is left out has paid for no code that those behind it use.
	block := b.warm
	b.warm = actor.NewWarm(block.On)
	a, err := v.execute(i)
	paid := b.warm
	b.warm = block
	v.watch.Note(i, a.Used(), took())
	if v.watch.IsOver() {
		b.state.Revert(mark)
		v.CutFrom(i)
		return nil
	}
	if err != nil {
		b.state.Revert(mark)
		return v.Skip(i, err)
	}
	if err := b.commit(v.sel.Txs[i], &a); err != nil {
		return err
	}
	b.warm.Merge(paid)
	v.Keep(i)
	return nil
}

// execute runs a transaction and makes a fault of a panic.
func (v *Builder) execute(i int) (a Execution, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return v.steps.b.execute(i, v.sel.Txs[i])
}

// Admit reports whether the block has room for the next transaction; if not, that is
// skipped. For an overcommitted one, [Steps.Transact] and an execution in place then judge
// what its actor has besides what is reserved.
func (v *Builder) Admit(i int) bool {
	tx, b := v.sel.Txs[i], v.steps.b
	b.reserved = 0
	if !v.sel.IsOvercommitted(i) {
		if v.rivals(tx) {
			v.reserved[*tx.Tx.To] -= tx.Tx.CyclesLimit
		}
		return true
	}
	if limits := limitsOf(tx); !v.unreserved.holds(limits) {
		v.out.Skipped = append(v.out.Skipped, &InvalidTx{Index: i, Err: fmt.Errorf("%w: %+v, unreserved %+v", ErrLaneFull, limits, v.unreserved)})
		return false
	}
	if tx.Tx.To != nil {
		b.reserved = v.reserved[*tx.Tx.To]
	}
	return true
}

// Keep books a transaction that was admitted and is committed.
func (v *Builder) Keep(i int) {
	tx := v.sel.Txs[i]
	v.out.Kept = append(v.out.Kept, tx)
	r := v.steps.b.result.Receipts
	used := chain.Usage{Cycles: r[len(r)-1].CyclesUsed, Cells: r[len(r)-1].CellsUsed}
	if v.sel.IsOvercommitted(i) {
		v.unreserved.subtract(used)
	} else if c, ok := counted(v.sel, i); ok {
		v.unreserved.add(c)
		v.unreserved.subtract(used)
	}
}

// Skip leaves out transaction i, which was admitted last, for a verdict on it or
// because it ends in a fault. What it wrote is taken back by the caller. Any other
// error is returned.
func (v *Builder) Skip(i int, err error) error {
	var invalid *InvalidTx
	switch {
	case errors.As(err, &invalid):
	case errors.As(err, new(*Fault)):
		invalid = &InvalidTx{Index: i, Err: err}
	default:
		return err
	}
	v.out.Skipped = append(v.out.Skipped, invalid)
	if c, ok := counted(v.sel, i); ok && !v.sel.IsOvercommitted(i) {
		v.unreserved.add(c)
	}
	return nil
}

// Finish does what comes after the transactions. The error is a [*Fault].
func (v *Builder) Finish() (out Built, err error) {
	v.out.Result, err = v.steps.Finish()
	return v.out, err
}

// MayPass reports whether the reason of an [*InvalidTx] can pass while the
// transaction waits. Else no block takes it any more. A fault does not pass: what
// stumbles over the state does so again.
func MayPass(err error) bool {
	// Bounded: by four reasons.
	for _, place := range []error{ErrLaneOrder, ErrLaneFull, ErrActorBusy, ErrTime} {
		if errors.Is(err, place) {
			return true
		}
	}
	return fees.MayBecomeValid(err)
}
