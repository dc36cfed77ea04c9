package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// capture is a name of a pattern and the register with what it takes. Names are
// bound when the whole pattern has matched.
type capture struct {
	name string
	reg  int
}

// matcher compiles one pattern. Its registers are in use until the names are
// bound.
type matcher struct {
	f        *unit
	captures []capture
}

func (f *unit) match(s *syntax.Match) {
	subject := f.alloc(1)
	f.expr(s.Subject, subject)
	var end label
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, c := range s.Cases {
		mark := f.top
		var next label
		m := &matcher{f: f}
		f.line = c.Pattern.Position().Line
		m.pattern(c.Pattern, subject, &next)
		// Paid: by the tokens of the captures, once for each pattern around them that has alternatives, which repeat the names (ADR 59).
		for _, k := range m.captures {
			f.storeName(k.name, k.reg)
		}
		f.top = mark
		if c.Guard != nil {
			f.jumpIf(c.Guard, false, &next)
		}
		f.stmts(c.Body)
		f.jump(&end)
		f.place(&next)
	}
	f.place(&end)
}

// pattern jumps to fail unless what is in register subject matches p.
func (m *matcher) pattern(p syntax.Pattern, subject int, fail *label) {
	f := m.f
	line := f.line
	f.line = p.Position().Line
	switch p := p.(type) {
	case *syntax.MatchValue:
		mark := f.top
		f.branchCompare(syntax.Eq, subject, f.operand(p.Value, noHint), false, fail)
		f.top = mark
	case *syntax.MatchSingleton:
		m.singleton(&syntax.Constant{Pos: p.Pos, Kind: p.Value}, subject, fail)
	case *syntax.MatchAs:
		if p.Pattern != nil {
			m.pattern(p.Pattern, subject, fail)
		}
		m.capture(p.Name, subject)
	case *syntax.MatchStar:
		m.capture(p.Name, subject)
	case *syntax.MatchSequence:
		m.sequence(p, subject, fail)
	case *syntax.MatchMapping:
		m.mapping(p, subject, fail)
	case *syntax.MatchClass:
		m.class(p, subject, fail)
	case *syntax.MatchOr:
		m.or(p, subject, fail)
	default:
		failf(p.Position(), "pattern of a kind the compiler does not know")
	}
	f.line = line
}

// singleton compares by identity, which for patterns is fine with any subject.
func (m *matcher) singleton(e *syntax.Constant, subject int, fail *label) {
	f := m.f
	if e.Kind == syntax.ConstNone {
		f.compareOnce(syntax.Is, subject, e, false, fail)
		return
	}
	mark := f.top
	t := f.alloc(1)
	f.loadConst(t, literal(e))
	f.emit(code.MatchIs, t, subject, t)
	f.branchOn(t, false, fail)
	f.top = mark
}

func (m *matcher) capture(name string, reg int) {
	if name != "" {
		m.captures = append(m.captures, capture{name, reg})
	}
}

func isWildcard(p syntax.Pattern) bool {
	switch p := p.(type) {
	case *syntax.MatchAs:
		return p.Pattern == nil && p.Name == ""
	case *syntax.MatchStar:
		return p.Name == ""
	}
	return false
}

func (m *matcher) sequence(p *syntax.MatchSequence, subject int, fail *label) {
	f := m.f
	n, star, idle := len(p.Patterns), -1, true
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, sub := range p.Patterns {
		if _, ok := sub.(*syntax.MatchStar); ok {
			if star >= 0 {
				failf(p.Pos, "multiple starred names in sequence pattern")
			}
			star = i
		}
		idle = idle && isWildcard(sub)
	}
	t := f.alloc(2)
	f.emit(code.MatchSeq, t, subject, 0)
	f.branchOn(t, false, fail)
	if star < 0 {
		m.length(syntax.Eq, t, subject, n, fail)
	} else if n > 1 {
		m.length(syntax.GtE, t, subject, n-1, fail)
	}
	switch {
	case idle:
	case star >= 0 && isWildcard(p.Patterns[star]):
		m.items(p.Patterns, subject, star, fail)
	default:
		r := f.alloc(n)
		f.emitUnpack(p.Pos, r, subject, n, star)
		m.each(p.Patterns, r, fail)
	}
}

// length compares len(subject) with n; t and t+1 are free.
func (m *matcher) length(op syntax.CmpOperator, t, subject, n int, fail *label) {
	m.f.emit(code.Len, t, subject, 0)
	m.f.loadConst(t+1, code.Const{Kind: code.Int, Int64: int64(n)})
	m.f.branchCompare(op, t, t+1, false, fail)
}

// each matches patterns with the registers from r.
func (m *matcher) each(ps []syntax.Pattern, r int, fail *label) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, p := range ps {
		if !isWildcard(p) {
			m.pattern(p, r+i, fail)
		}
	}
}

// items matches the elements before and after a star that takes nothing, which
// are fetched one by one.
func (m *matcher) items(ps []syntax.Pattern, subject, star int, fail *label) {
	f := m.f
	for i, p := range ps {
		if isWildcard(p) {
			continue
		}
		v, index := f.alloc(1), f.alloc(1)
		if i < star {
			f.loadConst(index, code.Const{Kind: code.Int, Int64: int64(i)})
		} else {
			back := f.alloc(1)
			f.emit(code.Len, index, subject, 0)
			f.loadConst(back, code.Const{Kind: code.Int, Int64: int64(len(ps) - i)})
			f.emit(code.Sub, index, index, back)
		}
		f.emit(code.GetItem, v, subject, index)
		f.top = v + 1
		m.pattern(p, v, fail)
	}
}

func (m *matcher) mapping(p *syntax.MatchMapping, subject int, fail *label) {
	f := m.f
	t := f.alloc(2)
	f.emit(code.MatchMap, t, subject, 0)
	f.branchOn(t, false, fail)
	n := len(p.Keys)
	if n == 0 && p.Rest == "" {
		return
	}
	if n > 0 {
		m.length(syntax.GtE, t, subject, n, fail)
	}
	keys, values := t, t+1
	f.tupleAt(p.Keys, keys)
	if n > 0 {
		f.emit(code.MatchKeys, values, subject, keys)
		f.branch(code.JumpIfNone, values, fail)
	}
	if p.Rest != "" {
		rest := f.alloc(1)
		f.emit(code.DictRest, rest, subject, keys)
		defer m.capture(p.Rest, rest) // names are bound in the order of the source
	}
	if n > 0 {
		r := f.alloc(n)
		f.emit(code.Unpack, r, values, n)
		m.each(p.Patterns, r, fail)
	}
}

func (m *matcher) class(p *syntax.MatchClass, subject int, fail *label) {
	f := m.f
	at := f.alloc(3)
	f.move(at, subject)
	f.expr(p.Cls, at+1)
	f.loadConst(at+2, strTuple(p.KwdAttrs))
	f.emit(code.MatchClass, at, at, len(p.Patterns))
	f.branch(code.JumpIfNone, at, fail)
	n := len(p.Patterns) + len(p.KwdPatterns)
	if n == 0 {
		return
	}
	r := f.alloc(n)
	f.emit(code.Unpack, r, at, n)
	m.each(p.Patterns, r, fail)
	m.each(p.KwdPatterns, r+len(p.Patterns), fail)
}

// or tries alternatives, which bind the same names: each leaves them in the same
// registers.
func (m *matcher) or(p *syntax.MatchOr, subject int, fail *label) {
	f := m.f
	names := f.c.namesOf(p)
	base := f.alloc(len(names))
	var end label
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, alt := range p.Patterns {
		mark := f.top
		var next label
		other := &next
		if i == len(p.Patterns)-1 {
			other = fail
		}
		one := &matcher{f: f}
		one.pattern(alt, subject, other)
		regs := one.regs()
		// Paid: by the tokens of the alternative, which has all the names (ADR 59).
		for j, name := range names {
			r, ok := regs[name]
			if !ok {
				failf(p.Pos, "alternative patterns bind different names")
			}
			f.move(base+j, r)
		}
		f.top = mark
		f.jump(&end)
		f.place(&next)
	}
	f.place(&end)
	// Paid: by the tokens of the alternative, which has all the names (ADR 59).
	for j, name := range names {
		m.capture(name, base+j)
	}
}

// regs returns the registers of the captures by name.
func (m *matcher) regs() map[string]int {
	regs := make(map[string]int, len(m.captures))
	// Paid: by the tokens of the captures, once for each pattern around them that has alternatives, which repeat the names (ADR 59).
	for _, c := range m.captures {
		regs[c.name] = c.reg
	}
	return regs
}

// namesOf returns the names that each alternative binds, in the order of the first, which
// is gone through once: every pattern with alternatives around it asks again.
func (c *compiler) namesOf(p *syntax.MatchOr) []string {
	names, known := c.named[p]
	if !known {
		c.appendNames(p.Patterns[0], &names)
		c.named[p] = names
	}
	return names
}

// appendNames appends the names that a pattern binds.
func (c *compiler) appendNames(p syntax.Pattern, names *[]string) {
	switch p := p.(type) {
	case *syntax.MatchOr:
		*names = append(*names, c.namesOf(p)...)
		return
	case *syntax.MatchAs:
		if p.Pattern != nil {
			c.appendNames(p.Pattern, names)
		}
		appendName(p.Name, names)
		return
	case *syntax.MatchStar:
		appendName(p.Name, names)
	case *syntax.MatchMapping:
		defer appendName(p.Rest, names)
	}
	syntax.Children(p, func(n syntax.Node) {
		if sub, ok := n.(syntax.Pattern); ok {
			c.appendNames(sub, names)
		}
	})
}

func appendName(name string, names *[]string) {
	if name != "" {
		*names = append(*names, name)
	}
}
