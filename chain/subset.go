//spec:implements CIP-11 5.1-5.2, 5.4
//spec:implements restored 2, 3

package chain

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Bounds of a runner's subset (CIP-11 §5.1).
const (
	minSubset = 3
	maxSubset = 8
)

// SubsetSize returns k, the number of validators a runner connects to when
// there are n: min(n, clamp(ceil(log2 n) + 1, 3, 8)), in integers (CIP-11
// §5.1).
func SubsetSize(n int) int {
	if n <= 0 {
		return 0
	}
	k := bits.Len(uint(n-1)) + 1
	return min(n, max(minSubset, min(maxSubset, k)))
}

// Subset returns Sub(R): the validators of the set that a runner connects to,
// by ascending keccak256(runner key ‖ peer key), ties by ascending peer key
// (CIP-11 §5.1). Both keys are raw. peers are left as they are.
func Subset(runner RunnerKey, peers []PeerKey) []PeerKey {
	type scored struct {
		score Hash
		peer  PeerKey
	}
	all := make([]scored, len(peers))
	for i, peer := range peers {
		all[i] = scored{keccak.Sum256(runner[:], peer[:]), peer}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if c := bytes.Compare(a.score[:], b.score[:]); c != 0 {
			return c
		}
		return bytes.Compare(a.peer[:], b.peer[:])
	})
	subset := make([]PeerKey, SubsetSize(len(peers)))
	for i := range subset {
		subset[i] = all[i].peer
	}
	return subset
}

// ValidatorSetHash returns the hash of the ordered raw peer keys. Stakes do not
// enter it, so it changes only with the set itself (CIP-11 §5.1, §8.3).
func ValidatorSetHash(ordered []PeerKey) Hash {
	b := make([]byte, 0, 32*len(ordered))
	for _, peer := range ordered {
		b = append(b, peer[:]...)
	}
	return keccak.Sum256(b)
}
