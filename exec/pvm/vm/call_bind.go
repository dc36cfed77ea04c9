package vm

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// bindCall binds arguments to the parameters of fn. It answers a frame ready to
// be entered, or for generators and the like the object, or an error.
func (m *Machine) bindCall(fn *Function, a Args, how arrival) (*frame, Value, error) {
	o := fn.unit.obj
	if o.Flags&(code.Generator|code.Coroutine|code.AsyncGenerator) != 0 {
		g := m.newGenerator(fn)
		if err := m.bindInto(g.frame.regs, fn, a); err != nil {
			return nil, unbound, err
		}
		return nil, g.value(), nil
	}
	f, err := m.pushFrame(fn, how)
	if err != nil {
		return nil, unbound, err
	}
	if fn.plain == len(a.Values) && len(a.Names) == 0 {
		copy(f.regs, a.Values)
		return f, unbound, nil
	}
	if err := m.bindInto(f.regs, fn, a); err != nil {
		m.popFrame(f)
		return nil, unbound, err
	}
	return f, unbound, nil
}

// bindInto fills the registers of the parameters, in the order positional,
// keyword-only, *args, **kwargs, as CPython's initialize_locals does.
func (m *Machine) bindInto(regs []Value, fn *Function, a Args) error {
	o := fn.unit.obj
	pos := a.Positional()
	count := min(len(pos), o.Args)
	copy(regs, pos[:count])
	total := o.Args + o.KwOnly
	next := total
	if o.Flags&code.VarArgs != 0 {
		rest := pos[count:]
		m.ChargeEach(len(rest), m.dyn.Element)
		m.Alloc(tupleBytes + len(rest)*valueBytes)
		regs[next] = Value{ref: &m.newTuple(append([]Value(nil), rest...)).Object}
		next++
	}
	var extra *Dict
	if o.Flags&code.VarKeywords != 0 {
		extra = m.newDict()
		regs[next] = Value{ref: &extra.Object}
	}
	// Paid: by the call, which put each keyword there, and by bindKeyword.
	for i, name := range a.Names {
		if err := m.bindKeyword(regs, fn, extra, name, a.Values[len(pos)+i], a); err != nil {
			return err
		}
	}
	if len(pos) > o.Args && o.Flags&code.VarArgs == 0 {
		return m.tooMany(fn, regs, len(pos))
	}
	if err := m.fillDefaults(fn, regs, len(pos)); err != nil {
		return err
	}
	if o.KwOnly > 0 {
		return m.fillKeywordDefaults(fn, regs)
	}
	return nil
}

// looked charges for n names that are compared with an argument's, or places that are
// looked at for one.
func (m *Machine) looked(n int64) { m.ChargeCount(n/m.Work().TokenBytes, m.dyn.Element) }

// compared charges for n comparisons with a name that is longer than those which looked
// pays for: names of one length that differ at their ends are read whole.
func (m *Machine) compared(n int64, name *Str) {
	if len(name.s) > shortKey {
		m.ChargeCount(n*int64(len(name.s)/int(m.Work().KeyBytes)), m.dyn.Char)
	}
}

// bindKeyword places one keyword argument.
func (m *Machine) bindKeyword(regs []Value, fn *Function, extra *Dict, name *Str, v Value, a Args) error {
	o := fn.unit.obj
	total := o.Args + o.KwOnly
	m.compared(int64(total-o.PosOnly), name)
	// Paid: by looked, for as many names as are compared, and by compared for long ones.
	for i := o.PosOnly; i < total; i++ {
		if o.Locals[i] == name.s {
			m.looked(int64(i - o.PosOnly))
			if regs[i].Bound() {
				return m.Raise(m.rt.classes.TypeError, "%s() got multiple values for argument '%s'", fn.qualName.s, name.s)
			}
			regs[i] = v
			return nil
		}
	}
	m.looked(int64(total - o.PosOnly))
	if extra != nil {
		m.Charge(m.dyn.DictOp)
		return m.dictPut(extra, Value{ref: &name.Object}, v)
	}
	if o.PosOnly > 0 {
		m.looked(int64(o.PosOnly) * int64(len(a.Names)))
		// Paid: by the call, which put each keyword there.
		for _, n := range a.Names {
			m.compared(int64(o.PosOnly), n)
		}
		if text := positionalAsKeyword(o, a.Names); text != "" {
			return m.Raise(m.rt.classes.TypeError, "%s() got some positional-only arguments passed as keyword arguments: '%s'", fn.qualName.s, text)
		}
	}
	return m.Raise(m.rt.classes.TypeError, "%s() got an unexpected keyword argument '%s'", fn.qualName.s, name.s)
}

// positionalAsKeyword lists the positional-only parameters among the keywords.
func positionalAsKeyword(o *code.Object, names []*Str) string {
	var found []string
	// Paid: by who asks, for each pair of names.
	for _, param := range o.Locals[:o.PosOnly] {
		// Paid: by who asks, for each pair of names.
		for _, name := range names {
			if name.s == param {
				found = append(found, param)
			}
		}
	}
	// Paid: by the error that takes the text, a character each.
	return strings.Join(found, ", ")
}

func (m *Machine) tooMany(fn *Function, regs []Value, given int) error {
	o := fn.unit.obj
	m.ChargeEach(o.KwOnly, m.dyn.Element)
	kwGiven := 0
	// Paid: by pushFrame, an element for 32 registers, which are 4,096 at most.
	for i := o.Args; i < o.Args+o.KwOnly; i++ {
		if regs[i].Bound() {
			kwGiven++
		}
	}
	takes := decimalText(o.Args)
	many := o.Args != 1
	if n := len(fn.defaults); n > 0 {
		takes = "from " + decimalText(o.Args-n) + " to " + takes
		many = true
	}
	kw := ""
	if kwGiven > 0 {
		kw = " positional argument" + plural(given) + " (and " + decimalText(kwGiven) + " keyword-only argument" + plural(kwGiven) + ")"
	}
	s, was := "", "were"
	if many {
		s = "s"
	}
	if given == 1 && kwGiven == 0 {
		was = "was"
	}
	return m.Raise(m.rt.classes.TypeError, "%s() takes %s positional argument%s but %d%s %s given", fn.qualName.s, takes, s, given, kw, was)
}

// fillDefaults completes the positional parameters.
func (m *Machine) fillDefaults(fn *Function, regs []Value, given int) error {
	o := fn.unit.obj
	if given >= o.Args {
		return nil
	}
	m.looked(int64(o.Args - given))
	required := o.Args - len(fn.defaults)
	var missing []string
	// Paid: by looked above.
	for i := given; i < required; i++ {
		if !regs[i].Bound() {
			missing = append(missing, o.Locals[i])
		}
	}
	if len(missing) > 0 {
		return m.missingArguments(fn, "positional", missing)
	}
	// Paid: by looked above.
	for i := max(given, required, 0); i < o.Args; i++ {
		if !regs[i].Bound() {
			regs[i] = fn.defaults[i-required]
		}
	}
	return nil
}

// fillKeywordDefaults completes the keyword-only parameters.
func (m *Machine) fillKeywordDefaults(fn *Function, regs []Value) error {
	o := fn.unit.obj
	m.ChargeEach(o.KwOnly, m.dyn.Element)
	var missing []string
	// Paid: by the charge above.
	for i := o.Args; i < o.Args+o.KwOnly; i++ {
		if regs[i].Bound() {
			continue
		}
		if fn.kwDefs != nil {
			if v, ok := fn.kwDefs.getStr(m, m.paramName(fn.unit, i)); ok {
				regs[i] = v
				continue
			}
		}
		missing = append(missing, o.Locals[i])
	}
	if len(missing) > 0 {
		return m.missingArguments(fn, "keyword-only", missing)
	}
	return nil
}

func (m *Machine) missingArguments(fn *Function, kind string, names []string) error {
	var b strings.Builder
	text := 0
	// Paid: by the search that found each missing.
	for _, name := range names {
		text += len(name)
	}
	m.looked(int64(text))
	// Paid: by the line above, and by the error that takes the text.
	for i, name := range names {
		switch {
		case i == 0:
		case i < len(names)-1:
			b.WriteString(", ")
		case len(names) == 2:
			b.WriteString(" and ")
		default:
			b.WriteString(", and ")
		}
		b.WriteString("'" + name + "'")
	}
	return m.Raise(m.rt.classes.TypeError, "%s() missing %d required %s argument%s: %s", fn.qualName.s, len(names), kind, plural(len(names)), b.String())
}
