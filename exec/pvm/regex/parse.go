package regex

import "strconv"

// parser reads a pattern with the grammar, the order of checks and the texts of
// CPython 3.11's re._parser.
type parser struct {
	tokenizer
	limits     Limits
	flags      Flag
	groups     []*width // by number, nil while open; groups[0] is the whole
	names      []name
	numbers    map[string]int // of names; looked up, never iterated
	lookbehind int            // number of groups where the outermost lookbehind began, 0 outside
	refs       []forward
}

// name is a group that has one.
type name struct {
	text  string
	group int
}

// forward is a conditional's group that may come later, at its first use.
type forward struct{ group, pos int }

// parsePattern returns the tree and the parser, which knows groups and flags.
func parsePattern(text []rune, flags Flag, bytes bool, limits Limits) (*sequence, *parser) {
	p := &parser{tokenizer: *newTokenizer(text, bytes), limits: limits, flags: flags, groups: make([]*width, 1), numbers: make(map[string]int)}
	tree := p.alternatives(flags&Verbose != 0, 0)
	if p.err != nil {
		return nil, p
	}
	p.fixFlags()
	if p.next.n != 0 {
		p.syntaxError("unbalanced parenthesis", 0)
	}
	// Paid: by the characters of the pattern that each reference was.
	for _, ref := range p.refs {
		if ref.group >= len(p.groups) && p.err == nil {
			p.err = errorAt("invalid group reference "+strconv.Itoa(ref.group), p.text, ref.pos)
		}
	}
	return tree, p
}

// fixFlags checks the flags against the type of the pattern, and adds UNICODE.
func (p *parser) fixFlags() {
	switch f := p.flags; {
	case !p.bytes && f&Locale != 0:
		p.stop(Value, "cannot use LOCALE flag with a str pattern")
	case !p.bytes && f&ASCII == 0:
		p.flags |= Unicode
	case !p.bytes && f&Unicode != 0:
		p.stop(Value, "ASCII and UNICODE flags are incompatible")
	case p.bytes && f&Unicode != 0:
		p.stop(Value, "cannot use UNICODE flag with a bytes pattern")
	case p.bytes && f&Locale != 0 && f&ASCII != 0:
		p.stop(Value, "ASCII and LOCALE flags are incompatible")
	case f&Locale != 0:
		p.stop(Refused, "the LOCALE flag is not supported: there is no locale")
	}
}

// alternatives reads a|b|c.
func (p *parser) alternatives(verbose bool, nested int) *sequence {
	if nested > p.limits.Nesting {
		p.stop(Limit, "pattern is nested too deeply")
		return &sequence{}
	}
	var subs []*sequence
	// Paid: by patternOf in lib, which charges 22 cycles a character before it compiles; each round takes one, or ends.
	for p.err == nil {
		subs = append(subs, p.sequence(verbose, nested, nested == 0 && len(subs) == 0))
		if !p.match('|') {
			break
		}
		if nested == 0 {
			verbose = p.flags&Verbose != 0
		}
	}
	if len(subs) == 1 {
		return subs[0]
	}
	if len(subs) == 0 {
		return &sequence{}
	}
	s := &sequence{nodes: []*node{{kind: nBranch, subs: subs}}}
	s.measure(p.groups)
	return s
}

// sequence reads up to a | or ) or the end. Only the first of a pattern may
// begin with flags for all of it.
func (p *parser) sequence(verbose bool, nested int, first bool) *sequence {
	s := &sequence{}
	// Paid: likewise.
	for p.err == nil && p.next.n != 0 && !p.next.is('|') && !p.next.is(')') {
		this := p.get()
		if verbose && this.n == 1 && p.skipVerbose(this.c) {
			continue
		}
		switch {
		case this.n == 2:
			s.nodes = append(s.nodes, p.escape(this))
		case this.c == '[':
			s.nodes = append(s.nodes, p.class())
		case this.c == '*' || this.c == '+' || this.c == '?' || this.c == '{':
			p.repeat(s, this.c)
		case this.c == '.':
			s.nodes = append(s.nodes, &node{kind: nAny})
		case this.c == '(':
			if n := p.group(&verbose, nested, first && len(s.nodes) == 0); n != nil {
				s.nodes = append(s.nodes, n)
			}
		case this.c == '^':
			s.nodes = append(s.nodes, &node{kind: nAt, at: atLine})
		case this.c == '$':
			s.nodes = append(s.nodes, &node{kind: nAt, at: atLineEnd})
		default:
			s.nodes = append(s.nodes, &node{kind: nLiteral, c: this.c})
		}
	}
	if p.err != nil {
		return &sequence{}
	}
	s.measure(p.groups)
	flat := s.nodes[:0:0]
	// Paid: likewise; a node is moved once for each group around it, of which Limits.Nesting has 100: 8 bytes each time.
	for _, n := range s.nodes {
		if n.kind == nGroup && n.group == 0 && n.add|n.del == 0 {
			flat = append(flat, n.subs[0].nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	s.nodes = flat
	return s
}

// skipVerbose drops white space and comments.
func (p *parser) skipVerbose(c rune) bool {
	if c == '#' {
		// Paid: likewise.
		for this := p.get(); this.n != 0 && !this.is('\n'); {
			this = p.get()
		}
		return true
	}
	return isBlank(c)
}

// maxRepeat is where CPython's counts overflow.
const maxRepeat = 1<<32 - 1

// repeat reads a quantifier, the first character of which is taken, and wraps
// the last node of s.
func (p *parser) repeat(s *sequence, this rune) {
	here := p.offset()
	n := &node{kind: nRepeat, max: unbounded}
	switch this {
	case '?':
		n.max = 1
	case '+':
		n.min = 1
	case '{':
		if p.next.is('}') || !p.counts(n, here) {
			s.nodes = append(s.nodes, &node{kind: nLiteral, c: this})
			return
		}
	}
	last := len(s.nodes) - 1
	switch {
	case last < 0 || s.nodes[last].kind == nAt:
		p.syntaxError("nothing to repeat", p.offset()-here+1)
	case s.nodes[last].kind == nRepeat:
		p.syntaxError("multiple repeat", p.offset()-here+1)
	}
	if p.err != nil {
		return
	}
	switch {
	case p.match('?'):
		n.mode = lazy
	case p.match('+'):
		n.mode = possessive
	}
	body := &sequence{nodes: []*node{s.nodes[last]}}
	if g := s.nodes[last]; g.kind == nGroup && g.group == 0 && g.add|g.del == 0 {
		body = g.subs[0]
	}
	body.measure(p.groups)
	n.subs = []*sequence{body}
	s.nodes[last] = n
}

// counts reads {m,n} into n. If it is not one, it is text: the walk is back
// where it was.
func (p *parser) counts(n *node, here int) bool {
	lo := p.getWhile(len(p.text), isDigit)
	hi := lo
	if p.match(',') {
		hi = p.getWhile(len(p.text), isDigit)
	}
	if !p.match('}') {
		if p.err == nil {
			p.seek(here)
		}
		return false
	}
	if lo != "" {
		n.min = p.count(lo)
	}
	if hi != "" {
		n.max = p.count(hi)
		if n.max < n.min {
			p.syntaxError("min repeat greater than max repeat", p.offset()-here)
		}
	}
	return true
}

func (p *parser) count(digits string) int {
	n := int64(0)
	// Paid: by the characters that the digits were.
	for _, c := range digits {
		n = min(n*10+int64(c-'0'), maxRepeat)
	}
	switch {
	case n >= maxRepeat:
		p.stop(Overflow, "the repetition number is too large")
	case n > int64(p.limits.Repeat):
		p.stop(Limit, "the repetition number is too large")
	}
	return int(n)
}
