package secp256k1

import (
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

var (
	// ErrScalarRange means r or s is zero or not below the group order n.
	ErrScalarRange = errors.New("signature scalar is not in the range 1 to n-1")
	// ErrRRange and ErrSRange say which scalar; both are ErrScalarRange.
	ErrRRange = fmt.Errorf("r: %w", ErrScalarRange)
	ErrSRange = fmt.Errorf("s: %w", ErrScalarRange)
	// ErrHighS means s is above (n-1)/2: its negation is the accepted twin.
	ErrHighS = errors.New("signature s is above half the group order")
	// ErrRecoveryID means the y parity is neither 0 nor 1.
	ErrRecoveryID = errors.New("signature y parity is neither 0 nor 1")
	// ErrNotOnCurve means r is not the x coordinate of a curve point.
	ErrNotOnCurve = errors.New("signature r is not the x coordinate of a curve point")
	// ErrInfinity means the recovered key would be the point at infinity.
	ErrInfinity = errors.New("recovered public key is the point at infinity")
	// ErrMismatch means a well-formed signature is not one of this key and hash.
	ErrMismatch = errors.New("signature does not match key and hash")
)

// Signature is a recoverable ECDSA signature, scalars big-endian. YParity is
// that of the nonce point R; x coordinates above n are not expressible, as in
// Ethereum's transactions since EIP-2718.
type Signature struct {
	R, S    [32]byte
	YParity uint8
}

// TakeApart reads r ‖ s ‖ v, where v is 0, 1, 27 or 28; false for another v. Whether r and
// s are acceptable is for [Recover] to say.
func TakeApart(b *[65]byte) (sig Signature, ok bool) {
	sig = Signature{R: [32]byte(b[:32]), S: [32]byte(b[32:64])}
	switch b[64] {
	case 0, 27:
		return sig, true
	case 1, 28:
		sig.YParity = 1
		return sig, true
	}
	return sig, false
}

// scalars returns r and s of an acceptable signature.
func (sig *Signature) scalars() (r, s secp256k1.ModNScalar, err error) {
	switch {
	case sig.YParity > 1:
		err = ErrRecoveryID
	case r.SetBytes(&sig.R) != 0 || r.IsZero():
		err = ErrRRange
	case s.SetBytes(&sig.S) != 0 || s.IsZero():
		err = ErrSRange
	case s.IsOverHalfOrder():
		err = ErrHighS
	}
	return r, s, err
}

// Sign returns the deterministic signature of RFC 6979 §3.2 with HMAC-SHA-256,
// s made low.
func (k *PrivateKey) Sign(hash [32]byte) Signature {
	secret := k.Bytes()
	var z secp256k1.ModNScalar
	z.SetBytes(&hash)
	octets := z.Bytes() // bits2octets: the nonce depends on the hash mod n
	for attempt := uint32(0); ; attempt++ {
		nonce := secp256k1.NonceRFC6979(secret[:], octets[:], nil, nil, attempt)
		sig, ok := k.signWith(nonce, &z)
		nonce.Zero()
		if ok {
			clear(secret[:])
			return sig
		}
	}
}

// signWith reports false for the nonces that yield r = 0, s = 0 or an x
// coordinate above n, which YParity alone cannot express. All three are out of
// reach of chance (at most 2^-127); RFC 6979 then takes the next nonce.
func (k *PrivateKey) signWith(nonce, z *secp256k1.ModNScalar) (Signature, bool) {
	x, y := baseMult(nonce)
	var r, s secp256k1.ModNScalar
	if r.SetBytes(x.Bytes()) != 0 || r.IsZero() {
		return Signature{}, false
	}
	inverted := inverse(nonce)
	s.Mul2(&k.key.Key, &r).Add(z).Mul(&inverted)
	inverted.Zero()
	if s.IsZero() {
		return Signature{}, false
	}
	parity := uint8(y.IsOddBit())
	if s.IsOverHalfOrder() {
		s.Negate()
		parity ^= 1 // -s belongs to -R, whose y has the other parity
	}
	return Signature{R: r.Bytes(), S: s.Bytes(), YParity: parity}, true
}

// Verify returns nil if sig, apart from its parity, is a signature of hash by p,
// and otherwise the first rule that it breaks.
func (p PublicKey) Verify(hash [32]byte, sig Signature) error {
	sig.YParity = 0
	r, s, err := sig.scalars()
	if err != nil {
		return err
	}
	q, ok := p.point()
	if !ok {
		return ErrPublicKey
	}
	var z, w secp256k1.ModNScalar
	z.SetBytes(&hash)
	w.InverseValNonConst(&s)
	z.Mul(&w)
	w.Mul(&r)
	point := combine(&z, &w, &q)
	var x secp256k1.ModNScalar
	x.SetBytes(point.X.Bytes()) // x mod n
	if isInfinity(&point) || !x.Equals(&r) {
		return ErrMismatch
	}
	return nil
}

// Recover returns the key that signed hash (SEC 1 §4.1.6 with j = 0).
func Recover(hash [32]byte, sig Signature) (PublicKey, error) {
	r, s, err := sig.scalars()
	if err != nil {
		return PublicKey{}, err
	}
	nonce, ok := noncePoint(&sig)
	if !ok {
		return PublicKey{}, ErrNotOnCurve
	}
	// Q = r^-1 (sR - zG)
	var z, w secp256k1.ModNScalar
	z.SetBytes(&hash)
	w.InverseValNonConst(&r)
	z.Negate().Mul(&w)
	w.Mul(&s)
	point := combine(&z, &w, &nonce)
	if isInfinity(&point) {
		return PublicKey{}, ErrInfinity
	}
	var pub PublicKey
	point.X.PutBytesUnchecked(pub[:32])
	point.Y.PutBytesUnchecked(pub[32:])
	return pub, nil
}

// noncePoint returns the point R with x = r and the given parity of y.
func noncePoint(sig *Signature) (secp256k1.JacobianPoint, bool) {
	var x, y, one secp256k1.FieldVal
	x.SetBytes(&sig.R) // r < n < p, so it is never reduced
	if !secp256k1.DecompressY(&x, sig.YParity == 1, &y) {
		return secp256k1.JacobianPoint{}, false
	}
	y.Normalize()
	one.SetInt(1)
	return secp256k1.MakeJacobianPoint(&x, &y, &one), true
}

// combine returns aG + bP in affine coordinates.
func combine(a, b *secp256k1.ModNScalar, p *secp256k1.JacobianPoint) secp256k1.JacobianPoint {
	var left, right, sum secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(a, &left)
	secp256k1.ScalarMultNonConst(b, p, &right)
	secp256k1.AddNonConst(&left, &right, &sum)
	sum.ToAffine()
	return sum
}

// isInfinity reports whether an affine point is decred's form of infinity:
// no curve point has both coordinates zero.
func isInfinity(p *secp256k1.JacobianPoint) bool { return p.X.IsZero() && p.Y.IsZero() }
