package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	rate      = 136      // bytes absorbed per permutation
	rateWords = rate / 8 // the lanes that absorb, 0 to 16
	header    = 24       // bytes of a slice header: pointer, length, capacity

	parity  = operand.U8(0x96) // VPTERNLOGQ: a ^ b ^ c
	chiStep = operand.U8(0xD2) // VPTERNLOGQ: a ^ (^b & c)
	above   = operand.U8(6)    // VPCMPU: a > b
)

// wide emits the AVX-512 kernel that digests several messages of one block
// count. Vector register i holds lane i of all their states from the first
// block to the last; registers 25 to 31 are scratch. While a block is read and
// turned around, lanes 0 to 16 wait on the stack.
type wide struct {
	*build.Context
	lanes int               // messages: 8 in zmm registers, 4 in ymm
	bytes int               // of a vector, and of one message's row in it
	v     []reg.VecPhysical // the vector registers at that width
	msgs  reg.Register      // *[lanes][]byte
	ptr   []reg.GPVirtual   // start of each message
	off   reg.GPVirtual     // bytes absorbed so far, the same for all
	saved reg.GPVirtual     // 19 vectors on the stack, aligned
	name  string

	constants map[uint64]operand.Mem
	byteIndex operand.Mem // 0, 1, 2, … 159 as bytes
}

// Slots of saved behind the lanes: where the padding starts in each message.
const (
	padWordSlot = rateWords     // index of the word
	padBitSlot  = rateWords + 1 // the bit in it
	savedSlots  = rateWords + 2
)

func wideSum(c *build.Context, lanes int, table operand.Mem) {
	w := &wide{Context: c, lanes: lanes, bytes: 8 * lanes, name: fmt.Sprintf("sum%dAVX512", lanes), constants: map[uint64]operand.Mem{}}
	w.byteIndex = c.StaticGlobal(w.name + "_bytes")
	c.DataAttributes(rodata)
	for i := range uint64(rate+24) / 8 {
		c.AppendDatum(operand.U64(0x0706050403020100 + 8*i*0x0101010101010101))
	}
	for i := range 32 {
		w.v = append(w.v, vector(i, w.bytes))
	}
	w.emit(table)
}

// vector names vector register i at a width of 16, 32 or 64 bytes.
func vector(i, bytes int) reg.VecPhysical {
	width := map[int]reg.Spec{16: reg.S128, 32: reg.S256, 64: reg.S512}[bytes]
	return reg.Vector.Lookup(reg.Index(i), width).(reg.VecPhysical)
}

func mask(i int) reg.Register { return reg.Opmask.Lookup(reg.Index(i), reg.S64) }

// constant returns a read-only word; each value exists once.
func (w *wide) constant(n uint64) operand.Mem {
	if _, ok := w.constants[n]; !ok {
		w.constants[n] = w.ConstData(fmt.Sprintf("%s_%#x", w.name, n), operand.U64(n))
	}
	return w.constants[n]
}

func (w *wide) emit(table operand.Mem) {
	w.Function(w.name)
	w.SignatureExpr(fmt.Sprintf("func(msgs *[%d][]byte, full int, out *[%d][32]byte)", w.lanes, w.lanes))
	w.Pragma("noescape")
	w.Doc(
		fmt.Sprintf("%s sets out[i] to the Keccak-256 digest of msgs[i]. Every message must", w.name),
		"have exactly full whole blocks: len(msgs[i])/136 = full. It needs AVX-512",
		"F, BW and VL.")
	w.prologue()

	left := w.Load(w.Param("full"), w.GP64())
	w.Label(w.name + "_block")
	w.TESTQ(left, left)
	w.JZ(operand.LabelRef(w.name + "_last"))
	w.readBlock()
	w.JMP(operand.LabelRef(w.name + "_absorb"))
	w.Label(w.name + "_last")
	w.readTail()
	w.Label(w.name + "_absorb")
	w.TESTQ(w.off, w.off)
	w.JZ(operand.LabelRef(w.name + "_permute")) // the first block: lanes 0 to 16 are zero
	for i := range rateWords {
		w.VPXORQ(w.slot(i), w.v[i], w.v[i])
	}
	w.Label(w.name + "_permute")
	w.rounds(table)
	w.SUBQ(operand.U8(1), left)
	w.JB(operand.LabelRef(w.name + "_squeeze")) // left was 0: that was the last
	w.ADDQ(operand.U32(rate), w.off)
	for i := range rateWords {
		w.VMOVDQA64(w.v[i], w.slot(i))
	}
	w.JMP(operand.LabelRef(w.name + "_block"))
	w.Label(w.name + "_squeeze")
	w.squeeze()
	w.VZEROUPPER()
	w.RET()
}

func (w *wide) slot(i int) operand.Mem { return operand.Mem{Base: w.saved, Disp: i * w.bytes} }

// at addresses byte n of what message i still has to give.
func (w *wide) at(i, n int) operand.Mem {
	return operand.Mem{Base: w.ptr[i], Index: w.off, Scale: 1, Disp: n}
}

func (w *wide) prologue() {
	w.msgs = w.Load(w.Param("msgs"), w.GP64())
	for i := range w.lanes {
		w.ptr = append(w.ptr, w.GP64())
		w.MOVQ(operand.Mem{Base: w.msgs, Disp: header * i}, w.ptr[i])
	}
	w.off = w.GP64()
	w.XORQ(w.off, w.off)
	w.saved = w.GP64()
	w.LEAQ(w.AllocLocal((savedSlots+1)*w.bytes), w.saved)
	w.ADDQ(operand.U8(w.bytes-1), w.saved)
	w.ANDQ(operand.I8(-w.bytes), w.saved)
	for i := rateWords; i < 25; i++ {
		w.zero(i)
	}
}

func (w *wide) zero(i int) { w.VPXORQ(w.v[i], w.v[i], w.v[i]) }

// groups calls f for each run of words that fill one vector of each message:
// words first to first+lanes-1 at byte 8*first. It names two sets of registers:
// those that get the words, and as many to work with.
func (w *wide) groups(f func(first int, words, scratch []reg.VecPhysical)) {
	for first := 0; first < 16; first += w.lanes {
		words := w.v[first : first+w.lanes]
		scratch := append([]reg.VecPhysical{w.v[16]}, w.v[25:25+w.lanes-1]...)
		f(first, words, scratch)
	}
}

// readBlock puts the words of the next whole block into registers 0 to 16.
func (w *wide) readBlock() {
	w.groups(func(first int, words, scratch []reg.VecPhysical) {
		for i := range w.lanes {
			w.VMOVDQU64(w.at(i, 8*first), w.rowRegister(i, words, scratch))
		}
		w.transpose(words, scratch)
	})
	w.gather(w.v[16], w.v[25:], func(i int) operand.Mem { return w.at(i, 128) })
}

// readTail puts the words of the last block, padding included, into registers
// 0 to 16. Loads are masked by what is left of each message, so nothing behind
// its end is touched; groups behind the longest tail are not loaded at all.
func (w *wide) readTail() {
	c, v := w.Context, w.v
	tails, words, bits := v[0], v[1], v[2]
	w.gather(tails, v[25:], func(i int) operand.Mem { return operand.Mem{Base: w.msgs, Disp: header*i + 8} })
	c.VPBROADCASTQ(w.off, v[3])
	c.VPSUBQ(v[3], tails, tails)
	c.VPSRLQ(operand.U8(3), tails, words)
	c.VMOVDQA64(words, w.slot(padWordSlot))
	c.VPSLLQ(operand.U8(3), words, v[4])
	c.VPSUBQ(v[4], tails, bits) // tail mod 8
	c.VPSLLQ(operand.U8(3), bits, bits)
	c.VPBROADCASTQ(w.constant(1), v[4])
	c.VPSLLVQ(bits, v[4], bits)
	c.VMOVDQA64(bits, w.slot(padBitSlot))
	// Masks of the messages that reach into a group; k7 is for word 16.
	reaches := map[int]reg.Register{}
	var group []int
	for first := 0; first <= 16; first += w.lanes {
		reaches[first] = mask(2 + len(group))
		c.VPCMPUQ_BCST(above, w.constant(uint64(8*first)), tails, reaches[first])
		group = append(group, first)
	}

	skip := func(first int) string { return fmt.Sprintf("%s_zero%d", w.name, first) }
	w.groups(func(first int, words, scratch []reg.VecPhysical) {
		c.KORTESTW(reaches[first], reaches[first])
		c.JZ(operand.LabelRef(skip(first)))
		for i := range w.lanes {
			w.maskedLoad(i, 8*first, w.bytes, w.rowRegister(i, words, scratch))
		}
		w.transpose(words, scratch)
	})
	c.KORTESTW(reaches[16], reaches[16])
	c.JZ(operand.LabelRef(skip(16)))
	w.tailWord16()
	c.JMP(operand.LabelRef(w.name + "_pad"))
	for _, first := range group {
		c.Label(skip(first))
		for i := first; i < min(first+w.lanes, rateWords); i++ {
			w.zero(i)
		}
	}

	c.Label(w.name + "_pad")
	c.VMOVDQA64(w.slot(padWordSlot), v[25])
	c.VMOVDQA64(w.slot(padBitSlot), v[26])
	for i := range rateWords {
		k := mask(1 + i%4)
		c.VPCMPEQQ_BCST(w.constant(uint64(i)), v[25], k)
		c.VPXORQ(v[26], v[i], k, v[i])
	}
	c.VPXORQ_BCST(w.constant(1<<63), v[16], v[16])
}

// rowRegister is where transpose wants the row of message i.
func (w *wide) rowRegister(i int, words, scratch []reg.VecPhysical) reg.VecPhysical {
	if w.lanes == 8 {
		return scratch[i]
	}
	return words[i]
}

// maskedLoad loads those of n bytes at byte from of message i's last block
// that belong to the message; the rest becomes zero and is not read.
func (w *wide) maskedLoad(i, from, n int, to reg.VecPhysical) {
	to = vector(int(to.PhysicalIndex()), n)
	k := mask(1 + 6*(i%2)) // k1 or k7
	tail := w.GP64()
	w.MOVQ(operand.Mem{Base: w.msgs, Disp: header*i + 8}, tail)
	w.SUBQ(w.off, tail)
	w.VPBROADCASTB(tail.As32(), to)
	w.VPCMPUB(above, w.byteIndex.Offset(from), to, k)
	w.VMOVDQU8_Z(w.at(i, from), k, to)
}

// tailWord16 puts word 16 of the last block into register 16.
func (w *wide) tailWord16() {
	for i := range w.lanes {
		// The word is the low half of 16 bytes: the mask ends at byte 136.
		w.maskedLoad(i, 8*16, 16, w.scratch16(i))
	}
	x := func(i int) reg.VecPhysical { return vector(int(w.scratch16(i).PhysicalIndex()), 16) }
	for i := 0; i < w.lanes; i += 2 {
		w.VPUNPCKLQDQ(x(i+1), x(i), x(i))
	}
	w.join(w.v[16], func(pair int) reg.VecPhysical { return x(2 * pair) })
}

// scratch16 names one free register per message when registers 0 to 15 hold
// words: 25 to 31, and 16 for the first.
func (w *wide) scratch16(i int) reg.VecPhysical {
	if i == 0 {
		return w.v[16]
	}
	return w.v[24+i]
}

// gather sets to to one word per message, from the addresses that at names. It
// uses one scratch register per pair of messages.
func (w *wide) gather(to reg.VecPhysical, scratch []reg.VecPhysical, at func(i int) operand.Mem) {
	x := func(pair int) reg.VecPhysical { return vector(int(scratch[pair].PhysicalIndex()), 16) }
	for pair := range w.lanes / 2 {
		w.VMOVQ(at(2*pair), x(pair))
		w.VMOVHPS(at(2*pair+1), x(pair), x(pair))
	}
	w.join(to, x)
}

// join concatenates the 16-byte registers that x names.
func (w *wide) join(to reg.VecPhysical, x func(pair int) reg.VecPhysical) {
	y := func(r reg.VecPhysical) reg.VecPhysical { return vector(int(r.PhysicalIndex()), 32) }
	one := operand.U8(1)
	if w.lanes == 4 {
		w.VINSERTI32X4(one, x(1), y(x(0)), to)
		return
	}
	for pair := 0; pair < 4; pair += 2 {
		w.VINSERTI32X4(one, x(pair+1), y(x(pair)), y(x(pair)))
	}
	w.VINSERTI64X4(one, y(x(2)), vector(int(x(0).PhysicalIndex()), 64), to)
}

// transpose turns rows, one per message, into words, one per lane. The rows
// lie where rowRegister says.
func (w *wide) transpose(words, scratch []reg.VecPhysical) {
	zip := func(from, to []reg.VecPhysical) {
		for i := 0; i < w.lanes; i += 2 {
			w.VPUNPCKLQDQ(from[i+1], from[i], to[i])
			w.VPUNPCKHQDQ(from[i+1], from[i], to[i+1])
		}
	}
	if w.lanes == 4 {
		zip(words, scratch)
		for odd := range 2 {
			w.VSHUFI64X2(operand.U8(0), scratch[2+odd], scratch[odd], words[odd])
			w.VSHUFI64X2(operand.U8(3), scratch[2+odd], scratch[odd], words[2+odd])
		}
		return
	}
	const even, uneven = operand.U8(0x88), operand.U8(0xDD) // pairs 0 and 2, pairs 1 and 3 of both
	zip(scratch, words)
	for odd := range 2 {
		r, t := words[odd:], scratch[4*odd:]
		w.VSHUFI64X2(even, r[2], r[0], t[0])
		w.VSHUFI64X2(even, r[6], r[4], t[1])
		w.VSHUFI64X2(uneven, r[2], r[0], t[2])
		w.VSHUFI64X2(uneven, r[6], r[4], t[3])
	}
	for odd := range 2 {
		r, t := words[odd:], scratch[4*odd:]
		w.VSHUFI64X2(even, t[1], t[0], r[0])
		w.VSHUFI64X2(uneven, t[1], t[0], r[4])
		w.VSHUFI64X2(even, t[3], t[2], r[2])
		w.VSHUFI64X2(uneven, t[3], t[2], r[6])
	}
}

// rounds permutes registers 0 to 24. One round is one turn of the loop: rho
// and pi walk along the one cycle that pi makes of all lanes but the first.
func (w *wide) rounds(table operand.Mem) {
	v, left, next := w.v, w.GP64(), w.GP64()
	w.LEAQ(table, next)
	w.MOVQ(operand.U32(len(roundConstants)), left)
	w.Label(w.name + "_round")
	for x := range 5 {
		w.VMOVDQA64(v[x], v[25+x])
		w.VPTERNLOGQ(parity, v[x+5], v[x+10], v[25+x])
		w.VPTERNLOGQ(parity, v[x+15], v[x+20], v[25+x])
	}
	for x := range 5 {
		turned := v[30+x%2]
		w.VPROLQ(operand.U8(1), v[25+(x+1)%5], turned)
		for y := range 5 {
			w.VPTERNLOGQ(parity, v[25+(x+4)%5], turned, v[x+5*y])
		}
	}
	w.VPROLQ(operand.U8(offset(1)), v[1], v[25])
	lane := 1
	for ; origin(lane) != 1; lane = origin(lane) {
		w.VPROLQ(operand.U8(offset(origin(lane))), v[origin(lane)], v[lane])
	}
	w.VMOVDQA64(v[25], v[lane])
	for y := range 5 {
		row, first, second := v[5*y:5*y+5], v[26+2*(y%3)], v[27+2*(y%3)]
		w.VMOVDQA64(row[0], first)
		w.VMOVDQA64(row[1], second)
		w.VPTERNLOGQ(chiStep, row[2], row[1], row[0])
		w.VPTERNLOGQ(chiStep, row[3], row[2], row[1])
		w.VPTERNLOGQ(chiStep, row[4], row[3], row[2])
		w.VPTERNLOGQ(chiStep, first, row[4], row[3])
		w.VPTERNLOGQ(chiStep, second, first, row[4])
	}
	w.VPXORQ_BCST(operand.Mem{Base: next}, v[0], v[0])
	w.ADDQ(operand.U8(8), next)
	w.DECQ(left)
	w.JNZ(operand.LabelRef(w.name + "_round"))
}

// squeeze stores lanes 0 to 3 of each state as its digest.
func (w *wide) squeeze() {
	v := w.v
	out := w.Load(w.Param("out"), w.GP64())
	digest := func(i int) operand.Mem { return operand.Mem{Base: out, Disp: 32 * i} }
	for half := range 2 { // words 0 and 1, then 2 and 3: even messages, odd messages
		w.VPUNPCKLQDQ(v[2*half+1], v[2*half], v[4+half])
		w.VPUNPCKHQDQ(v[2*half+1], v[2*half], v[6+half])
	}
	for odd := range 2 {
		low, high := v[4+2*odd], v[5+2*odd]
		if w.lanes == 4 {
			for pair := range 2 {
				w.VSHUFI64X2(operand.U8(3*pair), high, low, v[8])
				w.VMOVDQU64(v[8], digest(odd+2*pair))
			}
			continue
		}
		for pair, half := range []operand.U8{0x44, 0xEE} {
			w.VSHUFI64X2(half, high, low, v[8])
			w.VSHUFI64X2(operand.U8(0xD8), v[8], v[8], v[8])
			w.VMOVDQU64(vector(8, 32), digest(odd+4*pair))
			w.VEXTRACTI64X4(operand.U8(1), v[8], digest(odd+4*pair+2))
		}
	}
}
