package continuation

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// variables are the local names of a handler, in the order of the source where there is
// one. The maps are looked up, never iterated.
type variables struct {
	params   []string
	assigned []string // bound other than as parameters, each once
	param    map[string]bool
	bound    map[string]bool // the assigned ones
	deleted  map[string]bool
	globals  map[string]bool
	code     map[string]string // functions, classes and modules: what each is, which cannot be stored
}

func (v *variables) has(name string) bool {
	return (v.param[name] || v.bound[name]) && !v.globals[name]
}

// sure tells whether a name has a value wherever the handler is.
func (v *variables) sure(name string) bool { return v.param[name] && !v.deleted[name] }

func (v *variables) bind(name string) {
	if name != "" && !v.bound[name] {
		v.assigned, v.bound[name] = append(v.assigned, name), true
	}
}

func (v *variables) bindCode(name, what string) {
	v.bind(name)
	if _, ok := v.code[name]; !ok {
		v.code[name] = what
	}
}

func localsOf(f *syntax.AsyncFunctionDef) *variables {
	v := &variables{
		param: map[string]bool{}, bound: map[string]bool{}, deleted: map[string]bool{}, globals: map[string]bool{}, code: map[string]string{},
	}
	a := f.Args
	// Bounded: by the kinds of parameters, 5.
	for _, list := range [][]*syntax.Arg{a.PosOnlyArgs, a.Args, {a.VarArg}, a.KwOnlyArgs, {a.KwArg}} {
		// Paid: by the tokens of the parameters (ADR 59).
		for _, p := range list {
			if p != nil {
				v.params, v.param[p.Arg] = append(v.params, p.Arg), true
			}
		}
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range f.Body {
		v.visit(s)
	}
	return v
}

// visit collects what a node binds in the handler's own scope.
func (v *variables) visit(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.FunctionDef:
		v.bindCode(n.Name, "a function")
		v.walrus(n)
		return
	case *syntax.AsyncFunctionDef:
		v.bindCode(n.Name, "a function")
		return
	case *syntax.ClassDef:
		v.bindCode(n.Name, "a class")
		return
	case *syntax.Lambda:
		return
	case *syntax.ListComp, *syntax.SetComp, *syntax.DictComp, *syntax.GeneratorExp:
		v.walrus(n)
		return
	case *syntax.Name:
		if n.Ctx != syntax.Load {
			v.bind(n.ID)
		}
		if n.Ctx == syntax.Del {
			v.deleted[n.ID] = true
		}
	case *syntax.Alias:
		bound := n.AsName
		if bound == "" {
			bound = n.Name
			// Paid: by the bytes of the source, 10 cycles each, of which this is one name (ADR 59).
			for i := range bound {
				if bound[i] == '.' {
					bound = bound[:i]
					break
				}
			}
		}
		v.bindCode(bound, "a module or a part of one")
	case *syntax.ExceptHandler:
		v.bind(n.Name)
		if n.Name != "" {
			v.deleted[n.Name] = true
		}
	case *syntax.Global:
		v.global(n.Names)
	case *syntax.Nonlocal:
		v.global(n.Names)
	case *syntax.MatchStar:
		v.bind(n.Name)
	case *syntax.MatchAs:
		v.bind(n.Name)
	case *syntax.MatchMapping:
		v.bind(n.Rest)
	}
	syntax.Children(n, v.visit)
}

func (v *variables) global(names []string) {
	// Paid: by the tokens of the names (ADR 59).
	for _, name := range names {
		v.globals[name] = true
	}
}

// walrus collects the targets of := in a comprehension, which bind around it.
func (v *variables) walrus(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.NamedExpr:
		if t, ok := n.Target.(*syntax.Name); ok {
			v.bind(t.ID)
		}
	case *syntax.Lambda, *syntax.FunctionDef:
		return
	}
	syntax.Children(n, v.walrus)
}

// hasAwait tells whether a node awaits in the handler's own scope; awaits in
// comprehensions, which cannot be taken apart, are refused. Each node is gone through
// once: those around it ask again.
func (l *lowering) hasAwait(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FunctionDef, *syntax.AsyncFunctionDef, *syntax.Lambda, *syntax.ClassDef:
		return false
	case *syntax.Await, *syntax.AsyncFor, *syntax.AsyncWith:
		return true
	case *syntax.Name, *syntax.Constant:
		return false
	case *syntax.ListComp:
		if asyncClause(n.Generators) {
			return true
		}
	case *syntax.SetComp:
		if asyncClause(n.Generators) {
			return true
		}
	case *syntax.DictComp:
		if asyncClause(n.Generators) {
			return true
		}
	case *syntax.GeneratorExp:
		if asyncClause(n.Generators) {
			return true
		}
	}
	found, known := l.awaiting[n]
	if known {
		return found
	}
	syntax.Children(n, func(c syntax.Node) { found = found || l.hasAwait(c) })
	l.awaiting[n] = found
	return found
}

func asyncClause(cs []*syntax.Comprehension) bool {
	// Paid: by the tokens of the clauses, of which those around hold the answer (ADR 59).
	return slices.ContainsFunc(cs, func(c *syntax.Comprehension) bool { return c.IsAsync })
}

func anyAwait[N syntax.Node](l *lowering, ns []N) bool {
	// Paid: by the tokens of what stands side by side, a look-up each (ADR 59).
	return slices.ContainsFunc(ns, func(n N) bool { return l.hasAwait(n) })
}

// uses calls visit for every name that a node may read, and kills for those that
// it surely binds before anything reads them.
func uses(n syntax.Node, visit func(string)) {
	if name, ok := n.(*syntax.Name); ok && name.Ctx != syntax.Store {
		visit(name.ID)
	}
	if aug, ok := n.(*syntax.AugAssign); ok {
		if t, ok := aug.Target.(*syntax.Name); ok {
			visit(t.ID)
		}
	}
	syntax.Children(n, func(c syntax.Node) { uses(c, visit) })
}

// Small nodes of the lowering.

func name(at syntax.Pos, id string) syntax.Expr { return &syntax.Name{Pos: at, ID: id} }

func target(at syntax.Pos, id string) syntax.Expr {
	return &syntax.Name{Pos: at, ID: id, Ctx: syntax.Store}
}

func text(at syntax.Pos, s string) syntax.Expr {
	return &syntax.Constant{Pos: at, Kind: syntax.ConstStr, Text: s}
}

func none(at syntax.Pos) syntax.Expr { return &syntax.Constant{Pos: at, Kind: syntax.ConstNone} }

func assign(at syntax.Pos, id string, v syntax.Expr) syntax.Stmt {
	return &syntax.Assign{Pos: at, Targets: []syntax.Expr{target(at, id)}, Value: v}
}

// library calls a function of the library's side.
func library(at syntax.Pos, fn string, args ...syntax.Expr) syntax.Expr {
	return &syntax.Call{Pos: at, Func: &syntax.Attribute{Pos: at, Value: name(at, sdkModule), Attr: fn}, Args: args}
}
