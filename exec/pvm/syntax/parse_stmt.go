package syntax

import "strings"

// statement reads one statement, or one line of simple ones, and appends it.
func (p *parser) statement(dst []Stmt) []Stmt {
	switch p.kind() {
	case tokIf:
		return append(dst, p.ifStmt())
	case tokWhile:
		return append(dst, p.whileStmt())
	case tokFor:
		return append(dst, p.forStmt())
	case tokTry:
		return append(dst, p.tryStmt())
	case tokWith:
		return append(dst, p.withStmt())
	case tokDef:
		return append(dst, p.functionDef(nil))
	case tokClass:
		return append(dst, p.classDef(nil))
	case tokAt:
		return append(dst, p.decorated())
	case tokAsync:
		return append(dst, p.asyncStmt())
	case tokName:
		if p.isWord(0, "match") {
			if m := p.matchStmt(); m != nil {
				return append(dst, m)
			}
		}
	}
	return p.simpleLine(dst)
}

// simpleLine: ';'.simple_stmt+ [';'] NEWLINE.
func (p *parser) simpleLine(dst []Stmt) []Stmt {
	// Paid: by a token or more each round (ADR 59).
	for {
		dst = append(dst, p.simpleStmt())
		if !p.accept(tokSemi) {
			break
		}
		if p.kind() == tokNewline {
			break
		}
	}
	if p.kind() != tokNewline {
		p.invalid()
	}
	p.advance()
	return dst
}

func (p *parser) simpleStmt() Stmt {
	t := p.tok()
	switch t.kind {
	case tokReturn:
		p.advance()
		r := &Return{Pos: t.pos}
		if startsExpr(p.kind()) || p.kind() == tokStar {
			r.Value = p.starExpressions()
		}
		return r
	case tokImport:
		p.advance()
		return p.importStmt(t.pos)
	case tokFrom:
		p.advance()
		return p.importFrom(t.pos)
	case tokRaise:
		p.advance()
		return p.raise(t.pos)
	case tokPass:
		p.advance()
		return &Pass{t.pos}
	case tokBreak:
		p.advance()
		return &Break{t.pos}
	case tokContinue:
		p.advance()
		return &Continue{t.pos}
	case tokDel:
		p.advance()
		return p.del(t.pos)
	case tokAssert:
		p.advance()
		a := &Assert{Pos: t.pos, Test: p.expression()}
		if p.accept(tokComma) {
			a.Msg = p.expression()
		}
		return a
	case tokGlobal:
		p.advance()
		return &Global{t.pos, p.names()}
	case tokNonlocal:
		p.advance()
		return &Nonlocal{t.pos, p.names()}
	}
	return p.assignment()
}

func (p *parser) names() []string {
	names := []string{p.name()}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokComma) {
		names = append(names, p.name())
	}
	return names
}

func (p *parser) raise(at Pos) Stmt {
	r := &Raise{Pos: at}
	if startsExpr(p.kind()) {
		r.Exc = p.expression()
		if p.accept(tokFrom) {
			r.Cause = p.expression()
		}
	}
	return r
}

func (p *parser) del(at Pos) Stmt {
	d := &Delete{Pos: at}
	// Paid: by a token or more each round (ADR 59).
	for {
		target := p.bitwiseOr()
		p.deletable(target)
		d.Targets = append(d.Targets, target)
		if !p.accept(tokComma) || !startsExpr(p.kind()) {
			return d
		}
	}
}

// assignment: an expression, an assignment of any kind, or an annotation.
func (p *parser) assignment() Stmt {
	at := p.pos()
	bare := p.kind() == tokName
	first := p.yieldOrStar()
	switch p.kind() {
	case tokColon:
		return p.annotated(at, first, bare)
	case tokAugmented:
		return p.augmentedAssign(at, first)
	case tokAssign:
		a := &Assign{Pos: at}
		value := first
		// Paid: by a token or more each round (ADR 59).
		for p.accept(tokAssign) {
			p.assignable(value)
			a.Targets = append(a.Targets, value)
			value = p.yieldOrStar()
		}
		if p.kind() == tokAugmented {
			p.failf(p.pos(), "invalid syntax")
		}
		a.Value = value
		return a
	}
	return &ExprStmt{at, first}
}

func (p *parser) annotated(at Pos, target Expr, bare bool) Stmt {
	switch target.(type) {
	case *List:
		p.failf(at, "only single target (not list) can be annotated")
	case *Tuple:
		p.failf(at, "only single target (not tuple) can be annotated")
	}
	if !isSingleTarget(target) {
		p.failf(at, "illegal target for annotation")
	}
	p.assignable(target)
	p.advance()
	a := &AnnAssign{Pos: at, Target: target, Annotation: p.expression()}
	if _, isName := target.(*Name); isName {
		a.Simple = bare
	}
	if p.accept(tokAssign) {
		a.Value = p.yieldOrStar()
	}
	return a
}

func (p *parser) augmentedAssign(at Pos, target Expr) Stmt {
	if !isSingleTarget(target) {
		p.failf(at, "'%s' is an illegal expression for augmented assignment", describe(target))
	}
	p.assignable(target)
	op := augmentedOperator(p.text(p.advance()))
	return &AugAssign{Pos: at, Target: target, Op: op, Value: p.yieldOrStar()}
}

func (p *parser) importStmt(at Pos) Stmt {
	s := &Import{Pos: at}
	// Paid: by a token or more each round (ADR 59).
	for {
		a := &Alias{Pos: p.pos(), Name: p.dottedName()}
		if p.accept(tokAs) {
			a.AsName = p.name()
		}
		s.Names = append(s.Names, a)
		if !p.accept(tokComma) {
			return s
		}
	}
}

func (p *parser) dottedName() string {
	parts := []string{p.name()}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokDot) {
		parts = append(parts, p.name())
	}
	// Paid: by the tokens of the name (ADR 59).
	return strings.Join(parts, ".")
}

func (p *parser) importFrom(at Pos) Stmt {
	s := &ImportFrom{Pos: at}
	// Paid: by a token or more each round (ADR 59).
	for {
		if p.accept(tokDot) {
			s.Level++
		} else if p.accept(tokEllipsis) {
			s.Level += 3
		} else {
			break
		}
	}
	if s.Level == 0 || p.kind() == tokName {
		s.Module = p.dottedName()
	}
	p.expect(tokImport, "import")
	if star := p.pos(); p.accept(tokStar) {
		s.Names = []*Alias{{Pos: star, Name: "*"}}
		return s
	}
	inBrackets := p.accept(tokLParen)
	// Paid: by a token or more each round (ADR 59).
	for {
		a := &Alias{Pos: p.pos(), Name: p.name()}
		if p.accept(tokAs) {
			a.AsName = p.name()
		}
		s.Names = append(s.Names, a)
		if !p.accept(tokComma) || inBrackets && p.kind() == tokRParen {
			break
		}
		if p.kind() == tokNewline {
			p.failf(p.pos(), "trailing comma not allowed without surrounding parentheses")
		}
	}
	if inBrackets {
		p.closing(tokRParen)
	}
	return s
}
