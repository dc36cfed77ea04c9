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
	var shift secp256k1.ModNScalar
	shift.SetBytes(&[32]byte{31 - baseSplit/8: 1 << (baseSplit % 8)})
	tables := new([2]secp.SharedTable)
	fillTable(&tables[0], new(secp256k1.ModNScalar).SetInt(1))
	fillTable(&tables[1], &shift)
	return tables
})

// fillTable writes k·G, 3k·G, 5k·G and so on.
func fillTable(t *secp.SharedTable, k *secp256k1.ModNScalar) {
	var step secp256k1.JacobianPoint
	points := make([]secp256k1.JacobianPoint, len(t))
	secp256k1.ScalarBaseMultNonConst(k, &points[0])
	points[0].ToAffine()
	secp256k1.DoubleNonConst(&points[0], &step)
	step.ToAffine()
	// prefix[i] is the product of the first i+1 Z.
	prefix := make([]secp256k1.FieldVal, len(t))
	prefix[0].Set(&points[0].Z)
	for i := 1; i < len(t); i++ {
		secp256k1.AddNonConst(&points[i-1], &step, &points[i])
		prefix[i].Mul2(&prefix[i-1], &points[i].Z)
	}
	inverse := prefix[len(t)-1]
	inverse.Inverse()
	for i := len(t) - 1; i >= 0; i-- {
		z := inverse
		if i > 0 {
			z.Mul(&prefix[i-1])
			inverse.Mul(&points[i].Z)
		}
		x, y := points[i].X, points[i].Y
		var square secp256k1.FieldVal
		square.SquareVal(&z)
		x.Mul(&square).Normalize()
		y.Mul(square.Mul(&z)).Normalize()
		putWords(t[i][:4], x.Bytes())
		putWords(t[i][4:], y.Bytes())
	}
}

func putWords(w []uint64, b *[32]byte) {
	for i := range w {
		w[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
}
