//spec:implements CIP-11 9.2
//spec:implements restored 9.1, 9.2, 9.3, 9.5

package chain

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// SeedBytes is the length of a threshold seed: a compressed G1 point.
const SeedBytes = 48

// seedScheme is scheme_id_u8 of BLS12-381 threshold VRF MinSig (CIP-11 §9.2).
const seedScheme = 0x01

// BeaconHash returns canonical_seed_bytes of a seed: beacon_hash_v1 over the
// absolute round and its threshold signature (CIP-11 §9.2). The caller has
// verified the signature for exactly this round.
func BeaconHash(epoch Epoch, view View, signature [SeedBytes]byte) Hash {
	b := make([]byte, 0, 96)
	b = append(b, domainBeacon...)
	b = append(b, seedScheme)
	b = binary.BigEndian.AppendUint64(b, uint64(epoch))
	b = binary.BigEndian.AppendUint64(b, uint64(view))
	b = binary.BigEndian.AppendUint16(b, SeedBytes)
	b = append(b, signature[:]...)
	return keccak.Sum256(b)
}

// SelectionMode is the mode byte of a v3 selection (CIP-11 §9.2).
type SelectionMode uint8

const (
	SelectImmediate SelectionMode = 0x00 // one runner, drawn in the block of the submission
	SelectDelayed   SelectionMode = 0x01 // several runners, drawn once a later seed is known
)

// SelectionSeedV2 returns the seed of CIP-2 §5: block is the hash of the
// submission block (resolution 11.9), or the beacon hash of its round where
// job.selection_seed says so (resolution 12.83).
func SelectionSeedV2(block, job Hash, submitted Height) Hash {
	return keccak.Sum256(block[:], []byte(domainSelectV2), job[:], le8(uint64(submitted)))
}

// SelectionSeedV3 returns the seed of CIP-11 §9.2: beacon is the canonical seed
// bytes of the round the mode calls for.
func SelectionSeedV3(beacon Hash, mode SelectionMode, job Hash, submitted Height) Hash {
	return keccak.Sum256(beacon[:], []byte(domainSelectV3), []byte{byte(mode)}, job[:], le8(uint64(submitted)))
}

// RetrySeed returns the seed of a repeated selection, derived from the first
// one (CIP-2 §6). retry counts from 1.
func RetrySeed(first Hash, retry uint32) Hash {
	return keccak.Sum256(first[:], []byte(domainRetry), binary.LittleEndian.AppendUint32(nil, retry))
}

func le8(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// Candidate is one entry of a selection snapshot: a runner and the inputs of
// its weight (CIP-11 §9.2). The tree holds stake and weight in 16 bytes; 8 are
// enough for every amount of this chain (resolution 11.43).
type Candidate struct {
	Runner         Address
	EffectiveStake Wei
	ReputationX1e9 uint64 // selection reputation, fixed point
	BaseWeight     uint64
}

// CandidateLeaf returns the leaf of the candidate at a zero-based index of the
// snapshot (CIP-11 §9.2).
func CandidateLeaf(index uint32, c Candidate) Hash {
	var b CandidateLeafPreimage
	b.Set(index, &c)
	return keccak.Sum256(b[:])
}

// CandidateLeafPreimage is what a leaf of the tree of candidates hashes, for whoever hashes
// many at once; CandidatesInnerPreimage is what a node above them does.
type (
	CandidateLeafPreimage   [len(domainCandidatesLeaf) + 4 + 20 + 16 + 8 + 16]byte
	CandidatesInnerPreimage [len(domainCandidatesInner) + 2*len(Hash{})]byte
)

// Set makes b the preimage of the candidate at an index.
func (b *CandidateLeafPreimage) Set(index uint32, c *Candidate) {
	const at = len(domainCandidatesLeaf)
	*b = CandidateLeafPreimage{} // the upper halves of what has 16 bytes
	copy(b[:], domainCandidatesLeaf)
	binary.BigEndian.PutUint32(b[at:], index)
	copy(b[at+4:], c.Runner[:])
	binary.BigEndian.PutUint64(b[at+32:], uint64(c.EffectiveStake))
	binary.BigEndian.PutUint64(b[at+40:], c.ReputationX1e9)
	binary.BigEndian.PutUint64(b[at+56:], c.BaseWeight)
}

// Set makes b the preimage of the node above two others.
func (b *CandidatesInnerPreimage) Set(left, right *Hash) {
	const at = len(domainCandidatesInner)
	copy(b[:], domainCandidatesInner)
	copy(b[at:], left[:])
	copy(b[at+len(left):], right[:])
}

// CandidatesInner returns the node above two others (CIP-11 §9.2).
func CandidatesInner(left, right *Hash) Hash {
	var b CandidatesInnerPreimage
	b.Set(left, right)
	return keccak.Sum256(b[:])
}

// NoCandidates returns the root of a snapshot without candidates.
func NoCandidates() Hash { return keccak.Sum256([]byte(domainCandidatesEmpty)) }

// DrawHash returns the hash behind step i of a draw; its first eight bytes, little-endian,
// are the ticket before it is reduced (CIP-2 §5, CIP-11 §9.2).
func DrawHash(seed Hash, i uint64) Hash {
	b := make([]byte, 0, len(seed)+8)
	b = append(b, seed[:]...)
	return keccak.Sum256(binary.LittleEndian.AppendUint64(b, i))
}

// CandidatesRoot returns candidates_snapshot_root over the ordered snapshot: a
// binary Merkle tree in which the last node of an odd level stands twice
// (CIP-11 §9.2).
func CandidatesRoot(ordered []Candidate) Hash {
	if len(ordered) == 0 {
		return NoCandidates()
	}
	level := make([]Hash, len(ordered), len(ordered)+1)
	for i, c := range ordered {
		level[i] = CandidateLeaf(uint32(i), c)
	}
	for len(level) > 1 {
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		for i := range len(level) / 2 {
			level[i] = CandidatesInner(&level[2*i], &level[2*i+1])
		}
		level = level[:len(level)/2]
	}
	return level[0]
}
