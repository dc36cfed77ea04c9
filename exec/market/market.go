//spec:implements CIP-2 4-6

// Package market puts what the runner market does in a block by itself in its order (CIP-2;
// CIP-11 §7.1). Before the transactions: who has fallen silent, what falls due for jobs, the
// committees of the jobs of the block before, and those of attempts that failed. Behind
// all that changes a runner: verdicts, the registry's pages, the candidates of the jobs of
// this block, and pages that nobody asks for any more. Operations by instruction are those
// of the packages below it.
//
// In: the state of a block under way. Out: writes, events to announce, what is burned, or a
// fault. Every pass is bounded in each block, and what it leaves is first in the next.
//
// The package is pure.
package market

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// Judge gives the verdicts of a block.
type Judge interface {
	// JudgeTouched judges the jobs that have new results. The error is a fault.
	JudgeTouched() error
}

// Begin does what comes before the transactions of a block. The events are to be announced;
// what is burned stands in the runners' book. The error is a fault.
func Begin(d *jobs.Dispatch) ([]chain.Event, error) {
	events, err := d.Runners.Floor()
	if err != nil {
		return nil, err
	}
	if err := d.Promises(); err != nil {
		return nil, err
	}
	if err := d.Due(); err != nil {
		return nil, err
	}
	if err := d.Assign(d.Book.Height - 1); err != nil {
		return nil, err
	}
	if err := d.Retry(); err != nil {
		return nil, err
	}
	return append(events, d.Events...), nil
}

// End does what comes behind all else of a block that changes a runner or submits a job.
// judge is nil where nothing can be judged. The rest is as for Begin.
func End(d *jobs.Dispatch, judge Judge) ([]chain.Event, error) {
	if err := d.CountLane(); err != nil {
		return nil, err
	}
	if judge != nil {
		if err := judge.JudgeTouched(); err != nil {
			return nil, err
		}
	}
	if err := d.Runners.Fold(&d.Book); err != nil {
		return nil, err
	}
	if err := d.Snapshot(); err != nil {
		return nil, err
	}
	if d.Book.Params.Job.SelectionSeed == params.SelectionSeedParent {
		if err := d.Assign(d.Book.Height); err != nil {
			return nil, err
		}
		if err := d.Runners.Fold(&d.Book); err != nil { // who was drawn has less room
			return nil, err
		}
	}
	return d.Events, d.Runners.Forget(&d.Book)
}
