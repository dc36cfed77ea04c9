package host

import "github.com/cowboy-foundation/cowboy/chain"

// Timer is a timer to be set: at Height, or for Every > 0 each so many blocks,
// first at Height where that is not 0.
type Timer struct {
	Height  uint64
	Every   uint64
	To      chain.Address  // receiver; zero: the actor itself
	Handler string         // 1 to 256 bytes
	Data    []byte         // canonical
	Bidder  *chain.Address // Gas Bidding Agent; nil: the network's formula
	Cycles  uint64         // limit of the firing; 0: the default
	Cells   uint64         // likewise
}

// Timers is the scheduler (whitepaper, Native Timers; §3.3). Deposit, surcharge
// and the timer base fee are taken from the actor's balance when a timer is set;
// the fee of its firing is escrowed (resolution 11.25).
type Timers interface {
	// SetTimer refuses with RefusedPast at or below the present height, RefusedFunds,
	// RefusedQuota beyond timer.schedule's max_timers, and RefusedLimit further
	// ahead than the protocol allows. Charge: timer, timer_file.
	SetTimer(t Timer) (ID, error)
	// ExtendTimer moves a pending timer of the actor to a later height; deposit
	// and handler stay, the surcharge of the new height is due. Refuses with
	// RefusedTarget, RefusedPast, RefusedArgument for an earlier height than the
	// timer's. Charge: timer, timer_file.
	ExtendTimer(id ID, height uint64) error
	// CancelTimer tells whether a timer of the actor was pending; its deposit
	// comes back. Charge: timer_cancel, timer_file.
	CancelTimer(id ID) (bool, error)
}
