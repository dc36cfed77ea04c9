package lanes

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/lanes/sched"
)

// ErrStopped means that the lanes have ended with their node.
var ErrStopped = errors.New("lanes have stopped")

// ErrKnown means that this very transaction is in the pool already. Sending it
// again changes nothing.
var ErrKnown = sched.ErrKnown

// The other refusals, each with the numbers that a sender needs.
type (
	NonceTooLowError = sched.NonceTooLowError
	NonceGapError    = sched.NonceGapError
	BalanceError     = sched.BalanceError
	ReplaceError     = sched.ReplaceError
	SenderFullError  = sched.SenderFullError
	LaneFullError    = sched.LaneFullError
)
