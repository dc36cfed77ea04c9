// Package keccak holds the kernels of Keccak-256, the hash of the protocol: the
// permutation of one state (FIPS 202 §3), and digests of several messages at a
// time where the processor can.
//
// States and whole messages go in, permuted states and digests come out;
// nothing is kept. A kernel is a value of type [Kernel]: [Kernels] lists those
// that a processor can run, and every one of them computes exactly what the
// last of the list does, which is plain Go. Streaming, batches of mixed length
// and the choice of a kernel are the business of crypto/keccak, the only user.
//
// Kernels of several lanes take whole messages instead of states because half
// of their cost beside the permutation is the way in and out: words of eight
// messages must be turned into lanes of eight states.
package keccak

import (
	"encoding/binary"
	"sync"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

//go:generate go run -C ../gen ./keccak ../keccak

const (
	// Size is the length of a digest in bytes.
	Size = 32
	// Rate is the number of bytes absorbed per permutation: 1600 bits of state
	// less twice the 256 bits of the digest.
	Rate = 136
)

// State is a Keccak-f[1600] state. Lane x + 5y holds the 64 bits of column x
// and row y, read little-endian from the input bytes (FIPS 202 §3.1.2).
type State [25]uint64

// roundConstants are iota's constants, one a round (FIPS 202 §3.2.5).
var roundConstants = [24]uint64{
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
	0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
	0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
	0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
	0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
}

// Kernel is one implementation of Keccak-256. It is a small value without
// pointers: what a method is given does not escape through it. The zero value
// is the portable kernel.
type Kernel uint8

// All kernels, the portable one first. A processor may lack some.
const (
	Generic     Kernel = iota // plain Go, one message
	BMI                       // scalar assembly, one message
	AVX512x1                  // 512-bit vectors, one message
	AVX2x4                    // 256-bit vectors, four messages
	AVX512x4                  // 256-bit vectors, AVX-512 instructions, four messages
	AVX512x8                  // 512-bit vectors, eight messages
	AVX512Lanes               // 128-bit vectors, a lane in each, one message
)

// String names the kernel in logs and benchmarks.
func (k Kernel) String() string {
	return [...]string{"generic", "bmi", "avx512x1", "avx2x4", "avx512x4", "avx512x8", "avx512lanes"}[k]
}

// Lanes is the number of messages that Sum digests in one call.
func (k Kernel) Lanes() int { return [...]int{1, 1, 1, 4, 4, 8, 1}[k] }

// Kernels returns the kernels that a CPU with features f can run, fastest per
// message first. The portable one is always there, as the last.
func Kernels(f cpu.Features) []Kernel {
	var list []Kernel
	for _, k := range speedOrder(f) {
		if runs(k, f) {
			list = append(list, k)
		}
	}
	return list
}

// Best returns the fastest kernel that a CPU with features f can run, among
// those of at most the given number of lanes, which is at least 1. It is called
// for every hash, so it does not build the list of Kernels to look at its
// beginning.
func Best(f cpu.Features, lanes int) Kernel {
	switch {
	case lanes >= 8 && runs(AVX512x8, f):
		return AVX512x8
	case lanes >= 4 && runs(AVX512x4, f):
		return AVX512x4
	case lanes >= 4 && runs(AVX2x4, f):
		return AVX2x4
	case f.ShortShuffles && runs(AVX512x1, f):
		return AVX512x1
	case runs(AVX512Lanes, f):
		return AVX512Lanes
	case runs(BMI, f):
		return BMI
	case runs(AVX512x1, f):
		return AVX512x1
	default:
		return Generic
	}
}

// Lone returns the fastest kernel of one message in this process. It is Best,
// remembered: choosing anew would cost a lone hash 5 %.
func Lone() Kernel { return lone() }

var lone = sync.OnceValue(func() Kernel { return Best(cpu.Chosen(), 1) })

// speedOrder ranks all kernels. In AVX512x1 each round waits three times for
// words to cross the register. Where that takes 5 cycles the kernel was measured
// at 1.15 times BMI's time, and AVX512Lanes at 0.8 times; with 3 the chain is half
// as long.
func speedOrder(f cpu.Features) [7]Kernel {
	if f.ShortShuffles {
		return [7]Kernel{AVX512x8, AVX512x4, AVX2x4, AVX512x1, AVX512Lanes, BMI, Generic}
	}
	return [7]Kernel{AVX512x8, AVX512x4, AVX2x4, AVX512Lanes, BMI, AVX512x1, Generic}
}

// Permute applies Keccak-f[1600] to s. Kernels of several lanes do it in plain
// Go: one state is not what they are for.
func (k Kernel) Permute(s *State) {
	switch k {
	case BMI, AVX512x1, AVX512Lanes:
		k.permuteOne(s)
	default:
		permuteGeneric(s)
	}
}

// SumOne returns the Keccak-256 digest of one message. Kernels of several lanes
// compute it in plain Go.
func (k Kernel) SumOne(msg []byte) (digest [Size]byte) {
	k.sumOne(msg, &digest)
	return digest
}

// Sum sets out[i] to the Keccak-256 digest of msgs[i], for as many messages as
// the kernel has lanes; other lengths are a fault of the caller. It works in
// step, so the messages must have the same number of whole blocks,
// len(msgs[i])/Rate. If they do not, it reports false and leaves out alone.
// Every message is read before any digest is written.
func (k Kernel) Sum(msgs [][]byte, out [][Size]byte) bool {
	switch k.Lanes() {
	case 8:
		eight, digests := (*[8][]byte)(msgs), (*[8][Size]byte)(out)
		full, ok := wholeBlocks(eight[:])
		if ok {
			sum8(eight, full, digests)
		}
		return ok
	case 4:
		four, digests := (*[4][]byte)(msgs), (*[4][Size]byte)(out)
		full, ok := wholeBlocks(four[:])
		if ok {
			k.sum4(four, full, digests)
		}
		return ok
	default:
		k.sumOne(msgs[0], &out[0])
		return true
	}
}

// wholeBlocks returns the number of whole blocks in each message, if they
// agree in it.
func wholeBlocks(msgs [][]byte) (int, bool) {
	full := len(msgs[0]) / Rate
	for _, m := range msgs {
		if uint(len(m)-full*Rate) >= Rate {
			return 0, false
		}
	}
	return full, true
}

// sumOne absorbs straight from the message: the last block takes its padding in
// the state.
func (k Kernel) sumOne(msg []byte, out *[Size]byte) {
	if k == AVX512Lanes {
		sum1(msg, out)
		return
	}
	var s State
	for len(msg) >= Rate {
		for i := range Rate / 8 {
			s[i] ^= binary.LittleEndian.Uint64(msg[8*i:])
		}
		k.Permute(&s)
		msg = msg[Rate:]
	}
	i := 0
	for ; len(msg) >= 8; i++ {
		s[i] ^= binary.LittleEndian.Uint64(msg)
		msg = msg[8:]
	}
	last := uint64(1) << (8 * len(msg)) // the padding's first bit
	for j, b := range msg {
		last |= uint64(b) << (8 * j)
	}
	s[i] ^= last
	s[Rate/8-1] ^= 1 << 63 // and its last
	k.Permute(&s)
	for i := range Size / 8 {
		binary.LittleEndian.PutUint64(out[8*i:], s[i])
	}
}
