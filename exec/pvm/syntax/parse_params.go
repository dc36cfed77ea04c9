package syntax

// paramList is the state of reading parameters.
type paramList struct {
	args      *Arguments
	slash     bool
	star      bool
	bareStar  bool // a * waits for the name that must follow it
	annotated bool
}

// parameters reads those of a function (annotated) or a lambda, up to but
// without end.
func (p *parser) parameters(end tokenKind, annotated bool) *Arguments {
	l := &paramList{args: &Arguments{}, annotated: annotated}
	// Paid: by a token or more each round (ADR 59).
	for p.kind() != end {
		switch p.kind() {
		case tokSlash:
			p.slashMarker(l)
		case tokStar:
			p.starParameter(l)
		case tokPower:
			if l.bareStar {
				p.failf(p.pos(), "named arguments must follow bare *")
			}
			p.advance()
			l.args.KwArg = p.parameter(annotated)
			if p.kind() == tokAssign {
				p.failf(p.pos(), "var-keyword argument cannot have default value")
			}
			if p.accept(tokComma) && p.kind() != end {
				p.failf(p.pos(), "arguments cannot follow var-keyword argument")
			}
			return l.args
		default:
			p.namedParameter(l)
		}
		if !p.accept(tokComma) {
			break
		}
	}
	if l.bareStar {
		p.failf(p.pos(), "named arguments must follow bare *")
	}
	return l.args
}

func (p *parser) slashMarker(l *paramList) {
	switch {
	case l.slash:
		p.failf(p.pos(), "/ may appear only once")
	case l.star:
		p.failf(p.pos(), "/ must be ahead of *")
	case len(l.args.Args) == 0:
		p.failf(p.pos(), "at least one argument must precede /")
	}
	p.advance()
	l.slash = true
	l.args.PosOnlyArgs, l.args.Args = l.args.Args, nil
}

func (p *parser) starParameter(l *paramList) {
	if l.star {
		p.failf(p.pos(), "* argument may appear only once")
	}
	p.advance()
	l.star = true
	if p.kind() == tokComma {
		l.bareStar = true
		return
	}
	if p.kind() != tokName {
		p.failf(p.pos(), "named arguments must follow bare *")
	}
	t := p.advance()
	l.args.VarArg = &Arg{Pos: t.pos, Arg: p.ident(t)}
	if l.annotated && p.accept(tokColon) {
		l.args.VarArg.Annotation = p.starExpression()
	}
	if p.kind() == tokAssign {
		p.failf(p.pos(), "var-positional argument cannot have default value")
	}
}

func (p *parser) namedParameter(l *paramList) {
	if p.kind() == tokLParen {
		p.failf(p.pos(), "parameters cannot be parenthesized")
	}
	a := p.parameter(l.annotated)
	var value Expr
	if p.accept(tokAssign) {
		if p.kind() == tokComma || p.kind() == tokRParen {
			p.failf(p.pos(), "expected default value expression")
		}
		value = p.expression()
	}
	if l.star {
		l.bareStar = false
		l.args.KwOnlyArgs = append(l.args.KwOnlyArgs, a)
		l.args.KwDefaults = append(l.args.KwDefaults, value)
		return
	}
	l.args.Args = append(l.args.Args, a)
	switch {
	case value != nil:
		l.args.Defaults = append(l.args.Defaults, value)
	case len(l.args.Defaults) > 0:
		p.failf(a.Pos, "non-default argument follows default argument")
	}
}

func (p *parser) parameter(annotated bool) *Arg {
	if p.kind() != tokName {
		p.invalid()
	}
	t := p.advance()
	a := &Arg{Pos: t.pos, Arg: p.ident(t)}
	if annotated && p.accept(tokColon) {
		a.Annotation = p.expression()
	}
	return a
}
