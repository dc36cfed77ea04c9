package bls

import (
	blst "github.com/supranational/blst/bindings/go"
)

// Message is signed bytes on the curve. Hashing there costs as much as two
// subgroup checks, so a view's votes, partials and certificates share one.
// It does not change and may be shared.
type Message struct {
	hash  blst.P1Affine
	minus blst.P1Affine // the opposite of hash, which the pairing product takes
}

// HashToPoint hashes msg under namespace ns to the curve.
func HashToPoint(ns, msg []byte) *Message {
	return newMessage(SignedBytes(ns, msg), messageDST)
}

func newMessage(data []byte, dst string) *Message {
	hash := hashToCurve(data, dst)
	var zero blst.P1
	return &Message{hash: *hash, minus: *zero.Sub(hash).ToAffine()}
}

// hashToCurve maps data to G1 (RFC 9380 §8.8.1).
func hashToCurve(data []byte, dst string) *blst.P1Affine {
	return blst.HashToG1(data, []byte(dst)).ToAffine()
}

// signedBy reports whether sig is the signature of m by key. Under the identity
// nothing verifies: the product is then e(sig, G), and sig is not the identity.
func (m *Message) signedBy(key *PublicKey, sig *Point) bool {
	v := pairingProduct(&sig.affine, &m.minus, &key.point)
	return isOne(&v)
}

// pairingProduct returns e(sig, G) · e(hash, key) for the generator G of G2, an
// element of the group of order r, at the price of one squaring chain and one
// final exponentiation. The Miller loop is undefined for the identity, whose
// pairing is one: such a factor is left out.
func pairingProduct(sig, hash *blst.P1Affine, key *blst.P2Affine) blst.Fp12 {
	var none1 blst.P1Affine
	var none2 blst.P2Affine
	ctx := blst.PairingCtx(true, nil)
	pairs := 0
	if !sig.Equals(&none1) {
		blst.PairingRawAggregate(ctx, blst.P2Generator().ToAffine(), sig)
		pairs++
	}
	if !hash.Equals(&none1) && !key.Equals(&none2) {
		blst.PairingRawAggregate(ctx, key, hash)
		pairs++
	}
	if pairs == 0 {
		return blst.Fp12One()
	}
	blst.PairingCommit(ctx)
	v := *blst.PairingAsFp12(ctx)
	v.FinalExp()
	return v
}

func isOne(v *blst.Fp12) bool {
	one := blst.Fp12One()
	return v.Equals(&one)
}
