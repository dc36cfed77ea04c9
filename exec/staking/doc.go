// Package staking is the staking actor at [chain.AddrStaking]: what convicts a validator,
// what a block pays those who keep the chain, and the record of the supply.
//
// In: an overlay, the validators of the epoch, evidence. Out: writes on the overlay, or a
// verdict; any other error is a fault.
//
// # Invariants
//
// Total = sum of all balances, and changes by issued - burned in every block. An offence
// is convicted once.
//
// The package is pure.
package staking

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// Instructions returns the instructions. Convictions are few and everybody's gain: nobody
// pays for their place in the state.
func Instructions() service.Table {
	return service.Table{Address: chain.AddrStaking, Instructions: []service.Instruction{
		{Opcode: chain.OpEvidenceSubmit, Read: readWords, Run: submitEvidence, OwnGrowth: true},
	}}
}
