package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// four emits the AVX2 kernel that absorbs one block into each of four states.
// Sixteen registers do not hold 25 lanes: two copies of the states in memory
// take turns, the caller's and one on the stack.
type four struct {
	*build.Context
	v                 []reg.VecPhysical
	iota              reg.GPVirtual
	rotate8, rotate56 operand.Mem
}

func fourBlocks(c *build.Context, table operand.Mem) {
	f := &four{Context: c}
	for i := range 16 {
		f.v = append(f.v, vector(i, 32))
	}
	f.rotate8 = f.byteRotation("rotate8", 0x0605040302010007)
	f.rotate56 = f.byteRotation("rotate56", 0x0007060504030201)

	c.Function("absorb4AVX2")
	c.SignatureExpr("func(a *[25][4]uint64, blocks *[4]*byte)")
	c.Pragma("noescape")
	c.Doc(
		"absorb4AVX2 adds 136 bytes at each of blocks to lanes 0 to 16 of four states",
		"and applies Keccak-f[1600] to them; a[i][j] is lane i of state j. It needs",
		"AVX2.")
	a := c.Load(c.Param("a"), c.GP64())
	f.absorb(a)
	copied := c.AllocLocal(25 * 32)
	f.iota = c.GP64()
	left := c.GP64()
	c.LEAQ(table, f.iota)
	c.MOVQ(operand.U32(len(roundConstants)/2), left)
	c.Label("absorb4AVX2_rounds")
	here := func(i int) operand.Mem { return operand.Mem{Base: a, Disp: i * 32} }
	there := func(i int) operand.Mem { return copied.Offset(i * 32) }
	f.round(here, there, 0)
	f.round(there, here, 8)
	c.ADDQ(operand.U8(16), f.iota)
	c.DECQ(left)
	c.JNZ(operand.LabelRef("absorb4AVX2_rounds"))
	c.VZEROUPPER()
	c.RET()
}

// byteRotation is the VPSHUFB control that moves the bytes of each word as
// order says; the upper words of a 16-byte half start at byte 8.
func (f *four) byteRotation(name string, order uint64) operand.Mem {
	control := f.StaticGlobal(name)
	f.DataAttributes(rodata)
	for i := range uint64(4) {
		f.AppendDatum(operand.U64(order + i%2*0x0808080808080808))
	}
	return control
}

// absorb adds the blocks, turned from rows of messages into lanes.
func (f *four) absorb(a reg.Register) {
	v := f.v
	blocks := f.Load(f.Param("blocks"), f.GP64())
	var block [4]reg.Register
	for i := range block {
		block[i] = f.GP64()
		f.MOVQ(operand.Mem{Base: blocks, Disp: 8 * i}, block[i])
	}
	zip := func() { // rows in v0 to v3; v4 gets even words of messages 0 and 1, v5 odd, v6 and v7 of 2 and 3
		f.VPUNPCKLQDQ(v[1], v[0], v[4])
		f.VPUNPCKHQDQ(v[1], v[0], v[5])
		f.VPUNPCKLQDQ(v[3], v[2], v[6])
		f.VPUNPCKHQDQ(v[3], v[2], v[7])
	}
	load := func(disp int) {
		for i := range block {
			f.VMOVDQU(operand.Mem{Base: block[i], Disp: disp}, v[i])
		}
	}
	add := func(lane int, word reg.Register) {
		to := operand.Mem{Base: a, Disp: 32 * lane}
		f.VPXOR(to, word, word)
		f.VMOVDQU(word, to)
	}
	const low, high = operand.U8(0x20), operand.U8(0x31) // halves of both
	for first := 0; first < 16; first += 4 {
		load(8 * first)
		zip()
		f.VPERM2I128(low, v[6], v[4], v[8])
		f.VPERM2I128(low, v[7], v[5], v[9])
		f.VPERM2I128(high, v[6], v[4], v[10])
		f.VPERM2I128(high, v[7], v[5], v[11])
		for i := range 4 {
			add(first+i, v[8+i])
		}
	}
	load(rate - 32) // word 16 is the last of these four
	zip()
	f.VPERM2I128(high, v[7], v[5], v[8])
	add(16, v[8])
}

// round emits a round that reads one copy of the states and writes the other.
func (f *four) round(from, to func(int) operand.Mem, iota int) {
	v := f.v
	for x := range 5 {
		f.VMOVDQU(from(x), v[x])
	}
	for y := 1; y < 5; y++ {
		for x := range 5 {
			f.VPXOR(from(x+5*y), v[x], v[x])
		}
	}
	for x := range 5 { // v5 to v9: what theta adds to column x
		f.VPSRLQ(operand.U8(63), v[(x+1)%5], v[10])
		f.VPADDQ(v[(x+1)%5], v[(x+1)%5], v[11])
		f.VPXOR(v[10], v[11], v[11])
		f.VPXOR(v[(x+4)%5], v[11], v[5+x])
	}
	for y := range 5 {
		for x := range 5 {
			source := origin(x + 5*y)
			f.VPXOR(from(source), v[5+source%5], v[x])
			f.rotate(offset(source), v[x], v[10+x%3])
		}
		for x := range 5 {
			sum := v[13+x%3]
			f.VPANDN(v[(x+2)%5], v[(x+1)%5], sum)
			f.VPXOR(v[x], sum, sum)
			if x == 0 && y == 0 {
				f.VPBROADCASTQ(operand.Mem{Base: f.iota, Disp: iota}, v[10])
				f.VPXOR(v[10], sum, sum)
			}
			f.VMOVDQU(sum, to(x+5*y))
		}
	}
}

// rotate turns every word of v left by n bits. AVX2 has no rotation; whole
// bytes can be shuffled.
func (f *four) rotate(n int, v, scratch reg.VecPhysical) {
	switch n {
	case 0:
	case 8:
		f.VPSHUFB(f.rotate8, v, v)
	case 56:
		f.VPSHUFB(f.rotate56, v, v)
	default:
		f.VPSRLQ(operand.U8(64-n), v, scratch)
		f.VPSLLQ(operand.U8(n), v, v)
		f.VPOR(scratch, v, v)
	}
}
