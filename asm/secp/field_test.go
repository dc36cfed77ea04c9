package secp

import (
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

var p, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", 16)

// rounds of the comparisons of kernels; a long run asks for more.
var rounds = flag.Int("rounds", 3200, "rounds of comparing kernels, 32 cases each")

// value is what limbs stand for, whatever their ranges.
func (v limbs) value() *big.Int {
	sum := new(big.Int)
	for i := 4; i >= 0; i-- {
		sum.Add(sum.Lsh(sum, 52), new(big.Int).SetUint64(v[i]))
	}
	return sum
}

func fromBig(n *big.Int) (v limbs) {
	n = new(big.Int).Set(n)
	for i := range v {
		v[i] = new(big.Int).And(n, big.NewInt(mask52)).Uint64()
		n.Rsh(n, 52)
	}
	return v
}

// mod returns n mod p, never negative.
func mod(n *big.Int) *big.Int { return n.Mod(n, p) }

const tightTop = 1<<48 + 1<<12

// edges are tight values around every boundary that a carry or a reduction
// could get wrong.
func edges() []limbs {
	var all []limbs
	for _, around := range []*big.Int{
		new(big.Int), p, new(big.Int).Lsh(big.NewInt(1), 256), new(big.Int).Rsh(p, 1),
	} {
		for d := int64(-3); d <= 3; d++ {
			if n := new(big.Int).Add(around, big.NewInt(d)); n.Sign() >= 0 {
				all = append(all, fromBig(n))
			}
		}
	}
	for ones := range 32 { // every set of limbs all ones
		var v limbs
		for i := range v {
			if ones>>i&1 == 1 {
				v[i] = mask52
			}
		}
		if ones>>4 == 1 {
			v[4] = tightTop - 1
		}
		all = append(all, v)
	}
	return append(all, limbs{0, 0, 0, 0, 1 << 48}, limbs{mask52, mask52, mask52, mask52, mask48})
}

// source draws elements biased to the edges.
type source struct {
	*rand.Rand
	edges []limbs
}

func newSource(seed uint64) *source {
	return &source{rand.New(rand.NewPCG(seed, 0)), edges()}
}

func (s *source) limbs(factor bool) (v limbs) {
	if s.IntN(3) == 0 {
		return s.edges[s.IntN(len(s.edges))]
	}
	for i := range v {
		v[i] = s.Uint64() & mask52
		if s.IntN(8) == 0 {
			v[i] = mask52 - uint64(s.IntN(2))
		}
	}
	if !factor {
		v[4] %= tightTop
	}
	return v
}

func (s *source) element(factor bool) (e Element) {
	for i := range Lanes {
		e.setLane(i, s.limbs(factor))
	}
	return e
}

func (s *source) quad(factor bool) (q Quad) {
	for g := range q {
		q[g] = s.element(factor)
	}
	return q
}

func checkTight(t *testing.T, what string, e *Element) {
	t.Helper()
	for i := range Lanes {
		v := e.lane(i)
		if v[0]|v[1]|v[2]|v[3] > mask52 || v[4] >= tightTop {
			t.Fatalf("%s, lane %d: %x is not tight", what, i, v)
		}
	}
}

func eachKernel(t *testing.T, test func(t *testing.T, k Kernel)) {
	kernels := Kernels(cpu.Detect())
	if len(kernels) == 1 {
		t.Log("no kernel but the generic one runs on this machine or in this build")
	}
	for _, k := range kernels {
		t.Run("kernel="+k.Name, func(t *testing.T) { test(t, k) })
	}
}

// TestFieldFollowsIntegers holds every field routine to unlimited integers.
func TestFieldFollowsIntegers(t *testing.T) {
	const integerRounds = 1600 // of 32 cases
	eachKernel(t, func(t *testing.T, k Kernel) {
		s := newSource(1)
		for round := range integerRounds {
			var z Quad
			check := func(what string, want func(g, i int) *big.Int) {
				t.Helper()
				for g := range z {
					checkTight(t, what, &z[g])
					for i := range Lanes {
						if got, want := mod(z[g].lane(i).value()), mod(want(g, i)); got.Cmp(want) != 0 {
							t.Fatalf("seed 1, round %d, %s, group %d, lane %d: %x, want %x", round, what, g, i, got, want)
						}
					}
				}
			}
			x, y := s.quad(true), s.quad(true)
			xv := func(g, i int) *big.Int { return x[g].lane(i).value() }
			yv := func(g, i int) *big.Int { return y[g].lane(i).value() }
			k.Mul(&z, &x, &y)
			check("x·y", func(g, i int) *big.Int { return new(big.Int).Mul(xv(g, i), yv(g, i)) })
			for g := range z {
				k.MulOne(&z[g], &y[g], &x[g])
			}
			check("y·x", func(g, i int) *big.Int { return new(big.Int).Mul(xv(g, i), yv(g, i)) })
			n := 1 + s.IntN(4)
			power := new(big.Int).Lsh(big.NewInt(1), uint(n))
			k.Square(&z, &x, n)
			check("x^2^n", func(g, i int) *big.Int { return new(big.Int).Exp(xv(g, i), power, p) })
			for g := range z {
				k.SquareOne(&z[g], &x[g], n)
			}
			check("x^2^n alone", func(g, i int) *big.Int { return new(big.Int).Exp(xv(g, i), power, p) })
			x, y = s.quad(false), s.quad(false)
			k.Add(&z, &x, &y)
			check("x+y", func(g, i int) *big.Int { return new(big.Int).Add(xv(g, i), yv(g, i)) })
			k.Sub(&z, &x, &y)
			check("x-y", func(g, i int) *big.Int { return new(big.Int).Sub(xv(g, i), yv(g, i)) })
			z = x
			k.Normalize(&z)
			check("x", xv)
			for g := range z {
				for i := range Lanes {
					if z[g].lane(i).value().Cmp(p) >= 0 {
						t.Fatalf("x = %x normalized to %x, not below p", x[g].lane(i), z[g].lane(i))
					}
				}
			}
		}
	})
}

// TestFieldAllowsAliases writes each result over each argument.
func TestFieldAllowsAliases(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		s := newSource(2)
		for range 50 {
			x, y := s.quad(false), s.quad(false)
			for name, op := range map[string]func(z, x, y *Quad){"mul": k.Mul, "add": k.Add, "sub": k.Sub} {
				var want, same Quad
				op(&want, &x, &y)
				overX, overY := x, y
				op(&overX, &overX, &y)
				op(&overY, &x, &overY)
				if overX != want || overY != want {
					t.Fatalf("%s depends on where its result goes", name)
				}
				op(&want, &x, &x)
				same = x
				op(&same, &same, &same)
				if same != want {
					t.Fatalf("%s of one variable depends on where its result goes", name)
				}
			}
			var want Quad
			k.Square(&want, &x, 3)
			k.Square(&x, &x, 3)
			if x != want {
				t.Fatal("square depends on where its result goes")
			}
		}
	})
}

// FuzzKernelsAgree holds every kernel's field routines to the generic ones, limb
// for limb.
func FuzzKernelsAgree(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(compareFields)
}

// TestFieldKernelsAgree is the fuzz property on many seeds: 10^5 products and
// as many of each other operation in the ordinary run.
func TestFieldKernelsAgree(t *testing.T) {
	for seed := range uint64(*rounds) {
		compareFields(t, seed+1000)
	}
}

func compareFields(t *testing.T, seed uint64) {
	s := newSource(seed)
	generic := Kernels(cpu.Features{})[0]
	x, y := s.quad(true), s.quad(true)
	tx, ty := s.quad(false), s.quad(false)
	n := 1 + s.IntN(9)
	run := func(k Kernel) (out [8]Quad) {
		k.Mul(&out[0], &x, &y)
		k.Square(&out[1], &x, n)
		k.Add(&out[2], &tx, &ty)
		k.Sub(&out[3], &tx, &ty)
		out[4] = tx
		k.Normalize(&out[4])
		for g := range x {
			k.MulOne(&out[5][g], &x[g], &y[g])
			k.SquareOne(&out[6][g], &y[g], n)
		}
		return out
	}
	want := run(generic)
	for _, k := range Kernels(cpu.Detect()) {
		if run(k) != want {
			t.Errorf("seed %d: %s differs from generic", seed, k.Name)
		}
	}
}

func BenchmarkField(b *testing.B) {
	s := newSource(3)
	x := s.quad(true)
	for _, k := range Kernels(cpu.Detect()) {
		for _, op := range []struct {
			name string
			run  func(n int)
		}{
			{"mul", func(n int) {
				for range n {
					k.Mul(&x, &x, &x)
				}
			}},
			{"square", func(n int) { k.Square(&x, &x, n) }},
		} {
			b.Run(fmt.Sprintf("kernel=%s/op=%s", k.Name, op.name), func(b *testing.B) {
				b.ReportAllocs()
				const n = 100
				for b.Loop() {
					op.run(n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/(4*Lanes), "ns/element")
			})
		}
	}
}
