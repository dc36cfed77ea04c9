//go:build !purego

package secp

import "github.com/cowboy-foundation/cowboy/asm/cpu"

func archKernels(f cpu.Features) []Kernel {
	if !f.AVX512F || !f.AVX512IFMA {
		return nil
	}
	return []Kernel{{
		Name:      "avx512ifma",
		MulOne:    mulOne,
		SquareOne: squareOne,
		Mul:       mulQuad,
		Square:    squareQuad,
		Add:       addQuad,
		Sub:       subQuad,
		Normalize: normalizeQuad,
		Double:    doublePair,
		Multiples: multiplesPair,
		Tabulate:  tabulatePair,
		Load:      loadOwnPair,
		AddOwn:    addOwnPair,
		AddShared: addSharedPair,
	}}
}
