package timers

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// A rank is a height with rankBits binary places.
const rankBits = 24

// TipBlocksMax bounds the precedence that a tip can buy, in blocks. A timer that
// waits since height h goes before everything that waits since h+TipBlocksMax or
// later.
const TipBlocksMax = 32

// maxTipShift lets a weight come as near to the floor as S - S/1024, which is
// log(1024)/log(1.25) = 31.06 blocks.
const maxTipShift = 10

// Rank is a timer's place among those that are due, the lowest first: the height
// since which it waits, less log_1.25(S/(S-tip)) blocks. It is the λ = 0.2 decay
// towards S in logarithms, where a block is a step of one for everybody, so that
// ranks keep their order while timers wait. tip and floor are in base units per
// cycle; tips at the floor and above it count alike.
func Rank(since chain.Height, tip, floor chain.Wei) uint64 {
	gap := max(floor-min(tip, floor), floor>>maxTipShift, 1)
	bought := log125(max(floor, 1)) - log125(gap)
	return (uint64(since)+TipBlocksMax)<<rankBits - bought
}

// log125 returns log(x)/log(1.25) with rankBits binary places, x at least 1.
func log125(x chain.Wei) uint64 {
	// 1/log2(1.25), with 32 binary places.
	const blocksPerBit = 13_341_386_987
	hi, lo := bits.Mul64(log2(uint64(x)), blocksPerBit)
	return hi<<32 | lo>>32
}

// log2 returns the binary logarithm of x, at least 1, with rankBits binary
// places, rounded down: each squaring of the mantissa yields one more.
func log2(x uint64) uint64 {
	n := bits.Len64(x) - 1
	mantissa := x << (63 - n) // [1, 2) with 63 binary places
	out := uint64(n)
	// Bounded: by rankBits, 24.
	for range rankBits {
		hi, _ := bits.Mul64(mantissa, mantissa) // [1, 4) with 62
		out <<= 1
		if hi>>63 != 0 {
			out |= 1
			mantissa = hi
		} else {
			mantissa = hi << 1
		}
	}
	return out
}
