package syntax

// startsExpr reports whether a token can begin an expression. The lexer's error
// can: whoever tries finds it.
func startsExpr(k tokenKind) bool {
	switch k {
	case tokName, tokNumber, tokString, tokLParen, tokLBracket, tokLBrace, tokPlus, tokMinus,
		tokTilde, tokNot, tokLambda, tokAwait, tokNone, tokTrue, tokFalse, tokEllipsis, tokError:
		return true
	}
	return false
}

// starExpressions: ','.(star_expression)+ [','], a tuple if there is a comma.
func (p *parser) starExpressions() Expr {
	at := p.pos()
	first := p.starExpression()
	if p.kind() != tokComma {
		return first
	}
	elts := []Expr{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokComma) && (startsExpr(p.kind()) || p.kind() == tokStar) {
		elts = append(elts, p.starExpression())
	}
	return &Tuple{Pos: at, Elts: elts}
}

// starExpression: '*' bitwise_or | expression.
func (p *parser) starExpression() Expr {
	if p.kind() != tokStar {
		return p.expression()
	}
	return p.starred()
}

func (p *parser) starred() Expr {
	at := p.advance().pos
	return &Starred{Pos: at, Value: p.bitwiseOr()}
}

// starNamed: '*' bitwise_or | named_expression.
func (p *parser) starNamed() Expr {
	if p.kind() == tokStar {
		return p.starred()
	}
	return p.named()
}

// named: NAME ':=' expression | expression.
func (p *parser) named() Expr {
	if !p.atNamed() {
		return p.expression()
	}
	t := p.advance()
	p.advance()
	return &NamedExpr{Pos: t.pos, Target: &Name{Pos: t.pos, ID: p.ident(t), Ctx: Store}, Value: p.expression()}
}

// atNamed reports whether a named expression without brackets begins here.
func (p *parser) atNamed() bool { return p.kind() == tokName && p.kindAt(1) == tokWalrus }

// yieldOrStar: yield_expr | star_expressions.
func (p *parser) yieldOrStar() Expr {
	if p.kind() == tokYield {
		return p.yield()
	}
	return p.starExpressions()
}

func (p *parser) yield() Expr {
	at := p.advance().pos
	if p.accept(tokFrom) {
		return &YieldFrom{Pos: at, Value: p.expression()}
	}
	y := &Yield{Pos: at}
	if startsExpr(p.kind()) || p.kind() == tokStar {
		y.Value = p.starExpressions()
	}
	return y
}

// expression: disjunction ['if' disjunction 'else' expression] | lambda.
func (p *parser) expression() Expr {
	p.enter()
	defer p.leave()
	if p.kind() == tokLambda {
		return p.lambda()
	}
	at := p.pos()
	body := p.disjunction()
	if !p.accept(tokIf) {
		return body
	}
	test := p.disjunction()
	if p.kind() != tokElse {
		p.failf(at, "expected 'else' after 'if' expression")
	}
	p.advance()
	return &IfExp{Pos: at, Test: test, Body: body, OrElse: p.expression()}
}

func (p *parser) lambda() Expr {
	at := p.advance().pos
	args := p.parameters(tokColon, false)
	p.expect(tokColon, ":")
	return &Lambda{Pos: at, Args: args, Body: p.expression()}
}

func (p *parser) disjunction() Expr {
	at := p.pos()
	first := p.conjunction()
	if p.kind() != tokOr {
		return first
	}
	values := []Expr{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokOr) {
		values = append(values, p.conjunction())
	}
	return &BoolOp{Pos: at, Op: Or, Values: values}
}

func (p *parser) conjunction() Expr {
	at := p.pos()
	first := p.inversion()
	if p.kind() != tokAnd {
		return first
	}
	values := []Expr{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokAnd) {
		values = append(values, p.inversion())
	}
	return &BoolOp{Pos: at, Op: And, Values: values}
}

func (p *parser) inversion() Expr {
	if p.kind() != tokNot {
		return p.comparison()
	}
	p.enter()
	defer p.leave()
	at := p.advance().pos
	return &UnaryOp{Pos: at, Op: Not, Operand: p.inversion()}
}

func (p *parser) comparison() Expr {
	at := p.pos()
	left := p.bitwiseOr()
	op, ok := p.comparisonOperator()
	if !ok {
		return left
	}
	c := &Compare{Pos: at, Left: left}
	// Paid: by a token or more each round (ADR 59).
	for ok {
		c.Ops = append(c.Ops, op)
		c.Comparators = append(c.Comparators, p.bitwiseOr())
		op, ok = p.comparisonOperator()
	}
	return c
}

// comparisonOperator reads an operator of one or two words, if one is there.
func (p *parser) comparisonOperator() (op CmpOperator, ok bool) {
	switch p.kind() {
	case tokEq:
		op = Eq
	case tokNotEq:
		op = NotEq
	case tokLess:
		op = Lt
	case tokLessEq:
		op = LtE
	case tokGreater:
		op = Gt
	case tokGreaterEq:
		op = GtE
	case tokIn:
		op = In
	case tokIs:
		p.advance()
		if p.accept(tokNot) {
			return IsNot, true
		}
		return Is, true
	case tokNot:
		if p.kindAt(1) != tokIn {
			return 0, false
		}
		p.advance()
		op = NotIn
	default:
		return 0, false
	}
	p.advance()
	return op, true
}

func (p *parser) bitwiseOr() Expr { return p.binary(1) }

// binary reads operators that bind at least as tightly as least, by precedence
// climbing. All of them lean to the left.
func (p *parser) binary(least int) Expr {
	at := p.pos()
	left := p.factor()
	// Paid: by a token or more each round (ADR 59).
	for {
		op, binding := binaryOperator(p.kind())
		if binding == 0 || binding < least {
			return left
		}
		p.advance()
		left = &BinOp{Pos: at, Left: left, Op: op, Right: p.binary(binding + 1)}
	}
}

// factor: ('+' | '-' | '~') factor | power.
func (p *parser) factor() Expr {
	var op UnaryOperator
	switch p.kind() {
	case tokPlus:
		op = UAdd
	case tokMinus:
		op = USub
	case tokTilde:
		op = Invert
	default:
		return p.power()
	}
	p.enter()
	defer p.leave()
	at := p.advance().pos
	return &UnaryOp{Pos: at, Op: op, Operand: p.factor()}
}

// power: ['await'] primary ['**' factor].
func (p *parser) power() Expr {
	at := p.pos()
	var left Expr
	if p.accept(tokAwait) {
		left = &Await{Pos: at, Value: p.primary()}
	} else {
		left = p.primary()
	}
	if !p.accept(tokPower) {
		return left
	}
	p.enter()
	defer p.leave()
	return &BinOp{Pos: at, Left: left, Op: Pow, Right: p.factor()}
}

// primary: atom with attributes, calls and items.
func (p *parser) primary() Expr {
	at := p.pos()
	e := p.atom()
	// Paid: by a token or more each round (ADR 59).
	for {
		switch p.kind() {
		case tokDot:
			p.advance()
			e = &Attribute{Pos: at, Value: e, Attr: p.name()}
		case tokLParen:
			e = p.call(at, e)
		case tokLBracket:
			p.advance()
			e = &Subscript{Pos: at, Value: e, Slice: p.slices()}
			p.expect(tokRBracket, "]")
		default:
			return e
		}
	}
}

// slices: slice !',' | ','.(slice | starred_expression)+ [','].
func (p *parser) slices() Expr {
	p.enter()
	defer p.leave()
	at := p.pos()
	first := p.slice()
	if _, star := first.(*Starred); !star && p.kind() != tokComma {
		return first
	}
	elts := []Expr{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokComma) && p.kind() != tokRBracket {
		elts = append(elts, p.slice())
	}
	return &Tuple{Pos: at, Elts: elts}
}

func (p *parser) slice() Expr {
	at := p.pos()
	if p.accept(tokStar) {
		return &Starred{Pos: at, Value: p.expression()}
	}
	var lower Expr
	if p.kind() != tokColon {
		isNamed := p.atNamed()
		lower = p.named()
		if isNamed || p.kind() != tokColon {
			return lower
		}
	}
	p.advance()
	s := &Slice{Pos: at, Lower: lower}
	if startsExpr(p.kind()) {
		s.Upper = p.expression()
	}
	if p.accept(tokColon) && startsExpr(p.kind()) {
		s.Step = p.expression()
	}
	return s
}
