package secp

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

var (
	order, _  = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
	lambda, _ = new(big.Int).SetString("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72", 16)
)

// affine is a point in decred's arithmetic, the oracle.
type affine struct{ x, y *big.Int }

// times returns k·g.
func times(k *big.Int) affine {
	var scalar secp256k1.ModNScalar
	scalar.SetByteSlice(new(big.Int).Mod(k, order).Bytes())
	var out secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(&scalar, &out)
	out.ToAffine()
	return affine{new(big.Int).SetBytes(out.X.Bytes()[:]), new(big.Int).SetBytes(out.Y.Bytes()[:])}
}

// onCurve returns the affine point for Jacobian coordinates on the curve of
// coordinate scale (1 for secp256k1 itself).
func (v jacobian) onCurve(scale limbs) affine {
	z := mod(new(big.Int).Mul(v.z.value(), scale.value()))
	inv := new(big.Int).ModInverse(z, p)
	if inv == nil {
		return affine{new(big.Int), new(big.Int)}
	}
	zz := mod(new(big.Int).Mul(inv, inv))
	x := mod(new(big.Int).Mul(v.x.value(), zz))
	y := mod(zz.Mul(zz, inv).Mul(zz, v.y.value()))
	return affine{x, y}
}

func (a affine) equal(b affine) bool { return a.x.Cmp(b.x) == 0 && a.y.Cmp(b.y) == 0 }

// sums is the state of sixteen sums: a point k·G in each lane with its table.
type sums struct {
	keys   [2][Lanes]*big.Int
	x, y   [2]Element
	m      Multiples
	own    [2]Table
	digits [2]Digits
	acc    Pair
}

func newSums(s *source) *sums {
	var out sums
	for g := range out.keys {
		for i := range Lanes {
			k := new(big.Int).SetUint64(s.Uint64())
			k.Lsh(k, uint(s.IntN(190))).Add(k, big.NewInt(1+int64(s.IntN(100))))
			k.Mod(k, order)
			out.keys[g][i] = k
			point := times(k)
			out.x[g].setLane(i, fromBig(point.x))
			out.y[g].setLane(i, fromBig(point.y))
		}
	}
	for g := range out.digits {
		for w := range 5 {
			for i := range Lanes {
				out.digits[g][w][i] = s.Uint64()
			}
		}
	}
	return &out
}

// digit returns the odd number that lane i of group g reads at bit.
func (u *sums) digit(g, i, bit, width int, flip uint64) *big.Int {
	var v big.Int
	for w := 5; w >= 0; w-- {
		v.Add(v.Lsh(&v, 64), new(big.Int).SetUint64(u.digits[g][w][i]))
	}
	v.Rsh(&v, uint(bit)).And(&v, big.NewInt(1<<width-1))
	n := 2*v.Int64() - (1<<width - 1)
	if flip>>i&1 == 1 {
		n = -n
	}
	return big.NewInt(n)
}

// sharedOfG is the shared table of G, from the oracle.
func sharedOfG() *SharedTable {
	var t SharedTable
	two := times(big.NewInt(2))
	var step, sum secp256k1.JacobianPoint
	step = secp256k1.MakeJacobianPoint(fieldVal(two.x), fieldVal(two.y), fieldVal(big.NewInt(1)))
	one := times(big.NewInt(1))
	sum = secp256k1.MakeJacobianPoint(fieldVal(one.x), fieldVal(one.y), fieldVal(big.NewInt(1)))
	for i := range t {
		sum.ToAffine()
		x, y := new(big.Int).SetBytes(sum.X.Bytes()[:]), new(big.Int).SetBytes(sum.Y.Bytes()[:])
		xw, yw := fromBig(x).packed(), fromBig(y).packed()
		copy(t[i][:4], xw[:])
		copy(t[i][4:], yw[:])
		var next secp256k1.JacobianPoint
		secp256k1.AddNonConst(&sum, &step, &next)
		sum = next
	}
	return &t
}

func fieldVal(n *big.Int) *secp256k1.FieldVal {
	var v secp256k1.FieldVal
	v.SetByteSlice(n.Bytes())
	return &v
}

// TestSumsFollowTheCurve walks load, doublings and both additions, and compares
// every lane with the oracle after each.
func TestSumsFollowTheCurve(t *testing.T) {
	shared := sharedOfG()
	eachKernel(t, func(t *testing.T, k Kernel) {
		for seed := range uint64(4) {
			s := newSource(seed)
			u := newSums(s)
			k.Multiples(&u.m, &u.x, &u.y)
			k.Tabulate(&u.own, &u.m)
			var want [2][Lanes]*big.Int
			check := func(what string, change func(g, i int, v *big.Int) *big.Int) {
				t.Helper()
				for g := range want {
					checkTight(t, what, &u.acc[g].X)
					checkTight(t, what, &u.acc[g].Y)
					checkTight(t, what, &u.acc[g].Z)
					for i := range Lanes {
						v := change(g, i, want[g][i])
						want[g][i] = v.Mod(v, order)
						got := u.acc[g].lane(i).onCurve(u.m.Z[g].lane(i))
						if expect := times(v); !got.equal(expect) {
							t.Fatalf("seed %d, %s, group %d, lane %d: %v, want %v", seed, what, g, i, got, expect)
						}
					}
				}
			}
			bit := s.IntN(200)
			step := StepAt(bit, false)
			step.Flip = [2]uint64{s.Uint64() & 0xff, s.Uint64() & 0xff}
			k.Load(&u.acc, &u.own, &u.digits, &step)
			check("load", func(g, i int, _ *big.Int) *big.Int {
				return new(big.Int).Mul(u.keys[g][i], u.digit(g, i, bit, 5, step.Flip[g]))
			})
			for round := range 12 {
				n := 1 + s.IntN(5)
				k.Double(&u.acc, n)
				check("double", func(_, _ int, v *big.Int) *big.Int {
					return new(big.Int).Mul(v, big.NewInt([]int64{1, -2, 4, -8, 16, -32}[n]))
				})
				bit := s.IntN(300)
				step := StepAt(bit, round%3 == 1)
				step.Flip = [2]uint64{s.Uint64() & 0xff, s.Uint64() & 0xff}
				if round%3 == 2 {
					k.AddShared(&u.acc, shared, &u.digits, &step, &u.m.Z)
					check("add shared", func(g, i int, v *big.Int) *big.Int {
						v = new(big.Int).Add(v, u.digit(g, i, bit, 13, step.Flip[g]))
						return v.Neg(v)
					})
					continue
				}
				k.AddOwn(&u.acc, &u.own, &u.digits, &step)
				check("add own", func(g, i int, v *big.Int) *big.Int {
					add := new(big.Int).Mul(u.keys[g][i], u.digit(g, i, bit, 5, step.Flip[g]))
					if step.endo == 1 {
						add.Mul(add, lambda)
					}
					v = add.Add(add, v)
					return v.Neg(v)
				})
			}
		}
	})
}

// TestEqualSummandsLeaveZeroZ adds a point to itself and to its negation: both
// must leave Z = 0 mod p, and every later routine must keep it.
func TestEqualSummandsLeaveZeroZ(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		u := newSums(newSource(5))
		k.Multiples(&u.m, &u.x, &u.y)
		k.Tabulate(&u.own, &u.m)
		for _, flip := range []uint64{0, 0x55, 0xff} {
			step := StepAt(0, false)
			k.Load(&u.acc, &u.own, &u.digits, &step)
			step.Flip = [2]uint64{flip, ^flip & 0xff}
			k.AddOwn(&u.acc, &u.own, &u.digits, &step)
			k.Double(&u.acc, 3)
			step = StepAt(40, true)
			k.AddOwn(&u.acc, &u.own, &u.digits, &step)
			for g := range u.acc {
				for i := range Lanes {
					if z := mod(u.acc[g].Z.lane(i).value()); z.Sign() != 0 {
						t.Errorf("flip %x, group %d, lane %d: Z = %x after an exceptional addition", flip, g, i, z)
					}
				}
			}
		}
	})
}

// FuzzPointKernelsAgree holds every kernel's point routines to the generic ones
// on coordinates that need not be on the curve, limb for limb.
func FuzzPointKernelsAgree(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	shared := randomShared()
	f.Fuzz(func(t *testing.T, seed uint64) { comparePoints(t, seed, shared) })
}

// TestPointKernelsAgree is the fuzz property on many seeds: ten thousand steps
// of sixteen lanes in the ordinary run.
func TestPointKernelsAgree(t *testing.T) {
	shared := randomShared()
	for seed := range uint64(*rounds / 4) {
		comparePoints(t, seed+1000, shared)
	}
}

func randomShared() *SharedTable {
	shared := new(SharedTable)
	fill := newSource(99)
	for i := range shared {
		for w := range shared[i] {
			shared[i][w] = fill.Uint64()
		}
	}
	return shared
}

func comparePoints(t *testing.T, seed uint64, shared *SharedTable) {
	run := func(k Kernel) (acc Pair, own [2]Table, m Multiples) {
		s := newSource(seed)
		x := [2]Element{s.element(false), s.element(false)}
		y := [2]Element{s.element(false), s.element(false)}
		k.Multiples(&m, &x, &y)
		k.Tabulate(&own, &m)
		var digits [2]Digits
		for g := range digits {
			for w := range 5 {
				for i := range Lanes {
					digits[g][w][i] = s.Uint64()
				}
			}
		}
		for g := range acc {
			acc[g] = Point{s.element(false), s.element(false), s.element(false)}
		}
		for range 20 {
			step := StepAt(s.IntN(320), s.IntN(2) == 0)
			step.Flip = [2]uint64{s.Uint64() & 0xff, s.Uint64() & 0xff}
			switch s.IntN(6) {
			case 0:
				k.Load(&acc, &own, &digits, &step)
			case 1, 2:
				k.AddOwn(&acc, &own, &digits, &step)
			case 3:
				k.AddShared(&acc, shared, &digits, &step, &m.Z)
			default:
				k.Double(&acc, 1+s.IntN(5))
			}
		}
		return acc, own, m
	}
	acc, own, m := run(Kernels(cpu.Features{})[0])
	for _, k := range Kernels(cpu.Detect()) {
		gotAcc, gotOwn, gotM := run(k)
		if gotM != m || gotOwn != own || gotAcc != acc {
			t.Errorf("seed %d: %s differs from generic (multiples %t, tables %t, sums %t)",
				seed, k.Name, gotM != m, gotOwn != own, gotAcc != acc)
		}
	}
}

func BenchmarkPoint(b *testing.B) {
	shared := sharedOfG()
	u := newSums(newSource(6))
	for _, k := range Kernels(cpu.Detect()) {
		k.Multiples(&u.m, &u.x, &u.y)
		k.Tabulate(&u.own, &u.m)
		step := StepAt(0, false)
		k.Load(&u.acc, &u.own, &u.digits, &step)
		step = StepAt(70, true)
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"double", func() { k.Double(&u.acc, 5) }},
			{"addOwn", func() {
				for range 5 {
					k.AddOwn(&u.acc, &u.own, &u.digits, &step)
				}
			}},
			{"addShared", func() {
				for range 5 {
					k.AddShared(&u.acc, shared, &u.digits, &step, &u.m.Z)
				}
			}},
			{"table", func() {
				for range 5 {
					k.Multiples(&u.m, &u.x, &u.y)
					k.Tabulate(&u.own, &u.m)
				}
			}},
		} {
			b.Run(fmt.Sprintf("kernel=%s/op=%s", k.Name, op.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					op.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5/(2*Lanes), "ns/lane")
			})
		}
	}
}

func (a affine) String() string { return fmt.Sprintf("(%x, %x)", a.x, a.y) }
