package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/regex"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// stackBytes bounds the backtracking stack of a match. It is consensus.
const stackBytes = 1 << 20

// programsKept and programBytesKept bound the cache of compiled patterns, which no result and
// no charge depends on: what is cached is no part of the modelled memory, and a class of
// twenty characters may have 9 KB of pages.
const (
	programsKept     = 128
	programBytesKept = 2 << 20
)

// reModule is the module re of one machine.
type reModule struct {
	pattern, match, failure, flag *vm.Class

	budget   regex.Budget
	programs map[programKey]*regex.Program // looked up, never iterated
	bytes    int                           // of programs
	subject  *subject                      // of last
	last     vm.Value
	self     vm.Value // what holds this, for notes
}

// Roots visits nothing: what is remembered of the call is no part of its memory.
func (*reModule) Roots(func(vm.Value)) {}

// Bytes is nothing: the module is the machine's.
func (*reModule) Bytes() int { return 0 }

// Keep takes care that nothing is remembered of a call.
func (r *reModule) Keep() func() {
	saved := *r
	return func() {
		*r = saved
		r.forgetPrograms()
	}
}

// forgetPrograms empties the cache.
func (r *reModule) forgetPrograms() { r.programs, r.bytes = make(map[programKey]*regex.Program), 0 }

// keepProgram puts a program into the cache, which it empties if there is no room.
func (r *reModule) keepProgram(k programKey, p *regex.Program) {
	if p.Bytes() > programBytesKept {
		return
	}
	if len(r.programs) >= programsKept || r.bytes+p.Bytes() > programBytesKept {
		r.forgetPrograms()
	}
	r.programs[k] = p
	r.bytes += p.Bytes()
}

type programKey struct {
	pattern string
	flags   regex.Flag
	bytes   bool
}

func loadRe(m *vm.Machine) (*vm.Module, error) {
	r := &reModule{
		pattern:  m.NewClass("re", "Pattern").Dotted(),
		match:    m.NewClass("re", "Match").Dotted(),
		failure:  m.NewExceptionClass("re", "error", m.Builtin("Exception")),
		budget:   regex.Budget{Stack: stackBytes},
		programs: make(map[programKey]*regex.Program),
	}
	mod := m.NewModule("re")
	r.self = m.NewForeign(m.Builtin("object"), r)
	mod.Set(m, "_state", r.self)
	if err := r.defineFlags(m, mod); err != nil {
		return nil, err
	}
	r.defineFailure()
	r.definePattern()
	r.defineMatch()
	searches := func(name string, fn patternFunc) vm.Def {
		return named(name, 2, []string{"pattern", "string", "flags"}, r.function(2, fn))
	}
	mod.Define(
		m,
		named("compile", 1, []string{"pattern", "flags"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			p, err := r.patternOf(m, a.Values[0], orNone(a, 1))
			if err != nil {
				return vm.None, err
			}
			return p.self, nil
		}),
		searches("match", r.matchFunc((*regex.Program).Match)),
		searches("search", r.matchFunc((*regex.Program).Search)),
		searches("fullmatch", r.matchFunc((*regex.Program).FullMatch)),
		searches("findall", r.findall),
		searches("finditer", r.finditer),
		named("split", 2, []string{"pattern", "string", "maxsplit", "flags"}, r.function(3, r.split)),
		named("sub", 3, []string{"pattern", "repl", "string", "count", "flags"}, r.function(4, r.sub(false))),
		named("subn", 3, []string{"pattern", "repl", "string", "count", "flags"}, r.function(4, r.sub(true))),
		named("escape", 1, []string{"pattern"}, escapePattern),
		def("purge", 0, 0, func(m *vm.Machine, _ vm.Args) (vm.Value, error) {
			m.Touch(r.self)
			r.forgetPrograms()
			return vm.None, nil
		}),
	)
	mod.Set(m, "Pattern", r.pattern.Value()).Set(m, "Match", r.match.Value()).Set(m, "error", r.failure.Value())
	return mod, nil
}

// patternFunc is an operation of a pattern on what follows it.
type patternFunc func(m *vm.Machine, p *patternState, rest []vm.Value) (vm.Value, error)

// function is the operation as a function of the module, with the pattern first
// and the flags at the given place.
func (r *reModule) function(flagsAt int, fn patternFunc) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		p, err := r.patternOf(m, a.Values[0], orNone(a, flagsAt))
		if err != nil {
			return vm.None, err
		}
		defer m.Release(m.Hold(p.self))
		return fn(m, p, a.Values[1:flagsAt])
	}
}

// method is the operation as a method of Pattern.
func (r *reModule) method(fn patternFunc) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		p, err := payload[*patternState](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, p, a.Values[1:])
	}
}

// patternState is the payload of a Pattern.
type patternState struct {
	r      *reModule
	self   vm.Value
	source vm.Value // str or bytes
	prog   *regex.Program
}

// Roots visits the pattern's text.
func (p *patternState) Roots(visit func(vm.Value)) { visit(p.source) }

// Bytes is the size of the program.
func (p *patternState) Bytes() int { return 96 + p.prog.Bytes() }

// Keep has nothing to take back: a pattern does not change. The one of string.Template
// is kept.
func (p *patternState) Keep() func() { return func() {} }

// patternOf compiles the first argument of a function, or takes the Pattern
// that it is.
func (r *reModule) patternOf(m *vm.Machine, v, flags vm.Value) (*patternState, error) {
	var n int64
	if !flags.IsNone() {
		var ok bool
		if n, ok = flags.Int64(); !ok {
			return nil, m.TypeError("unsupported operand type(s) for &: '%s' and 'RegexFlag'", m.TypeName(flags))
		}
	}
	if p, ok := v.Foreign(); ok {
		if p, ok := p.(*patternState); ok {
			if n != 0 {
				return nil, m.ValueError("cannot process flags argument with a compiled pattern")
			}
			return p, nil
		}
	}
	text, isText := v.Text()
	if !isText {
		var ok bool
		if text, ok = m.BytesText(v); !ok {
			return nil, m.TypeError("first argument must be string or compiled pattern")
		}
	}
	chars(m, 2*len(text)) // read and, if it is refused, read for the line
	length := len(text)
	if s, ok := v.StrObject(); ok {
		length = s.Runes()
	}
	m.ChargeEach(length, m.Prices().Token)
	key := programKey{text, regex.Flag(n & 0x1ff), !isText}
	m.Touch(r.self)
	prog, ok := r.programs[key]
	if !ok {
		limits := regex.DefaultLimits()
		paid := m.CyclesLeft() / m.Prices().Token // instructions that can be
		short := paid < int64(max(limits.Instructions, limits.ClassSpans))
		if short {
			limits.Instructions = int(min(paid, int64(limits.Instructions)))
			limits.ClassSpans = int(min(paid, int64(limits.ClassSpans)))
		}
		var fault *regex.Error
		if prog, fault = regex.Compile(text, key.flags, key.bytes, limits); fault != nil {
			if short && fault.Kind == regex.Limit {
				m.Charge(m.CyclesLeft() + 1)
			}
			m.ChargeEach(fault.Cost, m.Prices().Token)
			return nil, r.refused(m, fault, v)
		}
		r.keepProgram(key, prog)
	}
	m.ChargeEach(prog.Cost()-length, m.Prices().Token)
	p := &patternState{r: r, source: v, prog: prog}
	p.self = m.NewForeign(r.pattern, p)
	return p, nil
}

// refused raises what Python does for a pattern or template that cannot be
// compiled.
func (r *reModule) refused(m *vm.Machine, fault *regex.Error, pattern vm.Value) error {
	if fault.Kind != regex.Syntax {
		chargeFault(m)
	}
	text := m.NewStr(fault.Error())
	switch fault.Kind {
	case regex.Value:
		return m.RaiseValue(m.Builtin("ValueError"), text)
	case regex.Overflow:
		return m.RaiseValue(m.Builtin("OverflowError"), text)
	case regex.Index:
		return m.RaiseValue(m.Builtin("IndexError"), text)
	case regex.Limit:
		return m.RaiseValue(m.Builtin("MemoryError"), text)
	case regex.Refused:
		return m.RaiseValue(m.Builtin("DeterminismError"), text)
	}
	pos := vm.None
	if fault.Pos >= 0 {
		pos = vm.SmallInt(int64(fault.Pos))
	}
	e, err := m.Call(r.failure.Value(), m.NewStr(fault.Msg), pattern, pos)
	if err != nil {
		return err
	}
	return m.Throw(e)
}

// chargeFault pays for an exception with a text of its own and six attributes.
func chargeFault(m *vm.Machine) { m.Charge(m.Work().PatternFault * m.Prices().NativeCall) }

// defineFailure gives re.error its constructor: (msg, pattern=None, pos=None).
func (r *reModule) defineFailure() {
	r.failure.Define(named("__init__", 2, []string{"self", "msg", "pattern", "pos"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		chargeFault(m)
		self, msg, pattern, pos := a.Values[0], a.Values[1], orNone(a, 2), orNone(a, 3)
		lineno, colno, text := vm.None, vm.None, msg
		if at, ok := pos.Int64(); ok && !pattern.IsNone() {
			s, err := m.Str(msg)
			if err != nil {
				return vm.None, err
			}
			source, ok := pattern.Text()
			if !ok {
				source, _ = m.BytesText(pattern)
			}
			chars(m, len(source))
			line, col, many := lineAndColumn(source, at)
			lineno, colno = vm.SmallInt(line), vm.SmallInt(col)
			where, err := m.Repr(pos)
			if err != nil {
				return vm.None, err
			}
			full := s.String() + " at position " + where.String()
			if many {
				full += " (line " + decimalText(line) + ", column " + decimalText(col) + ")"
			}
			text = m.NewStr(full)
		}
		// Bounded: by six attributes, paid by chargeFault.
		for _, attr := range []struct {
			name string
			v    vm.Value
		}{
			{"args", m.NewTuple([]vm.Value{text})},
			{"msg", msg},
			{"pattern", pattern},
			{"pos", pos},
			{"lineno", lineno},
			{"colno", colno},
		} {
			if err := m.SetAttr(self, m.Name(attr.name), attr.v); err != nil {
				return vm.None, err
			}
		}
		return vm.None, nil
	}))
}

// budgetFor gives a run what cycles are left.
func (r *reModule) budgetFor(m *vm.Machine) *regex.Budget {
	m.Touch(r.self)
	r.budget.Steps = m.CyclesLeft() / m.Prices().RegexStep
	return &r.budget
}

// spent charges for the steps of a run that began with budgetFor.
func (r *reModule) spent(m *vm.Machine, err error) error {
	used := m.CyclesLeft()/m.Prices().RegexStep - r.budget.Steps
	switch err {
	case nil:
		m.ChargeCount(used, m.Prices().RegexStep)
		return nil
	case regex.ErrStack:
		m.ChargeCount(used, m.Prices().RegexStep)
		return m.Raise(m.Builtin("MemoryError"), "regular expression needs too much memory to backtrack")
	}
	m.Charge(m.CyclesLeft() + 1)
	return nil
}

// subjectOf prepares a string for matching. The copy that this takes is charged
// whether the last one serves again or not.
func (r *reModule) subjectOf(m *vm.Machine, p *patternState, v vm.Value) (*subject, error) {
	s, isText := v.StrObject()
	var b string
	if !isText {
		var ok bool
		if b, ok = m.BytesText(v); !ok {
			return nil, m.TypeError("expected string or bytes-like object, got '%s'", m.TypeName(v))
		}
	}
	switch {
	case isText && p.prog.IsBytes():
		return nil, m.TypeError("cannot use a bytes pattern on a string-like object")
	case !isText && !p.prog.IsBytes():
		return nil, m.TypeError("cannot use a string pattern on a bytes-like object")
	}
	switch {
	case !isText:
		chars(m, len(b)/int(m.Work().KindBytes)+1)
	case s.Runes() == len(s.String()):
		chars(m, s.Runes()/int(m.Work().KindBytes)+1)
	default:
		chars(m, s.Runes())
	}
	_, changes := v.MutableBytes()
	m.Touch(r.self)
	if r.subject != nil && r.last.Same(v) && !changes {
		return r.subject, nil
	}
	made := &subject{}
	if !isText {
		made.Subject = regex.Bytes([]byte(b))
	} else {
		made.Subject = regex.Text(s.String())
	}
	made.self = m.NewForeign(m.Builtin("object"), made)
	r.subject, r.last = made, v
	return made, nil
}

// subject is a string made ready for matching. It is an object, so that the copy which
// matches and iterators keep counts once, however many of them there are.
type subject struct {
	leaf
	*regex.Subject
	self vm.Value
}

// Bytes is the size of the copy.
func (s *subject) Bytes() int { return s.Size() }

func escapePattern(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if s, ok := a.Values[0].Text(); ok {
		chars(m, len(s))
		return m.NewStr(regex.Escape(s)), nil
	}
	b, ok := m.BytesText(a.Values[0])
	if !ok {
		return vm.None, m.TypeError("decoding to str: need a bytes-like object, %s found", m.TypeName(a.Values[0]))
	}
	chars(m, len(b))
	return m.NewBytes(regex.Escape(b)), nil
}
