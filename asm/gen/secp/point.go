package main

import (
	"fmt"

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

func (s scratch) element(k int, g group) element {
	return g.element(s.base, k*pairs*elementBytes)
}

// group is the group that a step works on: its number and the offsets of its
// elements and points. Steps are loops over the groups, since code written out
// for each of them would not fit the instruction cache.
type group struct{ number, elements, points Register }

func (g group) element(base Register, disp int) element { return element{base, g.elements, disp} }

// point is the group's Jacobian point at r.
func (g group) point(r Register) (x, y, zz element) {
	e := element{r, g.points, 0}
	return e, e.plus(elementBytes), e.plus(2 * elementBytes)
}

// each writes a step that the groups take in turns.
func (c *writer) each(step func(g group)) {
	if c.turn.number == nil {
		c.turn = group{c.GP64(), c.GP64(), c.GP64()}
	}
	g := c.turn
	for _, r := range []Register{g.number, g.elements, g.points} {
		c.XORQ(r, r)
	}
	c.steps++
	label := fmt.Sprintf("step%d", c.steps)
	c.Label(label)
	step(g)
	c.ADDQ(U32(elementBytes), g.elements)
	c.ADDQ(U32(pointBytes), g.points)
	c.INCQ(g.number)
	c.CMPQ(g.number, U8(pairs))
	c.JNE(LabelRef(label))
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
	w := func(g group) element { return s.element(0, g) }
	m := func(g group) element { return s.element(1, g) }
	v := func(g group) element { return s.element(2, g) }
	u := func(g group) element { return s.element(3, g) }
	c.Label("doublePair_next")
	c.each(func(g group) { _, y, _ := g.point(p); c.squareTo(w(g), y, linear{shift: 1}) })
	c.each(func(g group) { x, _, _ := g.point(p); c.squareTo(m(g), x, linear{triple: true}) })
	c.each(func(g group) { x, _, _ := g.point(p); c.multiply(v(g), x, w(g), linear{shift: 1}) })
	c.each(func(g group) {
		x, _, _ := g.point(p)
		c.squareTo(x, m(g), linear{minus: []element{v(g), v(g)}})
	})
	c.each(func(g group) { _, y, zz := g.point(p); c.multiply(zz, y, zz, linear{shift: 1}) })
	c.each(func(g group) { x, _, _ := g.point(p); c.difference(u(g), x, v(g)) })
	c.each(func(g group) {
		_, y, _ := g.point(p)
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
	el := func(k int) func(group) element { return func(g group) element { return s.element(k, g) } }
	x2, y2, zz, zzz, h, rr, hh, v, az := el(0), el(1), el(2), el(3), el(4), el(5), el(6), el(7), el(8)
	c.each(func(g group) { c.lookup(r[1], r[2], r[3], shared, g, x2(g), y2(g)) })
	own := func(g group) element { _, _, e := g.point(p); return e }
	realZ := own
	if shared {
		realZ = az
		c.each(func(g group) { c.multiply(az(g), own(g), g.element(r[4], 0), linear{}) })
	}
	c.each(func(g group) { c.squareTo(zz(g), realZ(g), linear{}) })
	c.each(func(g group) { c.multiply(zzz(g), zz(g), realZ(g), linear{}) })
	if !shared {
		c.CMPQ(Mem{Base: r[3], Disp: stepEndo}, U8(0))
		c.JE(LabelRef(name + "_plain"))
		b := c.newBeta(s)
		c.each(func(g group) { c.multiply(x2(g), x2(g), b, linear{}) })
		c.Label(name + "_plain")
	}
	c.each(func(g group) { x, _, _ := g.point(p); c.multiply(h(g), x2(g), zz(g), linear{minus: []element{x}}) })
	c.each(func(g group) { _, y, _ := g.point(p); c.multiply(rr(g), y2(g), zzz(g), linear{minus: []element{y}}) })
	c.each(func(g group) { c.squareTo(hh(g), h(g), linear{}) })
	c.each(func(g group) { c.multiply(own(g), own(g), h(g), linear{}) })
	c.each(func(g group) { x, _, _ := g.point(p); c.multiply(v(g), x, hh(g), linear{}) })
	c.each(func(g group) { c.multiply(hh(g), h(g), hh(g), linear{}) })
	c.each(func(g group) {
		x, _, _ := g.point(p)
		c.squareTo(x, rr(g), linear{minus: []element{hh(g), v(g), v(g)}})
	})
	c.each(func(g group) { x, _, _ := g.point(p); c.difference(v(g), x, v(g)) })
	c.each(func(g group) {
		_, y, _ := g.point(p)
		c.clearColumns()
		c.product(y, hh(g))
		c.product(rr(g), v(g))
		c.reduce(y, linear{})
	})
	c.finish()
}

// newBeta spreads beta over the lanes, in the scratch element after the last.
func (c *writer) newBeta(s scratch) element {
	e := element{base: s.base, disp: 8 * pairs * elementBytes}
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
	c.each(func(g group) {
		x, y, zz := g.point(r[0])
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
