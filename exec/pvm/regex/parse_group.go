package regex

import "strconv"

// scope is what the characters after a bracket and question mark say.
type scope struct {
	name     []rune
	capture  bool
	atomic   bool
	add, del Flag
}

// group reads what follows an opening bracket. It returns nil for comments and
// for flags of the whole pattern, which may change verbose.
func (p *parser) group(verbose *bool, nested int, first bool) *node {
	start := p.offset() - 1
	sc := scope{capture: true}
	if p.match('?') {
		char := p.get()
		switch {
		case p.err != nil:
			return nil
		case char.n == 0:
			p.syntaxError("unexpected end of pattern", 0)
		case char.is('P'):
			if n, done := p.extension(&sc); done {
				return n
			}
		case char.is(':'):
			sc.capture = false
		case char.is('#'):
			p.comment(start)
			return nil
		case char.is('=') || char.is('!') || char.is('<'):
			return p.lookaround(char, *verbose, nested, start)
		case char.is('('):
			return p.conditional(*verbose, nested, start)
		case char.is('>'):
			sc.capture, sc.atomic = false, true
		case flagOf(char) != 0 || char.is('-'):
			var whole bool
			sc.capture = false
			sc.add, sc.del, whole = p.scopedFlags(char)
			if p.err == nil && whole {
				if !first {
					p.syntaxError("global flags not at the start of the expression", p.offset()-start)
				}
				*verbose = p.flags&Verbose != 0
				return nil
			}
		default:
			p.syntaxError("unknown extension ?"+char.String(), char.n+1)
		}
	}
	if p.err != nil {
		return nil
	}
	return p.contents(sc, *verbose, nested, start)
}

// contents reads the inside of a group and its closing bracket.
func (p *parser) contents(sc scope, verbose bool, nested, start int) *node {
	n := &node{kind: nGroup, add: sc.add, del: sc.del}
	if sc.capture {
		n.group = p.openGroup(sc.name)
	}
	if sc.atomic {
		n.kind = nAtomic
	}
	verbose = (verbose || sc.add&Verbose != 0) && sc.del&Verbose == 0
	sub := p.alternatives(verbose, nested+1)
	if !p.match(')') {
		p.syntaxError("missing ), unterminated subpattern", p.offset()-start)
		return nil
	}
	if n.group != 0 {
		w := sub.width
		p.groups[n.group] = &w
	}
	n.subs = []*sequence{sub}
	return n
}

// openGroup numbers a new group.
func (p *parser) openGroup(text []rune) int {
	group := len(p.groups)
	if group > p.limits.Groups {
		p.stop(Limit, "too many groups")
		return 0
	}
	p.groups = append(p.groups, nil)
	if text == nil {
		return group
	}
	if was, ok := p.lookup(text); ok {
		p.syntaxError("redefinition of group name "+quoted(text)+" as group "+strconv.Itoa(group)+
			"; was group "+strconv.Itoa(was), len(text)+1)
		return group
	}
	p.names = append(p.names, name{string(text), group})
	p.numbers[string(text)] = group
	return group
}

func (p *parser) lookup(text []rune) (int, bool) {
	group, ok := p.numbers[string(text)]
	return group, ok
}

// extension reads what follows (?P. A reference to a group is done with it.
func (p *parser) extension(sc *scope) (*node, bool) {
	switch {
	case p.match('<'):
		sc.name = p.getUntil('>', "group name")
		if p.err == nil {
			p.checkGroupName(sc.name, 1)
		}
		return nil, p.err != nil
	case p.match('='):
		text := p.getUntil(')', "group name")
		if p.err == nil {
			p.checkGroupName(text, 1)
		}
		group, ok := p.lookup(text)
		switch {
		case !ok:
			p.syntaxError("unknown group name "+quoted(text), len(text)+1)
		case p.groups[group] == nil:
			p.syntaxError("cannot refer to an open group", len(text)+1)
		default:
			p.checkLookbehind(group)
		}
		return &node{kind: nBackref, group: group}, true
	}
	char := p.get()
	if char.n == 0 {
		p.syntaxError("unexpected end of pattern", 0)
	}
	p.syntaxError("unknown extension ?P"+char.String(), char.n+2)
	return nil, true
}

func (p *parser) comment(start int) {
	// Paid: by patternOf in lib, 22 cycles a character; each round takes one.
	for p.err == nil {
		if p.next.n == 0 {
			p.syntaxError("missing ), unterminated comment", p.offset()-start)
			return
		}
		if p.get().is(')') {
			return
		}
	}
}

// lookaround reads an assertion about what follows or precedes.
func (p *parser) lookaround(char token, verbose bool, nested, start int) *node {
	n := &node{kind: nLook}
	outer := p.lookbehind
	if char.is('<') {
		char = p.get()
		switch {
		case char.n == 0:
			p.syntaxError("unexpected end of pattern", 0)
			return nil
		case !char.is('=') && !char.is('!'):
			p.syntaxError("unknown extension ?<"+char.String(), char.n+2)
			return nil
		}
		n.behind = true
		if outer == 0 {
			p.lookbehind = len(p.groups)
		}
	}
	n.negate = char.is('!')
	n.subs = []*sequence{p.alternatives(verbose, nested+1)}
	p.lookbehind = outer
	if !p.match(')') {
		p.syntaxError("missing ), unterminated subpattern", p.offset()-start)
		return nil
	}
	return n
}

// checkLookbehind refuses references from a lookbehind to groups inside it: they
// are matched in the other direction than a reader would think.
func (p *parser) checkLookbehind(group int) {
	switch {
	case p.lookbehind == 0:
	case group >= len(p.groups) || p.groups[group] == nil:
		p.syntaxError("cannot refer to an open group", 0)
	case group >= p.lookbehind:
		p.syntaxError("cannot refer to group defined in the same lookbehind subpattern", 0)
	}
}

// conditional reads (?(group)yes|no).
func (p *parser) conditional(verbose bool, nested, start int) *node {
	if nested+1 > p.limits.Nesting {
		p.stop(Limit, "pattern is nested too deeply")
		return nil
	}
	n := &node{kind: nCond, group: p.condition()}
	if p.err == nil {
		p.checkLookbehind(n.group)
	}
	n.subs = []*sequence{p.sequence(verbose, nested+1, false)}
	if p.match('|') {
		n.subs = append(n.subs, p.sequence(verbose, nested+1, false))
		if p.next.is('|') {
			p.syntaxError("conditional backref with more than two branches", 0)
		}
	}
	if !p.match(')') {
		p.syntaxError("missing ), unterminated subpattern", p.offset()-start)
		return nil
	}
	return n
}

// condition reads the group that a conditional asks about.
func (p *parser) condition() int {
	text := p.getUntil(')', "group name")
	if p.err != nil {
		return 0
	}
	if isIdentifier(text) {
		group, ok := p.lookup(text)
		if !ok {
			p.syntaxError("unknown group name "+quoted(text), len(text)+1)
		}
		return group
	}
	group, ok := number(text)
	switch {
	case !ok:
		p.syntaxError("bad character in group name "+quoted(text), len(text)+1)
	case group == 0:
		p.syntaxError("bad group number", len(text)+1)
	case group >= maxGroups:
		p.syntaxError("invalid group reference "+strconv.Itoa(group), len(text)+1)
	default:
		p.refs = append(p.refs, forward{group, p.offset() - len(text) - 1})
	}
	return group
}

func flagOf(t token) Flag {
	if t.n != 1 {
		return 0
	}
	switch t.c {
	case 'i':
		return IgnoreCase
	case 'L':
		return Locale
	case 'm':
		return Multiline
	case 's':
		return DotAll
	case 'x':
		return Verbose
	case 'a':
		return ASCII
	case 't':
		return Template
	case 'u':
		return Unicode
	}
	return 0
}
