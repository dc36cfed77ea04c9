package store

import (
	"runtime"

	"github.com/cowboy-foundation/cowboy/state/tree"
)

// NewForest returns an empty forest as a store has it: its memory is the
// operating system's and not the collector's. Gigabytes of tries without pointers
// would only mislead the collector, which waits until garbage is as much as what
// is live: a node would take twice the memory, and write all that it makes in a
// block to memory that it never used before.
func NewForest(workers int) *tree.Forest {
	return newForest(workers, &pages{})
}

func newForest(workers int, p *pages) *tree.Forest {
	f := tree.NewForest(workers, p.allocate)
	runtime.AddCleanup(f, (*pages).free, p)
	return f
}

// largePagesMin is from how many bytes on a piece of memory is worth large pages.
const largePagesMin = 4 << 20
