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
	before Before
	codes  map[chain.Hash]use

	lent         chain.Cycles // of codes compiled here on a guess
	mispredicted bool         // a guess was not worked for: what ran means nothing
}

// Before says what a set stands on: whether a code was paid for, and whether that is
// certain. nil is nothing.
type Before func(chain.Hash) (paid, certain bool)

// use is what is known of one hash.
type use struct {
	asked, before bool // somebody asked, and was told that it was warm before
	guess         bool // which is not certain
	paid          bool // here
}

// NewWarm returns a set that stands on another, of which it asks what it does not
// know; nil stands for nothing, as at the beginning of a block.
func NewWarm(before Before) *Warm {
	return &Warm{before: before, codes: make(map[chain.Hash]use)}
}

// On is [Before] for what stands on this set, which does not change meanwhile.
func (w *Warm) On(h chain.Hash) (paid, certain bool) { return w.Paid(h), true }

// has reports whether the code needs no payment any more.
func (w *Warm) has(h chain.Hash) bool {
	u := w.codes[h]
	if !u.paid && !u.asked {
		certain := true
		if u.asked = true; w.before != nil {
			u.before, certain = w.before(h)
		}
		u.guess = u.before && !certain
		w.codes[h] = u
	}
	return u.paid || u.before
}

// borrow reports whether code may be compiled that is taken for paid for: where that is
// a guess, only by who could pay for all that was compiled so. Nobody makes nodes compile
// for nothing.
func (w *Warm) borrow(h chain.Hash, load, purse chain.Cycles) bool {
	u := w.codes[h]
	switch {
	case u.paid || !u.guess:
		return true
	case w.lent > purse || load > purse-w.lent:
		w.mispredicted = true
		return false
	}
	w.lent += load
	return true
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
	if w.mispredicted {
		return false
	}
	// Paid: by the message that asked for each code, once a message; the answer does not depend on the order.
	for h, u := range w.codes {
		if u.asked && u.before != block.Paid(h) {
			return false
		}
	}
	return true
}

// Merge adds what another set has paid for.
func (w *Warm) Merge(other *Warm) {
	for h, u := range other.codes {
		if u.paid {
			w.pay(h)
		}
	}
}

// Reset empties the set and has it stand on another.
func (w *Warm) Reset(before Before) {
	w.before, w.lent, w.mispredicted = before, 0, false
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
	a, err := v.CodeAndMeta(to)
	if err != nil || !a.HasCode() {
		return code, 0, err
	}
	rec, err := ReadRecord(v, to)
	if err != nil || rec == nil {
		return code, 0, err
	}
	return a.CodeHash, rec.Load, nil
}

// FirstUse is LoadOf for what somebody puts aside for the code of another on top of
// what the handler may use: no more than actor_limits.load_cycles, as the other may
// become any program there is until then (ADR 89). The handler's own cycles pay the
// rest. An actor puts all of its own aside.
func (b *Block) FirstUse(v state.Unrooted, by, to chain.Address) (code chain.Hash, cycles chain.Cycles, err error) {
	code, cycles, err = LoadOf(v, to)
	if by != to {
		cycles = min(cycles, b.Params.Actor.LoadCycles)
	}
	return code, cycles, err
}

// chargeFirstUse charges the first use of an actor's code in the block out of the purse, which
// is what is there for loading and running, and returns the charge; false where it
// does not cover it. Nothing was compiled then, and nothing is charged.
func (r *Run) chargeFirstUse(hash chain.Hash, rec *Record, purse chain.Cycles) (chain.Cycles, bool) {
	warm := r.start.Warm.has(hash)
	if warm {
		if _, compiled := r.engine.Cached(pvm.Hash(hash)); compiled || r.start.Warm.borrow(hash, rec.Load, purse) {
			return 0, true
		}
	}
	if warm || rec.Load > purse {
		return 0, false
	}
	r.start.Warm.pay(hash)
	r.loaded += rec.Load
	return rec.Load, true
}
