package vm

import (
	"math/big"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// numberBinary is a op b for int, bool and float; false when they are not, or
// the operator is not theirs.
func (m *Machine) numberBinary(op Operator, a, b Value) (Value, bool, error) {
	if a.ref == &intTag && b.ref == &intTag {
		if r, ok := smallBinary(op, int64(a.bits), int64(b.bits)); ok {
			return r, true, nil
		}
	}
	x, okA := a.integer()
	y, okB := b.integer()
	if okA && okB {
		if a.ref == &boolTag && b.ref == &boolTag && op >= OpBitOr && op <= OpBitAnd {
			return boolBinary(op, a.bits, b.bits), true, nil
		}
		return m.intBinary(op, x, y)
	}
	if !okA && a.Kind() != KindFloat || !okB && b.Kind() != KindFloat || !floatOperator(op) {
		return unbound, false, nil
	}
	fa, _, err := m.realBits(a)
	if err != nil {
		return unbound, true, err
	}
	fb, _, err := m.realBits(b)
	if err != nil {
		return unbound, true, err
	}
	r, err := m.floatBinary(op, fa, fb)
	return r, true, err
}

func boolBinary(op Operator, a, b uint64) Value {
	switch op {
	case OpBitOr:
		return Bool(a|b != 0)
	case OpBitXor:
		return Bool(a^b != 0)
	}
	return Bool(a&b != 0)
}

// smallBinary is the operators on 64 bits; false when the result does not fit
// or needs the slow path.
func smallBinary(op Operator, a, b int64) (Value, bool) {
	switch op {
	case OpAdd:
		c := a + b
		return SmallInt(c), (c > a) == (b > 0)
	case OpSub:
		c := a - b
		return SmallInt(c), (c < a) == (b > 0)
	case OpMul:
		return smallMul(a, b)
	case OpFloorDiv, OpMod:
		if b == 0 || b == -1 {
			return unbound, false
		}
		q, r := a/b, a%b
		if r != 0 && (r < 0) != (b < 0) {
			q, r = q-1, r+b
		}
		if op == OpMod {
			return SmallInt(r), true
		}
		return SmallInt(q), true
	case OpBitAnd:
		return SmallInt(a & b), true
	case OpBitOr:
		return SmallInt(a | b), true
	case OpBitXor:
		return SmallInt(a ^ b), true
	case OpLShift:
		if b >= 0 && b < 63 && a<<b>>b == a {
			return SmallInt(a << b), true
		}
	case OpRShift:
		if b >= 0 {
			return SmallInt(a >> min(b, 63)), true
		}
	}
	return unbound, false
}

func smallMul(a, b int64) (Value, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The high word of the signed product.
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	return SmallInt(int64(lo)), h == int64(lo)>>63
}

// intBinary is the operators on ints of any size.
func (m *Machine) intBinary(op Operator, a, b format.Int) (Value, bool, error) {
	if a.Big == nil && b.Big == nil {
		if r, ok := smallBinary(op, a.Small, b.Small); ok {
			return r, true, nil
		}
	}
	var r Value
	var err error
	switch op {
	case OpAdd, OpSub, OpBitAnd, OpBitOr, OpBitXor:
		r = m.linear(op, bigOf(a), bigOf(b))
	case OpMul:
		x, y := bigOf(a), bigOf(b)
		lx, ly := limbs(x), limbs(y)
		m.spend(int64(lx)*int64(ly), lx+ly)
		o := newBigInt(words(x) + words(y))
		o.own.Mul(x, y)
		r = o.value()
	case OpDiv:
		r, err = m.intTrueDiv(a, b)
	case OpMod:
		r, err = m.intMod(a, b)
	case OpFloorDiv:
		r, err = m.intFloorDiv(a, b)
	case OpPow:
		r, err = m.intPow(a, b)
	case OpLShift, OpRShift:
		r, err = m.intShift(op, a, b)
	default:
		return unbound, false, nil
	}
	return r, true, err
}

func (m *Machine) linear(op Operator, a, b *big.Int) Value {
	n := max(limbs(a), limbs(b))
	m.spend(int64(n), n+1)
	o := newBigInt(max(words(a), words(b)) + 1)
	r := &o.own
	switch op {
	case OpAdd:
		r.Add(a, b)
	case OpSub:
		r.Sub(a, b)
	case OpBitAnd:
		r.And(a, b)
	case OpBitOr:
		r.Or(a, b)
	default:
		r.Xor(a, b)
	}
	return o.value()
}

func isZero(n format.Int) bool { return n.Big == nil && n.Small == 0 }

// keptLimbs is how large a quotient that nobody asked for may be to give its
// memory to the next.
const keptLimbs = 64

// intMod is the remainder of floor division.
func (m *Machine) intMod(a, b format.Int) (Value, error) {
	if isZero(b) {
		return unbound, m.Raise(m.rt.classes.ZeroDivisionError, "integer modulo by zero")
	}
	x, y := bigOf(a), bigOf(b)
	lx, ly := limbs(x), limbs(y)
	m.spend(1+int64(max(lx-ly+1, 1))*int64(ly), lx+ly)
	o := newBigInt(words(x) + 1)
	m.quotient.QuoRem(x, y, &o.own)
	if cap(m.quotient.Bits()) > keptLimbs {
		m.quotient = big.Int{}
	}
	if o.own.Sign() != 0 && o.own.Sign() != y.Sign() {
		o.own.Add(&o.own, y)
	}
	return o.value(), nil
}

// intFloorDiv is the quotient of floor division.
func (m *Machine) intFloorDiv(a, b format.Int) (Value, error) {
	if isZero(b) {
		return unbound, m.Raise(m.rt.classes.ZeroDivisionError, "integer division or modulo by zero")
	}
	x, y := bigOf(a), bigOf(b)
	lx, ly := limbs(x), limbs(y)
	m.spend(1+int64(max(lx-ly+1, 1))*int64(ly), lx+ly) // dividing by one word takes as long as by two
	o := newBigInt(words(x) + 1)
	o.own.QuoRem(x, y, &m.remainder)
	if m.remainder.Sign() != 0 && m.remainder.Sign() != y.Sign() {
		o.own.Sub(&o.own, big.NewInt(1))
	}
	if cap(m.remainder.Bits()) > keptLimbs {
		m.remainder = big.Int{}
	}
	return o.value(), nil
}

// intDivMod is floor division.
func (m *Machine) intDivMod(a, b format.Int) (q, r *big.Int, err error) {
	if isZero(b) {
		return nil, nil, m.Raise(m.rt.classes.ZeroDivisionError, "integer division or modulo by zero")
	}
	x, y := bigOf(a), bigOf(b)
	lx, ly := limbs(x), limbs(y)
	m.spend(1+int64(max(lx-ly+1, 1))*int64(ly), lx+ly)
	q, r = new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Sign() != 0 && r.Sign() != y.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, y)
	}
	return q, r, nil
}

// intTrueDiv is a / b, rounded once.
func (m *Machine) intTrueDiv(a, b format.Int) (Value, error) {
	if isZero(b) {
		return unbound, m.Raise(m.rt.classes.ZeroDivisionError, "division by zero")
	}
	const exactly = 1 << 53
	if a.Big == nil && b.Big == nil && a.Small <= exactly && a.Small >= -exactly && b.Small <= exactly && b.Small >= -exactly {
		return FloatBits(softfloat.Div(softfloat.FromInt64(a.Small), softfloat.FromInt64(b.Small))), nil
	}
	x, y := bigOf(a), bigOf(b)
	if x.Sign() == 0 && y.Sign() < 0 { // as the floats would
		return FloatBits(softfloat.Div(softfloat.FromInt64(0), softfloat.FromInt64(-1))), nil
	}
	m.ChargeEach(2*(limbs(x)+limbs(y)), m.dyn.LimbWork)
	r, ok := softfloat.FromRatio(x, y)
	if !ok {
		return unbound, m.Raise(m.rt.classes.OverflowError, "integer division result too large for a float")
	}
	return FloatBits(r), nil
}

// intShift is << and >>.
func (m *Machine) intShift(op Operator, a, b format.Int) (Value, error) {
	x := bigOf(a)
	if bigOf(b).Sign() < 0 {
		return unbound, m.Raise(m.rt.classes.ValueError, "negative shift count")
	}
	if op == OpRShift {
		if b.Big != nil || b.Small > int64(x.BitLen()) {
			return SmallInt(int64(min(x.Sign(), 0))), nil
		}
		m.spend(int64(limbs(x)), limbs(x))
		return intOf(new(big.Int).Rsh(x, uint(b.Small))), nil
	}
	if x.Sign() == 0 {
		return SmallInt(0), nil
	}
	if b.Big != nil {
		return unbound, m.Raise(m.rt.classes.OverflowError, "too many digits in integer")
	}
	if b.Small/8 > m.heap.limit {
		m.Alloc(-1) // past the limit: this aborts
	}
	n := limbs(x) + int(b.Small/64) + 1
	m.spend(int64(n), n)
	return intOf(new(big.Int).Lsh(x, uint(b.Small))), nil
}

// intPow is a ** b: a float for negative b.
func (m *Machine) intPow(a, b format.Int) (Value, error) {
	if bigOf(b).Sign() < 0 {
		fa, err := m.intToFloat(a)
		if err != nil {
			return unbound, err
		}
		fb, err := m.intToFloat(b)
		if err != nil {
			return unbound, err
		}
		return m.floatPow(fa, fb)
	}
	x := bigOf(a)
	if x.BitLen() <= 1 || isZero(b) {
		return unitPow(a, b), nil
	}
	hi, lo := bits.Mul64(uint64(x.BitLen()), uint64(b.Small))
	if b.Big != nil || hi != 0 || lo/8 > uint64(m.heap.limit) {
		m.Alloc(-1) // past the limit: this aborts
		return unbound, m.RaiseValue(m.rt.classes.MemoryError)
	}
	n := int64(min(lo/64, 1<<27)) + 2 // a result past any heap, however much larger
	m.spend(product(m.Work().IntPower, n, n), int(n))
	return intOf(new(big.Int).Exp(x, big.NewInt(b.Small), nil)), nil
}

// unitPow is the power of -1, 0 or 1, or to the power 0.
func unitPow(a, b format.Int) Value {
	odd := bigOf(b).Bit(0) == 1
	switch {
	case isZero(b):
		return SmallInt(1)
	case a.Small == -1 && !odd:
		return SmallInt(1)
	}
	return SmallInt(a.Small)
}

// intPowMod is pow(a, b, mod) with the sign of mod.
func (m *Machine) intPowMod(a, b, mod format.Int) (Value, error) {
	if isZero(mod) {
		return unbound, m.Raise(m.rt.classes.ValueError, "pow() 3rd argument cannot be 0")
	}
	x, e, n := bigOf(a), bigOf(b), bigOf(mod)
	abs := new(big.Int).Abs(n)
	l := limbs(n)
	m.spend(product(m.Work().IntPowerMod, int64(l), int64(l), int64(e.BitLen())+1)+int64(limbs(x))*int64(l), 4*l)
	if e.Sign() < 0 {
		m.ChargeCount(int64(l)*int64(l), m.Work().IntInverse*m.dyn.LimbWork)
		inv := new(big.Int).ModInverse(x, abs)
		if inv == nil {
			return unbound, m.Raise(m.rt.classes.ValueError, "base is not invertible for the given modulus")
		}
		x, e = inv, new(big.Int).Neg(e)
	}
	r := new(big.Int).Exp(new(big.Int).Mod(x, abs), e, abs)
	if abs.IsInt64() && abs.Int64() == 1 {
		r.SetInt64(0)
	}
	if n.Sign() < 0 && r.Sign() != 0 {
		r.Add(r, n)
	}
	return intOf(r), nil
}

// numberUnary is -v, +v and ~v.
func (m *Machine) numberUnary(op code.Op, v Value) (Value, bool) {
	if x, ok := v.floatBits(); ok {
		switch op {
		case code.Neg:
			return FloatBits(softfloat.Neg(x)), true
		case code.Pos:
			return FloatBits(x), true
		}
		return unbound, false
	}
	n, ok := v.integer()
	if !ok {
		return unbound, false
	}
	switch {
	case op == code.Pos:
		return m.intFrom(n), true
	case op == code.Inv && n.Big == nil:
		return SmallInt(^n.Small), true
	case op == code.Neg && n.Big == nil && n.Small != -n.Small:
		return SmallInt(-n.Small), true
	case op == code.Neg && isZero(n):
		return SmallInt(0), true
	}
	x := bigOf(n)
	m.spend(int64(limbs(x)), limbs(x)+1)
	if op == code.Inv {
		return intOf(new(big.Int).Not(x)), true
	}
	return intOf(new(big.Int).Neg(x)), true
}

// numberCompare is a op b for int, bool and float, exactly.
func (m *Machine) numberCompare(op CompareOp, a, b Value) (Value, bool, error) {
	if a.ref == &intTag && b.ref == &intTag {
		return ordered(op, compareInt64(int64(a.bits), int64(b.bits))), true, nil
	}
	x, okA := a.integer()
	y, okB := b.integer()
	fa, isA := a.floatBits()
	fb, isB := b.floatBits()
	if !okA && !isA || !okB && !isB {
		return unbound, false, nil
	}
	c, known := 0, true
	switch {
	case okA && okB && x.Big == nil && y.Big == nil:
		c = compareInt64(x.Small, y.Small)
	case okA && okB:
		p, q := bigOf(x), bigOf(y)
		m.ChargeEach(min(limbs(p), limbs(q)), m.dyn.LimbWork)
		c = p.Cmp(q)
	case isA && isB:
		c, known = softfloat.Compare(fa, fb)
	case isA:
		c, known = m.compareFloatInt(fa, y)
	default:
		c, known = m.compareFloatInt(fb, x)
		c = -c
	}
	if !known {
		return Bool(op == CompareNe), true, nil
	}
	return ordered(op, c), true, nil
}

// floatBits is how many bits the whole part of a float has at most.
const floatBits = 1024

// compareFloatInt compares a float with an int: with a large one of the same length as the
// int that it stands for, which is made for that.
func (m *Machine) compareFloatInt(x uint64, n format.Int) (int, bool) {
	if n.Big == nil {
		return softfloat.CompareInt64(x, n.Small)
	}
	if n.Big.BitLen() <= floatBits { // else no float is near it
		m.ChargeEach(limbs(n.Big), m.dyn.LimbWork)
	}
	return softfloat.CompareBig(x, n.Big)
}

func compareInt64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ordered is what op says of the order c.
func ordered(op CompareOp, c int) Value {
	switch op {
	case CompareEq:
		return Bool(c == 0)
	case CompareNe:
		return Bool(c != 0)
	case CompareLt:
		return Bool(c < 0)
	case CompareLe:
		return Bool(c <= 0)
	case CompareGt:
		return Bool(c > 0)
	}
	return Bool(c >= 0)
}
