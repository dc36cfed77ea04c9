// Package lib is the library of the Python machine: the modules of the
// whitelist and those that a genesis may list besides (whitepaper, Module and
// Dependency Management; resolutions 8.13, 14.10), written as natives on the
// embedding interface of package vm, or in Python over such. They behave and fail
// as CPython 3.11's, but where determinism asks for less: json writes the canonical
// form only (resolution 11.48), decimal has one context, hashlib two hashes, cbor2
// is the part that has one answer.
//
// In flows a machine that imports a module, out flows the module. A machine keeps
// the modules between calls and takes back what a call changed; nothing here
// outlives a machine.
//
// Every loop over what a program hands in is charged before it runs; memory is
// announced before it is taken; recursion goes through [vm.Machine.Enter].
package lib

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Modules returns the library, which a runtime is made with.
func Modules() []vm.ModuleDef {
	return append([]vm.ModuleDef{
		internalModule(),
		{Name: "decimal", Kept: true, Load: loadDecimal},
		{Name: "hashlib", Kept: true, Load: loadHashlib},
		{Name: "itertools", Kept: true, Load: loadItertools},
		{Name: "json", Kept: true, Load: loadJSON},
		{Name: "math", Kept: true, Load: loadMath},
		{Name: "operator", Kept: true, Load: loadOperator},
		{Name: "re", Kept: true, Load: loadRe},
		{Name: "struct", Kept: true, Load: loadStruct},
	}, pythonModules()...)
}

// def names a native for Def tables: name, least and most arguments.
func def(name string, least, most int, fn vm.NativeFunc) vm.Def {
	return vm.Def{Name: name, Min: least, Max: most, Fn: fn}
}

// named is def for a native that takes keywords.
func named(name string, least int, params []string, fn vm.NativeFunc) vm.Def {
	return vm.Def{Name: name, Min: least, Max: len(params), Params: params, Fn: fn}
}

// payload returns what the receiver of a method keeps, TypeError when it is of
// another class.
func payload[T vm.Payload](m *vm.Machine, v vm.Value) (T, error) {
	p, _ := v.Foreign()
	t, ok := p.(T)
	if !ok {
		return t, m.TypeError("descriptor requires another object, not '%s'", m.TypeName(v))
	}
	return t, nil
}

// given returns argument i, and whether it is there.
func given(a vm.Args, i int) (vm.Value, bool) {
	if i < len(a.Values) && a.Values[i].Bound() {
		return a.Values[i], true
	}
	return vm.None, false
}

// orNone returns argument i, None when it is absent.
func orNone(a vm.Args, i int) vm.Value {
	v, _ := given(a, i)
	return v
}

// madeText is the text that a getter makes anew each time: getters pay for no call.
func madeText(m *vm.Machine, text string) vm.Value {
	m.Charge(m.Prices().NativeCall)
	return m.NewStr(text)
}

// special finds a special method of v's class.
func special(m *vm.Machine, v vm.Value, name string) (vm.Value, bool) {
	return m.ClassOf(v).Lookup(m, name)
}

// limbs is the number of 64-bit words of n, at least one.
func limbs(n *big.Int) int { return n.BitLen()/64 + 1 }

// limbWork charges for work over as many words, with their products.
func limbWork(m *vm.Machine, n int) { m.ChargeEach(n, m.Prices().LimbWork) }

// chars charges for reading or writing as many code points or bytes.
func chars(m *vm.Machine, n int) { m.ChargeEach(n, m.Prices().Char) }

// tokens charges for compiling a text of n bytes.
func tokens(m *vm.Machine, n int) {
	m.ChargeEach(n/int(m.Work().TokenBytes)+1, m.Prices().Token)
}

// elements charges for reading or writing as many elements.
func elements(m *vm.Machine, n int) { m.ChargeEach(n, m.Prices().Element) }

// bigIndex is operator.index without a bound. CPython's text names what it is
// not.
func bigIndex(m *vm.Machine, v vm.Value) (*big.Int, error) {
	if n, ok := v.BigInt(); ok {
		return n, nil
	}
	fn, ok := special(m, v, "__index__")
	if !ok {
		return nil, m.TypeError("'%s' object cannot be interpreted as an integer", m.TypeName(v))
	}
	r, err := m.Call(fn, v)
	if err != nil {
		return nil, err
	}
	n, ok := r.BigInt()
	if !ok {
		return nil, m.TypeError("__index__ returned non-int (type %s)", m.TypeName(r))
	}
	return n, nil
}

// leaf is the payload of objects that keep no values.
type leaf struct{}

func (leaf) Roots(func(vm.Value)) {}
