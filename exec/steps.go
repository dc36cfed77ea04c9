package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// Steps is a block under way, for who takes its transactions in another way than
// one after the other (package exec/parallel). What [Apply] does with it says
// what is right.
//
// A transaction is either taken by [Steps.Transact], or executed speculatively by a
// [Worker] on an overlay of its own; then, when everything before it is committed and
// what it has read is still so, its writes are taken over and [Steps.Commit] books it.
//
// Owner: one goroutine at a time, in parallel execution the holder of the commit role.
// Workers are apart: each reads Inputs and its own overlay alone. The calls come in the
// order Begin, then Transact or Commit for each transaction in turn, then Finish; after an
// error there is nothing but to drop it.
type Steps struct{ b *block }

// Begin starts a block of n transactions and does what comes before them. The
// error is a [*Fault].
func Begin(view state.View, in Inputs, n int) (*Steps, error) {
	if in.Height == 0 {
		return nil, &Fault{"start block", ErrHeight}
	}
	if in.Engine != nil {
		in.Engine.Turn()
	}
	b := newBlock(view, in)
	return &Steps{b}, b.begin(n)
}

// State is the state with everything that was committed. Who commits speculative executions
// merges their writes into it before Finish, and nobody else writes it.
func (s *Steps) State() *state.Overlay { return s.b.state }

// Reserved is what the block's timers may take of their lane, of which transactions have
// the rest. It is that of a block which has just begun, for whoever packs it.
func (s *Steps) Reserved() chain.Usage { return s.b.forTimers }

// LeftOf returns what cycles an actor has for messages, besides those that are held back
// for its due timers. The error is a [*Fault].
func (s *Steps) LeftOf(a chain.Address) (chain.Cycles, error) {
	return s.b.leftOf(a)
}

// Transact runs the next transaction on State and books it. The error is an
// [*InvalidTx] or a [*Fault].
func (s *Steps) Transact(index int, tx *chain.VerifiedTx) error { return s.b.transact(index, tx) }

// Pay executes and books the next transaction if it is a payment that succeeds, on
// accounts that nobody else writes meanwhile. Otherwise it has written nothing, and
// [Worker.Execute] or Transact has to. The error is a [*Fault].
func (s *Steps) Pay(tx *chain.VerifiedTx, in Accounts) (done bool, err error) {
	p, ok := s.payable(tx, in)
	if !ok {
		return false, nil
	}
	return true, s.b.takePayment(tx, p)
}

// payable works out a payment, which is good until the next call; what panics on the way
// is left to the rule.
func (s *Steps) payable(tx *chain.VerifiedTx, in Accounts) (p *payment, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.b.payable(tx, in)
}

// Fits reports whether the next transaction may stand in its place: its lane has
// not ended and has room for its limits and its bytes (resolution 11.14).
func (s *Steps) Fits(tx *chain.VerifiedTx) bool {
	return tx.Lane >= s.b.lane && s.b.budget.Fits(tx.Lane, needOf(tx))
}

// Warm is the code that was used by what is committed. Who commits changes it.
func (s *Steps) Warm() *actor.Warm { return s.b.warm }

// Commit books the next transaction, whose writes are in State or will be. What code
// it has paid for is the caller's to add to [Steps.Warm]. The error is a [*Fault].
func (s *Steps) Commit(tx *chain.VerifiedTx, a *Execution) error { return s.b.commit(tx, a) }

// Finish does what comes after the transactions. The error is a [*Fault].
func (s *Steps) Finish() (Result, error) {
	if err := s.b.finish(); err != nil {
		return Result{}, err
	}
	return s.b.result, nil
}

// Worker executes transactions with an engine of its own. It serves one
// goroutine; workers of one block may work at the same time.
type Worker struct {
	steps *Steps
	in    Inputs
}

// Worker returns a worker for the block.
func (s *Steps) Worker(e *pvm.Engine) *Worker {
	w := &Worker{s, *s.b.in}
	w.in.Engine = e
	return w
}

// Execute runs a transaction on an overlay, and on code that the block has used, with
// everything but its place in the block judged. With inPlace the place is judged as well,
// for which all before it must be committed and nobody else may commit meanwhile. The
// error is an [*InvalidTx] or a [*Fault]. Ignore both result and error unless the
// overlay's reads validate: a speculative execution may have seen a mix of states that no
// serial order produces.
func (w *Worker) Execute(o *state.Overlay, warm *actor.Warm, index int, tx *chain.VerifiedTx, inPlace bool) (Execution, error) {
	b := &block{in: &w.in, state: o, warm: warm, actors: w.steps.b.actors}
	if inPlace {
		b.budget, b.lane, b.reserved = w.steps.b.budget, w.steps.b.lane, w.steps.b.reserved
	}
	return b.execute(index, tx)
}
