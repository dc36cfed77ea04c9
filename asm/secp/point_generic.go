package secp

// jacobian is one lane of a [Point].
type jacobian struct{ x, y, z limbs }

func (p *Point) lane(i int) jacobian {
	return jacobian{p.X.lane(i), p.Y.lane(i), p.Z.lane(i)}
}

func (p *Point) setLane(i int, v jacobian) {
	p.X.setLane(i, v.x)
	p.Y.setLane(i, v.y)
	p.Z.setLane(i, v.z)
}

// double returns -2p.
func (p jacobian) double() jacobian {
	w := mul(2, &p.y, &p.y)
	m := mul(3, &p.x, &p.x)
	v := mul(2, &p.x, &w)
	var out jacobian
	out.z = mul(2, &p.y, &p.z)
	out.x = mul(1, &m, &m, &v, &v)
	u := difference(&out.x, &v)
	var c columns
	c.add(&w, &w)
	c.add(&w, &w)
	c.add(&m, &u)
	out.y = c.reduce(1)
	return out
}

// add returns -(p + (x, y)), where (x, y) is on the curve of z coordinate tz
// times that of p's curve.
func (p jacobian) add(x, y, tz *limbs) jacobian {
	z := p.z
	if tz != nil {
		z = mul(1, &p.z, tz)
	}
	zz := mul(1, &z, &z)
	zzz := mul(1, &zz, &z)
	h := mul(1, x, &zz, &p.x)
	r := mul(1, y, &zzz, &p.y)
	hh := mul(1, &h, &h)
	var out jacobian
	out.z = mul(1, &p.z, &h)
	v := mul(1, &p.x, &hh)
	hhh := mul(1, &h, &hh)
	out.x = mul(1, &r, &r, &hhh, &v, &v)
	u := difference(&out.x, &v)
	var c columns
	c.add(&p.y, &hhh)
	c.add(&r, &u)
	out.y = c.reduce(1)
	return out
}

func doubleGeneric(p *Pair, n int) {
	for g := range p {
		for i := range Lanes {
			v := p[g].lane(i)
			for range n {
				v = v.double()
			}
			p[g].setLane(i, v)
		}
	}
}

// at returns the index of the entry that lane i of group g reads in a table of
// the given size, and whether the entry counts negative.
func (s *Step) at(d *Digits, g, i, size int) (index int, negative bool) {
	word := s.word / 64
	digit := d[word][i]>>s.right | d[word+1][i]<<s.left
	index = int(digit) & (size - 1)
	low := int(digit)&size == 0
	if low {
		index ^= size - 1
	}
	return index, low != (s.Flip[g]>>i&1 == 1)
}

// point returns the row's coordinates, negated where asked: y is then a factor.
func (r *Row) point(negative bool) (x, y limbs) {
	x, y = unpacked([4]uint64(r[:4])), unpacked([4]uint64(r[4:]))
	if negative {
		y = difference(&limbs{}, &y)
	}
	return x, y
}

func unpacked(w [4]uint64) limbs {
	return limbs{
		w[0] & mask52,
		(w[0]>>52 | w[1]<<12) & mask52,
		(w[1]>>40 | w[2]<<24) & mask52,
		(w[2]>>28 | w[3]<<36) & mask52,
		w[3] >> 16,
	}
}

// packed returns the words of a tight element, below 2^256.
func (v limbs) packed() [4]uint64 {
	v = v.fold(v[4] >> 48)
	return [4]uint64{v[0] | v[1]<<52, v[1]>>12 | v[2]<<40, v[2]>>24 | v[3]<<28, v[3]>>36 | v[4]<<16}
}

func loadGeneric(p *Pair, t *[2]Table, d *[2]Digits, s *Step) {
	for g := range p {
		for i := range Lanes {
			index, negative := s.at(&d[g], g, i, len(t[g][i]))
			x, y := t[g][i][index].point(negative)
			p[g].setLane(i, jacobian{x, y.fold(y[4] >> 48), limbs{1}})
		}
	}
}

func addOwnGeneric(p *Pair, t *[2]Table, d *[2]Digits, s *Step) {
	for g := range p {
		for i := range Lanes {
			index, negative := s.at(&d[g], g, i, len(t[g][i]))
			x, y := t[g][i][index].point(negative)
			if s.endo != 0 {
				x = mul(1, &x, &betaLimbs)
			}
			p[g].setLane(i, p[g].lane(i).add(&x, &y, nil))
		}
	}
}

func addSharedGeneric(p *Pair, t *SharedTable, d *[2]Digits, s *Step, tz *[2]Element) {
	for g := range p {
		for i := range Lanes {
			index, negative := s.at(&d[g], g, i, len(t))
			x, y := t[index].point(negative)
			scale := tz[g].lane(i)
			p[g].setLane(i, p[g].lane(i).add(&x, &y, &scale))
		}
	}
}

func multiplesGeneric(m *Multiples, x, y *[2]Element) {
	for g := range x {
		for i := range Lanes {
			m.setLane(g, i, x[g].lane(i), y[g].lane(i))
		}
	}
}

// setLane adds 2P over and over, both summands on one Z (co-Z addition): Z
// grows by the difference of the x coordinates.
func (m *Multiples) setLane(g, i int, px, py limbs) {
	e := mul(1, &py, &py)
	slope := mul(3, &px, &px)
	x, y := mul(4, &px, &e), mul(8, &e, &e)
	x1 := mul(1, &slope, &slope, &x, &x)
	u := difference(&x, &x1)
	y1 := mul(1, &slope, &u, &y)
	ratio := sum(&py, &py)
	for k := range m.X {
		if k > 0 {
			ratio = difference(&x1, &x)
			dy := difference(&y1, &y)
			e = mul(1, &ratio, &ratio)
			w := mul(1, &x, &e)
			x1 = mul(1, &x1, &e)
			x = mul(1, &dy, &dy, &w, &x1)
			u = difference(&x1, &w)
			y1 = mul(1, &y1, &u)
			u = difference(&x1, &x)
			y = mul(1, &dy, &u, &y1)
		}
		m.X[k][g].setLane(i, x)
		m.Y[k][g].setLane(i, y)
		m.Ratio[k][g].setLane(i, ratio)
	}
}

func tabulateGeneric(t *[2]Table, m *Multiples) {
	for g := range t {
		for i := range Lanes {
			scale := limbs{1}
			for k := len(m.X) - 1; k >= 0; k-- {
				x, y, ratio := m.X[k][g].lane(i), m.Y[k][g].lane(i), m.Ratio[k][g].lane(i)
				if k < len(m.X)-1 {
					zz := mul(1, &scale, &scale)
					x = mul(1, &x, &zz)
					zz = mul(1, &zz, &scale)
					y = mul(1, &y, &zz)
					scale = mul(1, &scale, &ratio)
				} else {
					scale = ratio
				}
				row := &t[g][i][k]
				xw, yw := x.packed(), y.packed()
				copy(row[:4], xw[:])
				copy(row[4:], yw[:])
			}
			m.Z[g].setLane(i, scale)
		}
	}
}
