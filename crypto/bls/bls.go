// Package bls makes and checks the signatures of consensus: BLS12-381 with
// signatures in G1 (48 bytes) and keys in G2 (96 bytes), single, threshold and
// in batches (whitepaper §6.2, resolution 11.42).
//
// Secret keys, namespaces and messages go in; signatures come out, and verdicts
// about them. What is hashed to the curve is never a bare message but
// [SignedBytes]: a namespace of the chain and of the purpose in front keeps a
// vote of one chain, or of one kind, from being replayed as another.
//
// # Invariants
//
//   - A [PublicKey] from [ParsePublicKey] is in the prime-order subgroup and is
//     not the identity. Checking that once makes every later check sound.
//   - Every signature is decompressed and checked for the subgroup before use;
//     the identity is refused. There is no unchecked path.
//   - Signing is deterministic: one key, namespace and message have exactly one
//     valid signature, so a signature can serve as a verifiable random output.
//
// # Ways to be fast
//
//   - A [Message] is hashed to the curve once and then signed and checked many
//     times; [PublicKey.Expand] readies a key for the batches of an epoch.
//   - [VerifyVotes] checks many signatures of one message, [VerifyCertificates]
//     many messages under one key, each with about one pairing product.
//   - A [Point] is a signature that was decompressed and checked before; a
//     [Recoverer] keeps the coefficients of the signer sets it has met.
//
// Arithmetic is that of supranational/blst. Secrets meet no other code: keys are
// derived, scalars multiplied and points scaled by blst's routines that take
// constant time, and nothing in this package branches or indexes by a secret.
// The scalar field of this package itself serves public indices only. Batches
// may use several goroutines inside one call and join them.
package bls

import (
	"encoding/binary"
	"errors"

	blst "github.com/supranational/blst/bindings/go"
)

const (
	// messageDST separates messages, proofDST proofs of possession
	// (draft-irtf-cfrg-bls-signature §4.2.3).
	messageDST = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"
	proofDST   = "BLS_POP_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"

	// SecretKeySize, PublicKeySize and SignatureSize are lengths in bytes.
	SecretKeySize = 32
	PublicKeySize = 96
	SignatureSize = 48

	// minKeyMaterial is the least input of key generation, in bytes
	// (draft-irtf-cfrg-bls-signature §2.3).
	minKeyMaterial = 32
)

var (
	// ErrKeyMaterial means too little input for a key: under 32 bytes.
	ErrKeyMaterial = errors.New("key material is shorter than 32 bytes")
	// ErrSecretKey means the bytes are not a scalar in [1, r-1], big-endian.
	ErrSecretKey = errors.New("secret key is not 32 bytes in the range 1 to r-1")
	// ErrLength means a key or signature has the wrong length.
	ErrLength = errors.New("wrong length of a curve point")
	// ErrEncoding means the bytes are not the compressed form of a curve point.
	ErrEncoding = errors.New("not a compressed curve point")
	// ErrInfinity means the point is the identity, which proves nothing.
	ErrInfinity = errors.New("curve point is the identity")
	// ErrSubgroup means the point is on the curve but outside the subgroup of
	// prime order.
	ErrSubgroup = errors.New("curve point is outside the prime-order subgroup")
)

// SignedBytes returns what is hashed to the curve for msg under namespace ns:
// the length of ns as unsigned LEB128, then ns, then msg.
func SignedBytes(ns, msg []byte) []byte {
	out := make([]byte, 0, binary.MaxVarintLen64+len(ns)+len(msg))
	out = binary.AppendUvarint(out, uint64(len(ns)))
	out = append(out, ns...)
	return append(out, msg...)
}

// SecretKey signs. Its text form hides the secret.
type SecretKey struct{ scalar blst.SecretKey }

// NewSecretKey derives a key from at least 32 unpredictable bytes with HKDF
// (draft-irtf-cfrg-bls-signature §2.3). The same bytes give the same key.
func NewSecretKey(ikm []byte) (*SecretKey, error) {
	if len(ikm) < minKeyMaterial {
		return nil, ErrKeyMaterial
	}
	return &SecretKey{*blst.KeyGen(ikm)}, nil
}

// ParseSecretKey reads a big-endian scalar of 32 bytes.
func ParseSecretKey(b []byte) (*SecretKey, error) {
	var k SecretKey
	if k.scalar.Deserialize(b) == nil {
		return nil, ErrSecretKey
	}
	return &k, nil
}

// Bytes returns the secret scalar, big-endian.
func (k *SecretKey) Bytes() [SecretKeySize]byte {
	return [SecretKeySize]byte(k.scalar.Serialize())
}

// PublicKey returns the point that belongs to k.
func (k *SecretKey) PublicKey() *PublicKey {
	var p PublicKey
	p.point.From(&k.scalar)
	return &p
}

// Sign signs msg under namespace ns.
func (k *SecretKey) Sign(ns, msg []byte) Signature {
	return k.sign(SignedBytes(ns, msg), messageDST)
}

// ProvePossession signs the public key itself, in a domain that no message can
// reach. Without such proofs a key chosen as a function of others' keys could
// cancel them in an aggregate.
func (k *SecretKey) ProvePossession() Signature {
	pub := k.PublicKey().Bytes()
	return k.sign(pub[:], proofDST)
}

// SignMessage signs m: what [SecretKey.Sign] returns, without hashing again.
func (k *SecretKey) SignMessage(m *Message) Signature {
	var point blst.P1
	point.FromAffine(&m.hash)
	return Signature(point.MultAssign(&k.scalar).ToAffine().Compress())
}

func (k *SecretKey) sign(data []byte, dst string) Signature {
	var point blst.P1Affine
	point.Sign(&k.scalar, data, []byte(dst))
	return Signature(point.Compress())
}

// String keeps the secret out of logs.
func (k *SecretKey) String() string { return "bls secret key (hidden)" }

// GoString keeps the secret out of dumps.
func (k *SecretKey) GoString() string { return k.String() }

// PublicKey is a checked, decompressed key. The zero value is the identity,
// under which nothing verifies.
type PublicKey struct {
	point     blst.P2Affine
	multiples []*blst.P2Affine // see Expand; nil if it was not called
}

// ParsePublicKey reads a compressed G2 point of 96 bytes and checks it. The
// error is ErrLength, ErrEncoding, ErrInfinity or ErrSubgroup.
func ParsePublicKey(b []byte) (*PublicKey, error) {
	if len(b) != PublicKeySize {
		return nil, ErrLength
	}
	var p PublicKey
	switch {
	case p.point.Uncompress(b) == nil:
		return nil, ErrEncoding
	case p.isIdentity():
		return nil, ErrInfinity
	case !p.point.InG2():
		return nil, ErrSubgroup
	}
	return &p, nil
}

// Bytes returns the compressed form.
func (p *PublicKey) Bytes() [PublicKeySize]byte {
	return [PublicKeySize]byte(p.point.Compress())
}

// Equal reports whether both are the same point.
func (p *PublicKey) Equal(other *PublicKey) bool { return p.point.Equals(&other.point) }

// Verify reports whether sig is p's signature of msg under namespace ns.
func (p *PublicKey) Verify(ns, msg []byte, sig Signature) bool {
	return p.verify(SignedBytes(ns, msg), messageDST, sig)
}

// VerifyPossession reports whether proof came from the holder of p's secret.
func (p *PublicKey) VerifyPossession(proof Signature) bool {
	pub := p.Bytes()
	return p.verify(pub[:], proofDST, proof)
}

// VerifyMessage reports whether sig is p's signature of m: what
// [PublicKey.Verify] says, without hashing again.
func (p *PublicKey) VerifyMessage(m *Message, sig Signature) bool {
	point, err := sig.Point()
	return err == nil && m.signedBy(p, point)
}

func (p *PublicKey) verify(data []byte, dst string, sig Signature) bool {
	return p.VerifyMessage(newMessage(data, dst), sig)
}

func (p *PublicKey) isIdentity() bool { return p.point.Equals(new(blst.P2Affine)) }

// Signature is a compressed G1 point. The bytes are unchecked until used.
type Signature [SignatureSize]byte

// Check returns nil if the bytes are a signature of somebody for something, and
// otherwise ErrEncoding, ErrInfinity or ErrSubgroup.
func (s Signature) Check() error {
	_, err := s.Point()
	return err
}

// Point is a decompressed signature in the prime-order subgroup, not the
// identity. It says nothing yet about who signed what.
type Point struct{ affine blst.P1Affine }

// Point decompresses s and checks it: the only way from bytes to a [Point]. The
// error is ErrEncoding, ErrInfinity or ErrSubgroup.
func (s Signature) Point() (*Point, error) {
	p, err := s.onCurve()
	if err == nil && !p.affine.InG1() {
		return nil, ErrSubgroup
	}
	return p, err
}

// onCurve decompresses s without the check for the subgroup, which its callers
// owe before anything rests on the point.
func (s *Signature) onCurve() (*Point, error) {
	var p Point
	switch {
	case p.affine.Uncompress(s[:]) == nil:
		return nil, ErrEncoding
	case p.affine.Equals(new(blst.P1Affine)):
		return nil, ErrInfinity
	}
	return &p, nil
}

// Signature returns the compressed form.
func (p *Point) Signature() Signature { return Signature(p.affine.Compress()) }
