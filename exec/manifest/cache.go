package manifest

import "github.com/cowboy-foundation/cowboy/chain"

// Cache keeps parsed lists of grants by the hashes of their bytes. No result depends
// on what it keeps. Nobody changes what it returns.
type Cache interface {
	Get(chain.Hash) (Grants, bool)
	// Put keeps the grants of a list of so many bytes.
	Put(h chain.Hash, g Grants, bytes int)
}

// CacheBytes of lists are kept parsed by a node: some ten thousand manifests of the
// usual length. Parsed they take up to ten times that.
const CacheBytes = 2 << 20

// Memo is a bounded [Cache] for one goroutine.
type Memo struct {
	room, used int // bytes of lists
	list       map[chain.Hash]Grants
}

// NewMemo returns a cache for so many bytes of lists.
func NewMemo(bytes int) *Memo { return &Memo{room: bytes, list: make(map[chain.Hash]Grants)} }

// Get implements [Cache].
func (c *Memo) Get(h chain.Hash) (Grants, bool) {
	g, ok := c.list[h]
	return g, ok
}

// Put implements [Cache]. A full cache begins anew: whoever fills it has paid for
// each list by its bytes.
func (c *Memo) Put(h chain.Hash, g Grants, bytes int) {
	if _, ok := c.list[h]; ok || bytes > c.room {
		return
	}
	if c.used += bytes; c.used > c.room {
		c.used = bytes
		clear(c.list)
	}
	c.list[h] = g
}
