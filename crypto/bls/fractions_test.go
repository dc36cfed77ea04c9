package bls

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// Short factors are the factors: c/d = f modulo the group order, for each share
// of any set, in any order; and sets that they do not help have none.
func TestShortFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	r := bigOrder(t)
	used := 0
	check := func(indices []uint32) {
		t.Helper()
		f := shortFactors(indices)
		if f == nil {
			return
		}
		used++
		long := lagrangeAtZero(indices)
		inverse := big.NewInt(1)
		if f.inverted != nil {
			inverse = littleEndian(f.inverted)
		}
		for i, c := range f.over {
			got := littleEndian(c.value)
			if c.negative {
				got.Neg(got)
			}
			if got.BitLen() > f.bits {
				t.Errorf("%v: factor %d has %d bits, claimed %d", indices, i, got.BitLen(), f.bits)
			}
			got.Mod(got.Mul(got, inverse), r)
			if want := littleEndian(long[SecretKeySize*i:][:SecretKeySize]); got.Cmp(want) != 0 {
				t.Errorf("%v: factor %d is %v, want %v", indices, i, got, want)
			}
		}
	}
	for n := 1; n <= 40; n++ {
		for range 20 {
			set := rng.Perm(n + rng.IntN(n+1))[:n]
			indices := make([]uint32, n)
			for i, v := range set {
				indices[i] = uint32(v)
			}
			check(indices)
		}
	}
	check([]uint32{0, MaxShares - 1, 17})
	check([]uint32{1<<32 - 1, 0, 5})
	if used < 100 {
		t.Errorf("%d sets with short factors: the test shows little", used)
	}
	if shortFactors([]uint32{0, 1, 2}) == nil || shortFactors([]uint32{0, 1, 3}) == nil {
		t.Error("a committee of four has short factors")
	}
}

// Both forms of the factors combine the same points to the same signature.
func TestShortFactorsCombineAlike(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 11, 22} {
		_, shares, err := DealTrusted(make([]byte, 32), n+n/2, n)
		if err != nil {
			t.Fatal(err)
		}
		var indices []uint32
		var points []*Point
		for _, s := range shares[n/2:] {
			p, err := s.Key.Sign([]byte("ns"), []byte("m")).Point()
			if err != nil {
				t.Fatal(err)
			}
			indices, points = append(indices, s.Index), append(points, p)
		}
		l, err := NewLagrange(indices)
		if err != nil {
			t.Fatal(err)
		}
		if l.short == nil {
			t.Logf("%d shares: long factors only", n)
			continue
		}
		if got, want := l.short.combine(points).Compress(), l.combine(points).Compress(); string(got) != string(want) {
			t.Errorf("%d shares: short factors give another signature", n)
		}
	}
}

func BenchmarkCombine(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"3", 3}, {"7", 7}, {"22", 22}} {
		_, shares, err := DealTrusted(make([]byte, 32), c.n+c.n/2, c.n)
		if err != nil {
			b.Fatal(err)
		}
		var indices []uint32
		var points []*Point
		for _, s := range shares[:c.n] {
			p, err := s.Key.Sign([]byte("ns"), []byte("m")).Point()
			if err != nil {
				b.Fatal(err)
			}
			indices, points = append(indices, s.Index), append(points, p)
		}
		l, err := NewLagrange(indices)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/long", func(b *testing.B) {
			for b.Loop() {
				l.combine(points)
			}
		})
		if l.short != nil {
			b.Run(c.name+"/short", func(b *testing.B) {
				for b.Loop() {
					l.short.combine(points)
				}
			})
		}
	}
}
