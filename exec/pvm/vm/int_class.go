package vm

import (
	"math/big"
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// defineNumbers builds int, bool and float.
func (rt *Runtime) defineNumbers() {
	c := &rt.classes
	c.int_ = rt.newClass("int", KindInt)
	c.bool_ = rt.newClass("bool", KindBool, c.int_)
	c.bool_.final = true
	c.float = rt.newClass("float", KindFloat)
	rt.defineInt(c.int_)
	rt.defineFloat(c.float)
	rt.methods(c.bool_, Def{Name: "__new__", Min: 1, Max: 2, Fn: boolNew})
	rt.receiverMethods(c.bool_, Def{Name: "__repr__", Min: 1, Max: 1, Fn: numberReprMethod})
	rt.binaryMethods(c.bool_, numberOperator, OpBitAnd, OpBitOr, OpBitXor)
}

// receiverMethods adds methods that see only receivers of the class's kind.
func (rt *Runtime) receiverMethods(c *Class, defs ...Def) {
	// Bounded: by the source, once when the runtime is made.
	for i, d := range defs {
		fn, dunder := d.Fn, len(d.Name) > 4 && d.Name[:2] == "__"
		name := d.Name
		defs[i].Fn = func(m *Machine, a Args) (Value, error) {
			k := a.Values[0].Kind()
			if k == c.layout || k == KindBool && c.layout == KindInt {
				return fn(m, a)
			}
			if dunder {
				return unbound, m.Raise(m.rt.classes.TypeError, "descriptor '%s' requires a '%s' object but received a '%s'", name, c.name, m.typeName(a.Values[0]))
			}
			return unbound, m.Raise(m.rt.classes.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, c.name, m.typeName(a.Values[0]))
		}
	}
	rt.methods(c, defs...)
}

type binaryFunc func(m *Machine, op Operator, a, b Value) (Value, bool, error)

// numberOperator is numberBinary as a function.
func numberOperator(m *Machine, op Operator, a, b Value) (Value, bool, error) {
	return m.numberBinary(op, a, b)
}

// binaryMethods adds the methods of operators and their reflected ones.
func (rt *Runtime) binaryMethods(c *Class, fn binaryFunc, ops ...Operator) {
	// Bounded: by the source, once when the runtime is made.
	for _, op := range ops {
		call := func(m *Machine, a, b Value) (Value, error) {
			r, ok, err := fn(m, op, a, b)
			if !ok && err == nil {
				return NotImplemented, nil
			}
			return r, err
		}
		rt.receiverMethods(c,
			Def{Name: specialNames[spAdd+special(op)], Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
				return call(m, a.Values[0], a.Values[1])
			}},
			Def{Name: specialNames[spRAdd+special(op)], Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
				return call(m, a.Values[1], a.Values[0])
			}})
	}
}

// compareMethods adds the methods of comparisons.
func (rt *Runtime) compareMethods(c *Class, fn func(m *Machine, op CompareOp, a, b Value) (Value, bool, error)) {
	// Bounded: by the source, once when the runtime is made.
	for op := CompareEq; op <= CompareGe; op++ {
		rt.receiverMethods(c, Def{Name: specialNames[spEq+special(op)], Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			r, ok, err := fn(m, op, a.Values[0], a.Values[1])
			if !ok && err == nil {
				return NotImplemented, nil
			}
			return r, err
		}})
	}
}

func numberReprMethod(m *Machine, a Args) (Value, error) {
	s, _, err := m.numberRepr(a.Values[0])
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func formatMethod(m *Machine, a Args) (Value, error) {
	spec, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "__format__() argument must be str, not %s", m.typeName(a.Values[1]))
	}
	if spec.s == "" && !exact(a.Values[0]) {
		s, err := m.Str(a.Values[0])
		if err != nil {
			return unbound, err
		}
		return s.val(), nil
	}
	s, _, err := m.builtinFormat(a.Values[0], spec)
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func unaryMethod(name string, op code.Op) Def {
	return Def{Name: name, Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
		r, _ := m.numberUnary(op, a.Values[0])
		return r, nil
	}}
}

func hashMethod(m *Machine, a Args) (Value, error) {
	h, ok := m.numberHash(a.Values[0])
	if !ok {
		h, _ = m.textHash(a.Values[0])
	}
	return SmallInt(h), nil
}

func truthMethod(m *Machine, a Args) (Value, error) {
	t, _ := m.numberTruth(a.Values[0])
	return Bool(t), nil
}

func selfInt(m *Machine, a Args) (Value, error) {
	n, _ := a.Values[0].integer()
	return m.intFrom(n), nil
}

func (rt *Runtime) defineInt(c *Class) {
	rt.methods(c, Def{Name: "__new__", Min: 1, Max: 3, Params: []string{"", "", "base"}, Fn: intNew})
	rt.binaryMethods(c, func(m *Machine, op Operator, a, b Value) (Value, bool, error) {
		if !a.isInteger() || !b.isInteger() {
			return unbound, false, nil
		}
		return m.numberBinary(op, a, b)
	}, OpAdd, OpSub, OpMul, OpDiv, OpMod, OpLShift, OpRShift, OpBitOr, OpBitXor, OpBitAnd, OpFloorDiv)
	rt.compareMethods(c, func(m *Machine, op CompareOp, a, b Value) (Value, bool, error) {
		if !b.isInteger() {
			return unbound, false, nil
		}
		return m.numberCompare(op, a, b)
	})
	defs := []Def{
		{Name: "__repr__", Min: 1, Max: 1, Fn: numberReprMethod},
		{Name: "__format__", Min: 2, Max: 2, Fn: formatMethod},
		{Name: "__hash__", Min: 1, Max: 1, Fn: hashMethod},
		{Name: "__bool__", Min: 1, Max: 1, Fn: truthMethod},
		unaryMethod("__neg__", code.Neg), unaryMethod("__pos__", code.Pos), unaryMethod("__invert__", code.Inv),
		{Name: "__abs__", Min: 1, Max: 1, Fn: numberAbs},
		{Name: "__float__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			n, _ := a.Values[0].integer()
			x, err := m.intToFloat(n)
			return FloatBits(x), err
		}},
		{Name: "__round__", Min: 1, Max: 2, Fn: intRound},
		{Name: "__pow__", Min: 2, Max: 3, Fn: intPowMethod(false)},
		{Name: "__rpow__", Min: 2, Max: 3, Fn: intPowMethod(true)},
		{Name: "__divmod__", Min: 2, Max: 2, Fn: divmodMethod(false)},
		{Name: "__rdivmod__", Min: 2, Max: 2, Fn: divmodMethod(true)},
		{Name: "bit_length", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) {
			n, _ := a.Values[0].integer()
			return SmallInt(int64(bigOf(n).BitLen())), nil
		}},
		{Name: "bit_count", Min: 1, Max: 1, Fn: intBitCount},
		{Name: "as_integer_ratio", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			n, err := selfInt(m, a)
			return m.newTuple([]Value{n, SmallInt(1)}).val(), err
		}},
		{Name: "to_bytes", Min: 1, Max: 3, Keywords: true, Fn: intToBytes},
	}
	// Bounded: by the source, once when the runtime is made.
	for _, name := range []string{"__int__", "__index__", "__trunc__", "__floor__", "__ceil__", "conjugate"} {
		defs = append(defs, Def{Name: name, Min: 1, Max: 1, Fn: selfInt})
	}
	rt.receiverMethods(c, defs...)
	rt.classMethods(c, Def{Name: "from_bytes", Min: 2, Max: 3, Keywords: true, Fn: intFromBytes})
	self := func(m *Machine, v Value) (Value, error) { return selfInt(m, Args{Values: []Value{v}}) }
	rt.getters(c, "real", self, nil)
	rt.getters(c, "numerator", self, nil)
	rt.getters(c, "imag", func(*Machine, Value) (Value, error) { return SmallInt(0), nil }, nil)
	rt.getters(c, "denominator", func(*Machine, Value) (Value, error) { return SmallInt(1), nil }, nil)
}

// classBelow takes v for a class below base, as a __new__ of base must.
func (m *Machine) classBelow(v Value, base *Class) (*Class, error) {
	c, ok := v.asClass()
	if !ok {
		return nil, m.Raise(m.rt.classes.TypeError, "%s.__new__(X): X is not a type object (%s)", base.name, m.typeName(v))
	}
	if !c.subclassOf(base) {
		return nil, m.Raise(m.rt.classes.TypeError, "%s.__new__(%s): %s is not a subtype of %s", base.name, c.name, c.name, base.name)
	}
	return c, nil
}

// newClassArg checks the first argument of __new__ of a builtin class.
func (m *Machine) newClassArg(v Value, base *Class) (*Class, error) {
	c, err := m.classBelow(v, base)
	if err != nil {
		return nil, err
	}
	if c.builtin && c != base {
		return nil, m.Raise(m.rt.classes.TypeError, "%s.__new__(%s) is not safe, use %s.__new__()", base.name, c.name, c.name)
	}
	return m.subclassOrNil(v, base), nil
}

func boolNew(m *Machine, a Args) (Value, error) {
	if len(a.Values) == 1 {
		return False, nil
	}
	t, err := m.Truth(a.Values[1])
	return Bool(t), err
}

// intNew is int(x=0, /, base=10).
func intNew(m *Machine, a Args) (Value, error) {
	class, err := m.newClassArg(a.Values[0], m.rt.classes.int_)
	if err != nil {
		return unbound, err
	}
	var x, base Value
	if len(a.Values) > 1 {
		x = a.Values[1]
	}
	if len(a.Values) > 2 {
		base = a.Values[2]
	}
	n, err := m.makeInt(x, base)
	if err != nil {
		return unbound, err
	}
	if class == nil {
		return m.intFrom(n), nil
	}
	m.Alloc(intBytes + 8)
	o := &Int{big: bigOf(n)}
	return o.head(KindInt, class, o), nil
}

func (m *Machine) makeInt(x, base Value) (format.Int, error) {
	if !base.Bound() {
		if !x.Bound() {
			return format.Int{}, nil
		}
		return m.toInt(x)
	}
	if !x.Bound() {
		return format.Int{}, m.Raise(m.rt.classes.TypeError, "int() missing string argument")
	}
	b, err := m.index(base)
	if err != nil {
		return format.Int{}, err
	}
	if b.Big != nil {
		b.Small = -1
	}
	n, ok, err := m.parseInt(x, b.Small)
	if !ok {
		return format.Int{}, m.Raise(m.rt.classes.TypeError, "int() can't convert non-string with explicit base")
	}
	return n, err
}

// parseInt reads text or bytes as an int; false for anything else.
func (m *Machine) parseInt(x Value, base int64) (n format.Int, ok bool, err error) {
	s, isStr := x.str()
	b, isBytes := "", false
	if !isStr {
		if b, isBytes = m.bytesOf(x); !isBytes {
			return n, false, nil
		}
	}
	size := len(b)
	if isStr {
		size = len(s.s)
	}
	l := int64(min(size, format.MaxDigits)/19 + 1)
	m.ChargeEach(size, m.dyn.Char)
	m.ChargeCount(l*l, m.dyn.LimbWork)
	m.Alloc(size)
	if isStr {
		n, err = format.ParseInt(s.s, base)
	} else {
		n, err = format.ParseIntBytes(b, base)
	}
	if err != nil {
		err = m.formatError(err)
	}
	return n, true, err
}

// toInt is int(x).
func (m *Machine) toInt(x Value) (format.Int, error) {
	if exact(x) {
		if n, ok := x.integer(); ok {
			return n, nil
		}
		if f, ok := x.floatBits(); ok {
			v, err := m.floatToInt(f)
			n, _ := v.integer()
			return n, err
		}
	}
	// Bounded: by three methods.
	for _, sp := range []special{spInt, spIndex, spTrunc} {
		r, ok, err := m.callSpecial(x, sp)
		if err != nil {
			return format.Int{}, err
		}
		if !ok {
			continue
		}
		n, isInt := r.integer()
		switch {
		case isInt:
			return n, nil
		case sp == spTrunc:
			if !m.classOf(r).sp(spIndex).Bound() {
				return format.Int{}, m.Raise(m.rt.classes.TypeError, "__trunc__ returned non-Integral (type %s)", m.typeName(r))
			}
			return m.index(r)
		}
		return format.Int{}, m.Raise(m.rt.classes.TypeError, "%s returned non-int (type %s)", specialNames[sp], m.typeName(r))
	}
	n, ok, err := m.parseInt(x, 10)
	if !ok {
		return n, m.Raise(m.rt.classes.TypeError, "int() argument must be a string, a bytes-like object or a real number, not '%s'", m.typeName(x))
	}
	return n, err
}

func numberAbs(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	if x, ok := v.floatBits(); ok {
		return FloatBits(softfloat.Abs(x)), nil
	}
	n, _ := v.integer()
	if n.Small < 0 || n.Big != nil && n.Big.Sign() < 0 {
		r, _ := m.numberUnary(code.Neg, v)
		return r, nil
	}
	return m.intFrom(n), nil
}

// intRound is round(n, ndigits): half to even.
func intRound(m *Machine, a Args) (Value, error) {
	n, _ := a.Values[0].integer()
	if len(a.Values) == 1 || a.Values[1].IsNone() {
		return m.intFrom(n), nil
	}
	d, err := m.index(a.Values[1])
	if err != nil {
		return unbound, err
	}
	if bigOf(d).Sign() >= 0 {
		return m.intFrom(n), nil
	}
	x := bigOf(n)
	if d.Big != nil || d.Small < -int64(x.BitLen()) {
		return SmallInt(0), nil
	}
	l := limbs(x)
	m.spend(m.Work().IntRound*int64(l)*int64(l), 4*l)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-d.Small), nil)
	q, r := new(big.Int).DivMod(x, unit, new(big.Int))
	twice := new(big.Int).Lsh(r, 1)
	if c := twice.Cmp(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return intOf(q.Mul(q, unit)), nil
}

func intBitCount(m *Machine, a Args) (Value, error) {
	n, _ := a.Values[0].integer()
	x := bigOf(n)
	m.ChargeEach(limbs(x), m.dyn.LimbWork)
	count := 0
	// Paid: by the limbs charged above.
	for _, w := range x.Bits() {
		count += bits.OnesCount(uint(w))
	}
	return SmallInt(int64(count)), nil
}

// namedArgs reads arguments of natives with keywords: the positional ones in the
// order of names, where those from only are keywords.
func (m *Machine) namedArgs(fn string, a Args, from int, names ...string) ([]Value, error) {
	out := make([]Value, len(names))
	pos := a.Positional()
	if len(pos) > from {
		return nil, m.Raise(m.rt.classes.TypeError, "%s() takes at most %d positional arguments (%d given)", fn, from, len(pos))
	}
	copy(out, pos)
	// Bounded: by names, three at most: each may come once, another ends it.
	for i, k := range a.Names {
		// Bounded: by three names.
		at := slices.Index(names, k.s)
		if at < 0 {
			return nil, m.Raise(m.rt.classes.TypeError, "'%s' is an invalid keyword argument for %s()", k.s, fn)
		}
		if out[at].Bound() {
			return nil, m.Raise(m.rt.classes.TypeError, "argument for %s() given by name ('%s') and position (%d)", fn, k.s, at+1)
		}
		out[at] = a.Values[len(pos)+i]
	}
	return out, nil
}

// byteOrder reads the argument of to_bytes and from_bytes: true for big.
func (m *Machine) byteOrder(fn string, v Value) (bool, error) {
	if !v.Bound() {
		return true, nil
	}
	s, ok := v.str()
	switch {
	case !ok:
		return false, m.Raise(m.rt.classes.TypeError, "%s() argument 'byteorder' must be str, not %s", fn, m.typeName(v))
	case s.s == "big":
		return true, nil
	case s.s == "little":
		return false, nil
	}
	return false, m.Raise(m.rt.classes.ValueError, "byteorder must be either 'little' or 'big'")
}

func intToBytes(m *Machine, a Args) (Value, error) {
	self := a.Values[0]
	args, err := m.namedArgs("to_bytes", Args{a.Values[1:], a.Names}, 2, "length", "byteorder", "signed")
	if err != nil {
		return unbound, err
	}
	length := int64(1)
	if args[0].Bound() {
		if length, err = m.Index(args[0]); err != nil {
			return unbound, err
		}
	}
	bigEnd, err := m.byteOrder("to_bytes", args[1])
	if err != nil {
		return unbound, err
	}
	signed := false
	if args[2].Bound() {
		if signed, err = m.Truth(args[2]); err != nil {
			return unbound, err
		}
	}
	if length < 0 {
		return unbound, m.Raise(m.rt.classes.ValueError, "length argument must be non-negative")
	}
	n, _ := self.integer()
	x := bigOf(n)
	if x.Sign() < 0 && !signed {
		return unbound, m.Raise(m.rt.classes.OverflowError, "can't convert negative int to unsigned")
	}
	m.reserveText(length)
	m.ChargeEach(limbs(x), m.dyn.LimbWork)
	out, ok := twosComplement(x, int(length), signed)
	if !ok {
		return unbound, m.Raise(m.rt.classes.OverflowError, "int too big to convert")
	}
	if !bigEnd {
		// Paid: by reserve, a character for each byte.
		slices.Reverse(out)
	}
	return m.newBytes(string(out)).val(), nil
}

// twosComplement writes x in length bytes, the highest first; false when it does
// not fit.
func twosComplement(x *big.Int, length int, signed bool) ([]byte, bool) {
	width := x.BitLen()
	y := x
	if x.Sign() < 0 {
		y = new(big.Int).Not(x)
		width = y.BitLen()
	}
	if signed && (x.Sign() != 0 || length > 0) {
		width++
	}
	if length*8 < width && !(length == 0 && y.Sign() == 0) { // -1 too: CPython keeps no digit of it
		return nil, false
	}
	out := y.FillBytes(make([]byte, length))
	if x.Sign() < 0 {
		// Paid: by intToBytes, which reserves a character for each byte.
		for i := range out {
			out[i] = ^out[i]
		}
	}
	return out, true
}

func intFromBytes(m *Machine, a Args) (Value, error) {
	args, err := m.namedArgs("from_bytes", Args{a.Values[1:], a.Names}, 2, "bytes", "byteorder", "signed")
	if err != nil {
		return unbound, err
	}
	if !args[0].Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "from_bytes() missing required argument 'bytes' (pos 1)")
	}
	bigEnd, err := m.byteOrder("from_bytes", args[1])
	if err != nil {
		return unbound, err
	}
	signed := false
	if args[2].Bound() {
		if signed, err = m.Truth(args[2]); err != nil {
			return unbound, err
		}
	}
	b, err := m.bytesOfObject(args[0])
	if err != nil {
		return unbound, err
	}
	m.ChargeEach(len(b), m.dyn.Char)
	m.Alloc(intBytes + len(b))
	raw := []byte(b)
	if !bigEnd {
		// Paid: by the charge for each byte above.
		slices.Reverse(raw)
	}
	n := new(big.Int).SetBytes(raw)
	if signed && len(raw) > 0 && raw[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
	}
	v := intOf(n)
	if a.Values[0] == m.rt.classes.int_.value() {
		return v, nil
	}
	return m.Call(a.Values[0], v)
}
