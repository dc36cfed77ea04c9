//go:build !purego

package keccak

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// runs reports whether a CPU with features f has what k needs.
func runs(k Kernel, f cpu.Features) bool {
	switch k {
	case AVX512x8, AVX512x4:
		return f.AVX512F && f.AVX512BW && f.AVX512VL
	case AVX2x4:
		return f.AVX2
	case AVX512x1:
		return f.AVX512F
	case AVX512Lanes:
		return f.AVX512F && f.AVX512BW && f.AVX512VL && f.BMI
	case BMI:
		return f.BMI
	default:
		return true
	}
}

func (k Kernel) permuteOne(s *State) {
	switch k {
	case AVX512x1:
		permuteAVX512((*[25]uint64)(s))
	case AVX512Lanes:
		permuteLanesAVX512((*[25]uint64)(s))
	default:
		permuteBMI((*[25]uint64)(s))
	}
}

func sum1(msg []byte, out *[Size]byte) { sum1AVX512(msg, out) }

func sum8(msgs *[8][]byte, full int, out *[8][Size]byte) { sum8AVX512(msgs, full, out) }

func (k Kernel) sum4(msgs *[4][]byte, full int, out *[4][Size]byte) {
	if k == AVX512x4 {
		sum4AVX512(msgs, full, out)
		return
	}
	sum4AVX2(msgs, full, out)
}

// sum4AVX2 pads in plain Go: AVX2 cannot stop a load at the end of a message.
func sum4AVX2(msgs *[4][]byte, full int, out *[4][Size]byte) {
	var states [25][4]uint64
	var blocks [4]*byte
	for n := range full {
		for i, m := range msgs {
			blocks[i] = &m[n*Rate : (n+1)*Rate][0] // all of the block is there
		}
		absorb4AVX2(&states, &blocks)
	}
	var last [4][Rate]byte
	for i, m := range msgs {
		n := copy(last[i][:], m[full*Rate:])
		last[i][n] = 0x01
		last[i][Rate-1] |= 0x80
		blocks[i] = &last[i][0]
	}
	absorb4AVX2(&states, &blocks)
	for i := range out {
		for w := range Size / 8 {
			binary.LittleEndian.PutUint64(out[i][8*w:], states[w][i])
		}
	}
}
