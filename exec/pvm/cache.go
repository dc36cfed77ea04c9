package pvm

import "container/list"

// Cache keeps programs by hash. Results and cycles are the same with every
// cache, one that keeps nothing included.
type Cache interface {
	Get(Hash) (*Program, bool)
	Put(*Program)
	// Turn begins a block. What is used from then on stays until the next turn, so
	// that a block compiles no source twice, whose compilation it pays once.
	Turn()
}

// LRU is a cache of the programs used last, bounded by the bytes that they keep
// compiled. Before its first turn nothing holds it to keep a program. It serves one
// goroutine.
type LRU struct {
	room  int // bytes
	used  int
	turn  uint64
	order *list.List // of *kept, the last used in front
	index map[Hash]*list.Element
}

// kept is a program and the turn in which it was used last.
type kept struct {
	*Program
	turn uint64
}

// NewLRU returns a cache of so many bytes; 0 keeps nothing beyond a turn.
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
	k := e.Value.(*kept)
	k.turn = c.turn
	return k.Program, true
}

// Put keeps a program and lets the least used ones go.
func (c *LRU) Put(p *Program) {
	if _, ok := c.index[p.Hash]; ok || c.turn == 0 && p.Bytes > c.room {
		return
	}
	c.index[p.Hash] = c.order.PushFront(&kept{p, c.turn})
	c.used += p.Bytes
	c.shrink()
}

// Turn implements [Cache]. What a block uses it has paid for, which bounds what goes
// beyond the room.
func (c *LRU) Turn() {
	c.turn++
	c.shrink()
}

// shrink lets go of what was used least recently, but of nothing of this turn.
func (c *LRU) shrink() {
	// Paid: by the compilation of each program that was put there, or what put it goes.
	for c.used > c.room {
		last := c.order.Back()
		old := last.Value.(*kept)
		if c.turn > 0 && old.turn == c.turn {
			return
		}
		c.order.Remove(last)
		delete(c.index, old.Hash)
		c.used -= old.Bytes
	}
}

// Len returns the number of programs kept.
func (c *LRU) Len() int { return c.order.Len() }
