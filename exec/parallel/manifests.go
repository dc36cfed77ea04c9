package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// manifests are the lists of grants that the executor's blocks have parsed, for all
// its workers.
type manifests struct {
	mu   sync.RWMutex // guards memo
	memo *manifest.Memo
}

// Get implements manifest.Cache.
func (m *manifests) Get(h chain.Hash) (manifest.Grants, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.memo.Get(h)
}

// Put implements manifest.Cache.
func (m *manifests) Put(h chain.Hash, g manifest.Grants, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memo.Put(h, g, bytes)
}
