package syntax

func (c *checker) exprs(es ...Expr) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range es {
		c.expr(e)
	}
}

// expr visits e, which may be nil.
func (c *checker) expr(e Expr) {
	switch e := e.(type) {
	case nil:
	case *Name:
		c.name(e)
	case *Starred:
		c.strayStar(e)
	case *Tuple:
		c.sequence(e.Elts, e.Ctx, e.Pos)
	case *List:
		c.sequence(e.Elts, e.Ctx, e.Pos)
	case *Set:
		c.elements(e.Elts)
	case *Call:
		c.expr(e.Func)
		c.elements(e.Args)
		c.keywords(e.Keywords)
	case *Attribute:
		switch e.Ctx {
		case Store:
			c.refuseDebug(e.Pos, e.Attr, "assign to")
		case Del:
			c.refuseDebug(e.Pos, e.Attr, "delete")
		}
		c.member(e.Pos, e.Attr)
		c.expr(e.Value)
	case *NamedExpr:
		c.namedExpr(e)
	case *Lambda:
		c.exprs(e.Args.Defaults...)
		c.exprs(e.Args.KwDefaults...)
		c.enter(functionScope)
		c.parameters(e.Args)
		c.expr(e.Body)
		c.leave()
	case *Yield:
		c.expr(e.Value)
		c.yield(e.Pos, "yield")
	case *YieldFrom:
		c.expr(e.Value)
		c.yield(e.Pos, "yield from")
	case *Await:
		c.expr(e.Value)
		c.await(e.Pos)
	default:
		c.otherExpr(e)
	}
}

func (c *checker) otherExpr(e Expr) {
	switch e := e.(type) {
	case *ListComp:
		c.comprehension(e.Pos, e.Generators, "list comprehension", e.Elt, nil)
	case *SetComp:
		c.comprehension(e.Pos, e.Generators, "set comprehension", e.Elt, nil)
	case *DictComp:
		c.comprehension(e.Pos, e.Generators, "dict comprehension", e.Key, e.Value)
	case *GeneratorExp:
		c.comprehension(e.Pos, e.Generators, "generator expression", e.Elt, nil)
	default:
		walker{c.node}.exprChildren(e)
	}
}

func (c *checker) name(e *Name) {
	switch e.Ctx {
	case Load:
		c.add(e.Pos, e.ID, isUsed)
	case Store:
		c.bind(e.Pos, e.ID)
	case Del:
		c.refuseDebug(e.Pos, e.ID, "delete")
		c.add(e.Pos, e.ID, isLocal)
	}
}

// strayStar refuses a star where no sequence takes it.
func (c *checker) strayStar(e *Starred) {
	if e.Ctx == Store {
		c.failf(e.Pos, "starred assignment target must be in a list or tuple")
	}
	c.failf(e.Pos, "can't use starred expression here")
}

// elements visits expressions that may have stars.
func (c *checker) elements(elts []Expr) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range elts {
		if s, ok := e.(*Starred); ok {
			e = s.Value
		}
		c.expr(e)
	}
}

func (c *checker) sequence(elts []Expr, ctx Context, at Pos) {
	stars := 0
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, e := range elts {
		if _, ok := e.(*Starred); ok && ctx == Store {
			if stars++; stars > 1 {
				c.failf(at, "multiple starred expressions in assignment")
			}
			if i >= 256 {
				c.failf(at, "too many expressions in star-unpacking assignment")
			}
		}
	}
	c.elements(elts)
}

func (c *checker) keywords(ks []*Keyword) {
	seen := map[string]bool{}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, k := range ks {
		if k.Arg != "" {
			c.refuseDebug(k.Pos, k.Arg, "assign to")
			if seen[k.Arg] {
				c.failf(k.Pos, "keyword argument repeated: %s", k.Arg)
			}
			seen[k.Arg] = true
		}
		c.expr(k.Value)
	}
}

func (c *checker) namedExpr(e *NamedExpr) {
	if c.scope.inIter > 0 {
		c.failf(e.Pos, "assignment expression cannot be used in a comprehension iterable expression")
	}
	target := e.Target.(*Name)
	if c.scope.kind == comprehensionScope {
		c.bindOutside(e.Pos, target.ID)
	}
	c.exprs(e.Value, e.Target)
}

func (c *checker) yield(at Pos, word string) {
	switch c.scope.kind {
	case functionScope:
		c.scope.yields = true
		if c.scope.async && word == "yield from" {
			c.failf(at, "'yield from' inside async function")
		}
	case comprehensionScope:
		c.failf(at, "'yield' inside %s", c.scope.what)
	default:
		c.failf(at, "'%s' outside function", "yield")
	}
}

func (c *checker) await(at Pos) {
	switch {
	case c.scope.kind == comprehensionScope:
		c.scope.awaits = true
	case c.scope.kind != functionScope:
		c.failf(at, "'await' outside function")
	case !c.scope.async:
		c.failf(at, "'await' outside async function")
	}
}

// comprehension visits the first iterable in the scope around it and the rest
// in a scope of its own.
func (c *checker) comprehension(at Pos, clauses []*Comprehension, what string, elt, value Expr) {
	c.iterable(clauses[0].Iter)
	c.enter(comprehensionScope)
	c.scope.what = what
	c.scope.isGen = what == "generator expression"
	c.scope.awaits = clauses[0].IsAsync
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, g := range clauses {
		c.scope.inTarget = true
		c.expr(g.Target)
		c.scope.inTarget = false
		if i > 0 {
			c.iterable(g.Iter)
		}
		c.exprs(g.Ifs...)
		c.scope.awaits = c.scope.awaits || g.IsAsync
	}
	c.exprs(value, elt)
	awaits := c.scope.awaits && !c.scope.isGen
	c.leave()
	if !awaits {
		return
	}
	switch {
	case c.scope.kind == comprehensionScope:
		c.scope.awaits = true
	case c.scope.kind != functionScope || !c.scope.async:
		c.failf(at, "asynchronous comprehension outside of an asynchronous function")
	}
}

func (c *checker) iterable(e Expr) {
	c.scope.inIter++
	c.expr(e)
	c.scope.inIter--
}
