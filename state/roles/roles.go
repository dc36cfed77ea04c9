// Package roles answers from the state who may send what only some parties may: the rows
// that execution writes and that admission reads at its head, in one place for both
// (resolution 11.13).
//
// In: a view of the state. Out: whether an address has a role, or an error of the view,
// which says nothing about the address.
//
// The package is pure.
package roles

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// RunnerKey is the row under [chain.AddrRunnerRegistry] that is there while an address is
// a runner which has not deregistered. Package exec/market/runners keeps in it when the
// runner was last heard.
func RunnerKey(a chain.Address) state.StorageKey {
	const table = "seen/"
	return state.NewStorageKey(state.VMNamespaceSystem, append(append(make([]byte, 0, len(table)+len(a)), table...), a[:]...))
}

// IsRunner reports whether an address is a registered runner.
func IsRunner(view state.View, a chain.Address) (bool, error) {
	row, err := view.Storage(chain.AddrRunnerRegistry, RunnerKey(a))
	return row != nil, err
}

// SeatKey is the row under [chain.AddrJobDispatcher] that is there for each runner that was
// drawn for a job. Package exec/market/jobs keeps in it which seat the runner has.
func SeatKey(job chain.Hash, runner chain.Address) state.StorageKey {
	const table = "who/"
	b := append(make([]byte, 0, len(table)+len(job)+len(runner)), table...)
	return state.NewStorageKey(state.VMNamespaceSystem, append(append(b, job[:]...), runner[:]...))
}

// SplitSeat reads job and runner back out of a key of [SeatKey]; false for another key.
func SplitSeat(k state.StorageKey) (job chain.Hash, runner chain.Address, ok bool) {
	const head = 1 + len("who/")
	if len(k) != head+len(job)+len(runner) || k[0] != state.VMNamespaceSystem || k[1:head] != "who/" {
		return job, runner, false
	}
	return chain.Hash([]byte(k[head : head+len(job)])), chain.Address([]byte(k[head+len(job):])), true
}

// IsAssigned reports whether an address is a runner that was drawn for a job.
func IsAssigned(view state.View, job chain.Hash, a chain.Address) (bool, error) {
	row, err := view.Storage(chain.AddrJobDispatcher, SeatKey(job, a))
	return row != nil, err
}
