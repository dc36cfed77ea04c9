package vm

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
)

// fieldArgs are the arguments of str.format or format_map.
type fieldArgs struct {
	pos     []Value
	names   []*Str
	values  []Value // of names
	mapping Value   // of format_map
	numbers format.Numbering
}

func strFormat(m *Machine, a Args) (Value, error) {
	pos := a.Positional()
	f := &fieldArgs{pos: pos[1:], names: a.Names, values: a.Values[len(pos):]}
	return m.formatFields(a.Values[0], f)
}

func strFormatMap(m *Machine, a Args) (Value, error) {
	return m.formatFields(a.Values[0], &fieldArgs{mapping: a.Values[1]})
}

func (m *Machine) formatFields(self Value, f *fieldArgs) (Value, error) {
	s, _ := self.str()
	out, err := m.markup(s.s, f, 0)
	if err != nil {
		return unbound, m.formatError(err)
	}
	return m.newStr(out).val(), nil
}

// markup fills the fields of a format string.
func (m *Machine) markup(text string, f *fieldArgs, nesting int) (string, error) {
	if nesting >= format.MaxNesting {
		return "", format.NestingError()
	}
	if err := m.Enter(); err != nil {
		return "", err
	}
	defer m.Exit()
	m.ChargeEach(len(text), m.dyn.Char)
	parts := format.NewMarkup(text)
	var out []byte
	// Paid: by the charge for each byte of the text above, and by reserve.
	for {
		p, more, err := parts.Next()
		if err != nil {
			return "", err
		}
		if !more {
			return string(out), nil
		}
		m.reserveText(int64(len(p.Literal)))
		out = append(out, p.Literal...)
		if !p.Field {
			continue
		}
		s, err := m.markupField(p, f, nesting)
		if err != nil {
			return "", err
		}
		m.reserveText(int64(len(s.s)))
		out = append(out, s.s...)
	}
}

func (m *Machine) markupField(p format.Part, f *fieldArgs, nesting int) (*Str, error) {
	m.Charge(m.dyn.Step)
	v, err := m.fieldValue(p.Name, f)
	if err != nil {
		return nil, err
	}
	defer m.Release(m.Hold(v))
	if p.Conversion != 0 {
		if err := format.CheckConversion(p.Conversion); err != nil {
			return nil, err
		}
		var s *Str
		switch p.Conversion {
		case 'r':
			s, err = m.Repr(v)
		case 's':
			s, err = m.Str(v)
		default:
			s, err = m.ASCII(v)
		}
		if err != nil {
			return nil, err
		}
		v = s.val()
		m.Hold(v)
	}
	spec := p.Spec
	if p.Nested {
		if spec, err = m.markup(spec, f, nesting+1); err != nil {
			return nil, err
		}
	}
	return m.Format(v, m.newStr(spec))
}

// fieldValue finds an argument and follows the path behind it.
func (m *Machine) fieldValue(name string, f *fieldArgs) (Value, error) {
	index, key, path, err := f.numbers.Split(name)
	if err != nil {
		return unbound, err
	}
	v, err := m.fieldArg(index, key, f)
	if err != nil {
		return unbound, err
	}
	for {
		step, more, err := path.Next()
		if err != nil || !more {
			return v, err
		}
		m.Charge(m.dyn.NativeCall)
		mark := m.Hold(v)
		switch {
		case step.Attribute:
			v, err = m.GetAttr(v, m.newStr(step.Name))
		case step.Index >= 0:
			v, err = m.GetItem(v, SmallInt(step.Index))
		default:
			v, err = m.GetItem(v, m.newStr(step.Name).val())
		}
		m.Release(mark)
		if err != nil {
			return unbound, err
		}
	}
}

func (m *Machine) fieldArg(index int64, key string, f *fieldArgs) (Value, error) {
	if index >= 0 {
		if f.mapping.Bound() {
			return unbound, m.Raise(m.rt.classes.ValueError, "Format string contains positional fields")
		}
		if index >= int64(len(f.pos)) {
			return unbound, format.OutOfRange(index)
		}
		return f.pos[index], nil
	}
	k := m.newStr(key)
	if f.mapping.Bound() {
		return m.GetItem(f.mapping, k.val())
	}
	m.ChargeEach(len(f.names)/int(m.Work().TokenBytes), m.dyn.Element)
	if len(key) > shortKey {
		m.ChargeCount(int64(len(f.names))*int64(len(key)/int(m.Work().KeyBytes)), m.dyn.Char)
	}
	// Paid: by the charges above, for TokenBytes names an element, and for the bytes of a long key.
	for i, n := range f.names {
		if n.s == key {
			return f.values[i], nil
		}
	}
	return unbound, m.RaiseValue(m.rt.classes.KeyError, k.val())
}
