package main

import (
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go type Step.
const (
	stepWord  = 0
	stepRight = 8
	stepLeft  = 16
	stepFlip  = 24
	stepEndo  = 40

	digitsBytes = 6 * 64
	tableBytes  = 8 * entries * rowBytes
)

// transpose turns eight vectors of eight words in place. It needs sixteen
// other registers.
func (c *writer) transpose(v, t, u []VecPhysical) {
	for i := range 4 {
		c.VPUNPCKLQDQ(v[2*i+1], v[2*i], t[2*i])
		c.VPUNPCKHQDQ(v[2*i+1], v[2*i], t[2*i+1])
	}
	for odd := range 2 {
		halves := u[4*odd : 4*odd+4]
		c.VSHUFI64X2(U8(0x88), t[2+odd], t[odd], halves[0])
		c.VSHUFI64X2(U8(0x88), t[6+odd], t[4+odd], halves[1])
		c.VSHUFI64X2(U8(0xdd), t[2+odd], t[odd], halves[2])
		c.VSHUFI64X2(U8(0xdd), t[6+odd], t[4+odd], halves[3])
		c.VSHUFI64X2(U8(0x88), halves[1], halves[0], v[odd])
		c.VSHUFI64X2(U8(0xdd), halves[1], halves[0], v[4+odd])
		c.VSHUFI64X2(U8(0x88), halves[3], halves[2], v[2+odd])
		c.VSHUFI64X2(U8(0xdd), halves[3], halves[2], v[6+odd])
	}
}

// unpack turns four words of 64 bits into five limbs of 52.
func (c *writer) unpack(w, limb []VecPhysical, t VecPhysical) {
	c.VPANDQ(mask52, w[0], limb[0])
	for i := 1; i < 4; i++ {
		c.VPSRLQ(U8(64-12*i), w[i-1], t)
		c.VPSLLQ(U8(12*i), w[i], limb[i])
		c.VPORQ(t, limb[i], limb[i])
		c.VPANDQ(mask52, limb[i], limb[i])
	}
	c.VPSRLQ(U8(16), w[3], limb[4])
}

// pack is the inverse of unpack for limbs below 2^52 and limb 4 below 2^48.
func (c *writer) pack(limb, w []VecPhysical, t VecPhysical) {
	for i := range 4 {
		c.VPSLLQ(U8(52-12*i), limb[i+1], t)
		if i == 0 {
			c.VPORQ(t, limb[0], w[0])
			continue
		}
		c.VPSRLQ(U8(12*i), limb[i], w[i])
		c.VPORQ(t, w[i], w[i])
	}
}

// lookup reads each lane's entry of its table at the step's digit, negated
// where digit and step say so. Digit d of width w is worth 2d - (2^w - 1): the
// entry's index is d without its top bit, inverted where that bit is clear, and
// there the entry counts negative.
func (c *writer) lookup(table, digits, step Register, shared bool, g group, x, y element) {
	low, top := c.sym.Offset(atOwn), c.sym.Offset(atOwn+8)
	if shared {
		low, top = c.sym.Offset(atShared), c.sym.Offset(atShared+8)
	}
	word := c.GP64()
	c.IMUL3Q(U32(digitsBytes), g.number, word)
	c.ADDQ(Mem{Base: step, Disp: stepWord}, word)
	c.VMOVDQU64(Mem{Base: digits, Index: word, Scale: 1}, z[0])
	c.VMOVDQU64(Mem{Base: digits, Index: word, Scale: 1, Disp: 64}, z[1])
	c.VMOVQ(Mem{Base: step, Disp: stepRight}, X2)
	c.VMOVQ(Mem{Base: step, Disp: stepLeft}, X3)
	c.VPSRLQ(X2, z[0], z[0])
	c.VPSLLQ(X3, z[1], z[1])
	c.VPORQ(z[1], z[0], z[0])
	c.VPTESTNMQ_BCST(top, z[0], K1)
	c.VPANDQ_BCST(low, z[0], z[0])
	c.VPXORQ_BCST(low, z[0], K1, z[0])
	c.VPSLLQ(U8(6), z[0], z[0])
	if !shared {
		c.VPADDQ(c.sym.Offset(atLanes), z[0], z[0])
	}
	offsets := c.AllocLocal(64)
	c.VMOVDQU64(z[0], offsets)
	flip := c.GP32()
	c.MOVL(Mem{Base: step, Index: g.number, Scale: 8, Disp: stepFlip}, flip)
	c.KMOVW(flip, K2)
	c.KXORW(K1, K2, K1)
	if !shared {
		lanes := c.GP64()
		c.IMUL3Q(U32(tableBytes), g.number, lanes)
		c.ADDQ(table, lanes)
		table = lanes
	}
	for lane := range 8 {
		at := c.GP64()
		c.MOVQ(offsets.Offset(8*lane), at)
		c.VMOVDQU64(Mem{Base: table, Index: at, Scale: 1}, z[lane])
	}
	c.transpose(z[:8], z[8:16], z[16:24])
	c.unpack(z[:4], z[8:13], z[24])
	c.unpack(z[4:8], z[13:18], z[25])
	for i := range 5 {
		c.VMOVDQU64(z[8+i], x.limb(i))
	}
	// -y = 8p - y: not tight, but a factor.
	for i := range 5 {
		c.VPBROADCASTQ(c.bias(i), z[i])
		c.VPSUBQ(z[13+i], z[i], K1, z[13+i])
	}
	for i := range 5 {
		c.VMOVDQA64(z[13+i], z[i])
	}
	c.carry()
	c.store(y)
}

// Offsets in the Go type Multiples: sixteen pairs of elements each.
const (
	multiplesY     = entries * pairs * elementBytes
	multiplesRatio = 2 * multiplesY
	multiplesZ     = 3 * multiplesY
	stride         = pairs * elementBytes
)

func (c *writer) tableRoutines() {
	c.multiples()
	c.tabulate()
}

// multiples writes P, 3P, …, 31P by additions of 2P that keep both summands on
// one Z (co-Z addition): Z grows by the difference of the x coordinates.
func (c *writer) multiples() {
	r := c.routine("multiplesPair", "func(m *Multiples, x, y *[2]Element)",
		"computes the odd multiples of the affine points (x, y).", "m", "x", "y")
	m := r[0]
	px := func(g group) element { return g.element(r[1], 0) }
	py := func(g group) element { return g.element(r[2], 0) }
	at := c.GP64()
	c.MOVQ(m, at)
	entry := func(field, i int) func(group) element {
		return func(g group) element { return g.element(at, field+i*stride) }
	}
	s := c.newScratch(7)
	el := func(k int) func(group) element { return func(g group) element { return s.element(k, g) } }
	x1, y1, e, mm, u, w, dy := el(0), el(1), el(2), el(3), el(4), el(5), el(6)

	// 2P and P on Z = 2y.
	x0, y0, z0 := entry(0, 0), entry(multiplesY, 0), entry(multiplesRatio, 0)
	c.each(func(g group) { c.squareTo(e(g), py(g), linear{}) })
	c.each(func(g group) { c.squareTo(mm(g), px(g), linear{triple: true}) })
	c.each(func(g group) { c.multiply(x0(g), px(g), e(g), linear{shift: 2}) })
	c.each(func(g group) { c.squareTo(y0(g), e(g), linear{shift: 3}) })
	c.each(func(g group) { c.squareTo(x1(g), mm(g), linear{minus: []element{x0(g), x0(g)}}) })
	c.each(func(g group) { c.difference(u(g), x0(g), x1(g)) })
	c.each(func(g group) { c.multiply(y1(g), mm(g), u(g), linear{minus: []element{y0(g)}}) })
	c.each(func(g group) {
		for i := range 5 {
			c.VMOVDQU64(py(g).limb(i), z[i])
			c.VPADDQ(z[i], z[i], z[i])
		}
		c.VPSRLQ(U8(48), z[4], z[21])
		c.settleFrom(z[21])
		c.store(z0(g))
	})

	n := c.GP64()
	c.MOVQ(U32(entries-1), n)
	c.Label("multiplesPair_next")
	x, y := entry(0, 0), entry(multiplesY, 0)
	nx, ny, ratio := entry(0, 1), entry(multiplesY, 1), entry(multiplesRatio, 1)
	c.each(func(g group) { c.difference(ratio(g), x1(g), x(g)) })
	c.each(func(g group) { c.difference(dy(g), y1(g), y(g)) })
	c.each(func(g group) { c.squareTo(e(g), ratio(g), linear{}) })
	c.each(func(g group) { c.multiply(w(g), x(g), e(g), linear{}) })
	c.each(func(g group) { c.multiply(x1(g), x1(g), e(g), linear{}) })
	c.each(func(g group) { c.squareTo(nx(g), dy(g), linear{minus: []element{w(g), x1(g)}}) })
	c.each(func(g group) { c.difference(mm(g), x1(g), w(g)) })
	c.each(func(g group) { c.multiply(y1(g), y1(g), mm(g), linear{}) })
	c.each(func(g group) { c.difference(u(g), x1(g), nx(g)) })
	c.each(func(g group) { c.multiply(ny(g), dy(g), u(g), linear{minus: []element{y1(g)}}) })
	c.ADDQ(U32(stride), at)
	c.DECQ(n)
	c.JNZ(LabelRef("multiplesPair_next"))
	c.finish()
}

// tabulate writes the multiples into rows, all on the last one's Z.
func (c *writer) tabulate() {
	r := c.routine("tabulatePair", "func(t *[2]Table, m *Multiples)",
		"brings the multiples to one Z, which it leaves in m.Z, and writes them as rows.", "t", "m")
	table, m := r[0], r[1]
	at, row := c.GP64(), c.GP64()
	c.MOVQ(m, at)
	c.ADDQ(U32((entries-1)*stride), at)
	c.MOVQ(table, row)
	c.ADDQ(U32((entries-1)*rowBytes), row)
	field := func(offset int) func(group) element {
		return func(g group) element { return g.element(at, offset) }
	}
	x, y, ratio := field(0), field(multiplesY), field(multiplesRatio)
	s := c.newScratch(5)
	el := func(k int) func(group) element { return func(g group) element { return s.element(k, g) } }
	acc, z2, z3, sx, sy := el(0), el(1), el(2), el(3), el(4)
	c.each(func(g group) {
		for i := range 5 {
			c.VMOVDQU64(ratio(g).limb(i), z[i])
		}
		c.store(acc(g))
		c.writeRows(x(g), y(g), row, g)
	})
	n := c.GP64()
	c.MOVQ(U32(entries-1), n)
	c.Label("tabulatePair_next")
	c.SUBQ(U32(stride), at)
	c.SUBQ(U32(rowBytes), row)
	c.each(func(g group) { c.squareTo(z2(g), acc(g), linear{}) })
	c.each(func(g group) { c.multiply(sx(g), x(g), z2(g), linear{}) })
	c.each(func(g group) { c.multiply(z3(g), z2(g), acc(g), linear{}) })
	c.each(func(g group) { c.multiply(acc(g), acc(g), ratio(g), linear{}) })
	c.each(func(g group) { c.multiply(sy(g), y(g), z3(g), linear{}) })
	c.each(func(g group) { c.writeRows(sx(g), sy(g), row, g) })
	c.DECQ(n)
	c.JNZ(LabelRef("tabulatePair_next"))
	c.each(func(g group) {
		for i := range 5 {
			c.VMOVDQU64(acc(g).limb(i), z[i])
		}
		c.store(g.element(m, multiplesZ))
	})
	c.finish()
}

// writeRows stores eight tight points as one row of each lane's table.
func (c *writer) writeRows(x, y element, row Register, g group) {
	for k, e := range []element{x, y} {
		for i := range 5 {
			c.VMOVDQU64(e.limb(i), z[i])
		}
		c.compact()
		c.pack(z[:5], z[6+4*k:10+4*k], z[23])
	}
	v := z[6:14]
	c.transpose(v, z[14:22], append(append([]VecPhysical{}, z[22:28]...), z[0], z[1]))
	lanes := c.GP64()
	c.IMUL3Q(U32(tableBytes), g.number, lanes)
	for lane := range 8 {
		c.VMOVDQU64(v[lane], Mem{Base: row, Index: lanes, Scale: 1, Disp: lane * entries * rowBytes})
	}
}
