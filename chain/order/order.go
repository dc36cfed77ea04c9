// Package order decides in which order a block's transactions run (whitepaper
// §6.5; resolutions 1.4, 11.15, 11.41). The proposer's packer and every
// verifier call the same functions here.
//
// In: the VRF output that the proposer proves once per block, and the block's
// transactions in any order. Out: the one order they may stand in.
//
// # The rule
//
// A block is a sequence of segments, one per lane, in the order of the lane
// numbers. Within a segment every transaction has the key
// keccak256(vrf_out ‖ tx_hash); sorting by it gives each transaction a slot.
// Then each sender's transactions are put into that sender's slots in nonce
// order. So a proposer cannot choose positions, and nobody's nonces are torn
// out of sequence.
//
// # Invariants
//
// The order depends on the set of transactions alone. Which transactions are in
// the set is judged elsewhere: gaps between nonces, duplicates and budgets are
// package exec's verdicts.
package order

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Namespace returns the namespace that order proofs are signed in: the
// consensus namespace of the chain and "_ORDER" (resolutions 11.41, 11.42).
func Namespace(genesis chain.Hash) []byte {
	return chain.OrderNamespace(genesis)
}

// Message returns what the proposer's own BLS key signs to order the block at
// height: the height as 8 big-endian bytes and the parent's beacon. It depends
// on nothing that the proposer chooses (resolution 11.41).
func Message(height chain.Height, parentBeacon chain.Hash) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(parentBeacon)), uint64(height))
	return append(b, parentBeacon[:]...)
}

// Keys returns the order key of every transaction: keccak256(vrf_out ‖ tx_hash).
func Keys(vrfOut chain.Hash, txs []*chain.VerifiedTx) []chain.Hash {
	const preimage = 2 * len(chain.Hash{})
	flat := make([]byte, 0, preimage*len(txs))
	preimages := make([][]byte, len(txs))
	for i, tx := range txs {
		flat = append(append(flat, vrfOut[:]...), tx.Hash[:]...)
		preimages[i] = flat[i*preimage:]
	}
	sums := make([][32]byte, len(txs))
	keccak.SumMany(preimages, sums)
	keys := make([]chain.Hash, len(txs))
	for i := range sums {
		keys[i] = sums[i]
	}
	return keys
}

// Arrange returns the transactions in the order of the block. It changes
// neither its argument nor the transactions.
func Arrange(vrfOut chain.Hash, txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	ranked := make([]slot, len(txs))
	for i, key := range Keys(vrfOut, txs) {
		ranked[i] = slot{tx: txs[i], key: key}
	}
	slices.SortFunc(ranked, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.tx.Lane, b.tx.Lane), bytes.Compare(a.key[:], b.key[:]))
	})
	arranged := make([]*chain.VerifiedTx, len(ranked))
	for start := 0; start < len(ranked); {
		end := start
		for end < len(ranked) && ranked[end].tx.Lane == ranked[start].tx.Lane {
			end++
		}
		refill(ranked[start:end], arranged[start:end])
		start = end
	}
	return arranged
}

// slot is the place that a transaction's key earns for its sender.
type slot struct {
	tx  *chain.VerifiedTx
	key chain.Hash
}

// refill writes the transactions of one segment to out so that every slot stays
// with its sender and each sender's transactions come in nonce order. Two of
// one nonce, which execution will refuse, keep the order of their keys.
func refill(segment []slot, out []*chain.VerifiedTx) {
	slots := make([]int, len(segment)) // grouped by sender, in slot order
	for i := range slots {
		slots[i] = i
	}
	bySender := func(a, b int) int {
		return bytes.Compare(segment[a].tx.Sender[:], segment[b].tx.Sender[:])
	}
	slices.SortStableFunc(slots, bySender)
	nonces := slices.Clone(slots) // grouped likewise, in nonce order
	slices.SortStableFunc(nonces, func(a, b int) int {
		return cmp.Or(bySender(a, b), cmp.Compare(segment[a].tx.Tx.Nonce, segment[b].tx.Tx.Nonce))
	})
	for i, s := range slots {
		out[s] = segment[nonces[i]].tx
	}
}

// Error reports the first transaction that stands where the order rule puts
// another. A block with it is invalid; a proposer that gets it has a bug.
type Error struct {
	Index     int
	Got, Want chain.Hash // transaction hashes
}

func (e *Error) Error() string {
	return fmt.Sprintf("transaction %d is %v, the order puts %v there", e.Index, e.Got, e.Want)
}

// Check reports whether txs stand in the order that [Arrange] gives them. The
// error is an [*Error].
func Check(vrfOut chain.Hash, txs []*chain.VerifiedTx) error {
	for i, want := range Arrange(vrfOut, txs) {
		if txs[i].Hash != want.Hash {
			return &Error{Index: i, Got: txs[i].Hash, Want: want.Hash}
		}
	}
	return nil
}
