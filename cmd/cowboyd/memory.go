package main

import (
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/cowboy-foundation/cowboy/node/ops"
)

// heapLeast is below what no limit of the heap is set: a node in step needs about as much,
// and a collector that never ends would take all processors.
const heapLeast = 1 << 30

// limitHeap tells the collector what the tries of the state leave it of the machine's
// memory: it lets garbage lie for as long as there is room, and works harder before the
// system kills the process. GOMEMLIMIT in the environment overrides it.
func limitHeap(stateMemory int64, log *slog.Logger) {
	if set := os.Getenv("GOMEMLIMIT"); set != "" {
		log.Info("the heap is limited by the environment", "GOMEMLIMIT", set)
		return
	}
	total, from := ops.Memory()
	if total == 0 {
		return // the system does not tell
	}
	limit := heapLimit(total, uint64(max(stateMemory, 0)))
	debug.SetMemoryLimit(int64(limit))
	log.Info("the collector keeps the heap below a limit; GOMEMLIMIT sets another", "limit_mib", limit>>20, "memory_mib", total>>20, "memory_of", from)
}

// heapLimit is nine tenths of what the tries leave of so much memory, of which they have
// their share by default, if state is 0.
func heapLimit(total, state uint64) uint64 {
	if state == 0 {
		state = ops.StateMemory(total)
	}
	return max((total-min(state, total))/10*9, heapLeast)
}
