package vm

import (
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
)

// numberBuiltins are the builtin functions of numbers and characters.
func (rt *Runtime) numberBuiltins() []Def {
	return []Def{
		{Name: "abs", Min: 1, Max: 1, Fn: builtinAbs},
		{Name: "bin", Min: 1, Max: 1, Fn: inBase('b')},
		{Name: "oct", Min: 1, Max: 1, Fn: inBase('o')},
		{Name: "hex", Min: 1, Max: 1, Fn: inBase('x')},
		{Name: "chr", Min: 1, Max: 1, Fn: builtinChr},
		{Name: "ord", Min: 1, Max: 1, Fn: builtinOrd},
		{Name: "divmod", Min: 2, Max: 2, Fn: builtinDivmod},
		{Name: "pow", Min: 2, Max: 3, Params: []string{"base", "exp", "mod"}, Fn: builtinPow},
		{Name: "round", Min: 1, Max: 2, Params: []string{"number", "ndigits"}, Fn: builtinRound},
	}
}

func builtinAbs(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	if k := v.Kind(); exact(v) && (k == KindInt || k == KindBool || k == KindFloat) {
		return numberAbs(m, a)
	}
	r, ok, err := m.callSpecial(v, spAbs)
	if !ok && err == nil {
		err = m.Raise(m.rt.classes.TypeError, "bad operand type for abs(): '%s'", m.typeName(v))
	}
	return r, err
}

// inBase is bin, oct and hex.
func inBase(verb rune) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		n, err := m.index(a.Values[0])
		if err != nil {
			return unbound, err
		}
		spec := format.Spec{Fill: ' ', Align: '>', Sign: '-', Alt: true, Precision: -1, Type: verb}
		m.reserveText(spec.IntBound(n))
		out, err := spec.AppendInt(nil, n)
		if err != nil {
			return unbound, m.formatError(err)
		}
		return m.newStr(string(out)).val(), nil
	}
}

func builtinChr(m *Machine, a Args) (Value, error) {
	n, err := m.index(a.Values[0])
	switch {
	case err != nil:
		return unbound, err
	case n.Big != nil || n.Small != int64(int32(n.Small)):
		return unbound, m.Raise(m.rt.classes.OverflowError, "Python int too large to convert to C int")
	case n.Small < 0 || n.Small > utf8.MaxRune:
		return unbound, m.Raise(m.rt.classes.ValueError, "chr() arg not in range(0x110000)")
	case !utf8.ValidRune(rune(n.Small)):
		return unbound, m.Raise(m.rt.classes.ValueError, "chr() arg is a surrogate, and strings hold none")
	}
	return m.newStr(string(rune(n.Small))).val(), nil
}

func builtinOrd(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	n := 0
	if s, ok := v.str(); ok {
		if s.points() == 1 {
			r, _ := utf8.DecodeRuneInString(s.s)
			return SmallInt(int64(r)), nil
		}
		n = s.points()
	} else if v.isBytes() {
		if n = v.bytesLen(); n == 1 {
			return SmallInt(int64(v.BytesPart(0, 1)[0])), nil
		}
	} else {
		return unbound, m.Raise(m.rt.classes.TypeError, "ord() expected string of length 1, but %s found", m.typeName(v))
	}
	return unbound, m.Raise(m.rt.classes.TypeError, "ord() expected a character, but string of length %d found", n)
}

func builtinDivmod(m *Machine, args Args) (Value, error) {
	a, b := args.Values[0], args.Values[1]
	if exact(a) && exact(b) {
		if r, ok, err := m.numberDivmod(a, b); ok || err != nil {
			return r, err
		}
	}
	ca, cb := m.classOf(a), m.classOf(b)
	left, right := ca.sp(spDivmod), cb.sp(spRDivmod)
	if ca != cb && right.Bound() && cb.subclassOf(ca) && right != ca.sp(spRDivmod) {
		if r, err := m.callBound(right, b, cb, a); err != nil || r != NotImplemented {
			return r, err
		}
		right = unbound
	}
	if left.Bound() && !left.IsNone() {
		if r, err := m.callBound(left, a, ca, b); err != nil || r != NotImplemented {
			return r, err
		}
	}
	if ca != cb && right.Bound() && !right.IsNone() {
		if r, err := m.callBound(right, b, cb, a); err != nil || r != NotImplemented {
			return r, err
		}
	}
	return unbound, m.operandError("divmod()", a, b)
}

func builtinPow(m *Machine, args Args) (Value, error) {
	a, b := args.Values[0], args.Values[1]
	if len(args.Values) < 3 || !args.Values[2].Bound() || args.Values[2].IsNone() {
		return m.Binary(OpPow, a, b)
	}
	mod := args.Values[2]
	r, ok, err := m.callSpecial(a, spAdd+special(OpPow), b, mod)
	if err != nil || ok && r != NotImplemented {
		return r, err
	}
	if mod.Kind() == KindFloat || b.Kind() == KindFloat {
		return unbound, m.Raise(m.rt.classes.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
	}
	return unbound, m.Raise(m.rt.classes.TypeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'", m.typeName(a), m.typeName(b), m.typeName(mod))
}

func builtinRound(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	args := a.Values[1:]
	if len(args) > 0 && (!args[0].Bound() || args[0].IsNone()) {
		args = nil
	}
	r, ok, err := m.callSpecial(v, spRound, args...)
	if !ok && err == nil {
		err = m.Raise(m.rt.classes.TypeError, "type %s doesn't define __round__ method", m.typeName(v))
	}
	return r, err
}
