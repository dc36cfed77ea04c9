package sigverify

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
)

// cache remembers verified transactions by their full hash. It has two
// generations: when the young one is full it becomes the old one, and the old
// one is forgotten as a whole. So an entry lives for at least one generation
// after its last use, without a list to maintain, and a lookup never writes
// unless it saves an entry from the old generation.
type cache struct {
	bytesMax int

	mu         sync.Mutex // guards everything below; held for one batch of map operations
	txsMax     int
	young, old map[chain.Hash]*chain.VerifiedTx
	bytes      int // of what is in young, by VerifiedTx.HeldBytes
}

func newCache(txsMax, bytesMax int) *cache {
	return &cache{txsMax: txsMax, bytesMax: bytesMax, young: map[chain.Hash]*chain.VerifiedTx{}}
}

// fillKnown fills in every txs[i] that is nil and known under hashes[i], and returns
// how many it found.
func (c *cache) fillKnown(hashes [][32]byte, txs []*chain.VerifiedTx) (found int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, h := range hashes {
		tx := c.young[h]
		if tx == nil {
			if tx = c.old[h]; tx == nil {
				continue
			}
			c.put(tx)
		}
		txs[i] = tx
		found++
	}
	return found
}

// add remembers the transactions; nil ones are skipped.
func (c *cache) add(txs []*chain.VerifiedTx) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tx := range txs {
		if tx != nil && c.young[tx.Hash] == nil {
			c.put(tx)
		}
	}
}

// resize sets how many transactions a generation has at most.
func (c *cache) resize(txsMax int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.txsMax = txsMax
}

func (c *cache) put(tx *chain.VerifiedTx) {
	held := tx.HeldBytes()
	if len(c.young) >= c.txsMax || c.bytes+held > c.bytesMax {
		c.old, c.young, c.bytes = c.young, make(map[chain.Hash]*chain.VerifiedTx, len(c.young)), 0
	}
	c.young[tx.Hash] = tx
	c.bytes += held
}
