package order

import (
	"github.com/cowboy-foundation/cowboy/chain"
)

// Selection is what a proposer would have in a block. The pool selects and counts it, its
// Arrange puts it into the order of execution, and execution builds the block from it and
// skips what does not fit. It belongs to the goroutine that builds the block; of its
// slices nobody keeps one.
type Selection struct {
	Txs []*chain.VerifiedTx // each sender's in nonce order

	// Overcommitted says which of Txs the block takes only if capacity is left when
	// their turn comes: their lane has room for their limits besides what all others may
	// use, and their actor the cycles. Each is the only one of its sender, so dropping one
	// never reorders the rest. nil: none.
	Overcommitted []bool
	Unreserved    chain.Usage // of the user lane, if the others use what they were counted with

	// Counts are what the others were counted with; zero of the overcommitted. nil, as it is
	// after Arrange where none is: messages and other users' transactions with a payload
	// with their limits, the rest with what it uses.
	Counts []chain.Usage

	// Counted is what all of a lane were counted with, and Cut says of which lanes something
	// that could run was left for want of room: what was counted and is not used may be
	// filled by packing again.
	Counted [chain.NumLanes]chain.Usage
	Cut     [chain.NumLanes]bool
}

// IsOvercommitted reports whether a transaction is in the block only if capacity is left.
func (s *Selection) IsOvercommitted(i int) bool { return s.Overcommitted != nil && s.Overcommitted[i] }

// Arrange puts the selection into the order of the block. What Txs held is not changed.
func (s *Selection) Arrange(by *Arranger, vrfOut chain.Hash) {
	was, over, counts := s.Txs, s.Overcommitted, s.Counts
	s.Txs = by.Arrange(vrfOut, was)
	if over == nil {
		s.Counts = nil // they say what is left for the overcommitted
		return
	}
	at := make(map[*chain.VerifiedTx]int, len(was))
	for i, tx := range was {
		at[tx] = i
	}
	s.Overcommitted = make([]bool, len(was))
	for i, tx := range s.Txs {
		s.Overcommitted[i] = over[at[tx]]
	}
	if counts == nil {
		return
	}
	s.Counts = make([]chain.Usage, len(was))
	for i, tx := range s.Txs {
		s.Counts[i] = counts[at[tx]]
	}
}
