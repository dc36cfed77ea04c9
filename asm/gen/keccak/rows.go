package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows emits the AVX-512 kernel of one state. Between rounds registers y and
// 5+y together hold row y of the state, lane x of it at word place[x]. Theta
// adds whole rows. Pi turns each row into a column: what it moves out of row y
// becomes column y, so that chi combines registers and not words of one. Then
// the columns are turned back into rows.
type rows struct {
	*build.Context
	v []reg.VecPhysical
}

// place is the word at which a row keeps lane x. Columns 0 and 1 are zipped
// into pairs of words, and so are columns 3 and 4; a pair from each then goes
// to words 0, 1 and 4, 5. Column 2 fills the hole.
var place = [5]int{0, 1, 2, 4, 5}

// The registers with a fixed meaning from the first round to the last.
const (
	rotationOf = 16 // 16 to 20: rho of each row
	moveOf     = 21 // 21 to 25: pi of each row, as words of the column
	leftOf     = 26 // lane x-1 at lane x
	rightOf    = 27 // lane x+1
	holeOf     = 28 // 28 to 31: words 0, 1, 3, 4 of a column to word 2
)

// Masks.
const (
	maskLanes  = iota + 1 // the five places of a row
	maskLane0             // the place of lane 0
	maskHole              // word 2
	maskAround            // the other places
	maskFive              // a row in memory
)

func oneRows(c *build.Context, table operand.Mem) {
	r := &rows{Context: c}
	for i := range 32 {
		r.v = append(r.v, vector(i, 64))
	}
	c.Function("permuteAVX512")
	c.SignatureExpr("func(a *[25]uint64)")
	c.Pragma("noescape")
	c.Doc("permuteAVX512 applies Keccak-f[1600] to a. It needs AVX-512 F.")
	a := c.Load(c.Param("a"), c.GP64())
	r.constants()
	next, left := c.GP64(), c.GP64()
	for k, bits := range [...]uint32{maskLanes: 0b110111, maskLane0: 1, maskHole: 0b100, maskAround: 0b110011, maskFive: 0b11111} {
		if bits != 0 {
			c.MOVL(operand.U32(bits), left.As32())
			c.KMOVW(left.As32(), mask(k))
		}
	}
	for y := range 5 {
		c.VPEXPANDQ_Z(operand.Mem{Base: a, Disp: 40 * y}, mask(maskLanes), r.v[y])
		c.VPXORQ(r.v[5+y], r.v[5+y], r.v[5+y])
	}
	c.LEAQ(table, next)
	c.MOVQ(operand.U32(len(roundConstants)), left)
	c.Label("permuteAVX512_round")
	r.round(next)
	c.ADDQ(operand.U8(8), next)
	c.DECQ(left)
	c.JNZ(operand.LabelRef("permuteAVX512_round"))
	for y := range 5 {
		c.VPXORQ(r.v[5+y], r.v[y], r.v[y])
		c.VPCOMPRESSQ(r.v[y], mask(maskLanes), r.v[y])
		c.VMOVDQU64(r.v[y], mask(maskFive), operand.Mem{Base: a, Disp: 40 * y})
	}
	c.VZEROUPPER()
	c.RET()
}

// table defines a vector of constants with f(x) at the place of lane x.
func (r *rows) table(name string, f func(x int) int) operand.Mem {
	var words [8]uint64
	for x := range 5 {
		words[place[x]] = uint64(f(x))
	}
	return r.vectorOf(name, words)
}

func (r *rows) vectorOf(name string, words [8]uint64) operand.Mem {
	m := r.StaticGlobal(name)
	r.DataAttributes(rodata)
	for _, w := range words {
		r.AppendDatum(operand.U64(w))
	}
	return m
}

func (r *rows) constants() {
	for y := range 5 {
		r.VMOVDQU64(r.table(fmt.Sprintf("rho%d", y), func(x int) int { return offset(x + 5*y) }), r.v[rotationOf+y])
		var words [8]uint64
		for to := range 5 { // lane (x, y) goes to (y, 2x+3y): row 2x+3y of column y
			words[to] = uint64(place[((to-3*y)*3%5+15)%5])
		}
		r.VMOVDQU64(r.vectorOf(fmt.Sprintf("pi%d", y), words), r.v[moveOf+y])
	}
	for i, y := range []uint64{0, 1, 3, 4} {
		r.VMOVDQU64(r.vectorOf(fmt.Sprintf("hole%d", y), [8]uint64{2: y}), r.v[holeOf+i])
	}
	r.VMOVDQU64(r.table("left", func(x int) int { return place[(x+4)%5] }), r.v[leftOf])
	r.VMOVDQU64(r.table("right", func(x int) int { return place[(x+1)%5] }), r.v[rightOf])
}

// round emits one round. A row is the sum of its pairs, which take longer to
// move, and of its hole; theta's parity adds all ten parts, so the rows
// themselves are ready when theta needs them.
func (r *rows) round(next reg.Register) {
	v := r.v
	pairs, holes := v[0:5], v[5:10]
	sum, other := v[10], v[11]
	r.VMOVDQA64(holes[0], other)
	r.VPTERNLOGQ(parity, holes[1], holes[2], other)
	r.VPXORQ(holes[3], other, other)
	r.VMOVDQA64(pairs[0], sum)
	r.VPTERNLOGQ(parity, pairs[1], pairs[2], sum)
	r.VMOVDQA64(pairs[3], v[12])
	r.VPTERNLOGQ(parity, pairs[4], holes[4], v[12])
	r.VPTERNLOGQ(parity, v[12], other, sum)
	for y := range 5 {
		r.VPXORQ(holes[y], pairs[y], v[y])
	}
	right, left := v[11], v[12]
	r.VPERMQ(sum, v[rightOf], right)
	r.VPERMQ(sum, v[leftOf], left)
	r.VPROLQ(operand.U8(1), right, right)
	row := pairs
	for y := range 5 {
		r.VPTERNLOGQ(parity, left, right, row[y])
		r.VPROLVQ(v[rotationOf+y], row[y], row[y])
	}
	col := v[5:10]
	for y := range 5 {
		r.VPERMQ(row[y], v[moveOf+y], col[y])
	}
	for x := range 5 {
		r.VMOVDQA64(col[x], v[10+x])
		r.VPTERNLOGQ(chiStep, col[(x+2)%5], col[(x+1)%5], v[10+x])
	}
	r.turn(v[10:15], pairs, holes)
	r.VPXORQ_BCST(operand.Mem{Base: next}, holes[0], mask(maskLane0), holes[0])
}

// turn makes rows of columns, in two parts: the pairs of columns 0, 1 and 3, 4
// with nothing in the hole, and column 2 in the hole with nothing around it.
func (r *rows) turn(col, pairs, holes []reg.VecPhysical) {
	v := r.v
	zipped := [4]reg.VecPhysical{v[0], v[15], v[1], v[2]}
	r.VPUNPCKLQDQ(col[1], col[0], zipped[0])
	r.VPUNPCKLQDQ(col[4], col[3], zipped[1])
	r.VPUNPCKHQDQ(col[1], col[0], zipped[2])
	r.VPUNPCKHQDQ(col[4], col[3], zipped[3])
	r.VMOVDQA64_Z(col[2], mask(maskHole), holes[2]) // word 2 is there already
	for i, y := range []int{0, 1, 3, 4} {
		r.VPERMQ_Z(col[2], v[holeOf+i], mask(maskHole), holes[y])
	}
	// This order overwrites a register of zipped only after its last use.
	for _, y := range []int{3, 1, 4, 2, 0} {
		r.VSHUFI64X2_Z(operand.U8(y/2*0x55), zipped[1+y%2*2], zipped[y%2*2], mask(maskAround), pairs[y])
	}
}
