package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanesOne emits kernels of one message that hold each lane in the low word of a
// register of its own. They compute in vectors of one word because those have what
// the scalar instructions lack: 32 registers, so that no lane waits in memory, three
// operands of any logic at once, and rotations into another register, which move the
// lanes as well. What stands in the high words means nothing and goes nowhere.
func lanesOne(c *build.Context, table operand.Mem) {
	lanesPermutation(newLanes(c, "permuteLanesAVX512"), table)
	lanesSum(newLanes(c, "sum1AVX512"), table)
}

func newLanes(c *build.Context, name string) *wide {
	w := &wide{Context: c, lanes: 1, bytes: 16, name: name, constants: map[uint64]operand.Mem{}}
	for i := range 32 {
		w.v = append(w.v, vector(i, w.bytes))
	}
	return w
}

func lanesPermutation(w *wide, table operand.Mem) {
	w.Function(w.name)
	w.SignatureExpr("func(a *[25]uint64)")
	w.Pragma("noescape")
	w.Doc(w.name + " applies Keccak-f[1600] to a. It needs AVX-512 F and VL.")
	a := w.Load(w.Param("a"), w.GP64())
	for i := range 25 {
		w.VMOVQ(operand.Mem{Base: a, Disp: 8 * i}, w.v[i])
	}
	w.rounds(table)
	for i := range 25 {
		w.VMOVQ(w.v[i], operand.Mem{Base: a, Disp: 8 * i})
	}
	w.RET()
}

// Masks of the last block: the bytes that the message has, and the first one behind.
const (
	maskBytes = 1
	maskPad   = 2
)

// chunkBytes of the last block are loaded at once.
const chunkBytes = 64

func lanesSum(w *wide, table operand.Mem) {
	w.Function(w.name)
	w.SignatureExpr("func(msg []byte, out *[32]byte)")
	w.Pragma("noescape")
	w.Doc(w.name+" sets out to the Keccak-256 digest of msg. It needs AVX-512 F, BW", "and VL, and BMI2.")
	msg, n := w.Load(w.Param("msg").Base(), w.GP64()), w.Load(w.Param("msg").Len(), w.GP64())
	for i := range 25 {
		w.zero(i)
	}
	w.Label(w.name + "_block")
	w.CMPQ(n, operand.U32(rate))
	w.JLT(operand.LabelRef(w.name + "_tail"))
	for i := range rateWords - 1 { // reads a word more than it means to, which the block still has
		w.VPXORQ(operand.Mem{Base: msg, Disp: 8 * i}, w.v[i], w.v[i])
	}
	w.VMOVQ(operand.Mem{Base: msg, Disp: rate - 8}, w.v[25])
	w.VPXORQ(w.v[25], w.v[rateWords-1], w.v[rateWords-1])
	w.JMP(operand.LabelRef(w.name + "_permute"))

	w.Label(w.name + "_tail")
	w.lastBlock(msg, n)
	w.Label(w.name + "_permute")
	w.rounds(table)
	w.ADDQ(operand.U32(rate), msg)
	w.SUBQ(operand.U32(rate), n)
	w.JNS(operand.LabelRef(w.name + "_block")) // below zero: the block permuted was the last

	out := w.Load(w.Param("out"), w.GP64())
	for half := range 2 {
		w.VPUNPCKLQDQ(w.v[2*half+1], w.v[2*half], w.v[4])
		w.VMOVDQU64(w.v[4], operand.Mem{Base: out, Disp: 16 * half})
	}
	w.VZEROUPPER()
	w.RET()
}

// lastBlock adds what is left of the message, fewer than 136 bytes, and the padding.
func (w *wide) lastBlock(msg, n reg.Register) {
	all, has, upTo := w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(operand.I32(-1), all)
	ones := w.constant(0x0101010101010101)
	ended := operand.LabelRef(w.name + "_ended")
	for from := 0; from < rate; from += chunkBytes {
		if from > 0 { // else the padding begins before
			w.CMPQ(n, operand.U32(uint32(from)))
			w.JLT(ended)
		}
		// A mask of the bytes there are, and one of the byte by which a message with
		// one more would be longer: the first of the padding. Above 63 both are full.
		w.LEAQ(operand.Mem{Base: n, Disp: 1 - from}, upTo)
		w.LEAQ(operand.Mem{Base: n, Disp: -from}, has)
		w.BZHIQ(upTo, all, upTo)
		w.BZHIQ(has, all, has)
		w.XORQ(has, upTo)
		w.KMOVQ(has, mask(maskBytes))
		w.KMOVQ(upTo, mask(maskPad))
		size := min(chunkBytes, rate+8-from)
		chunk, pad := vector(25, size), vector(26, size)
		w.VMOVDQU8_Z(operand.Mem{Base: msg, Disp: from}, mask(maskBytes), chunk)
		w.VPBROADCASTQ(ones, pad)
		w.VMOVDQU8(pad, mask(maskPad), chunk)
		first := from / 8
		w.VPXORQ(w.v[25], w.v[first], w.v[first])
		for i := first + 1; i < min(first+8, rateWords); i++ {
			word := vector(27+i%4, size)
			w.VALIGNQ(operand.U8(i-first), chunk, chunk, word)
			w.VPXORQ(w.v[27+i%4], w.v[i], w.v[i])
		}
	}
	w.Label(w.name + "_ended")
	w.VPXORQ_BCST(w.constant(1<<63), w.v[rateWords-1], w.v[rateWords-1])
}
