package decimal

import "math/big"

// The transcendental functions work on binary fixed point: an integer m at p
// bits stands for m/2^p. Every kernel promises its error in units of 10^-d for
// the d it is asked for, and nearest asks again with a larger d until the
// rounding is certain: results are correctly rounded, so no choice of series or
// guard bits below can show in one.

// bitsFor is a number of bits that holds d decimal digits.
func bitsFor(d int) int { return d*217706/65536 + 1 } // log2(10) rounded up

// approximation gives an integer of d digits or more and an exponent; the true
// value, which is no decimal fraction of few digits, is less than slack units
// away.
type approximation func(d int) (coef *big.Int, exp int)

// slack covers the error of every kernel many times.
const slack = 100

// nearest rounds what f approaches: it stops when everything within slack lies
// between two neighbouring halves of a unit in the last place.
func (c Context) nearest(neg bool, f approximation) (Decimal, Signal) {
	// Paid: by Cost, the cube of all digits: extra doubles until a tie is told from the argument, whose digits, or the precision's, it then has.
	for extra := 8; ; extra *= 2 {
		coef, exp := f(c.Prec + extra)
		unit := new(big.Int).Mul(pow10(digits(coef)-c.Prec-1), big.NewInt(5))
		rem := new(big.Int).Rem(coef, unit)
		if rem.Cmp(big.NewInt(slack)) > 0 && rem.Sub(unit, rem).Cmp(big.NewInt(slack)) > 0 {
			return c.round(Decimal{neg: neg, coef: coef, exp: int64(exp)})
		}
	}
}

// fixed is floor(c·10^e·2^p) for c of either sign.
func fixed(c *big.Int, e int64, p int) *big.Int {
	if e >= 0 {
		m := new(big.Int).Mul(c, pow10(e))
		return m.Lsh(m, uint(p))
	}
	m := new(big.Int).Lsh(c, uint(p))
	return m.Div(m, pow10(-e))
}

// atanhInverse is atanh(1/n) at p bits, within as many units as it has terms.
func atanhInverse(n int64, p int) *big.Int {
	term := new(big.Int).Lsh(one, uint(p))
	term.Quo(term, big.NewInt(n))
	sum, square, part := new(big.Int).Set(term), big.NewInt(n*n), new(big.Int)
	// Paid: by Cost as Transcendental, a factor of its cube: as many terms as there are digits.
	for k := int64(3); ; k += 2 {
		term.Quo(term, square)
		if term.Sign() == 0 {
			return sum
		}
		sum.Add(sum, part.Quo(term, big.NewInt(k)))
	}
}

// logs are ln 2 and ln 10 at p bits, within one unit each: three series that
// share their arguments.
type logs struct {
	p        int
	two, ten *big.Int
}

func newLogs(p int) logs {
	wide := p + 24
	a, b, c := atanhInverse(31, wide), atanhInverse(49, wide), atanhInverse(161, wide)
	combine := func(x, y, z int64) *big.Int {
		sum := new(big.Int).Mul(a, big.NewInt(x))
		sum.Add(sum, new(big.Int).Mul(b, big.NewInt(y)))
		sum.Add(sum, new(big.Int).Mul(c, big.NewInt(z)))
		return sum.Rsh(sum, 24)
	}
	return logs{p: p, two: combine(14, 10, 6), ten: combine(46, 34, 20)}
}

// commonLogs serve the precision of programs, and several times it.
var commonLogs = newLogs(512)

func logsAt(p int) logs {
	if p > commonLogs.p {
		return newLogs(p)
	}
	drop := uint(commonLogs.p - p)
	return logs{p: p, two: new(big.Int).Rsh(commonLogs.two, drop), ten: new(big.Int).Rsh(commonLogs.ten, drop)}
}

// expFixed is e^(r/2^p) at p bits for 0 <= r < 3·2^p, within 16 units: a Taylor
// series for r/2^s, squared s times.
func expFixed(r *big.Int, p int) *big.Int {
	s := 2
	// Bounded: by the root of the bits.
	for s*s < p {
		s++
	}
	w := p + s + 16 // every squaring doubles the relative error
	t := new(big.Int).Lsh(r, uint(w-p))
	t.Rsh(t, uint(s))
	sum := new(big.Int).Lsh(one, uint(w))
	term := new(big.Int).Set(sum)
	// Paid: by Cost as Transcendental, a factor of its cube: as many terms as there are digits.
	for k := int64(1); term.Sign() != 0; k++ {
		term.Mul(term, t).Rsh(term, uint(w))
		term.Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	// Paid: likewise; s is the root of the bits.
	for range s {
		sum.Mul(sum, sum).Rsh(sum, uint(w))
	}
	return sum.Rsh(sum, uint(w-p))
}

// logFixed is ln(y/2^p) at p bits for y > 0, within p units: a series in
// (z-1)/(z+1) after taking out powers of two.
func logFixed(y *big.Int, p int, l logs) *big.Int {
	k := 0
	unit := new(big.Int).Lsh(one, uint(p))
	if n := y.BitLen() - p; n < 0 || n > 1 { // outside of 1/2 to 2
		k = n
	}
	// u = (y - 2^k)/(y + 2^k) without rounding y.
	up, down := uint(0), uint(0)
	if k > 0 {
		up = uint(k)
	} else {
		down = uint(-k)
	}
	z, scaled := new(big.Int).Lsh(y, down), new(big.Int).Lsh(unit, up)
	u := new(big.Int).Sub(z, scaled)
	u.Lsh(u, uint(p)).Quo(u, z.Add(z, scaled))
	square := new(big.Int).Mul(u, u)
	square.Rsh(square, uint(p))
	sum, power, part := new(big.Int).Set(u), u, new(big.Int)
	// Paid: by Cost as Transcendental, a factor of its cube: as many terms as there are digits.
	for i := int64(3); ; i += 2 {
		power.Mul(power, square).Quo(power, unit)
		if power.Sign() == 0 {
			break
		}
		sum.Add(sum, part.Quo(power, big.NewInt(i)))
	}
	sum.Lsh(sum, 1)
	return sum.Add(sum, new(big.Int).Mul(l.two, big.NewInt(int64(k))))
}

// logarithm is ln x at p bits for finite x > 0 other than one, where p is chosen
// so that m has d digits of which the last is off by one at most; small is s for
// |ln x| >= 10^-s.
func logarithm(x Decimal, d int) (m *big.Int, p, small int) {
	shift := x.Adjusted()
	if shift == -1 {
		shift = 0
	}
	x.exp -= shift
	if shift == 0 {
		small = 1 + distanceFromOne(x)
	}
	d += small
	p = bitsFor(d) + 80 // for the terms of the series, and shift, which has 61 bits
	if spare := digits(x.coef) - d - 20; spare > 0 {
		x.coef, x.exp = new(big.Int).Quo(x.coef, pow10(spare)), x.exp+int64(spare)
	}
	l := logsAt(p)
	m = logFixed(fixed(x.coef, x.exp, p), p, l)
	return m.Add(m, new(big.Int).Mul(l.ten, big.NewInt(shift))), p, small
}

// distanceFromOne is n, zero or more, for a distance of 10^-n or more between x
// and one.
func distanceFromOne(x Decimal) int {
	if x.exp >= 0 {
		return 0
	}
	unit := pow10(-x.exp)
	apart := new(big.Int).Sub(x.coef, unit)
	return max(0, int(-x.exp)-digits(apart)+1)
}
