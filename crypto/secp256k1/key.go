// Package secp256k1 signs transactions and recovers who signed them: ECDSA over
// secp256k1 with the signer's key recovered from the signature (whitepaper §2.1).
//
// A 32-byte hash and a signature (r, s, y parity) go in, the signer's key or
// address comes out. Exactly one signature form is accepted: r and s in
// [1, n-1], s at most (n-1)/2, y parity 0 or 1 (resolution 11.12). So a third
// party cannot turn a valid signature into a second valid one, and two nodes
// cannot disagree about one. Every other form has an error of its own.
//
// Field and scalar arithmetic is that of decred's secp256k1. What touches a
// secret, signing and deriving the public key, runs in constant time
// (secret.go); recovery and verification handle public data only and do not.
//
// Batches ([RecoverMany]) run on the lanes of asm/secp where the machine has
// them. A lane computes only what [Recover] would: the form is checked first,
// and a lane that meets an exceptional addition is handed to Recover.
package secp256k1

import (
	"errors"
	"fmt"
	"io"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

var (
	// ErrPrivateKey means the bytes are not a private key: 32 bytes, big-endian,
	// in [1, n-1].
	ErrPrivateKey = errors.New("private key is not 32 bytes in the range 1 to n-1")
	// ErrPublicKey means the bytes are not a public key in SEC 1 form.
	ErrPublicKey = errors.New("public key is not a SEC 1 encoding of a curve point")
)

// PrivateKey signs. Its text form hides the secret.
type PrivateKey struct{ key *secp256k1.PrivateKey }

// ParsePrivateKey reads a big-endian scalar of 32 bytes.
func ParsePrivateKey(b []byte) (*PrivateKey, error) {
	var d secp256k1.ModNScalar
	if len(b) != 32 || d.SetByteSlice(b) || d.IsZero() {
		return nil, ErrPrivateKey
	}
	return &PrivateKey{secp256k1.NewPrivateKey(&d)}, nil
}

// GenerateKey draws a key from rand, which must be unpredictable.
func GenerateKey(rand io.Reader) (*PrivateKey, error) {
	// A draw is out of range with probability 2^-128, so a second miss means a
	// broken source rather than bad luck.
	for range 2 {
		var b [32]byte
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return nil, fmt.Errorf("draw private key: %w", err)
		}
		if k, err := ParsePrivateKey(b[:]); err == nil {
			return k, nil
		}
	}
	return nil, fmt.Errorf("draw private key: %w", ErrPrivateKey)
}

// Bytes returns the secret scalar, big-endian.
func (k *PrivateKey) Bytes() [32]byte { return k.key.Key.Bytes() }

// PublicKey returns the point that belongs to k.
func (k *PrivateKey) PublicKey() PublicKey {
	x, y := baseMult(&k.key.Key)
	var pub PublicKey
	x.PutBytesUnchecked(pub[:32])
	y.PutBytesUnchecked(pub[32:])
	return pub
}

// String keeps the secret out of logs.
func (k *PrivateKey) String() string { return "secp256k1 private key (hidden)" }

// GoString keeps the secret out of dumps.
func (k *PrivateKey) GoString() string { return k.String() }

// PublicKey is a curve point as X‖Y, both big-endian. It has no encoding of the
// point at infinity. A value that came from this package is on the curve.
type PublicKey [64]byte

// ParsePublicKey reads the SEC 1 forms: 33 bytes compressed or 65 uncompressed.
// The hybrid form is refused.
func ParsePublicKey(b []byte) (PublicKey, error) {
	if len(b) != 33 && (len(b) != 65 || b[0] != 4) {
		return PublicKey{}, ErrPublicKey
	}
	pub, err := secp256k1.ParsePubKey(b)
	if err != nil {
		return PublicKey{}, fmt.Errorf("%w: %w", ErrPublicKey, err)
	}
	return PublicKey(pub.SerializeUncompressed()[1:]), nil
}

// Address returns the account of the key: the last 20 bytes of the Keccak-256
// of X‖Y (whitepaper §2.1).
func (p PublicKey) Address() [20]byte {
	digest := keccak.Sum256(p[:])
	return [20]byte(digest[12:])
}

// Compressed returns the SEC 1 form 02‖X for even Y, 03‖X for odd Y.
func (p PublicKey) Compressed() [33]byte {
	var out [33]byte
	out[0] = 2 + p[63]&1
	copy(out[1:], p[:32])
	return out
}

// point returns the affine point of p and whether it is on the curve.
func (p PublicKey) point() (secp256k1.JacobianPoint, bool) {
	var x, y secp256k1.FieldVal
	if x.SetByteSlice(p[:32]) || y.SetByteSlice(p[32:]) {
		return secp256k1.JacobianPoint{}, false
	}
	var one secp256k1.FieldVal
	one.SetInt(1)
	return secp256k1.MakeJacobianPoint(&x, &y, &one), secp256k1.NewPublicKey(&x, &y).IsOnCurve()
}
