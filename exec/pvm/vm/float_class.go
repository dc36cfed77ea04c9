package vm

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

func (rt *Runtime) defineFloat(c *Class) {
	rt.methods(c, Def{Name: "__new__", Min: 1, Max: 2, Keywords: true, Fn: floatNew})
	rt.binaryMethods(c, numberOperator, OpAdd, OpSub, OpMul, OpDiv, OpMod, OpFloorDiv)
	rt.compareMethods(c, func(m *Machine, op CompareOp, a, b Value) (Value, bool, error) { return m.numberCompare(op, a, b) })
	whole := func(name string, fn func(uint64) uint64) Def {
		return Def{Name: name, Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			x, _ := a.Values[0].floatBits()
			return m.floatToInt(fn(x))
		}}
	}
	self := func(_ *Machine, a Args) (Value, error) {
		x, _ := a.Values[0].floatBits()
		return FloatBits(x), nil
	}
	rt.receiverMethods(
		c,
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: numberReprMethod},
		Def{Name: "__format__", Min: 2, Max: 2, Fn: formatMethod},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: hashMethod},
		Def{Name: "__bool__", Min: 1, Max: 1, Fn: truthMethod},
		unaryMethod("__neg__", code.Neg), unaryMethod("__pos__", code.Pos),
		Def{Name: "__abs__", Min: 1, Max: 1, Fn: numberAbs},
		Def{Name: "__float__", Min: 1, Max: 1, Fn: self},
		Def{Name: "conjugate", Min: 1, Max: 1, Fn: self},
		whole("__int__", softfloat.Trunc), whole("__trunc__", softfloat.Trunc),
		whole("__floor__", softfloat.Floor), whole("__ceil__", softfloat.Ceil),
		Def{Name: "__round__", Min: 1, Max: 2, Fn: floatRound},
		Def{Name: "__pow__", Min: 2, Max: 3, Fn: floatPowMethod(false)},
		Def{Name: "__rpow__", Min: 2, Max: 3, Fn: floatPowMethod(true)},
		Def{Name: "__divmod__", Min: 2, Max: 2, Fn: divmodMethod(false)},
		Def{Name: "__rdivmod__", Min: 2, Max: 2, Fn: divmodMethod(true)},
		Def{Name: "as_integer_ratio", Min: 1, Max: 1, Fn: floatRatio},
		Def{Name: "hex", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			x, _ := a.Values[0].floatBits()
			return m.newStr(softfloat.Hex(x)).val(), nil
		}},
		Def{Name: "is_integer", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) {
			x, _ := a.Values[0].floatBits()
			return Bool(softfloat.IsIntegral(x)), nil
		}},
	)
	rt.classMethods(c, Def{Name: "fromhex", Min: 2, Max: 2, Fn: floatFromHex})
	rt.getters(c, "real", func(_ *Machine, v Value) (Value, error) {
		x, _ := v.floatBits()
		return FloatBits(x), nil
	}, nil)
	rt.getters(c, "imag", func(*Machine, Value) (Value, error) { return FloatBits(0), nil }, nil)
}

// floatNew is float(x=0.0, /).
func floatNew(m *Machine, a Args) (Value, error) {
	class, err := m.newClassArg(a.Values[0], m.rt.classes.float)
	if err != nil {
		return unbound, err
	}
	if sub, _ := a.Values[0].asClass(); len(a.Names) > 0 {
		if err := m.noKeywords(sub, m.rt.classes.float, spInit, a); err != nil {
			return unbound, err
		}
	}
	var x uint64
	if len(a.Positional()) > 1 {
		if x, err = m.makeFloat(a.Values[1]); err != nil {
			return unbound, err
		}
	}
	if class == nil {
		return FloatBits(x), nil
	}
	m.Alloc(floatBytes)
	o := &Float{bits: x}
	return o.head(KindFloat, class, o), nil
}

func (m *Machine) makeFloat(v Value) (uint64, error) {
	if exact(v) {
		if x, ok, err := m.realBits(v); ok {
			return x, err
		}
	}
	s, isStr := v.str()
	b, isBytes := m.bytesOf(v)
	var n softfloat.Number
	var err error
	switch {
	case isStr:
		m.ChargeEach(len(s.s), m.dyn.Char)
		n, err = format.ScanFloat(s.s)
	case isBytes:
		m.ChargeEach(len(b), m.dyn.Char)
		n, err = format.ScanFloatBytes(b)
	default:
		x, err := m.toFloat(v)
		if err != nil && m.isRaised(err, m.rt.classes.TypeError) && !m.classOf(v).sp(spFloat).Bound() && !m.classOf(v).sp(spIndex).Bound() {
			return 0, m.Raise(m.rt.classes.TypeError, "float() argument must be a string or a real number, not '%s'", m.typeName(v))
		}
		return x, err
	}
	if err != nil {
		return 0, m.formatError(err)
	}
	return m.FloatOf(n), nil
}

// FloatOf is the encoding of a text that was scanned and paid for by its characters: it
// charges for a long division besides.
func (m *Machine) FloatOf(n softfloat.Number) uint64 {
	if n.Hard() {
		m.Charge(m.Work().FloatDigits * m.dyn.LimbWork)
	}
	return n.Value()
}

// floatRound is round(x) to an int, or round(x, ndigits) to a float.
func floatRound(m *Machine, a Args) (Value, error) {
	x, _ := a.Values[0].floatBits()
	if len(a.Values) == 1 || a.Values[1].IsNone() {
		return m.floatToInt(softfloat.RoundEven(x))
	}
	d, err := m.index(a.Values[1])
	if err != nil {
		return unbound, err
	}
	if !softfloat.IsFinite(x) || softfloat.IsZero(x) {
		return FloatBits(x), nil
	}
	m.Charge(m.Work().FloatDigits * m.dyn.LimbWork)
	digits := d.Small
	if d.Big != nil {
		digits = 1000 * int64(d.Big.Sign())
	}
	r, ok := softfloat.RoundTo(x, int(min(max(digits, -1000), 1000)))
	if !ok {
		return unbound, m.Raise(m.rt.classes.OverflowError, "rounded value too large to represent")
	}
	return FloatBits(r), nil
}

func floatRatio(m *Machine, a Args) (Value, error) {
	x, _ := a.Values[0].floatBits()
	n, d, ok := softfloat.Ratio(x)
	switch {
	case ok:
		return m.newTuple([]Value{m.newInt(n), m.newInt(d)}).val(), nil
	case softfloat.IsNaN(x):
		return unbound, m.Raise(m.rt.classes.ValueError, "cannot convert NaN to integer ratio")
	}
	return unbound, m.Raise(m.rt.classes.OverflowError, "cannot convert Infinity to integer ratio")
}

func floatFromHex(m *Machine, a Args) (Value, error) {
	s, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "bad argument type for built-in operation")
	}
	m.ChargeEach(len(s.s), m.dyn.Char)
	x, bad := softfloat.ParseHex(s.s)
	switch bad {
	case softfloat.HexInvalid:
		return unbound, m.Raise(m.rt.classes.ValueError, "invalid hexadecimal floating-point string")
	case softfloat.HexOverflow:
		return unbound, m.Raise(m.rt.classes.OverflowError, "hexadecimal value too large to represent as a float")
	}
	if a.Values[0] == m.rt.classes.float.value() {
		return FloatBits(x), nil
	}
	return m.Call(a.Values[0], FloatBits(x))
}

// floatPowMethod is float.__pow__, or __rpow__.
func floatPowMethod(reflected bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		if len(a.Values) == 3 && !a.Values[2].IsNone() {
			return unbound, m.Raise(m.rt.classes.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
		}
		x, y := a.Values[0], a.Values[1]
		if reflected {
			x, y = y, x
		}
		r, ok, err := m.numberBinary(OpPow, x, y)
		if !ok && err == nil {
			return NotImplemented, nil
		}
		return r, err
	}
}

// intPowMethod is int.__pow__, or __rpow__.
func intPowMethod(reflected bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		x, y := a.Values[0], a.Values[1]
		if reflected {
			x, y = y, x
		}
		p, okA := x.integer()
		q, okB := y.integer()
		if !okA || !okB {
			return NotImplemented, nil
		}
		if len(a.Values) == 2 || a.Values[2].IsNone() {
			return m.intPow(p, q)
		}
		mod, ok := a.Values[2].integer()
		if !ok {
			if a.Values[2].Kind() == KindFloat {
				return unbound, m.Raise(m.rt.classes.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
			}
			return NotImplemented, nil
		}
		return m.intPowMod(p, q, mod)
	}
}

func divmodMethod(reflected bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		x, y := a.Values[0], a.Values[1]
		if y.Kind() == KindFloat && x.Kind() != KindFloat {
			return NotImplemented, nil // the float answers
		}
		if reflected {
			x, y = y, x
		}
		r, ok, err := m.numberDivmod(x, y)
		if !ok && err == nil {
			return NotImplemented, nil
		}
		return r, err
	}
}

// numberDivmod is divmod of int, bool and float.
func (m *Machine) numberDivmod(a, b Value) (Value, bool, error) {
	x, okA := a.integer()
	y, okB := b.integer()
	if okA && okB {
		q, r, err := m.intDivMod(x, y)
		if err != nil {
			return unbound, true, err
		}
		return m.newTuple([]Value{intOf(q), intOf(r)}).val(), true, nil
	}
	fa, okA, err := m.realBits(a)
	if err != nil {
		return unbound, true, err
	}
	fb, okB, err := m.realBits(b)
	if err != nil {
		return unbound, true, err
	}
	if !okA || !okB {
		return unbound, false, nil
	}
	if softfloat.IsZero(fb) {
		return unbound, true, m.Raise(m.rt.classes.ZeroDivisionError, "float divmod()")
	}
	q, r := softfloat.DivMod(fa, fb)
	return m.newTuple([]Value{FloatBits(q), FloatBits(r)}).val(), true, nil
}
