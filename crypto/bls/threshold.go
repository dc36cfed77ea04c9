package bls

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	blst "github.com/supranational/blst/bindings/go"
)

// MaxShares bounds the members of a committee and so the degree of a
// polynomial. It is ours, not the protocol's: it keeps parsing a commitment
// below a second, far above any committee of the specification.
const MaxShares = 4096

var (
	// ErrThreshold means not 1 <= t <= n <= MaxShares.
	ErrThreshold = errors.New("threshold is not between 1 and the number of shares")
	// ErrTooFewPartials means fewer partial signatures than the threshold.
	ErrTooFewPartials = errors.New("fewer partial signatures than the threshold")
	// ErrDuplicateIndex means two partial signatures claim one share.
	ErrDuplicateIndex = errors.New("two partial signatures of one share")
)

// Share is one member's part of the group's secret: the polynomial at
// Index + 1. The value at 0 is the group's secret, so no share may be there.
type Share struct {
	Index uint32
	Key   *SecretKey
}

// Partial is a signature made with the share of Index.
type Partial struct {
	Index uint32
	Sig   Signature
}

// Polynomial is the public commitment to a secret sharing: the coefficients in
// G2, constant term first. Any t of the shares determine it, t being its
// number of coefficients.
type Polynomial struct{ coefficients []PublicKey }

// ParsePolynomial reads 1 to MaxShares compressed points and checks each like
// a public key. A zero coefficient is refused with the identity that encodes it.
func ParsePolynomial(b []byte) (*Polynomial, error) {
	if len(b) == 0 || len(b)%PublicKeySize != 0 || len(b) > MaxShares*PublicKeySize {
		return nil, fmt.Errorf("polynomial of %d bytes: %w", len(b), ErrLength)
	}
	var p Polynomial
	for chunk := range slices.Chunk(b, PublicKeySize) {
		c, err := ParsePublicKey(chunk)
		if err != nil {
			return nil, fmt.Errorf("coefficient %d: %w", len(p.coefficients), err)
		}
		p.coefficients = append(p.coefficients, *c)
	}
	return &p, nil
}

// Bytes returns the compressed coefficients, constant term first.
func (p *Polynomial) Bytes() []byte {
	out := make([]byte, 0, len(p.coefficients)*PublicKeySize)
	for i := range p.coefficients {
		c := p.coefficients[i].Bytes()
		out = append(out, c[:]...)
	}
	return out
}

// Threshold returns t: how many shares determine a signature.
func (p *Polynomial) Threshold() int { return len(p.coefficients) }

// Group returns the key under which recovered signatures verify.
func (p *Polynomial) Group() *PublicKey {
	group := p.coefficients[0]
	return &group
}

// PublicShare returns the key under which partial signatures of index verify.
// For a hostile commitment it may be the identity, under which nothing verifies.
func (p *Polynomial) PublicShare(index uint32) *PublicKey {
	var x [8]byte
	binary.LittleEndian.PutUint64(x[:], abscissa(index))
	const bits = 33 // abscissa is at most 2^32
	var sum blst.P2
	for i := len(p.coefficients) - 1; i >= 0; i-- {
		sum.MultAssign(x[:], bits)
		sum.AddAssign(&p.coefficients[i].point)
	}
	return &PublicKey{point: *sum.ToAffine()}
}

// abscissa is where the share of index is evaluated: never at 0.
func abscissa(index uint32) uint64 { return uint64(index) + 1 }

// DealTrusted shares a secret among n members so that any t sign for the group.
// Everything follows from seed (at least 32 unpredictable bytes) and n and t;
// whoever knows seed can sign alone, so this is for genesis ceremonies by one
// dealer, development networks and tests.
func DealTrusted(seed []byte, n, t int) (*Polynomial, []Share, error) {
	if t < 1 || n < t || n > MaxShares {
		return nil, nil, fmt.Errorf("%d of %d: %w", t, n, ErrThreshold)
	}
	if len(seed) < minKeyMaterial {
		return nil, nil, ErrKeyMaterial
	}
	secrets := make([]*blst.SecretKey, t)
	public := &Polynomial{coefficients: make([]PublicKey, t)}
	for k := range secrets {
		info := []byte("COWBOY_TRUSTED_DEAL_V1")
		for _, v := range []int{n, t, k} {
			info = binary.BigEndian.AppendUint32(info, uint32(v))
		}
		secrets[k] = blst.KeyGen(seed, info)
		public.coefficients[k].point.From(secrets[k])
	}
	shares := make([]Share, n)
	for i := range shares {
		key := evaluate(secrets, scalar(abscissa(uint32(i))))
		if !key.Valid() { // zero, out of reach of chance
			return nil, nil, fmt.Errorf("share %d: %w", i, ErrSecretKey)
		}
		shares[i] = Share{Index: uint32(i), Key: &SecretKey{*key}}
	}
	return public, shares, nil
}

// evaluate returns the polynomial at x (Horner's rule).
func evaluate(coefficients []*blst.SecretKey, x *blst.Scalar) *blst.Scalar {
	var sum blst.Scalar
	for _, c := range slices.Backward(coefficients) {
		sum.MulAssign(x)
		sum.AddAssign(c)
	}
	return &sum
}

// scalar returns v as an element of the scalar field.
func scalar(v uint64) *blst.Scalar {
	var b [SecretKeySize]byte
	binary.BigEndian.PutUint64(b[SecretKeySize-8:], v)
	var s blst.Scalar
	s.FromBEndian(b[:])
	return &s
}
