package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// jsonStyle is the payload of a JSONEncoder: what of its options is not fixed.
type jsonStyle struct {
	leaf
	skipKeys, anyDepth, noNaN bool
}

func (*jsonStyle) Bytes() int { return 64 }

// option takes one keyword of dumps and JSONEncoder. ok is false for others. The
// canonical form is the default, and what contradicts it is refused (resolution
// 11.48; whitepaper, Serialization).
func (s *jsonStyle) option(m *vm.Machine, name string, v vm.Value) (ok bool, err error) {
	var t bool
	switch name {
	case "skipkeys":
		s.skipKeys, err = m.Truth(v)
	case "check_circular":
		t, err = m.Truth(v)
		s.anyDepth = !t
	case "allow_nan":
		t, err = m.Truth(v)
		s.noNaN = !t
	case "ensure_ascii":
		if t, err = m.Truth(v); err == nil && t {
			err = notCanonical(m, "ensure_ascii=False")
		}
	case "sort_keys":
		if t, err = m.Truth(v); err == nil && !t {
			err = notCanonical(m, "sort_keys=True")
		}
	case "indent":
		if !v.IsNone() {
			err = notCanonical(m, "indent=None")
		}
	case "separators":
		if !v.IsNone() && !canonicalSeparators(v) {
			err = notCanonical(m, "separators=(',', ':')")
		}
	default:
		return false, nil
	}
	return true, err
}

func notCanonical(m *vm.Machine, want string) error {
	return m.Raise(m.Builtin("DeterminismError"), "json writes the canonical form only: %s", want)
}

func canonicalSeparators(v vm.Value) bool {
	items, ok := v.Items()
	if !ok || len(items) != 2 {
		return false
	}
	item, okItem := items[0].Text()
	key, okKey := items[1].Text()
	return okItem && okKey && item == "," && key == ":"
}

func (j *jsonModule) defineEncoder(m *vm.Machine) {
	c := j.encoder
	c.Define(
		vm.Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			cls, _ := a.Values[0].Class()
			return m.NewForeign(cls, &jsonStyle{}), nil
		}},
		vm.Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: j.initEncoder},
		def("default", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return vm.None, m.TypeError("Object of type %s is not JSON serializable", m.ClassOf(a.Values[1]).Name())
		}),
		named("encode", 2, []string{"self", "o"}, j.encode),
		named("iterencode", 2, []string{"self", "o", "_one_shot"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			text, err := j.encodeBy(m, a.Values[0], a.Values[1])
			if err != nil {
				return vm.None, err
			}
			return m.Iter(m.NewTuple([]vm.Value{text}))
		}),
	)
	j.iterencode, _ = c.Own("iterencode")
	c.Constant("item_separator", m.NewStr(",")).Constant("key_separator", m.NewStr(":"))
}

func (j *jsonModule) initEncoder(m *vm.Machine, a vm.Args) (vm.Value, error) {
	self := a.Values[0]
	s, err := payload[*jsonStyle](m, self)
	if err != nil {
		return vm.None, err
	}
	if n := len(a.Positional()); n > 1 {
		return vm.None, m.TypeError("JSONEncoder.__init__() takes 1 positional argument but %d were given", n)
	}
	err = eachKeyword(a, func(name *vm.Str, v vm.Value) error {
		if ok, err := s.option(m, name.String(), v); ok || err != nil {
			return err
		}
		if name.String() != "default" {
			return m.TypeError("JSONEncoder.__init__() got an unexpected keyword argument '%s'", name.String())
		}
		if v.IsNone() {
			return nil
		}
		return m.SetAttr(self, m.Name("default"), v)
	})
	if err != nil {
		return vm.None, err
	}
	return vm.None, setAll(m, self,
		[]string{"skipkeys", "ensure_ascii", "check_circular", "allow_nan", "sort_keys", "indent"},
		[]vm.Value{vm.Bool(s.skipKeys), vm.False, vm.Bool(!s.anyDepth), vm.Bool(!s.noNaN), vm.True, vm.None})
}

func (j *jsonModule) encode(m *vm.Machine, a vm.Args) (vm.Value, error) {
	self, o := a.Values[0], a.Values[1]
	if own, ok := m.ClassOf(self).Lookup(m, "iterencode"); !ok || own.Same(j.iterencode) {
		return j.encodeBy(m, self, o)
	}
	fn, err := m.GetAttr(self, m.Name("iterencode"))
	if err != nil {
		return vm.None, err
	}
	chunks, err := m.Call(fn, o)
	if err != nil {
		return vm.None, err
	}
	join, err := m.GetAttr(m.NewStr(""), m.Name("join"))
	if err != nil {
		return vm.None, err
	}
	return m.Call(join, chunks)
}

// encodeBy writes o as the encoder self does.
func (j *jsonModule) encodeBy(m *vm.Machine, self, o vm.Value) (vm.Value, error) {
	s, err := payload[*jsonStyle](m, self)
	if err != nil {
		return vm.None, err
	}
	fallback, err := m.GetAttr(self, m.Name("default"))
	if err != nil {
		return vm.None, err
	}
	return s.dump(m, o, fallback)
}

// dumps is json.dumps.
func (j *jsonModule) dumps(m *vm.Machine, a vm.Args) (vm.Value, error) {
	o, rest, err := oneArgument(m, a, "dumps", "obj")
	if err != nil {
		return vm.None, err
	}
	s := &jsonStyle{}
	fallback, cls := vm.None, vm.None
	var names []*vm.Str
	var values []vm.Value
	err = eachKeyword(rest, func(name *vm.Str, v vm.Value) error {
		if ok, err := s.option(m, name.String(), v); ok || err != nil {
			return err
		}
		switch name.String() {
		case "default":
			fallback = v
		case "cls":
			cls = v
		default:
			names, values = append(names, name), append(values, v)
		}
		return nil
	})
	if err != nil {
		return vm.None, err
	}
	if cls.IsNone() {
		if len(names) > 0 {
			return vm.None, m.TypeError("JSONEncoder.__init__() got an unexpected keyword argument '%s'", names[0].String())
		}
		return s.dump(m, o, fallback)
	}
	// Bounded: by eight keywords.
	for _, kw := range []struct {
		name string
		v    vm.Value
	}{
		{"skipkeys", vm.Bool(s.skipKeys)},
		{"ensure_ascii", vm.False},
		{"check_circular", vm.Bool(!s.anyDepth)},
		{"allow_nan", vm.Bool(!s.noNaN)},
		{"indent", vm.None},
		{"separators", vm.None},
		{"default", fallback},
		{"sort_keys", vm.True},
	} {
		names, values = append(names, m.Name(kw.name)), append(values, kw.v)
	}
	encoder, err := m.CallArgs(cls, vm.Args{Values: values, Names: names})
	if err != nil {
		return vm.None, err
	}
	defer m.Release(m.Hold(encoder))
	encode, err := m.GetAttr(encoder, m.Name("encode"))
	if err != nil {
		return vm.None, err
	}
	return m.Call(encode, o)
}
