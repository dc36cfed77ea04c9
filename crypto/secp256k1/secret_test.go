package secp256k1

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// secretScalars are the edges of the range, every digit in every window, and
// random ones.
func secretScalars(random int) []secp256k1.ModNScalar {
	var list []secp256k1.ModNScalar
	add := func(b [32]byte) {
		var s secp256k1.ModNScalar
		s.SetBytes(&b)
		if !s.IsZero() {
			list = append(list, s)
		}
	}
	for _, last := range []byte{1, 2, 3, 15, 16, 17, 255} {
		add([32]byte{31: last})
	}
	top := orderMinusTwo
	add(top)
	top[31] += 1 // n-1
	add(top)
	for v := range byte(windowValues) {
		add([32]byte(bytes.Repeat([]byte{v<<4 | v}, 32)))
	}
	for w := range windowCount {
		var b [32]byte
		b[31-w/2] = 9 << (4 * (w % 2))
		add(b)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range random {
		var b [32]byte
		for i := range b {
			b[i] = byte(rng.Uint64())
		}
		add(b)
	}
	return list
}

// TestSecretMultiplicationIsTheLibrarys holds the constant-time multiplication
// and inverse to decred's.
func TestSecretMultiplicationIsTheLibrarys(t *testing.T) {
	for _, k := range secretScalars(2000) {
		var want secp256k1.JacobianPoint
		secp256k1.ScalarBaseMultNonConst(&k, &want)
		want.ToAffine()
		x, y := baseMult(&k)
		if !x.Equals(&want.X) || !y.Equals(&want.Y) {
			t.Fatalf("%v·G differs", k)
		}
		inverted := inverse(&k)
		if !inverted.Equals(new(secp256k1.ModNScalar).InverseValNonConst(&k)) {
			t.Fatalf("1/%v differs", k)
		}
	}
}

// TestCompleteAddition covers what ordinary formulas except: infinity on either
// side, doubling, and a point with its negative.
func TestCompleteAddition(t *testing.T) {
	infinity := projectivePoint{}
	infinity.y.SetInt(1)
	var g projectivePoint
	g.pick(&bases()[0], 1)
	negative := g
	negative.y.Negate(1).Normalize()
	f := func(name string, a, b projectivePoint, multiple byte) {
		t.Helper()
		a.add(&b)
		if multiple == 0 {
			if !a.z.IsZero() {
				t.Errorf("%s is not infinity", name)
			}
			return
		}
		var want projectivePoint
		want.pick(&bases()[0], uint64(multiple))
		a.z.Inverse()
		a.x.Mul(&a.z).Normalize()
		a.y.Mul(&a.z).Normalize()
		if !a.x.Equals(&want.x) || !a.y.Equals(&want.y) {
			t.Errorf("%s is not %d·G", name, multiple)
		}
	}
	f("infinity + infinity", infinity, infinity, 0)
	f("infinity + G", infinity, g, 1)
	f("G + infinity", g, infinity, 1)
	f("G + G", g, g, 2)
	f("G - G", g, negative, 0)
}
