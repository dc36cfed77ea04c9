package scope

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func (b *builder) stmts(body []syntax.Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		b.node(s)
	}
}

// node visits anything in the tree. Nodes without a rule of their own visit what
// is below them, in the order of Python's fields.
func (b *builder) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.FunctionDef:
		b.function(n, n, false)
	case *syntax.AsyncFunctionDef:
		f := syntax.FunctionDef(*n)
		b.function(n, &f, true)
	case *syntax.ClassDef:
		b.class(n)
	case *syntax.Return:
		b.expr(n.Value)
		b.cur.ReturnsValue = b.cur.ReturnsValue || n.Value != nil
	case *syntax.AnnAssign:
		b.annAssign(n)
	case *syntax.Try:
		b.try(n.Body, n.OrElse, n.Handlers, n.FinalBody)
	case *syntax.TryStar:
		b.try(n.Body, n.OrElse, n.Handlers, n.FinalBody)
	case *syntax.Import:
		b.imports(n.Names)
	case *syntax.ImportFrom:
		b.imports(n.Names)
	case *syntax.Global:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, name := range n.Names {
			b.declare(n.Pos, name, DeclaredGlobal, "global")
		}
	case *syntax.Nonlocal:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, name := range n.Names {
			b.declare(n.Pos, name, DeclaredNonlocal, "nonlocal")
		}
	case syntax.Expr:
		b.expr(n)
	default:
		syntax.Children(n, b.node)
		b.bindPattern(n)
	}
}

// bindPattern binds the name of a pattern, after those of the patterns in it.
func (b *builder) bindPattern(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.MatchStar:
		b.bind(n.Pos, n.Name)
	case *syntax.MatchAs:
		b.bind(n.Pos, n.Name)
	case *syntax.MatchMapping:
		b.bind(n.Pos, n.Rest)
	}
}

func (b *builder) try(body, orElse []syntax.Stmt, handlers []*syntax.ExceptHandler, final []syntax.Stmt) {
	b.stmts(body)
	b.stmts(orElse)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range handlers {
		b.expr(h.Type)
		b.bind(h.Pos, h.Name)
		b.stmts(h.Body)
	}
	b.stmts(final)
}

func (b *builder) imports(names []*syntax.Alias) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range names {
		name := a.AsName
		if name == "" {
			// Paid: by the bytes of the name, once (ADR 59).
			name, _, _ = strings.Cut(a.Name, ".")
		}
		switch {
		case name != "*":
			b.add(a.Pos, name, Imported)
		case b.cur.Kind != Module:
			b.failf(a.Pos, "import * only allowed at module level")
		}
	}
}

func (b *builder) function(node syntax.Node, f *syntax.FunctionDef, async bool) {
	b.bind(f.Pos, f.Name)
	b.exprs(f.Args.Defaults)
	b.exprs(f.Args.KwDefaults)
	b.parameterAnnotations(f.Args)
	b.annotation(f.Returns)
	b.exprs(f.DecoratorList)
	b.enter(Function, f.Name, node)
	b.cur.Coroutine = async
	b.parameters(f.Args)
	b.stmts(f.Body)
	b.leave()
}

func (b *builder) parameterAnnotations(a *syntax.Arguments) {
	one := func(p *syntax.Arg) {
		if p != nil {
			b.annotation(p.Annotation)
		}
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, p := range a.PosOnlyArgs {
		one(p)
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, p := range a.Args {
		one(p)
	}
	one(a.VarArg)
	one(a.KwArg)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, p := range a.KwOnlyArgs {
		one(p)
	}
}

// annotation visits an annotation, or nil. Those that will be text are looked at
// for what may not stand in them, and leave nothing in the table.
func (b *builder) annotation(e syntax.Expr) {
	if !b.textAnnotations || e == nil {
		b.expr(e)
		return
	}
	cur := b.cur
	b.cur = &Scope{
		Kind: Lambda, Node: cur.Node, Parent: cur, annotation: true, apart: true, index: map[string]*Symbol{},
		private: cur.private, iterDepth: cur.iterDepth, Nested: true,
	}
	b.expr(e)
	b.cur = cur
}

func (b *builder) parameters(a *syntax.Arguments) {
	// Bounded: by the three kinds of parameters.
	for _, list := range [][]*syntax.Arg{a.PosOnlyArgs, a.Args, a.KwOnlyArgs} {
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, p := range list {
			b.add(p.Pos, p.Arg, Parameter)
		}
	}
	if a.VarArg != nil {
		b.add(a.VarArg.Pos, a.VarArg.Arg, Parameter)
		b.cur.VarArgs = true
	}
	if a.KwArg != nil {
		b.add(a.KwArg.Pos, a.KwArg.Arg, Parameter)
		b.cur.VarKeywords = true
	}
}

func (b *builder) class(c *syntax.ClassDef) {
	b.bind(c.Pos, c.Name)
	b.exprs(c.Bases)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, k := range c.Keywords {
		b.expr(k.Value)
	}
	b.exprs(c.DecoratorList)
	b.enter(Class, c.Name, c)
	b.stmts(c.Body)
	b.leave()
}

func (b *builder) annAssign(s *syntax.AnnAssign) {
	if n, ok := s.Target.(*syntax.Name); ok {
		known := b.cur.flags(b.mangle(n.Pos, n.ID))
		switch {
		case !s.Simple || b.cur.Kind == Module:
		case known&DeclaredGlobal != 0:
			b.failf(s.Pos, "annotated name '%s' can't be global", n.ID)
		case known&DeclaredNonlocal != 0:
			b.failf(s.Pos, "annotated name '%s' can't be nonlocal", n.ID)
		}
		if s.Simple {
			b.add(n.Pos, n.ID, Annotated|Assigned)
		} else if s.Value != nil {
			b.add(n.Pos, n.ID, Assigned)
		}
	} else {
		b.expr(s.Target)
	}
	b.annotation(s.Annotation)
	b.expr(s.Value)
}
