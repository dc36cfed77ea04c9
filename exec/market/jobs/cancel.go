package jobs

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
)

// Cancel takes a job back while no runner is assigned, and gives its submitter the escrow
// (resolution 12.22).
func (c *Call) Cancel(id chain.Hash) error {
	j, err := Read(c.State, id)
	switch {
	case err != nil:
		return err
	case j == nil:
		return ErrUnknown
	case j.Submitter != c.By:
		return ErrForeign
	case j.Phase != Fresh && j.Phase != Pending:
		return ErrAssigned
	}
	data := cbor.AppendBytes(cbor.AppendBytes(cbor.AppendArray(nil, 3), id[:]), j.Submitter[:])
	if err := c.keepEvent(EventCancelled, cbor.AppendUint(data, uint64(j.Held))); err != nil {
		return err
	}
	if err := funds.Debit(c.State, chain.AddrJobDispatcher, j.Held, c.Height); err != nil {
		return err
	}
	if err := c.Run.GiveBack(j.Submitter, j.Held); err != nil {
		return err
	}
	j.Held = 0
	return c.book().End(id, j, Cancelled)
}

// End closes a job for which no runner is to be paid: what it holds goes back to its
// submitter, it is drawn for no more, and its rows go after job.keep_blocks. Whoever has
// scheduled something else for it takes that away before. The error is a fault.
func (b *Book) End(id chain.Hash, j *Job, o Outcome) error {
	if err := funds.Move(b.State, chain.AddrJobDispatcher, j.Submitter, j.Held, b.Height); err != nil {
		return err
	}
	j.Held, j.Phase, j.Outcome = 0, Ended, o
	if j.VerdictAt == 0 {
		j.VerdictAt = b.Height
	}
	b.set(AtKey(TableFresh, j.SubmittedAt, id), nil)
	b.set(AtKey(TableLive, j.SubmittedAt, id), nil)
	b.Schedule(id, b.Height+chain.Height(b.Params.Job.KeepBlocks), AtPrune)
	b.Put(id, j)
	return nil
}
