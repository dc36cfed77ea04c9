package trial

import (
	"context"
	"net/netip"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// Quote is what a transaction would do, and the limits to send it with.
type Quote struct {
	exec.Estimation
	Height chain.Height // of the head that it was tried on
	// Suggested are limits with which it does the same: they hold more than is
	// used where messages reserve cycles that come back.
	Suggested chain.Usage
}

// searchSteps bounds how often a transaction is run again to find how low its
// cycles limit may be.
const searchSteps = 6

// Estimate tries a transaction for a client; [exec.Estimate] says what is taken of it. The
// error is an [*exec.InvalidTx] for one that no block takes.
func (b *Bench) Estimate(ctx context.Context, client netip.Addr, sender chain.Address, tx chain.Tx) (Quote, error) {
	var out Quote
	err := b.do(ctx, client, func(_ *pvm.Engine, head Head) (err error) {
		out.Height = head.Inputs.Height - 1
		if out.Estimation, err = exec.Estimate(head.State, head.Inputs, sender, tx); err != nil {
			return err
		}
		out.Suggested, err = suggest(ctx, head, sender, tx, &out.Estimation)
		return err
	})
	if err != nil {
		return Quote{}, err
	}
	return out, nil
}

// suggest looks for limits as low as what a transaction used, within an eighth.
func suggest(ctx context.Context, head Head, sender chain.Address, tx chain.Tx, first *exec.Estimation) (chain.Usage, error) {
	high := chain.Usage{Cycles: first.Limits.Cycles, Cells: first.Used.Cells}
	low := first.Used.Cycles
	try := low // mostly what is used is enough
	for range searchSteps {
		if high.Cycles <= low+low/8 || ctx.Err() != nil {
			break
		}
		tx.CyclesLimit, tx.CellsLimit = try, high.Cells
		again, err := exec.Estimate(head.State, head.Inputs, sender, tx)
		if err != nil {
			return high, err
		}
		if again.Code == first.Code && again.Used == first.Used {
			high.Cycles = try
		} else {
			low = try
		}
		try = low + (high.Cycles-low)/2
		if high.Cycles == first.Used.Cycles {
			break
		}
	}
	return high, nil
}
