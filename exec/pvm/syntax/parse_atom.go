package syntax

// atom: a name, a literal, or something in brackets.
func (p *parser) atom() Expr {
	t := p.tok()
	switch t.kind {
	case tokName:
		p.advance()
		return &Name{Pos: t.pos, ID: p.ident(t)}
	case tokNumber:
		p.advance()
		return p.numberLiteral(t)
	case tokString:
		return p.strings()
	case tokNone, tokTrue, tokFalse, tokEllipsis:
		p.advance()
		return p.constant(t.pos, Constant{Kind: singleton(t.kind)})
	case tokLParen:
		return p.parenthesised()
	case tokLBracket:
		return p.list()
	case tokLBrace:
		return p.braces()
	}
	p.invalid()
	return nil
}

func singleton(k tokenKind) ConstKind {
	switch k {
	case tokTrue:
		return ConstTrue
	case tokFalse:
		return ConstFalse
	case tokEllipsis:
		return ConstEllipsis
	}
	return ConstNone
}

// parenthesised: a tuple, a group or a generator expression.
func (p *parser) parenthesised() Expr {
	p.enter()
	defer p.leave()
	at := p.advance().pos
	switch p.kind() {
	case tokRParen:
		p.advance()
		return &Tuple{Pos: at}
	case tokYield:
		y := p.yield()
		p.expect(tokRParen, ")")
		return y
	}
	first := p.starNamed()
	if p.startsComprehension() {
		p.refuseUnpacking(first)
		g := &GeneratorExp{Pos: at, Elt: first, Generators: p.comprehension()}
		p.closing(tokRParen)
		return g
	}
	if p.kind() == tokComma {
		t := &Tuple{Pos: at, Elts: p.moreElements(first, tokRParen)}
		p.closing(tokRParen)
		return t
	}
	p.closing(tokRParen)
	if s, ok := first.(*Starred); ok {
		p.failf(s.Pos, "cannot use starred expression here")
	}
	return first
}

// closing reads the bracket that ends a display.
func (p *parser) closing(k tokenKind) {
	if p.kind() != k {
		if startsExpr(p.kind()) && p.kind() != tokError {
			p.failf(p.pos(), "invalid syntax. Perhaps you forgot a comma?")
		}
		p.invalid()
	}
	p.advance()
}

// moreElements reads the elements after the first, up to but without end.
func (p *parser) moreElements(first Expr, end tokenKind) []Expr {
	elts := []Expr{first}
	// Paid: by a token or more each round (ADR 59).
	for p.accept(tokComma) && p.kind() != end {
		elts = append(elts, p.starNamed())
	}
	return elts
}

func (p *parser) list() Expr {
	p.enter()
	defer p.leave()
	at := p.advance().pos
	if p.accept(tokRBracket) {
		return &List{Pos: at}
	}
	first := p.starNamed()
	if p.startsComprehension() {
		p.refuseUnpacking(first)
		c := &ListComp{Pos: at, Elt: first, Generators: p.comprehension()}
		p.closing(tokRBracket)
		return c
	}
	l := &List{Pos: at, Elts: p.moreElements(first, tokRBracket)}
	p.closing(tokRBracket)
	return l
}

// braces: a dict, a set, or a comprehension of either.
func (p *parser) braces() Expr {
	p.enter()
	defer p.leave()
	at := p.advance().pos
	switch p.kind() {
	case tokRBrace:
		p.advance()
		return &Dict{Pos: at}
	case tokPower:
		return p.dict(&Dict{Pos: at})
	}
	isKey := p.kind() != tokStar && !p.atNamed()
	first := p.starNamed()
	if isKey && p.kind() == tokColon {
		return p.dictAfterKey(at, first)
	}
	if p.startsComprehension() {
		p.refuseUnpacking(first)
		c := &SetComp{Pos: at, Elt: first, Generators: p.comprehension()}
		p.closing(tokRBrace)
		return c
	}
	s := &Set{Pos: at, Elts: p.moreElements(first, tokRBrace)}
	p.closing(tokRBrace)
	return s
}

func (p *parser) dictAfterKey(at Pos, key Expr) Expr {
	p.advance()
	value := p.dictValue()
	if p.startsComprehension() {
		c := &DictComp{Pos: at, Key: key, Value: value, Generators: p.comprehension()}
		p.closing(tokRBrace)
		return c
	}
	d := &Dict{Pos: at, Keys: []Expr{key}, Values: []Expr{value}}
	if p.kind() == tokRBrace {
		p.advance()
		return d
	}
	if !p.accept(tokComma) {
		p.closing(tokRBrace)
	}
	return p.dict(d)
}

// dict reads items up to the closing brace.
func (p *parser) dict(d *Dict) Expr {
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != tokRBrace {
		if p.accept(tokPower) {
			d.Keys = append(d.Keys, nil)
			d.Values = append(d.Values, p.bitwiseOr())
			if p.startsComprehension() {
				p.failf(d.Pos, "dict unpacking cannot be used in dict comprehension")
			}
		} else {
			key := p.expression()
			if p.kind() != tokColon {
				p.failf(p.pos(), "':' expected after dictionary key")
			}
			p.advance()
			d.Keys = append(d.Keys, key)
			d.Values = append(d.Values, p.dictValue())
		}
		if !p.accept(tokComma) {
			break
		}
	}
	p.closing(tokRBrace)
	return d
}

func (p *parser) dictValue() Expr {
	switch p.kind() {
	case tokRBrace, tokComma:
		p.failf(p.pos(), "expression expected after dictionary key and ':'")
	case tokStar:
		p.failf(p.pos(), "cannot use a starred expression in a dictionary value")
	}
	return p.expression()
}

func (p *parser) startsComprehension() bool {
	return p.kind() == tokFor || p.kind() == tokAsync && p.kindAt(1) == tokFor
}

func (p *parser) refuseUnpacking(elt Expr) {
	if s, ok := elt.(*Starred); ok {
		p.failf(s.Pos, "iterable unpacking cannot be used in comprehension")
	}
}

// comprehension: (['async'] 'for' star_targets 'in' disjunction ('if' disjunction)*)+.
func (p *parser) comprehension() []*Comprehension {
	var clauses []*Comprehension
	// Paid: by a token or more each round (ADR 59).
	for p.startsComprehension() {
		c := &Comprehension{IsAsync: p.accept(tokAsync)}
		p.advance()
		c.Target = p.forTargets()
		p.expect(tokIn, "in")
		c.Iter = p.disjunction()
		// Paid: by a token or more each round (ADR 59).
		for p.accept(tokIf) {
			c.Ifs = append(c.Ifs, p.disjunction())
		}
		clauses = append(clauses, c)
	}
	return clauses
}

// call reads the arguments of a call that begins at the given place.
func (p *parser) call(at Pos, fn Expr) Expr {
	p.enter()
	defer p.leave()
	open := p.advance()
	c := &Call{Pos: at, Func: fn}
	c.Args, c.Keywords = p.arguments(open.pos, true)
	p.closing(tokRParen)
	return c
}

// arguments reads up to but without the closing bracket. A lone generator
// expression needs no brackets of its own in a call.
func (p *parser) arguments(open Pos, isCall bool) (args []Expr, keywords []*Keyword) {
	unpacked := false // ** was there
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != tokRParen {
		switch t := p.tok(); {
		case t.kind == tokPower:
			p.advance()
			keywords = append(keywords, &Keyword{Pos: t.pos, Value: p.expression()})
			unpacked = true
		case t.kind == tokStar:
			if unpacked {
				p.failf(t.pos, "iterable argument unpacking follows keyword argument unpacking")
			}
			p.advance()
			args = append(args, &Starred{Pos: t.pos, Value: p.expression()})
			p.refuseBareGenerator(t.pos)
		case t.kind == tokName && p.kindAt(1) == tokAssign:
			p.advance()
			p.advance()
			if p.kind() == tokComma || p.kind() == tokRParen {
				p.failf(t.pos, "expected argument value expression")
			}
			keywords = append(keywords, &Keyword{Pos: t.pos, Arg: p.ident(t), Value: p.expression()})
			if p.startsComprehension() {
				p.failf(t.pos, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?")
			}
		default:
			args = append(args, p.positional(open, isCall && len(args) == 0 && len(keywords) == 0))
			switch {
			case unpacked:
				p.failf(t.pos, "positional argument follows keyword argument unpacking")
			case len(keywords) > 0:
				p.failf(t.pos, "positional argument follows keyword argument")
			}
		}
		if !p.accept(tokComma) {
			break
		}
	}
	return args, keywords
}

// positional reads one argument. The first of a call may be a generator
// expression without brackets, if it is the only one.
func (p *parser) positional(open Pos, first bool) Expr {
	at := p.pos()
	e := p.named()
	if p.kind() == tokAssign {
		p.failf(at, "expression cannot contain assignment, perhaps you meant \"==\"?")
	}
	if !p.startsComprehension() {
		return e
	}
	g := &GeneratorExp{Pos: open, Elt: e, Generators: p.comprehension()}
	if !first || p.kind() != tokRParen {
		p.failf(at, "Generator expression must be parenthesized")
	}
	return g
}

func (p *parser) refuseBareGenerator(at Pos) {
	if p.startsComprehension() {
		p.failf(at, "iterable unpacking cannot be used in comprehension")
	}
}
