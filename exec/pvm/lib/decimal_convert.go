package lib

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// one wraps what needs the receiver alone.
func one(fn func(m *vm.Machine, x decimal.Decimal) (vm.Value, error)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		x, err := receiver(m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, x)
	}
}

func (d *decimalModule) defineConversions() {
	text := func(wrap func(string) string) vm.NativeFunc {
		return one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
			textWork(m, x.Digits())
			return m.NewStr(wrap(x.String())), nil
		})
	}
	d.class.Define(
		def("__str__", 1, 1, text(func(s string) string { return s })),
		def("__repr__", 1, 1, text(func(s string) string { return "Decimal('" + s + "')" })),
		def("__format__", 2, 2, d.format),
		def("__hash__", 1, 1, one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
			d.work(m, decimal.Quotient, x)
			h, ok := x.Hash()
			if !ok {
				return vm.None, m.TypeError("Cannot hash a signaling NaN value")
			}
			return vm.SmallInt(h), nil
		})),
		def("__bool__", 1, 1, one(func(_ *vm.Machine, x decimal.Decimal) (vm.Value, error) { return vm.Bool(!x.IsZero()), nil })),
		def("__int__", 1, 1, d.whole(decimal.Down)),
		def("__trunc__", 1, 1, d.whole(decimal.Down)),
		def("__floor__", 1, 1, d.whole(decimal.Floor)),
		def("__ceil__", 1, 1, d.whole(decimal.Ceiling)),
		def("__round__", 1, 2, d.round),
		def("__float__", 1, 1, one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
			if x.IsSNaN() {
				return vm.None, m.ValueError("cannot convert signaling NaN to float")
			}
			d.work(m, decimal.Quotient, x)
			m.Charge(m.Work().FloatDigits * m.Prices().LimbWork)
			return vm.FloatBits(x.Binary64()), nil
		})),
		def("__copy__", 1, 1, itself),
		def("__deepcopy__", 2, 2, itself),
		def("adjusted", 1, 1, one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
			if !x.IsFinite() {
				return vm.SmallInt(0), nil
			}
			d.work(m, decimal.Linear, x)
			return vm.SmallInt(x.Adjusted()), nil
		})),
		def("as_tuple", 1, 1, one(d.asTuple)),
		def("as_integer_ratio", 1, 1, one(d.ratio)),
		def("radix", 1, 1, one(func(m *vm.Machine, _ decimal.Decimal) (vm.Value, error) { return d.value(m, decimal.Radix()), nil })),
		named("number_class", 1, []string{"self", "context"}, one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
			d.work(m, decimal.Linear, x)
			return m.NewStr(d.ctx.Class(x)), nil
		})),
		named("to_eng_string", 1, []string{"self", "context"}, one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
			textWork(m, x.Digits())
			return m.NewStr(x.EngString()), nil
		})),
		named("same_quantum", 2, []string{"self", "other", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, y, err := d.pair(m, a.Values[0], a.Values[1])
			return vm.Bool(err == nil && decimal.SameQuantum(x, y)), err
		}),
		named("quantize", 2, []string{"self", "exp", "rounding", "context"}, d.quantize),
		named("fma", 3, []string{"self", "other", "third", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			c, err := d.contextOf(m, orNone(a, 3))
			if err != nil {
				return vm.None, err
			}
			return d.fma(m, c, a.Values)
		}),
		d.integral("to_integral", decimal.Context.ToIntegral),
		d.integral("to_integral_value", decimal.Context.ToIntegral),
		d.integral("to_integral_exact", decimal.Context.ToIntegralExact),
	)
	d.class.Getter("real", func(_ *vm.Machine, v vm.Value) (vm.Value, error) { return v, nil }, nil)
	d.class.Getter("imag", func(m *vm.Machine, _ vm.Value) (vm.Value, error) {
		m.Charge(m.Prices().NativeCall) // for the number that it makes
		return d.value(m, decimal.FromBig(zero)), nil
	}, nil)
}

// integral is to_integral and its like, which may name their rounding.
func (d *decimalModule) integral(name string, fn unaryDecimal) vm.Def {
	return named(name, 1, []string{"self", "rounding", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		x, err := receiver(m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		ctx, err := d.roundedBy(m, orNone(a, 1))
		if err != nil {
			return vm.None, err
		}
		c, err := d.contextOf(m, orNone(a, 2))
		if err != nil {
			return vm.None, err
		}
		d.work(m, decimal.Quotient, x)
		r, s := fn(ctx, x)
		return d.done(m, c, r, s)
	})
}

func (d *decimalModule) quantize(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, err := d.contextOf(m, orNone(a, 3))
	if err != nil {
		return vm.None, err
	}
	x, y, err := d.pair(m, a.Values[0], a.Values[1])
	if err != nil {
		return vm.None, err
	}
	ctx, err := d.roundedBy(m, orNone(a, 2))
	if err != nil {
		return vm.None, err
	}
	d.work(m, decimal.Quotient, x, y)
	r, s := ctx.Quantize(x, y)
	return d.done(m, c, r, s)
}

func (d *decimalModule) fma(m *vm.Machine, c *contextState, v []vm.Value) (vm.Value, error) {
	x, y, err := d.pair(m, v[0], v[1])
	if err != nil {
		return vm.None, err
	}
	z, err := d.operand(m, v[2])
	if err != nil {
		return vm.None, err
	}
	d.work(m, decimal.Product, x, y)
	d.work(m, decimal.Linear, x, y, z)
	r, s := d.ctx.FMA(x, y, z)
	return d.done(m, c, r, s)
}

// boundedDigits is a number of digits to be charged for: more than any call can
// pay, where an exponent asks for more.
func boundedDigits(n int64) int { return int(min(n, 1<<30)) }

// toInt is the int of x, which has no fraction any more.
func (d *decimalModule) toInt(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
	n := boundedDigits(x.IntDigits())
	chars(m, n)
	productWork(m, n/19+1, n/19+1)
	if n <= integerDigits {
		m.Alloc(n / 2)
	}
	i, err := x.Int(integerDigits)
	switch {
	case errors.Is(err, decimal.ErrInf):
		return vm.None, m.Raise(m.Builtin("OverflowError"), "cannot convert Infinity to integer")
	case errors.Is(err, decimal.ErrNaN):
		return vm.None, m.ValueError("cannot convert NaN to integer")
	case err != nil:
		return vm.None, m.RaiseValue(m.Builtin("MemoryError"))
	}
	return m.NewInt(i), nil
}

// whole is a conversion to int with a rounding.
func (d *decimalModule) whole(r decimal.Rounding) vm.NativeFunc {
	return one(func(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
		if x.IsFinite() {
			c := d.ctx
			c.Rounding = r
			d.work(m, decimal.Quotient, x)
			x, _ = c.ToIntegral(x)
		}
		return d.toInt(m, x)
	})
}

func (d *decimalModule) round(m *vm.Machine, a vm.Args) (vm.Value, error) {
	x, err := receiver(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	v, ok := given(a, 1)
	if !ok {
		return d.whole(decimal.HalfEven)(m, a)
	}
	n, ok := v.Int64()
	if !ok {
		if _, big := v.BigInt(); big {
			return vm.None, m.Raise(m.Builtin("OverflowError"), "Python int too large to convert to C ssize_t")
		}
		return vm.None, m.TypeError("optional arg must be an integer")
	}
	q, _ := decimal.Parse("1e" + decimalText(-min(max(n, -1<<28), 1<<28)))
	d.work(m, decimal.Quotient, x)
	r, s := d.ctx.Quantize(x, q)
	return d.done(m, d.state, r, s)
}

func (d *decimalModule) ratio(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
	d.work(m, decimal.Quotient, x)
	if x.IsFinite() {
		n := boundedDigits(x.IntDigits() + max(-x.Adjusted(), 0) + int64(x.Digits()))
		chars(m, n)
		productWork(m, n/19+1, n/19+1)
	}
	num, den, err := x.Ratio(integerDigits)
	switch {
	case errors.Is(err, decimal.ErrInf):
		return vm.None, m.Raise(m.Builtin("OverflowError"), "cannot convert Infinity to integer ratio")
	case errors.Is(err, decimal.ErrNaN):
		return vm.None, m.ValueError("cannot convert NaN to integer ratio")
	case err != nil:
		return vm.None, m.RaiseValue(m.Builtin("MemoryError"))
	}
	return m.NewTuple([]vm.Value{m.NewInt(num), m.NewInt(den)}), nil
}

func (d *decimalModule) asTuple(m *vm.Machine, x decimal.Decimal) (vm.Value, error) {
	if !d.tuple.Bound() {
		collections, err := m.Import("collections")
		if err != nil {
			return vm.None, err
		}
		fn, err := m.GetAttr(collections.Value(), m.Name("namedtuple"))
		if err != nil {
			return vm.None, err
		}
		m.Touch(d.self)
		d.tuple, err = m.CallArgs(fn, vm.Args{
			Values: []vm.Value{m.NewStr("DecimalTuple"), m.NewStr("sign digits exponent"), m.NewStr("decimal")},
			Names:  []*vm.Str{m.Name("module")},
		})
		if err != nil {
			return vm.None, err
		}
	}
	textWork(m, x.Digits())
	neg, ds, exp, special := x.Tuple()
	elements(m, len(ds))
	items := make([]vm.Value, len(ds))
	// Paid: by the elements above.
	for i, c := range ds {
		items[i] = vm.SmallInt(int64(c))
	}
	sign := vm.SmallInt(0)
	if neg {
		sign = vm.SmallInt(1)
	}
	e := vm.SmallInt(exp)
	if special != "" {
		e = m.NewStr(special)
	}
	return m.Call(d.tuple, sign, m.NewTuple(items), e)
}

func (d *decimalModule) format(m *vm.Machine, a vm.Args) (vm.Value, error) {
	x, err := receiver(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	text, ok := a.Values[1].Text()
	if !ok {
		return vm.None, m.TypeError("format argument must be str")
	}
	chars(m, len(text))
	spec, ok := decimalSpec(text)
	if !ok {
		return vm.None, m.ValueError("invalid format string")
	}
	n := x.FormatLen(spec)
	if n > 1<<40 {
		n = 1 << 40
	}
	textWork(m, x.Digits()+spec.Prec)
	if spec.FixedPoint() && spec.HasPrec { // all digits before the point are computed
		textWork(m, boundedDigits(x.IntDigits()))
	}
	m.ChargeCount(n, m.Prices().Char)
	m.AllocBytes(n)
	s, err := d.ctx.Format(x, spec, format.MaxSize)
	switch {
	case errors.Is(err, decimal.ErrFormat):
		return vm.None, m.ValueError("invalid format string")
	case err != nil:
		return vm.None, m.RaiseValue(m.Builtin("MemoryError"))
	}
	return m.NewStr(s), nil
}

// decimalSpec reads a format specification.
func decimalSpec(text string) (s decimal.Spec, ok bool) {
	rs := []rune(text)
	take := func(set string) byte {
		if len(rs) > 0 && rs[0] < 0x80 && rs[0] != 0 {
			// Bounded: by eight characters.
			for i := range len(set) {
				if rune(set[i]) == rs[0] {
					rs = rs[1:]
					return set[i]
				}
			}
		}
		return 0
	}
	if len(rs) > 1 && rs[1] < 0x80 && isAlign(rs[1]) {
		s.Fill = rs[0]
		rs = rs[1:]
	}
	s.Align = take("<>=^")
	s.Sign = take("+- ")
	s.NoNegZero = take("z") != 0
	s.ZeroPad = take("0") != 0
	var okWidth bool
	if s.Width, okWidth = number(&rs); !okWidth {
		return s, false
	}
	s.Comma = take(",") != 0
	if take(".") != 0 {
		s.HasPrec = len(rs) > 0 && rs[0] >= '0' && rs[0] <= '9'
		if !s.HasPrec {
			return s, false
		}
		if s.Prec, okWidth = number(&rs); !okWidth {
			return s, false
		}
	}
	s.Type = take("eEfFgGn%")
	return s, len(rs) == 0
}

func isAlign(r rune) bool { return r == '<' || r == '>' || r == '=' || r == '^' }

// number reads digits, of which there are few.
func number(rs *[]rune) (n int, ok bool) {
	// Paid: by format, a character each of the specification.
	for len(*rs) > 0 && (*rs)[0] >= '0' && (*rs)[0] <= '9' {
		next := int64(n)*10 + int64((*rs)[0]-'0')
		if next > 1<<30 {
			return 0, false
		}
		n = int(next)
		*rs = (*rs)[1:]
	}
	return n, true
}
