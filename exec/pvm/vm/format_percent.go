package vm

import (
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// builtinFormat is format(v, spec) of str, int, bool and float.
func (m *Machine) builtinFormat(v Value, spec *Str) (*Str, bool, error) {
	if s, ok := v.str(); ok {
		if spec.s == "" {
			if s.class == nil {
				return s, true, nil
			}
			return m.sameText(nil, s), true, nil
		}
		r, err := m.formatSpec(v, spec, format.Text)
		return r, true, err
	}
	target := format.Integer
	switch v.Kind() {
	case KindFloat:
		target = format.Real
	case KindInt, KindBool:
	default:
		return nil, false, nil
	}
	if spec.s == "" {
		return m.numberRepr(v)
	}
	r, err := m.formatSpec(v, spec, target)
	return r, true, err
}

func (m *Machine) formatSpec(v Value, text *Str, target format.Target) (*Str, error) {
	m.ChargeEach(len(text.s), m.dyn.Char)
	spec, err := format.ParseSpec(text.s, target, m.typeName(v))
	if err != nil {
		return nil, m.formatError(err)
	}
	var out []byte
	switch target {
	case format.Text:
		s, _ := v.str()
		m.reserveText(spec.TextBound(s.s))
		out, err = spec.AppendText(nil, s.s)
	case format.Integer:
		n, _ := v.integer()
		m.chargeDecimal(n)
		m.reserveText(spec.IntBound(n))
		out, err = spec.AppendInt(nil, n)
	default:
		x, _ := v.floatBits()
		m.reserveText(spec.RealBound())
		out, err = spec.AppendReal(nil, x)
	}
	if err != nil {
		return nil, m.formatError(err)
	}
	return m.newStr(string(out)), nil
}

// reserveText charges for text about to be written and announces it.
func (m *Machine) reserveText(n int64) {
	if n > m.heap.limit || n < 0 {
		m.Alloc(-1) // past the limit: this aborts
	}
	m.Alloc(int(n))
	m.ChargeEach(int(n), m.dyn.Char)
}

// textPercent is text % args.
func (m *Machine) textPercent(a, args Value) (Value, error) {
	p := &percentArgs{m: m, arg: args}
	if t, ok := args.Self().(*Tuple); ok {
		p.items, p.tuple = t.items, true
	} else {
		p.items = []Value{args}
	}
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	defer m.Exit()
	defer m.releaseOnReturn(len(m.temp))
	if s, ok := a.str(); ok {
		m.ChargeEach(len(s.s), m.dyn.Char)
		out, err := format.AppendPercent(nil, s.s, p)
		if err != nil {
			return unbound, m.formatError(err)
		}
		return m.newStr(string(out)).val(), nil
	}
	p.isBytes = true
	b, _ := m.bytesOf(a)
	m.ChargeEach(len(b), m.dyn.Char)
	out, err := format.AppendPercentBytes(nil, b, p)
	if err != nil {
		return unbound, m.formatError(err)
	}
	return m.bytesLike(a, string(out)), nil
}

// percentArgs are the arguments of %.
type percentArgs struct {
	m       *Machine
	arg     Value   // right operand
	items   []Value // of a tuple, or arg alone
	next    int
	current Value
	tuple   bool
	isBytes bool
	keyed   bool
}

// Mapping tells whether the right operand is a mapping.
func (p *percentArgs) Mapping() bool {
	k := p.arg.Kind()
	if p.tuple || k == KindStr || p.isBytes && isText(k) {
		return false
	}
	return k == KindDict || p.m.classOf(p.arg).sp(spGetitem).Bound()
}

// Key makes the value of a key the only argument.
func (p *percentArgs) Key(key string) error {
	k := p.m.newStr(key).val()
	if p.isBytes {
		k = p.m.newBytes(key).val()
	}
	v, err := p.m.GetItem(p.arg, k)
	if err != nil {
		return err
	}
	p.items, p.next, p.keyed = []Value{v}, 0, true
	p.m.Hold(v)
	return nil
}

// Next makes the next argument the current one.
func (p *percentArgs) Next() bool {
	if p.next >= len(p.items) {
		return false
	}
	p.current = p.items[p.next]
	p.next++
	return true
}

// Left tells whether arguments are left.
func (p *percentArgs) Left() bool { return !p.keyed && p.next < len(p.items) && !p.Mapping() }

// Star is the argument as a width or precision.
func (p *percentArgs) Star() (format.Int, bool) { return p.current.integer() }

// Text is the argument as text.
func (p *percentArgs) Text(verb rune) (string, error) {
	m := p.m
	if p.isBytes && verb != 'r' && verb != 'a' {
		if b, ok := p.m.bytesOf(p.current); ok {
			return b, nil
		}
		r, ok, err := m.callSpecial(p.current, spBytes)
		if err != nil {
			return "", err
		}
		if b, isBytes := m.bytesOf(r); ok && isBytes {
			return b, nil
		}
		return "", format.NotBytes(m.typeName(p.current))
	}
	var s *Str
	var err error
	switch {
	case verb == 'a' || p.isBytes:
		s, err = m.ASCII(p.current)
	case verb == 'r':
		s, err = m.Repr(p.current)
	default:
		s, err = m.Str(p.current)
	}
	if err != nil {
		return "", err
	}
	return s.s, nil
}

// Integer is the argument for d or x.
func (p *percentArgs) Integer(verb rune) (format.Int, error) {
	m, v := p.m, p.current
	if n, ok := v.integer(); ok {
		m.chargeDecimal(n)
		return n, nil
	}
	c := m.classOf(v)
	whole := verb == 'd' || verb == 'i' || verb == 'u'
	if x, ok := v.floatBits(); ok && whole {
		n, err := m.floatToInt(x)
		if err != nil {
			return format.Int{}, err
		}
		i, _ := n.integer()
		return i, nil
	}
	switch {
	case c.sp(spIndex).Bound():
		return m.index(v)
	case whole && c.sp(spInt).Bound():
		r, _, err := m.callSpecial(v, spInt)
		if err != nil {
			return format.Int{}, err
		}
		if n, ok := r.integer(); ok {
			return n, nil
		}
	}
	return format.Int{}, format.NotInteger(verb, m.typeName(v))
}

// Real is the argument for e, f and g.
func (p *percentArgs) Real() (uint64, error) {
	x, err := p.m.toFloat(p.current)
	if err != nil && p.m.isRaised(err, p.m.rt.classes.TypeError) {
		return 0, format.NotReal(p.m.typeName(p.current), p.isBytes)
	}
	return x, err
}

// Char is the argument for c.
func (p *percentArgs) Char() (string, error) {
	if s, ok := p.current.str(); ok && !p.isBytes && s.points() == 1 {
		return s.s, nil
	}
	if p.isBytes && p.current.isBytes() && p.current.bytesLen() == 1 {
		return p.current.BytesPart(0, 1), nil
	}
	if !p.current.isInteger() {
		return "", format.NotChar(false, p.isBytes)
	}
	n, _ := p.current.integer()
	switch {
	case n.Big != nil || n.Small < 0:
		return "", format.NotChar(true, p.isBytes)
	case p.isBytes && n.Small < 256:
		return string([]byte{byte(n.Small)}), nil
	case !p.isBytes && n.Small <= utf8.MaxRune && utf8.ValidRune(rune(n.Small)):
		return string(rune(n.Small)), nil
	}
	return "", format.NotChar(true, p.isBytes)
}

// Reserve pays for what is about to be written.
func (p *percentArgs) Reserve(bytes int64) error {
	p.m.reserveText(bytes)
	return nil
}

// floatToInt is int(x).
func (m *Machine) floatToInt(x uint64) (Value, error) {
	if n, ok := softfloat.ToInt64(x); ok {
		return SmallInt(n), nil
	}
	n, ok := softfloat.ToBig(x)
	switch {
	case ok:
		return m.newInt(n), nil
	case softfloat.IsNaN(x):
		return unbound, m.Raise(m.rt.classes.ValueError, "cannot convert float NaN to integer")
	}
	return unbound, m.Raise(m.rt.classes.OverflowError, "cannot convert float infinity to integer")
}

// toFloat is a number as a float: by __float__ or __index__.
func (m *Machine) toFloat(v Value) (uint64, error) {
	if x, ok, err := m.realBits(v); ok {
		return x, err
	}
	r, ok, err := m.callSpecial(v, spFloat)
	if err != nil {
		return 0, err
	}
	if ok {
		x, is := r.floatBits()
		if !is {
			return 0, m.Raise(m.rt.classes.TypeError, "%s.__float__ returned non-float (type %s)", m.typeName(v), m.typeName(r))
		}
		return x, nil
	}
	if m.classOf(v).sp(spIndex).Bound() {
		n, err := m.index(v)
		if err != nil {
			return 0, err
		}
		return m.intToFloat(n)
	}
	return 0, m.Raise(m.rt.classes.TypeError, "must be real number, not %s", m.typeName(v))
}
