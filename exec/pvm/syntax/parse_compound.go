package syntax

// block reads what follows a colon: statements indented on their own lines, or
// simple ones on this line. head is the token that began the compound
// statement, after names it in messages.
func (p *parser) block(head token, after string) []Stmt {
	if p.kind() != tokColon {
		p.failf(p.pos(), "expected ':'")
	}
	p.advance()
	if p.kind() != tokNewline {
		return p.simpleLine(nil)
	}
	p.advance()
	if p.kind() != tokIndent {
		p.failIndent("expected an indented block after %s on line %d", after, head.pos.Line)
	}
	p.advance()
	p.enter()
	defer p.leave()
	var body []Stmt
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != tokDedent {
		body = p.statement(body)
	}
	p.advance()
	return body
}

func (p *parser) orElse() []Stmt {
	if p.kind() != tokElse {
		return nil
	}
	t := p.advance()
	return p.block(t, "'else' statement")
}

// ifStmt reads if and elif; each elif is one level deeper in the tree.
func (p *parser) ifStmt() Stmt {
	p.enter()
	defer p.leave()
	t := p.advance()
	s := &If{Pos: t.pos, Test: p.named()}
	after := "'if' statement"
	if t.kind == tokElif {
		after = "'elif' statement"
	}
	s.Body = p.block(t, after)
	if p.kind() == tokElif {
		s.OrElse = []Stmt{p.ifStmt()}
	} else {
		s.OrElse = p.orElse()
	}
	return s
}

func (p *parser) whileStmt() Stmt {
	t := p.advance()
	s := &While{Pos: t.pos, Test: p.named()}
	s.Body = p.block(t, "'while' statement")
	s.OrElse = p.orElse()
	return s
}

func (p *parser) forStmt() *For {
	t := p.advance()
	s := &For{Pos: t.pos, Target: p.forTargets()}
	p.expect(tokIn, "in")
	s.Iter = p.starExpressions()
	s.Body = p.block(t, "'for' statement")
	s.OrElse = p.orElse()
	return s
}

func (p *parser) asyncStmt() Stmt {
	at := p.advance().pos
	switch p.kind() {
	case tokDef:
		return p.asyncDef(at, nil)
	case tokFor:
		s := p.forStmt()
		return &AsyncFor{at, s.Target, s.Iter, s.Body, s.OrElse}
	case tokWith:
		s := p.withStmt()
		return &AsyncWith{at, s.Items, s.Body}
	}
	p.invalid()
	return nil
}

func (p *parser) withStmt() *With {
	t := p.advance()
	s := &With{Pos: t.pos}
	inBrackets := p.kind() == tokLParen && p.attempt(func() bool {
		p.advance()
		s.Items = p.withItems(true)
		return p.accept(tokRParen) && p.kind() == tokColon
	})
	if !inBrackets {
		s.Items = p.withItems(false)
	}
	s.Body = p.block(t, "'with' statement")
	return s
}

func (p *parser) withItems(inBrackets bool) []*WithItem {
	var items []*WithItem
	// Paid: by a token or more each round (ADR 59).
	for {
		item := &WithItem{ContextExpr: p.expression()}
		if p.accept(tokAs) {
			item.OptionalVars = p.starTarget()
			p.assignable(item.OptionalVars)
		}
		items = append(items, item)
		if !p.accept(tokComma) || inBrackets && p.kind() == tokRParen {
			return items
		}
	}
}

func (p *parser) decorated() Stmt {
	var decorators []Expr
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokAt) {
		decorators = append(decorators, p.named())
		if p.kind() != tokNewline {
			p.invalid()
		}
		p.advance()
	}
	switch {
	case p.kind() == tokDef:
		return p.functionDef(decorators)
	case p.kind() == tokClass:
		return p.classDef(decorators)
	case p.kind() == tokAsync && p.kindAt(1) == tokDef:
		return p.asyncDef(p.advance().pos, decorators)
	}
	p.invalid()
	return nil
}

func (p *parser) functionDef(decorators []Expr) *FunctionDef {
	t := p.advance()
	f := &FunctionDef{Pos: t.pos, DecoratorList: decorators, Name: p.name()}
	p.expect(tokLParen, "(")
	f.Args = p.parameters(tokRParen, true)
	p.closing(tokRParen)
	if p.accept(tokArrow) {
		f.Returns = p.expression()
	}
	f.Body = p.block(t, "function definition")
	return f
}

func (p *parser) asyncDef(at Pos, decorators []Expr) Stmt {
	f := p.functionDef(decorators)
	return &AsyncFunctionDef{at, f.Name, f.Args, f.Body, f.DecoratorList, f.Returns}
}

func (p *parser) classDef(decorators []Expr) Stmt {
	t := p.advance()
	c := &ClassDef{Pos: t.pos, DecoratorList: decorators, Name: p.name()}
	if p.kind() == tokLParen {
		open := p.advance()
		c.Bases, c.Keywords = p.arguments(open.pos, false)
		p.closing(tokRParen)
	}
	c.Body = p.block(t, "class definition")
	return c
}

func (p *parser) tryStmt() Stmt {
	t := p.advance()
	s := &Try{Pos: t.pos, Body: p.block(t, "'try' statement")}
	star := false
	// Paid: by a token or more each round (ADR 59).
	for first := true; p.kind() == tokExcept; first = false {
		isStar := p.kindAt(1) == tokStar
		if !first && isStar != star {
			p.failf(p.pos(), "cannot have both 'except' and 'except*' on the same 'try'")
		}
		star = isStar
		s.Handlers = append(s.Handlers, p.exceptHandler(isStar))
	}
	if len(s.Handlers) > 0 {
		s.OrElse = p.orElse()
	}
	if p.kind() == tokFinally {
		f := p.advance()
		s.FinalBody = p.block(f, "'finally' statement")
	} else if len(s.Handlers) == 0 {
		p.failf(p.pos(), "expected 'except' or 'finally' block")
	}
	if star {
		return &TryStar{s.Pos, s.Body, s.Handlers, s.OrElse, s.FinalBody}
	}
	return s
}

func (p *parser) exceptHandler(star bool) *ExceptHandler {
	t := p.advance()
	h := &ExceptHandler{Pos: t.pos}
	after := "'except' statement"
	if star {
		after = "'except*' statement"
		p.advance()
		if p.kind() == tokColon || p.kind() == tokNewline {
			p.failf(p.pos(), "expected one or more exception types")
		}
	}
	if p.kind() != tokColon {
		h.Type = p.expression()
		if p.kind() == tokComma {
			p.failf(h.Type.Position(), "multiple exception types must be parenthesized")
		}
		if p.accept(tokAs) {
			h.Name = p.name()
		}
	}
	h.Body = p.block(t, after)
	return h
}
