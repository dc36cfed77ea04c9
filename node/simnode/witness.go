package simnode

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Breaches of the invariants.
var (
	ErrFork       = errors.New("two honest validators made different blocks final at a height")
	ErrGap        = errors.New("final heights do not follow each other")
	ErrForgotten  = errors.New("a block that was reported final is gone")
	ErrDoubleVote = errors.New("an honest validator contradicts itself")
	ErrEnded      = errors.New("a validator ended by itself, though its disk works")
	ErrUnnoticed  = errors.New("a plain lie was told, and no honest validator banned the liar")
	ErrBudget     = errors.New("an honest validator holds more bytes than its budget")
	ErrStalled    = errors.New("an honest validator does not get on after the faults ended")
)

// witness sees every word that leaves an honest machine and every block that
// becomes final on one, and keeps the first breach.
type witness struct {
	trace *trace

	mu sync.Mutex
	// Lives of one key that do not know of each other contradict themselves: it is
	// counted, and is a breach only where a run is not about that.
	tolerant       bool
	contradictions int

	breach error
	broken chan struct{}                            // closed with the first breach
	said   []map[chain.View][]simplex.Vote          // by machine: one vote of each kind and payload
	final  map[chain.Height]finalBlock              // by whoever was first
	height []chain.Height                           // by machine
	view   chain.View                               // newest that an honest machine voted in
	voted  map[chain.View][simplex.Finalize + 1]int // honest votes that left, by kind
}

type finalBlock struct {
	digest, root chain.Hash
	view         chain.View
	by           int
	at           time.Time
}

func newWitness(n int, tr *trace) *witness {
	w := &witness{
		trace: tr, broken: make(chan struct{}), final: map[chain.Height]finalBlock{},
		said: make([]map[chain.View][]simplex.Vote, n), height: make([]chain.Height, n), voted: map[chain.View][simplex.Finalize + 1]int{},
	}
	for i := range w.said {
		w.said[i] = map[chain.View][]simplex.Vote{}
	}
	return w
}

// breaks keeps the first breach. w.mu is held.
func (w *witness) breaks(err error) {
	if w.breach == nil {
		w.breach = err
		w.trace.note("BREACH %v", err)
		close(w.broken)
	}
}

func (w *witness) broke() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.breach
}

// vote is a vote that leaves an honest machine. It reports whether it is said for
// the first time.
func (w *witness) vote(machine int, v simplex.Vote) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := v.Proposal.Round.View
	for _, other := range w.said[machine][at] {
		if attest.Contradicts(other.Kind, other.Proposal, v.Kind, v.Proposal) {
			if w.tolerant {
				w.contradictions++
				w.trace.note("CONTRADICTION %d: %s and %s in view %d", machine, other.Kind, v.Kind, at)
				return true
			}
			w.breaks(fmt.Errorf("%w: %d said %s %v and %s %v in view %d", ErrDoubleVote, machine, other.Kind, other.Proposal.Payload, v.Kind, v.Proposal.Payload, at))
			return false
		}
		if other.Kind == v.Kind {
			return false // it is said again
		}
	}
	w.said[machine][at] = append(w.said[machine][at], v)
	counts := w.voted[at]
	counts[v.Kind]++
	w.voted[at] = counts
	w.view = max(w.view, at)
	return true
}

// finalized is a block that a machine has durably, and says so.
func (w *witness) finalized(machine int, height chain.Height, b finalBlock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b.by, b.at = machine, time.Now()
	if height != w.height[machine]+1 {
		w.breaks(fmt.Errorf("%w: %d has %d after %d", ErrGap, machine, height, w.height[machine]))
	}
	w.height[machine] = height
	first, ok := w.final[height]
	switch {
	case !ok:
		w.final[height] = b
	case first.digest != b.digest || first.root != b.root:
		w.breaks(fmt.Errorf("%w: %d: %v of view %d by %d, %v of view %d by %d", ErrFork, height, first.digest, first.view, first.by, b.digest, b.view, machine))
	}
}

// starts compares what a new life of a machine finds with what the one before
// had reported.
func (w *witness) starts(machine int, height chain.Height, digest chain.Hash) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if height < w.height[machine] {
		w.breaks(fmt.Errorf("%w: %d had %d and finds %d", ErrForgotten, machine, w.height[machine], height))
	}
	if b, ok := w.final[height]; ok && b.digest != digest {
		w.breaks(fmt.Errorf("%w: %d starts on %v at %d, others have %v", ErrFork, machine, digest, height, b.digest))
	}
	w.height[machine] = height
}

// level returns the lowest and highest final height of the machines, and the
// newest view that an honest one voted in.
func (w *witness) level(honest func(int) bool) (low, high chain.Height, view chain.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := true
	for i, h := range w.height {
		if !honest(i) {
			continue
		}
		if first || h < low {
			low = h
		}
		high, first = max(high, h), false
	}
	return low, high, w.view
}

// heightOf returns the final height of one machine.
func (w *witness) heightOf(machine int) chain.Height {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.height[machine]
}

// fault is a breach that was found elsewhere.
func (w *witness) fault(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaks(err)
}

// places makes room for more machines than validators.
func (w *witness) places(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.height) < n {
		w.height = append(w.height, 0)
	}
}

// restored says that a machine was set back on purpose.
func (w *witness) restored(place int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.height[place] = 0
}

// restartChain begins the chain of final blocks anew: nobody remembers them.
func (w *witness) restartChain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.final)
	clear(w.height)
}
