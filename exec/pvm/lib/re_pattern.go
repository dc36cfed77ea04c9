package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/regex"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func (r *reModule) definePattern() {
	ranged := func(name string, fn patternFunc) vm.Def {
		return named(name, 2, []string{"self", "string", "pos", "endpos"}, r.method(fn))
	}
	r.pattern.Define(
		def("__new__", 1, -1, func(m *vm.Machine, _ vm.Args) (vm.Value, error) {
			return vm.None, m.TypeError("cannot create 're.Pattern' instances")
		}),
		ranged("match", r.matchFunc((*regex.Program).Match)),
		ranged("search", r.matchFunc((*regex.Program).Search)),
		ranged("fullmatch", r.matchFunc((*regex.Program).FullMatch)),
		ranged("findall", r.findall),
		ranged("finditer", r.finditer),
		named("split", 2, []string{"self", "string", "maxsplit"}, r.method(r.split)),
		named("sub", 3, []string{"self", "repl", "string", "count"}, r.method(r.sub(false))),
		named("subn", 3, []string{"self", "repl", "string", "count"}, r.method(r.sub(true))),
		def("__copy__", 1, 1, itself),
		def("__deepcopy__", 2, 2, itself),
		def("__repr__", 1, 1, r.method(patternRepr)),
		def("__eq__", 2, 2, r.method(patternEq)),
		def("__hash__", 1, 1, r.method(func(m *vm.Machine, p *patternState, _ []vm.Value) (vm.Value, error) {
			h, err := m.Hash(m.NewTuple([]vm.Value{p.source, vm.SmallInt(int64(p.prog.Flags()))}))
			return vm.SmallInt(h), err
		})),
		def("__class_getitem__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return m.NewAlias(a.Values[0], a.Values[1]), nil
		}),
	)
	field := func(name string, get func(m *vm.Machine, p *patternState) (vm.Value, error)) {
		r.pattern.Getter(name, func(m *vm.Machine, v vm.Value) (vm.Value, error) {
			p, err := payload[*patternState](m, v)
			if err != nil {
				return vm.None, err
			}
			return get(m, p)
		}, nil)
	}
	field("pattern", func(_ *vm.Machine, p *patternState) (vm.Value, error) { return p.source, nil })
	field("flags", func(_ *vm.Machine, p *patternState) (vm.Value, error) {
		return vm.SmallInt(int64(p.prog.Flags())), nil
	})
	field("groups", func(_ *vm.Machine, p *patternState) (vm.Value, error) {
		return vm.SmallInt(int64(p.prog.Groups())), nil
	})
	field("groupindex", func(m *vm.Machine, p *patternState) (vm.Value, error) {
		m.Charge(m.Prices().NativeCall)
		d := m.NewDict()
		m.ChargeEach(p.prog.Groups(), m.Prices().DictOp)
		var err error
		p.prog.EachName(func(name string, group int) {
			if err == nil {
				m.Charge(m.Prices().NativeCall) // for the name, as groupdict
				err = m.DictPut(d, m.NewStr(name), vm.SmallInt(int64(group)))
			}
		})
		return m.NewMappingProxy(d.Value()), err
	})
}

func patternRepr(m *vm.Machine, p *patternState, _ []vm.Value) (vm.Value, error) {
	s, err := m.Repr(p.source)
	if err != nil {
		return vm.None, err
	}
	text := firstRunes(s.String(), 200)
	if flags := patternFlags(p.prog); flags != "" {
		text += ", " + flags
	}
	return m.NewStr("re.compile(" + text + ")"), nil
}

// firstRunes cuts a text to n code points.
func firstRunes(s string, n int) string {
	// Bounded: by the 200 code points that callers ask for.
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func patternEq(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error) {
	o, _ := rest[0].Foreign()
	q, ok := o.(*patternState)
	if !ok {
		return vm.NotImplemented, nil
	}
	if p.prog.Flags() != q.prog.Flags() || p.prog.IsBytes() != q.prog.IsBytes() {
		return vm.False, nil
	}
	return m.Compare(vm.CompareEq, p.source, q.source)
}

// maxPos is where a match ends when nothing says where.
const maxPos = 1<<31 - 1

// positions reads pos and endpos.
func positions(m *vm.Machine, rest []vm.Value) (pos, end int, err error) {
	at := [2]int64{0, maxPos}
	// Bounded: by two; an __index__ of the program pays for its call.
	for i := range at {
		if i+1 < len(rest) && rest[i+1].Bound() {
			if at[i], err = m.Index(rest[i+1]); err != nil {
				return 0, 0, err
			}
		}
	}
	return int(min(max(at[0], 0), maxPos)), int(min(max(at[1], 0), maxPos)), nil
}

// matchFunc is match, search and fullmatch.
func (r *reModule) matchFunc(run func(*regex.Program, *regex.Subject, int, int, *regex.Budget) (regex.Groups, bool, error)) patternFunc {
	return func(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error) {
		pos, end, err := positions(m, rest)
		if err != nil {
			return vm.None, err
		}
		s, err := r.subjectOf(m, p, rest[0])
		if err != nil {
			return vm.None, err
		}
		g, ok, err := run(p.prog, s.Subject, pos, end, r.budgetFor(m))
		if err = r.spent(m, err); err != nil || !ok {
			return vm.None, err
		}
		return r.newMatch(m, &matchState{pattern: p, source: rest[0], s: s, g: g, pos: min(pos, s.Len()), end: min(end, s.Len())}), nil
	}
}

// walk calls fn with each match from pos to end, at most count unless that is 0.
func (r *reModule) walk(m *vm.Machine, sc *regex.Scanner, count int64, fn func(g regex.Groups) error) error {
	for n := int64(0); count == 0 || n < count; n++ {
		g, ok, err := sc.Next(r.budgetFor(m))
		if err = r.spent(m, err); err != nil || !ok {
			return err
		}
		m.Charge(m.Work().ScanMatch * m.Prices().NativeCall)
		if err := fn(g); err != nil {
			return err
		}
	}
	return nil
}

// collector gathers values that stay alive while it grows.
type collector struct {
	items []vm.Value
	mark  int
}

func newCollector(m *vm.Machine) *collector { return &collector{mark: m.Hold(vm.None)} }

func (c *collector) add(m *vm.Machine, v vm.Value) {
	m.Alloc(16)
	c.items = append(c.items, v)
	m.Hold(v)
}

// toList ends the gathering.
func (c *collector) toList(m *vm.Machine) vm.Value {
	v := m.NewList(c.items)
	m.Release(c.mark)
	return v
}

func (r *reModule) findall(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error) {
	pos, end, err := positions(m, rest)
	if err != nil {
		return vm.None, err
	}
	s, err := r.subjectOf(m, p, rest[0])
	if err != nil {
		return vm.None, err
	}
	defer m.Release(m.Hold(vm.None))
	out := newCollector(m)
	groups := p.prog.Groups()
	empty := piece(m, s, rest[0], 0, 0)
	err = r.walk(m, p.prog.Scan(s.Subject, pos, end), 0, func(g regex.Groups) error {
		if groups < 2 {
			i := 2 * groups
			out.add(m, orElse(m, s, rest[0], g, i, empty))
			return nil
		}
		elements(m, groups)
		items := make([]vm.Value, groups)
		// Paid: by the elements above, and by piece, a character each of the texts.
		for i := range items {
			items[i] = orElse(m, s, rest[0], g, 2*i+2, empty)
		}
		out.add(m, m.NewTuple(items))
		return nil
	})
	return out.toList(m), err
}

// orElse is the text of the group whose span begins at i, or what stands for
// one that took no part.
func orElse(m *vm.Machine, s *subject, source vm.Value, g regex.Groups, i int, absent vm.Value) vm.Value {
	if g.Spans[i] < 0 {
		return absent
	}
	return piece(m, s, source, g.Spans[i], g.Spans[i+1])
}

// piece is a part of the subject as a string or bytes.
func piece(m *vm.Machine, s *subject, source vm.Value, i, j int) vm.Value {
	if j < i {
		j = i
	}
	chars(m, j-i)
	if !s.IsText() {
		return m.NewBytes(s.Slice(i, j))
	}
	if str, ok := source.StrObject(); ok && str.Runes() == len(str.String()) {
		return m.NewStr(str.String()[i:j])
	}
	return m.NewStr(s.Slice(i, j))
}

func (r *reModule) finditer(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error) {
	pos, end, err := positions(m, rest)
	if err != nil {
		return vm.None, err
	}
	source := rest[0]
	s, err := r.subjectOf(m, p, source)
	if err != nil {
		return vm.None, err
	}
	sc := p.prog.Scan(s.Subject, pos, end)
	next := func(m *vm.Machine) (vm.Value, bool, error) {
		g, ok, err := sc.Next(r.budgetFor(m))
		if err = r.spent(m, err); err != nil || !ok {
			return vm.None, false, err
		}
		m.Charge(m.Prices().NativeCall)
		return r.newMatch(m, &matchState{pattern: p, source: source, s: s, g: g, pos: min(pos, s.Len()), end: min(end, s.Len())}), true, nil
	}
	return m.NewIterator(next, func(visit func(vm.Value)) { visit(p.self); visit(source); visit(s.self) }), nil
}

func (r *reModule) split(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error) {
	count, err := countOf(m, rest, 1)
	if err != nil {
		return vm.None, err
	}
	source := rest[0]
	s, err := r.subjectOf(m, p, source)
	if err != nil {
		return vm.None, err
	}
	defer m.Release(m.Hold(vm.None))
	out, last := newCollector(m), 0
	if count >= 0 {
		err = r.walk(m, p.prog.Scan(s.Subject, 0, s.Len()), count, func(g regex.Groups) error {
			out.add(m, piece(m, s, source, last, g.Start()))
			m.ChargeEach(len(g.Spans)/2-1, 2*m.Prices().Element) // held and listed
			m.ChargeWide(len(g.Spans)/2-1, m.Prices().Copy)      // for lists that grow
			// Paid: by the elements above, and by piece, a character each of the texts.
			for i := 2; i < len(g.Spans); i += 2 {
				out.add(m, orElse(m, s, source, g, i, vm.None))
			}
			last = g.End()
			return nil
		})
	}
	out.add(m, piece(m, s, source, last, s.Len()))
	return out.toList(m), err
}

// countOf reads a count argument that may be absent.
func countOf(m *vm.Machine, rest []vm.Value, i int) (int64, error) {
	if i >= len(rest) || !rest[i].Bound() {
		return 0, nil
	}
	return m.Index(rest[i])
}

// hasBackslash tells templates from plain text.
// Paid: by replaceBy, a character each before.
func hasBackslash(s string) bool { return strings.IndexByte(s, '\\') >= 0 }
