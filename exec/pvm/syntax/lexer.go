package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

const (
	bracketsMax = 200 // CPython's MAXLEVEL
	indentsMax  = 100 // CPython's MAXINDENT
	tabWidth    = 8
)

// bracket is an opening bracket that waits for its partner.
type bracket struct {
	ch  byte
	pos Pos
}

// lexer cuts src into tokens. It reads the whole source before the parser
// starts; an error ends the tokens with tokError, so that the parser reports
// what stands before it first, as CPython does.
type lexer struct {
	src       string
	at        int // offset of the next byte
	end       int // offset where the lexer stops
	line      int32
	lineStart int
	budget    *int // tokens that may still be made
	maxTokens int

	indents  []int // columns with tabs to multiples of eight
	alts     []int // columns with tabs as one: both must agree in order
	brackets []bracket
	toks     []token
	err      *Error
	nested   bool // inside an f-string: newlines are spaces, no indentation
}

// pos returns the place of offset i in the current line.
func (l *lexer) pos(i int) Pos { return Pos{l.line, int32(i - l.lineStart)} }

func (l *lexer) fail(e *Error) bool {
	if l.err == nil {
		l.err = e
		l.toks = append(l.toks, token{pos: e.Pos, start: int32(l.at), end: int32(l.at), kind: tokError})
	}
	return false
}

func (l *lexer) failf(at Pos, format string, args ...any) bool {
	return l.fail(syntaxErrorf(at, format, args...))
}

func (l *lexer) indentError(class Class, msg string) bool {
	e := syntaxErrorf(l.pos(l.at), "%s", msg)
	e.Class = class
	return l.fail(e)
}

// emit appends a token that ends at l.at.
func (l *lexer) emit(k tokenKind, start int, pos Pos) bool {
	if *l.budget == 0 {
		return l.fail(limitf(pos, "too many tokens: at most %d", l.maxTokens))
	}
	*l.budget--
	l.toks = append(l.toks, token{pos: pos, start: int32(start), end: int32(l.at), kind: k})
	return true
}

// peek returns the byte n ahead, or 0 at the end.
func (l *lexer) peek(n int) byte {
	if l.at+n < l.end {
		return l.src[l.at+n]
	}
	return 0
}

// run makes all tokens of a module.
func (l *lexer) run() {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for {
		blank, ok := l.indentation()
		if !ok {
			return
		}
		if !blank && !l.logicalLine() {
			return
		}
		if l.at >= l.end {
			break
		}
	}
	// Bounded: by the levels of indentation, 100.
	for range len(l.indents) - 1 {
		if !l.emit(tokDedent, l.at, l.pos(l.at)) {
			return
		}
	}
	l.emit(tokEnd, l.at, l.pos(l.at))
}

// indentation reads the white space that begins a line and emits indents and
// dedents. A line of white space and comment alone is blank: it is consumed.
func (l *lexer) indentation() (blank, ok bool) {
	col, alt, continued := 0, 0, -1
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for l.at < l.end {
		switch l.src[l.at] {
		case ' ':
			col, alt = col+1, alt+1
		case '\t':
			col, alt = (col/tabWidth+1)*tabWidth, alt+1
		case '\f':
			col, alt = 0, 0
		case '\\':
			// The first physical line decides the indentation.
			if continued < 0 {
				continued = col
			}
			if !l.continuation() {
				return false, false
			}
			continue
		case '#':
			l.comment()
			continue
		case '\n':
			l.newline()
			return true, true
		default:
			if continued > 0 {
				col, alt = continued, continued
			}
			return false, l.indent(col, alt)
		}
		l.at++
	}
	return true, true
}

func (l *lexer) indent(col, alt int) bool {
	top := len(l.indents) - 1
	switch {
	case col == l.indents[top]:
		if alt != l.alts[top] {
			return l.indentError(TabError, "inconsistent use of tabs and spaces in indentation")
		}
		return true
	case col > l.indents[top]:
		if len(l.indents) >= indentsMax {
			return l.indentError(IndentationError, "too many levels of indentation")
		}
		if alt <= l.alts[top] {
			return l.indentError(TabError, "inconsistent use of tabs and spaces in indentation")
		}
		l.indents, l.alts = append(l.indents, col), append(l.alts, alt)
		return l.emit(tokIndent, l.at, l.pos(l.at))
	}
	// Bounded: by the levels of indentation, 100.
	for col < l.indents[len(l.indents)-1] {
		l.indents, l.alts = l.indents[:len(l.indents)-1], l.alts[:len(l.alts)-1]
		if !l.emit(tokDedent, l.at, l.pos(l.at)) {
			return false
		}
	}
	if col != l.indents[len(l.indents)-1] {
		return l.indentError(IndentationError, "unindent does not match any outer indentation level")
	}
	if alt != l.alts[len(l.alts)-1] {
		return l.indentError(TabError, "inconsistent use of tabs and spaces in indentation")
	}
	return true
}

// logicalLine reads to the newline that ends a statement, or to the end.
func (l *lexer) logicalLine() bool {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for l.at < l.end {
		c := l.src[l.at]
		switch {
		case c == ' ' || c == '\t' || c == '\f':
			l.at++
		case c == '#':
			l.comment()
		case c == '\\':
			if !l.continuation() {
				return false
			}
		case c == '\n':
			if len(l.brackets) > 0 || l.nested {
				l.newline()
				continue
			}
			start, pos := l.at, l.pos(l.at)
			l.newline()
			return l.emit(tokNewline, start, pos)
		default:
			if !l.lexToken(c) {
				return false
			}
		}
	}
	if n := len(l.brackets); n > 0 {
		return l.failf(l.brackets[n-1].pos, "'%c' was never closed", l.brackets[n-1].ch)
	}
	if l.nested {
		return true
	}
	return l.emit(tokNewline, l.at, l.pos(l.at))
}

func (l *lexer) newline() {
	l.at++
	l.line++
	l.lineStart = l.at
}

func (l *lexer) comment() {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if i := strings.IndexByte(l.src[l.at:l.end], '\n'); i >= 0 {
		l.at += i
		return
	}
	l.at = l.end
}

// continuation joins the next line after a backslash.
func (l *lexer) continuation() bool {
	l.at++
	switch {
	case l.at >= l.end:
		return l.failf(l.pos(l.at), "unexpected EOF while parsing")
	case l.src[l.at] != '\n':
		return l.failf(l.pos(l.at), "unexpected character after line continuation character")
	}
	l.newline()
	if l.at >= l.end {
		return l.failf(l.pos(l.at), "unexpected EOF while parsing")
	}
	return true
}

// lexToken makes the token that begins with c.
func (l *lexer) lexToken(c byte) bool {
	switch {
	case c == '"' || c == '\'':
		return l.text(l.at)
	case '0' <= c && c <= '9', c == '.' && isDigit(l.peek(1)):
		return l.number()
	case c >= utf8.RuneSelf || ucd.IsIdentStart(rune(c)):
		return l.word()
	}
	kind, n := operator(l.src[l.at:l.end])
	if n == 0 {
		return l.strange(rune(c))
	}
	start := l.at
	if kind == tokLess && l.peek(1) == '>' {
		return l.failf(l.pos(start), "invalid syntax")
	}
	if !l.track(kind, c) {
		return false
	}
	l.at += n
	return l.emit(kind, start, l.pos(start))
}

func (l *lexer) strange(r rune) bool {
	if r < ' ' || r >= 0x7F {
		return l.failf(l.pos(l.at), "invalid non-printable character U+%04X", r)
	}
	return l.failf(l.pos(l.at), "invalid syntax")
}

// track keeps the open brackets.
func (l *lexer) track(kind tokenKind, c byte) bool {
	switch kind {
	case tokLParen, tokLBracket, tokLBrace:
		if len(l.brackets) >= bracketsMax {
			return l.failf(l.pos(l.at), "too many nested parentheses")
		}
		l.brackets = append(l.brackets, bracket{c, l.pos(l.at)})
	case tokRParen, tokRBracket, tokRBrace:
		n := len(l.brackets)
		if n == 0 {
			return l.failf(l.pos(l.at), "unmatched '%c'", c)
		}
		open := l.brackets[n-1]
		l.brackets = l.brackets[:n-1]
		switch {
		case closer(open.ch) == c:
		case open.pos.Line != l.line:
			return l.failf(l.pos(l.at), "closing parenthesis '%c' does not match opening parenthesis '%c' on line %d", c, open.ch, open.pos.Line)
		default:
			return l.failf(l.pos(l.at), "closing parenthesis '%c' does not match opening parenthesis '%c'", c, open.ch)
		}
	}
	return true
}

func closer(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// word reads a name, a keyword, or a string with its prefix.
func (l *lexer) word() bool {
	start := l.at
	ascii := true
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for l.at < l.end {
		c := l.src[l.at]
		if c >= utf8.RuneSelf {
			ascii = false
		} else if !ucd.IsIdentContinue(rune(c)) {
			break
		}
		l.at++
	}
	word := l.src[start:l.at]
	if c := l.peek(0); (c == '"' || c == '\'') && isStringPrefix(word) {
		return l.text(start)
	}
	if !ascii {
		if i := firstNotIdent(word); i >= 0 {
			l.at = start + i
			r, _ := utf8.DecodeRuneInString(word[i:])
			return l.failf(l.pos(l.at), "invalid character '%c' (U+%04X)", r, r)
		}
		return l.emit(tokName, start, l.pos(start))
	}
	return l.emit(keyword(word), start, l.pos(start))
}

// firstNotIdent returns the offset of the first code point that does not fit an
// identifier, or -1.
func firstNotIdent(word string) int {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for i, r := range word {
		if i == 0 && !ucd.IsIdentStart(r) || i > 0 && !ucd.IsIdentContinue(r) {
			return i
		}
	}
	return -1
}

func isStringPrefix(word string) bool {
	if len(word) > 2 {
		return false
	}
	// Bounded: by two bytes.
	switch strings.ToLower(word) {
	case "r", "b", "u", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

// text reads a string literal whose quotes begin at l.at; its prefix begins at
// start.
func (l *lexer) text(start int) bool {
	pos, quote := l.pos(start), l.src[l.at]
	if l.peek(1) == quote && l.peek(2) == quote {
		return l.tripleText(start, pos, quote)
	}
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for l.at++; l.at < l.end; l.at++ {
		switch l.src[l.at] {
		case quote:
			l.at++
			return l.emit(tokString, start, pos)
		case '\n':
			return l.failf(pos, "unterminated string literal (detected at line %d)", l.line)
		case '\\':
			if l.at++; l.at < l.end && l.src[l.at] == '\n' {
				l.line, l.lineStart = l.line+1, l.at+1
			}
		}
	}
	return l.failf(pos, "unterminated string literal (detected at line %d)", l.line)
}

func (l *lexer) tripleText(start int, pos Pos, quote byte) bool {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for l.at += 3; l.at < l.end; l.at++ {
		switch c := l.src[l.at]; {
		case c == quote && l.peek(1) == quote && l.peek(2) == quote:
			l.at += 3
			return l.emit(tokString, start, pos)
		case c == '\n':
			l.line, l.lineStart = l.line+1, l.at+1
		case c == '\\':
			if l.at++; l.at < l.end && l.src[l.at] == '\n' {
				l.line, l.lineStart = l.line+1, l.at+1
			}
		}
	}
	return l.failf(pos, "unterminated triple-quoted string literal (detected at line %d)", l.line)
}
