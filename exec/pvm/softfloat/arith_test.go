package softfloat_test

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	. "github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

var (
	pairs = flag.Int("pairs", 100_000, "operands per operation that are compared with the processor")
	seed  = flag.Uint64("seed", 20260101, "where random operands start")
)

// canonical maps what the processor answers to our one NaN.
func canonical(f float64) uint64 {
	if f != f {
		return NaN
	}
	return math.Float64bits(f)
}

// operand draws encodings where rounding, cancellation and the ends of the
// range are likely: exponents near one another and near the borders, runs of
// ones and zeros in the fraction.
func operand(r *rand.Rand, near uint64) uint64 {
	x := r.Uint64()
	switch r.IntN(8) {
	case 0:
		return x
	case 1: // small integers and their halves
		return math.Float64bits(float64(int64(x)>>uint(20+r.IntN(44))) / 4)
	case 2, 3: // an exponent near the other operand's
		exp := int(near>>52&0x7ff) + r.IntN(120) - 60
		exp = max(min(exp, 0x7fe), 0)
		x = x&^(0x7ff<<52) | uint64(exp)<<52
	case 4: // the ends of the range
		ends := []uint64{0, 1, 2, 53, 0x3ff, 0x3fe, 0x7fe, 0x7fd, 0x7ff, 0x433, 0x432, 0x434}
		x = x&^(0x7ff<<52) | ends[r.IntN(len(ends))]<<52
	case 5: // the other operand's neighbourhood, either sign
		return near + uint64(r.IntN(5)) - 2 ^ x&(1<<63)
	}
	switch r.IntN(4) {
	case 0:
		x &^= 1<<uint(r.IntN(53)) - 1
	case 1:
		x |= 1<<uint(r.IntN(53)) - 1
	case 2:
		x = x&^(1<<52-1) | 1<<uint(r.IntN(52))
	}
	return x
}

func TestArithmeticEqualsProcessor(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("SKIPPED: the oracle is a processor whose binary64 is IEEE 754's; runs on amd64 and arm64")
	}
	ops := []struct {
		name string
		ours func(a, b, c uint64) uint64
		host func(a, b, c float64) float64
	}{
		{"add", func(a, b, _ uint64) uint64 { return Add(a, b) }, func(a, b, _ float64) float64 { return a + b }},
		{"sub", func(a, b, _ uint64) uint64 { return Sub(a, b) }, func(a, b, _ float64) float64 { return a - b }},
		{"mul", func(a, b, _ uint64) uint64 { return Mul(a, b) }, func(a, b, _ float64) float64 { return a * b }},
		{"div", func(a, b, _ uint64) uint64 { return Div(a, b) }, func(a, b, _ float64) float64 { return a / b }},
		{"fma", FMA, math.FMA},
		{"sqrt", func(a, _, _ uint64) uint64 { return Sqrt(a) }, func(a, _, _ float64) float64 { return math.Sqrt(a) }},
		{"rem", func(a, b, _ uint64) uint64 { return Rem(a, b) }, func(a, b, _ float64) float64 { return math.Mod(a, b) }},
		{"remainder", func(a, b, _ uint64) uint64 { return Remainder(a, b) }, func(a, b, _ float64) float64 { return math.Remainder(a, b) }},
		{"floor", func(a, _, _ uint64) uint64 { return Floor(a) }, func(a, _, _ float64) float64 { return math.Floor(a) }},
		{"ceil", func(a, _, _ uint64) uint64 { return Ceil(a) }, func(a, _, _ float64) float64 { return math.Ceil(a) }},
		{"trunc", func(a, _, _ uint64) uint64 { return Trunc(a) }, func(a, _, _ float64) float64 { return math.Trunc(a) }},
		{"round even", func(a, _, _ uint64) uint64 { return RoundEven(a) }, func(a, _, _ float64) float64 { return math.RoundToEven(a) }},
		{"next after", func(a, b, _ uint64) uint64 { return NextAfter(a, b) }, func(a, b, _ float64) float64 { return math.Nextafter(a, b) }},
	}
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(*seed, 1))
			for range *pairs {
				a := operand(r, One)
				b := operand(r, a)
				c := operand(r, Mul(a, b))
				if op.name == "next after" && Equal(a, b) {
					continue
				}
				want := canonical(op.host(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)))
				if got := op.ours(a, b, c); got != want {
					t.Fatalf("seed %d: %s(%#x, %#x, %#x) = %#x, the processor says %#x", *seed, op.name, a, b, c, got, want)
				}
			}
		})
	}
}

func TestComparisonEqualsProcessor(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 2))
	for range *pairs {
		a := operand(r, One)
		b := operand(r, a)
		fa, fb := math.Float64frombits(a), math.Float64frombits(b)
		if Equal(a, b) != (fa == fb) || Less(a, b) != (fa < fb) || LessEqual(a, b) != (fa <= fb) {
			t.Fatalf("seed %d: %#x against %#x: equal %v, less %v, less or equal %v", *seed, a, b, Equal(a, b), Less(a, b), LessEqual(a, b))
		}
		c, ordered := Compare(a, b)
		if ordered != (fa == fa && fb == fb) || ordered && (c < 0) != (fa < fb) {
			t.Fatalf("seed %d: Compare(%#x, %#x) = %d, %v", *seed, a, b, c, ordered)
		}
	}
}

// TestCompareWithIntegers holds exact comparison to big.Float's.
func TestCompareWithIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 3))
	for range 50_000 {
		i := int64(r.Uint64()) >> uint(r.IntN(64))
		a := FromInt64(i)
		if r.IntN(2) == 0 {
			a = operand(r, a)
		} else {
			a += uint64(r.IntN(3)) - 1
		}
		n := new(big.Int).Lsh(big.NewInt(i), uint(r.IntN(2)*r.IntN(1100)))
		checkCompare(t, a, i, n)
	}
	for _, a := range []uint64{0, NegZero, 1, Inf, NegInf, NaN, Max, One, Half, FromInt64(-1 << 63), FromUint64(1 << 63)} {
		for _, i := range []int64{0, 1, -1, 1<<63 - 1, -1 << 63, 1 << 53, 1<<53 + 1} {
			checkCompare(t, a, i, new(big.Int).Lsh(big.NewInt(i), 971))
		}
	}
}

func checkCompare(t *testing.T, a uint64, i int64, n *big.Int) {
	t.Helper()
	f := math.Float64frombits(a)
	c, ordered := CompareInt64(a, i)
	cBig, orderedBig := CompareBig(a, n)
	if f != f {
		if ordered || orderedBig {
			t.Fatalf("NaN compares with %d", i)
		}
		return
	}
	exact := new(big.Float).SetPrec(3000).SetFloat64(f)
	if want := exact.Cmp(new(big.Float).SetPrec(3000).SetInt64(i)); c != want || !ordered {
		t.Fatalf("seed %d: %v against %d: %d, want %d", *seed, f, i, c, want)
	}
	if want := exact.Cmp(new(big.Float).SetPrec(3000).SetInt(n)); cBig != want || !orderedBig {
		t.Fatalf("seed %d: %v against %d: %d, want %d", *seed, f, n, cBig, want)
	}
}

func TestConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 4))
	for range *pairs {
		u := r.Uint64() >> uint(r.IntN(64))
		if r.IntN(2) == 0 {
			u |= 1<<uint(r.IntN(64)) - 1
		}
		if got, want := FromUint64(u), math.Float64bits(float64(u)); got != want {
			t.Fatalf("FromUint64(%d) = %#x, want %#x", u, got, want)
		}
		if got, want := FromInt64(int64(u)), math.Float64bits(float64(int64(u))); got != want {
			t.Fatalf("FromInt64(%d) = %#x, want %#x", int64(u), got, want)
		}
		a := operand(r, FromUint64(u))
		f := math.Float64frombits(a)
		whole, fits := ToInt64(a)
		if in := f > -9223372036854777856 && f < 9223372036854775808; fits != in || in && whole != int64(f) {
			t.Fatalf("ToInt64(%v) = %d, %v", f, whole, fits)
		}
		if got, want := FromBinary32(uint32(u)), canonical(float64(math.Float32frombits(uint32(u)))); got != want {
			t.Fatalf("FromBinary32(%#x) = %#x, want %#x", uint32(u), got, want)
		}
		if r.IntN(2) == 0 { // where binary32 has its range
			a = a&^(0x7ff<<52) | uint64(1023-160+r.IntN(300))<<52
			f = math.Float64frombits(a)
		}
		enc, ok := ToBinary32(a)
		if f != f {
			if enc != 0x7fc00000 || !ok {
				t.Fatalf("ToBinary32(NaN) = %#x", enc)
			}
		} else if want := math.Float32bits(float32(f)); enc != want || ok != (math.IsInf(f, 0) || !math.IsInf(float64(float32(f)), 0)) {
			t.Fatalf("ToBinary32(%v) = %#x, %v, want %#x", f, enc, ok, want)
		}
	}
}

func TestBigConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 5))
	for range 20_000 {
		n := new(big.Int).SetUint64(r.Uint64())
		n.Lsh(n, uint(r.IntN(1100))).Add(n, big.NewInt(int64(r.IntN(3)-1)))
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		want, _ := new(big.Float).SetInt(n).Float64()
		got, ok := FromBig(n)
		if got != math.Float64bits(want) || ok == math.IsInf(want, 0) {
			t.Fatalf("FromBig(%d) = %#x, %v, want %v", n, got, ok, want)
		}
		d := new(big.Int).SetUint64(r.Uint64() | 1)
		d.Lsh(d, uint(r.IntN(1200)))
		want, _ = new(big.Rat).SetFrac(n, d).Float64()
		if got, _ := FromRatio(n, d); got != math.Float64bits(want) && n.Sign() != 0 {
			t.Fatalf("FromRatio(%d, %d) = %#x, want %v", n, d, got, want)
		}
		a := operand(r, got)
		if !IsFinite(a) {
			continue
		}
		f := math.Float64frombits(a)
		exact, _ := new(big.Float).SetFloat64(f).Int(nil)
		if whole, ok := ToBig(a); !ok || whole.Cmp(exact) != 0 {
			t.Fatalf("ToBig(%v) = %v", f, whole)
		}
		num, den, _ := Ratio(a)
		if back := new(big.Rat).SetFrac(num, den); back.Cmp(new(big.Rat).SetFloat64(f)) != 0 || back.Denom().Cmp(den) != 0 {
			t.Fatalf("Ratio(%v) = %v/%v", f, num, den)
		}
	}
}

// TestBinary16 walks all of the format: widening and narrowing are inverse, and
// every midpoint goes to the even neighbour, its neighbours to the nearer.
func TestBinary16(t *testing.T) {
	for enc := range uint64(0x7c00) {
		a := FromBinary16(uint16(enc))
		for _, s := range []uint64{0, 1} {
			if got, ok := ToBinary16(a | s<<63); got != uint16(enc|s<<15) || !ok {
				t.Fatalf("%#x widens to %#x and narrows to %#x", enc, a, got)
			}
		}
		if enc+1 == 0x7c00 {
			break
		}
		b := FromBinary16(uint16(enc + 1))
		mid := Mul(Add(a, b), Half)
		for _, c := range []struct{ a, want uint64 }{{mid, enc + enc&1}, {mid - 1, enc}, {mid + 1, enc + 1}} {
			if got, ok := ToBinary16(c.a); uint64(got) != c.want || !ok {
				t.Fatalf("ToBinary16(%s) = %#x, want %#x", Repr(c.a), got, c.want)
			}
		}
	}
	over := FromInt64(65520) // the midpoint above the largest
	if got, ok := ToBinary16(over - 1); got != 0x7bff || !ok {
		t.Errorf("below the midpoint: %#x, %v", got, ok)
	}
	if got, ok := ToBinary16(over); got != 0x7c00 || ok {
		t.Errorf("overflow: %#x, %v", got, ok)
	}
}

func TestScaling(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 6))
	for range *pairs {
		a := operand(r, One)
		f := math.Float64frombits(a)
		m, e := Frexp(a)
		wantM, wantE := math.Frexp(f)
		if IsFinite(a) && (m != canonical(wantM) || e != wantE) {
			t.Fatalf("Frexp(%v) = %#x, %d, want %v, %d", f, m, e, wantM, wantE)
		}
		by := r.IntN(4600) - 2300
		if r.IntN(2) == 0 { // to the border of the subnormal values
			by = -1074 - e + r.IntN(60)
		}
		want := new(big.Float)
		if IsFinite(a) {
			want.SetMantExp(want.SetFloat64(f), by)
			exact, _ := want.Float64()
			if got := Ldexp(a, by); got != math.Float64bits(exact) {
				t.Fatalf("Ldexp(%v, %d) = %#x, want %v", f, by, got, exact)
			}
		}
		frac, whole := Modf(a)
		wantWhole, wantFrac := math.Modf(f)
		if IsFinite(a) && (whole != canonical(wantWhole) || frac != canonical(math.Copysign(wantFrac, f))) {
			t.Fatalf("Modf(%v) = %#x, %#x", f, frac, whole)
		}
	}
}
