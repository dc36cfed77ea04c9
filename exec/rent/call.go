package rent

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// Call is an operation on rent by an account: an instruction, or the host call of a
// handler. A method that fails may have changed something: who calls undoes it.
type Call struct{ *service.Call }

func (c Call) block() *Block {
	return &Block{State: c.State, Params: c.Params, Height: c.Height}
}

var errNoActor = verdict.New(verdict.Missing, "no such actor")

// Prepay pays the arrears of an actor and so many epochs out of the caller's balance, and
// returns what that took. It may use the caller's reserve for rent.
func (c Call) Prepay(a chain.Address, epochs uint64) (paid chain.Wei, err error) {
	account, _, err := c.State.Account(a)
	if err != nil {
		return 0, err
	}
	if !account.HasCode() {
		return 0, errNoActor
	}
	owed, ahead, err := c.block().Cost(a, epochs)
	if err != nil {
		return 0, err
	}
	paid = owed + ahead
	if err := judged(c.Run.Debit(c.By, paid)); err != nil {
		return 0, err
	}
	return paid, errors.Join(c.Run.Burn(paid), c.block().Prepay(a, ahead))
}

// BeginRestore opens a restoration in chunks.
func (c Call) BeginRestore(a chain.Address, deadline chain.Height) error {
	burned, err := c.block().BeginRestore(a, c.By, deadline)
	return errors.Join(c.Run.Burn(burned), judged(err))
}

// PutRestored charges a chunk as a write of its bytes and adds it.
func (c Call) PutRestored(a chain.Address, chunk []state.StorageChange) error {
	size, err := stored.Cost(chunk)
	if err != nil {
		return judged(err)
	}
	if err := c.takePut(size); err != nil {
		return err
	}
	return judged(c.block().Put(a, c.By, chunk))
}

// CommitRestore wakes an actor, at the cost of the payer.
func (c Call) CommitRestore(a, payer chain.Address) error {
	b := c.block()
	cost, err := b.RestoreCost(a)
	if err != nil {
		return judged(err)
	}
	if err := b.TakeAllowance(payer, c.By, a, cost); err != nil {
		return err
	}
	if err := judged(c.Run.Debit(payer, cost)); err != nil {
		return err
	}
	e, err := b.CommitRestore(a, c.By)
	if err != nil {
		return judged(err)
	}
	c.Run.Emit(e)
	return c.Run.Burn(cost)
}

// AbortRestore drops what was put in chunks.
func (c Call) AbortRestore(a chain.Address) error {
	burned, err := c.block().AbortRestore(a, c.By)
	return errors.Join(c.Run.Burn(burned), judged(err))
}

// Allow notes that the caller pays for what a restorer will restore.
func (c Call) Allow(restorer, a chain.Address, most chain.Wei, until chain.Height) error {
	if err := c.takePut(state.StorageSize{Bytes: AllowanceBytes}); err != nil {
		return err
	}
	return judged(c.block().Allow(c.By, restorer, a, most, until))
}

// takePut charges what it takes to write so many entries of so many bytes together, whose
// keys are put in order by their hashes.
func (c Call) takePut(size state.StorageSize) error {
	api := &c.Params.API
	return c.Run.Take(chain.Usage{
		Cycles: api.StorageWriteCycles + chain.Cycles(size.Entries)*api.HashCycles + chain.Cycles(size.Bytes)*api.StorageWriteByteCycles,
		Cells:  chain.Cells(size.Bytes) * api.StorageWriteByteCells,
	})
}

// Restore puts a whole storage back at once: the next block compares the root, and wakes
// the actor or gives the money back.
func (c Call) Restore(a, payer chain.Address, entries []state.StorageChange) error {
	burned, err := c.block().RestoreAll(a, c.By, payer, entries)
	return errors.Join(c.Run.Burn(burned), judged(err))
}

// Bond sets the caller's quota and moves the money behind it.
func (c Call) Bond(bytes uint64) error {
	more, back, err := c.block().Bond(c.By, bytes)
	if err != nil {
		return err
	}
	if more > 0 {
		held, err := c.Run.Withheld(c.By, more)
		if err != nil {
			return err
		}
		if held {
			return verdict.New(verdict.Reserve, "the rest of the balance is held for rent")
		}
		if err := judged(c.Run.Debit(c.By, more)); err != nil {
			return err
		}
	}
	c.Run.PutAside(c.By, more)
	if err := funds.Credit(c.State, chain.AddrRent, more); err != nil {
		return err
	}
	if err := funds.Debit(c.State, chain.AddrRent, back, c.Height); err != nil {
		return err
	}
	return c.Run.GiveBack(c.By, back)
}

// refusals are the verdicts on what the packages below refuse, which know of none.
var refusals = []struct {
	err     error
	verdict error
}{
	{funds.ErrShort, verdict.New(verdict.Funds, "the balance is too small")},
	{stored.ErrNotDormant, verdict.New(verdict.Missing, "the actor is not evicted")},
	{stored.ErrNotRestoring, verdict.New(verdict.NotBegun, stored.ErrNotRestoring.Error())},
	{stored.ErrRestoring, verdict.New(verdict.Exists, stored.ErrRestoring.Error())},
	{stored.ErrLate, verdict.New(verdict.State, stored.ErrLate.Error())},
	{stored.ErrUnsettled, verdict.New(verdict.State, stored.ErrUnsettled.Error())},
	{stored.ErrDormant, verdict.New(verdict.State, stored.ErrDormant.Error())},
	{stored.ErrRootMismatch, verdict.New(verdict.Proof, stored.ErrRootMismatch.Error())},
	{stored.ErrIncomplete, verdict.New(verdict.Proof, stored.ErrIncomplete.Error())},
	{stored.ErrDeadline, verdict.New(verdict.Argument, stored.ErrDeadline.Error())},
	{stored.ErrChunk, verdict.New(verdict.Argument, stored.ErrChunk.Error())},
	{stored.ErrOrder, verdict.New(verdict.Argument, stored.ErrOrder.Error())},
	{stored.ErrTooMuch, verdict.New(verdict.Argument, stored.ErrTooMuch.Error())},
}

// judged makes verdicts of what packages funds and state/rent refuse; another error stays
// as it is.
func judged(err error) error {
	if err == nil {
		return nil
	}
	// Bounded: by the rows of the table, some thirteen.
	for _, row := range refusals {
		if errors.Is(err, row.err) {
			return row.verdict
		}
	}
	return err
}
