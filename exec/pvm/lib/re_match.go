package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/regex"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// matchState is the payload of a Match.
type matchState struct {
	pattern  *patternState
	source   vm.Value
	s        *subject
	g        regex.Groups
	pos, end int
}

// Roots visits the pattern, the string and its copy.
func (s *matchState) Roots(visit func(vm.Value)) {
	visit(s.pattern.self)
	visit(s.source)
	visit(s.s.self)
}

// Bytes counts the spans.
func (s *matchState) Bytes() int { return 128 + 16*len(s.g.Spans) }

func (r *reModule) newMatch(m *vm.Machine, s *matchState) vm.Value {
	elements(m, len(s.g.Spans))
	return m.NewForeign(r.match, s)
}

// matchFunc is a method of Match without the receiver.
type matchFunc func(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error)

func matchMethod(fn matchFunc) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		s, err := payload[*matchState](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, s, a.Values[1:])
	}
}

func (r *reModule) defineMatch() {
	r.match.Define(
		def("__new__", 1, -1, func(m *vm.Machine, _ vm.Args) (vm.Value, error) {
			return vm.None, m.TypeError("cannot create 're.Match' instances")
		}),
		def("group", 1, -1, matchMethod(matchGroup)),
		def("__getitem__", 2, 2, matchMethod(func(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error) {
			return s.group(m, rest[0], vm.None)
		})),
		named("groups", 1, []string{"self", "default"}, matchMethod(matchGroups)),
		named("groupdict", 1, []string{"self", "default"}, matchMethod(matchGroupdict)),
		def("start", 1, 2, matchMethod(matchSpan(func(_ *vm.Machine, i, _ vm.Value) vm.Value { return i }))),
		def("end", 1, 2, matchMethod(matchSpan(func(_ *vm.Machine, _, j vm.Value) vm.Value { return j }))),
		def("span", 1, 2, matchMethod(matchSpan(func(m *vm.Machine, i, j vm.Value) vm.Value {
			return m.NewTuple([]vm.Value{i, j})
		}))),
		named("expand", 2, []string{"self", "template"}, matchMethod(r.expand)),
		def("__copy__", 1, 1, itself),
		def("__deepcopy__", 2, 2, itself),
		def("__repr__", 1, 1, matchMethod(matchRepr)),
		def("__class_getitem__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return m.NewAlias(a.Values[0], a.Values[1]), nil
		}),
	)
	field := func(name string, get func(m *vm.Machine, s *matchState) vm.Value) {
		r.match.Getter(name, func(m *vm.Machine, v vm.Value) (vm.Value, error) {
			s, err := payload[*matchState](m, v)
			if err != nil {
				return vm.None, err
			}
			return get(m, s), nil
		}, nil)
	}
	field("re", func(_ *vm.Machine, s *matchState) vm.Value { return s.pattern.self })
	field("string", func(_ *vm.Machine, s *matchState) vm.Value { return s.source })
	field("pos", func(_ *vm.Machine, s *matchState) vm.Value { return vm.SmallInt(int64(s.pos)) })
	field("endpos", func(_ *vm.Machine, s *matchState) vm.Value { return vm.SmallInt(int64(s.end)) })
	field("lastindex", func(_ *vm.Machine, s *matchState) vm.Value {
		if s.g.LastIndex == 0 {
			return vm.None
		}
		return vm.SmallInt(int64(s.g.LastIndex))
	})
	field("lastgroup", func(m *vm.Machine, s *matchState) vm.Value {
		if s.g.LastIndex == 0 || s.pattern.prog.GroupName(s.g.LastIndex) == "" {
			return vm.None
		}
		name := s.pattern.prog.GroupName(s.g.LastIndex)
		m.Charge(m.Prices().NativeCall)
		return m.NewStr(name)
	})
	field("regs", func(m *vm.Machine, s *matchState) vm.Value {
		m.ChargeEach(len(s.g.Spans)/2, m.Prices().NativeCall) // for a pair each
		items := make([]vm.Value, len(s.g.Spans)/2)
		// Paid: by the charge above, a native call each.
		for i := range items {
			a, b := s.g.Spans[2*i], s.g.Spans[2*i+1]
			items[i] = m.NewTuple([]vm.Value{vm.SmallInt(int64(a)), vm.SmallInt(int64(b))})
		}
		return m.NewTuple(items)
	})
}

// number finds the group that v, an index or a name, stands for.
func (s *matchState) number(m *vm.Machine, v vm.Value) (int, error) {
	if name, ok := v.Text(); ok {
		chars(m, len(name))
		if g, ok := s.pattern.prog.GroupNumber(name); ok {
			return g, nil
		}
		return 0, m.Raise(m.Builtin("IndexError"), "no such group")
	}
	if _, ok := special(m, v, "__index__"); ok {
		n, err := bigIndex(m, v)
		if err != nil {
			return 0, err
		}
		if n.IsInt64() && n.Sign() >= 0 && n.Int64() < int64(len(s.g.Spans)/2) {
			return int(n.Int64()), nil
		}
	}
	return 0, m.Raise(m.Builtin("IndexError"), "no such group")
}

func (s *matchState) text(m *vm.Machine, g int, absent vm.Value) vm.Value {
	return orElse(m, s.s, s.source, s.g, 2*g, absent)
}

func (s *matchState) group(m *vm.Machine, v, absent vm.Value) (vm.Value, error) {
	g, err := s.number(m, v)
	if err != nil {
		return vm.None, err
	}
	return s.text(m, g, absent), nil
}

func matchGroup(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error) {
	switch len(rest) {
	case 0:
		return s.text(m, 0, vm.None), nil
	case 1:
		return s.group(m, rest[0], vm.None)
	}
	elements(m, len(rest))
	m.ChargeWide(len(rest), 2*m.Prices().Element)
	items := make([]vm.Value, len(rest))
	// Paid: by the elements above, and by number and piece, a character each of names and texts.
	for i, v := range rest {
		var err error
		if items[i], err = s.group(m, v, vm.None); err != nil {
			return vm.None, err
		}
	}
	return m.NewTuple(items), nil
}

// absentOf is the default argument of groups and groupdict.
func absentOf(rest []vm.Value) vm.Value {
	if len(rest) > 0 && rest[0].Bound() {
		return rest[0]
	}
	return vm.None
}

func matchGroups(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error) {
	n := len(s.g.Spans)/2 - 1
	elements(m, n)
	m.ChargeWide(n, 2*m.Prices().Element) // a text each, as of group
	items := make([]vm.Value, n)
	// Paid: by the elements above, and by piece, a character each of the texts.
	for i := range items {
		items[i] = s.text(m, i+1, absentOf(rest))
	}
	return m.NewTuple(items), nil
}

func matchGroupdict(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error) {
	d := m.NewDict()
	var err error
	s.pattern.prog.EachName(func(name string, g int) {
		if err == nil {
			m.Charge(m.Prices().NativeCall) // the name is made anew, and the dict grows
			err = m.DictPut(d, m.NewStr(name), s.text(m, g, absentOf(rest)))
		}
	})
	return d.Value(), err
}

func matchSpan(pick func(m *vm.Machine, i, j vm.Value) vm.Value) matchFunc {
	return func(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error) {
		g := 0
		if len(rest) > 0 {
			var err error
			if g, err = s.number(m, rest[0]); err != nil {
				return vm.None, err
			}
		}
		return pick(m, vm.SmallInt(int64(s.g.Spans[2*g])), vm.SmallInt(int64(s.g.Spans[2*g+1]))), nil
	}
}

// expand is Match.expand(template).
func (r *reModule) expand(m *vm.Machine, s *matchState, rest []vm.Value) (vm.Value, error) {
	text, isText := rest[0].Text()
	if !isText {
		var ok bool
		if text, ok = m.BytesText(rest[0]); !ok {
			return vm.None, m.TypeError("decoding to str: need a bytes-like object, %s found", m.TypeName(rest[0]))
		}
	}
	if isText != s.s.IsText() {
		return vm.None, m.TypeError("sequence item 0: expected another kind of string, %s found", m.TypeName(rest[0]))
	}
	m.ChargeEach(len(text), m.Prices().Token)
	t, fault := regex.ParseReplacement(text, s.pattern.prog, regex.DefaultLimits())
	if fault != nil {
		return vm.None, r.refused(m, fault, rest[0])
	}
	elements(m, t.Parts()/int(m.Work().TokenBytes))
	n := t.Size(s.s.Subject, s.g)
	chars(m, n)
	m.Alloc(n)
	out := string(t.Append(nil, s.s.Subject, s.g))
	if isText {
		return m.NewStr(out), nil
	}
	return m.NewBytes(out), nil
}

func matchRepr(m *vm.Machine, s *matchState, _ []vm.Value) (vm.Value, error) {
	text, err := m.Repr(s.text(m, 0, vm.None))
	if err != nil {
		return vm.None, err
	}
	return m.NewStr("<re.Match object; span=(" + decimalText(int64(s.g.Start())) + ", " + decimalText(int64(s.g.End())) +
		"), match=" + firstRunes(text.String(), 50) + ">"), nil
}
