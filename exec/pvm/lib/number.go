package lib

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// real is what CPython's functions of floats make of an argument: a float, or
// what __float__ or __index__ answers.
func real(m *vm.Machine, v vm.Value) (uint64, error) {
	if x, ok := v.FloatEncoding(); ok {
		return x, nil
	}
	if n, ok := v.Int64(); ok {
		return softfloat.FromInt64(n), nil
	}
	n, ok := v.BigInt()
	if !ok {
		if fn, has := special(m, v, "__float__"); has {
			r, err := m.Call(fn, v)
			if err != nil {
				return 0, err
			}
			x, isFloat := r.FloatEncoding()
			if !isFloat {
				return 0, m.TypeError("%s.__float__ returned non-float (type %s)", m.TypeName(v), m.TypeName(r))
			}
			return x, nil
		}
		if _, has := special(m, v, "__index__"); !has {
			return 0, m.TypeError("must be real number, not %s", m.TypeName(v))
		}
		var err error
		if n, err = bigIndex(m, v); err != nil {
			return 0, err
		}
	}
	return bigReal(m, n)
}

// bigReal is the float nearest n.
func bigReal(m *vm.Machine, n *big.Int) (uint64, error) {
	limbWork(m, limbs(n))
	x, ok := softfloat.FromBig(n)
	if !ok {
		return 0, m.Raise(m.Builtin("OverflowError"), "int too large to convert to float")
	}
	return x, nil
}

// wholeOf is a float without its fraction as an int.
func wholeOf(m *vm.Machine, x uint64) (vm.Value, error) {
	if n, ok := softfloat.ToInt64(x); ok {
		return vm.SmallInt(n), nil
	}
	switch {
	case softfloat.IsNaN(x):
		return vm.None, m.ValueError("cannot convert float NaN to integer")
	case softfloat.IsInf(x):
		return vm.None, m.Raise(m.Builtin("OverflowError"), "cannot convert float infinity to integer")
	}
	n, _ := softfloat.ToBig(x)
	return m.NewInt(n), nil
}
