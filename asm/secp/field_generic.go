package secp

import "math/bits"

// limbs is one lane of an [Element].
type limbs [5]uint64

// columns are the ten sums of products of limbs, 52 bits apart.
type columns [10]uint64

const (
	mask52 = 1<<52 - 1
	mask48 = 1<<48 - 1
	fold60 = 0x1000003d10 // 2^260 mod p
	fold56 = 0x1000003d1  // 2^256 mod p
)

// primeLimbs is p = 2^256 - 2^32 - 977, betaLimbs the cube root of one with
// lambda·(x, y) = (beta·x, y).
var (
	primeLimbs = limbs{0xffffefffffc2f, mask52, mask52, mask52, mask48}
	betaLimbs  = limbs{0x96c28719501ee, 0x7512f58995c13, 0xc3434e99cf049, 0x7106e64479ea, 0x7ae96a2b657c}
)

func (e *Element) lane(i int) limbs {
	return limbs{e[0][i], e[1][i], e[2][i], e[3][i], e[4][i]}
}

func (e *Element) setLane(i int, v limbs) {
	for k := range v {
		e[k][i] = v[k]
	}
}

// mulLow and mulHigh are the halves of the 104-bit product of two limbs.
func mulLow(a, b uint64) uint64 { return (a & mask52) * (b & mask52) & mask52 }

func mulHigh(a, b uint64) uint64 {
	high, _ := bits.Mul64(a&mask52, b<<12)
	return high
}

// add adds a·b.
func (c *columns) add(a, b *limbs) {
	for i := range a {
		for j := range b {
			c[i+j] += mulLow(a[i], b[j])
			c[i+j+1] += mulHigh(a[i], b[j])
		}
	}
}

// reduce returns factor times the columns, less the elements in minus, tight.
// It is reduce of the generator, step by step; the bounds stand there.
func (c *columns) reduce(factor uint64, minus ...*limbs) limbs {
	r := [6]uint64(c[:6])
	r[5] = 0
	for i := range 5 {
		r[i] += mulLow(c[5+i], fold60)
		r[i+1] += mulHigh(c[5+i], fold60)
		if i < 4 {
			r[i+1] += (c[5+i] >> 52) * fold60
		}
	}
	for i := range r {
		r[i] *= factor
	}
	if len(minus) > 0 {
		for i, p := range primeLimbs {
			r[i] += 8 * p
		}
	}
	for _, m := range minus {
		for i := range m {
			r[i] -= m[i]
		}
	}
	return limbs(r[:5]).fold(r[4]>>48 + r[5]<<4)
}

// fold returns v with limb 4 cut to 48 bits, plus q·2^256, carried.
func (v limbs) fold(q uint64) limbs {
	v[4] &= mask48
	v[0] += mulLow(q, fold56)
	v[1] += mulHigh(q, fold56)
	return v.carried()
}

func (v limbs) carried() limbs {
	for i := range 4 {
		v[i+1] += v[i] >> 52
		v[i] &= mask52
	}
	return v
}

// mul returns factor·a·b - Σminus.
func mul(factor uint64, a, b *limbs, minus ...*limbs) limbs {
	var c columns
	c.add(a, b)
	return c.reduce(factor, minus...)
}

// difference returns a - b + 8p, a factor.
func difference(a, b *limbs) limbs {
	var v limbs
	for i := range v {
		v[i] = a[i] + 8*primeLimbs[i] - b[i]
	}
	return v.carried()
}

func sum(a, b *limbs) limbs {
	var v limbs
	for i := range v {
		v[i] = a[i] + b[i]
	}
	return v.fold(v[4] >> 48)
}

// canonical returns v mod p for tight v.
func (v limbs) canonical() limbs {
	v = v.fold(v[4] >> 48)
	above := v
	above[0] += fold56
	above = above.carried()
	if above[4]>>48 == 0 {
		return v
	}
	above[4] &= mask48
	return above
}

func mulOneGeneric(z, x, y *Element) {
	for i := range Lanes {
		a, b := x.lane(i), y.lane(i)
		z.setLane(i, mul(1, &a, &b))
	}
}

func squareOneGeneric(z, x *Element, n int) {
	for i := range Lanes {
		v := x.lane(i)
		for range n {
			v = mul(1, &v, &v)
		}
		z.setLane(i, v)
	}
}

func mulGeneric(z, x, y *Quad) {
	for g := range z {
		mulOneGeneric(&z[g], &x[g], &y[g])
	}
}

func squareGeneric(z, x *Quad, n int) {
	for g := range z {
		squareOneGeneric(&z[g], &x[g], n)
	}
}

func addGeneric(z, x, y *Quad) {
	for g := range z {
		for i := range Lanes {
			a, b := x[g].lane(i), y[g].lane(i)
			z[g].setLane(i, sum(&a, &b))
		}
	}
}

func subGeneric(z, x, y *Quad) {
	for g := range z {
		for i := range Lanes {
			a, b := x[g].lane(i), y[g].lane(i)
			var v limbs
			for k := range v {
				v[k] = a[k] + 8*primeLimbs[k] - b[k]
			}
			z[g].setLane(i, v.fold(v[4]>>48))
		}
	}
}

func normalizeGeneric(z *Quad) {
	for g := range z {
		for i := range Lanes {
			z[g].setLane(i, z[g].lane(i).canonical())
		}
	}
}
