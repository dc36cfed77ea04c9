package vm

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// enterPlain enters fn whose parameters are exactly the n registers from at.
func (m *Machine) enterPlain(f *frame, fn *Function, at, end, n int) *frame {
	m.chargeClear(max(len(f.regs), end) - at)
	m.depth++
	nf := &m.pool[m.used]
	m.used++
	w := f.regs[at:end]
	if at+n < len(f.regs) { // what f left above, also behind w: w's own calls count on it
		clear(f.regs[at+n:])
	}
	nf.regs, nf.unit, nf.fn, nf.back, nf.how, nf.pc, nf.handled = w, fn.unit, fn, f, byCall, 0, m.handled
	m.frame = nf
	return nf
}

func mulInt(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	hi -= uint64(x>>63)&uint64(y) + uint64(y>>63)&uint64(x)
	return int64(lo), hi == uint64(int64(lo)>>63)
}

func bitInt(op code.Op, x, y int64) int64 {
	switch op {
	case code.BitAnd, code.IBitAnd:
		return x & y
	case code.BitOr, code.IBitOr:
		return x | y
	default:
		return x ^ y
	}
}

func compareInt(op code.Op, x, y int64) bool {
	switch CompareOp(op) {
	case CompareEq:
		return x == y
	case CompareNe:
		return x != y
	case CompareLt:
		return x < y
	case CompareLe:
		return x <= y
	case CompareGt:
		return x > y
	default:
		return x >= y
	}
}

// arith is a binary operator, in place or not.
func (m *Machine) arith(op code.Op, x, y Value) (Value, error) {
	if op >= code.IAdd {
		return m.InPlace(Operator(op-code.IAdd), x, y)
	}
	if op == code.Div && x.ref == &floatTag && y.ref == &floatTag && !softfloat.IsZero(y.bits) {
		return FloatBits(softfloat.Div(x.bits, y.bits)), nil
	}
	return m.Binary(Operator(op-code.Add), x, y)
}

// addSmall is AddI beyond small ints: x + n, where the source may say x - (-n)
// or x += n; for numbers they are the same.
func (m *Machine) addSmall(x Value, n int64) (Value, error) {
	if n < 0 {
		return m.Binary(OpSub, x, SmallInt(-n))
	}
	return m.Binary(OpAdd, x, SmallInt(n))
}

// truth is bool(v) with the plain cases first.
func (m *Machine) truth(v *Value) (bool, error) {
	switch v.ref {
	case &boolTag, &intTag:
		return v.bits != 0, nil
	case &noneTag:
		return false, nil
	}
	return m.Truth(*v)
}

// compareJump compares what is not two small ints.
func (m *Machine) compareJump(op CompareOp, x, y *Value) (bool, error) {
	if x.ref == &floatTag && y.ref == &floatTag {
		c, ordered := softfloat.Compare(x.bits, y.bits)
		if !ordered {
			return op == CompareNe, nil
		}
		return compareInt(code.Op(op), int64(c), 0), nil
	}
	v, err := m.Compare(op, *x, *y)
	if err != nil {
		return false, err
	}
	return m.truth(&v)
}

// fastItem is v[i] for lists and tuples and small ints in range.
func fastItem(v, i *Value) (Value, bool) {
	if i.ref != &intTag || v.ref.class != nil {
		return unbound, false
	}
	var items []Value
	switch v.ref.kind {
	case KindList:
		items = v.ref.self.(*List).items
	case KindTuple:
		items = v.ref.self.(*Tuple).items
	default:
		return unbound, false
	}
	n := int64(i.bits)
	if n < 0 {
		n += int64(len(items))
	}
	if uint64(n) >= uint64(len(items)) {
		return unbound, false
	}
	return items[n], true
}

// iterate is iter(v).
func (m *Machine) iterate(v Value) (Value, error) { return m.Iter(v) }
