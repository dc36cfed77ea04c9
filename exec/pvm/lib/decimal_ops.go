package lib

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var zero = new(big.Int)

type (
	unaryDecimal  func(c decimal.Context, x decimal.Decimal) (decimal.Decimal, decimal.Signal)
	binaryDecimal func(c decimal.Context, x, y decimal.Decimal) (decimal.Decimal, decimal.Signal)
)

// exactUnary and exactBinary make operations without conditions look like the
// others.
func exactUnary(fn func(decimal.Decimal) decimal.Decimal) unaryDecimal {
	return func(_ decimal.Context, x decimal.Decimal) (decimal.Decimal, decimal.Signal) { return fn(x), 0 }
}

func exactBinary(fn func(x, y decimal.Decimal) decimal.Decimal) binaryDecimal {
	return func(_ decimal.Context, x, y decimal.Decimal) (decimal.Decimal, decimal.Signal) { return fn(x, y), 0 }
}

func ordered(fn func(x, y decimal.Decimal) int) binaryDecimal {
	return exactBinary(func(x, y decimal.Decimal) decimal.Decimal { return decimal.FromBig(big.NewInt(int64(fn(x, y)))) })
}

// unaries are the operations of one Decimal. A method that is empty is the
// context's alone, and the other way round.
var unaries = [...]struct {
	method, context string
	work            decimal.Work
	fn              unaryDecimal
}{
	{"", "abs", decimal.Linear, decimal.Context.Abs},
	{"", "minus", decimal.Linear, decimal.Context.Minus},
	{"", "plus", decimal.Linear, decimal.Context.Plus},
	{"canonical", "canonical", decimal.Linear, exactUnary(decimal.Decimal.Canonical)},
	{"conjugate", "", decimal.Linear, exactUnary(decimal.Decimal.Canonical)},
	{"copy_abs", "copy_abs", decimal.Linear, exactUnary(decimal.Decimal.CopyAbs)},
	{"copy_negate", "copy_negate", decimal.Linear, exactUnary(decimal.Decimal.CopyNegate)},
	{"", "copy_decimal", decimal.Linear, exactUnary(decimal.Decimal.Canonical)},
	{"exp", "exp", decimal.Transcendental, decimal.Context.Exp},
	{"ln", "ln", decimal.Transcendental, decimal.Context.Ln},
	{"log10", "log10", decimal.Transcendental, decimal.Context.Log10},
	{"logb", "logb", decimal.Linear, decimal.Context.LogB},
	{"logical_invert", "logical_invert", decimal.Quotient, decimal.Context.Invert},
	{"next_minus", "next_minus", decimal.Linear, decimal.Context.NextMinus},
	{"next_plus", "next_plus", decimal.Linear, decimal.Context.NextPlus},
	{"normalize", "normalize", decimal.Quotient, decimal.Context.Reduce},
	{"sqrt", "sqrt", decimal.Quotient, decimal.Context.Sqrt},
	{"", "to_integral", decimal.Quotient, decimal.Context.ToIntegral},
	{"", "to_integral_value", decimal.Quotient, decimal.Context.ToIntegral},
	{"", "to_integral_exact", decimal.Quotient, decimal.Context.ToIntegralExact},
}

var binaries = [...]struct {
	method, context string
	work            decimal.Work
	fn              binaryDecimal
}{
	{"", "add", decimal.Linear, decimal.Context.Add},
	{"", "subtract", decimal.Linear, decimal.Context.Sub},
	{"", "multiply", decimal.Product, decimal.Context.Mul},
	{"", "divide", decimal.Quotient, decimal.Context.Quo},
	{"", "divide_int", decimal.Quotient, decimal.Context.QuoInt},
	{"", "remainder", decimal.Quotient, decimal.Context.Rem},
	{"", "quantize", decimal.Quotient, decimal.Context.Quantize},
	{"remainder_near", "remainder_near", decimal.Quotient, decimal.Context.RemNear},
	{"compare", "compare", decimal.Linear, decimal.Context.Compare},
	{"compare_signal", "compare_signal", decimal.Linear, decimal.Context.CompareSignal},
	{"compare_total", "compare_total", decimal.Linear, ordered(decimal.CmpTotal)},
	{"compare_total_mag", "compare_total_mag", decimal.Linear, ordered(decimal.CmpTotalMag)},
	{"copy_sign", "copy_sign", decimal.Linear, exactBinary(decimal.Decimal.CopySign)},
	{"logical_and", "logical_and", decimal.Quotient, decimal.Context.And},
	{"logical_or", "logical_or", decimal.Quotient, decimal.Context.Or},
	{"logical_xor", "logical_xor", decimal.Quotient, decimal.Context.Xor},
	{"max", "max", decimal.Linear, decimal.Context.Max},
	{"max_mag", "max_mag", decimal.Linear, decimal.Context.MaxMag},
	{"min", "min", decimal.Linear, decimal.Context.Min},
	{"min_mag", "min_mag", decimal.Linear, decimal.Context.MinMag},
	{"next_toward", "next_toward", decimal.Linear, decimal.Context.NextToward},
	{"rotate", "rotate", decimal.Quotient, decimal.Context.Rotate},
	{"scaleb", "scaleb", decimal.Linear, decimal.Context.ScaleB},
	{"shift", "shift", decimal.Quotient, decimal.Context.Shift},
}

// predicates are the questions.
var predicates = [...]struct {
	name   string
	fn     func(c decimal.Context, x decimal.Decimal) bool
	counts bool // the digits of the coefficient
}{
	{"is_canonical", plainly(decimal.Decimal.IsCanonical), false},
	{"is_finite", plainly(decimal.Decimal.IsFinite), false},
	{"is_infinite", plainly(decimal.Decimal.IsInf), false},
	{"is_nan", plainly(decimal.Decimal.IsNaN), false},
	{"is_qnan", plainly(decimal.Decimal.IsQNaN), false},
	{"is_snan", plainly(decimal.Decimal.IsSNaN), false},
	{"is_signed", plainly(decimal.Decimal.Signbit), false},
	{"is_zero", plainly(decimal.Decimal.IsZero), false},
	{"is_normal", decimal.Context.IsNormal, true},
	{"is_subnormal", decimal.Context.IsSubnormal, true},
}

func plainly(fn func(decimal.Decimal) bool) func(decimal.Context, decimal.Decimal) bool {
	return func(_ decimal.Context, x decimal.Decimal) bool { return fn(x) }
}

// pair converts both operands of a method, or of a context's function.
func (d *decimalModule) pair(m *vm.Machine, v, w vm.Value) (x, y decimal.Decimal, err error) {
	if x, err = d.operand(m, v); err != nil {
		return x, y, err
	}
	y, err = d.operand(m, w)
	return x, y, err
}

func (d *decimalModule) defineOperations() {
	// Bounded: by the table; once, when the library is loaded.
	for _, o := range unaries {
		run := func(m *vm.Machine, c *contextState, v vm.Value) (vm.Value, error) {
			x, err := d.operand(m, v)
			if err != nil {
				return vm.None, err
			}
			d.work(m, o.work, x)
			r, s := o.fn(d.ctx, x)
			return d.done(m, c, r, s)
		}
		if o.method != "" {
			d.class.Define(named(o.method, 1, []string{"self", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
				c, err := d.contextOf(m, orNone(a, 1))
				if err != nil {
					return vm.None, err
				}
				return run(m, c, a.Values[0])
			}))
		}
		if o.context != "" {
			d.context.Define(def(o.context, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
				c, err := payload[*contextState](m, a.Values[0])
				if err != nil {
					return vm.None, err
				}
				return run(m, c, a.Values[1])
			}))
		}
	}
	// Bounded: by the table; once, when the library is loaded.
	for _, o := range binaries {
		run := func(m *vm.Machine, c *contextState, v, w vm.Value) (vm.Value, error) {
			x, y, err := d.pair(m, v, w)
			if err != nil {
				return vm.None, err
			}
			d.work(m, o.work, x, y)
			r, s := o.fn(d.ctx, x, y)
			if s&decimal.Invalid != 0 && o.work == decimal.Quotient {
				if err := d.signal(m, c, s, whyInvalid(o.context, x, y)); err != nil {
					return vm.None, err
				}
			}
			return d.done(m, c, r, s)
		}
		if o.method != "" {
			d.class.Define(named(o.method, 2, []string{"self", "other", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
				c, err := d.contextOf(m, orNone(a, 2))
				if err != nil {
					return vm.None, err
				}
				return run(m, c, a.Values[0], a.Values[1])
			}))
		}
		d.context.Define(named(o.context, 3, []string{"self", "a", "b"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			c, err := payload[*contextState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return run(m, c, a.Values[1], a.Values[2])
		}))
	}
	d.definePredicates()
	d.defineOperators()
	d.defineComparisons()
}

func (d *decimalModule) definePredicates() {
	// Bounded: by the table; once, when the library is loaded.
	for _, o := range predicates {
		d.class.Define(named(o.name, 1, []string{"self", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := receiver(m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			if o.counts {
				d.work(m, decimal.Linear, x)
			}
			return vm.Bool(o.fn(d.ctx, x)), nil
		}))
		d.context.Define(def(o.name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := d.operand(m, a.Values[1])
			if err != nil {
				return vm.None, err
			}
			if o.counts {
				d.work(m, decimal.Linear, x)
			}
			return vm.Bool(o.fn(d.ctx, x)), nil
		}))
	}
}

// whyInvalid is which InvalidOperation a division meets.
func whyInvalid(op string, x, y decimal.Decimal) string {
	switch op {
	case "divide", "divide_int", "remainder", "remainder_near", "divmod":
	default:
		return ""
	}
	switch {
	case !x.IsFinite() || !y.IsFinite():
		return ""
	case x.IsZero() && y.IsZero():
		return "DivisionUndefined"
	case y.IsZero() || op == "divide":
		return ""
	}
	return "DivisionImpossible"
}

// operators are the binary operators with the operation behind each.
var operators = [...]struct {
	name, op string
	work     decimal.Work
	fn       binaryDecimal
}{
	{"add", "add", decimal.Linear, decimal.Context.Add},
	{"sub", "subtract", decimal.Linear, decimal.Context.Sub},
	{"mul", "multiply", decimal.Product, decimal.Context.Mul},
	{"truediv", "divide", decimal.Quotient, decimal.Context.Quo},
	{"floordiv", "divide_int", decimal.Quotient, decimal.Context.QuoInt},
	{"mod", "remainder", decimal.Quotient, decimal.Context.Rem},
}

func (d *decimalModule) defineOperators() {
	// Bounded: by the table; once, when the library is loaded.
	for _, o := range operators {
		apply := func(m *vm.Machine, v, w vm.Value) (vm.Value, error) {
			x, okX := d.exactly(m, v)
			y, okY := d.exactly(m, w)
			if !okX || !okY {
				return vm.NotImplemented, nil
			}
			d.work(m, o.work, x, y)
			r, s := o.fn(d.ctx, x, y)
			if s&decimal.Invalid != 0 {
				if err := d.signal(m, d.state, s, whyInvalid(o.op, x, y)); err != nil {
					return vm.None, err
				}
			}
			return d.done(m, d.state, r, s)
		}
		d.class.Define(
			def("__"+o.name+"__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return apply(m, a.Values[0], a.Values[1]) }),
			def("__r"+o.name+"__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return apply(m, a.Values[1], a.Values[0]) }),
		)
	}
	sign := func(name string, fn unaryDecimal) vm.Def {
		return def(name, 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := receiver(m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			d.work(m, decimal.Linear, x)
			r, s := fn(d.ctx, x)
			return d.done(m, d.state, r, s)
		})
	}
	d.class.Define(
		sign("__neg__", decimal.Context.Minus),
		sign("__pos__", decimal.Context.Plus),
		sign("__abs__", decimal.Context.Abs),
		def("__pow__", 2, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.power(m, d.state, a.Values[0], a.Values[1], orNone(a, 2))
		}),
		def("__rpow__", 2, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.power(m, d.state, a.Values[1], a.Values[0], orNone(a, 2))
		}),
		def("__divmod__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.divmod(m, d.state, a.Values[0], a.Values[1])
		}),
		def("__rdivmod__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.divmod(m, d.state, a.Values[1], a.Values[0])
		}),
	)
}

// power is v ** w, modulo mod unless that is None.
func (d *decimalModule) power(m *vm.Machine, c *contextState, v, w, mod vm.Value) (vm.Value, error) {
	x, okX := d.exactly(m, v)
	y, okY := d.exactly(m, w)
	if !okX || !okY {
		return vm.NotImplemented, nil
	}
	if mod.IsNone() {
		d.work(m, decimal.Transcendental, x, y)
		r, s := d.ctx.Pow(x, y)
		return d.done(m, c, r, s)
	}
	z, ok := d.exactly(m, mod)
	if !ok {
		return vm.NotImplemented, nil
	}
	d.work(m, decimal.Transcendental, x, y, z)
	r, s := d.ctx.PowMod(x, y, z)
	return d.done(m, c, r, s)
}

func (d *decimalModule) divmod(m *vm.Machine, c *contextState, v, w vm.Value) (vm.Value, error) {
	x, okX := d.exactly(m, v)
	y, okY := d.exactly(m, w)
	if !okX || !okY {
		return vm.NotImplemented, nil
	}
	d.work(m, decimal.Quotient, x, y)
	d.work(m, decimal.Quotient, x, y)
	q, sq := d.ctx.QuoInt(x, y)
	r, sr := d.ctx.Rem(x, y)
	if s := sq | sr; s != 0 {
		if err := d.signal(m, c, s, whyInvalid("divmod", x, y)); err != nil {
			return vm.None, err
		}
	}
	return m.NewTuple([]vm.Value{d.value(m, q), d.value(m, r)}), nil
}

func (d *decimalModule) defineComparisons() {
	for _, o := range []struct {
		name string
		eq   bool
		fn   func(order int) bool
	}{
		{"__eq__", true, func(n int) bool { return n == 0 }},
		{"__ne__", true, func(n int) bool { return n != 0 }},
		{"__lt__", false, func(n int) bool { return n < 0 }},
		{"__le__", false, func(n int) bool { return n <= 0 }},
		{"__gt__", false, func(n int) bool { return n > 0 }},
		{"__ge__", false, func(n int) bool { return n >= 0 }},
	} {
		d.class.Define(def(o.name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, err := receiver(m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			y, ok := d.exactly(m, a.Values[1])
			if bits, isFloat := a.Values[1].FloatEncoding(); !ok && isFloat {
				m.Charge(m.Work().FloatDigits * m.Prices().LimbWork)
				y, ok = decimal.FromFloat(bits), true
				m.Touch(d.state.self)
				d.state.flags |= floatOperation
				if d.state.traps&floatOperation != 0 && !o.eq {
					return vm.None, d.signal(m, d.state, floatOperation, "")
				}
			}
			if !ok {
				return vm.NotImplemented, nil
			}
			d.work(m, decimal.Linear, x, y)
			if x.IsNaN() || y.IsNaN() {
				if !o.eq || x.IsSNaN() || y.IsSNaN() {
					if err := d.signal(m, d.state, decimal.Invalid, ""); err != nil {
						return vm.None, err
					}
				}
				return vm.Bool(o.name == "__ne__"), nil
			}
			n, _ := decimal.Cmp(x, y)
			return vm.Bool(o.fn(n)), nil
		}))
	}
}
