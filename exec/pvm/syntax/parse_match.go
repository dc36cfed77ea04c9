package syntax

// matchStmt reads a match statement, or nothing when match is a name here. It
// is a statement exactly when a subject, a colon and a newline follow.
func (p *parser) matchStmt() Stmt {
	if k := p.kindAt(1); !startsExpr(k) && k != tokStar {
		return nil
	}
	t := p.tok()
	var subject Expr
	if !p.attempt(func() bool {
		p.advance()
		subject = p.subject()
		return p.kind() == tokColon && p.kindAt(1) == tokNewline
	}) {
		return nil
	}
	p.advance()
	p.advance()
	if p.kind() != tokIndent {
		p.failIndent("expected an indented block after 'match' statement on line %d", t.pos.Line)
	}
	p.advance()
	p.enter()
	defer p.leave()
	m := &Match{Pos: t.pos, Subject: subject}
	// Paid: by a token or more each round (ADR 59).
	for first := true; first || p.kind() != tokDedent; first = false {
		if !p.isWord(0, "case") {
			p.invalid()
		}
		m.Cases = append(m.Cases, p.matchCase())
	}
	p.advance()
	return m
}

// subject: star_named ',' [star_named_expressions] | named_expression.
func (p *parser) subject() Expr {
	at := p.pos()
	first := p.starNamed()
	if _, star := first.(*Starred); !star && p.kind() != tokComma {
		return first
	}
	if p.kind() != tokComma {
		p.invalid()
	}
	elts := []Expr{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokComma) && (startsExpr(p.kind()) || p.kind() == tokStar) {
		elts = append(elts, p.starNamed())
	}
	return &Tuple{Pos: at, Elts: elts}
}

func (p *parser) matchCase() *MatchCase {
	t := p.advance()
	c := &MatchCase{Pattern: p.patterns()}
	if p.accept(tokIf) {
		c.Guard = p.named()
	}
	c.Body = p.block(t, "'case' statement")
	return c
}

// patterns: an open sequence, or one pattern.
func (p *parser) patterns() Pattern {
	at := p.pos()
	first := p.maybeStarPattern()
	_, star := first.(*MatchStar)
	if !star && p.kind() != tokComma {
		return first
	}
	if p.kind() != tokComma {
		p.invalid()
	}
	return &MatchSequence{at, p.morePatterns(first, tokColon)}
}

// morePatterns reads the patterns after the first, up to but without end.
func (p *parser) morePatterns(first Pattern, end tokenKind) []Pattern {
	all := []Pattern{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokComma) && p.kind() != end && !(end == tokColon && p.kind() == tokIf) {
		all = append(all, p.maybeStarPattern())
	}
	return all
}

func (p *parser) maybeStarPattern() Pattern {
	if p.kind() != tokStar {
		return p.pattern()
	}
	at := p.advance().pos
	if p.isWord(0, "_") {
		p.advance()
		return &MatchStar{Pos: at}
	}
	return &MatchStar{at, p.captureTarget()}
}

// pattern: or_pattern ['as' capture_target].
func (p *parser) pattern() Pattern {
	p.enter()
	defer p.leave()
	at := p.pos()
	first := p.closedPattern()
	if p.kind() == tokPipe {
		all := []Pattern{first}
		// Paid: by a token or more each round (ADR 59).
		for p.accept(tokPipe) {
			all = append(all, p.closedPattern())
		}
		first = &MatchOr{at, all}
	}
	if !p.accept(tokAs) {
		return first
	}
	if p.isWord(0, "_") {
		p.failf(p.pos(), "cannot use '_' as a target")
	}
	if p.kind() != tokName {
		p.failf(p.pos(), "invalid pattern target")
	}
	return &MatchAs{at, first, p.captureTarget()}
}

// captureTarget reads a name that a pattern binds.
func (p *parser) captureTarget() string {
	if p.isWord(0, "_") {
		p.invalid()
	}
	name := p.name()
	switch p.kind() {
	case tokDot, tokLParen, tokAssign:
		p.failf(p.pos(), "invalid pattern target")
	}
	return name
}

func (p *parser) closedPattern() Pattern {
	t := p.tok()
	switch t.kind {
	case tokNone, tokTrue, tokFalse:
		p.advance()
		return &MatchSingleton{t.pos, singleton(t.kind)}
	case tokNumber, tokMinus, tokString:
		return &MatchValue{t.pos, p.literalPattern()}
	case tokLParen, tokLBracket:
		return p.bracketPattern()
	case tokLBrace:
		return p.mappingPattern()
	case tokName:
		return p.namePattern()
	}
	p.invalid()
	return nil
}

// literalPattern: a number with or without a minus, or strings.
func (p *parser) literalPattern() Expr {
	t := p.tok()
	var value Expr
	switch t.kind {
	case tokString:
		return p.strings()
	case tokMinus:
		p.advance()
		if p.kind() != tokNumber {
			p.invalid()
		}
		value = &UnaryOp{t.pos, USub, p.numberLiteral(p.advance())}
	default:
		value = p.numberLiteral(p.advance())
	}
	if p.kind() == tokPlus || p.kind() == tokMinus {
		p.failf(p.pos(), "imaginary number required in complex literal")
	}
	return value
}

// namePattern: a capture, the wildcard, a dotted name or a class.
func (p *parser) namePattern() Pattern {
	t := p.advance()
	if k := p.kind(); k != tokDot && k != tokLParen {
		if k == tokAssign {
			p.failf(p.pos(), "invalid syntax")
		}
		m := &MatchAs{Pos: t.pos}
		if p.text(t) != "_" {
			m.Name = p.ident(t)
		}
		return m
	}
	value := p.dotted(t)
	if p.kind() == tokLParen {
		return p.classPattern(t.pos, value)
	}
	if p.kind() == tokAssign {
		p.invalid()
	}
	return &MatchValue{t.pos, value}
}

// dotted reads the attributes after a first name.
func (p *parser) dotted(t token) Expr {
	var value Expr = &Name{Pos: t.pos, ID: p.ident(t)}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokDot) {
		value = &Attribute{Pos: t.pos, Value: value, Attr: p.name()}
	}
	return value
}

// bracketPattern: a group, or a sequence in either kind of brackets.
func (p *parser) bracketPattern() Pattern {
	open := p.advance()
	end := tokRParen
	if open.kind == tokLBracket {
		end = tokRBracket
	}
	if p.accept(end) {
		return &MatchSequence{Pos: open.pos}
	}
	first := p.maybeStarPattern()
	_, star := first.(*MatchStar)
	if end == tokRParen && p.kind() == tokRParen && !star {
		p.advance()
		return first
	}
	if end == tokRParen && p.kind() != tokComma {
		p.invalid()
	}
	s := &MatchSequence{open.pos, p.morePatterns(first, end)}
	p.closing(end)
	return s
}

func (p *parser) mappingPattern() Pattern {
	m := &MatchMapping{Pos: p.advance().pos}
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != tokRBrace {
		if p.accept(tokPower) {
			m.Rest = p.captureTarget()
			p.accept(tokComma)
			break
		}
		m.Keys = append(m.Keys, p.mappingKey())
		if p.kind() != tokColon {
			p.invalid()
		}
		p.advance()
		m.Patterns = append(m.Patterns, p.pattern())
		if !p.accept(tokComma) {
			break
		}
	}
	p.closing(tokRBrace)
	return m
}

// mappingKey: a literal, a singleton or a dotted name.
func (p *parser) mappingKey() Expr {
	t := p.tok()
	switch t.kind {
	case tokNone, tokTrue, tokFalse:
		p.advance()
		return p.constant(t.pos, Constant{Kind: singleton(t.kind)})
	case tokNumber, tokMinus, tokString:
		return p.literalPattern()
	case tokName:
		if p.kindAt(1) == tokDot {
			p.advance()
			return p.dotted(t)
		}
	}
	p.invalid()
	return nil
}

func (p *parser) classPattern(at Pos, cls Expr) Pattern {
	m := &MatchClass{Pos: at, Cls: cls}
	p.advance()
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != tokRParen {
		if p.kind() == tokName && p.kindAt(1) == tokAssign {
			m.KwdAttrs = append(m.KwdAttrs, p.name())
			p.advance()
			m.KwdPatterns = append(m.KwdPatterns, p.pattern())
		} else {
			at := p.pos()
			m.Patterns = append(m.Patterns, p.pattern())
			if len(m.KwdAttrs) > 0 {
				p.failf(at, "positional patterns follow keyword patterns")
			}
		}
		if !p.accept(tokComma) {
			break
		}
	}
	p.closing(tokRParen)
	return m
}
