package syntax

import "strings"

// Check refuses what CPython's symbol table and compiler refuse in a tree that
// its parser took. It returns the first refusal it meets, an [*Error], or nil.
// The tree must come from [Parse]: Check recurses as deep as the tree is high.
func Check(mod *Module) error {
	c := &checker{}
	c.scope = newScope(nil, moduleScope, "")
	c.futures(mod)
	c.stmts(mod.Body)
	c.bindings()
	if c.err == nil {
		return nil // not a nil *Error
	}
	return c.err
}

// checker walks the tree once, in the order of CPython's symbol table.
type checker struct {
	scope  *scope
	scopes []*scope // all but the module, for what is known at the end only
	err    *Error
	// mangled counts the bytes of private names in their long form.
	mangled int
	future  map[*ImportFrom]bool
}

func (c *checker) failf(at Pos, format string, args ...any) {
	if c.err == nil {
		c.err = syntaxErrorf(at, format, args...)
	}
}

// futures notes the imports from __future__ that begin the module.
func (c *checker) futures(mod *Module) {
	c.future = map[*ImportFrom]bool{}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, s := range mod.Body {
		switch s := s.(type) {
		case *ImportFrom:
			if s.Module != "__future__" {
				return
			}
			c.future[s] = true
			c.features(s)
		case *ExprStmt:
			if k, ok := s.Value.(*Constant); i > 0 || !ok || k.Kind != ConstStr {
				return
			}
		default:
			return
		}
	}
}

func (c *checker) features(s *ImportFrom) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range s.Names {
		switch a.Name {
		case "nested_scopes", "generators", "division", "absolute_import", "with_statement",
			"print_function", "unicode_literals", "generator_stop", "annotations":
		case "barry_as_FLUFL":
			if c.err == nil {
				c.err = unsupportedf(s.Pos, "future feature barry_as_FLUFL is not supported")
			}
		case "braces":
			c.failf(s.Pos, "not a chance")
		default:
			c.failf(s.Pos, "future feature %s is not defined", a.Name)
		}
	}
}

func (c *checker) stmts(body []Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		c.stmt(s)
	}
}

func (c *checker) stmt(s Stmt) {
	switch s := s.(type) {
	case *Return:
		c.returnStmt(s)
	case *Break:
		c.jump(s.Pos, "'break' outside loop")
	case *Continue:
		c.jump(s.Pos, "'continue' not properly in loop")
	case *Import:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, a := range s.Names {
			c.bindAlias(a)
		}
	case *ImportFrom:
		c.importFrom(s)
	case *Global:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, name := range s.Names {
			c.declare(s.Pos, name, isGlobal, "global")
		}
	case *Nonlocal:
		if c.scope.kind == moduleScope {
			c.failf(s.Pos, "nonlocal declaration not allowed at module level")
		}
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, name := range s.Names {
			c.declare(s.Pos, name, isNonlocal, "nonlocal")
		}
	case *AnnAssign:
		c.annAssign(s)
	case *Assign:
		c.exprs(s.Targets...)
		c.expr(s.Value)
	default:
		c.compound(s)
	}
}

func (c *checker) compound(s Stmt) {
	switch s := s.(type) {
	case *FunctionDef:
		c.function(s, false)
	case *AsyncFunctionDef:
		f := FunctionDef(*s)
		c.function(&f, true)
	case *ClassDef:
		c.class(s)
	case *For:
		c.exprs(s.Target, s.Iter)
		c.loop(s.Body, s.OrElse)
	case *AsyncFor:
		c.needsAsync(s.Pos, "'async for' outside async function")
		c.exprs(s.Target, s.Iter)
		c.loop(s.Body, s.OrElse)
	case *While:
		c.expr(s.Test)
		c.loop(s.Body, s.OrElse)
	case *With:
		c.with(s.Items, s.Body)
	case *AsyncWith:
		c.needsAsync(s.Pos, "'async with' outside async function")
		c.with(s.Items, s.Body)
	case *Match:
		c.match(s)
	case *Try:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for i, h := range s.Handlers {
			if h.Type == nil && i < len(s.Handlers)-1 {
				c.failf(h.Pos, "default 'except:' must be last")
			}
		}
		c.try(s, false)
	case *TryStar:
		t := Try(*s)
		c.try(&t, true)
	default:
		w := walker{c.node}
		w.stmtChildren(s)
	}
}

// node visits a child of a statement or expression that has no rule of its own.
func (c *checker) node(n Node) {
	switch n := n.(type) {
	case Expr:
		c.expr(n)
	case Stmt:
		c.stmt(n)
	case *Keyword:
		c.expr(n.Value)
	}
}

func (c *checker) returnStmt(s *Return) {
	if c.scope.kind != functionScope {
		c.failf(s.Pos, "'return' outside function")
	}
	// Bounded: by the levels of indentation, 100.
	for _, b := range c.scope.blocks {
		if b == starHandler {
			c.failf(s.Pos, "'break', 'continue' and 'return' cannot appear in an except* block")
		}
	}
	if s.Value != nil {
		c.expr(s.Value)
		if !c.scope.returns {
			c.scope.returns, c.scope.returnPos = true, s.Pos
		}
	}
}

// jump checks break and continue: the innermost block that counts is a loop.
func (c *checker) jump(at Pos, outside string) {
	blocks := c.scope.blocks
	switch n := len(blocks); {
	case n > 0 && blocks[n-1] == loopBlock:
	case n > 0:
		c.failf(at, "'break', 'continue' and 'return' cannot appear in an except* block")
	default:
		c.failf(at, "%s", outside)
	}
}

func (c *checker) needsAsync(at Pos, msg string) {
	if c.scope.kind != functionScope || !c.scope.async {
		c.failf(at, "%s", msg)
	}
}

func (c *checker) loop(body, orElse []Stmt) {
	c.within(loopBlock, body)
	c.stmts(orElse)
}

func (c *checker) within(b block, body []Stmt) {
	c.scope.blocks = append(c.scope.blocks, b)
	c.stmts(body)
	c.scope.blocks = c.scope.blocks[:len(c.scope.blocks)-1]
}

func (c *checker) with(items []*WithItem, body []Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, i := range items {
		c.exprs(i.ContextExpr, i.OptionalVars)
	}
	c.stmts(body)
}

func (c *checker) try(s *Try, star bool) {
	c.stmts(s.Body)
	c.stmts(s.OrElse)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range s.Handlers {
		c.expr(h.Type)
		if h.Name != "" {
			c.bind(h.Pos, h.Name)
		}
		if star {
			c.within(starHandler, h.Body)
		} else {
			c.stmts(h.Body)
		}
	}
	c.stmts(s.FinalBody)
}

func (c *checker) importFrom(s *ImportFrom) {
	if s.Module == "__future__" && !c.future[s] {
		c.failf(s.Pos, "from __future__ imports must occur at the beginning of the file")
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range s.Names {
		if a.Name != "*" {
			c.bindAlias(a)
			c.member(a.Pos, a.Name)
		} else if c.scope.kind != moduleScope {
			c.failf(s.Pos, "import * only allowed at module level")
		}
	}
}

func (c *checker) annAssign(s *AnnAssign) {
	if n, ok := s.Target.(*Name); ok {
		flags := c.scope.names[c.mangle(n.Pos, n.ID)]
		if s.Simple && c.scope.kind != moduleScope {
			if flags&isGlobal != 0 {
				c.failf(s.Pos, "annotated name '%s' can't be global", n.ID)
			} else if flags&isNonlocal != 0 {
				c.failf(s.Pos, "annotated name '%s' can't be nonlocal", n.ID)
			}
		}
		c.refuseDebug(s.Pos, n.ID, "assign to")
		if s.Simple {
			c.add(s.Pos, n.ID, isAnnotated|isLocal)
		} else if s.Value != nil {
			c.add(s.Pos, n.ID, isLocal)
		}
	} else {
		c.expr(s.Target)
	}
	c.exprs(s.Annotation, s.Value)
}

func (c *checker) function(f *FunctionDef, async bool) {
	c.bind(f.Pos, f.Name)
	c.exprs(f.Args.Defaults...)
	c.exprs(f.Args.KwDefaults...)
	walker{func(n Node) { c.annotation(n) }}.argsOf(f.Args)
	c.expr(f.Returns)
	c.exprs(f.DecoratorList...)
	c.enter(functionScope)
	c.scope.async = async
	c.parameters(f.Args)
	c.stmts(f.Body)
	if c.scope.async && c.scope.yields && c.scope.returns {
		c.failf(c.scope.returnPos, "'return' with value in async generator")
	}
	c.leave()
}

func (w walker) argsOf(a *Arguments) {
	w.args(a.PosOnlyArgs...)
	w.args(a.Args...)
	w.args(a.VarArg)
	w.args(a.KwOnlyArgs...)
	w.args(a.KwArg)
}

// annotation visits that of a parameter; *args may have a starred one.
func (c *checker) annotation(n Node) {
	a := n.(*Arg)
	if s, ok := a.Annotation.(*Starred); ok {
		c.expr(s.Value)
		return
	}
	c.expr(a.Annotation)
}

func (c *checker) parameters(args *Arguments) {
	walker{func(n Node) {
		a := n.(*Arg)
		c.refuseDebug(a.Pos, a.Arg, "assign to")
		if c.scope.names[c.mangle(a.Pos, a.Arg)]&isParam != 0 {
			c.failf(a.Pos, "duplicate argument '%s' in function definition", a.Arg)
		}
		c.add(a.Pos, a.Arg, isParam|isLocal)
	}}.argsOf(args)
}

func (c *checker) class(s *ClassDef) {
	c.bind(s.Pos, s.Name)
	c.elements(s.Bases)
	c.keywords(s.Keywords)
	c.exprs(s.DecoratorList...)
	c.enter(classScope)
	// Paid: by the bytes of the name, once for each class (ADR 59, 166).
	c.scope.class = strings.TrimLeft(s.Name, "_")
	c.stmts(s.Body)
	c.leave()
}
