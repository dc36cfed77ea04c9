package parallel

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// filter says of a place whether it may have been written since the block's
// transactions began. Most that a transaction reads was not, and to know that
// takes one look at a word which rarely changes.
//
// One goroutine notes, before it writes; any number asks. Who asks before is right
// to read what was there: validation finds out.
//
// It is a Bloom filter with one hash (Bloom, "Space/Time Trade-offs in Hash Coding with
// Allowable Errors", 1970): it errs on one side alone, so a wrong answer costs a lock. Bits
// are set and never cleared while the block runs. Who makes places collide costs the readers
// of these a lock.
type filter struct {
	words   []atomic.Uint64
	mask    uint64      // of bits
	cleared atomic.Bool // a whole storage was, and with it slots that nobody named
}

// bitsPerTx keeps most bits free; leastBits and mostBits bound the memory.
const (
	bitsPerTx = 64
	leastBits = 1 << 12
	mostBits  = 1 << 20
)

func newFilter(txs int) filter {
	n := uint64(1) << bits.Len(uint(min(max(txs*bitsPerTx, leastBits), mostBits)-1))
	return filter{words: make([]atomic.Uint64, n/64), mask: n - 1}
}

// may reports whether a place may have been written.
func (f *filter) may(p *place) bool {
	if p.kind == ofSlot && f.cleared.Load() {
		return true
	}
	h := p.hash() & f.mask
	return f.words[h/64].Load()&(1<<(h%64)) != 0
}

// addChange notes the places of a change.
func (f *filter) addChange(c *state.Change) {
	if c.Cleared {
		f.cleared.Store(true)
	}
	if c.Account != nil || c.Credit != 0 || c.Cleared {
		f.addAccount(c.Address)
	}
	if len(c.Storage) > 0 || c.Cleared {
		f.set(&place{kind: ofSize, addr: c.Address})
	}
	for i := range c.Storage {
		f.set(&place{kind: ofSlot, addr: c.Address, key: c.Storage[i].Key})
	}
}

// addAccount notes an account.
func (f *filter) addAccount(addr chain.Address) { f.set(&place{kind: ofAccount, addr: addr}) }

func (f *filter) set(p *place) {
	h := p.hash() & f.mask
	if w := &f.words[h/64]; w.Load()&(1<<(h%64)) == 0 {
		w.Or(1 << (h % 64))
	}
}

// hash is the same for places that are written together: all that is an account's,
// and all that follows from the whole of a storage.
func (p *place) hash() uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := binary.LittleEndian.Uint64(p.addr[:8])*odd ^ binary.LittleEndian.Uint64(p.addr[8:16])
	h = h*odd ^ uint64(binary.LittleEndian.Uint32(p.addr[16:]))
	switch p.kind {
	case ofAccount, ofCodeAndMeta, ofExists:
	case ofSlot:
		for k := p.key; k != ""; {
			var word [8]byte
			n := copy(word[:], k)
			h = (h^h>>29)*odd ^ binary.LittleEndian.Uint64(word[:])
			k = k[n:]
		}
		h ^= uint64(len(p.key))
	default:
		h = ^h
	}
	h = (h ^ h>>32) * odd
	return h ^ h>>29
}
