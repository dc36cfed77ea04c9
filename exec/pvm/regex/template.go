package regex

import (
	"strconv"
	"strings"
)

// part is a literal, or a group if that is 0 or more.
type part struct {
	literal string
	group   int
}

// Replacement is a template of Pattern.sub or Match.expand, parsed.
type Replacement struct{ parts []part }

// ParseReplacement reads a template for a program: text or bytes as the program
// is.
func ParseReplacement(template string, p *Program, limits Limits) (*Replacement, *Error) {
	text, err := decode(template, p.bytes, limits)
	if err != nil {
		return nil, err
	}
	t := &replacer{tokenizer: *newTokenizer(text, p.bytes), p: p}
	// Paid: by the callers in lib, 22 cycles a character before.
	for t.err == nil && t.next.n != 0 {
		if this := t.get(); this.n == 1 {
			t.literal = append(t.literal, this.c)
		} else {
			t.escape(this)
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	t.flush()
	return &Replacement{t.parts}, nil
}

// replacer reads a template.
type replacer struct {
	tokenizer
	p       *Program
	literal []rune
	parts   []part
}

func (t *replacer) flush() {
	if len(t.literal) == 0 {
		return
	}
	s := string(t.literal)
	if t.bytes {
		raw := make([]byte, len(t.literal))
		// Paid: by the characters of the template.
		for i, c := range t.literal {
			raw[i] = byte(c)
		}
		s = string(raw)
	}
	t.parts = append(t.parts, part{s, -1})
	t.literal = t.literal[:0]
}

func (t *replacer) group(group, offset int) {
	if group > t.p.groups {
		t.syntaxError("invalid group reference "+strconv.Itoa(group), offset)
		return
	}
	t.flush()
	t.parts = append(t.parts, part{group: group})
}

func (t *replacer) escape(this token) {
	c := this.esc
	lit, simple := simpleEscape(c)
	switch {
	case c == 'g':
		t.namedGroup()
	case c == '0':
		t.literal = append(t.literal, octal(t.getWhile(2, isOctal))&0xff)
	case isDigit(c):
		t.numbered(c)
	case simple:
		t.literal = append(t.literal, lit)
	case isLetter(c):
		t.syntaxError(`bad escape \`+string(c), 2)
	default:
		t.literal = append(t.literal, '\\', c)
	}
}

func (t *replacer) numbered(c rune) {
	text := string(c)
	if t.next.n == 1 && isDigit(t.next.c) {
		d := t.get().c
		text += string(d)
		if isOctal(c) && isOctal(d) && t.next.n == 1 && isOctal(t.next.c) {
			text += string(t.get().c)
			v := octal(text)
			if v > 0o377 {
				t.syntaxError(`octal escape value \`+text+" outside of range 0-0o377", len(text)+1)
			}
			t.literal = append(t.literal, v)
			return
		}
	}
	group, _ := strconv.Atoi(text)
	t.group(group, len(text))
}

// namedGroup reads \g<name> after its letter.
func (t *replacer) namedGroup() {
	if !t.match('<') {
		t.syntaxError("missing <", 0)
		return
	}
	text := t.getUntil('>', "group name")
	if t.err != nil {
		return
	}
	if isIdentifier(text) {
		group, ok := t.p.GroupNumber(string(text))
		if !ok {
			t.stop(Index, "unknown group name "+quoted(text))
			return
		}
		t.group(group, len(text)+1)
		return
	}
	group, ok := number(text)
	switch {
	case !ok:
		t.syntaxError("bad character in group name "+quoted(text), len(text)+1)
	default:
		t.group(group, len(text)+1)
	}
}

// Literal returns the text of a template that has no groups.
func (r *Replacement) Literal() (string, bool) {
	switch {
	case len(r.parts) == 0:
		return "", true
	case len(r.parts) == 1 && r.parts[0].group < 0:
		return r.parts[0].literal, true
	}
	return "", false
}

// Parts is how many literals and groups the template has, each of which Size and
// Append look at, empty or not.
func (r *Replacement) Parts() int { return len(r.parts) }

// Size returns the bytes, at most four for a character, that [Replacement.Append]
// would add: what to charge before calling it.
func (r *Replacement) Size(s *Subject, g Groups) int {
	n, wide := 0, 1
	if s.wide != nil {
		wide = 4
	}
	// Paid: by the callers in lib, an element for four parts (Parts).
	for _, p := range r.parts {
		n += len(p.literal)
		if p.group >= 0 {
			n += wide * (g.Spans[2*p.group+1] - g.Spans[2*p.group])
		}
	}
	return n
}

// Append adds the expansion for a match to dst. Groups that took no part are
// empty.
func (r *Replacement) Append(dst []byte, s *Subject, g Groups) []byte {
	// Paid: likewise, and a character for each byte that Size tells.
	for _, p := range r.parts {
		dst = append(dst, p.literal...)
		if p.group >= 0 && g.Spans[2*p.group] >= 0 {
			dst = append(dst, s.Slice(g.Spans[2*p.group], g.Spans[2*p.group+1])...)
		}
	}
	return dst
}

// Escape returns the pattern, text or bytes, that matches s and nothing else:
// re.escape.
func Escape(s string) string {
	n := 0
	// Paid: by escapePattern in lib, a character each.
	for i := range len(s) {
		if special(s[i]) {
			n++
		}
	}
	var b strings.Builder
	b.Grow(len(s) + n)
	// Paid: likewise.
	for i := range len(s) {
		if special(s[i]) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func special(c byte) bool {
	// Bounded: by the 19 characters that are special.
	return isBlank(rune(c)) || strings.IndexByte(`()[]{}?*+-|^$\.&~#`, c) >= 0
}
