package continuation

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// variables are the local names of a handler in the order of the source.
type variables struct {
	params   []string
	assigned []string // bound other than as parameters
	deleted  []string
	globals  []string
	code     []binding // functions, classes and modules
}

// binding is a name bound to something that cannot be stored.
type binding struct {
	name, what string
}

func (v *variables) has(name string) bool {
	return !slices.Contains(v.globals, name) && (slices.Contains(v.params, name) || slices.Contains(v.assigned, name))
}

// sure tells whether a name has a value wherever the handler is.
func (v *variables) sure(name string) bool {
	return slices.Contains(v.params, name) && !slices.Contains(v.deleted, name)
}

func (v *variables) bind(name string) {
	if name != "" && !slices.Contains(v.assigned, name) {
		v.assigned = append(v.assigned, name)
	}
}

func (v *variables) bindCode(name, what string) {
	v.bind(name)
	v.code = append(v.code, binding{name, what})
}

func localsOf(f *syntax.AsyncFunctionDef) *variables {
	v := &variables{}
	a := f.Args
	for _, list := range [][]*syntax.Arg{a.PosOnlyArgs, a.Args, {a.VarArg}, a.KwOnlyArgs, {a.KwArg}} {
		for _, p := range list {
			if p != nil {
				v.params = append(v.params, p.Arg)
			}
		}
	}
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
			v.deleted = append(v.deleted, n.ID)
		}
	case *syntax.Alias:
		bound := n.AsName
		if bound == "" {
			bound = n.Name
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
			v.deleted = append(v.deleted, n.Name)
		}
	case *syntax.Global:
		v.globals = append(v.globals, n.Names...)
	case *syntax.Nonlocal:
		v.globals = append(v.globals, n.Names...)
	case *syntax.MatchStar:
		v.bind(n.Name)
	case *syntax.MatchAs:
		v.bind(n.Name)
	case *syntax.MatchMapping:
		v.bind(n.Rest)
	}
	syntax.Children(n, v.visit)
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
// comprehensions, which cannot be taken apart, are refused.
func hasAwait(n syntax.Node) bool {
	found := false
	var visit func(syntax.Node)
	visit = func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.FunctionDef, *syntax.AsyncFunctionDef, *syntax.Lambda, *syntax.ClassDef:
			return
		case *syntax.Await, *syntax.AsyncFor, *syntax.AsyncWith:
			found = true
			return
		case *syntax.ListComp:
			found = found || asyncClause(n.Generators)
		case *syntax.SetComp:
			found = found || asyncClause(n.Generators)
		case *syntax.DictComp:
			found = found || asyncClause(n.Generators)
		case *syntax.GeneratorExp:
			found = found || asyncClause(n.Generators)
		}
		if !found {
			syntax.Children(n, visit)
		}
	}
	visit(n)
	return found
}

func asyncClause(cs []*syntax.Comprehension) bool {
	return slices.ContainsFunc(cs, func(c *syntax.Comprehension) bool { return c.IsAsync })
}

func anyAwait[N syntax.Node](ns []N) bool {
	return slices.ContainsFunc(ns, func(n N) bool { return hasAwait(n) })
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
