package jobs

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
)

// End closes a job for which no runner is to be paid: what it holds goes back to its
// submitter, it is drawn for no more, and its rows go after job.keep_blocks, which is
// all that falls due for it now. The error is a fault.
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
	b.Schedule(id, j, b.Height+chain.Height(b.Params.Job.KeepBlocks), AtPrune)
	return nil
}
