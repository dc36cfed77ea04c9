package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
)

// manifests are the lists of grants that the executor's blocks have parsed, for all
// its workers.
type manifests struct {
	mu   sync.RWMutex // guards memo
	memo *entitle.Memo
}

// Get implements entitle.Cache.
func (m *manifests) Get(h chain.Hash) (entitle.Grants, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.memo.Get(h)
}

// Put implements entitle.Cache.
func (m *manifests) Put(h chain.Hash, g entitle.Grants, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memo.Put(h, g, bytes)
}
