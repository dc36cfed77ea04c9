package ed25519

// point is a point of edwards25519 in extended coordinates: x = X/Z, y = Y/Z,
// T = XY/Z (RFC 8032 §5.1.4). Its formulas have no exceptional cases.
type point struct{ x, y, z, t element }

// basePoint is B: y = 4/5, x even.
func basePoint() *point {
	var encoding [32]byte
	for i := range encoding {
		encoding[i] = 0x66
	}
	encoding[0] = 0x58
	var b point
	b.decode(encoding[:])
	return &b
}

// decode reads a compressed point of 32 bytes by ZIP-215: y need not be below
// p, and x = 0 may carry either sign. It reports false if no point has that y.
func (p *point) decode(b []byte) bool {
	p.y.decode(b)
	var u, v element // x² = (y² - 1) / (d·y² + 1)
	u.square(&p.y)
	v.mul(&u, &curveD)
	u.sub(&u, &one)
	v.add(&v, &one)
	if !p.x.sqrtRatio(&u, &v) {
		return false
	}
	if p.x.isOdd() != (b[31]>>7 == 1) {
		p.x.sub(&element{}, &p.x)
	}
	p.z = one
	p.t.mul(&p.x, &p.y)
	return true
}

// negate sets p to -q.
func (p *point) negate(q *point) {
	*p = *q
	p.x.sub(&element{}, &q.x)
	p.t.sub(&element{}, &q.t)
}

// add sets p to q + r.
func (p *point) add(q, r *point) {
	var a, b, c, d, t element
	a.sub(&q.y, &q.x)
	t.sub(&r.y, &r.x)
	a.mul(&a, &t)
	b.add(&q.y, &q.x)
	t.add(&r.y, &r.x)
	b.mul(&b, &t)
	c.mul(&q.t, &r.t)
	c.mul(&c, &curveD)
	c.add(&c, &c)
	d.mul(&q.z, &r.z)
	d.add(&d, &d)
	var e, f, g, h element
	e.sub(&b, &a)
	f.sub(&d, &c)
	g.add(&d, &c)
	h.add(&b, &a)
	p.assemble(&e, &f, &g, &h)
}

// double sets p to 2q.
func (p *point) double(q *point) {
	var a, b, c, e, f, g, h element
	a.square(&q.x)
	b.square(&q.y)
	c.square(&q.z)
	c.add(&c, &c)
	h.add(&a, &b)
	e.add(&q.x, &q.y)
	e.square(&e)
	e.sub(&h, &e)
	g.sub(&a, &b)
	f.add(&c, &g)
	p.assemble(&e, &f, &g, &h)
}

// assemble sets p from the four intermediate values of both formulas.
func (p *point) assemble(e, f, g, h *element) {
	p.x.mul(e, f)
	p.y.mul(g, h)
	p.z.mul(f, g)
	p.t.mul(e, h)
}

// combine sets p to [s]B + [k]q for little-endian scalars below 2^253, in one
// pass over the bits of both.
func (p *point) combine(s, k []byte, q *point) {
	base := basePoint()
	var both point
	both.add(base, q)
	sum := point{y: one, z: one}
	for bit := 252; bit >= 0; bit-- {
		sum.double(&sum)
		inS := s[bit/8]>>(bit%8)&1 == 1
		inK := k[bit/8]>>(bit%8)&1 == 1
		switch {
		case inS && inK:
			sum.add(&sum, &both)
		case inS:
			sum.add(&sum, base)
		case inK:
			sum.add(&sum, q)
		}
	}
	*p = sum
}

// isIdentity reports whether p is (0, 1).
func (p *point) isIdentity() bool { return p.x.isZero() && p.y.equal(&p.z) }
