package main

import (
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// element is a field element in memory, at base plus index (if any) plus disp.
type element struct {
	base, index Register
	disp        int
}

func (e element) limb(i int) Mem {
	m := Mem{Base: e.base, Disp: e.disp + 64*i}
	if e.index != nil {
		m.Index, m.Scale = e.index, 1
	}
	return m
}

func (e element) plus(bytes int) element { return element{e.base, e.index, e.disp + bytes} }

func (c *writer) zero(r VecPhysical) { c.VPXORQ(r, r, r) }

// clearColumns starts a product.
func (c *writer) clearColumns() {
	for i := range 10 {
		c.zero(z[i])
	}
}

// product adds a·b to the columns. Limbs are read modulo 2^52; a column grows
// by at most 10·(2^52-1). High halves have sums of their own until the end, so
// that no sum waits for more than five others.
func (c *writer) product(a, b element) {
	high := z[18:27]
	for j := range 5 {
		c.VMOVDQU64(b.limb(j), z[10+j])
	}
	for _, r := range high {
		c.zero(r)
	}
	for i := range 5 {
		t := z[15+i%3]
		c.VMOVDQU64(a.limb(i), t)
		for j := range 5 {
			c.VPMADD52LUQ(z[10+j], t, z[i+j])
			c.VPMADD52HUQ(z[10+j], t, high[i+j])
		}
	}
	for k, r := range high {
		c.VPADDQ(r, z[k+1], z[k+1])
	}
}

// square sets the columns to times·a² (times 1 or 2): the ten mixed products
// once, doubled, then the five squares.
func (c *writer) square(a element, times int) {
	c.clearColumns()
	for j := range 5 {
		c.VMOVDQU64(a.limb(j), z[10+j])
	}
	for i := range 5 {
		for j := i + 1; j < 5; j++ {
			c.VPMADD52LUQ(z[10+j], z[10+i], z[i+j])
			c.VPMADD52HUQ(z[10+j], z[10+i], z[i+j+1])
		}
	}
	for i := 1; i < 9; i++ {
		c.VPADDQ(z[i], z[i], z[i])
	}
	for i := range 5 {
		c.VPMADD52LUQ(z[10+i], z[10+i], z[2*i])
		c.VPMADD52HUQ(z[10+i], z[10+i], z[2*i+1])
	}
	if times == 2 {
		for i := range 10 {
			c.VPADDQ(z[i], z[i], z[i])
		}
	}
}

// linear is what a reduction adds to its product before it carries: the
// product times 2^shift or times three, less the elements in minus (each
// tight, at most four), plus 8p if anything is taken away.
type linear struct {
	shift  int
	triple bool
	minus  []element
}

// reduce folds the ten columns to a tight element: limbs 0-3 below 2^52, limb
// 4 below 2^48 + 2^12.
//
// Columns enter below 2^57: at most 30 terms of 52 bits, of two products of
// which one is a doubled square. Column 9, the high half of the product of top
// limbs, enters below 2^52 if it is alone; where products are summed, each has
// a tight factor, which keeps its part below 2^49.
func (c *writer) reduce(out element, l linear) {
	r5 := z[20]
	c.zero(r5)
	// What columns 5-8 hold above 52 bits belongs one column up: below 2^5, its
	// multiple of fold60 below 2^42.
	for i := range 4 {
		c.VPSRLQ(U8(52), z[5+i], z[21+i])
	}
	for i := range 5 {
		c.VPMADD52LUQ(z[5+i], fold60, z[i])
	}
	for i := range 4 {
		c.VPMADD52HUQ(z[5+i], fold60, z[i+1])
		c.VPMADD52LUQ(z[21+i], fold60, z[i+1])
	}
	c.VPMADD52HUQ(z[9], fold60, r5) // r5 < 2^37
	six := append(append([]VecPhysical{}, z[:5]...), r5)
	if l.shift > 0 {
		for _, r := range six {
			c.VPSLLQ(U8(l.shift), r, r) // limbs < 2^61, r5 < 2^40 for shift ≤ 3
		}
	}
	if l.triple {
		for i, r := range six {
			c.VPADDQ(r, r, z[21+i])
			c.VPADDQ(z[21+i], r, r)
		}
	}
	if len(l.minus) > 0 {
		for i := range 5 {
			c.VPADDQ_BCST(c.bias(i), z[i], z[i]) // ≥ 7·2^52, limb 4: 2^51 - 8
		}
		for _, m := range l.minus {
			for i := range 5 {
				c.VPSUBQ(m.limb(i), z[i], z[i])
			}
		}
	}
	c.settle()
	c.store(out)
}

// settle folds what z0-z4 and z20 hold above 2^256 and carries: the fold is
// below 2^45, so the carry into limb 4 is below 2^12 and nothing overflows.
func (c *writer) settle() {
	q := z[21]
	c.VPSRLQ(U8(48), z[4], q)
	c.VPSLLQ(U8(4), z[20], z[20])
	c.VPADDQ(z[20], q, q)
	c.settleFrom(q)
}

func (c *writer) settleFrom(q VecPhysical) {
	c.VPANDQ(mask48, z[4], z[4])
	c.VPMADD52LUQ(q, fold56, z[0])
	c.VPMADD52HUQ(q, fold56, z[1])
	c.carry()
}

// carry moves what limbs 0-3 hold above 52 bits up to limb 4.
func (c *writer) carry() {
	for i := range 4 {
		c.VPSRLQ(U8(52), z[i], z[22])
		c.VPADDQ(z[22], z[i+1], z[i+1])
		c.VPANDQ(mask52, z[i], z[i])
	}
}

func (c *writer) store(out element) {
	for i := range 5 {
		c.VMOVDQU64(z[i], out.limb(i))
	}
}

func (c *writer) multiply(out, a, b element, l linear) {
	c.clearColumns()
	c.product(a, b)
	c.reduce(out, l)
}

func (c *writer) squareTo(out, a element, l linear) {
	c.square(a, 1)
	c.reduce(out, l)
}

// difference sets out = a - b + 8p for tight a and b: a factor (limbs below
// 2^52, limb 4 below 2^52), not tight.
func (c *writer) difference(out, a, b element) {
	for i := range 5 {
		c.VMOVDQU64(a.limb(i), z[i])
		c.VPADDQ_BCST(c.bias(i), z[i], z[i])
		c.VPSUBQ(b.limb(i), z[i], z[i])
	}
	c.carry()
	c.store(out)
}

func (c *writer) fieldRoutines() {
	for _, size := range []struct {
		suffix, typ string
		groups      int
	}{{"One", "Element", 1}, {"Quad", "Quad", quads}} {
		group := func(r Register, g int) element { return element{base: r, disp: g * elementBytes} }

		r := c.routine("mul"+size.suffix, "func(z, x, y *"+size.typ+")", "sets z = x·y.", "z", "x", "y")
		for g := range size.groups {
			c.multiply(group(r[0], g), group(r[1], g), group(r[2], g), linear{})
		}
		c.finish()

		name := "square" + size.suffix
		r = c.routine(name, "func(z, x *"+size.typ+", n int)", "sets z = x^(2^n) for n ≥ 1.", "z", "x", "n")
		out, in, n := r[0], r[1], r[2]
		c.Label(name + "_next")
		for g := range size.groups {
			c.squareTo(group(out, g), group(in, g), linear{})
		}
		c.MOVQ(out, in)
		c.DECQ(n)
		c.JNZ(LabelRef(name + "_next"))
		c.finish()
	}
	c.sums()
	c.canonical()
}

// sums writes addition and subtraction of factors with limb 4 below 2^51; the
// subtrahend is tight.
func (c *writer) sums() {
	for _, sub := range []bool{false, true} {
		name, doc := "addQuad", "sets z = x + y."
		if sub {
			name, doc = "subQuad", "sets z = x - y."
		}
		r := c.routine(name, "func(z, x, y *Quad)", doc, "z", "x", "y")
		for g := range quads {
			a, b := element{base: r[1], disp: g * elementBytes}, element{base: r[2], disp: g * elementBytes}
			for i := range 5 {
				c.VMOVDQU64(a.limb(i), z[i])
				if sub {
					c.VPADDQ_BCST(c.bias(i), z[i], z[i])
					c.VPSUBQ(b.limb(i), z[i], z[i])
				} else {
					c.VPADDQ(b.limb(i), z[i], z[i])
				}
			}
			c.VPSRLQ(U8(48), z[4], z[21])
			c.settleFrom(z[21])
			c.store(element{base: r[0], disp: g * elementBytes})
		}
		c.finish()
	}
}

// compact brings the tight element in z0-z4 below 2^256: at most one multiple
// of 2^256 is folded, and what remains of such a value is below 2^221.
func (c *writer) compact() {
	c.VPSRLQ(U8(48), z[4], z[21])
	c.VPANDQ(mask48, z[4], z[4])
	c.VPMADD52LUQ(z[21], fold56, z[0])
	c.carry()
}

// canonical writes the reduction of a tight element to [0, p): x + (2^256 - p)
// reaches 2^256 exactly if x ≥ p, and is then the answer plus 2^256.
func (c *writer) canonical() {
	r := c.routine("normalizeQuad", "func(z *Quad)", "reduces tight elements to [0, p).", "z")
	for g := range quads {
		e := element{base: r[0], disp: g * elementBytes}
		for i := range 5 {
			c.VMOVDQU64(e.limb(i), z[i])
		}
		c.compact()
		for i := range 5 {
			c.VMOVDQA64(z[i], z[10+i])
		}
		c.VPADDQ(fold56, z[0], z[0])
		c.carry()
		c.VPSRLQ(U8(48), z[4], z[21])
		c.VPTESTMQ(z[21], z[21], K1)
		c.VPANDQ(mask48, z[4], z[4])
		for i := range 5 {
			c.VMOVDQA64(z[i], K1, z[10+i])
			c.VMOVDQU64(z[10+i], e.limb(i))
		}
	}
	c.finish()
}
