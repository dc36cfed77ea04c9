package host

import "github.com/cowboy-foundation/cowboy/chain"

// RentStatus is how an actor stands with its rent (whitepaper, Rent Payment
// Options, Grace Period and Eviction).
type RentStatus struct {
	State       RentState
	PaidThrough uint64 // epoch
	Prepaid     uint64 // epochs of what is prepaid
	Owed        uint64 // base units, with the catch-up fee
	PerEpoch    uint64 // base units at the present size and rate
	Reserve     uint64 // base units of the balance that rent alone may use
}

// RentState is a stage of the way to eviction.
type RentState uint8

// The stages.
const (
	RentPaid RentState = iota
	RentGrace
	RentWarning
	RentDormant
)

// String returns the stage as programs see it.
func (s RentState) String() string {
	return [...]string{"paid", "grace", "warning", "dormant"}[min(s, RentDormant)]
}

// Restoration brings an evicted actor's storage back.
type Restoration struct {
	Actor   chain.Address
	Entries []Entry       // all of it, in ascending order of keys
	Payer   chain.Address // the actor itself, the caller, or whoever approved it
}

// Rent is the state rent of actors (whitepaper, State Rent; resolution 3).
type Rent interface {
	// RentStatus of any actor. Refuses with RefusedTarget. Charge: get_block_info.
	RentStatus(a chain.Address) (RentStatus, error)
	// PrepayRent pays epochs, at least 1, of rent of any actor out of this one's
	// balance and returns the base units that it took; they do not come back.
	// Refuses with RefusedFunds, RefusedTarget. Charge: system.
	PrepayRent(a chain.Address, epochs uint64) (uint64, error)
	// RestoreStorage refuses with RefusedArgument entries that do not hash to the
	// recorded root, RefusedTarget for an actor that is not dormant, RefusedFunds,
	// RefusedPermission for a payer that does not agree. Charge: system,
	// storage_write_byte per byte of keys and values.
	RestoreStorage(r Restoration) error
}
