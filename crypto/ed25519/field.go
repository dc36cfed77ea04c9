package ed25519

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
)

// element is an integer modulo p = 2^255 - 19 in five limbs of 51 bits, lowest
// first. Between operations each limb is below 2^52, so sums of two stay below
// 2^53 and products of five below 2^115 before they are carried.
type element [5]uint64

const limbMask = 1<<51 - 1

var (
	// curveD is the constant of the curve -x² + y² = 1 + d·x²·y².
	curveD = element{0x34dca135978a3, 0x1a8283b156ebd, 0x5e7a26001c029, 0x739c663a03cbb, 0x52036cee2b6ff}
	// sqrtMinusOne squares to -1.
	sqrtMinusOne = element{0x61b274a0ea0b0, 0xd5a5fc8f189d, 0x7ef5e9cbd0c60, 0x78595a6804c9e, 0x2b8324804fc1d}
	one          = element{1}
)

// decode reads 255 bits, little-endian, ignoring the top bit of the last byte.
// Values from p to 2^255-1 are accepted and stand for their remainder, as
// ZIP-215 demands.
func (e *element) decode(b []byte) {
	for i, at := range []struct{ byteAt, shift int }{{0, 0}, {6, 3}, {12, 6}, {19, 1}, {24, 12}} {
		e[i] = binary.LittleEndian.Uint64(b[at.byteAt:]) >> at.shift & limbMask
	}
}

// bytes returns the one encoding below p.
func (e *element) bytes() [32]byte {
	t := *e
	t.carry()
	// q is 1 if t >= p, that is if t + 19 reaches 2^255.
	q := (t[0] + 19) >> 51
	for _, limb := range t[1:] {
		q = (limb + q) >> 51
	}
	t[0] += 19 * q
	for i := range 4 {
		t[i+1] += t[i] >> 51
		t[i] &= limbMask
	}
	t[4] &= limbMask // drops 2^255: t - p = t + 19 - 2^255
	var out [32]byte
	binary.LittleEndian.PutUint64(out[0:], t[0]|t[1]<<51)
	binary.LittleEndian.PutUint64(out[8:], t[1]>>13|t[2]<<38)
	binary.LittleEndian.PutUint64(out[16:], t[2]>>26|t[3]<<25)
	binary.LittleEndian.PutUint64(out[24:], t[3]>>39|t[4]<<12)
	return out
}

func (e *element) equal(other *element) bool { return e.bytes() == other.bytes() }

func (e *element) isZero() bool { return e.bytes() == [32]byte{} }

// isOdd reports the lowest bit of the value: RFC 8032's sign.
func (e *element) isOdd() bool { return e.bytes()[0]&1 == 1 }

// carry brings limbs below 2^63 down to below 2^52.
func (e *element) carry() {
	c0, c1, c2, c3, c4 := e[0]>>51, e[1]>>51, e[2]>>51, e[3]>>51, e[4]>>51
	e[0] = e[0]&limbMask + 19*c4 // 2^255 = 19
	e[1] = e[1]&limbMask + c0
	e[2] = e[2]&limbMask + c1
	e[3] = e[3]&limbMask + c2
	e[4] = e[4]&limbMask + c3
}

// add sets e to a + b.
func (e *element) add(a, b *element) {
	for i := range e {
		e[i] = a[i] + b[i]
	}
	e.carry()
}

// sub sets e to a - b. Adding 2p first keeps every limb from going negative:
// its limbs are 2^52 - 38 and 2^52 - 2, and b's are below that.
func (e *element) sub(a, b *element) {
	const low, high = 2*limbMask - 36, 2 * limbMask
	t := *b
	t.carry() // below 2^51 + 2^6, so that b may come from any operation
	e[0] = a[0] + low - t[0]
	for i := 1; i < len(e); i++ {
		e[i] = a[i] + high - t[i]
	}
	e.carry()
}

// wide is the 128-bit sum of products.
type wide struct{ hi, lo uint64 }

func (w wide) plus(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(w.lo, lo, 0)
	hi, _ = bits.Add64(w.hi, hi, carry)
	return wide{hi, lo}
}

// high returns w >> 51, which fits for products of carried limbs.
func (w wide) high() uint64 { return w.hi<<13 | w.lo>>51 }

// mul sets e to a·b. Limbs that pass 2^255 come back multiplied by 19.
func (e *element) mul(a, b *element) {
	a0, a1, a2, a3, a4 := a[0], a[1], a[2], a[3], a[4]
	b0, b1, b2, b3, b4 := b[0], b[1], b[2], b[3], b[4]
	c1, c2, c3, c4 := 19*b1, 19*b2, 19*b3, 19*b4
	var zero wide
	r0 := zero.plus(a0, b0).plus(a1, c4).plus(a2, c3).plus(a3, c2).plus(a4, c1)
	r1 := zero.plus(a0, b1).plus(a1, b0).plus(a2, c4).plus(a3, c3).plus(a4, c2)
	r2 := zero.plus(a0, b2).plus(a1, b1).plus(a2, b0).plus(a3, c4).plus(a4, c3)
	r3 := zero.plus(a0, b3).plus(a1, b2).plus(a2, b1).plus(a3, b0).plus(a4, c4)
	r4 := zero.plus(a0, b4).plus(a1, b3).plus(a2, b2).plus(a3, b1).plus(a4, b0)
	e[0] = r0.lo&limbMask + 19*r4.high()
	e[1] = r1.lo&limbMask + r0.high()
	e[2] = r2.lo&limbMask + r1.high()
	e[3] = r3.lo&limbMask + r2.high()
	e[4] = r4.lo&limbMask + r3.high()
	e.carry()
}

func (e *element) square(a *element) { e.mul(a, a) }

// power sets e to a^(2^255 - 19 - 5)/8 = a^(2^252 - 3), the exponent of the
// square root (RFC 8032 §5.1.3): 250 ones, a zero and a one in binary.
func (e *element) power(a *element) {
	base := *a
	result := base
	for range 249 {
		result.square(&result)
		result.mul(&result, &base)
	}
	result.square(&result)
	result.square(&result)
	result.mul(&result, &base)
	*e = result
}

// sqrtRatio sets e to a square root of u/v and reports whether there is one.
func (e *element) sqrtRatio(u, v *element) bool {
	// x = u·v³·(u·v⁷)^((p-5)/8); then v·x² is u, or -u and √-1 mends it.
	var v3, x, check, minusU element
	v3.square(v)
	v3.mul(&v3, v)
	x.square(&v3)
	x.mul(&x, v)
	x.mul(&x, u)
	x.power(&x)
	x.mul(&x, &v3)
	x.mul(&x, u)
	check.square(&x)
	check.mul(&check, v)
	minusU.sub(&element{}, u)
	switch {
	case check.equal(u):
		*e = x
	case check.equal(&minusU):
		e.mul(&x, &sqrtMinusOne)
	default:
		return false
	}
	return true
}

// reduceWide returns a little-endian number of 64 bytes modulo the group order.
func reduceWide(b [64]byte) [32]byte {
	slices.Reverse(b[:])
	modulus := order
	slices.Reverse(modulus[:])
	remainder := new(big.Int).SetBytes(b[:])
	remainder.Mod(remainder, new(big.Int).SetBytes(modulus[:]))
	var out [32]byte
	remainder.FillBytes(out[:])
	slices.Reverse(out[:])
	return out
}
