package pvm

import "container/list"

// Cache keeps programs by hash. Results and cycles are the same with every
// cache, one that keeps nothing included.
type Cache interface {
	Get(Hash) (*Program, bool)
	Put(*Program)
}

// LRU is a cache of the programs used last, bounded by their source bytes. It
// serves one goroutine.
type LRU struct {
	room  int // bytes
	used  int
	order *list.List // of *Program, the last used in front
	index map[Hash]*list.Element
}

// NewLRU returns a cache of so many bytes of source; 0 keeps nothing.
func NewLRU(bytes int) *LRU {
	return &LRU{room: bytes, order: list.New(), index: make(map[Hash]*list.Element)}
}

// Get returns a kept program.
func (c *LRU) Get(h Hash) (*Program, bool) {
	e, ok := c.index[h]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*Program), true
}

// Put keeps a program and lets the least used ones go.
func (c *LRU) Put(p *Program) {
	if _, ok := c.index[p.Hash]; ok || p.Bytes > c.room {
		return
	}
	c.index[p.Hash] = c.order.PushFront(p)
	c.used += p.Bytes
	for c.used > c.room {
		last := c.order.Back()
		old := c.order.Remove(last).(*Program)
		delete(c.index, old.Hash)
		c.used -= old.Bytes
	}
}

// Len returns the number of programs kept.
func (c *LRU) Len() int { return c.order.Len() }
