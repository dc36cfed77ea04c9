package regex

import (
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// token is one character of a pattern, or a backslash and the character after
// it. The zero value stands for the end.
type token struct {
	n   int  // characters: 0, 1 or 2
	c   rune // the first
	esc rune // the second
}

func (t token) is(c rune) bool { return t.n == 1 && t.c == c }

func (t token) String() string {
	switch t.n {
	case 0:
		return ""
	case 1:
		return string(t.c)
	}
	return string([]rune{t.c, t.esc})
}

// tokenizer walks a pattern as CPython's does, one token ahead. Its first
// error stays, and everything after it reads as the end.
type tokenizer struct {
	text  []rune
	bytes bool
	index int // just after next
	next  token
	err   *Error
}

func newTokenizer(text []rune, bytes bool) *tokenizer {
	t := &tokenizer{text: text, bytes: bytes}
	t.advance()
	return t
}

func (t *tokenizer) advance() {
	t.next = token{}
	if t.err != nil || t.index >= len(t.text) {
		return
	}
	c := t.text[t.index]
	if c != '\\' {
		t.next = token{n: 1, c: c}
		t.index++
		return
	}
	if t.index+1 >= len(t.text) {
		t.err = errorAt("bad escape (end of pattern)", t.text, len(t.text)-1)
		return
	}
	t.next = token{n: 2, c: c, esc: t.text[t.index+1]}
	t.index += 2
}

func (t *tokenizer) get() token {
	this := t.next
	t.advance()
	return this
}

func (t *tokenizer) match(c rune) bool {
	if t.next.is(c) {
		t.advance()
		return true
	}
	return false
}

// getWhile takes at most n characters for which holds is true.
func (t *tokenizer) getWhile(n int, holds func(rune) bool) string {
	var b strings.Builder
	// Paid: by patternOf or the reader of templates in lib, 22 cycles a character; each round takes one.
	for ; n > 0 && t.next.n == 1 && holds(t.next.c); n-- {
		b.WriteRune(t.get().c)
	}
	return b.String()
}

// getUntil takes a name up to its terminator, which it drops.
func (t *tokenizer) getUntil(terminator rune, name string) []rune {
	var result []rune
	// Paid: likewise.
	for t.err == nil {
		c := t.get()
		switch {
		case t.err != nil:
			return nil
		case c.n == 0 && len(result) == 0:
			t.syntaxError("missing "+name, 0)
		case c.n == 0:
			t.syntaxError("missing "+string(terminator)+", unterminated name", len(result))
		case c.is(terminator):
			if len(result) == 0 {
				t.syntaxError("missing "+name, 1)
			}
			return result
		default:
			result = append(result, []rune(c.String())...)
		}
	}
	return nil
}

func (t *tokenizer) offset() int { return t.index - t.next.n }

func (t *tokenizer) seek(index int) {
	t.index = index
	t.advance()
}

// syntaxError records a syntax error offset characters back, unless there is one.
func (t *tokenizer) syntaxError(msg string, offset int) {
	if t.err != nil {
		return
	}
	if t.bytes {
		msg = backslashed(msg)
	}
	t.err = errorAt(msg, t.text, t.offset()-offset)
	t.next = token{}
}

// stop records an error that has no position.
func (t *tokenizer) stop(kind Kind, msg string) {
	if t.err == nil {
		t.err = &Error{Kind: kind, Msg: msg, Pos: -1}
		t.next = token{}
	}
}

func (t *tokenizer) checkGroupName(name []rune, offset int) {
	if !isIdentifier(name) {
		t.syntaxError("bad character in group name "+quoted(name), len(name)+offset)
	}
}

func isIdentifier(name []rune) bool {
	// Paid: likewise; a name is looked at a few times.
	for i, c := range name {
		if i == 0 && !ucd.IsIdentStart(c) || !ucd.IsIdentContinue(c) {
			return false
		}
	}
	return len(name) > 0
}

// number reads a group number as Python's int does of ASCII: blanks around it,
// a sign and single underscores inside are fine. Numbers beyond any group read
// as that; not ok means no number, or a negative one.
func number(name []rune) (n int, ok bool) {
	// Paid: by the characters of the name.
	s := strings.TrimFunc(string(name), ucd.IsSpace)
	// Bounded: by one character.
	minus := strings.HasPrefix(s, "-")
	// Bounded: by one character.
	if minus || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	last := '_'
	// Paid: by the characters of the name.
	for _, c := range s {
		switch {
		case isDigit(c):
			n = int(min(int64(n)*10+int64(c-'0'), maxGroups))
		case c != '_' || last == '_':
			return 0, false
		}
		last = c
	}
	return n, last != '_' && (!minus || n == 0)
}

// maxGroups is past every group that CPython numbers.
const maxGroups = 1<<30 - 1

func isDigit(c rune) bool  { return '0' <= c && c <= '9' }
func isOctal(c rune) bool  { return '0' <= c && c <= '7' }
func isLetter(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isHex(c rune) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isBlank(c rune) bool  { return c == ' ' || '\t' <= c && c <= '\r' }

// quoted returns Python's repr of a name.
func quoted(name []rune) string {
	var b strings.Builder
	mark := '\''
	// Paid: by the characters of the name; there is one fault.
	if s := string(name); strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	b.WriteRune(mark)
	// Paid: likewise.
	for _, c := range name {
		switch {
		case c == mark || c == '\\':
			b.WriteRune('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case !ucd.IsPrintable(c):
			b.WriteString(escaped(c))
		default:
			b.WriteRune(c)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

func escaped(c rune) string {
	digits := strconv.FormatInt(int64(c), 16)
	switch {
	case c < 0x100:
		// Bounded: by two digits.
		return `\x` + strings.Repeat("0", 2-len(digits)) + digits
	case c < 0x10000:
		// Bounded: by four digits.
		return `\u` + strings.Repeat("0", 4-len(digits)) + digits
	}
	// Bounded: by eight digits.
	return `\U` + strings.Repeat("0", 8-len(digits)) + digits
}

// backslashed writes what is not ASCII as escapes.
func backslashed(s string) string {
	var b strings.Builder
	// Paid: by the characters of the pattern in the text; there is one fault.
	for _, c := range s {
		if c < 0x80 {
			b.WriteRune(c)
		} else {
			b.WriteString(escaped(c))
		}
	}
	return b.String()
}
