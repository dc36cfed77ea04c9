package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// operand evaluates e and returns the register with its value: that of a local
// where it is, else hint when it is a temporary, else a new temporary.
func (f *unit) operand(e syntax.Expr, hint int) int {
	if r, ok := f.inPlace(e); ok {
		return r
	}
	if hint < 0 || !f.isTemp(hint) {
		hint = f.alloc(1)
	}
	f.expr(e, hint)
	return hint
}

const noHint = -1

// second is operand for the right side when the left one is in register l: the
// hint is free unless the left side took it.
func (f *unit) second(e syntax.Expr, l, hint int) int {
	if l == hint {
		hint = noHint
	}
	return f.operand(e, hint)
}

// partial returns a register for a value that is built in steps and read while
// it is not complete, as dst may be a local that the steps read.
func (f *unit) partial(dst int) int {
	if f.isTemp(dst) {
		return dst
	}
	return f.alloc(1)
}

// expr evaluates e into register dst, which is written last.
func (f *unit) expr(e syntax.Expr, dst int) {
	mark, line := f.top, f.line
	f.line = e.Position().Line
	if k, ok := f.c.fold(e); ok {
		f.loadConst(dst, k)
	} else {
		f.plainExpr(e, dst)
	}
	f.top, f.line = mark, line
}

func (f *unit) plainExpr(e syntax.Expr, dst int) {
	switch e := e.(type) {
	case *syntax.Name:
		f.loadName(e.ID, dst)
	case *syntax.BinOp:
		f.binary(e, dst)
	case *syntax.UnaryOp:
		op := [...]code.Op{code.Inv, code.Not, code.Pos, code.Neg}[e.Op]
		f.emit(op, dst, f.operand(e.Operand, dst), 0)
	case *syntax.Compare:
		f.compare(e, dst)
	case *syntax.BoolOp:
		f.boolean(e, dst)
	case *syntax.IfExp:
		f.conditional(e, dst)
	case *syntax.NamedExpr:
		r := f.operand(e.Value, dst)
		f.storeName(e.Target.(*syntax.Name).ID, r)
		f.move(dst, r)
	case *syntax.Call:
		f.call(e, dst)
	case *syntax.Attribute:
		f.emit(code.GetAttr, dst, f.operand(e.Value, dst), f.member(e.Attr))
	case *syntax.Subscript:
		v := f.operand(e.Value, dst)
		f.emit(code.GetItem, dst, v, f.second(e.Slice, v, dst))
	case *syntax.Slice:
		f.slice(e, dst)
	case *syntax.Starred:
		failf(e.Pos, "can't use starred expression here")
	default:
		f.display(e, dst)
	}
}

// display evaluates what makes a new object of many parts, and what suspends.
func (f *unit) display(e syntax.Expr, dst int) {
	switch e := e.(type) {
	case *syntax.Tuple:
		f.tuple(e.Elts, dst)
	case *syntax.List:
		f.list(e.Elts, dst)
	case *syntax.Set:
		f.set(e.Elts, dst)
	case *syntax.Dict:
		f.dict(e, dst)
	case *syntax.JoinedStr:
		f.joined(e, dst)
	case *syntax.FormattedValue:
		f.formatted(e, dst)
	case *syntax.Lambda:
		f.lambda(e, dst)
	case *syntax.ListComp:
		f.comprehension(e, comp{clauses: e.Generators, elt: e.Elt, kind: listComp}, dst)
	case *syntax.SetComp:
		f.comprehension(e, comp{clauses: e.Generators, elt: e.Elt, kind: setComp}, dst)
	case *syntax.DictComp:
		f.comprehension(e, comp{clauses: e.Generators, elt: e.Key, value: e.Value, kind: dictComp}, dst)
	case *syntax.GeneratorExp:
		f.comprehension(e, comp{clauses: e.Generators, elt: e.Elt, kind: genExp}, dst)
	case *syntax.Await:
		f.suspends(e.Pos, "'await' outside function")
		f.emit(code.Await, dst, f.operand(e.Value, dst), 0)
	case *syntax.Yield:
		f.suspends(e.Pos, "'yield' outside function")
		f.yield(e, dst)
	case *syntax.YieldFrom:
		f.suspends(e.Pos, "'yield' outside function")
		f.emit(code.YieldFrom, dst, f.operand(e.Value, dst), 0)
	default:
		failf(e.Position(), "expression of a kind the compiler does not know")
	}
}

func (f *unit) suspends(at syntax.Pos, msg string) {
	if !f.scope.Kind.IsFunction() {
		failf(at, "%s", msg)
	}
}

func (f *unit) yield(e *syntax.Yield, dst int) {
	if e.Value != nil {
		f.emit(code.Yield, dst, f.operand(e.Value, dst), 0)
		return
	}
	r := f.partial(dst)
	f.loadNone(r)
	f.emit(code.Yield, dst, r, 0)
}

func (f *unit) binary(e *syntax.BinOp, dst int) {
	l := f.operand(e.Left, dst)
	if n, ok := smallInt(e.Right); ok && e.Op == syntax.Add {
		f.emit(code.AddI, dst, l, n)
		return
	} else if ok && e.Op == syntax.Sub {
		f.emit(code.AddI, dst, l, -n)
		return
	}
	r := f.second(e.Right, l, dst)
	f.emit(code.Add+code.Op(e.Op), dst, l, r)
}

// boolean evaluates and, or: the last value that was looked at.
func (f *unit) boolean(e *syntax.BoolOp, dst int) {
	r := f.partial(dst)
	var end label
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, v := range e.Values {
		f.expr(v, r)
		if i < len(e.Values)-1 {
			f.branchOn(r, e.Op == syntax.Or, &end)
		}
	}
	f.place(&end)
	f.move(dst, r)
}

func (f *unit) conditional(e *syntax.IfExp, dst int) {
	var orElse, end label
	f.jumpIf(e.Test, false, &orElse)
	f.expr(e.Body, dst)
	f.jump(&end)
	f.place(&orElse)
	f.expr(e.OrElse, dst)
	f.place(&end)
}

// compare evaluates a chain, of which each middle value is evaluated once.
func (f *unit) compare(e *syntax.Compare, dst int) {
	if len(e.Ops) == 1 {
		l := f.operand(e.Left, dst)
		r := f.comparand(e.Ops[0], e.Comparators[0], l, dst)
		f.emit(code.Eq+code.Op(e.Ops[0]), dst, l, r)
		return
	}
	result := f.partial(dst)
	var end label
	l := f.operand(e.Left, noHint)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, op := range e.Ops {
		r := f.comparand(op, e.Comparators[i], l, noHint)
		f.emit(code.Eq+code.Op(op), result, l, r)
		if i < len(e.Ops)-1 {
			f.branchOn(result, false, &end)
		}
		l = r
	}
	f.place(&end)
	f.move(dst, result)
}

// comparand evaluates the right side of a comparison. A display of constants
// after in is a constant itself.
func (f *unit) comparand(op syntax.CmpOperator, e syntax.Expr, l, hint int) int {
	if op != syntax.In && op != syntax.NotIn {
		return f.second(e, l, hint)
	}
	var k code.Const
	ok := false
	switch e := e.(type) {
	case *syntax.List:
		k, ok = f.c.foldAll(e.Elts, code.Tuple)
	case *syntax.Set:
		k, ok = f.c.foldAll(e.Elts, code.FrozenSet)
	}
	if !ok {
		return f.second(e, l, hint)
	}
	r := f.alloc(1)
	f.loadConst(r, k)
	return r
}

func (f *unit) slice(e *syntax.Slice, dst int) {
	at := f.alloc(3)
	// Bounded: by the three parts of a slice.
	for i, part := range []syntax.Expr{e.Lower, e.Upper, e.Step} {
		if part == nil {
			f.loadNone(at + i)
		} else {
			f.expr(part, at+i)
		}
	}
	f.emit(code.BuildSlice, dst, at, 0)
}
