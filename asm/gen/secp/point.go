package main

import (
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scratch is an aligned part of the stack frame for the intermediate elements
// of both groups.
type scratch struct{ base Register }

func (c *writer) newScratch(elements int) scratch {
	frame := c.AllocLocal(pairs*elements*elementBytes + 64)
	base := c.GP64()
	c.LEAQ(frame, base)
	c.ADDQ(U8(63), base)
	c.ANDQ(I8(-64), base)
	return scratch{base}
}

func (s scratch) element(k, g int) element {
	return element{s.base, (pairs*k + g) * elementBytes}
}

// each writes a step for every group, so that the groups take turns.
func each(step func(g int)) {
	for g := range pairs {
		step(g)
	}
}

// point is the Jacobian point of group g at r.
func point(r Register, g int) (x, y, zz element) {
	e := element{r, g * pointBytes}
	return e, e.plus(elementBytes), e.plus(2 * elementBytes)
}

func (c *writer) pointRoutines() {
	c.doubling()
	for _, shared := range []bool{false, true} {
		c.addition(shared)
	}
	c.loading()
}

// doubling writes repeated doubling:
//
//	W = 2Y², M = 3X², V = 2XW, X' = M² - 2V, Y' = M(X' - V) + 2W², Z' = 2YZ.
//
// Y' has the sign that needs no subtraction, so (X', Y', Z') is the negated
// double; the caller counts the signs.
func (c *writer) doubling() {
	r := c.routine("doublePair", "func(p *Pair, n int)",
		"sets p = (-2)^n·p for n ≥ 1.", "p", "n")
	p, n := r[0], r[1]
	s := c.newScratch(4)
	w := func(g int) element { return s.element(0, g) }
	m := func(g int) element { return s.element(1, g) }
	v := func(g int) element { return s.element(2, g) }
	u := func(g int) element { return s.element(3, g) }
	c.Label("doublePair_next")
	each(func(g int) { _, y, _ := point(p, g); c.squareTo(w(g), y, linear{shift: 1}) })
	each(func(g int) { x, _, _ := point(p, g); c.squareTo(m(g), x, linear{triple: true}) })
	each(func(g int) { x, _, _ := point(p, g); c.multiply(v(g), x, w(g), linear{shift: 1}) })
	each(func(g int) {
		x, _, _ := point(p, g)
		c.squareTo(x, m(g), linear{minus: []element{v(g), v(g)}})
	})
	each(func(g int) { _, y, zz := point(p, g); c.multiply(zz, y, zz, linear{shift: 1}) })
	each(func(g int) { x, _, _ := point(p, g); c.difference(u(g), x, v(g)) })
	each(func(g int) {
		_, y, _ := point(p, g)
		c.square(w(g), 2)
		c.product(m(g), u(g))
		c.reduce(y, linear{})
	})
	c.DECQ(n)
	c.JNZ(LabelRef("doublePair_next"))
	c.finish()
}

// addition writes the mixed addition of a table's entry (x, y):
//
//	H = xZ² - X, R = yZ³ - Y, V = XH², X' = R² - H³ - 2V,
//	Y' = R(X' - V) + YH³, Z' = ZH.
//
// The result is the negated sum, as in doubling. For the shared table, whose
// entries are on the curve itself, Z² and Z³ are those of Z times the Z of the
// lanes' own tables.
func (c *writer) addition(shared bool) {
	name, table, doc := "addOwnPair", "*[2]Table", "adds entries of the lanes' own tables and negates the sums."
	args := []string{"p", "t", "d", "s"}
	signature := "func(p *Pair, t " + table + ", d *[2]Digits, s *Step)"
	if shared {
		name, doc = "addSharedPair", "adds entries of a table that all lanes share, on the curve where own tables have Z coordinate tz, and negates the sums."
		args = append(args, "tz")
		signature = "func(p *Pair, t *SharedTable, d *[2]Digits, s *Step, tz *[2]Element)"
	}
	r := c.routine(name, signature, doc, args...)
	p := r[0]
	s := c.newScratch(9)
	el := func(k int) func(int) element { return func(g int) element { return s.element(k, g) } }
	x2, y2, zz, zzz, h, rr, hh, v, az := el(0), el(1), el(2), el(3), el(4), el(5), el(6), el(7), el(8)
	each(func(g int) { c.lookup(r[1], r[2], r[3], shared, g, x2(g), y2(g)) })
	own := func(g int) element { _, _, e := point(p, g); return e }
	realZ := own
	if shared {
		realZ = az
		each(func(g int) { c.multiply(az(g), own(g), element{r[4], g * elementBytes}, linear{}) })
	}
	each(func(g int) { c.squareTo(zz(g), realZ(g), linear{}) })
	each(func(g int) { c.multiply(zzz(g), zz(g), realZ(g), linear{}) })
	if !shared {
		c.CMPQ(Mem{Base: r[3], Disp: stepEndo}, U8(0))
		c.JE(LabelRef(name + "_plain"))
		b := c.newBeta(s)
		each(func(g int) { c.multiply(x2(g), x2(g), b, linear{}) })
		c.Label(name + "_plain")
	}
	each(func(g int) { x, _, _ := point(p, g); c.multiply(h(g), x2(g), zz(g), linear{minus: []element{x}}) })
	each(func(g int) { _, y, _ := point(p, g); c.multiply(rr(g), y2(g), zzz(g), linear{minus: []element{y}}) })
	each(func(g int) { c.squareTo(hh(g), h(g), linear{}) })
	each(func(g int) { c.multiply(own(g), own(g), h(g), linear{}) })
	each(func(g int) { x, _, _ := point(p, g); c.multiply(v(g), x, hh(g), linear{}) })
	each(func(g int) { c.multiply(hh(g), h(g), hh(g), linear{}) })
	each(func(g int) {
		x, _, _ := point(p, g)
		c.squareTo(x, rr(g), linear{minus: []element{hh(g), v(g), v(g)}})
	})
	each(func(g int) { x, _, _ := point(p, g); c.difference(v(g), x, v(g)) })
	each(func(g int) {
		_, y, _ := point(p, g)
		c.clearColumns()
		c.product(y, hh(g))
		c.product(rr(g), v(g))
		c.reduce(y, linear{})
	})
	c.finish()
}

// newBeta spreads beta over the lanes, in the scratch element after the last.
func (c *writer) newBeta(s scratch) element {
	e := s.element(8, 0)
	for i := range 5 {
		c.VPBROADCASTQ(c.beta(i), z[0])
		c.VMOVDQU64(z[0], e.limb(i))
	}
	return e
}

// loading writes the start of a sum: the table's entry itself, with Z = 1.
func (c *writer) loading() {
	r := c.routine("loadOwnPair", "func(p *Pair, t *[2]Table, d *[2]Digits, s *Step)",
		"sets p to entries of the lanes' own tables.", "p", "t", "d", "s")
	one := c.GP64()
	c.MOVQ(U32(1), one)
	each(func(g int) {
		x, y, zz := point(r[0], g)
		c.lookup(r[1], r[2], r[3], false, g, x, y)
		for i := range 5 {
			c.VMOVDQU64(y.limb(i), z[i])
		}
		c.VPSRLQ(U8(48), z[4], z[21])
		c.settleFrom(z[21])
		c.store(y)
		c.VPBROADCASTQ(one, z[0])
		c.zero(z[1])
		c.VMOVDQU64(z[0], zz.limb(0))
		for i := 1; i < 5; i++ {
			c.VMOVDQU64(z[1], zz.limb(i))
		}
	})
	c.finish()
}
