package scope

import "github.com/cowboy-foundation/cowboy/exec/pvm/syntax"

// exprs visits expressions, some of which may be nil.
func (b *builder) exprs(es []syntax.Expr) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range es {
		b.expr(e)
	}
}

// expr visits e, which may be nil.
func (b *builder) expr(e syntax.Expr) {
	switch e := e.(type) {
	case nil:
	case *syntax.Name:
		b.name(e)
	case *syntax.NamedExpr:
		b.namedExpr(e)
	case *syntax.Lambda:
		b.exprs(e.Args.Defaults)
		b.exprs(e.Args.KwDefaults)
		b.enter(Lambda, "lambda", e)
		b.parameters(e.Args)
		b.expr(e.Body)
		b.leave()
	case *syntax.Yield:
		b.notInAnnotation(e.Pos, "yield expression")
		b.expr(e.Value)
		b.yield(e.Pos)
	case *syntax.YieldFrom:
		b.notInAnnotation(e.Pos, "yield expression")
		b.expr(e.Value)
		b.yield(e.Pos)
	case *syntax.Await:
		b.notInAnnotation(e.Pos, "await expression")
		b.expr(e.Value)
		b.cur.Coroutine = true
	case *syntax.ListComp:
		b.comprehension(ListComp, "listcomp", e, e.Generators, nil, e.Elt)
	case *syntax.SetComp:
		b.comprehension(SetComp, "setcomp", e, e.Generators, nil, e.Elt)
	case *syntax.DictComp:
		b.comprehension(DictComp, "dictcomp", e, e.Generators, e.Value, e.Key)
	case *syntax.GeneratorExp:
		b.comprehension(GeneratorExp, "genexpr", e, e.Generators, nil, e.Elt)
	default:
		syntax.Children(e, b.node)
	}
}

func (b *builder) name(e *syntax.Name) {
	if e.Ctx != syntax.Load {
		b.add(e.Pos, e.ID, Assigned)
		return
	}
	b.add(e.Pos, e.ID, Used)
	if e.ID == "super" && b.cur.Kind.IsFunction() && !b.cur.annotation {
		b.add(e.Pos, "__class__", Used) // super() without arguments reads it
	}
}

func (b *builder) notInAnnotation(at syntax.Pos, what string) {
	if b.cur.annotation {
		b.failf(at, "'%s' can not be used within an annotation", what)
	}
}

func (b *builder) yield(at syntax.Pos) {
	b.cur.Generator = true
	switch b.cur.Kind {
	case ListComp:
		b.failf(at, "'yield' inside list comprehension")
	case SetComp:
		b.failf(at, "'yield' inside set comprehension")
	case DictComp:
		b.failf(at, "'yield' inside dict comprehension")
	case GeneratorExp:
		b.failf(at, "'yield' inside generator expression")
	}
}

func (b *builder) namedExpr(e *syntax.NamedExpr) {
	b.notInAnnotation(e.Pos, "named expression")
	if b.cur.iterDepth > 0 {
		b.failf(e.Pos, "assignment expression cannot be used in a comprehension iterable expression")
	}
	if target, ok := e.Target.(*syntax.Name); ok && b.cur.Kind.IsComprehension() {
		b.bindOutside(target)
	}
	b.expr(e.Value)
	b.expr(e.Target)
}

// bindOutside gives the target of a named expression inside comprehensions to the
// function or module around them (PEP 572). A comprehension has no other names that are
// declared: one that it knows is not looked for again (ADR 208).
func (b *builder) bindOutside(target *syntax.Name) {
	at, long := target.Pos, b.mangle(target.Pos, target.ID)
	if f := b.cur.flags(long); f&(DeclaredGlobal|DeclaredNonlocal) != 0 && f&CompTarget == 0 && !b.cur.inTarget {
		return
	}
	// Bounded: by 200 nested brackets, a look-up each; long names are bounded by scope.mangled_bytes (ADR 166).
	for s := b.cur; s != nil; s = s.Parent {
		switch {
		case s.annotation:
		case s.Kind.IsComprehension():
			if f := s.flags(long); f&CompTarget != 0 && f&Assigned != 0 {
				b.failf(at, "assignment expression cannot rebind comprehension iteration variable '%s'", target.ID)
			}
		case s.Kind == Class:
			b.failf(at, "assignment expression within a comprehension cannot be used in a class body")
		case s.Kind == Module:
			b.add(at, target.ID, DeclaredGlobal)
			b.direct(at, target.ID)
			return
		default:
			f := DeclaredNonlocal
			if s.flags(long)&DeclaredGlobal != 0 {
				f = DeclaredGlobal
			}
			b.add(at, target.ID, f)
			b.direct(at, target.ID)
			b.addTo(s, at, target.ID, Assigned)
			return
		}
	}
}

// comprehension visits the first iterable in the scope around it and the rest in
// a scope of its own. For a dict the value comes before the key; else value is
// nil.
func (b *builder) comprehension(kind Kind, name string, e syntax.Expr, clauses []*syntax.Comprehension, value, elt syntax.Expr) {
	b.iterable(clauses[0].Iter)
	b.enter(kind, name, e)
	b.add(e.Position(), ".0", Parameter)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, c := range clauses {
		b.cur.inTarget = true
		b.expr(c.Target)
		b.cur.inTarget = false
		if i > 0 {
			b.iterable(c.Iter)
		}
		b.exprs(c.Ifs)
		b.cur.Coroutine = b.cur.Coroutine || c.IsAsync
	}
	b.expr(value)
	b.expr(elt)
	b.cur.Generator = kind == GeneratorExp
	awaits := b.cur.Coroutine && !b.cur.Generator
	b.leave()
	b.cur.Coroutine = b.cur.Coroutine || awaits
}

func (b *builder) iterable(e syntax.Expr) {
	b.cur.iterDepth++
	b.expr(e)
	b.cur.iterDepth--
}
