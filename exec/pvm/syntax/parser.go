package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// Parse reads a module. It accepts what CPython's ast.parse accepts, apart from
// what the package comment leaves out; [Check] does the rest of CPython's
// front end. An error is an [*Error], or the complaint of [Limits.Check].
func Parse(src []byte, lim Limits) (*Module, error) {
	if err := lim.Check(); err != nil {
		return nil, err
	}
	text, err := decode(src, lim)
	if err != nil {
		return nil, err
	}
	p := &parser{src: text, lim: lim, budget: lim.Tokens, constants: lim.Constants}
	p.toks, p.lexErr = p.lex()
	mod, err := p.guarded()
	if err != nil {
		return nil, err
	}
	mod.Tokens = lim.Tokens - p.budget
	if at, tall := taller(mod, lim.TreeHeight); tall {
		return nil, limitf(at, "too many nested operations: at most %d", lim.TreeHeight)
	}
	return mod, nil
}

// decode checks the encoding and brings line ends to \n, as CPython does before
// it looks at tokens.
func decode(src []byte, lim Limits) (string, error) {
	if len(src) > lim.SourceBytes {
		return "", limitf(Pos{Line: 1}, "source has %d bytes, at most %d", len(src), lim.SourceBytes)
	}
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	src, marked := bytes.CutPrefix(src, []byte("\ufeff"))
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return "", syntaxErrorf(place(src, i), "source code cannot contain null bytes")
	}
	switch name := declaredEncoding(src); {
	case name == "":
	case marked && !isExactlyUTF8(name):
		return "", syntaxErrorf(Pos{Line: 1}, "encoding problem: %s with BOM", name)
	case !isUTF8(name):
		return "", unsupportedf(Pos{Line: 1}, "encoding %s is not supported, only utf-8", name)
	}
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return "", syntaxErrorf(place(src, i), "(unicode error) 'utf-8' codec can't decode byte 0x%02x in position %d", src[i], i)
		}
		i += n
	}
	text := string(src)
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if strings.IndexByte(text, '\r') >= 0 {
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text, nil
}

func place(src []byte, i int) Pos {
	before := src[:i]
	return Pos{
		// Paid: by the bytes of source; it is for a refusal, once (ADR 59).
		Line: int32(1 + bytes.Count(before, []byte("\n"))),
		// Paid: by the bytes of source; it is for a refusal, once (ADR 59).
		Col: int32(i - 1 - bytes.LastIndexByte(before, '\n')),
	}
}

// declaredEncoding returns the encoding that a comment in the first two lines
// names (PEP 263), or "".
func declaredEncoding(src []byte) string {
	for range 2 {
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		line, rest, _ := bytes.Cut(src, []byte("\n"))
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		line = bytes.TrimLeft(line, " \t\f")
		if len(line) > 0 && line[0] != '#' && line[0] != '\r' {
			return ""
		}
		if name := encodingIn(line); name != "" {
			return name
		}
		src = rest
	}
	return ""
}

// encodingIn finds coding[:=] blanks name in a comment.
func encodingIn(line []byte) string {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for {
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		i := bytes.Index(line, []byte("coding"))
		if i < 0 {
			return ""
		}
		line = line[i+len("coding"):]
		if len(line) == 0 || line[0] != ':' && line[0] != '=' {
			continue
		}
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		name := bytes.TrimLeft(line[1:], " \t")
		n := 0
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		for n < len(name) && (ucd.IsIdentContinue(rune(name[n])) && name[n] < 0x80 || name[n] == '-' || name[n] == '.') {
			n++
		}
		if n > 0 {
			return string(name[:n])
		}
	}
}

// isExactlyUTF8 reports whether CPython takes name for utf-8 without asking its
// codecs, which is what it demands after a byte order mark.
func isExactlyUTF8(name string) bool {
	// Paid: by the bytes of one line, once (ADR 59).
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	// Bounded: by six bytes.
	return name == "utf-8" || strings.HasPrefix(name, "utf-8-")
}

func isUTF8(name string) bool {
	// Paid: by the bytes of one line, once (ADR 59).
	switch strings.ToLower(name) {
	case "utf8", "u8":
		return true
	}
	return isExactlyUTF8(name)
}

// parser turns tokens into a tree by recursive descent. A refusal unwinds to
// guarded or attempt by a panic with an *Error, which never leaves the package.
type parser struct {
	src       string
	lim       Limits
	toks      []token // never empty; the last is tokEnd or tokError
	i         int
	depth     int
	budget    int // tokens left
	constants int // literals left
	lexErr    *Error
	far       *Error // the refusal of a failed attempt, if it got further
}

// lex cuts p.src into tokens.
func (p *parser) lex() ([]token, *Error) {
	l := &lexer{
		src: p.src, end: len(p.src), line: 1, budget: &p.budget, maxTokens: p.lim.Tokens,
		indents: []int{0}, alts: []int{0}, toks: make([]token, 0, len(p.src)/4+2),
	}
	l.run()
	return l.toks, l.err
}

func (p *parser) guarded() (mod *Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			refusal, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			if p.far != nil && refusal.kind == ErrSyntax && p.far.Pos.after(refusal.Pos) {
				refusal = p.far
			}
			mod, err = nil, refusal
		}
	}()
	mod = &Module{}
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != tokEnd {
		mod.Body = p.statement(mod.Body)
	}
	return mod, nil
}

func (p Pos) after(q Pos) bool { return p.Line > q.Line || p.Line == q.Line && p.Col > q.Col }

// attempt runs f, which may refuse. Then the tokens are where they were.
func (p *parser) attempt(f func() bool) (ok bool) {
	i, depth, budget, constants := p.i, p.depth, p.budget, p.constants
	defer func() {
		if r := recover(); r != nil {
			refusal, isOurs := r.(*Error)
			if !isOurs {
				panic(r)
			}
			if p.far == nil || refusal.after(p.far.Pos) {
				p.far = refusal
			}
			ok = false
		}
		if !ok {
			p.i, p.depth, p.constants = i, depth, constants
			p.budget = min(p.budget, budget) // what was read twice is paid twice
		}
	}()
	return f()
}

func (p *parser) tok() token          { return p.toks[p.i] }
func (p *parser) kind() tokenKind     { return p.toks[p.i].kind }
func (p *parser) pos() Pos            { return p.toks[p.i].pos }
func (p *parser) text(t token) string { return p.src[t.start:t.end] }

// kindAt returns the kind of the token n ahead.
func (p *parser) kindAt(n int) tokenKind {
	if p.i+n < len(p.toks) {
		return p.toks[p.i+n].kind
	}
	return tokEnd
}

// advance returns the current token and goes to the next. The last token stays.
func (p *parser) advance() token {
	t := p.toks[p.i]
	if p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

// accept advances over a token of kind k, if one is there.
func (p *parser) accept(k tokenKind) bool {
	if p.kind() != k {
		return false
	}
	p.advance()
	return true
}

// expect advances over a token of kind k; what says what it is.
func (p *parser) expect(k tokenKind, what string) token {
	if p.kind() != k {
		p.failf(p.pos(), "expected '%s'", what)
	}
	return p.advance()
}

// failf refuses at a place. What the lexer refused there comes first.
func (p *parser) failf(at Pos, format string, args ...any) {
	if p.kind() == tokError {
		panic(p.lexErr)
	}
	panic(syntaxErrorf(at, format, args...))
}

// invalid refuses the current token.
func (p *parser) invalid() {
	switch p.kind() {
	case tokIndent:
		p.failIndent("unexpected indent")
	case tokDedent:
		p.failIndent("unexpected unindent")
	}
	p.failf(p.pos(), "invalid syntax")
}

func (p *parser) failIndent(format string, args ...any) {
	if p.kind() == tokError {
		panic(p.lexErr)
	}
	e := syntaxErrorf(p.pos(), format, args...)
	e.Class = IndentationError
	panic(e)
}

// enter counts one level of nesting; leave ends it.
func (p *parser) enter() {
	if p.depth++; p.depth > p.lim.Depth {
		panic(limitf(p.pos(), "too many nested expressions or blocks: at most %d", p.lim.Depth))
	}
}

func (p *parser) leave() { p.depth-- }

// name reads an identifier.
func (p *parser) name() string {
	if p.kind() != tokName {
		p.invalid()
	}
	return p.ident(p.advance())
}

// ident returns the text of a name token in NFKC.
func (p *parser) ident(t token) string { return ucd.NFKC(p.text(t)) }

// isWord reports whether the token n ahead is the soft keyword w.
func (p *parser) isWord(n int, w string) bool {
	return p.kindAt(n) == tokName && p.text(p.toks[p.i+n]) == w
}

// constant counts a literal.
func (p *parser) constant(at Pos, c Constant) *Constant {
	if p.constants == 0 {
		panic(limitf(at, "too many literals: at most %d", p.lim.Constants))
	}
	p.constants--
	c.Pos = at
	return &c
}
