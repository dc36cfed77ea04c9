package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/libm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Encodings of the constants of math.
const (
	mathPi       = 0x400921fb54442d18
	mathE        = 0x4005bf0a8b145769
	mathTau      = 0x401921fb54442d18
	radToDegrees = 0x404ca5dc1a63c1f8 // 180/pi
	degToRadians = 0x3f91df46a2529d39 // pi/180
)

func loadMath(m *vm.Machine) (*vm.Module, error) {
	mod := m.NewModule("math")
	defineReals(m, mod)
	mod.Define(m,
		def("log", 0, -1, mathLog),
		def("log2", 1, 1, integerLog(libm.Log2, bigLog2)),
		def("log10", 1, 1, integerLog(libm.Log10, bigLog10)),
		def("ceil", 1, 1, rounding("__ceil__", softfloat.Ceil)),
		def("floor", 1, 1, rounding("__floor__", softfloat.Floor)),
		def("trunc", 1, 1, mathTrunc),
		def("frexp", 1, 1, mathFrexp),
		def("ldexp", 2, 2, mathLdexp),
		def("modf", 1, 1, mathModf),
		def("fsum", 1, 1, mathFsum),
		def("hypot", 0, -1, mathHypot),
		def("dist", 2, 2, mathDist),
		vm.Def{Name: "prod", Min: 1, Max: 1, Params: []string{"", "start"}, Fn: mathProd},
		vm.Def{Name: "isclose", Min: 2, Max: 2, Params: []string{"a", "b", "rel_tol", "abs_tol"}, Fn: mathIsclose},
		def("gcd", 0, -1, mathGCD),
		def("lcm", 0, -1, mathLCM),
		def("factorial", 1, 1, mathFactorial),
		def("comb", 2, 2, mathComb),
		def("perm", 1, 2, mathPerm),
		def("isqrt", 1, 1, mathIsqrt),
	)
	// Bounded: by five names; once, when the library is loaded.
	for _, c := range []struct {
		name string
		bits uint64
	}{{"pi", mathPi}, {"e", mathE}, {"tau", mathTau}, {"inf", softfloat.Inf}, {"nan", softfloat.NaN}} {
		mod.Set(m, c.name, vm.FloatBits(c.bits))
	}
	return mod, nil
}

// defineReals adds the functions of one or two floats.
func defineReals(m *vm.Machine, mod *vm.Module) {
	total := func(fn func(uint64) uint64) func(uint64) (uint64, libm.Verdict) {
		return func(x uint64) (uint64, libm.Verdict) { return fn(x), libm.OK }
	}
	for _, f := range []struct {
		name string
		fn   func(uint64) (uint64, libm.Verdict)
	}{
		{"acos", libm.Acos},
		{"acosh", libm.Acosh},
		{"asin", libm.Asin},
		{"asinh", libm.Asinh},
		{"atan", total(libm.Atan)},
		{"atanh", libm.Atanh},
		{"cbrt", total(libm.Cbrt)},
		{"cos", libm.Cos},
		{"cosh", libm.Cosh},
		{"degrees", total(func(x uint64) uint64 { return softfloat.Mul(x, radToDegrees) })},
		{"erf", total(libm.Erf)},
		{"erfc", total(libm.Erfc)},
		{"exp", libm.Exp},
		{"exp2", libm.Exp2},
		{"expm1", libm.Expm1},
		{"fabs", total(softfloat.Abs)},
		{"gamma", libm.Gamma},
		{"lgamma", libm.Lgamma},
		{"log1p", libm.Log1p},
		{"radians", total(func(x uint64) uint64 { return softfloat.Mul(x, degToRadians) })},
		{"sin", libm.Sin},
		{"sinh", libm.Sinh},
		{"sqrt", libm.Sqrt},
		{"tan", libm.Tan},
		{"tanh", libm.Tanh},
		{"ulp", total(softfloat.Ulp)},
	} {
		mod.Define(m, def(f.name, 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := real(m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			m.Charge(functions(m, f.name) * m.Prices().FloatFunc)
			return verdict(m, f.fn, x)
		}))
	}
	for _, f := range []struct {
		name string
		fn   func(x, y uint64) (uint64, libm.Verdict)
	}{
		{"atan2", func(x, y uint64) (uint64, libm.Verdict) { return libm.Atan2(x, y), libm.OK }},
		{"copysign", func(x, y uint64) (uint64, libm.Verdict) { return softfloat.CopySign(x, y), libm.OK }},
		{"nextafter", func(x, y uint64) (uint64, libm.Verdict) { return softfloat.NextAfter(x, y), libm.OK }},
		{"fmod", fmod},
		{"remainder", remainder},
		{"pow", libm.Pow},
	} {
		mod.Define(m, def(f.name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := real(m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			y, err := real(m, a.Values[1])
			if err != nil {
				return vm.None, err
			}
			m.Charge(functions(m, f.name) * m.Prices().FloatFunc)
			r, v := f.fn(x, y)
			return judged(m, r, v)
		}))
	}
	// Bounded: by three names; once, when the library is loaded.
	for _, f := range []struct {
		name string
		fn   func(uint64) bool
	}{{"isfinite", softfloat.IsFinite}, {"isinf", softfloat.IsInf}, {"isnan", softfloat.IsNaN}} {
		mod.Define(m, def(f.name, 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := real(m, a.Values[0])
			return vm.Bool(err == nil && f.fn(x)), err
		}))
	}
}

// functions is how many functions one counts for that makes several of them or
// sums long series.
func functions(m *vm.Machine, name string) code.Cycles {
	switch name {
	case "gamma", "lgamma", "erf", "erfc":
		return m.Work().SeriesFunc
	case "tan", "exp2", "cbrt":
		return m.Work().DoubleFunc
	case "pow":
		return m.Work().PowerFunc
	}
	return 1
}

func verdict(m *vm.Machine, fn func(uint64) (uint64, libm.Verdict), x uint64) (vm.Value, error) {
	r, v := fn(x)
	return judged(m, r, v)
}

// judged raises what a verdict asks for.
func judged(m *vm.Machine, r uint64, v libm.Verdict) (vm.Value, error) {
	switch v {
	case libm.Domain:
		return vm.None, m.ValueError("math domain error")
	case libm.Range:
		return vm.None, m.Raise(m.Builtin("OverflowError"), "math range error")
	}
	return vm.FloatBits(r), nil
}

func fmod(x, y uint64) (uint64, libm.Verdict) {
	return noNewNaN(softfloat.Rem(x, y), x, y)
}

func remainder(x, y uint64) (uint64, libm.Verdict) {
	return noNewNaN(softfloat.Remainder(x, y), x, y)
}

// noNewNaN finds the domain error in a NaN that comes of no NaN.
func noNewNaN(r, x, y uint64) (uint64, libm.Verdict) {
	if softfloat.IsNaN(r) && !softfloat.IsNaN(x) && !softfloat.IsNaN(y) {
		return r, libm.Domain
	}
	return r, libm.OK
}

// rounding is floor and ceil: by the special method, or of a float.
func rounding(name string, fn func(uint64) uint64) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		v := a.Values[0]
		if x, ok := v.FloatEncoding(); ok && m.ClassOf(v) == m.Builtin("float") {
			return wholeOf(m, fn(x))
		}
		if special, ok := special(m, v, name); ok {
			return m.Call(special, v)
		}
		x, err := real(m, v)
		if err != nil {
			return vm.None, err
		}
		return wholeOf(m, fn(x))
	}
}

func mathTrunc(m *vm.Machine, a vm.Args) (vm.Value, error) {
	v := a.Values[0]
	if fn, ok := special(m, v, "__trunc__"); ok {
		return m.Call(fn, v)
	}
	return vm.None, m.TypeError("type %s doesn't define __trunc__ method", m.TypeName(v))
}

func mathFrexp(m *vm.Machine, a vm.Args) (vm.Value, error) {
	x, err := real(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	frac, exp := softfloat.Frexp(x)
	return m.NewTuple([]vm.Value{vm.FloatBits(frac), vm.SmallInt(int64(exp))}), nil
}

// ldexpMax is beyond every exponent that makes a difference.
const ldexpMax = 1 << 14

func mathLdexp(m *vm.Machine, a vm.Args) (vm.Value, error) {
	x, err := real(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	n, ok := a.Values[1].BigInt()
	if !ok {
		return vm.None, m.TypeError("Expected an int as second argument to ldexp.")
	}
	exp := n.Sign() * ldexpMax
	if n.IsInt64() {
		exp = int(min(max(n.Int64(), -ldexpMax), ldexpMax))
	}
	r := softfloat.Ldexp(x, exp)
	if softfloat.IsInf(r) && softfloat.IsFinite(x) {
		return judged(m, r, libm.Range)
	}
	return vm.FloatBits(r), nil
}

func mathModf(m *vm.Machine, a vm.Args) (vm.Value, error) {
	x, err := real(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	frac, whole := softfloat.Modf(x)
	return m.NewTuple([]vm.Value{vm.FloatBits(frac), vm.FloatBits(whole)}), nil
}

// reals converts items, each charged for what the sums of them cost.
func reals(m *vm.Machine, items []vm.Value) ([]uint64, error) {
	m.ChargeEach(len(items), m.Work().SumTerm)
	m.Alloc(8 * len(items))
	xs := make([]uint64, len(items))
	// Paid: by the charge above, SumTerm each.
	for i, v := range items {
		var err error
		if xs[i], err = real(m, v); err != nil {
			return nil, err
		}
	}
	return xs, nil
}

// collected returns the items of an iterable in a tuple's slice, held until
// release.
func collected(m *vm.Machine, v vm.Value) (items []vm.Value, release func(), err error) {
	items, err = m.Collect(v)
	if err != nil {
		return nil, nil, err
	}
	mark := m.Hold(m.NewTuple(items))
	return items, func() { m.Release(mark) }, nil
}

func mathFsum(m *vm.Machine, a vm.Args) (vm.Value, error) {
	items, release, err := collected(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	defer release()
	xs, err := reals(m, items)
	if err != nil {
		return vm.None, err
	}
	m.Charge(m.Prices().FloatFunc)
	r, v := libm.Fsum(xs...)
	switch v {
	case libm.Domain:
		return vm.None, m.ValueError("-inf + inf in fsum")
	case libm.Range:
		return vm.None, m.Raise(m.Builtin("OverflowError"), "intermediate overflow in fsum")
	}
	return vm.FloatBits(r), nil
}

func mathHypot(m *vm.Machine, a vm.Args) (vm.Value, error) {
	xs, err := reals(m, a.Values)
	if err != nil {
		return vm.None, err
	}
	return hypotenuse(m, xs)
}

// hypotenuse is libm.Hypot, charged by the words that its exact sum has beyond a few: a
// square for each of xs, and a root.
func hypotenuse(m *vm.Machine, xs []uint64) (vm.Value, error) {
	words := libm.Span(xs...) / 64
	productWork(m, len(xs), words)
	productWork(m, 4*words, words)
	m.Charge(m.Prices().FloatFunc)
	return vm.FloatBits(libm.Hypot(xs...)), nil
}

func mathDist(m *vm.Machine, a vm.Args) (vm.Value, error) {
	var points [2][]vm.Value
	// Bounded: by two points.
	for i, v := range a.Values {
		items, release, err := collected(m, v)
		if err != nil {
			return vm.None, err
		}
		defer release()
		points[i] = items
	}
	if len(points[0]) != len(points[1]) {
		return vm.None, m.ValueError("both points must have the same number of dimensions")
	}
	p, err := reals(m, points[0])
	if err != nil {
		return vm.None, err
	}
	q, err := reals(m, points[1])
	if err != nil {
		return vm.None, err
	}
	// Paid: by reals, SumTerm each of both points.
	for i := range p {
		p[i] = softfloat.Sub(p[i], q[i])
	}
	return hypotenuse(m, p)
}

func mathProd(m *vm.Machine, a vm.Args) (vm.Value, error) {
	r, ok := given(a, 1)
	if !ok {
		r = vm.SmallInt(1)
	}
	mark := m.Hold(r)
	defer m.Release(mark)
	err := m.Each(a.Values[0], func(v vm.Value) error {
		var err error
		if r, err = m.Binary(vm.OpMul, r, v); err != nil {
			return err
		}
		m.Release(mark + 1)
		m.Hold(r)
		return nil
	})
	return r, err
}

func mathIsclose(m *vm.Machine, a vm.Args) (vm.Value, error) {
	xs := [4]uint64{2: 0x3e112e0be826d695} // 1e-09
	// Bounded: by four arguments.
	for i := range xs {
		v, ok := given(a, i)
		if !ok {
			continue
		}
		var err error
		if xs[i], err = real(m, v); err != nil {
			return vm.None, err
		}
	}
	x, y, rel, abs := xs[0], xs[1], xs[2], xs[3]
	if softfloat.Less(rel, 0) || softfloat.Less(abs, 0) {
		return vm.None, m.ValueError("tolerances must be non-negative")
	}
	if softfloat.Equal(x, y) {
		return vm.True, nil
	}
	if softfloat.IsInf(x) || softfloat.IsInf(y) {
		return vm.False, nil
	}
	diff := softfloat.Abs(softfloat.Sub(y, x))
	return vm.Bool(softfloat.LessEqual(diff, softfloat.Abs(softfloat.Mul(rel, y))) ||
		softfloat.LessEqual(diff, softfloat.Abs(softfloat.Mul(rel, x))) ||
		softfloat.LessEqual(diff, abs)), nil
}
