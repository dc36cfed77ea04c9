package secp256k1

import (
	"encoding/binary"
	"sync"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboy-foundation/cowboy/asm/secp"
)

// baseTables returns the odd multiples of G and of 2^130·G, half a megabyte
// that the first batch computes.
var baseTables = sync.OnceValue(func() *[2]secp.SharedTable {
	tables := new([2]secp.SharedTable)
	point := generator()
	fillTable(&tables[0], &point)
	for range baseSplit {
		secp256k1.DoubleNonConst(&point, &point)
	}
	fillTable(&tables[1], &point)
	return tables
})

// generator returns G. The tables here grow from it: decred's own table of its
// multiples would have to be unpacked first, at the start of each process.
func generator() (g secp256k1.JacobianPoint) {
	params := secp256k1.Params()
	var b [32]byte
	g.X.SetBytes((*[32]byte)(params.Gx.FillBytes(b[:])))
	g.Y.SetBytes((*[32]byte)(params.Gy.FillBytes(b[:])))
	g.Z.SetInt(1)
	return g
}

// fillTable writes p, 3p, 5p and so on.
func fillTable(t *secp.SharedTable, p *secp256k1.JacobianPoint) {
	var step secp256k1.JacobianPoint
	points := make([]secp256k1.JacobianPoint, len(t))
	points[0].Set(p)
	points[0].ToAffine()
	secp256k1.DoubleNonConst(&points[0], &step)
	step.ToAffine()
	for i := 1; i < len(t); i++ {
		secp256k1.AddNonConst(&points[i-1], &step, &points[i])
	}
	toAffine(points)
	for i := range t {
		putWords(t[i][:4], points[i].X.Bytes())
		putWords(t[i][4:], points[i].Y.Bytes())
	}
}

// toAffine makes every Z of points 1, none of which is infinity, at the price of
// one inversion for all of them.
func toAffine(points []secp256k1.JacobianPoint) {
	// prefix[i] is the product of the first i+1 Z.
	prefix := make([]secp256k1.FieldVal, len(points))
	prefix[0].Set(&points[0].Z)
	for i := 1; i < len(points); i++ {
		prefix[i].Mul2(&prefix[i-1], &points[i].Z)
	}
	inverse := prefix[len(points)-1]
	inverse.Inverse()
	for i := len(points) - 1; i >= 0; i-- {
		p, z := &points[i], inverse
		if i > 0 {
			z.Mul(&prefix[i-1])
			inverse.Mul(&p.Z)
		}
		var square secp256k1.FieldVal
		square.SquareVal(&z)
		p.X.Mul(&square).Normalize()
		p.Y.Mul(square.Mul(&z)).Normalize()
		p.Z.SetInt(1)
	}
}

func putWords(w []uint64, b *[32]byte) {
	for i := range w {
		w[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
}
