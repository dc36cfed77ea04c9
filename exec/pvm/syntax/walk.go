package syntax

// Children calls visit for every node directly below n, in the order of the
// source where Python's fields have it. Parameters, with-items, clauses of
// comprehensions and cases have no place of their own: their parts are children.
func Children(n Node, visit func(Node)) {
	w := walker{visit}
	switch n := n.(type) {
	case Expr:
		w.exprChildren(n)
	case Stmt:
		w.stmtChildren(n)
	case Pattern:
		w.patternChildren(n)
	case *Arg:
		w.expr(n.Annotation)
	case *Keyword:
		w.expr(n.Value)
	case *ExceptHandler:
		w.expr(n.Type)
		w.stmts(n.Body)
	}
}

type walker struct{ visit func(Node) }

func (w walker) expr(e Expr) {
	if e != nil {
		w.visit(e)
	}
}

func (w walker) exprs(es ...Expr) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range es {
		w.expr(e)
	}
}

func (w walker) stmts(ss []Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range ss {
		w.visit(s)
	}
}

func (w walker) keywords(ks []*Keyword) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, k := range ks {
		w.visit(k)
	}
}

func (w walker) clauses(cs []*Comprehension) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, c := range cs {
		w.exprs(c.Target, c.Iter)
		w.exprs(c.Ifs...)
	}
}

func (w walker) args(as ...*Arg) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range as {
		if a != nil {
			w.visit(a)
		}
	}
}

func (w walker) arguments(a *Arguments) {
	w.args(a.PosOnlyArgs...)
	w.args(a.Args...)
	w.args(a.VarArg)
	w.args(a.KwOnlyArgs...)
	w.args(a.KwArg)
	w.exprs(a.Defaults...)
	w.exprs(a.KwDefaults...)
}

func (w walker) exprChildren(e Expr) {
	switch e := e.(type) {
	case *BoolOp:
		w.exprs(e.Values...)
	case *NamedExpr:
		w.exprs(e.Target, e.Value)
	case *BinOp:
		w.exprs(e.Left, e.Right)
	case *UnaryOp:
		w.expr(e.Operand)
	case *Lambda:
		w.arguments(e.Args)
		w.expr(e.Body)
	case *IfExp:
		w.exprs(e.Test, e.Body, e.OrElse)
	case *Dict:
		w.exprs(e.Keys...)
		w.exprs(e.Values...)
	case *Set:
		w.exprs(e.Elts...)
	case *Await:
		w.expr(e.Value)
	case *Yield:
		w.expr(e.Value)
	case *YieldFrom:
		w.expr(e.Value)
	case *Compare:
		w.expr(e.Left)
		w.exprs(e.Comparators...)
	case *Call:
		w.expr(e.Func)
		w.exprs(e.Args...)
		w.keywords(e.Keywords)
	case *FormattedValue:
		w.exprs(e.Value, e.FormatSpec)
	case *JoinedStr:
		w.exprs(e.Values...)
	case *Attribute:
		w.expr(e.Value)
	case *Subscript:
		w.exprs(e.Value, e.Slice)
	case *Starred:
		w.expr(e.Value)
	case *List:
		w.exprs(e.Elts...)
	case *Tuple:
		w.exprs(e.Elts...)
	case *Slice:
		w.exprs(e.Lower, e.Upper, e.Step)
	default:
		w.comprehensionChildren(e)
	}
}

func (w walker) comprehensionChildren(e Expr) {
	switch e := e.(type) {
	case *ListComp:
		w.expr(e.Elt)
		w.clauses(e.Generators)
	case *SetComp:
		w.expr(e.Elt)
		w.clauses(e.Generators)
	case *DictComp:
		w.exprs(e.Key, e.Value)
		w.clauses(e.Generators)
	case *GeneratorExp:
		w.expr(e.Elt)
		w.clauses(e.Generators)
	}
}

func (w walker) stmtChildren(s Stmt) {
	switch s := s.(type) {
	case *Return:
		w.expr(s.Value)
	case *Delete:
		w.exprs(s.Targets...)
	case *Assign:
		w.exprs(s.Targets...)
		w.expr(s.Value)
	case *AugAssign:
		w.exprs(s.Target, s.Value)
	case *AnnAssign:
		w.exprs(s.Target, s.Annotation, s.Value)
	case *Raise:
		w.exprs(s.Exc, s.Cause)
	case *Assert:
		w.exprs(s.Test, s.Msg)
	case *Import:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, a := range s.Names {
			w.visit(a)
		}
	case *ImportFrom:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, a := range s.Names {
			w.visit(a)
		}
	case *ExprStmt:
		w.expr(s.Value)
	default:
		w.compoundChildren(s)
	}
}

func (w walker) compoundChildren(s Stmt) {
	switch s := s.(type) {
	case *FunctionDef:
		w.function(s.DecoratorList, s.Args, s.Returns, s.Body)
	case *AsyncFunctionDef:
		w.function(s.DecoratorList, s.Args, s.Returns, s.Body)
	case *ClassDef:
		w.exprs(s.DecoratorList...)
		w.exprs(s.Bases...)
		w.keywords(s.Keywords)
		w.stmts(s.Body)
	case *For:
		w.loop(s.Target, s.Iter, s.Body, s.OrElse)
	case *AsyncFor:
		w.loop(s.Target, s.Iter, s.Body, s.OrElse)
	case *While:
		w.loop(s.Test, nil, s.Body, s.OrElse)
	case *If:
		w.loop(s.Test, nil, s.Body, s.OrElse)
	case *With:
		w.with(s.Items, s.Body)
	case *AsyncWith:
		w.with(s.Items, s.Body)
	case *Match:
		w.expr(s.Subject)
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, c := range s.Cases {
			w.visit(c.Pattern)
			w.expr(c.Guard)
			w.stmts(c.Body)
		}
	case *Try:
		w.try(s.Body, s.Handlers, s.OrElse, s.FinalBody)
	case *TryStar:
		w.try(s.Body, s.Handlers, s.OrElse, s.FinalBody)
	}
}

func (w walker) function(decorators []Expr, args *Arguments, returns Expr, body []Stmt) {
	w.exprs(decorators...)
	w.arguments(args)
	w.expr(returns)
	w.stmts(body)
}

func (w walker) loop(first, second Expr, body, orElse []Stmt) {
	w.exprs(first, second)
	w.stmts(body)
	w.stmts(orElse)
}

func (w walker) with(items []*WithItem, body []Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, i := range items {
		w.exprs(i.ContextExpr, i.OptionalVars)
	}
	w.stmts(body)
}

func (w walker) try(body []Stmt, handlers []*ExceptHandler, orElse, final []Stmt) {
	w.stmts(body)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range handlers {
		w.visit(h)
	}
	w.stmts(orElse)
	w.stmts(final)
}

func (w walker) patternChildren(m Pattern) {
	switch m := m.(type) {
	case *MatchValue:
		w.expr(m.Value)
	case *MatchSequence:
		w.patterns(m.Patterns)
	case *MatchMapping:
		w.exprs(m.Keys...)
		w.patterns(m.Patterns)
	case *MatchClass:
		w.expr(m.Cls)
		w.patterns(m.Patterns)
		w.patterns(m.KwdPatterns)
	case *MatchAs:
		if m.Pattern != nil {
			w.visit(m.Pattern)
		}
	case *MatchOr:
		w.patterns(m.Patterns)
	}
}

func (w walker) patterns(ms []Pattern) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, m := range ms {
		w.visit(m)
	}
}

// taller looks for a node more than most levels below the module. It goes level
// by level instead of recursing, since the height is what it does not know yet.
func taller(mod *Module, most int) (Pos, bool) {
	var level, below []Node
	add := func(n Node) { below = append(below, n) }
	walker{add}.stmts(mod.Body)
	// Bounded: by the height of the tree, 1,000.
	for depth := 1; len(below) > 0; depth++ {
		if depth > most {
			return below[0].Position(), true
		}
		level, below = below, level[:0]
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, n := range level {
			Children(n, add)
		}
	}
	return Pos{}, false
}
