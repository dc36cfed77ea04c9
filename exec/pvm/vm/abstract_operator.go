package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// exact tells whether v is of a builtin class itself, not of a subclass.
func exact(v Value) bool { return v.ref.class == nil }

// Binary is a op b.
func (m *Machine) Binary(op Operator, a, b Value) (Value, error) {
	if exact(a) && exact(b) {
		if r, ok, err := m.builtinBinary(op, a, b); ok || err != nil {
			return r, err
		}
	}
	r, err := m.binaryBySpecials(op, a, b)
	if err != nil || r != NotImplemented {
		return r, err
	}
	return unbound, m.operandError(operatorTexts[op], a, b)
}

func (m *Machine) operandError(text string, a, b Value) error {
	return m.Raise(m.rt.classes.TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", text, m.typeName(a), m.typeName(b))
}

func (m *Machine) builtinBinary(op Operator, a, b Value) (Value, bool, error) {
	if a.ref.kind == KindStr && b.ref.kind == KindStr {
		return m.textBinary(op, a, b)
	}
	if r, ok, err := m.numberBinary(op, a, b); ok || err != nil {
		return r, ok, err
	}
	if a.ref.kind == KindList || a.ref.kind == KindTuple { // their text, not that of a str on the right
		return m.containerBinary(op, a, b)
	}
	if r, ok, err := m.textBinary(op, a, b); ok || err != nil {
		return r, ok, err
	}
	return m.containerBinary(op, a, b)
}

// binaryBySpecials asks the operands' classes in Python's order: the right one
// first when it is of a subclass that has another reflected method.
func (m *Machine) binaryBySpecials(op Operator, a, b Value) (Value, error) {
	ca, cb := m.classOf(a), m.classOf(b)
	left, right := ca.sp(spAdd+special(op)), cb.sp(spRAdd+special(op))
	if ca != cb && right.Bound() && cb.subclassOf(ca) && right != ca.sp(spRAdd+special(op)) {
		if r, err := m.callBound(right, b, cb, a); err != nil || r != NotImplemented {
			return r, err
		}
		right = unbound
	}
	if right.Bound() && sequenceSlot(op, a, left) {
		if r, err := m.reflectedFirst(op, a, b); err != nil || r != NotImplemented {
			return r, err
		}
		right = unbound
	}
	if left.Bound() {
		if op == OpMul && sequenceSlot(op, a, left) && !m.isIndex(b) {
			return unbound, m.repeatError(b)
		}
		if r, err := m.callBound(left, a, ca, b); err != nil || r != NotImplemented {
			return r, err
		}
	}
	if ca != cb && right.Bound() {
		if op == OpMul && sequenceSlot(op, b, right) && !m.isIndex(a) {
			return unbound, m.repeatError(a)
		}
		return m.callBound(right, b, cb, a)
	}
	return NotImplemented, nil
}

// reflectedFirst asks the right operand of + or * whose left one is a builtin
// sequence, unless it is one too.
func (m *Machine) reflectedFirst(op Operator, a, b Value) (Value, error) {
	cb := m.classOf(b)
	right := cb.sp(spRAdd + special(op))
	if m.classOf(a) == cb || !right.Bound() || sequenceSlot(op, b, right) {
		return NotImplemented, nil
	}
	return m.callBound(right, b, cb, a)
}

// sequenceSlot tells whether + or * is that of a builtin sequence: CPython asks
// it after the reflected method on the right.
func sequenceSlot(op Operator, a, method Value) bool {
	if op != OpAdd && op != OpMul {
		return false
	}
	switch a.Kind() {
	case KindStr, KindBytes, KindByteArray, KindList, KindTuple:
		_, native := method.refSelf().(*Native)
		return native
	}
	return false
}

// InPlace is a op= b: what a's __iop__ answers, else a op b.
func (m *Machine) InPlace(op Operator, a, b Value) (Value, error) {
	ca := m.classOf(a)
	own := ca.sp(spIAdd + special(op))
	if own.Bound() && sequenceSlot(op, a, own) {
		if r, err := m.reflectedFirst(op, a, b); err != nil || r != NotImplemented {
			return r, err
		}
		if op == OpMul && !m.isIndex(b) {
			return unbound, m.repeatError(b)
		}
	}
	if own.Bound() {
		if op == OpAdd && ca == m.rt.classes.list {
			return m.listIAdd(own, a, b)
		}
		if r, err := m.callBound(own, a, ca, b); err != nil || r != NotImplemented {
			return r, err
		}
	}
	if exact(a) && exact(b) {
		if r, ok, err := m.builtinBinary(op, a, b); ok || err != nil {
			return r, err
		}
	}
	r, err := m.binaryBySpecials(op, a, b)
	if err != nil || r != NotImplemented {
		return r, err
	}
	text := operatorTexts[op]
	if op == OpPow {
		text = "**"
	}
	return unbound, m.operandError(text+"=", a, b)
}

// Unary is -a, +a, ~a and not a.
func (m *Machine) Unary(op code.Op, a Value) (Value, error) {
	if op == code.Not {
		t, err := m.Truth(a)
		return Bool(!t), err
	}
	if exact(a) {
		if r, ok := m.numberUnary(op, a); ok {
			return r, nil
		}
	}
	sp, text := spNeg, "unary -"
	switch op {
	case code.Pos:
		sp, text = spPos, "unary +"
	case code.Inv:
		sp, text = spInvert, "unary ~"
	}
	r, ok, err := m.callSpecial(a, sp)
	if ok || err != nil {
		return r, err
	}
	return unbound, m.Raise(m.rt.classes.TypeError, "bad operand type for %s: '%s'", text, m.typeName(a))
}

// Compare is a op b for ==, !=, <, <=, >, >=, whatever the result.
func (m *Machine) Compare(op CompareOp, a, b Value) (Value, error) {
	if exact(a) && exact(b) {
		if r, ok, err := m.builtinCompare(op, a, b); ok || err != nil {
			return r, err
		}
	}
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	defer m.Exit()
	ca, cb := m.classOf(a), m.classOf(b)
	mine, theirs := ca.sp(spEq+special(op)), cb.sp(spEq+special(swapped[op]))
	if ca != cb && theirs.Bound() && cb.subclassOf(ca) {
		if r, err := m.compareBy(theirs, b, cb, a); err != nil || r != NotImplemented {
			return r, err
		}
		theirs = unbound
	}
	if mine.Bound() {
		if r, err := m.compareBy(mine, a, ca, b); err != nil || r != NotImplemented {
			return r, err
		}
	}
	if theirs.Bound() {
		if r, err := m.compareBy(theirs, b, cb, a); err != nil || r != NotImplemented {
			return r, err
		}
	}
	switch op {
	case CompareEq:
		return Bool(a.is(b)), nil
	case CompareNe:
		return Bool(!a.is(b)), nil
	}
	return unbound, m.Raise(m.rt.classes.TypeError, "'%s' not supported between instances of '%s' and '%s'",
		compareTexts[op], m.typeName(a), m.typeName(b))
}

func (m *Machine) compareBy(raw, v Value, c *Class, w Value) (Value, error) {
	if raw.IsNone() {
		return unbound, m.Raise(m.rt.classes.TypeError, "'NoneType' object is not callable")
	}
	if bindsSelf(raw) {
		return m.Call(raw, v, w)
	}
	m.Charge(2 * m.dyn.NativeCall) // for an exception that nobody hears of
	fn, err := m.bind(raw, v, c)
	if err != nil {
		return NotImplemented, nil // as CPython, which forgets what the descriptor raised
	}
	return m.Call(fn, w)
}

func (m *Machine) builtinCompare(op CompareOp, a, b Value) (Value, bool, error) {
	if a.ref.kind == KindStr && b.ref.kind == KindStr {
		return m.textCompare(op, a, b)
	}
	if r, ok, err := m.numberCompare(op, a, b); ok || err != nil {
		return r, ok, err
	}
	if r, ok, err := m.textCompare(op, a, b); ok || err != nil {
		return r, ok, err
	}
	return m.containerCompare(op, a, b)
}

// CompareBool is the truth of a op b, where == and != go by identity first, as
// containers do.
func (m *Machine) CompareBool(op CompareOp, a, b Value) (bool, error) {
	if a.is(b) {
		if op == CompareEq {
			return true, nil
		}
		if op == CompareNe {
			return false, nil
		}
	}
	r, err := m.Compare(op, a, b)
	if err != nil {
		return false, err
	}
	return m.Truth(r)
}

// Identical is a is b. Strings, ints and floats have no identity (resolution
// 11.48), but for the library, which compares them with marks of its own. Those of
// a class of the program have that of any object: nobody makes one of them twice.
func (m *Machine) Identical(a, b Value) (bool, error) {
	if (noIdentity(a) && !singleton(b) || noIdentity(b) && !singleton(a)) && !m.ofLibrary() {
		return false, m.Raise(m.rt.classes.DeterminismError, "'is' with a str, int or float is not deterministic; use ==")
	}
	return a.is(b), nil
}

func noIdentity(v Value) bool {
	k := v.ref.kind
	return exact(v) && (k == KindInt || k == KindFloat || k == KindStr)
}

// singleton tells values whose identity cannot depend on how the other operand
// was made.
func singleton(v Value) bool {
	switch v.ref.kind {
	case KindNone, KindEllipsis, KindNotImplemented:
		return true
	case KindInt, KindFloat, KindStr:
		return !exact(v)
	}
	return false
}

// Truth is bool(v).
func (m *Machine) Truth(v Value) (bool, error) {
	if exact(v) {
		switch v.ref.kind {
		case KindNone:
			return false, nil
		case KindBool:
			return v.bits != 0, nil
		}
		if t, ok := m.numberTruth(v); ok {
			return t, nil
		}
		if n, ok := m.builtinLen(v); ok {
			return n != 0, nil
		}
	}
	r, ok, err := m.callSpecial(v, spBool)
	if err != nil {
		return false, err
	}
	if ok {
		if r.Kind() != KindBool {
			return false, m.Raise(m.rt.classes.TypeError, "__bool__ should return bool, returned %s", m.typeName(r))
		}
		return r.bits != 0, nil
	}
	if !m.classOf(v).sp(spLen).Bound() {
		return true, nil
	}
	n, err := m.Len(v)
	return n != 0, err
}
