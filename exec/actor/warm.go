package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// Warm is the code that a block has used. Who uses a hash first pays for compiling
// its source, before that is done, and nobody after it, whatever caches hold: so
// compiling is never free, and what it costs is the same on every node (ADR 58).
//
// It belongs to the block. What was paid stays paid although the handler, or the
// transaction, was undone. It serves one goroutine.
type Warm struct {
	before func(chain.Hash) bool // what it stands on; nil: nothing
	codes  map[chain.Hash]use
}

// use is what is known of one hash.
type use struct {
	asked, before bool // somebody asked, and was told that it was warm before
	paid          bool // here
}

// NewWarm returns a set that stands on another, of which it asks what it does not
// know; nil stands for nothing, as at the beginning of a block.
func NewWarm(before func(chain.Hash) bool) *Warm {
	return &Warm{before: before, codes: make(map[chain.Hash]use)}
}

// has reports whether the code needs no payment any more.
func (w *Warm) has(h chain.Hash) bool {
	u := w.codes[h]
	if !u.paid && !u.asked {
		u.asked, u.before = true, w.before != nil && w.before(h)
		w.codes[h] = u
	}
	return u.paid || u.before
}

// pay notes that the code was paid for.
func (w *Warm) pay(h chain.Hash) {
	u := w.codes[h]
	u.paid = true
	w.codes[h] = u
}

// Paid reports whether the code was paid for in this set.
func (w *Warm) Paid(h chain.Hash) bool { return w.codes[h].paid }

// Stands reports whether what the set was told is so in the set of the block.
func (w *Warm) Stands(block *Warm) bool {
	for h, u := range w.codes {
		if u.asked && u.before != block.Paid(h) {
			return false
		}
	}
	return true
}

// Take adds what another set has paid for.
func (w *Warm) Take(other *Warm) {
	for h, u := range other.codes {
		if u.paid {
			w.pay(h)
		}
	}
}

// Reset empties the set and has it stand on another.
func (w *Warm) Reset(before func(chain.Hash) bool) {
	w.before = before
	clear(w.codes)
}

// loadCycles is what the first use of a program in a block costs.
func (b *Block) loadCycles(p *pvm.Program, source []byte) chain.Cycles {
	return max(b.sourceCycles(source), chain.Cycles(p.CompileCycles))
}

// sourceCycles is what the bytes of a source cost, tokens or not.
func (b *Block) sourceCycles(source []byte) chain.Cycles {
	return chain.Cycles(b.costs.DeployByte) * chain.Cycles(len(source))
}

// LoadOf returns the hash of the code at an address, and what its first use in a
// block costs; zero without code.
func LoadOf(v state.Unrooted, to chain.Address) (code chain.Hash, cycles chain.Cycles, err error) {
	a, err := v.Traits(to)
	if err != nil || !a.HasCode() {
		return code, 0, err
	}
	rec, err := ReadRecord(v, to)
	if err != nil || rec == nil {
		return code, 0, err
	}
	return a.CodeHash, rec.Load, nil
}

// load charges the first use of an actor's code in the block out of the purse, which
// is what is there for loading and running, and returns the charge; false where it
// does not cover it. Nothing was compiled then.
func (r *Run) load(hash chain.Hash, rec *Record, purse chain.Cycles) (chain.Cycles, bool) {
	if r.start.Warm.has(hash) {
		return 0, true
	}
	if rec.Load > purse {
		r.loaded += purse
		return purse, false
	}
	r.start.Warm.pay(hash)
	r.loaded += rec.Load
	return rec.Load, true
}
