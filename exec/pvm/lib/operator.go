package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// loadOperator makes the module operator: the operators as functions, and the three
// classes of callables that take something out of what they are called with.
func loadOperator(m *vm.Machine) (*vm.Module, error) {
	inner := m.NewModule("_operator") // where CPython's functions say that they are from
	mod := m.NewModule("operator")
	var names []vm.Value
	add := func(d vm.Def) {
		inner.Define(m, d)
		fn, _ := inner.Get(m, d.Name)
		mod.Set(m, d.Name, fn)
		names = append(names, m.NewStr(d.Name))
		switch d.Name {
		case "truth", "is_", "is_not", "indexOf", "countOf", "length_hint":
		default:
			// Bounded: by one character; once, when the library is loaded.
			mod.Set(m, "__"+strings.TrimSuffix(d.Name, "_")+"__", fn)
		}
	}
	// Bounded: by the table; once, when the library is loaded.
	for _, b := range binaryOperators {
		add(def(b.name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return m.Binary(b.op, a.Values[0], a.Values[1]) }))
		// Bounded: by one character; once, when the library is loaded.
		add(def("i"+strings.TrimSuffix(b.name, "_"), 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return m.InPlace(b.op, a.Values[0], a.Values[1])
		}))
	}
	// Bounded: by the table; once, when the library is loaded.
	for _, c := range comparisons {
		add(def(c.name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return m.Compare(c.op, a.Values[0], a.Values[1]) }))
	}
	// Bounded: by the table; once, when the library is loaded.
	for _, u := range unaryOperators {
		add(def(u.name, 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return m.Unary(u.op, a.Values[0]) }))
	}
	// Bounded: by the table; once, when the library is loaded.
	for _, d := range operatorDefs {
		add(d)
	}
	// Bounded: by three classes; once, when the library is loaded.
	for _, c := range []*vm.Class{itemGetterClass(m), attrGetterClass(m), methodCallerClass(m)} {
		mod.Set(m, c.Name(), c.Value())
		names = append(names, m.NewStr(c.Name()))
	}
	if err := m.Sort(names); err != nil {
		return nil, err
	}
	return mod.Set(m, "__all__", m.NewList(names)), nil
}

var binaryOperators = [...]struct {
	name string
	op   vm.Operator
}{
	{"add", vm.OpAdd},
	{"sub", vm.OpSub},
	{"mul", vm.OpMul},
	{"matmul", vm.OpMatMul},
	{"truediv", vm.OpDiv},
	{"mod", vm.OpMod},
	{"pow", vm.OpPow},
	{"lshift", vm.OpLShift},
	{"rshift", vm.OpRShift},
	{"or_", vm.OpBitOr},
	{"xor", vm.OpBitXor},
	{"and_", vm.OpBitAnd},
	{"floordiv", vm.OpFloorDiv},
}

var comparisons = [...]struct {
	name string
	op   vm.CompareOp
}{
	{"eq", vm.CompareEq},
	{"ne", vm.CompareNe},
	{"lt", vm.CompareLt},
	{"le", vm.CompareLe},
	{"gt", vm.CompareGt},
	{"ge", vm.CompareGe},
}

var unaryOperators = [...]struct {
	name string
	op   code.Op
}{
	{"neg", code.Neg}, {"pos", code.Pos}, {"inv", code.Inv}, {"invert", code.Inv}, {"not_", code.Not},
}

var operatorDefs = [...]vm.Def{
	def("abs", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		fn, _ := m.BuiltinName("abs")
		return m.Call(fn, a.Values[0])
	}),
	def("truth", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		t, err := m.Truth(a.Values[0])
		return vm.Bool(t), err
	}),
	def("is_", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		same, err := m.Identical(a.Values[0], a.Values[1])
		return vm.Bool(same), err
	}),
	def("is_not", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		same, err := m.Identical(a.Values[0], a.Values[1])
		return vm.Bool(!same), err
	}),
	def("index", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		n, err := bigIndex(m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return m.NewInt(n), nil
	}),
	def("contains", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		in, err := m.Contains(a.Values[0], a.Values[1])
		return vm.Bool(in), err
	}),
	def("getitem", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return m.GetItem(a.Values[0], a.Values[1]) }),
	def("setitem", 3, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return vm.None, m.SetItem(a.Values[0], a.Values[1], a.Values[2])
	}),
	def("delitem", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return vm.None, m.DelItem(a.Values[0], a.Values[1])
	}),
	def("concat", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return concat(m, a, m.Binary) }),
	def("iconcat", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return concat(m, a, m.InPlace) }),
	def("indexOf", 2, 2, operatorIndexOf),
	def("countOf", 2, 2, operatorCountOf),
	def("length_hint", 1, 2, lengthHint),
	keyworded(def("call", 1, -1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return m.CallArgs(a.Values[0], vm.Args{Values: a.Values[1:], Names: a.Names})
	})),
}

// concat is + of sequences. What is not one is refused, although it might have +.
func concat(m *vm.Machine, a vm.Args, plus func(op vm.Operator, a, b vm.Value) (vm.Value, error)) (vm.Value, error) {
	left, right := a.Values[0], a.Values[1]
	if !joins(left) {
		_, items := special(m, left, "__getitem__")
		_, others := special(m, right, "__getitem__")
		if _, isDict := left.Dict(); isDict || !items || !others || !adds(m, left, right) {
			return vm.None, m.TypeError("'%s' object can't be concatenated", m.TypeName(left))
		}
	}
	return plus(vm.OpAdd, left, right)
}

// adds tells whether some + of the two could be meant.
func adds(m *vm.Machine, left, right vm.Value) bool {
	_, plain := special(m, left, "__add__")
	_, inPlace := special(m, left, "__iadd__")
	_, reflected := special(m, right, "__radd__")
	return plain || inPlace || reflected
}

// joins tells the builtin sequences that have + themselves.
func joins(v vm.Value) bool {
	switch v.Kind() {
	case vm.KindStr, vm.KindBytes, vm.KindByteArray, vm.KindList, vm.KindTuple:
		return true
	}
	return false
}

// eachOf visits the items of a container until fn has seen enough.
func eachOf(m *vm.Machine, container vm.Value, fn func(v vm.Value) (bool, error)) error {
	it, err := m.Iter(container)
	if err != nil {
		if m.IsRaised(err, "TypeError") {
			return m.TypeError("argument of type '%s' is not iterable", m.TypeName(container))
		}
		return err
	}
	defer m.Release(m.Hold(it))
	for {
		v, ok, err := m.Next(it)
		if err != nil || !ok {
			return err
		}
		m.Charge(m.Prices().Step)
		if enough, err := fn(v); err != nil || enough {
			return err
		}
	}
}

func operatorIndexOf(m *vm.Machine, a vm.Args) (vm.Value, error) {
	at, found := int64(-1), false
	err := eachOf(m, a.Values[0], func(v vm.Value) (_ bool, err error) {
		at++
		found, err = m.CompareBool(vm.CompareEq, v, a.Values[1])
		return found, err
	})
	if err != nil {
		return vm.None, err
	}
	if !found {
		return vm.None, m.ValueError("sequence.index(x): x not in sequence")
	}
	return vm.SmallInt(at), nil
}

func operatorCountOf(m *vm.Machine, a vm.Args) (vm.Value, error) {
	n := int64(0)
	err := eachOf(m, a.Values[0], func(v vm.Value) (bool, error) {
		same, err := m.CompareBool(vm.CompareEq, v, a.Values[1])
		if same {
			n++
		}
		return false, err
	})
	return vm.SmallInt(n), err
}

// lengthHint is len(v), else what __length_hint__ answers, else the default.
func lengthHint(m *vm.Machine, a vm.Args) (vm.Value, error) {
	v, instead := a.Values[0], vm.SmallInt(0)
	if d, ok := given(a, 1); ok {
		n, err := m.Index(d)
		if err != nil {
			return vm.None, err
		}
		instead = vm.SmallInt(n)
	}
	if _, ok := special(m, v, "__len__"); ok {
		n, err := m.Len(v)
		if err == nil || !m.IsRaised(err, "TypeError") {
			return vm.SmallInt(n), err
		}
	}
	hint, ok := special(m, v, "__length_hint__")
	if !ok {
		return instead, nil
	}
	r, err := m.Call(hint, v)
	switch {
	case err != nil && m.IsRaised(err, "TypeError"):
		return instead, nil
	case err != nil:
		return vm.None, err
	case r.Same(vm.NotImplemented):
		return instead, nil
	}
	n, ok := r.BigInt()
	if !ok {
		return vm.None, m.TypeError("__length_hint__ must be an integer, not %s", m.TypeName(r))
	}
	if n.Sign() < 0 {
		return vm.None, m.ValueError("__length_hint__() should return >= 0")
	}
	return m.NewInt(n), nil
}
