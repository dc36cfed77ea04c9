package syntax

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// joiner puts an f-string together: text that waits, and the values so far. The
// scan follows CPython 3.11, where the expressions of an f-string may hold
// neither backslash nor comment nor the string's own quotes.
type joiner struct {
	p      *parser
	at     Pos // of all parts: where the first of the adjacent literals begins
	uni    bool
	text   []byte
	values []Expr
}

// flush turns the waiting text into a constant.
func (j *joiner) flush() {
	if len(j.text) > 0 {
		text := ucd.NFC(string(j.text))
		j.values = append(j.values, j.p.constant(j.at, Constant{Kind: ConstStr, Text: text, U: j.uni}))
		j.text = j.text[:0]
	}
}

// scan is a place in the body of one literal.
type scan struct {
	at, end int // offsets in the source
	raw     bool
	lit     token // the literal

	// Lines are counted up to each field once: fields are many.
	counted   int
	line      int32
	lineStart int
}

// countTo brings the line up to offset i of src.
func (sc *scan) countTo(src string, i int) {
	passed := src[sc.counted:i]
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if n := strings.Count(passed, "\n"); n > 0 {
		sc.line += int32(n)
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		sc.lineStart = sc.counted + strings.LastIndexByte(passed, '\n') + 1
	}
	sc.counted = i
}

func (j *joiner) formatted(s stringToken) {
	sc := &scan{at: s.bodyStart, end: s.bodyEnd, raw: s.raw, lit: s.token}
	sc.counted, sc.line, sc.lineStart = int(s.start), s.pos.Line, int(s.start)-int(s.pos.Col)
	j.parts(sc, 0)
	if sc.at < sc.end {
		j.p.failf(s.pos, "f-string: unexpected end of string")
	}
}

// parts reads text and replacement fields, at level 1 up to the brace that ends
// a format specification.
func (j *joiner) parts(sc *scan, level int) {
	// Paid: by a brace or more each round, ten cycles a byte (ADR 59).
	for {
		more := j.literal(sc, level)
		if more {
			continue
		}
		if sc.at >= sc.end || j.p.src[sc.at] == '}' {
			break
		}
		j.field(sc, level)
	}
	if level > 0 && (sc.at >= sc.end || j.p.src[sc.at] != '}') {
		j.p.failf(j.at, "f-string: expecting '}'")
	}
}

// literal reads text up to a brace. It reports whether it stopped at a doubled
// brace, after which text goes on.
func (j *joiner) literal(sc *scan, level int) bool {
	src, start := j.p.src, sc.at
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for sc.at < sc.end {
		c := src[sc.at]
		if c == '\\' && !sc.raw && sc.at+1 < sc.end {
			sc.at++
			if c = src[sc.at]; c == 'N' {
				sc.at++
				if sc.at < sc.end && src[sc.at] == '{' {
					// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
					for sc.at < sc.end && src[sc.at] != '}' {
						sc.at++
					}
					sc.at = min(sc.at+1, sc.end)
				} else if sc.at < sc.end {
					sc.at++
				}
				continue
			}
		}
		if c != '{' && c != '}' {
			sc.at++
			continue
		}
		if level == 0 {
			if sc.at+1 < sc.end && src[sc.at+1] == c {
				j.text = j.p.appendText(j.text, sc.lit.pos, src[start:sc.at+1], sc.raw)
				sc.at += 2
				return true
			}
			if c == '}' {
				j.p.failf(j.at, "f-string: single '}' is not allowed")
			}
		}
		break
	}
	j.text = j.p.appendText(j.text, sc.lit.pos, src[start:sc.at], sc.raw)
	return false
}

// field reads {expression = !conversion : specification}.
func (j *joiner) field(sc *scan, level int) {
	p := j.p
	if level >= 2 {
		p.failf(j.at, "f-string: expressions nested too deeply")
	}
	sc.at++
	start := sc.at
	j.skipExpression(sc)
	value := j.expression(start, sc.at, sc)
	f := &FormattedValue{Pos: j.at, Value: value, Conversion: -1}
	debug := p.src[sc.at] == '='
	if debug {
		sc.at++
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		for sc.at < sc.end && isSpace(p.src[sc.at]) {
			sc.at++
		}
		j.text = append(j.text, p.src[start:sc.at]...)
	}
	if j.here(sc) == '!' {
		sc.at++
		f.Conversion = int(j.here(sc))
		sc.at++
		if f.Conversion != 's' && f.Conversion != 'r' && f.Conversion != 'a' {
			p.failf(j.at, "f-string: invalid conversion character: expected 's', 'r', or 'a'")
		}
	}
	if j.here(sc) == ':' {
		sc.at++
		j.here(sc)
		spec := &joiner{p: p, at: sc.lit.pos, uni: j.uni}
		spec.parts(sc, level+1)
		spec.flush()
		f.FormatSpec = &JoinedStr{Pos: spec.at, Values: spec.values}
	}
	if j.here(sc) != '}' {
		p.failf(j.at, "f-string: expecting '}'")
	}
	sc.at++
	if debug && f.FormatSpec == nil && f.Conversion == -1 {
		f.Conversion = 'r'
	}
	j.flush()
	j.values = append(j.values, f)
}

// here returns the byte at the scan, which must not be at its end.
func (j *joiner) here(sc *scan) byte {
	if sc.at >= sc.end {
		j.p.failf(j.at, "f-string: expecting '}'")
	}
	return j.p.src[sc.at]
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// skipExpression moves to the byte that ends the expression of a field.
func (j *joiner) skipExpression(sc *scan) {
	src, p := j.p.src, j.p
	var open []byte
	// Paid: by the bytes of the expression, read again for each f-string around, four at most: as many kinds of quotes (ADR 59).
	for ; sc.at < sc.end; sc.at++ {
		switch c := src[sc.at]; c {
		case '\\':
			p.failf(j.at, "f-string expression part cannot include a backslash")
		case '#':
			p.failf(j.at, "f-string expression part cannot include '#'")
		case '\'', '"':
			j.skipString(sc)
		case '(', '[', '{':
			if len(open) >= bracketsMax {
				p.failf(j.at, "f-string: too many nested parenthesis")
			}
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 {
				if c == '}' {
					return
				}
				p.failf(j.at, "f-string: unmatched '%c'", c)
			}
			if last := open[len(open)-1]; closer(last) != c {
				p.failf(j.at, "f-string: closing parenthesis '%c' does not match opening parenthesis '%c'", c, last)
			}
			open = open[:len(open)-1]
		case '!', ':', '=', '<', '>':
			if len(open) > 0 {
				continue
			}
			if c != ':' && sc.at+1 < sc.end && src[sc.at+1] == '=' {
				sc.at++
				continue
			}
			if c != '<' && c != '>' {
				return
			}
		}
	}
	if len(open) > 0 {
		p.failf(j.at, "f-string: unmatched '%c'", open[len(open)-1])
	}
	p.failf(j.at, "f-string: expecting '}'")
}

// skipString moves to the last byte of a string inside an expression.
func (j *joiner) skipString(sc *scan) {
	src := j.p.src
	quote := src[sc.at : sc.at+1]
	// Bounded: by three bytes.
	if triple := quote + quote + quote; strings.HasPrefix(src[sc.at:sc.end], triple) {
		quote = triple
	}
	body := sc.at + len(quote)
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	i := strings.Index(src[body:sc.end], quote)
	if i < 0 {
		j.p.failf(j.at, "f-string: unterminated string")
	}
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if strings.IndexByte(src[body:body+i], '\\') >= 0 {
		j.p.failf(j.at, "f-string expression part cannot include a backslash")
	}
	sc.at = body + i + len(quote) - 1
}

// expression reads src[start:end] as if it stood in brackets.
func (j *joiner) expression(start, end int, sc *scan) Expr {
	p := j.p
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if strings.Trim(p.src[start:end], " \t\n\f\r") == "" {
		p.failf(j.at, "f-string: empty expression not allowed")
	}
	l := &lexer{src: p.src, at: start, end: end, budget: &p.budget, maxTokens: p.lim.Tokens, nested: true}
	sc.countTo(p.src, start)
	l.line, l.lineStart = sc.line, sc.lineStart
	brace := l.pos(start - 1)
	if l.logicalLine() {
		l.emit(tokEnd, l.at, l.pos(l.at))
	}
	toks, i, lexErr := p.toks, p.i, p.lexErr
	p.toks, p.i, p.lexErr = l.toks, 0, l.err
	defer func() { p.toks, p.i, p.lexErr = toks, i, lexErr }()
	return p.replaced(brace)
}

// replaced reads the expression of a field as if its brace were a bracket.
func (p *parser) replaced(at Pos) Expr {
	p.enter()
	defer p.leave()
	var e Expr
	if p.kind() == tokYield {
		e = p.yield()
	} else {
		e = p.starNamed()
		switch {
		case p.startsComprehension():
			p.refuseUnpacking(e)
			e = &GeneratorExp{Pos: at, Elt: e, Generators: p.comprehension()}
		case p.kind() == tokComma:
			e = &Tuple{Pos: at, Elts: p.moreElements(e, tokEnd)}
		}
	}
	if s, ok := e.(*Starred); ok {
		p.failf(s.Pos, "f-string: can't use starred expression here")
	}
	if p.kind() != tokEnd {
		if startsExpr(p.kind()) && p.kind() != tokError {
			p.failf(at, "f-string: invalid syntax. Perhaps you forgot a comma?")
		}
		p.failf(at, "f-string: invalid syntax")
	}
	return e
}
