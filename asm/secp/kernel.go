// Package secp computes on secp256k1 (SEC 2 §2.4.1) eight lanes at a time: the
// arithmetic of recovery from signatures, for public values only, as nothing
// here is constant-time by proof.
//
// Field elements and points in limb-major vectors go in and out; scalars,
// encodings and exceptional cases are the business of crypto/secp256k1, its
// only user. Each [Kernel] computes exactly what the generic one computes, limb
// for limb.
//
// Ranges of limbs, which are the contract between routines:
//   - a factor has all limbs below 2^52;
//   - a tight element has limbs 0-3 below 2^52 and limb 4 below 2^48 + 2^12, so
//     it is below 2^256 + 2^221;
//   - a canonical element is below p.
//
// Products take factors. Sums take tight elements. Every result is tight.
//
// Doubling and adding assume that no summand is the point at infinity and that
// the summands' x coordinates differ. Where they are equal Z becomes 0 mod p
// and stays so through every later routine: whoever finds Z ≠ 0 at the end of a
// chain knows that no step of it was exceptional.
package secp

import "github.com/cowboy-foundation/cowboy/asm/cpu"

//go:generate go run -C ../gen ./secp ../secp

// Kernel is one implementation of the arithmetic. Arguments may alias if they
// are the same variable. Counts n are at least 1.
type Kernel struct {
	Name string

	MulOne    func(z, x, y *Element)               // z = x·y
	SquareOne func(z, x *Element, n int)           // z = x^(2^n)
	Mul       func(z, x, y *Quad)                  // z = x·y
	Square    func(z, x *Quad, n int)              // z = x^(2^n)
	Add       func(z, x, y *Quad)                  // z = x + y
	Sub       func(z, x, y *Quad)                  // z = x - y
	Normalize func(z *Quad)                        // the canonical form of tight z
	Double    func(p *Pair, n int)                 // p = (-2)^n·p
	Multiples func(m *Multiples, x, y *[2]Element) // of affine points

	// Tabulate brings m to one Z, m.Z. The tables then hold affine points of the
	// isomorphic curve on which (x, y) stands for (x/Z², y/Z³).
	Tabulate func(t *[2]Table, m *Multiples)
	// Load sets p to the entries of t at the digits of d.
	Load func(p *Pair, t *[2]Table, d *[2]Digits, s *Step)
	// AddOwn sets p to minus the sum of p and those entries.
	AddOwn func(p *Pair, t *[2]Table, d *[2]Digits, s *Step)
	// AddShared sets p to minus the sum of p and the entries of t, which are on
	// the curve itself while p is on the isomorphic curve of tz.
	AddShared func(p *Pair, t *SharedTable, d *[2]Digits, s *Step, tz *[2]Element)
}

// Kernels returns the kernels that a CPU with features f can run, fastest
// first. The portable one is always there, as the last.
func Kernels(f cpu.Features) []Kernel {
	return append(archKernels(f), Kernel{
		Name:      "generic",
		MulOne:    mulOneGeneric,
		SquareOne: squareOneGeneric,
		Mul:       mulGeneric,
		Square:    squareGeneric,
		Add:       addGeneric,
		Sub:       subGeneric,
		Normalize: normalizeGeneric,
		Double:    doubleGeneric,
		Multiples: multiplesGeneric,
		Tabulate:  tabulateGeneric,
		Load:      loadGeneric,
		AddOwn:    addOwnGeneric,
		AddShared: addSharedGeneric,
	})
}
