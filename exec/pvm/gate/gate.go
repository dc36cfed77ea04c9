package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Check reports everything in a program that the rules forbid. The table must be
// that of the tree. An error means that the limits cannot work.
func Check(mod *syntax.Module, names *scope.Table, lim Limits) (*Report, error) {
	if err := lim.Check(); err != nil {
		return nil, fmt.Errorf("limits of the gate: %w", err)
	}
	c := &checker{
		names:   names,
		lim:     lim,
		here:    names.Module,
		report:  &Report{},
		globals: map[string]bool{},
		rebound: map[*scope.Symbol]bool{},
		modules: map[*scope.Symbol]bool{},
	}
	c.collect(names.Module)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range mod.Body {
		c.visit(s)
	}
	// Paid: by the statements that set attributes (ADR 59).
	for _, s := range c.stores {
		if c.modules[s.symbol] {
			c.add(s.at, ModuleSet, "%s", s.what)
		}
	}
	c.report.sort()
	return c.report, nil
}

// checker walks the tree once and keeps track of the scope that it is in.
type checker struct {
	names   *scope.Table
	lim     Limits
	here    *scope.Scope
	report  *Report
	globals map[string]bool        // names that some statement binds in the module
	rebound map[*scope.Symbol]bool // bound other than by an import, here or further in
	modules map[*scope.Symbol]bool // true: bound by import statements alone, to modules
	stores  []store
}

// store is an attribute set on a name that may turn out to be a module.
type store struct {
	symbol *scope.Symbol
	at     syntax.Pos
	what   string
}

const binding = scope.Assigned | scope.Imported | scope.Parameter

// collect notes what statements bind, also for the scopes around their own. A
// name that is bound in the module is no builtin.
func (c *checker) collect(s *scope.Scope) {
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for _, sym := range s.Symbols {
		owner := definer(c.names, sym)
		if sym.Has(binding) && owner != nil {
			c.globals[sym.Name] = c.globals[sym.Name] || owner == c.names.Module.Lookup(sym.Name)
		}
		if sym.Has(scope.Assigned|scope.Parameter) && owner != nil {
			c.rebound[owner] = true
		}
	}
	// Paid: by the scopes, 100 cycles each (ADR 59).
	for _, child := range s.Children {
		c.collect(child)
	}
}

// definer returns the symbol behind that of a scope: in the function or module
// that has the name, or nil for a builtin and for __class__.
func definer(names *scope.Table, sym *scope.Symbol) *scope.Symbol {
	switch sym.Resolution {
	case scope.Free:
		return sym.Owner.Lookup(sym.Name)
	case scope.GlobalImplicit, scope.GlobalExplicit:
		return names.Module.Lookup(sym.Name)
	}
	return sym
}

func (c *checker) add(at syntax.Pos, id ID, format string, args ...any) {
	if len(c.report.Findings) >= c.lim.Findings {
		c.report.More++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{Pos: at, Rule: rule(id), What: fmt.Sprintf(format, args...)})
}

// visit checks n and what is below it.
func (c *checker) visit(n syntax.Node) {
	c.checkNode(n)
	inner := c.names.Scope(n)
	syntax.Children(n, func(child syntax.Node) {
		outer := c.here
		if inner != nil && belongsInside(n, child) {
			c.here = inner
		}
		c.visit(child)
		c.here = outer
	})
}

// belongsInside tells the children of a scope's node that are in the scope from
// decorators, defaults, annotations, bases and first iterables, which are around
// it.
func belongsInside(n, child syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Lambda:
		return child == n.Body
	case *syntax.ListComp:
		return child != n.Generators[0].Iter
	case *syntax.SetComp:
		return child != n.Generators[0].Iter
	case *syntax.DictComp:
		return child != n.Generators[0].Iter
	case *syntax.GeneratorExp:
		return child != n.Generators[0].Iter
	}
	_, statement := child.(syntax.Stmt)
	return statement
}

// checkNode applies the rules to n alone.
func (c *checker) checkNode(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Import:
		c.imports(n)
	case *syntax.ImportFrom:
		c.importFrom(n)
	case *syntax.Name:
		c.name(n)
	case *syntax.Attribute:
		c.attribute(n.Pos, n.Attr)
		if n.Ctx != syntax.Load {
			c.store(n.Value, n.Attr)
		}
	case *syntax.MatchClass:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, attr := range n.KwdAttrs {
			c.attribute(n.Pos, attr)
		}
	case *syntax.Compare:
		c.identity(n)
	case *syntax.Call:
		c.call(n)
	default:
		c.boundName(n)
	}
}

// boundName checks the names that statements and patterns bind without a Name.
func (c *checker) boundName(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.FunctionDef:
		c.bound(n.Pos, n.Name)
	case *syntax.AsyncFunctionDef:
		c.bound(n.Pos, n.Name)
	case *syntax.ClassDef:
		c.bound(n.Pos, n.Name)
	case *syntax.ExceptHandler:
		c.bound(n.Pos, n.Name)
	case *syntax.MatchAs:
		c.bound(n.Pos, n.Name)
	case *syntax.MatchStar:
		c.bound(n.Pos, n.Name)
	case *syntax.MatchMapping:
		c.bound(n.Pos, n.Rest)
	case *syntax.Arg:
		c.bound(n.Pos, n.Arg)
	}
}

// bound refuses a finalizer, and names that the import machinery reads.
func (c *checker) bound(at syntax.Pos, name string) {
	switch name {
	case "__del__":
		c.add(at, Finalizer, "definition of __del__")
	case "__builtins__":
		c.add(at, AttributeNamespace, "name __builtins__")
	case "__loader__", "__spec__":
		c.add(at, AttributeMachinery, "name %s", name)
	}
}

func (c *checker) name(n *syntax.Name) {
	c.bound(n.Pos, n.ID)
	if id, forbidden := builtinRules[n.ID]; forbidden && n.Ctx == syntax.Load && c.isBuiltin(n.ID) {
		c.add(n.Pos, id, "builtin %s", n.ID)
	}
}

// isBuiltin reports whether a name means a builtin in the current scope.
func (c *checker) isBuiltin(name string) bool {
	sym := c.here.Lookup(c.names.Mangle(c.here, name))
	switch {
	case sym == nil: // in an annotation that the table leaves out
	case sym.Resolution == scope.GlobalImplicit, sym.Resolution == scope.GlobalExplicit:
	default:
		return false
	}
	return !c.globals[name]
}

func (c *checker) attribute(at syntax.Pos, name string) {
	if id, forbidden := attributeRule(name); forbidden {
		c.add(at, id, "attribute %s", name)
	}
}

// defining returns the symbol behind a name in the current scope, or nil.
func (c *checker) defining(name string) *scope.Symbol {
	if sym := c.here.Lookup(c.names.Mangle(c.here, name)); sym != nil {
		return definer(c.names, sym)
	}
	return nil
}

// store remembers that an attribute of target is set or deleted.
func (c *checker) store(target syntax.Expr, attr string) {
	n, ok := target.(*syntax.Name)
	if !ok {
		return
	}
	if sym := c.defining(n.ID); sym != nil {
		c.stores = append(c.stores, store{sym, n.Pos, fmt.Sprintf("setting %s of module %s", attr, n.ID)})
	}
}

func (c *checker) call(n *syntax.Call) {
	f, ok := n.Func.(*syntax.Name)
	if !ok || len(n.Args) == 0 || !c.isBuiltin(f.ID) {
		return
	}
	switch f.ID {
	case "setattr", "delattr":
		c.store(n.Args[0], "an attribute")
	case "open":
		if p, ok := n.Args[0].(*syntax.Constant); ok && p.Kind == syntax.ConstStr && !inScratch(p.Text) {
			c.add(n.Pos, PathOutsideScratch, "open(%.80q)", p.Text)
		}
	}
}

// inScratch reports whether a path is of a file under /tmp, also after its dots
// are followed.
// Paid: by the bytes of the literal, once (ADR 59).
func inScratch(p string) bool { return strings.HasPrefix(path.Clean(p), "/tmp/") }

// identity looks at each pair of a chain of comparisons.
func (c *checker) identity(n *syntax.Compare) {
	left := n.Left
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, op := range n.Ops {
		right := n.Comparators[i]
		if op == syntax.Is || op == syntax.IsNot {
			if what := cmpText(literal(left), literal(right)); what != "" {
				c.add(n.Pos, IdentityOfLiteral, "identity of %s", what)
			}
		}
		left = right
	}
}

func cmpText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// literal says what kind of text or number an expression is, or nothing.
func literal(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.JoinedStr:
		return "a text"
	case *syntax.UnaryOp:
		if e.Op != syntax.Not && literal(e.Operand) == "a number" {
			return "a number"
		}
	case *syntax.Constant:
		switch e.Kind {
		case syntax.ConstStr:
			return "a text"
		case syntax.ConstInt, syntax.ConstFloat:
			return "a number"
		}
	}
	return ""
}

func (c *checker) imports(n *syntax.Import) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range n.Names {
		c.module(a.Pos, a.Name)
		c.alias(a)
		name := a.AsName
		if name == "" {
			// Paid: by the bytes of the name, once (ADR 59).
			name, _, _ = strings.Cut(a.Name, ".")
		}
		sym := c.defining(name)
		if sym == nil {
			continue
		}
		if _, seen := c.modules[sym]; !seen {
			c.modules[sym] = !c.rebound[sym]
		}
	}
}

func (c *checker) importFrom(n *syntax.ImportFrom) {
	if n.Module == "__future__" && n.Level == 0 {
		c.future(n)
		return
	}
	if n.Level > 0 {
		// Bounded: by eight dots.
		c.add(n.Pos, ModuleRelative, "import of %s%.80s", strings.Repeat(".", min(n.Level, 8)), n.Module)
	} else {
		c.module(n.Pos, n.Module)
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range n.Names {
		c.alias(a)
		c.attribute(a.Pos, a.Name)
		if n.Module == "hashlib" && n.Level == 0 && !(row{names: hashNames}).has(a.Name) {
			c.add(a.Pos, ModuleHash, "import of %.80s from hashlib", a.Name)
		}
		if name := cmpText(a.AsName, a.Name); name != "*" {
			if sym := c.defining(name); sym != nil {
				c.modules[sym] = false // a class, perhaps, whose attributes may be set
			}
		}
	}
}

// future takes the statements that speak to the compiler: they import nothing.
func (c *checker) future(n *syntax.ImportFrom) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range n.Names {
		c.alias(a)
		if !(row{names: futureNames}).has(a.Name) {
			c.add(a.Pos, ModuleUnlisted, "import of %.80s from __future__", a.Name)
		}
	}
}

func (c *checker) alias(a *syntax.Alias) { c.bound(a.Pos, a.AsName) }

// imported notes a module that a chain has to list.
func (c *checker) imported(at syntax.Pos, name string) {
	known := func(i Import) bool { return i.Module == name }
	// Bounded: by the modules of the library, some twenty.
	if ofLibrary[name] && !slices.ContainsFunc(c.report.Imports, known) {
		c.report.Imports = append(c.report.Imports, Import{at, name})
	}
}

// module checks the full name of an imported module.
func (c *checker) module(at syntax.Pos, name string) {
	// Paid: by the bytes of the name, once (ADR 59).
	first, _, below := strings.Cut(name, ".")
	if allowed[name] || below && allowed[first+".*"] {
		c.imported(at, first)
		return
	}
	id, known := moduleRules[first]
	if !known {
		id = ModuleUnlisted
	}
	c.add(at, id, "import of %.80s", name)
}
