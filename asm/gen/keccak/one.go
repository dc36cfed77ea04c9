package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// onePermutation emits the permutation of one state with the and-not and the
// three-operand rotation of BMI. It has the shape of plainGo: four rounds in
// place per turn, the state in memory.
func onePermutation(c *build.Context, table operand.Mem) {
	c.Function("permuteBMI")
	c.SignatureExpr("func(a *[25]uint64)")
	c.Pragma("noescape")
	c.Doc("permuteBMI applies Keccak-f[1600] to a. It needs BMI1 and BMI2.")
	a := c.Load(c.Param("a"), c.GP64())
	next, left := c.GP64(), c.GP64()
	c.LEAQ(table, next)
	c.MOVQ(operand.U32(len(roundConstants)/4), left)
	c.Label("permuteBMI_rounds")
	var at slots
	for x := range 5 {
		for y := range 5 {
			at[x][y] = x + 5*y
		}
	}
	lane := func(i int) operand.Mem { return operand.Mem{Base: a, Disp: 8 * i} }
	for r := range 4 {
		at = scalarRound(c, at, lane, operand.Mem{Base: next, Disp: 8 * r})
	}
	c.ADDQ(operand.U8(4*8), next)
	c.DECQ(left)
	c.JNZ(operand.LabelRef("permuteBMI_rounds"))
	c.RET()
}

// scalarRound emits one round and returns where it leaves the lanes.
func scalarRound(c *build.Context, at slots, lane func(int) operand.Mem, iota operand.Mem) slots {
	rol := func(n int, from, to reg.Register) { c.RORXQ(operand.U8((64-n)%64), from, to) }
	var col, d, b [5]reg.GPVirtual
	for x := range 5 {
		col[x] = c.GP64()
		c.MOVQ(lane(at[x][0]), col[x])
		for y := 1; y < 5; y++ {
			c.XORQ(lane(at[x][y]), col[x])
		}
	}
	for x := range 5 {
		d[x] = c.GP64()
		rol(1, col[(x+1)%5], d[x])
		c.XORQ(col[(x+4)%5], d[x])
	}
	var next slots
	for y := range 5 {
		for row := range 5 {
			// pi moves lane (x, row) to (row, 2x+3row).
			x := ((y-3*row)*3%5 + 15) % 5
			b[row] = c.GP64()
			c.MOVQ(lane(at[x][row]), b[row])
			c.XORQ(d[x], b[row])
			if n := rotation[x][row]; n != 0 {
				rol(n, b[row], b[row])
			}
			next[x][y] = at[x][row]
		}
		for x := range 5 {
			t := c.GP64()
			c.ANDNQ(b[(x+2)%5], b[(x+1)%5], t)
			c.XORQ(b[x], t)
			if x == 0 && y == 0 {
				c.XORQ(iota, t)
			}
			c.MOVQ(t, lane(next[x][y]))
		}
	}
	return next
}
