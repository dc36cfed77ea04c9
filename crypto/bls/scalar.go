package bls

import (
	"encoding/binary"
	"math/bits"
)

// element is an element of the scalar field, the integers modulo the group
// order r, in Montgomery form: the value times 2^256 modulo r, reduced, in four
// words from the lowest up. It serves public values only (indices of shares and
// the coefficients made of them), and takes no constant time.
type element [4]uint64

var (
	// order is r, montgomeryOne is 2^256 mod r, montgomerySquare 2^512 mod r
	// (draft-irtf-cfrg-pairing-friendly-curves §4.2.1; derived in a test).
	order            = element{0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}
	montgomeryOne    = element{0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f}
	montgomerySquare = element{0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f, 0x0748d9d99f59ff11}
)

// orderInverse is -1/r modulo 2^64.
const orderInverse = 0xfffffffeffffffff

// elementOf returns v as an element.
func elementOf(v uint64) element {
	e := element{v}
	return e.mul(&montgomerySquare)
}

// mul returns e·f: schoolbook rows, each followed by one step of Montgomery's
// reduction. r is below 2^255, so four words and a carry word hold every sum.
func (e *element) mul(f *element) element {
	var t [5]uint64
	for _, w := range e {
		var carry uint64
		for j := range f {
			hi, lo := bits.Mul64(w, f[j])
			t[j], carry = addTwice(t[j], lo, carry, hi)
		}
		t[4] += carry
		m := t[0] * orderInverse
		hi, lo := bits.Mul64(m, order[0])
		_, carry = addTwice(t[0], lo, 0, hi)
		for j := 1; j < len(order); j++ {
			hi, lo = bits.Mul64(m, order[j])
			t[j-1], carry = addTwice(t[j], lo, carry, hi)
		}
		t[3], carry = bits.Add64(t[4], carry, 0)
		t[4] = carry
	}
	return reduced([4]uint64(t[:4]))
}

// addTwice returns a+b+c and its carry on top of hi, which leaves room for it
// as the high word of a product.
func addTwice(a, b, c, hi uint64) (sum, carry uint64) {
	sum, one := bits.Add64(a, b, 0)
	hi += one
	sum, one = bits.Add64(sum, c, 0)
	return sum, hi + one
}

// reduced subtracts r from a value below 2r if that is due.
func reduced(v [4]uint64) element {
	var d element
	var borrow uint64
	for i := range d {
		d[i], borrow = bits.Sub64(v[i], order[i], borrow)
	}
	if borrow == 1 {
		return v
	}
	return d
}

// neg returns -e.
func (e *element) neg() element {
	if *e == (element{}) {
		return element{}
	}
	var d element
	var borrow uint64
	for i := range d {
		d[i], borrow = bits.Sub64(order[i], e[i], borrow)
	}
	return d
}

// inverse returns 1/e as e^(r-2), and zero for zero.
func (e *element) inverse() element {
	exponent := order
	exponent[0] -= 2 // the lowest word of r is 2^64 - 2^32 + 1: no borrow
	acc := montgomeryOne
	for i := 255; i >= 0; i-- {
		acc = acc.mul(&acc)
		if exponent[i/64]>>(i%64)&1 == 1 {
			acc = acc.mul(e)
		}
	}
	return acc
}

// appendLittleEndian appends the value of e in 32 bytes.
func (e *element) appendLittleEndian(dst []byte) []byte {
	plain := e.mul(&element{1})
	for _, w := range plain {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// invertAll replaces elements, none of them zero, by their inverses, at the
// price of one inversion and three multiplications each.
func invertAll(list []element) {
	before := make([]element, len(list)) // products of all earlier ones
	acc := montgomeryOne
	for i := range list {
		before[i] = acc
		acc = acc.mul(&list[i])
	}
	acc = acc.inverse()
	for i := len(list) - 1; i >= 0; i-- {
		next := acc.mul(&list[i])
		list[i] = acc.mul(&before[i])
		acc = next
	}
}
