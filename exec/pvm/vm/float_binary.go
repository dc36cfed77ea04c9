package vm

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/libm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// floatOperator tells the operators that floats have.
func floatOperator(op Operator) bool {
	switch op {
	case OpAdd, OpSub, OpMul, OpDiv, OpMod, OpPow, OpFloorDiv:
		return true
	}
	return false
}

// floatBinary is a op b for the operators that floats have.
func (m *Machine) floatBinary(op Operator, a, b uint64) (Value, error) {
	switch op {
	case OpAdd:
		return FloatBits(softfloat.Add(a, b)), nil
	case OpSub:
		return FloatBits(softfloat.Sub(a, b)), nil
	case OpMul:
		return FloatBits(softfloat.Mul(a, b)), nil
	case OpPow:
		return m.floatPow(a, b)
	}
	if softfloat.IsZero(b) {
		text := "float division by zero"
		switch op {
		case OpMod:
			text = "float modulo"
		case OpFloorDiv:
			text = "float floor division by zero"
		}
		return unbound, m.Raise(m.rt.classes.ZeroDivisionError, "%s", text)
	}
	switch op {
	case OpDiv:
		return FloatBits(softfloat.Div(a, b)), nil
	case OpMod:
		m.chargeRemainder(a, b)
		return FloatBits(softfloat.FloorMod(a, b)), nil
	}
	m.chargeRemainder(a, b)
	return FloatBits(softfloat.FloorDiv(a, b)), nil
}

// chargeRemainder charges for a remainder, which divides again and again while
// the numbers are far apart.
func (m *Machine) chargeRemainder(a, b uint64) {
	m.ChargeEach(softfloat.Gap(a, b)/int(m.Work().RemainderBits)+1, m.dyn.LimbWork)
}

// floatPow is a ** b. There are no complex numbers: a broken power of a negative
// number is a ValueError.
func (m *Machine) floatPow(a, b uint64) (Value, error) {
	m.Charge(m.Work().PowerFunc * m.dyn.FloatFunc)
	switch {
	case softfloat.IsZero(a) && softfloat.Signbit(b) && !softfloat.IsZero(b) && softfloat.IsFinite(b):
		return unbound, m.Raise(m.rt.classes.ZeroDivisionError, "0.0 cannot be raised to a negative power")
	case softfloat.IsFinite(a) && softfloat.IsFinite(b) && softfloat.Signbit(a) && !softfloat.IsZero(a) && !softfloat.IsIntegral(b):
		return unbound, m.Raise(m.rt.classes.ValueError, "negative number cannot be raised to a fractional power")
	}
	r, verdict := libm.Pow(a, b)
	if verdict == libm.Range || softfloat.IsInf(r) && softfloat.IsFinite(a) && softfloat.IsFinite(b) {
		return unbound, m.RaiseValue(m.rt.classes.OverflowError, SmallInt(34), m.newStr("Numerical result out of range").val())
	}
	return FloatBits(r), nil
}
