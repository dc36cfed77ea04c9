package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// warm is what attempts are told of the code that the block has used before them. Who
// uses a code first pays for it, so all who use it depend on one; yet nobody waits:
// code is taken to be paid for by the first message before that goes to an actor which
// has it, and whoever settles looks whether it was.
type warm struct {
	mu     sync.RWMutex // guards what follows
	block  *actor.Warm  // by what is settled
	direct map[chain.Hash]int
}

func newWarm(block *actor.Warm) *warm { return &warm{block: block, direct: map[chain.Hash]int{}} }

// enter notes that transaction i, the next to be planned, is a message to code.
func (w *warm) enter(i int, code chain.Hash) {
	w.mu.RLock()
	_, known := w.direct[code]
	w.mu.RUnlock()
	if known {
		return
	}
	w.mu.Lock()
	w.direct[code] = i
	w.mu.Unlock()
}

// guess reports whether code will have been paid for when transaction i is settled.
func (w *warm) guess(i int, code chain.Hash) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	first, ok := w.direct[code]
	return ok && first < i || w.block.Paid(code)
}

// is reports whether code is paid for: at the frontier, where nobody else settles.
func (w *warm) is(code chain.Hash) bool { return w.block.Paid(code) }

// take adds what a settled transaction has paid for.
func (w *warm) take(a *actor.Warm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.block.Take(a)
}
