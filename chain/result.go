package chain

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// ResultDigest returns what a runner signs over its result (resolution 11.1).
func ResultDigest(chainID uint64, job Hash, result []byte) Hash {
	return keccak.Sum256(AppendResultPreimage(nil, chainID, job, nil), result)
}

// AppendResultPreimage appends what [ResultDigest] is the hash of.
func AppendResultPreimage(dst []byte, chainID uint64, job Hash, result []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, domainResult...), chainID)
	return append(append(dst, job[:]...), result...)
}

// ResultCommitment returns what a runner commits to before anybody reveals. Its
// 65-byte signature is the salt: it hides a guessable result and binds the
// runner, so a copied commitment is worthless (resolution 11.1).
func ResultCommitment(result []byte, signature [65]byte) Hash {
	return keccak.Sum256(result, signature[:])
}
