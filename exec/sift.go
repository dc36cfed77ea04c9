package exec

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// Selection is what a proposer would have in a block.
type Selection struct {
	Txs []*chain.VerifiedTx

	// Spare says which of them stand back behind the others: they are in the block
	// only where its lane has room for them besides what all others may use, and
	// their actor the cycles. nil: none.
	Spare []bool
	Slack chain.Usage // that the others leave in the spares' lane, if they use what they were counted with

	// Counts are what the others were counted with. nil: messages and other users'
	// transactions with a payload with their limits, the rest with what it uses.
	Counts []chain.Usage

	Watch Watch // of the proposer's time
}

// IsSpare reports whether a transaction stands back.
func (s *Selection) IsSpare(i int) bool { return s.Spare != nil && s.Spare[i] }

// counted is what a transaction that is no spare was counted with, and whether what it
// does not use of that is the spares'.
func (s *Selection) counted(i int) (chain.Usage, bool) {
	tx := s.Txs[i]
	switch {
	case tx.Lane != chain.LaneUser:
		return chain.Usage{}, false
	case s.Counts != nil:
		return s.Counts[i], true
	}
	return limitsOf(tx), len(tx.Tx.Payload) > 0
}

// slack is what is left for spares; below zero where others used more than they were
// counted with.
type slack struct{ cycles, cells int64 }

func (s *slack) add(u chain.Usage) {
	s.cycles += int64(u.Cycles) // limits are far below 2^63
	s.cells += int64(u.Cells)
}

func (s *slack) take(u chain.Usage) {
	s.cycles -= int64(u.Cycles)
	s.cells -= int64(u.Cells)
}

func (s *slack) holds(u chain.Usage) bool {
	return int64(u.Cycles) <= s.cycles && int64(u.Cells) <= s.cells
}

// Sifted is a block of those transactions of a selection that may stand in it.
type Sifted struct {
	Result
	Kept    []*chain.VerifiedTx // in their order
	Refused []*InvalidTx        // the others; Index is the place in the selection, Err may be a [*Fault]
	Cut     bool                // time was over before the end
}

// Sift is [Apply] for a proposer: what may not stand behind those kept before it is
// left out. Left out are thereby the later transactions of its sender, too. So is what
// ends in a fault or a panic, which to [Apply] is this node's: a proposer need not
// have it, and whoever gets a block with it has to stop. The error is a [*Fault] of
// what is no transaction.
func Sift(view state.View, in Inputs, sel *Selection) (Sifted, error) {
	s, err := Begin(view, in, len(sel.Txs))
	if err != nil {
		return Sifted{}, err
	}
	v := s.Sieve(sel)
	if err := v.From(0); err != nil {
		return Sifted{}, err
	}
	return v.Finish()
}

// Sieve is a block under way that leaves transactions out.
type Sieve struct {
	steps *Steps
	sel   *Selection
	out   Sifted
	slack slack
	// promised are the limits of those to come that are no spares, to the actors that
	// spares call.
	promised map[chain.Address]chain.Cycles
}

// Sieve makes a sieve of a block that was just begun.
func (s *Steps) Sieve(sel *Selection) *Sieve {
	v := &Sieve{steps: s, sel: sel, promised: map[chain.Address]chain.Cycles{}}
	v.slack.add(sel.Slack)
	v.out.Kept = make([]*chain.VerifiedTx, 0, len(sel.Txs))
	// Bounded: by what the packer has chosen for a block, once each.
	for i := range sel.Txs {
		if to := sel.Txs[i].Tx.To; sel.IsSpare(i) && to != nil {
			v.promised[*to] = 0
		}
	}
	// Bounded: by what the packer has chosen for a block, once each.
	for i, tx := range sel.Txs {
		if !sel.IsSpare(i) && v.rivals(tx) {
			v.promised[*tx.Tx.To] += tx.Tx.CyclesLimit
		}
	}
	return v
}

// rivals reports whether spares call the same actor.
func (v *Sieve) rivals(tx *chain.VerifiedTx) bool {
	if tx.Tx.To == nil || len(tx.Tx.Payload) == 0 {
		return false
	}
	_, ok := v.promised[*tx.Tx.To]
	return ok
}

// From takes the transactions from i on, one after the other, while there is time. The
// error is a [*Fault].
func (v *Sieve) From(i int) error {
	// Bounded: by what the packer has chosen for a block, once each.
	for ; i < len(v.sel.Txs) && !v.out.Cut; i++ {
		if v.sel.Watch.IsOver() {
			v.LeaveFrom(i)
			return nil
		}
		if err := v.Transact(i); err != nil {
			return err
		}
	}
	return nil
}

// LeaveFrom leaves out transaction i and all behind it: time is over.
func (v *Sieve) LeaveFrom(i int) {
	v.out.Cut = true
	// Bounded: by what the packer has chosen for a block, once each.
	for ; i < len(v.sel.Txs); i++ {
		v.out.Refused = append(v.out.Refused, &InvalidTx{Index: i, Err: ErrTime})
	}
}

// Transact takes the next transaction, or leaves it out. One under way when time ends
// is left out with those behind it. The error is a [*Fault].
func (v *Sieve) Transact(i int) error {
	if !v.Admit(i) {
		return nil
	}
	b := v.steps.b
	mark, took := b.state.Snapshot(), v.sel.Watch.Measure(i)
	// What is left out has paid for no code that those behind it use.
	block := b.warm
	b.warm = actor.NewWarm(block.On)
	a, err := v.attempt(i)
	paid := b.warm
	b.warm = block
	v.sel.Watch.Note(i, a.Used(), took())
	if v.sel.Watch.IsOver() {
		b.state.Revert(mark)
		v.LeaveFrom(i)
		return nil
	}
	if err != nil {
		b.state.Revert(mark)
		return v.Refuse(i, err)
	}
	if err := b.settle(v.sel.Txs[i], &a); err != nil {
		return err
	}
	b.warm.Take(paid)
	v.Keep(i)
	return nil
}

// attempt runs a transaction and makes a fault of a panic.
func (v *Sieve) attempt(i int) (a Attempt, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return v.steps.b.attempt(i, v.sel.Txs[i])
}

// Admit reports whether the block has room for the next transaction; if not, that is
// left out. For a spare, [Steps.Transact] and an attempt in place then judge what its
// actor has besides what is promised.
func (v *Sieve) Admit(i int) bool {
	tx, b := v.sel.Txs[i], v.steps.b
	b.promised = 0
	if !v.sel.IsSpare(i) {
		if v.rivals(tx) {
			v.promised[*tx.Tx.To] -= tx.Tx.CyclesLimit
		}
		return true
	}
	if limits := limitsOf(tx); !v.slack.holds(limits) {
		v.out.Refused = append(v.out.Refused, &InvalidTx{Index: i, Err: fmt.Errorf("%w: %+v, slack %+v", ErrLaneFull, limits, v.slack)})
		return false
	}
	if tx.Tx.To != nil {
		b.promised = v.promised[*tx.Tx.To]
	}
	return true
}

// Keep books a transaction that was admitted and is settled.
func (v *Sieve) Keep(i int) {
	tx := v.sel.Txs[i]
	v.out.Kept = append(v.out.Kept, tx)
	r := v.steps.b.result.Receipts
	used := chain.Usage{Cycles: r[len(r)-1].CyclesUsed, Cells: r[len(r)-1].CellsUsed}
	if v.sel.IsSpare(i) {
		v.slack.take(used)
	} else if counted, ok := v.sel.counted(i); ok {
		v.slack.add(counted)
		v.slack.take(used)
	}
}

// Refuse leaves out transaction i, which was admitted last, for a verdict on it or
// because it ends in a fault. What it wrote is taken back by the caller. Any other
// error is returned.
func (v *Sieve) Refuse(i int, err error) error {
	var invalid *InvalidTx
	switch {
	case errors.As(err, &invalid):
	case errors.As(err, new(*Fault)):
		invalid = &InvalidTx{Index: i, Err: err}
	default:
		return err
	}
	v.out.Refused = append(v.out.Refused, invalid)
	if counted, ok := v.sel.counted(i); ok && !v.sel.IsSpare(i) {
		v.slack.add(counted)
	}
	return nil
}

// Finish does what comes after the transactions. The error is a [*Fault].
func (v *Sieve) Finish() (out Sifted, err error) {
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
