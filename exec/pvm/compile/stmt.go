package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func (f *unit) stmts(body []syntax.Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		mark := f.top
		f.line = s.Position().Line
		f.stmt(s)
		f.top = mark
	}
}

func (f *unit) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		f.discard(s.Value)
	case *syntax.Assign:
		f.assignStmt(s)
	case *syntax.AugAssign:
		f.augAssign(s)
	case *syntax.AnnAssign:
		f.annAssign(s)
	case *syntax.Return:
		if !f.scope.Kind.IsFunction() {
			failf(s.Pos, "'return' outside function")
		}
		f.ret(s.Value)
	case *syntax.Delete:
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, t := range s.Targets {
			f.del(t)
		}
	case *syntax.Raise:
		f.raise(s)
	case *syntax.Assert:
		f.assert(s)
	case *syntax.Import:
		f.importStmt(s)
	case *syntax.ImportFrom:
		f.importFrom(s)
	case *syntax.Pass, *syntax.Global, *syntax.Nonlocal:
	case *syntax.Break:
		f.emitExit(s.Pos, breaking, 0)
	case *syntax.Continue:
		f.emitExit(s.Pos, continuing, 0)
	default:
		f.compound(s)
	}
}

func (f *unit) compound(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.If:
		f.ifStmt(s)
	case *syntax.While:
		f.while(s)
	case *syntax.For:
		f.forStmt(s.Target, s.Iter, s.Body, s.OrElse, false)
	case *syntax.AsyncFor:
		f.suspends(s.Pos, "'async for' outside async function")
		f.forStmt(s.Target, s.Iter, s.Body, s.OrElse, true)
	case *syntax.FunctionDef:
		f.functionDef(s, s)
	case *syntax.AsyncFunctionDef:
		d := syntax.FunctionDef(*s)
		f.functionDef(s, &d)
	case *syntax.ClassDef:
		f.classDef(s)
	case *syntax.Try:
		f.try(s)
	case *syntax.TryStar:
		t := syntax.Try(*s)
		f.tryStar(&t)
	case *syntax.With:
		f.with(s.Items, s.Body, false)
	case *syntax.AsyncWith:
		f.suspends(s.Pos, "'async with' outside async function")
		f.with(s.Items, s.Body, true)
	case *syntax.Match:
		f.match(s)
	default:
		failf(s.Position(), "statement of a kind the compiler does not know")
	}
}

// discard evaluates e for its effects.
func (f *unit) discard(e syntax.Expr) {
	if _, ok := e.(*syntax.Constant); ok {
		return
	}
	f.operand(e, noHint)
}

func (f *unit) assignStmt(s *syntax.Assign) {
	if len(s.Targets) > 1 {
		r := f.alloc(1)
		f.expr(s.Value, r)
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, t := range s.Targets {
			f.assign(t, r)
		}
		return
	}
	t := s.Targets[0]
	if r, ok := f.target(t); ok {
		f.expr(s.Value, r)
		f.assigned.set(r)
		return
	}
	if f.assignEach(t, s.Value) {
		return
	}
	f.assign(t, f.operand(s.Value, noHint))
}

// assignEach is a, b = x, y without a tuple.
func (f *unit) assignEach(target, value syntax.Expr) bool {
	to, ok := elements(target)
	from, ok2 := value.(*syntax.Tuple)
	if !ok || !ok2 || len(to) != len(from.Elts) || len(to) > displayChunk || hasStar(to) || hasStar(from.Elts) {
		return false
	}
	at := f.row(from.Elts)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, t := range to {
		f.assign(t, at+i)
	}
	return true
}

func elements(e syntax.Expr) ([]syntax.Expr, bool) {
	switch e := e.(type) {
	case *syntax.Tuple:
		return e.Elts, true
	case *syntax.List:
		return e.Elts, true
	}
	return nil, false
}

// assign binds a target to what is in register src.
func (f *unit) assign(t syntax.Expr, src int) {
	mark, line := f.top, f.line
	f.line = t.Position().Line
	switch t := t.(type) {
	case *syntax.Name:
		f.storeName(t.ID, src)
	case *syntax.Attribute:
		f.emit(code.SetAttr, f.operand(t.Value, noHint), f.member(t.Attr), src)
	case *syntax.Subscript:
		obj := f.operand(t.Value, noHint)
		f.emit(code.SetItem, obj, f.operand(t.Slice, noHint), src)
	case *syntax.Tuple:
		f.unpack(t.Elts, t.Pos, src)
	case *syntax.List:
		f.unpack(t.Elts, t.Pos, src)
	case *syntax.Starred:
		failf(t.Pos, "starred assignment target must be in a list or tuple")
	default:
		failf(t.Position(), "cannot assign to this expression")
	}
	f.top, f.line = mark, line
}

func (f *unit) unpack(elts []syntax.Expr, at syntax.Pos, src int) {
	n := len(elts)
	star := -1
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, e := range elts {
		if _, ok := e.(*syntax.Starred); !ok {
			continue
		}
		if star >= 0 {
			failf(at, "multiple starred expressions in assignment")
		}
		star = i
	}
	r := f.alloc(n)
	f.emitUnpack(at, r, src, n, star)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, e := range elts {
		if s, ok := e.(*syntax.Starred); ok {
			e = s.Value
		}
		f.assign(e, r+i)
	}
}

// emitUnpack spreads src over n registers; star is the one that takes the rest,
// or -1.
func (f *unit) emitUnpack(at syntax.Pos, r, src, n, star int) {
	if star < 0 {
		f.emit(code.Unpack, r, src, n)
		return
	}
	if star > 255 {
		failf(at, "too many expressions in star-unpacking assignment")
	}
	limit(at, n-1-star, 255, "targets after a starred one")
	f.emit(code.UnpackEx, r, src, star|(n-1-star)<<8)
}

func (f *unit) augAssign(s *syntax.AugAssign) {
	op := code.IAdd + code.Op(s.Op)
	switch t := s.Target.(type) {
	case *syntax.Name:
		load := &syntax.Name{Pos: t.Pos, ID: t.ID}
		if r, ok := f.target(t); ok {
			l := f.operand(load, noHint)
			f.emit(op, r, l, f.operand(s.Value, noHint))
			f.assigned.set(r)
			return
		}
		l := f.operand(load, noHint)
		f.emit(op, l, l, f.operand(s.Value, noHint))
		f.storeName(t.ID, l)
	case *syntax.Attribute:
		obj, v, name := f.operand(t.Value, noHint), f.alloc(1), f.member(t.Attr)
		f.emit(code.GetAttr, v, obj, name)
		f.emit(op, v, v, f.operand(s.Value, noHint))
		f.emit(code.SetAttr, obj, name, v)
	case *syntax.Subscript:
		obj := f.operand(t.Value, noHint)
		key, v := f.operand(t.Slice, noHint), f.alloc(1)
		f.emit(code.GetItem, v, obj, key)
		f.emit(op, v, v, f.operand(s.Value, noHint))
		f.emit(code.SetItem, obj, key, v)
	default:
		failf(s.Pos, "illegal expression for augmented assignment")
	}
}

func (f *unit) annAssign(s *syntax.AnnAssign) {
	if s.Value != nil {
		if r, ok := f.target(s.Target); ok {
			f.expr(s.Value, r)
			f.assigned.set(r)
		} else {
			f.assign(s.Target, f.operand(s.Value, noHint))
		}
	}
	inFunction := f.scope.Kind.IsFunction()
	switch t := s.Target.(type) {
	case *syntax.Name:
		if s.Simple && !inFunction {
			f.annotate(t.ID, s.Annotation)
		}
	case *syntax.Attribute:
		if s.Value == nil {
			f.discard(t.Value)
		}
	case *syntax.Subscript:
		if s.Value == nil {
			f.discard(t.Value)
			f.discard(t.Slice)
		}
	}
	if !s.Simple && !inFunction && !f.c.textAnnotations {
		f.discard(s.Annotation)
	}
}

// annotate stores the annotation of a name in __annotations__.
func (f *unit) annotate(id string, e syntax.Expr) {
	v := f.alloc(1)
	f.annotation(e, v)
	notes, key := f.alloc(1), f.alloc(1)
	get := code.GetGlobal
	if f.scope.Kind == scope.Class {
		get = code.GetName
	}
	f.emitWide(get, notes, f.nameIndex("__annotations__"))
	f.loadConst(key, strConst(f.mangle(id)))
	f.emit(code.SetItem, notes, key, v)
}

// hasAnnotations looks for annotations of names in a body and its blocks.
func hasAnnotations(body []syntax.Stmt) bool {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		found := false
		switch s := s.(type) {
		case *syntax.AnnAssign:
			found = true
		case *syntax.If:
			found = hasAnnotations(s.Body) || hasAnnotations(s.OrElse)
		case *syntax.While:
			found = hasAnnotations(s.Body) || hasAnnotations(s.OrElse)
		case *syntax.For:
			found = hasAnnotations(s.Body) || hasAnnotations(s.OrElse)
		case *syntax.AsyncFor:
			found = hasAnnotations(s.Body) || hasAnnotations(s.OrElse)
		case *syntax.With:
			found = hasAnnotations(s.Body)
		case *syntax.AsyncWith:
			found = hasAnnotations(s.Body)
		case *syntax.Match:
			// Paid: by the tokens of what it goes through, once each (ADR 59).
			for _, c := range s.Cases {
				found = found || hasAnnotations(c.Body)
			}
		case *syntax.Try:
			found = annotatesTry(s)
		case *syntax.TryStar:
			t := syntax.Try(*s)
			found = annotatesTry(&t)
		}
		if found {
			return true
		}
	}
	return false
}

func annotatesTry(s *syntax.Try) bool {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range s.Handlers {
		if hasAnnotations(h.Body) {
			return true
		}
	}
	return hasAnnotations(s.Body) || hasAnnotations(s.OrElse) || hasAnnotations(s.FinalBody)
}

func (f *unit) del(t syntax.Expr) {
	mark := f.top
	f.line = t.Position().Line
	switch t := t.(type) {
	case *syntax.Name:
		f.deleteName(t.ID)
	case *syntax.Attribute:
		f.emitWide(code.DelAttr, f.operand(t.Value, noHint), f.member(t.Attr))
	case *syntax.Subscript:
		obj := f.operand(t.Value, noHint)
		f.emit(code.DelItem, obj, f.operand(t.Slice, noHint), 0)
	default:
		elts, ok := elements(t)
		if !ok {
			failf(t.Position(), "cannot delete this expression")
		}
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, e := range elts {
			f.del(e)
		}
	}
	f.top = mark
}

func (f *unit) raise(s *syntax.Raise) {
	switch {
	case s.Exc == nil:
		f.emit(code.Raise, 0, 0, 0)
	case s.Cause == nil:
		f.emit(code.Raise, f.operand(s.Exc, noHint), 1, 0)
	default:
		exc := f.operand(s.Exc, noHint)
		f.emit(code.Raise, exc, 2, f.operand(s.Cause, noHint))
	}
	f.dead = true
}

func (f *unit) assert(s *syntax.Assert) {
	var end label
	f.jumpIf(s.Test, true, &end)
	at := f.alloc(2)
	f.emit(code.GetAssertion, at, 0, 0)
	if s.Msg != nil {
		f.emit(code.Clear, at+1, 0, 0)
		f.expr(s.Msg, f.alloc(1))
		f.emit(code.Call, at, 1, 0)
	}
	f.emit(code.Raise, at, 1, 0)
	f.dead = true
	f.place(&end)
}
