package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// warm is what executions are told of the code that the block has used before them. Who
// uses a code first pays for it, so all who use it depend on one; yet nobody waits:
// code is taken to be paid for by the first message before that goes to an actor which
// has it, or is expected to run one, and whoever commits looks whether it was. On such a
// guess nobody compiles more than they could pay for (ADR 92).
//
// Owner: the commit role writes block; planning, under run.mu, writes direct; executions
// read both. guess may be wrong in both directions; [actor.Warm.Stands] judges it when the
// transaction commits, with block as it is then.
type warm struct {
	mu     sync.RWMutex // guards what follows
	block  *actor.Warm  // by what is committed
	direct map[chain.Hash]int
}

func newWarm(block *actor.Warm) *warm { return &warm{block: block, direct: map[chain.Hash]int{}} }

// expect notes that transaction i, the next to be planned, uses code.
func (w *warm) expect(i int, code chain.Hash) {
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

// guess says whether code will have been paid for when transaction i is committed, and
// whether that is certain.
func (w *warm) guess(i int, code chain.Hash) (paid, certain bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	first, ok := w.direct[code]
	certain = w.block.Paid(code)
	return certain || ok && first < i, certain
}

// paid says whether code is paid for: at the commit index, where nobody else commits.
func (w *warm) paid(code chain.Hash) (paid, certain bool) { return w.block.On(code) }

// commit adds what a committed transaction has paid for.
func (w *warm) commit(a *actor.Warm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.block.Merge(a)
}
