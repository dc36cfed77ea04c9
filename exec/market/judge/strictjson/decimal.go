package strictjson

import (
	"bytes"
	"cmp"
	"math/big"
	"strconv"
)

// Decimal is a number, exactly: 0.Digits × 10^Exponent, negated or not. Digits has no zero
// at either end, and is empty for zero, which has the exponent 0 and no sign: each number has
// one form. A decimal of a text has at most MaxDigits digits and an exponent within
// ±(MaxDigits+MaxExponent).
type Decimal struct {
	Negative bool
	Digits   []byte // '0' to '9'
	Exponent int
}

// Number returns what a number amounts to; zero for other values.
func (v Value) Number() Decimal {
	if v.node.kind != Number {
		return Decimal{}
	}
	return decimalOf(v.Text(), nil)
}

// decimalOf reads a number of JSON within the bounds of [Read]. The digits of one with a
// fraction are put together in buf, those of others alias text.
func decimalOf(text, buf []byte) (d Decimal) {
	if text[0] == '-' {
		d.Negative, text = true, text[1:]
	}
	if at := bytes.IndexAny(text, "eE"); at >= 0 { // Paid: with the bytes of the text.
		d.Exponent = exponentWith(text[at+1:])
		text = text[:at]
	}
	d.Digits = text
	if at := bytes.IndexByte(text, '.'); at >= 0 { // Paid: with the bytes of the text.
		d.Digits = append(append(buf[:0], text[:at]...), text[at+1:]...)
		d.Exponent += at
	} else {
		d.Exponent += len(text)
	}
	// Bounded: MaxDigits.
	for len(d.Digits) > 0 && d.Digits[0] == '0' {
		d.Digits = d.Digits[1:]
		d.Exponent--
	}
	// Bounded: MaxDigits.
	for len(d.Digits) > 0 && d.Digits[len(d.Digits)-1] == '0' {
		d.Digits = d.Digits[:len(d.Digits)-1]
	}
	if len(d.Digits) == 0 {
		return Decimal{}
	}
	return d
}

// exponentWith reads an exponent with or without a sign.
func exponentWith(text []byte) int {
	switch text[0] {
	case '-':
		return -exponentOf(text[1:])
	case '+':
		return exponentOf(text[1:])
	}
	return exponentOf(text)
}

// Compare returns -1, 0 or 1 as d is below, equal to or above o. It expands nothing.
func (d Decimal) Compare(o Decimal) int {
	switch a, b := d.signum(), o.signum(); {
	case a != b:
		return cmp.Compare(a, b)
	case a < 0:
		return -d.compareSize(o)
	}
	return d.compareSize(o)
}

func (d Decimal) signum() int {
	switch {
	case len(d.Digits) == 0:
		return 0
	case d.Negative:
		return -1
	}
	return 1
}

// compareSize compares what lies behind the signs of two numbers that are both zero or both
// not.
func (d Decimal) compareSize(o Decimal) int {
	if c := cmp.Compare(d.Exponent, o.Exponent); c != 0 {
		return c
	}
	return bytes.Compare(d.Digits, o.Digits) // Bounded: MaxDigits.
}

// Beyond reports whether d lies farther from o than so many millionths of o's distance from
// zero.
func (d Decimal) Beyond(o Decimal, millionths uint64) bool {
	low := min(d.Exponent-len(d.Digits), o.Exponent-len(o.Digits))
	a, b := d.scaled(low), o.scaled(low)
	a.Sub(a, b)
	a.Mul(a.Abs(a), big.NewInt(1_000_000))
	b.Mul(b.Abs(b), new(big.Int).SetUint64(millionths))
	return a.Cmp(b) > 0
}

// scaled returns d / 10^low, an integer: low is no more than the place of the last digit, and
// of two numbers of texts it lies 3·MaxDigits + 2·MaxExponent digits below the first one at
// most.
func (d Decimal) scaled(low int) *big.Int {
	if len(d.Digits) == 0 {
		return new(big.Int)
	}
	text := make([]byte, 0, 1+d.Exponent-low)
	if d.Negative {
		text = append(text, '-')
	}
	text = appendZeros(append(text, d.Digits...), d.Exponent-len(d.Digits)-low)
	n, _ := new(big.Int).SetString(string(text), 10)
	return n
}

// plain are the exponents for which a number is written without one, as ECMA-262 has it for
// its numbers.
const (
	leastPlain = -5
	mostPlain  = 21
)

// AppendText appends d as JSON has numbers, in one way for each number. What stands there is
// within the bounds of [Read] if d came from a text.
func (d Decimal) AppendText(dst []byte) []byte {
	if len(d.Digits) == 0 {
		return append(dst, '0')
	}
	if d.Negative {
		dst = append(dst, '-')
	}
	if leastPlain <= d.Exponent && d.Exponent <= mostPlain {
		return d.appendPlain(dst, d.Exponent)
	}
	e := max(-MaxExponent, min(d.Exponent-1, MaxExponent))
	dst = append(d.appendPlain(dst, d.Exponent-e), 'e')
	return strconv.AppendInt(dst, int64(e), 10)
}

// appendPlain appends 0.Digits × 10^point without an exponent. The point lies within
// MaxDigits of the first digit.
func (d Decimal) appendPlain(dst []byte, point int) []byte {
	n := len(d.Digits)
	switch {
	case point <= 0:
		dst = appendZeros(append(dst, "0."...), -point)
		return append(dst, d.Digits...)
	case point < n:
		dst = append(append(dst, d.Digits[:point]...), '.')
		return append(dst, d.Digits[point:]...)
	}
	return appendZeros(append(dst, d.Digits...), point-n)
}

func appendZeros(dst []byte, n int) []byte {
	// Bounded: MaxDigits, or the span of two numbers (Decimal.scaled).
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
