package actor

import (
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
)

// randomnessSalt separates what actors draw from every other use of a beacon.
const randomnessSalt = "cowboy-actor-randomness-v1"

// Randomness implements host.Randomness: HKDF-SHA256 (RFC 5869; CIP-2 §5, note)
// of the beacon of the parent block's round, with the label as info. A block's own
// round has no part in it: its leader may know that seed before the block is made
// (resolution 1.12).
func (f *frame) Randomness(label string) (out [32]byte, err error) {
	b, err := hkdf.Key(sha256.New, f.run.block.Beacon[:], []byte(randomnessSalt), label, len(out))
	if err == nil {
		copy(out[:], b)
	}
	return out, err
}

// VerifyBLS implements host.Crypto.
func (f *frame) VerifyBLS(key [96]byte, namespace, message []byte, signature [48]byte) (bool, error) {
	k, err := bls.ParsePublicKey(key[:])
	if err != nil { // no point of the group verifies nothing
		return false, nil
	}
	return k.Verify(namespace, message, bls.Signature(signature)), nil
}

// VerifyVRF implements host.Crypto.
func (f *frame) VerifyVRF(key [96]byte, namespace, message []byte, proof [48]byte) (out [32]byte, ok bool, err error) {
	k, err := bls.ParsePublicKey(key[:])
	if err != nil {
		return out, false, nil
	}
	out, ok = vrf.Verify(k, namespace, message, bls.Signature(proof))
	return out, ok, nil
}
