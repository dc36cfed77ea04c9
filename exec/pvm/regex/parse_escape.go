package regex

import "strconv"

// simpleEscape returns the character that \c stands for in classes; outside, \b
// is a place.
func simpleEscape(c rune) (rune, bool) {
	switch c {
	case 'a':
		return '\a', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'v':
		return '\v', true
	case '\\':
		return '\\', true
	}
	return 0, false
}

func categoryOf(c rune) category {
	switch c {
	case 'd':
		return catDigit
	case 'D':
		return catNotDigit
	case 's':
		return catSpace
	case 'S':
		return catNotSpace
	case 'w':
		return catWord
	case 'W':
		return catNotWord
	}
	return 0
}

// escape reads an escape outside a class.
func (p *parser) escape(this token) *node {
	c := this.esc
	switch c {
	case 'A':
		return &node{kind: nAt, at: atStart}
	case 'Z':
		return &node{kind: nAt, at: atEnd}
	case 'b':
		return &node{kind: nAt, at: atBoundary}
	case 'B':
		return &node{kind: nAt, at: atInside}
	}
	if cat := categoryOf(c); cat != 0 {
		return &node{kind: nClass, items: []item{{category: cat}}}
	}
	if lit, ok := simpleEscape(c); ok {
		return &node{kind: nLiteral, c: lit}
	}
	switch {
	case c == '0':
		digits := p.getWhile(2, isOctal)
		return &node{kind: nLiteral, c: octal("0" + digits)}
	case isDigit(c):
		return p.numbered(c)
	}
	lit, _ := p.codeEscape(this)
	return &node{kind: nLiteral, c: lit}
}

// numbered reads \1 and its like: three octal digits, else a group.
func (p *parser) numbered(c rune) *node {
	text := `\` + string(c)
	if p.next.n == 1 && isDigit(p.next.c) {
		d := p.get().c
		text += string(d)
		if isOctal(c) && isOctal(d) && p.next.n == 1 && isOctal(p.next.c) {
			text += string(p.get().c)
			v := octal(text[1:])
			if v > 0o377 {
				p.syntaxError("octal escape value "+text+" outside of range 0-0o377", len(text))
			}
			return &node{kind: nLiteral, c: v}
		}
	}
	group, _ := strconv.Atoi(text[1:])
	switch {
	case group >= len(p.groups):
		p.syntaxError("invalid group reference "+strconv.Itoa(group), len(text)-1)
	case p.groups[group] == nil:
		p.syntaxError("cannot refer to an open group", len(text))
	default:
		p.checkLookbehind(group)
	}
	return &node{kind: nBackref, group: group}
}

func octal(digits string) rune {
	v := rune(0)
	// Bounded: by three digits.
	for _, c := range digits {
		v = v<<3 | (c - '0')
	}
	return v
}

// codeEscape reads \x, \u, \U, and the escapes that stand for themselves.
func (p *parser) codeEscape(this token) (rune, bool) {
	c := this.esc
	digits := 0
	switch {
	case c == 'x':
		digits = 2
	case c == 'u' && !p.bytes:
		digits = 4
	case c == 'U' && !p.bytes:
		digits = 8
	case c == 'N' && !p.bytes:
		return p.namedEscape()
	case isLetter(c) || isDigit(c):
		p.syntaxError(`bad escape \`+string(c), 2)
		return 0, false
	default:
		return c, true
	}
	text := p.getWhile(digits, isHex)
	escape := `\` + string(c) + text
	if len(text) != digits {
		p.syntaxError("incomplete escape "+escape, len(escape))
		return 0, false
	}
	v, _ := strconv.ParseUint(text, 16, 32)
	if v > 0x10ffff {
		p.syntaxError("bad escape "+escape, len(escape))
		return 0, false
	}
	return rune(v), true
}

// namedEscape refuses \N{...}: the machine holds no names of characters.
func (p *parser) namedEscape() (rune, bool) {
	if !p.match('{') {
		p.syntaxError("missing {", 0)
		return 0, false
	}
	p.getUntil('}', "character name")
	p.stop(Refused, `\N{...} is not supported: there are no names of characters`)
	return 0, false
}

// class reads a set after its bracket.
func (p *parser) class() *node {
	here := p.offset() - 1
	n := &node{kind: nClass, negate: p.match('^')}
	// Paid: by patternOf in lib, 22 cycles a character; each round takes one.
	for p.err == nil {
		this := p.get()
		if this.n == 0 {
			p.syntaxError("unterminated character set", p.offset()-here)
			break
		}
		if this.is(']') && len(n.items) > 0 {
			break
		}
		lo, from := p.classItem(this)
		if !p.match('-') {
			n.items = append(n.items, lo)
			continue
		}
		that := p.get()
		if that.n == 0 {
			p.syntaxError("unterminated character set", p.offset()-here)
			break
		}
		if that.is(']') {
			n.items = append(n.items, lo, item{lo: '-', hi: '-'})
			break
		}
		hi, to := p.classItem(that)
		if lo.category != 0 || hi.category != 0 || hi.lo < lo.lo {
			p.syntaxError("bad character range "+from+"-"+to, len([]rune(from))+1+len([]rune(to)))
		}
		n.items = append(n.items, item{lo: lo.lo, hi: hi.lo})
	}
	if len(n.items) == 1 && !n.negate && n.items[0].category == 0 && n.items[0].lo == n.items[0].hi {
		return &node{kind: nLiteral, c: n.items[0].lo}
	}
	return n
}

// classItem returns a member and the token that messages show for it.
func (p *parser) classItem(this token) (item, string) {
	text := this.String()
	if this.n == 1 {
		return item{lo: this.c, hi: this.c}, text
	}
	c := this.esc
	if cat := categoryOf(c); cat != 0 {
		return item{category: cat}, text
	}
	if lit, ok := simpleEscape(c); ok {
		return item{lo: lit, hi: lit}, text
	}
	if isOctal(c) {
		escape := text + p.getWhile(2, isOctal)
		v := octal(escape[1:])
		if v > 0o377 {
			p.syntaxError("octal escape value "+escape+" outside of range 0-0o377", len(escape))
		}
		return item{lo: v, hi: v}, text
	}
	v, _ := p.codeEscape(this)
	return item{lo: v, hi: v}, text
}
