package secp256k1

import (
	"encoding/binary"
	"math/bits"
)

// words is an integer of 256 bits, the low word first.
type words [4]uint64

var (
	orderWords     = words{0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 0xfffffffffffffffe, 0xffffffffffffffff}
	halfOrderWords = words{0xdfe92f46681b20a0, 0x5d576e7357a4501d, 0xffffffffffffffff, 0x7fffffffffffffff}
)

// orderInverse is -1/n mod 2^64.
const orderInverse = 0x4b0dff665588b13f

func wordsOf(b *[32]byte) words {
	return words{
		binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint64(b[16:]),
		binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[:]),
	}
}

func (w *words) bytes() (b [32]byte) {
	for i, word := range w {
		binary.BigEndian.PutUint64(b[24-8*i:], word)
	}
	return b
}

func (w *words) isZero() bool { return w[0]|w[1]|w[2]|w[3] == 0 }

// minus returns w - o and the borrow.
func (w *words) minus(o *words) (d words, borrow uint64) {
	d[0], borrow = bits.Sub64(w[0], o[0], 0)
	d[1], borrow = bits.Sub64(w[1], o[1], borrow)
	d[2], borrow = bits.Sub64(w[2], o[2], borrow)
	d[3], borrow = bits.Sub64(w[3], o[3], borrow)
	return d, borrow
}

// plus returns w + o and the carry.
func (w *words) plus(o *words) (s words, carry uint64) {
	s[0], carry = bits.Add64(w[0], o[0], 0)
	s[1], carry = bits.Add64(w[1], o[1], carry)
	s[2], carry = bits.Add64(w[2], o[2], carry)
	s[3], carry = bits.Add64(w[3], o[3], carry)
	return s, carry
}

// addModOrder returns a + b mod n for a and b below n.
func addModOrder(a, b *words) words {
	sum, carry := a.plus(b)
	if less, borrow := sum.minus(&orderWords); carry == 1 || borrow == 0 {
		return less
	}
	return sum
}

// subModOrder returns a - b mod n for a and b below n.
func subModOrder(a, b *words) words {
	difference, borrow := a.minus(b)
	if borrow == 1 {
		difference, _ = difference.plus(&orderWords)
	}
	return difference
}

// mulMontgomery returns a·b/2^256 mod n, below n, for any a and b below n.
func mulMontgomery(a, b *words) words {
	var t0, t1, t2, t3, t4 uint64
	for _, x := range a {
		// t += x·b, five words and a carry
		var c uint64
		h0, l0 := bits.Mul64(x, b[0])
		h1, l1 := bits.Mul64(x, b[1])
		h2, l2 := bits.Mul64(x, b[2])
		h3, l3 := bits.Mul64(x, b[3])
		l1, c = bits.Add64(l1, h0, 0)
		l2, c = bits.Add64(l2, h1, c)
		l3, c = bits.Add64(l3, h2, c)
		h3 += c
		t0, c = bits.Add64(t0, l0, 0)
		t1, c = bits.Add64(t1, l1, c)
		t2, c = bits.Add64(t2, l2, c)
		t3, c = bits.Add64(t3, l3, c)
		var t5 uint64
		t4, t5 = bits.Add64(t4, h3, c)
		// t = (t + m·n) / 2^64
		m := t0 * orderInverse
		h0, l0 = bits.Mul64(m, orderWords[0])
		h1, l1 = bits.Mul64(m, orderWords[1])
		h2, l2 = bits.Mul64(m, orderWords[2])
		h3, l3 = bits.Mul64(m, orderWords[3])
		l1, c = bits.Add64(l1, h0, 0)
		l2, c = bits.Add64(l2, h1, c)
		l3, c = bits.Add64(l3, h2, c)
		h3 += c
		_, c = bits.Add64(t0, l0, 0)
		t0, c = bits.Add64(t1, l1, c)
		t1, c = bits.Add64(t2, l2, c)
		t2, c = bits.Add64(t3, l3, c)
		t3, c = bits.Add64(t4, h3, c)
		t4 = t5 + c
	}
	product := words{t0, t1, t2, t3}
	if less, borrow := product.minus(&orderWords); t4 == 1 || borrow == 0 {
		return less
	}
	return product
}
