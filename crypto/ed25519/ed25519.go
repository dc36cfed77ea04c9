// Package ed25519 authenticates peers: it signs with RFC 8032's Ed25519 and
// verifies by the rules of ZIP-215 (whitepaper §6.2).
//
// A 32-byte key, a message and a 64-byte signature go in, a verdict comes out.
// RFC 8032 leaves open which edge cases a verifier accepts, and two nodes that
// differ there disagree about the same bytes. ZIP-215 closes the gap: S must be
// below the group order; A and R may be any encoding of any curve point, small
// order and non-canonical ones included; the equation is multiplied by the
// cofactor, [8][S]B = [8]R + [8][k]A. The last rule makes a batch check give
// the same verdict as single checks, which a cofactorless one does not.
//
// [VerifyMany] checks many signatures of known keys at once, for instance the
// votes of a view; [NewKnownKey] prepares a key.
//
// Signing is the standard library's and takes constant time. Verification
// handles public data and does not.
package ed25519

import (
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"

	"filippo.io/edwards25519"
)

const (
	// SeedSize, PublicKeySize and SignatureSize are lengths in bytes.
	SeedSize      = ed25519.SeedSize
	PublicKeySize = ed25519.PublicKeySize
	SignatureSize = ed25519.SignatureSize
)

// ErrSeed means a seed that is not 32 bytes long.
var ErrSeed = errors.New("ed25519 seed is not 32 bytes")

// PrivateKey signs. Its text form hides the secret.
type PrivateKey struct{ key ed25519.PrivateKey }

// NewPrivateKey derives the key of a 32-byte seed (RFC 8032 §5.1.5).
func NewPrivateKey(seed []byte) (*PrivateKey, error) {
	if len(seed) != SeedSize {
		return nil, ErrSeed
	}
	return &PrivateKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// GenerateKey draws a key from rand, which must be unpredictable.
func GenerateKey(rand io.Reader) (*PrivateKey, error) {
	var seed [SeedSize]byte
	if _, err := io.ReadFull(rand, seed[:]); err != nil {
		return nil, fmt.Errorf("draw ed25519 seed: %w", err)
	}
	return NewPrivateKey(seed[:])
}

// Seed returns the secret from which NewPrivateKey makes the key again.
func (k *PrivateKey) Seed() [SeedSize]byte { return [SeedSize]byte(k.key.Seed()) }

// PublicKey returns the key under which k's signatures verify.
func (k *PrivateKey) PublicKey() [PublicKeySize]byte {
	return [PublicKeySize]byte(k.key[SeedSize:])
}

// Sign returns the deterministic signature of msg.
func (k *PrivateKey) Sign(msg []byte) [SignatureSize]byte {
	return [SignatureSize]byte(ed25519.Sign(k.key, msg))
}

// String keeps the secret out of logs.
func (k *PrivateKey) String() string { return "ed25519 private key (hidden)" }

// GoString keeps the secret out of dumps.
func (k *PrivateKey) GoString() string { return k.String() }

// Verify reports whether sig is a signature of msg under pub by ZIP-215.
func Verify(pub [PublicKeySize]byte, msg, sig []byte) bool {
	if len(sig) != SignatureSize {
		return false
	}
	// The standard library accepts a subset of ZIP-215: its equation without
	// the cofactor implies ours, and it demands a canonical R. What it accepts,
	// and that is every honest signature, needs no second look.
	if ed25519.Verify(pub[:], msg, sig) {
		return true
	}
	return verifyCofactored(pub, msg, sig)
}

// verifyCofactored decides by the equation of ZIP-215 alone.
func verifyCofactored(pub [PublicKeySize]byte, msg, sig []byte) bool {
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(sig[32:])
	if err != nil {
		return false
	}
	// The module decodes by ZIP-215: any y, and x = 0 with either sign.
	a, err := new(edwards25519.Point).SetBytes(pub[:])
	if err != nil {
		return false
	}
	r, err := new(edwards25519.Point).SetBytes(sig[:32])
	if err != nil {
		return false
	}
	k := hashScalar(sig[:32], pub[:], msg)
	left := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(k, a.Negate(a), s)
	left.Subtract(left, r)
	return left.MultByCofactor(left).Equal(edwards25519.NewIdentityPoint()) == 1
}

// hashScalar is k of RFC 8032 §5.1.7.
func hashScalar(r, pub, msg []byte) *edwards25519.Scalar {
	hash := sha512.New()
	hash.Write(r)
	hash.Write(pub)
	hash.Write(msg)
	k, err := new(edwards25519.Scalar).SetUniformBytes(hash.Sum(nil))
	if err != nil {
		panic("ed25519: SHA-512 has 64 bytes")
	}
	return k
}
