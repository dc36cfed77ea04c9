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
