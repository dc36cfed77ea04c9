package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// child begins the unit of a function, lambda, comprehension or class in f.
func (f *unit) child(node syntax.Node, name string, at syntax.Pos) *unit {
	s := f.c.table.Scope(node)
	if s == nil {
		failf(at, "scope of %s is not in the table", name)
	}
	g := f.c.newUnit(f, s, name, at)
	g.obj.QualName = f.qualify(name, s.Kind)
	f.c.nameBytes += len(g.obj.QualName)
	limit(at, f.c.nameBytes, f.c.lim.NameBytes, "bytes of qualified names")
	switch {
	case s.Kind == scope.Class:
		g.obj.Flags |= code.ClassBody
	case s.AsyncGenerator():
		g.obj.Flags |= code.AsyncGenerator
	case s.Generator:
		g.obj.Flags |= code.Generator
	case s.Coroutine:
		g.obj.Flags |= code.Coroutine
	}
	return g
}

// qualify returns the __qualname__ of what is defined in f.
func (f *unit) qualify(name string, kind scope.Kind) string {
	if f.parent == nil {
		return name
	}
	if kind == scope.Function || kind == scope.Class {
		if sym := f.scope.Lookup(f.mangle(name)); sym != nil && sym.Resolution == scope.GlobalExplicit {
			return name
		}
	}
	if f.scope.Kind == scope.Class {
		return f.obj.QualName + "." + name
	}
	return f.obj.QualName + ".<locals>." + name
}

func (f *unit) setParameters(a *syntax.Arguments) {
	o := f.obj
	o.PosOnly, o.Args, o.KwOnly = len(a.PosOnlyArgs), len(a.PosOnlyArgs)+len(a.Args), len(a.KwOnlyArgs)
	if a.VarArg != nil {
		o.Flags |= code.VarArgs
	}
	if a.KwArg != nil {
		o.Flags |= code.VarKeywords
	}
}

func (f *unit) functionDef(node syntax.Node, d *syntax.FunctionDef) {
	if f.dead {
		return
	}
	mark, at := f.top, d.Pos
	if len(d.DecoratorList) > 0 {
		at = d.DecoratorList[0].Position()
	}
	first := f.decorators(d.DecoratorList)
	f.line = d.Line
	g := f.child(node, d.Name, at)
	g.setParameters(d.Args)
	body := d.Body
	if text, ok := docstring(body); ok {
		g.obj.Doc, g.obj.HasDoc = text, true
		body = body[1:]
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		g.scan(s)
	}
	r := f.alloc(1)
	f.prepare(d.Args, d.Returns, r)
	g.stmts(body)
	f.makeFunction(g.finish(), g.scope, r)
	f.decorate(d.DecoratorList, first)
	if len(d.DecoratorList) > 0 {
		r = first
	}
	f.line = d.Line
	f.storeName(d.Name, r)
	f.top = mark
}

// decorators evaluates decorators, each laid out for a call whose argument is
// the result of the next one's.
func (f *unit) decorators(list []syntax.Expr) int {
	first := f.top
	for _, e := range list {
		at := f.alloc(2)
		f.expr(e, at)
		f.line = e.Position().Line
		f.emit(code.Clear, at+1, 0, 0)
	}
	return first
}

func (f *unit) decorate(list []syntax.Expr, first int) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i := len(list) - 1; i >= 0; i-- {
		f.line = list[i].Position().Line
		f.emit(code.Call, first+2*i, 1, 0)
	}
}

func (f *unit) lambda(e *syntax.Lambda, dst int) {
	if f.dead {
		return
	}
	g := f.child(e, "<lambda>", e.Pos)
	g.setParameters(e.Args)
	g.scan(e.Body)
	r := f.temp(dst)
	f.prepare(e.Args, nil, r)
	g.ret(e.Body)
	f.makeFunction(g.close(), g.scope, r)
	f.move(dst, r)
}

// temp returns dst when the registers after it are free, else a temporary of
// which that is so.
func (f *unit) temp(dst int) int {
	if f.isTemp(dst) && dst == f.top-1 {
		return dst
	}
	return f.alloc(1)
}

// prepare evaluates defaults and annotations into r, r+1 and r+2. Register r is
// the last in use, and stays that.
func (f *unit) prepare(a *syntax.Arguments, returns syntax.Expr, r int) {
	f.alloc(3)
	if len(a.Defaults) > 0 {
		f.tupleAt(a.Defaults, r)
	} else {
		f.emit(code.Clear, r, 0, 0)
	}
	var names []string
	var values []syntax.Expr
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, d := range a.KwDefaults {
		if d != nil {
			names = append(names, f.mangle(a.KwOnlyArgs[i].Arg))
			values = append(values, d)
		}
	}
	f.namedDict(names, values, r+1, f.expr)
	names, values = nil, nil
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, p := range parameters(a) {
		if p.Annotation != nil {
			names = append(names, f.mangle(p.Arg))
			values = append(values, p.Annotation)
		}
	}
	if returns != nil {
		names = append(names, "return")
		values = append(values, returns)
	}
	f.namedDict(names, values, r+2, f.annotation)
	f.top = r + 1
}

// tupleAt is tuple, with constants folded.
func (f *unit) tupleAt(elts []syntax.Expr, dst int) {
	mark := f.top
	if k, ok := f.c.foldAll(elts, code.Tuple); ok {
		f.loadConst(dst, k)
	} else {
		f.tuple(elts, dst)
	}
	f.top = mark
}

// namedDict makes a dict of names and values in register dst, or clears it.
func (f *unit) namedDict(names []string, values []syntax.Expr, dst int, eval func(syntax.Expr, int)) {
	if len(names) == 0 {
		f.emit(code.Clear, dst, 0, 0)
		return
	}
	mark := f.top
	if len(names) > displayChunk/2 {
		f.emit(code.BuildDict, dst, dst, 0)
		for i, n := range names {
			pair := f.alloc(2)
			f.loadConst(pair, strConst(n))
			eval(values[i], pair+1)
			f.emit(code.DictPut, dst, pair, pair+1)
			f.top = mark
		}
		return
	}
	for i, n := range names {
		pair := f.alloc(2)
		f.loadConst(pair, strConst(n))
		eval(values[i], pair+1)
	}
	f.emit(code.BuildDict, dst, mark, len(names))
	f.top = mark
}

// annotation evaluates an annotation, or makes it text.
func (f *unit) annotation(e syntax.Expr, dst int) {
	if f.c.textAnnotations {
		f.loadConst(dst, strConst(unparse(e)))
		return
	}
	if s, ok := e.(*syntax.Starred); ok { // *args: *Ts
		mark := f.top
		r := f.alloc(1)
		f.emit(code.Unpack, r, f.operand(s.Value, noHint), 1)
		f.move(dst, r)
		f.top = mark
		return
	}
	f.expr(e, dst)
}

// makeFunction makes the function of a finished object in register r; what
// prepare left is in r to r+2.
func (f *unit) makeFunction(o *code.Object, s *scope.Scope, r int) {
	if f.dead {
		return
	}
	mark := f.top
	f.top = r + 1
	f.alloc(3)
	frees := s.Frees()
	if len(frees) == 0 {
		f.emit(code.Clear, r+3, 0, 0)
	} else {
		at := f.alloc(len(frees))
		// Paid: by the names that pass through the scope, 50 cycles each (ADR 59).
		for i, sym := range frees {
			if sym.Owner == f.scope {
				f.emit(code.Move, at+i, f.locals[sym.Name], 0)
			} else {
				f.emit(code.FreeRef, at+i, f.frees[sym.Name], 0)
			}
		}
		f.emit(code.BuildTuple, r+3, at, len(frees))
	}
	f.obj.Codes = append(f.obj.Codes, o)
	f.emit(code.MakeFunction, r, len(f.obj.Codes)-1, 0)
	f.top = mark
}

// plainFunction clears what prepare would evaluate.
func (f *unit) plainFunction(r int) {
	mark := f.top
	f.top = r + 1
	f.alloc(2)
	for i := range 3 {
		f.emit(code.Clear, r+i, 0, 0)
	}
	f.top = mark
}

func (f *unit) classDef(d *syntax.ClassDef) {
	if f.dead {
		return
	}
	mark, pos := f.top, d.Pos
	if len(d.DecoratorList) > 0 {
		pos = d.DecoratorList[0].Position()
	}
	first := f.decorators(d.DecoratorList)
	f.line = d.Line
	g := f.child(d, d.Name, pos)
	g.classBody(d)
	at := f.alloc(2)
	f.emit(code.BuildClass, at, 0, 0)
	f.emit(code.Clear, at+1, 0, 0)
	body := f.alloc(1)
	f.plainFunction(body)
	f.makeFunction(g.close(), g.scope, body)
	f.loadConst(f.alloc(1), strConst(d.Name))
	f.arguments(d.Bases, d.Keywords, at, 2)
	f.decorate(d.DecoratorList, first)
	r := at
	if len(d.DecoratorList) > 0 {
		r = first
	}
	f.line = d.Line
	f.storeName(d.Name, r)
	f.top = mark
}

func (f *unit) classBody(d *syntax.ClassDef) {
	set := func(name string, src int) { f.emitWide(code.SetName, src, f.nameIndex(name)) }
	r := f.alloc(1)
	f.line = d.Line
	f.emitWide(code.GetName, r, f.nameIndex("__name__"))
	set("__module__", r)
	f.loadConst(r, strConst(f.obj.QualName))
	set("__qualname__", r)
	body := d.Body
	if hasAnnotations(body) {
		f.emit(code.SetAnnotations, 0, 0, 0)
	}
	if text, ok := docstring(body); ok {
		f.obj.Doc, f.obj.HasDoc = text, true
		f.line = body[0].Position().Line
		f.loadConst(r, strConst(text))
		set("__doc__", r)
		body = body[1:]
	}
	f.top = r
	f.stmts(body)
	if cell, ok := f.locals["__class__"]; ok {
		set("__classcell__", cell)
		f.emit(code.Return, cell, 0, 0)
		f.dead = true
		return
	}
	f.finish()
}
