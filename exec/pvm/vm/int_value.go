package vm

// Numbers: ints of 64 bits live in the value, larger ones are big.Int and pay by limbs;
// floats are bits that package softfloat computes with, so that no processor's
// arithmetic shows.

import (
	"math/big"
	"math/bits"
	"strconv"

	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// limbs is the size of an int in 64-bit limbs, at least one.
func limbs(n *big.Int) int { return (n.BitLen()+63)/64 + 1 }

// integer returns an int or bool, or one of a subclass.
func (v Value) integer() (format.Int, bool) {
	switch v.Kind() {
	case KindBool:
		return format.Int{Small: int64(v.bits)}, true
	case KindInt:
		if v.ref == &intTag {
			return format.Int{Small: int64(v.bits)}, true
		}
		n := v.ref.self.(*Int).big
		if n.IsInt64() {
			return format.Int{Small: n.Int64()}, true
		}
		return format.Int{Big: n}, true
	}
	return format.Int{}, false
}

func (v Value) isInteger() bool { k := v.Kind(); return k == KindInt || k == KindBool }

// bigOf is n as a big.Int that must not be changed.
func bigOf(n format.Int) *big.Int {
	if n.Big != nil {
		return n.Big
	}
	return big.NewInt(n.Small)
}

// intOf makes a value without announcing memory: big work announces it before.
func intOf(n *big.Int) Value {
	if n.IsInt64() {
		return SmallInt(n.Int64())
	}
	o := &Int{big: fitted(n)}
	return o.head(KindInt, nil, o)
}

// fitted is n in room of its own size where that is much smaller than what it was computed
// in: a difference of long numbers may be short, and the heap counts what it is.
func fitted(n *big.Int) *big.Int {
	w := n.Bits()
	if cap(w) <= max(2*len(w), shortWords) {
		return n
	}
	// Paid: by the work that had room for more.
	out := new(big.Int).SetBits(append(make([]big.Word, 0, len(w)), w...))
	if n.Sign() < 0 {
		out.Neg(out)
	}
	return out
}

// bigInt is an int beyond 64 bits together with its number, in one allocation.
type bigInt struct {
	Int
	own big.Int
}

// shortWords is the size of ints whose words are in the same allocation too, fewWords that
// of most of them.
const (
	shortWords = 10
	fewWords   = 4
)

// shortInt is a bigInt with its words.
type shortInt struct {
	bigInt
	words [shortWords]big.Word
}

// fewInt is a shortInt of a few words.
type fewInt struct {
	bigInt
	words [fewWords]big.Word
}

// newBigInt makes an int whose number is still to be computed, of at most so
// many words.
func newBigInt(words int) *bigInt {
	switch {
	case words > shortWords:
		return new(bigInt)
	case words <= fewWords:
		o := new(fewInt)
		o.own.SetBits(o.words[:0])
		return &o.bigInt
	}
	o := new(shortInt)
	o.own.SetBits(o.words[:0])
	return &o.bigInt
}

// words is the size of a number in words of this machine.
func words(n *big.Int) int { return len(n.Bits()) }

// value is the int once own is computed, a small one where it fits.
func (o *bigInt) value() Value {
	if o.own.IsInt64() {
		return SmallInt(o.own.Int64())
	}
	if o.big = fitted(&o.own); o.big != &o.own {
		o.own = big.Int{}
	}
	return o.head(KindInt, nil, &o.Int)
}

// newInt makes an int of any size, a small one where it fits.
func (m *Machine) newInt(n *big.Int) Value {
	if n.IsInt64() {
		return SmallInt(n.Int64())
	}
	m.Alloc(intBytes + 8*limbs(n))
	return intOf(n)
}

func (m *Machine) intFrom(n format.Int) Value {
	if n.Big == nil {
		return SmallInt(n.Small)
	}
	return m.newInt(n.Big)
}

// spend charges work in products of limbs and announces a result of that many
// limbs, before either exists.
func (m *Machine) spend(work int64, result int) {
	if price := m.dyn.LimbWork; price > 0 && work > m.CyclesLeft()/price {
		work = -1 // more than there is: this aborts
	}
	m.Charge(work * m.dyn.LimbWork)
	m.Alloc(intBytes + 8*result)
}

// mostWork is more than any machine has cycles for.
const mostWork = 1 << 62

// product is that of counts which a program chose, none of them negative, or mostWork for
// more: three lengths of ints may have a product beyond 64 bits, and a charge that wrapped
// would be none.
func product(counts ...int64) int64 {
	p := uint64(1)
	// Bounded: by the four counts that callers give.
	for _, n := range counts {
		hi, lo := bits.Mul64(p, uint64(n))
		if hi != 0 || lo > mostWork {
			return mostWork
		}
		p = lo
	}
	return int64(p)
}

// index returns v as an int by __index__, which any int is itself.
func (m *Machine) index(v Value) (format.Int, error) {
	if n, ok := v.integer(); ok {
		return n, nil
	}
	r, ok, err := m.callSpecial(v, spIndex)
	if err != nil {
		return format.Int{}, err
	}
	if !ok {
		return format.Int{}, m.Raise(m.rt.classes.TypeError, "'%s' object cannot be interpreted as an integer", m.typeName(v))
	}
	n, isInt := r.integer()
	if !isInt {
		return format.Int{}, m.Raise(m.rt.classes.TypeError, "__index__ returned non-int (type %s)", m.typeName(r))
	}
	return n, nil
}

// Index is operator.index(v) as 64 bits: OverflowError beyond.
func (m *Machine) Index(v Value) (int64, error) {
	if v.ref == &intTag {
		return int64(v.bits), nil
	}
	n, err := m.index(v)
	if err != nil {
		return 0, err
	}
	if n.Big != nil {
		return 0, m.Raise(m.rt.classes.OverflowError, "Python int too large to convert to C ssize_t")
	}
	return n.Small, nil
}

// floatBits returns a float, or one of a subclass.
func (v Value) floatBits() (uint64, bool) {
	if v.Kind() != KindFloat {
		return 0, false
	}
	if v.ref == &floatTag {
		return v.bits, true
	}
	return v.ref.self.(*Float).bits, true
}

// intToFloat rounds an int to binary64.
func (m *Machine) intToFloat(n format.Int) (uint64, error) {
	if n.Big == nil {
		return softfloat.FromInt64(n.Small), nil
	}
	m.ChargeEach(2*limbs(n.Big), m.dyn.LimbWork)
	x, ok := softfloat.FromBig(n.Big)
	if !ok {
		return 0, m.Raise(m.rt.classes.OverflowError, "int too large to convert to float")
	}
	return x, nil
}

// realBits returns a float, int or bool as binary64; false for anything else.
func (m *Machine) realBits(v Value) (uint64, bool, error) {
	if x, ok := v.floatBits(); ok {
		return x, true, nil
	}
	if n, ok := v.integer(); ok {
		x, err := m.intToFloat(n)
		return x, true, err
	}
	return 0, false, nil
}

// formatError turns an error of the format package into an exception.
func (m *Machine) formatError(err error) error {
	e, ok := err.(*format.Error)
	if !ok {
		return err
	}
	c := &m.rt.classes
	k := [...]*Class{c.ValueError, c.TypeError, c.OverflowError, c.IndexError, c.MemoryError}[e.Kind]
	if e.Text == "" {
		return m.RaiseValue(k)
	}
	return m.Raise(k, "%s", e.Text)
}

// numberTruth is bool(v) of int, bool and float.
func (m *Machine) numberTruth(v Value) (is, ok bool) {
	switch v.Kind() {
	case KindBool:
		return v.bits != 0, true
	case KindInt:
		if v.ref == &intTag {
			return v.bits != 0, true
		}
		return v.ref.self.(*Int).big.Sign() != 0, true
	case KindFloat:
		x, _ := v.floatBits()
		return !softfloat.IsZero(x), true
	}
	return false, false
}

// numberHash is hash(v) of int, bool and float: the value modulo 2^61-1.
func (m *Machine) numberHash(v Value) (int64, bool) {
	if x, ok := v.floatBits(); ok {
		return softfloat.Hash(x), true
	}
	n, ok := v.integer()
	if !ok {
		return 0, false
	}
	var h int64
	if n.Big == nil {
		h = n.Small % hashModulus
	} else {
		m.ChargeEach(limbs(n.Big), m.dyn.LimbWork)
		h = new(big.Int).Rem(n.Big, big.NewInt(hashModulus)).Int64()
	}
	if h == -1 {
		h = -2
	}
	return h, true
}

// chargeDecimal pays for a conversion between decimal text and an int of that
// many limbs, which is quadratic.
func (m *Machine) chargeDecimal(n format.Int) {
	if n.Big != nil && n.Big.BitLen() <= 64*256 {
		l := int64(limbs(n.Big))
		m.ChargeCount(2*l*l, m.dyn.LimbWork)
	}
}

// decimal is str(n): ValueError beyond 4300 digits.
func (m *Machine) decimal(n format.Int) (string, error) {
	m.chargeDecimal(n)
	out, err := format.AppendDecimal(nil, n)
	if err != nil {
		return "", m.formatError(err)
	}
	return string(out), nil
}

// numberText is repr(v) of int, bool and float.
func (m *Machine) numberText(v Value) (string, bool, error) {
	switch v.Kind() {
	case KindBool:
		if v.bits != 0 {
			return "True", true, nil
		}
		return "False", true, nil
	case KindInt:
		n, _ := v.integer()
		s, err := m.decimal(n)
		return s, true, err
	case KindFloat:
		x, _ := v.floatBits()
		return softfloat.Repr(x), true, nil
	}
	return "", false, nil
}

// numberRepr is repr(v) of int, bool and float.
func (m *Machine) numberRepr(v Value) (*Str, bool, error) {
	if v.ref == &intTag {
		var digits [20]byte
		out := strconv.AppendInt(digits[:0], int64(v.bits), 10)
		m.ChargeEach(len(out), m.dyn.Char)
		return m.newStrOf(out), true, nil
	}
	s, ok, err := m.numberText(v)
	if err != nil || !ok {
		return nil, ok, err
	}
	m.ChargeEach(len(s), m.dyn.Char)
	return m.newStr(s), true, nil
}
