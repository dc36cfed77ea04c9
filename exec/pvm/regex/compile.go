package regex

import "unicode/utf8"

// Compile compiles a pattern: UTF-8 text, or bytes if isBytes is set. The error
// is nil or says what CPython 3.11 says, except for the kinds Limit and
// Refused.
func Compile(pattern string, flags Flag, isBytes bool, limits Limits) (*Program, *Error) {
	text, err := decode(pattern, isBytes, limits)
	if err != nil {
		return nil, err
	}
	tree, ps := parsePattern(text, flags&allFlags, isBytes, limits)
	if ps.err != nil {
		return nil, ps.err
	}
	c := &compiler{limits: limits, p: &Program{
		flags: ps.flags, bytes: isBytes, groups: len(ps.groups) - 1, names: ps.names, numbers: ps.numbers,
		least: int(min(tree.width.lo, 1<<31-1)), start: -1,
	}}
	c.sequence(tree, ps.flags)
	c.emit(inst{op: opMatch})
	if c.err != nil {
		c.err.Cost = len(c.p.code) + c.spans
		return nil, c.err
	}
	c.filters()
	c.p.cost = len(text) + len(c.p.code) + c.spans + c.walks
	c.p.size = c.p.measure()
	return c.p, nil
}

// decode returns the characters of a pattern or template.
func decode(pattern string, isBytes bool, limits Limits) ([]rune, *Error) {
	n := len(pattern)
	if !isBytes {
		n = utf8.RuneCountInString(pattern)
	}
	if n > limits.Pattern {
		return nil, &Error{Kind: Limit, Msg: "pattern is too long", Pos: -1}
	}
	text := make([]rune, 0, n)
	if isBytes {
		// Paid: by patternOf and its like in lib, a character each before.
		for i := range n {
			text = append(text, rune(pattern[i]))
		}
		return text, nil
	}
	return append(text, []rune(pattern)...), nil
}

// compiler turns a tree into instructions.
type compiler struct {
	p      *Program
	limits Limits
	depth  int // of loops
	spans  int // in classes so far
	walks  int // of filters, in instructions
	err    *Error
}

func (c *compiler) fail(kind Kind, msg string) {
	if c.err == nil {
		c.err = &Error{Kind: kind, Msg: msg, Pos: -1}
	}
}

// emit returns where the instruction is.
func (c *compiler) emit(in inst) int32 {
	if len(c.p.code) >= c.limits.Instructions {
		c.fail(Limit, "pattern is too large")
		return 0
	}
	c.p.code = append(c.p.code, in)
	return int32(len(c.p.code) - 1)
}

func (c *compiler) here() int32 { return int32(len(c.p.code)) }

func (c *compiler) sequence(s *sequence, flags Flag) {
	// Paid: by the characters of the pattern, of which each node was one.
	for i := 0; i < len(s.nodes) && c.err == nil; i++ {
		n := s.nodes[i]
		if n.kind != nLiteral {
			c.node(n, flags)
			continue
		}
		var run []rune
		// Paid: likewise; a node is looked at twice at most.
		for ; i < len(s.nodes) && s.nodes[i].kind == nLiteral; i++ {
			if u := c.unit(s.nodes[i], flags); u.kind == opChar {
				run = append(run, u.c)
				continue
			} else if len(run) == 0 {
				c.single(u)
				i++
			}
			break
		}
		i--
		switch len(run) {
		case 0:
		case 1:
			c.emit(inst{op: opChar, a: run[0]})
		default:
			c.p.strings = append(c.p.strings, run)
			c.emit(inst{op: opString, a: int32(len(c.p.strings) - 1)})
		}
	}
}

// unit returns the matcher of a node that takes one character.
func (c *compiler) unit(n *node, flags Flag) unit {
	switch {
	case n.kind == nAny && flags&DotAll != 0:
		return unit{kind: opAll}
	case n.kind == nAny:
		return unit{kind: opAny}
	case n.kind == nLiteral:
		own := []span{{n.c, n.c}}
		if flags&IgnoreCase == 0 || len(caseless(own, flags)) == 0 { // of one character few others
			return unit{kind: opChar, c: n.c}
		}
		return c.class([]item{{lo: n.c, hi: n.c}}, false, flags)
	}
	return c.class(n.items, n.negate, flags)
}

// Of the characters that ignoring case adds to a class, more than freeFolded count: one
// for foldedShare, as the ranges that they are sorted as.
const (
	freeFolded  = 64
	foldedShare = 4
)

// class returns the unit of a set; one that was made last serves again.
func (c *compiler) class(items []item, negate bool, flags Flag) unit {
	cl, folded := newClass(items, negate, flags)
	c.spans += 8 + len(items) + len(cl.spans) + max(0, folded-freeFolded)/foldedShare
	if c.spans > c.limits.ClassSpans {
		c.fail(Limit, "character classes are too large")
	}
	c.p.classes = append(c.p.classes, cl)
	return unit{kind: opClass, class: cl}
}

// single emits a unit, which if it is a class is the newest.
func (c *compiler) single(u unit) {
	in := inst{op: u.kind, a: u.c}
	if u.kind == opClass {
		in.a = int32(len(c.p.classes) - 1)
	}
	c.emit(in)
}

func (c *compiler) node(n *node, flags Flag) {
	switch n.kind {
	case nAny, nClass:
		c.single(c.unit(n, flags))
	case nAt:
		c.place(n.at, flags)
	case nBranch:
		c.branch(n, flags)
	case nGroup:
		c.group(n, flags)
	case nAtomic:
		c.emit(inst{op: opAtomic})
		c.sequence(n.subs[0], flags)
		c.emit(inst{op: opAtomicEnd})
	case nLook:
		c.lookaround(n, flags)
	case nBackref:
		how := int32(caseExact)
		if flags&IgnoreCase != 0 {
			how = caseASCII
			if flags&Unicode != 0 {
				how = caseUnicode
			}
		}
		c.emit(inst{op: opBackref, a: int32(n.group), b: how})
	case nCond:
		cond := c.emit(inst{op: opCond, a: int32(n.group)})
		c.sequence(n.subs[0], flags)
		if len(n.subs) == 1 {
			c.patch(cond, c.here())
			return
		}
		jump := c.emit(inst{op: opJump})
		c.patch(cond, c.here())
		c.sequence(n.subs[1], flags)
		c.patch(jump, c.here())
	case nRepeat:
		c.repeat(n, flags)
	}
}

// patch sets the target of the instruction at i.
func (c *compiler) patch(i, target int32) {
	if c.err != nil {
		return
	}
	switch in := &c.p.code[i]; in.op {
	case opBranch, opJump, opLookNot:
		in.a = target
	default:
		in.b = target
	}
}

func (c *compiler) place(where at, flags Flag) {
	in := inst{op: opAt, a: int32(where)}
	switch {
	case where == atBoundary || where == atInside:
		in.op = opAtWord
		if flags&Unicode == 0 {
			in.b = 1
		}
	case flags&Multiline != 0: // b: lines count
		in.b = 1
	case where == atLine:
		in.a = int32(atStart)
	}
	c.emit(in)
}

func (c *compiler) branch(n *node, flags Flag) {
	var jumps []int32
	last := len(n.subs) - 1
	// Paid: likewise.
	for i, sub := range n.subs {
		if i == last {
			c.sequence(sub, flags)
			break
		}
		branch := c.emit(inst{op: opBranch, b: -1})
		c.sequence(sub, flags)
		jumps = append(jumps, c.emit(inst{op: opJump}))
		c.patch(branch, c.here())
	}
	// Paid: by the instruction that each jump is.
	for _, jump := range jumps {
		c.patch(jump, c.here())
	}
}

func (c *compiler) group(n *node, flags Flag) {
	if n.add&typeFlags != 0 {
		flags &^= typeFlags
	}
	if n.add&Locale != 0 {
		c.fail(Refused, "the LOCALE flag is not supported: there is no locale")
	}
	flags = (flags | n.add) &^ n.del
	if n.group == 0 {
		c.sequence(n.subs[0], flags)
		return
	}
	c.emit(inst{op: opMark, a: int32(2 * n.group)})
	c.sequence(n.subs[0], flags)
	c.emit(inst{op: opMark, a: int32(2*n.group + 1)})
}

func (c *compiler) lookaround(n *node, flags Flag) {
	var back int32
	if n.behind {
		w := n.subs[0].width
		switch {
		case w.lo > 1<<32-1:
			c.fail(Syntax, "looks too much behind")
		case w.lo != w.hi:
			c.fail(Syntax, "look-behind requires fixed-width pattern")
		}
		back = int32(min(w.lo, maxSubject+1))
	}
	if !n.negate {
		c.emit(inst{op: opLook, b: back})
		c.sequence(n.subs[0], flags)
		c.emit(inst{op: opLookEnd})
		return
	}
	not := c.emit(inst{op: opLookNot, b: back})
	c.sequence(n.subs[0], flags)
	c.emit(inst{op: opLookNotEnd})
	c.patch(not, c.here())
}

// simple returns the only node of a body if it takes one character, and the
// flags that hold for it.
func simple(s *sequence, flags Flag) (*node, Flag) {
	// Bounded: by Limits.Nesting, 100.
	for len(s.nodes) == 1 {
		n := s.nodes[0]
		switch {
		case n.kind <= nClass:
			return n, flags
		case n.kind != nGroup || n.group != 0 || n.add&Locale != 0:
			return nil, 0
		}
		if n.add&typeFlags != 0 {
			flags &^= typeFlags
		}
		flags = (flags | n.add) &^ n.del
		s = n.subs[0]
	}
	return nil, 0
}

func (c *compiler) repeat(n *node, flags Flag) {
	if c.p.flags&Template != 0 {
		c.fail(Syntax, "internal: unsupported template operator "+[]string{"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}[n.mode])
		return
	}
	body := n.subs[0]
	if one, under := simple(body, flags); one != nil {
		r := repeat{unit: c.unit(one, under), min: int32(n.min), max: int32(n.max), next: -1}
		c.p.repeats = append(c.p.repeats, r)
		c.emit(inst{op: opRepeat + op(n.mode), a: int32(len(c.p.repeats) - 1)})
		return
	}
	id := int32(len(c.p.loops))
	c.p.loops = append(c.p.loops, loop{min: int32(n.min), max: int32(n.max), nested: c.depth > 0, solid: body.width.lo > 0})
	c.depth++
	c.emit(inst{op: opLoopInit, a: id})
	head := c.emit(inst{op: opLoop + op(n.mode), a: id})
	c.sequence(body, flags)
	if n.mode == possessive {
		c.emit(inst{op: opTightEnd, a: head})
	} else {
		c.emit(inst{op: opJump, a: head})
	}
	c.patch(head, c.here())
	c.depth--
}
