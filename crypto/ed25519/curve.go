package ed25519

import (
	"encoding/binary"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// The group law here works on public data in variable time, over the field of
// filippo.io/edwards25519. That module has the same formulas (Hisil, Wong,
// Carter, Dawson 2008, twisted Edwards with a = -1) but keeps its tables to
// itself, and tables that outlive a call are what known keys are about.

// projective is a point with x = X/Z, y = Y/Z, and T = XY/Z where it is asked
// for.
type projective struct{ x, y, z, t field.Element }

// completed is what an addition yields: x = X/Z, y = Y/T.
type completed struct{ x, y, z, t field.Element }

// addend is a point made ready to be added.
type addend struct{ yPlusX, yMinusX, z2, t2d field.Element }

// affineAddend is one with Z = 1.
type affineAddend struct{ yPlusX, yMinusX, t2d field.Element }

func identity() projective {
	var p projective
	p.y.One()
	p.z.One()
	return p
}

func fromPoint(q *edwards25519.Point) projective {
	x, y, z, t := q.ExtendedCoordinates()
	return projective{*x, *y, *z, *t}
}

// point is p for the module; it reports false for what is not on the curve.
func (p *projective) point() (*edwards25519.Point, bool) {
	q, err := new(edwards25519.Point).SetExtendedCoordinates(&p.x, &p.y, &p.z, &p.t)
	return q, err == nil
}

// from sets p to c; only with T if something is to be added.
func (p *projective) from(c *completed, withT bool) {
	p.x.Multiply(&c.x, &c.t)
	p.y.Multiply(&c.y, &c.z)
	p.z.Multiply(&c.z, &c.t)
	if withT {
		p.t.Multiply(&c.x, &c.y)
	}
}

// double sets c to 2p. It does not read T.
func (c *completed) double(p *projective) {
	var xx, yy, zz2, sum field.Element
	xx.Square(&p.x)
	yy.Square(&p.y)
	zz2.Square(&p.z)
	zz2.Add(&zz2, &zz2)
	sum.Add(&p.x, &p.y)
	sum.Square(&sum)
	c.y.Add(&yy, &xx)
	c.z.Subtract(&yy, &xx)
	c.x.Subtract(&sum, &c.y)
	c.t.Subtract(&zz2, &c.z)
}

// ready sets a to p; d2 is twice the constant d of the curve.
func (a *addend) ready(p *projective, d2 *field.Element) {
	a.yPlusX.Add(&p.y, &p.x)
	a.yMinusX.Subtract(&p.y, &p.x)
	a.z2.Add(&p.z, &p.z)
	a.t2d.Multiply(&p.t, d2)
}

// add sets c to p + a, or p - a.
func (c *completed) add(p *projective, a *addend, minus bool) {
	var zz2 field.Element
	zz2.Multiply(&p.z, &a.z2)
	c.combine(p, &a.yPlusX, &a.yMinusX, &a.t2d, &zz2, minus)
}

// addAffine sets c to p + a, or p - a.
func (c *completed) addAffine(p *projective, a *affineAddend, minus bool) {
	var zz2 field.Element
	zz2.Add(&p.z, &p.z)
	c.combine(p, &a.yPlusX, &a.yMinusX, &a.t2d, &zz2, minus)
}

// combine is the rest of both additions. The negative of an addend has its
// first two parts swapped and the third negated.
func (c *completed) combine(p *projective, yPlusX, yMinusX, t2d, zz2 *field.Element, minus bool) {
	if minus {
		yPlusX, yMinusX = yMinusX, yPlusX
	}
	var high, low, tt field.Element
	high.Add(&p.y, &p.x)
	high.Multiply(&high, yPlusX)
	low.Subtract(&p.y, &p.x)
	low.Multiply(&low, yMinusX)
	tt.Multiply(&p.t, t2d)
	c.x.Subtract(&high, &low)
	c.y.Add(&high, &low)
	if minus {
		c.z.Subtract(zz2, &tt)
		c.t.Add(zz2, &tt)
		return
	}
	c.z.Add(zz2, &tt)
	c.t.Subtract(zz2, &tt)
}

// doubledD is 2d, d = -121665/121666 (RFC 8032 §5.1), little-endian.
var doubledD = [32]byte{
	0x59, 0xf1, 0xb2, 0x26, 0x94, 0x9b, 0xd6, 0xeb, 0x56, 0xb1, 0x83, 0x82, 0x9a, 0x14, 0xe0, 0x00,
	0x30, 0xd1, 0xf3, 0xee, 0xf2, 0x80, 0x8e, 0x19, 0xe7, 0xfc, 0xdf, 0x56, 0xdc, 0xd9, 0x06, 0x24,
}

func twiceD() field.Element {
	var d2 field.Element
	if _, err := d2.SetBytes(doubledD[:]); err != nil {
		panic("ed25519: an element has 32 bytes")
	}
	return d2
}

// oddMultiples fills table with q, 3q, 5q and so on.
func oddMultiples(table []projective, q *projective, d2 *field.Element) {
	var c completed
	var twice projective
	c.double(q)
	twice.from(&c, true)
	var step addend
	step.ready(&twice, d2)
	table[0] = *q
	for i := 1; i < len(table); i++ {
		c.add(&table[i-1], &step, false)
		table[i].from(&c, true)
	}
}

// affineAddends normalizes points with one inversion for all of them. No Z is
// zero: the formulas are complete.
func affineAddends(table []affineAddend, points []projective, d2 *field.Element) {
	before := make([]field.Element, len(points)) // products of the Zs up to each
	var product field.Element
	product.One()
	for i := range points {
		before[i] = product
		product.Multiply(&product, &points[i].z)
	}
	product.Invert(&product)
	for i := len(points) - 1; i >= 0; i-- {
		var inverse, x, y field.Element
		inverse.Multiply(&product, &before[i])
		product.Multiply(&product, &points[i].z)
		x.Multiply(&points[i].x, &inverse)
		y.Multiply(&points[i].y, &inverse)
		table[i].yPlusX.Add(&y, &x)
		table[i].yMinusX.Subtract(&y, &x)
		table[i].t2d.Multiply(&x, &y)
		table[i].t2d.Multiply(&table[i].t2d, d2)
	}
}

// digitsMax is the length of a recoded scalar below 2^128.
const digitsMax = 129

// recode writes a scalar below 2^128 as digits of weights 1, 2, 4, …: all zero
// or odd with absolute value below 2^(width-1), at most one of width neighbours
// not zero.
func recode(digits *[digitsMax]int8, low, high uint64, width uint) {
	*digits = [digitsMax]int8{}
	carry := uint64(0)
	for i := uint(0); i < digitsMax; {
		var window uint64
		switch {
		case i >= 128:
		case i >= 64:
			window = high >> (i - 64)
		default:
			window = low>>i | high<<1<<(63-i)
		}
		window = window&(1<<width-1) + carry
		if window&1 == 0 {
			i++
			continue
		}
		carry = window >> (width - 1) & 1 // take the digit from below, repay above
		digits[i] = int8(int64(window) - int64(carry<<width))
		i += width
	}
}

// halves splits a reduced scalar at bit 127.
func halves(s *edwards25519.Scalar) (low, high [2]uint64) {
	var w [4]uint64
	for i, b := 0, s.Bytes(); i < 4; i++ {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return [2]uint64{w[0], w[1] &^ (1 << 63)},
		[2]uint64{w[1]>>63 | w[2]<<1, w[2]>>63 | w[3]<<1}
}
