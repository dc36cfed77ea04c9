package syntax

// assignable turns an expression that was read into a target of an assignment.
// Reading targets as expressions first and looking at them afterwards is what
// saves the parser from guessing.
func (p *parser) assignable(e Expr) {
	switch e := e.(type) {
	case *Name:
		e.Ctx = Store
	case *Attribute:
		e.Ctx = Store
	case *Subscript:
		e.Ctx = Store
	case *Starred:
		e.Ctx = Store
		p.assignable(e.Value)
	case *Tuple:
		e.Ctx = Store
		p.allAssignable(e.Elts)
	case *List:
		e.Ctx = Store
		p.allAssignable(e.Elts)
	default:
		p.failf(e.Position(), "cannot assign to %s", describe(e))
	}
}

func (p *parser) allAssignable(elts []Expr) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range elts {
		p.assignable(e)
	}
}

// deletable turns an expression into a target of del.
func (p *parser) deletable(e Expr) {
	switch e := e.(type) {
	case *Name:
		e.Ctx = Del
	case *Attribute:
		e.Ctx = Del
	case *Subscript:
		e.Ctx = Del
	case *Tuple:
		e.Ctx = Del
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, elt := range e.Elts {
			p.deletable(elt)
		}
	case *List:
		e.Ctx = Del
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, elt := range e.Elts {
			p.deletable(elt)
		}
	default:
		p.failf(e.Position(), "cannot delete %s", describe(e))
	}
}

// isSingleTarget reports whether e may stand before an annotation or an
// augmented assignment.
func isSingleTarget(e Expr) bool {
	switch e.(type) {
	case *Name, *Attribute, *Subscript:
		return true
	}
	return false
}

// forTargets: the targets of a for, up to the word in.
func (p *parser) forTargets() Expr {
	at := p.pos()
	first := p.starTarget()
	if p.kind() != tokComma {
		p.assignable(first)
		return first
	}
	elts := []Expr{first}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for p.accept(tokComma) && (startsExpr(p.kind()) || p.kind() == tokStar) {
		elts = append(elts, p.starTarget())
	}
	t := &Tuple{Pos: at, Elts: elts}
	p.assignable(t)
	return t
}

// starTarget reads one target without making it one.
func (p *parser) starTarget() Expr {
	if p.kind() == tokStar {
		return p.starred()
	}
	return p.bitwiseOr()
}

// describe names an expression as CPython's messages do.
func describe(e Expr) string {
	switch e := e.(type) {
	case *Attribute:
		return "attribute"
	case *Subscript:
		return "subscript"
	case *Starred:
		return "starred"
	case *Name:
		return "name"
	case *List:
		return "list"
	case *Tuple:
		return "tuple"
	case *Lambda:
		return "lambda"
	case *Call:
		return "function call"
	case *GeneratorExp:
		return "generator expression"
	case *Yield, *YieldFrom:
		return "yield expression"
	case *Await:
		return "await expression"
	case *ListComp:
		return "list comprehension"
	case *SetComp:
		return "set comprehension"
	case *DictComp:
		return "dict comprehension"
	case *Dict:
		return "dict literal"
	case *Set:
		return "set display"
	case *JoinedStr, *FormattedValue:
		return "f-string expression"
	case *Compare:
		return "comparison"
	case *IfExp:
		return "conditional expression"
	case *NamedExpr:
		return "named expression"
	case *Constant:
		return describeConstant(e.Kind)
	}
	return "expression"
}

func describeConstant(k ConstKind) string {
	switch k {
	case ConstNone:
		return "None"
	case ConstTrue:
		return "True"
	case ConstFalse:
		return "False"
	case ConstEllipsis:
		return "ellipsis"
	}
	return "literal"
}
