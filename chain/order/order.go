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
	"encoding/binary"
	"fmt"

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
	sums := make([][32]byte, len(txs))
	new(keyHashing).sumKeys(vrfOut, txs, sums)
	keys := make([]chain.Hash, len(txs))
	for i := range sums {
		keys[i] = sums[i]
	}
	return keys
}

// sumBatch is how many keys are hashed at a time: their preimages stay in the
// nearest cache, and the hash takes eight of them at once.
const sumBatch = 64

// keyBytes is the preimage of a key.
const keyBytes = 2 * len(chain.Hash{})

// keyHashing has the preimages of some keys.
type keyHashing struct {
	flat      [sumBatch * keyBytes]byte
	preimages [sumBatch][]byte
}

// sumKeys hashes all keys.
func (k *keyHashing) sumKeys(vrfOut chain.Hash, txs []*chain.VerifiedTx, sums [][32]byte) {
	for i := range k.preimages {
		k.preimages[i] = k.flat[i*keyBytes:][:keyBytes]
		copy(k.preimages[i], vrfOut[:])
	}
	for start := 0; start < len(txs); start += sumBatch {
		some := txs[start:min(start+sumBatch, len(txs))]
		for i, tx := range some {
			copy(k.preimages[i][len(vrfOut):], tx.Hash[:])
		}
		keccak.SumMany(k.preimages[:len(some)], sums[start:start+len(some)])
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
func Check(vrfOut chain.Hash, txs []*chain.VerifiedTx) error { return new(Arranger).Check(vrfOut, txs) }

// Check is the function of that name.
func (r *Arranger) Check(vrfOut chain.Hash, txs []*chain.VerifiedTx) error {
	for i, want := range r.Arrange(vrfOut, txs) {
		if txs[i].Hash != want.Hash {
			return &Error{Index: i, Got: txs[i].Hash, Want: want.Hash}
		}
	}
	return nil
}
