package continuation

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Names that the lowering uses; no program has any with a dot.
const (
	sdkModule  = ".c"   // module cowboy_sdk.continuation
	pcName     = ".pc"  // the next block
	captured   = ".cap" // variables of a resumed handler
	outcome    = ".r"   // of the await that a block begins with
	awaited    = ".q"   // value of an await
	thrown     = ".x"   // exception on its way to a clause
	caught     = ".e"   // the same while it is caught
	returned   = ".ret" // value on its way through finally
	stored     = ".s"   // variables of a handler about to be suspended
	stepPrefix = "."    // before the qualified name of the handler
	firstBlock = 1000   // numbers below are awaits, and 0 the beginning
)

// Source is compile.Source for the programs of actors: handlers under
// @runner.continuation are transformed. An error of the transformation is an
// [*Error].
func Source(src []byte, file string, lim compile.Limits, own Limits) (*code.Object, error) {
	mod, err := syntax.Parse(src, lim.Syntax)
	if err != nil {
		return nil, err
	}
	if _, err := scope.Analyze(mod, lim.Scope); err != nil {
		return nil, err
	}
	if err := syntax.Check(mod); err != nil {
		return nil, err
	}
	if mod, err = Transform(mod, own, nil); err != nil {
		return nil, err
	}
	table, err := scope.Analyze(mod, lim.Scope)
	if err != nil {
		return nil, err
	}
	return compile.Compile(mod, table, file, lim)
}

// Transform returns the tree with its handlers transformed; a tree without any
// is returned as it is. The tree is one that syntax.Check took. pay is asked to pay for
// what is made beyond half as many units as the source has tokens, before it is made,
// and may end it with an error; nil pays for all. A statement is a unit, and so are 16
// bytes of a method's name with its class, and two nodes of a finally clause that is copied; a
// block is 2 or 5, and a variable that is stored at an await 2 or 8. Loops within loops are
// gone through once for each, which is paid by the words that are read.
func Transform(mod *syntax.Module, lim Limits, pay func(units int) error) (out *syntax.Module, err error) {
	t := &transformer{
		lim: lim, pay: pay, free: mod.Tokens / 2, runners: map[string]bool{}, modules: map[string]bool{},
		done: map[*syntax.AsyncFunctionDef]bool{}, names: map[string]bool{},
	}
	t.imports(mod.Body)
	defer func() {
		if r := recover(); r != nil {
			switch e := r.(type) {
			case *Error:
				out, err = nil, e
			case unpaid:
				out, err = nil, e.err
			default:
				panic(r)
			}
		}
	}()
	body := t.module(mod.Body)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range mod.Body {
		t.stray(s)
	}
	if len(t.done) == 0 {
		return mod, nil
	}
	return &syntax.Module{Body: withImport(body)}, nil
}

type transformer struct {
	lim     Limits
	pay     func(units int) error
	free    int             // units that are still paid for by the tokens
	runners map[string]bool // names of runner, looked up
	modules map[string]bool // names of cowboy_sdk, looked up
	done    map[*syntax.AsyncFunctionDef]bool
	names   map[string]bool // of handlers, looked up
}

// unpaid ends a transformation that is not paid for.
type unpaid struct{ err error }

// charge pays for what is made, before it is made or the next handler is looked at.
func (t *transformer) charge(units int) {
	covered := min(units, t.free)
	t.free -= covered
	if units > covered && t.pay != nil {
		if err := t.pay(units - covered); err != nil {
			panic(unpaid{err})
		}
	}
}

// imports finds under which names the program knows runner.
func (t *transformer) imports(body []syntax.Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		switch s := s.(type) {
		case *syntax.ImportFrom:
			if s.Module != "cowboy_sdk" || s.Level != 0 {
				continue
			}
			// Paid: by the tokens of what it goes through, once each (ADR 59).
			for _, a := range s.Names {
				switch {
				case a.Name == "*":
					t.runners["runner"] = true
				case a.Name == "runner" && a.AsName == "":
					t.runners[a.Name] = true
				case a.Name == "runner":
					t.runners[a.AsName] = true
				}
			}
		case *syntax.Import:
			// Paid: by the tokens of what it goes through, once each (ADR 59).
			for _, a := range s.Names {
				if a.Name != "cowboy_sdk" {
					continue
				}
				if a.AsName == "" {
					a = &syntax.Alias{AsName: a.Name}
				}
				t.modules[a.AsName] = true
			}
		}
	}
}

// marker tells whether an expression is runner.continuation.
func (t *transformer) marker(e syntax.Expr) bool {
	a, ok := e.(*syntax.Attribute)
	if !ok || a.Attr != "continuation" {
		return false
	}
	switch v := a.Value.(type) {
	case *syntax.Name:
		return t.runners[v.ID]
	case *syntax.Attribute:
		n, ok := v.Value.(*syntax.Name)
		return ok && v.Attr == "runner" && t.modules[n.ID]
	}
	return false
}

func (t *transformer) module(body []syntax.Stmt) []syntax.Stmt {
	var out []syntax.Stmt
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		switch s := s.(type) {
		case *syntax.AsyncFunctionDef:
			out = append(out, t.function(s, nil)...)
		case *syntax.ClassDef:
			out = append(out, t.class(s))
		default:
			out = append(out, s)
		}
	}
	return out
}

func (t *transformer) class(c *syntax.ClassDef) syntax.Stmt {
	copied := *c
	copied.Body = nil
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range c.Body {
		if f, ok := s.(*syntax.AsyncFunctionDef); ok {
			copied.Body = append(copied.Body, t.function(f, c)...)
			continue
		}
		copied.Body = append(copied.Body, s)
	}
	return &copied
}

// stray refuses the decorator where nothing would transform the function.
func (t *transformer) stray(n syntax.Node) {
	var decorators []syntax.Expr
	switch n := n.(type) {
	case *syntax.AsyncFunctionDef:
		if !t.done[n] {
			decorators = n.DecoratorList
		}
	case *syntax.FunctionDef:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, d := range n.DecoratorList {
			if t.marker(d) {
				refuse(n, "@runner.continuation needs an async function")
			}
		}
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	if slices.ContainsFunc(decorators, t.marker) {
		refuse(n, "@runner.continuation is for functions of the module and methods of its classes")
	}
	syntax.Children(n, t.stray)
}

// function answers what takes the place of an async function: itself, or its
// request handler and its step function.
func (t *transformer) function(f *syntax.AsyncFunctionDef, class *syntax.ClassDef) []syntax.Stmt {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	if !slices.ContainsFunc(f.DecoratorList, t.marker) {
		return []syntax.Stmt{f}
	}
	t.done[f] = true
	name := f.Name
	if class != nil {
		t.charge((len(class.Name) + len(f.Name)) / 16)
		name = class.Name + "." + f.Name
	}
	if t.names[name] {
		refuse(f, "handler '%s' is defined twice", name)
	}
	t.names[name] = true
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	decorators := slices.DeleteFunc(slices.Clone(f.DecoratorList), t.marker)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, d := range decorators {
		if n, ok := d.(*syntax.Name); ok && (n.ID == "staticmethod" || n.ID == "classmethod") {
			refuse(f, "a handler that waits for runners is a plain method")
		}
	}
	l := newLowering(f, name, t.lim)
	l.charge = t.charge
	if n := len(l.locals.params) + len(l.locals.assigned); n > t.lim.Variables {
		refuse(f, "more than %d variables in a handler that waits for runners", t.lim.Variables)
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range f.Body {
		refuseYield(s)
	}
	if class != nil {
		l.self = firstParam(f)
		if l.locals.bound[l.self] {
			refuse(f, "'%s' is assigned to in a handler that waits for runners", l.self)
		}
	}
	step := l.stepFunction(f)
	return []syntax.Stmt{l.request(f, decorators), step}
}

func refuseYield(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.FunctionDef, *syntax.AsyncFunctionDef, *syntax.Lambda, *syntax.ClassDef:
		return
	case *syntax.Yield:
		refuse(n, "a generator cannot wait for runners")
	}
	syntax.Children(n, refuseYield)
}

func firstParam(f *syntax.AsyncFunctionDef) string {
	// Bounded: by the kinds of parameters, 2.
	for _, list := range [][]*syntax.Arg{f.Args.PosOnlyArgs, f.Args.Args} {
		if len(list) > 0 {
			return list[0].Arg
		}
	}
	refuse(f, "a method needs a first parameter")
	return ""
}

// request is the function that callers see: it begins the steps.
func (l *lowering) request(f *syntax.AsyncFunctionDef, decorators []syntax.Expr) syntax.Stmt {
	at := f.Pos
	vars := &syntax.Dict{Pos: at}
	// Paid: by the tokens of the parameters, at most 256 (ADR 59).
	for _, p := range l.locals.params {
		if p != l.self {
			vars.Keys = append(vars.Keys, text(at, p))
			vars.Values = append(vars.Values, name(at, p))
		}
	}
	var step syntax.Expr = name(at, stepPrefix+l.name)
	if l.self != "" {
		step = &syntax.Attribute{Pos: at, Value: name(at, l.self), Attr: stepPrefix + l.name}
	}
	var body []syntax.Stmt
	if doc := docstring(f.Body); doc != nil {
		body = append(body, doc)
	}
	body = append(body, &syntax.Return{Pos: at, Value: &syntax.Call{
		Pos: at, Func: step, Args: []syntax.Expr{number(at, 0), vars, none(at)},
	}})
	return &syntax.FunctionDef{
		Pos: at, Name: f.Name, Args: f.Args, Body: body, DecoratorList: decorators, Returns: f.Returns,
	}
}

func docstring(body []syntax.Stmt) syntax.Stmt {
	if len(body) > 0 {
		if e, ok := body[0].(*syntax.ExprStmt); ok {
			if k, ok := e.Value.(*syntax.Constant); ok && k.Kind == syntax.ConstStr {
				return e
			}
		}
	}
	return nil
}

// withImport puts the import of the library's side behind the docstring and the
// imports from __future__.
func withImport(body []syntax.Stmt) []syntax.Stmt {
	i := 0
	if docstring(body) != nil {
		i = 1
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i < len(body) {
		f, ok := body[i].(*syntax.ImportFrom)
		if !ok || f.Module != "__future__" {
			break
		}
		i++
	}
	at := syntax.Pos{Line: 1}
	imp := &syntax.ImportFrom{Pos: at, Module: "cowboy_sdk", Names: []*syntax.Alias{{Pos: at, Name: "continuation", AsName: sdkModule}}}
	// Paid: by the tokens of the statements of the module, once a program (ADR 59).
	return slices.Insert(slices.Clone(body), i, syntax.Stmt(imp))
}
