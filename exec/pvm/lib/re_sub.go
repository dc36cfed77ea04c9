package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/regex"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// substitution is one run of sub.
type substitution struct {
	r      *reModule
	p      *patternState
	s      *subject
	source vm.Value
	fn     vm.Value           // called for each match, or None
	tmpl   *regex.Replacement // or this
	fixed  string             // or this
	plain  bool

	out   []byte
	parts int // what CPython joins, for the index in its error
}

// sub is sub and subn.
func (r *reModule) sub(withCount bool) patternFunc {
	return func(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error) {
		count, err := countOf(m, rest, 2)
		if err != nil {
			return vm.None, err
		}
		w := &substitution{r: r, p: p, source: rest[1], fn: vm.None}
		if err := w.replaceBy(m, rest[0]); err != nil {
			return vm.None, err
		}
		if w.s, err = r.subjectOf(m, p, rest[1]); err != nil {
			return vm.None, err
		}
		defer m.Release(m.Hold(w.s.self))
		n, last := int64(0), 0
		if count >= 0 {
			err = r.walk(m, p.prog.Scan(w.s.Subject, 0, w.s.Len()), count, func(g regex.Groups) error {
				w.copy(m, last, g.Start())
				last = g.End()
				n++
				return w.replace(m, g)
			})
			if err != nil {
				return vm.None, err
			}
		}
		if n == 0 {
			if !withCount {
				return rest[1], nil
			}
			return m.NewTuple([]vm.Value{rest[1], vm.SmallInt(0)}), nil
		}
		w.copy(m, last, w.s.Len())
		v := m.NewBytes
		if w.s.IsText() {
			v = m.NewStr
		}
		text := v(string(w.out))
		if withCount {
			return m.NewTuple([]vm.Value{text, vm.SmallInt(n)}), nil
		}
		return text, nil
	}
}

// replaceBy reads the repl argument.
func (w *substitution) replaceBy(m *vm.Machine, repl vm.Value) error {
	if m.Callable(repl) {
		w.fn = repl
		return nil
	}
	text, isText := repl.Text()
	if !isText {
		var ok bool
		if text, ok = m.BytesText(repl); !ok {
			return m.TypeError("decoding to str: need a bytes-like object, %s found", m.TypeName(repl))
		}
	}
	chars(m, len(text))
	if isText == w.p.prog.IsBytes() {
		w.fn = repl // refused at the first match, as CPython does
		return nil
	}
	if !hasBackslash(text) {
		w.fixed, w.plain = text, true
		return nil
	}
	m.ChargeEach(len(text), m.Prices().Token)
	t, fault := regex.ParseReplacement(text, w.p.prog, regex.DefaultLimits())
	if fault != nil {
		return w.r.refused(m, fault, repl)
	}
	w.tmpl = t
	return nil
}

// grow announces and charges n more bytes of output.
func (w *substitution) grow(m *vm.Machine, n int) {
	chars(m, n)
	m.Alloc(n)
	w.parts++
}

func (w *substitution) copy(m *vm.Machine, i, j int) {
	if i < j {
		text := w.s.Slice(i, j)
		w.grow(m, len(text))
		w.out = append(w.out, text...)
	}
}

func (w *substitution) replace(m *vm.Machine, g regex.Groups) error {
	switch {
	case w.plain:
		w.grow(m, len(w.fixed))
		w.out = append(w.out, w.fixed...)
		return nil
	case w.tmpl != nil:
		elements(m, w.tmpl.Parts()/int(m.Work().TokenBytes))
		w.grow(m, w.tmpl.Size(w.s.Subject, g))
		w.out = w.tmpl.Append(w.out, w.s.Subject, g)
		return nil
	}
	v := w.fn
	if m.Callable(w.fn) {
		match := w.r.newMatch(m, &matchState{pattern: w.p, source: w.source, s: w.s, g: g, end: w.s.Len()})
		var err error
		if v, err = m.Call(w.fn, match); err != nil {
			return err
		}
	}
	if v.IsNone() {
		return nil
	}
	text, ok := v.Text()
	want := "str"
	if !w.s.IsText() {
		text, ok = m.BytesText(v)
		want = "bytes"
	}
	if !ok {
		if want == "bytes" {
			return m.TypeError("sequence item %d: expected a bytes-like object, %s found", w.parts, m.TypeName(v))
		}
		return m.TypeError("sequence item %d: expected str instance, %s found", w.parts, m.TypeName(v))
	}
	w.grow(m, len(text))
	w.out = append(w.out, text...)
	return nil
}
