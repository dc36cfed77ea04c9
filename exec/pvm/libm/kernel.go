package libm

import "math/big"

// The kernels evaluate in fixed point. Arguments are cut to a nearby multiple of
// 1/256, whose series has small integers for factors, and a rest so small that
// its series is short.

func mul(a, b *big.Int, w uint) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, w)
}

// div is a/b; b is not zero.
func div(a, b *big.Int, w uint) *big.Int {
	q := new(big.Int).Lsh(a, w)
	return q.Quo(q, b)
}

// expCoarse is e^(p/256) for |p| below 256.
func expCoarse(p int64, w uint) *big.Int {
	term := new(big.Int).Lsh(one, w)
	sum := new(big.Int).Set(term)
	factor, divisor := big.NewInt(p), new(big.Int)
	for n := int64(1); term.Sign() != 0; n++ {
		term.Mul(term, factor)
		term.Quo(term, divisor.SetInt64(256*n))
		sum.Add(sum, term)
	}
	return sum
}

// expSeries is e^r for 0 ≤ r < 1/128.
func expSeries(r *big.Int, w uint) *big.Int {
	term := new(big.Int).Lsh(one, w)
	sum := new(big.Int).Set(term)
	divisor := new(big.Int)
	for n := int64(1); term.Sign() != 0; n++ {
		term.Mul(term, r)
		term.Rsh(term, w)
		term.Quo(term, divisor.SetInt64(n))
		sum.Add(sum, term)
	}
	return sum
}

// expKernel gives f and k with e^x = f·2^k, f between 0.7 and 1.5, for |x| below
// 2^12.
func expKernel(x *big.Int, w uint) (f *big.Int, k int) {
	l := ln2(w)
	q := new(big.Int).Lsh(x, 1)
	q.Add(q, l)
	q.Div(q, new(big.Int).Lsh(l, 1)) // round(x/ln 2)
	k = int(q.Int64())
	r := new(big.Int).Sub(x, q.Mul(q, l))
	p := new(big.Int).Rsh(r, w-8).Int64() // floor
	r.Sub(r, shifted(big.NewInt(p), int(w)-8))
	return mul(expCoarse(p, w), expSeries(r, w), w), k
}

// logKernel is log(m·2^e) for a positive m.
func logKernel(m *big.Int, e int, w uint) *big.Int {
	n := m.BitLen()
	f := shifted(m, int(w)-n) // in [1/2, 1)
	e += n
	if new(big.Int).Rsh(f, w-30).Int64() < 759250125 { // √½·2^30
		f.Lsh(f, 1)
		e--
	}
	sum := logNear(f, w)
	return sum.Add(sum, new(big.Int).Mul(ln2(w), big.NewInt(int64(e))))
}

// logNear is log(f) for f in [0.7, 1.42].
func logNear(f *big.Int, w uint) *big.Int {
	const unit = 1 << 30
	c := new(big.Int).Rsh(f, w-30).Int64()
	z := (c - unit) * unit / (c + unit)
	p := (2*z + 2*(z*z/unit)*z/unit/3) >> 22
	coarse := expCoarse(p, w)
	d := div(new(big.Int).Sub(f, coarse), coarse.Add(coarse, f), w)
	sum := oddSeries(d, w, false)
	sum.Lsh(sum, 1)
	return sum.Add(sum, shifted(big.NewInt(p), int(w)-8))
}

// oddSeries is d ± d³/3 + d⁵/5 ± …, atan or atanh, for small d.
func oddSeries(d *big.Int, w uint, alternate bool) *big.Int {
	square := mul(d, d, w)
	if alternate {
		square.Neg(square)
	}
	sum, power := new(big.Int).Set(d), new(big.Int).Set(d)
	term, divisor := new(big.Int), new(big.Int)
	for n := int64(3); ; n += 2 {
		power.Mul(power, square)
		power.Quo(power, term.Lsh(one, w))
		if power.Sign() == 0 {
			return sum
		}
		sum.Add(sum, term.Quo(power, divisor.SetInt64(n)))
	}
}

// sinCosCoarse gives sin and cos of p/256 for p in [0, 256].
func sinCosCoarse(p int64, w uint) (sin, cos *big.Int) {
	term := new(big.Int).Lsh(one, w)
	sin, cos = new(big.Int), new(big.Int).Set(term)
	factor, divisor := big.NewInt(p), new(big.Int)
	for n := int64(1); term.Sign() != 0; n++ {
		term.Mul(term, factor)
		term.Quo(term, divisor.SetInt64(256*n))
		switch n & 3 {
		case 0:
			cos.Add(cos, term)
		case 1:
			sin.Add(sin, term)
		case 2:
			cos.Sub(cos, term)
		case 3:
			sin.Sub(sin, term)
		}
	}
	return sin, cos
}

// sinSeries is sin(r) for |r| up to π/2.
func sinSeries(r *big.Int, w uint) *big.Int { return trigSeries(r, new(big.Int).Set(r), 2, w) }

// cosSeries is cos(r) for |r| below 1.
func cosSeries(r *big.Int, w uint) *big.Int { return trigSeries(r, new(big.Int).Lsh(one, w), 1, w) }

func trigSeries(r, term *big.Int, n int64, w uint) *big.Int {
	square := mul(r, r, w)
	sum, divisor := new(big.Int).Set(term), new(big.Int)
	scale := new(big.Int).Lsh(one, w)
	for ; term.Sign() != 0; n += 2 {
		term.Mul(term, square)
		term.Quo(term, scale)
		term.Quo(term, divisor.SetInt64(-n*(n+1)))
		sum.Add(sum, term)
	}
	return sum
}

// atanKernel is atan(y/x) for y ≥ 0, x ≥ 0, not both zero, with relative error
// for small quotients when w is larger by the bits that they are small.
func atanKernel(y, x *big.Int, w uint) *big.Int {
	if y.Cmp(x) > 0 {
		half := pi(w)
		half.Rsh(half, 1)
		return half.Sub(half, atanKernel(x, y, w))
	}
	t := div(y, x, w)
	const unit = 1 << 30
	c := new(big.Int).Rsh(t, w-30).Int64()
	// atan(t) is within 0.004 of t·(π/4 + 0.273·(1-t)).
	p := c * (843314857 + 293131518*(unit-c)/unit) / unit >> 22
	sin, cos := sinCosCoarse(p, w)
	d := div(new(big.Int).Sub(mul(t, cos, w), sin), cos.Add(cos, mul(t, sin, w)), w)
	sum := oddSeries(d, w, true)
	return sum.Add(sum, shifted(big.NewInt(p), int(w)-8))
}
