package secp256k1

import (
	"sync"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// What is done with secrets here takes the same time and touches the same
// memory whatever the secret is: no branch and no index depends on it. decred's
// field and scalar arithmetic has that property; its multiplications and its
// inverse of scalars have not, so this file has its own.
//
// Points are projective, and additions use the complete formulas of Renes,
// Costello and Batina (2015), algorithm 7, for a = 0: they have no exceptional
// cases, so infinity and doubling need no branch.

const (
	windowBits   = 4
	windowCount  = 256 / windowBits
	windowValues = 1 << windowBits
	curveB3      = 21 // three times the constant 7 of y² = x³ + 7
	entryWords   = 9  // x and y in four words each, and z, which is 0 or 1
)

// projectivePoint stands for (x/z, y/z), infinity for z = 0. Coordinates are
// normalized.
type projectivePoint struct{ x, y, z secp256k1.FieldVal }

// baseTable holds, for each window w and value v, the point v·16^w·G.
type baseTable [windowCount][windowValues][entryWords]uint64

// bases is the table, made at first use: it is public.
var bases = sync.OnceValue(func() *baseTable {
	const perWindow = windowValues - 1 // without infinity
	points := make([]secp256k1.JacobianPoint, windowCount*perWindow)
	one := generator() // 16^w·G
	for w := range windowCount {
		window := points[w*perWindow:][:perWindow]
		window[0] = one
		for v := 1; v < perWindow; v++ {
			secp256k1.AddNonConst(&window[v-1], &one, &window[v])
		}
		secp256k1.AddNonConst(&window[perWindow-1], &window[0], &one)
	}
	toAffine(points)
	table := new(baseTable)
	for w := range windowCount {
		table[w][0][4] = 1 // infinity is (0 : 1 : 0); words are little-endian
		for v := range perWindow {
			p, entry := &points[w*perWindow+v], &table[w][v+1]
			packWords(entry[0:4], p.X.Bytes())
			packWords(entry[4:8], p.Y.Bytes())
			entry[8] = 1
		}
	}
	return table
})

func packWords(words []uint64, b *[32]byte) {
	for i := range words {
		for j := range 8 {
			words[i] |= uint64(b[31-8*i-j]) << (8 * j)
		}
	}
}

func unpackWords(f *secp256k1.FieldVal, words []uint64) {
	var b [32]byte
	for i, word := range words {
		for j := range 8 {
			b[31-8*i-j] = byte(word >> (8 * j))
		}
	}
	f.SetBytes(&b)
}

// pick reads entry v of a window by looking at all of them.
func (p *projectivePoint) pick(window *[windowValues][entryWords]uint64, v uint64) {
	var entry [entryWords]uint64
	for i := range window {
		differs := uint64(i) ^ v
		mask := ((differs | -differs) >> 63) - 1 // all ones for the entry, else 0
		for k := range entry {
			entry[k] |= window[i][k] & mask
		}
	}
	unpackWords(&p.x, entry[0:4])
	unpackWords(&p.y, entry[4:8])
	p.z.SetInt(uint16(entry[8]))
}

// add sets p to p + q.
func (p *projectivePoint) add(q *projectivePoint) {
	var t0, t1, t2, t3, t4, t5, x, y, z secp256k1.FieldVal
	t0.Mul2(&p.x, &q.x)
	t1.Mul2(&p.y, &q.y)
	t2.Mul2(&p.z, &q.z)
	crossSum(&t3, &p.x, &p.y, &q.x, &q.y, &t0, &t1) // x1·y2 + x2·y1
	crossSum(&t4, &p.y, &p.z, &q.y, &q.z, &t1, &t2) // y1·z2 + y2·z1
	crossSum(&t5, &p.x, &p.z, &q.x, &q.z, &t0, &t2) // x1·z2 + x2·z1
	t0.MulInt(3).Normalize()
	t2.MulInt(curveB3).Normalize()
	t5.MulInt(curveB3).Normalize()
	z.Add2(&t1, &t2).Normalize()
	t1.Add(t2.Negate(1)).Normalize()

	// x = t3·t1 − t4·t5, y = t1·z + t5·t0, z = z·t4 + t0·t3
	var u secp256k1.FieldVal
	x.Mul2(&t3, &t1)
	u.Mul2(&t4, &t5)
	x.Add(u.Negate(1)).Normalize()
	y.Mul2(&t1, &z)
	u.Mul2(&t5, &t0)
	y.Add(&u).Normalize()
	z.Mul(&t4)
	u.Mul2(&t0, &t3)
	z.Add(&u).Normalize()
	p.x, p.y, p.z = x, y, z
}

// crossSum sets out to (a+b)·(c+d) − ac − bd, which is a·d + b·c.
func crossSum(out, a, b, c, d, ac, bd *secp256k1.FieldVal) {
	var left, right, both secp256k1.FieldVal
	left.Add2(a, b)
	right.Add2(c, d)
	out.Mul2(&left, &right)
	both.Add2(ac, bd)
	out.Add(both.Negate(2)).Normalize()
}

// baseMult returns the affine coordinates of k·G for a secret k that is not 0.
func baseMult(k *secp256k1.ModNScalar) (x, y secp256k1.FieldVal) {
	table := bases()
	digits := k.Bytes()
	defer clear(digits[:])
	var sum, term projectivePoint
	sum.y.SetInt(1)
	for w := range windowCount {
		v := uint64(digits[31-w/2]>>(4*(w%2))) & (windowValues - 1)
		term.pick(&table[w], v)
		sum.add(&term)
	}
	sum.z.Inverse()
	x.Mul2(&sum.x, &sum.z).Normalize()
	y.Mul2(&sum.y, &sum.z).Normalize()
	sum, term = projectivePoint{}, projectivePoint{}
	return x, y
}

// orderMinusTwo is n-2: raising to it inverts modulo the group order.
var orderMinusTwo = [32]byte{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
	0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x3f,
}

// inverse returns 1/k modulo the group order for a secret k, by Fermat: the
// exponent is public, so windows of it may be branched on.
func inverse(k *secp256k1.ModNScalar) (out secp256k1.ModNScalar) {
	var powers [windowValues]secp256k1.ModNScalar
	powers[0].SetInt(1)
	for i := 1; i < windowValues; i++ {
		powers[i].Mul2(&powers[i-1], k)
	}
	out.SetInt(1)
	for _, b := range orderMinusTwo {
		for _, v := range [2]byte{b >> 4, b & 15} {
			out.Square().Square().Square().Square()
			out.Mul(&powers[v])
		}
	}
	clear(powers[:])
	return out
}
