package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// jsonWriter writes one value.
type jsonWriter struct {
	*jsonStyle
	fallback vm.Value // default, None without
	out      []byte
	open     []vm.Value // containers being written, outermost first
}

// dump writes o.
func (s *jsonStyle) dump(m *vm.Machine, o, fallback vm.Value) (vm.Value, error) {
	w := &jsonWriter{jsonStyle: s, fallback: fallback}
	if err := w.value(m, o); err != nil {
		return vm.None, err
	}
	return m.NewStr(string(w.out)), nil
}

// text appends s, charged and announced.
func (w *jsonWriter) text(m *vm.Machine, s string) {
	chars(m, len(s))
	m.Alloc(len(s))
	w.out = append(w.out, s...)
}

func (w *jsonWriter) value(m *vm.Machine, v vm.Value) error {
	m.Charge(m.Prices().NativeCall)
	switch v.Kind() {
	case vm.KindNone:
		w.text(m, "null")
	case vm.KindBool:
		if v.Same(vm.True) {
			w.text(m, "true")
		} else {
			w.text(m, "false")
		}
	case vm.KindStr:
		s, _ := v.Text()
		w.quoted(m, s)
	case vm.KindInt:
		return w.integer(m, v)
	case vm.KindFloat:
		text, err := w.real(m, v)
		if err != nil {
			return err
		}
		w.text(m, text)
	case vm.KindList, vm.KindTuple:
		return w.nested(m, v, w.array)
	case vm.KindDict:
		return w.nested(m, v, w.object)
	default:
		return w.nested(m, v, w.other)
	}
	return nil
}

// integer writes an int as int.__repr__ does, whatever the class.
func (w *jsonWriter) integer(m *vm.Machine, v vm.Value) error {
	text, err := integerText(m, v)
	if err == nil {
		w.text(m, text)
	}
	return err
}

func integerText(m *vm.Machine, v vm.Value) (string, error) {
	if n, ok := v.Int64(); ok {
		return decimalText(n), nil
	}
	n, _ := v.BigInt()
	s, err := m.Repr(m.NewInt(n))
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

func (w *jsonWriter) real(m *vm.Machine, v vm.Value) (string, error) {
	x, _ := v.FloatEncoding()
	if softfloat.IsFinite(x) {
		return softfloat.Repr(x), nil
	}
	if w.noNaN {
		return "", m.ValueError("Out of range float values are not JSON compliant")
	}
	switch {
	case softfloat.IsNaN(x):
		return "NaN", nil
	case softfloat.Signbit(x):
		return "-Infinity", nil
	}
	return "Infinity", nil
}

// quoted writes a string: only what JSON demands is escaped.
func (w *jsonWriter) quoted(m *vm.Machine, s string) {
	const digits = "0123456789abcdef"
	chars(m, len(s)+2)
	m.Alloc(len(s) + 2)
	w.out = append(w.out, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		w.out = append(w.out, s[from:i]...)
		from = i + 1
		chars(m, int(m.Work().EscapedChar))
		m.Alloc(5)
		switch c {
		case '"', '\\':
			w.out = append(w.out, '\\', c)
		case '\n':
			w.out = append(w.out, '\\', 'n')
		case '\r':
			w.out = append(w.out, '\\', 'r')
		case '\t':
			w.out = append(w.out, '\\', 't')
		case '\f':
			w.out = append(w.out, '\\', 'f')
		case '\b':
			w.out = append(w.out, '\\', 'b')
		default:
			w.out = append(w.out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	w.out = append(append(w.out, s[from:]...), '"')
}

// nested writes a container or what default makes of another object, one level
// deeper.
func (w *jsonWriter) nested(m *vm.Machine, v vm.Value, write func(*vm.Machine, vm.Value) error) error {
	if err := m.Enter(); err != nil {
		return err
	}
	defer m.Exit()
	if !w.anyDepth {
		elements(m, len(w.open)/int(m.Work().OpenObjects)+1)
		// Paid: by the elements above, one for eight.
		for _, o := range w.open {
			if o.Same(v) {
				return m.ValueError("Circular reference detected")
			}
		}
	}
	w.open = append(w.open, v)
	err := write(m, v)
	w.open = w.open[:len(w.open)-1]
	return err
}

func (w *jsonWriter) other(m *vm.Machine, v vm.Value) error {
	if w.fallback.IsNone() {
		return m.TypeError("Object of type %s is not JSON serializable", m.ClassOf(v).Name())
	}
	r, err := m.Call(w.fallback, v)
	if err != nil {
		return err
	}
	defer m.Release(m.Hold(r))
	return w.value(m, r)
}

func (w *jsonWriter) array(m *vm.Machine, v vm.Value) error {
	w.text(m, "[")
	// Paid: by value, a native call each.
	for i := 0; ; i++ {
		items, _ := v.Items() // again each time: default may change the list
		if i >= len(items) {
			break
		}
		if i > 0 {
			w.text(m, ",")
		}
		if err := w.value(m, items[i]); err != nil {
			return err
		}
	}
	w.text(m, "]")
	return nil
}

func (w *jsonWriter) object(m *vm.Machine, v vm.Value) error {
	pairs, err := sortedPairs(m, v)
	if err != nil {
		return err
	}
	mark := m.Hold(m.NewTuple(pairs))
	defer m.Release(mark)
	w.text(m, "{")
	first := true
	// Paid: by value, a native call each, and by sortedPairs for those that are skipped.
	for _, pair := range pairs {
		kv, _ := pair.Items()
		key, ok, err := w.key(m, kv[0])
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !first {
			w.text(m, ",")
		}
		first = false
		w.quoted(m, key)
		w.text(m, ":")
		if err := w.value(m, kv[1]); err != nil {
			return err
		}
	}
	w.text(m, "}")
	return nil
}

// key is the text of a key; ok is false for one to be skipped.
func (w *jsonWriter) key(m *vm.Machine, v vm.Value) (text string, ok bool, err error) {
	switch v.Kind() {
	case vm.KindStr:
		text, _ = v.Text()
	case vm.KindNone:
		text = "null"
	case vm.KindBool:
		text = "false"
		if v.Same(vm.True) {
			text = "true"
		}
	case vm.KindInt:
		text, err = integerText(m, v)
	case vm.KindFloat:
		text, err = w.real(m, v)
	default:
		if w.skipKeys {
			return "", false, nil
		}
		return "", false, m.TypeError("keys must be str, int, float, bool or None, not %s", m.TypeName(v))
	}
	return text, err == nil, err
}

// sortedPairs returns the entries as tuples, sorted as Python sorts them: by
// key, then by value.
func sortedPairs(m *vm.Machine, v vm.Value) ([]vm.Value, error) {
	pairs, err := pairsOf(m, v)
	if err != nil {
		return nil, err
	}
	defer m.Release(m.Hold(m.NewTuple(pairs)))
	sorted := append([]vm.Value(nil), pairs...)
	return sorted, m.Sort(sorted)
}

func pairsOf(m *vm.Machine, v vm.Value) ([]vm.Value, error) {
	if m.ClassOf(v) == m.Builtin("dict") {
		d, _ := v.Dict()
		n, err := m.Len(v)
		if err != nil {
			return nil, err
		}
		elements(m, int(2*n))
		return m.DictPairs(d), nil
	}
	fn, err := m.GetAttr(v, m.Name("items"))
	if err != nil {
		return nil, err
	}
	items, err := m.Call(fn)
	if err != nil {
		return nil, err
	}
	pairs, err := m.Collect(items)
	if err != nil {
		return nil, err
	}
	// Paid: by Collect, a step each.
	for _, p := range pairs {
		if kv, ok := p.Items(); !ok || len(kv) != 2 || p.Kind() != vm.KindTuple {
			return nil, m.ValueError("items must return 2-tuples")
		}
	}
	return pairs, nil
}
