package secp256k1

import (
	"math/bits"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboy-foundation/cowboy/asm/secp"
)

// scalars computes u1 = -z/r and u2 = s/r modulo n for a batch, in the signed
// digit form of [secp.Digits].
type scalars struct {
	r, s, z  [batchSize]words
	inverses [batchSize]words // prefix products of r, then 2^255/r mod n
}

// A scalar k becomes an integer v with k = 2v - (2^l - 1) mod n, that is
// v = k/2 + (2^l - 1)/2. Base scalars have l = 260 bits. For the others k is
// split first: t = v1 + lambda·v2 with both v below 2^129 and l = 130, where the
// split of t = k/2 + (1 + lambda)(2^129 - 1)/2 is shifted up by 2^128 to make
// its halves positive.
var (
	halfOfRadix = words{0, 0, 0, 1 << 63} // half of 2^256, which Montgomery products divide by
	baseOffset  = words{0xe1563adfe6691698, 0x87e0873ddd5f4e3f, 9, 0x8000000000000000}
	splitOffset = words{0x3aca9034d766ed0d, 0x09a4e2976b016510, 0x615eeb5fbe08c6b5, 0xd274453ee58981a7}
)

// The lattice of (a, b) with a + b·lambda = 0 mod n has the short base (a1, b1),
// (a2, a1) with b1 negative; g1 and g2 are 2^384·a1/n and -2^384·b1/n, rounded
// (Gallant, Lambert, Vanstone 2001; libsecp256k1 proves that the halves stay
// below 2^128).
var (
	g1 = words{0xe893209a45dbb031, 0x3daa8a1471e8ca7f, 0xe86c90e49284eb15, 0x3086d221a7d46bcd}
	g2 = words{0x1571b4ae8ac47f71, 0x221208ac9df506c6, 0x6f547fa90abfe4c4, 0xe4437ed6010e8828}
)

const (
	a1Low, a1High           = 0xe86c90e49284eb15, 0x3086d221a7d46bcd
	minusB1Low, minusB1High = 0x6f547fa90abfe4c3, 0xe4437ed6010e8828
	a2Low, a2High           = 0x57c1108d9d44cfd8, 0x14ca50f7a8e2f3f6 // and 2^128
)

// set gives recovery i its r, s (neither zero) and hash.
func (b *scalars) set(i int, r, s *words, hash *[32]byte) {
	b.r[i], b.s[i], b.z[i] = *r, *s, wordsOf(hash)
	b.inverses[i] = *r
	if i > 0 {
		b.inverses[i] = mulMontgomery(&b.inverses[i-1], r)
	}
}

// solve inverts the first n values of r at once.
func (b *scalars) solve(n int) {
	// Prefix product i is r0·…·ri/2^(256i). With inverse = 2^255 over it,
	// inverse times prefix product i-1 is 2^255/ri, and inverse times ri is the
	// inverse for i-1, all in Montgomery products.
	bytes := b.inverses[n-1].bytes()
	var product, half secp256k1.ModNScalar
	product.SetBytes(&bytes)
	bytes = halfOfRadix.bytes()
	half.SetBytes(&bytes)
	bytes = product.InverseNonConst().Mul(&half).Bytes()
	inverse := wordsOf(&bytes)
	for i := n - 1; i > 0; i-- {
		b.inverses[i] = mulMontgomery(&inverse, &b.inverses[i-1])
		inverse = mulMontgomery(&inverse, &b.r[i])
	}
	b.inverses[0] = inverse
}

// digits writes the scalars of recovery i.
func (b *scalars) digits(i, lane int, base, first, second *secp.Digits) {
	w := &b.inverses[i]
	k := mulMontgomery(&b.z[i], w) // the hash may be above n
	for j, word := range subModOrder(&baseOffset, &k) {
		base[j][lane] = word
	}
	k = mulMontgomery(&b.s[i], w)
	k = addModOrder(&k, &splitOffset)
	v1, v2 := split(&k)
	for j := range v1 {
		first[j][lane], second[j][lane] = v1[j], v2[j]
	}
}

// split returns v1 and v2 below 2^129 with v1 + lambda·v2 = k + (1 + lambda)·2^128
// mod n, for k below n.
func split(k *words) (v1, v2 [3]uint64) {
	c1Low, c1High := scale(k, &g1)
	c2Low, c2High := scale(k, &g2)
	// second half: c1·(-b1) - c2·a1; first: k - c1·a1 - c2·a2, modulo 2^192
	c1a1 := times(c1Low, c1High, a1Low, a1High)
	c2a2 := times(c2Low, c2High, a2Low, a2High)
	c2a2[2] += c2Low // a2's bit 128
	v1 = [3]uint64{k[0], k[1], k[2] + 1}
	subtract(&v1, &c1a1)
	subtract(&v1, &c2a2)
	v2 = times(c1Low, c1High, minusB1Low, minusB1High)
	v2[2]++
	c2a1 := times(c2Low, c2High, a1Low, a1High)
	subtract(&v2, &c2a1)
	return v1, v2
}

// scale returns k·g / 2^384, rounded.
func scale(k, g *words) (low, high uint64) {
	var t [8]uint64
	for i, x := range k {
		var carry uint64
		for j, y := range g {
			h, l := bits.Mul64(x, y)
			var c uint64
			l, c = bits.Add64(l, t[i+j], 0)
			h += c
			l, c = bits.Add64(l, carry, 0)
			carry = h + c
			t[i+j] = l
		}
		t[i+4] = carry
	}
	low, carry := bits.Add64(t[6], t[5]>>63, 0)
	return low, t[7] + carry
}

// times returns the product modulo 2^192.
func times(aLow, aHigh, bLow, bHigh uint64) (p [3]uint64) {
	h0, l0 := bits.Mul64(aLow, bLow)
	h1, l1 := bits.Mul64(aLow, bHigh)
	h2, l2 := bits.Mul64(aHigh, bLow)
	p[0] = l0
	var c1, c2 uint64
	p[1], c1 = bits.Add64(h0, l1, 0)
	p[1], c2 = bits.Add64(p[1], l2, 0)
	p[2] = h1 + h2 + aHigh*bHigh + c1 + c2
	return p
}

// subtract sets a -= b modulo 2^192.
func subtract(a, b *[3]uint64) {
	var borrow uint64
	a[0], borrow = bits.Sub64(a[0], b[0], 0)
	a[1], borrow = bits.Sub64(a[1], b[1], borrow)
	a[2], _ = bits.Sub64(a[2], b[2], borrow)
}
