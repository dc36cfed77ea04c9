package continuation

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// expr emits what an expression awaits and returns an expression for the rest.
func (l *lowering) expr(e syntax.Expr) syntax.Expr {
	if e == nil || !l.hasAwait(e) {
		return e
	}
	switch e := e.(type) {
	case *syntax.Await:
		return l.await(e)
	case *syntax.BoolOp:
		return l.boolOp(e)
	case *syntax.IfExp:
		return l.ifExp(e)
	case *syntax.NamedExpr:
		return &syntax.NamedExpr{Pos: e.Pos, Target: e.Target, Value: l.expr(e.Value)}
	case *syntax.BinOp:
		es := l.exprs(e.Left, e.Right)
		return &syntax.BinOp{Pos: e.Pos, Left: es[0], Op: e.Op, Right: es[1]}
	case *syntax.UnaryOp:
		return &syntax.UnaryOp{Pos: e.Pos, Op: e.Op, Operand: l.expr(e.Operand)}
	case *syntax.Compare:
		if len(e.Ops) > 1 {
			return l.chain(e)
		}
		es := l.exprs(e.Left, e.Comparators[0])
		return &syntax.Compare{Pos: e.Pos, Left: es[0], Ops: e.Ops, Comparators: es[1:]}
	case *syntax.Call:
		return l.call(e)
	case *syntax.Attribute:
		return &syntax.Attribute{Pos: e.Pos, Value: l.expr(e.Value), Attr: e.Attr, Ctx: e.Ctx}
	case *syntax.Subscript:
		es := l.exprs(e.Value, e.Slice)
		return &syntax.Subscript{Pos: e.Pos, Value: es[0], Slice: es[1], Ctx: e.Ctx}
	case *syntax.Slice:
		es := l.exprs(e.Lower, e.Upper, e.Step)
		return &syntax.Slice{Pos: e.Pos, Lower: es[0], Upper: es[1], Step: es[2]}
	default:
		return l.display(e)
	}
}

func (l *lowering) display(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Starred:
		return &syntax.Starred{Pos: e.Pos, Value: l.expr(e.Value), Ctx: e.Ctx}
	case *syntax.Tuple:
		return &syntax.Tuple{Pos: e.Pos, Elts: l.exprs(e.Elts...), Ctx: e.Ctx}
	case *syntax.List:
		return &syntax.List{Pos: e.Pos, Elts: l.exprs(e.Elts...), Ctx: e.Ctx}
	case *syntax.Set:
		return &syntax.Set{Pos: e.Pos, Elts: l.exprs(e.Elts...)}
	case *syntax.Dict:
		var all []syntax.Expr
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for i, k := range e.Keys {
			all = append(all, k, e.Values[i])
		}
		all = l.exprs(all...)
		out := &syntax.Dict{Pos: e.Pos}
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for i := 0; i < len(all); i += 2 {
			out.Keys, out.Values = append(out.Keys, all[i]), append(out.Values, all[i+1])
		}
		return out
	case *syntax.JoinedStr:
		return &syntax.JoinedStr{Pos: e.Pos, Values: l.exprs(e.Values...)}
	case *syntax.FormattedValue:
		es := l.exprs(e.Value, e.FormatSpec)
		return &syntax.FormattedValue{Pos: e.Pos, Value: es[0], Conversion: e.Conversion, FormatSpec: es[1]}
	}
	return l.comprehension(e)
}

// comprehension lowers the first iterable, which is evaluated around the
// comprehension. Nothing else of one can be taken apart.
func (l *lowering) comprehension(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.ListComp:
		return &syntax.ListComp{Pos: e.Pos, Elt: e.Elt, Generators: l.generators(e.Generators, e.Elt)}
	case *syntax.SetComp:
		return &syntax.SetComp{Pos: e.Pos, Elt: e.Elt, Generators: l.generators(e.Generators, e.Elt)}
	case *syntax.DictComp:
		return &syntax.DictComp{Pos: e.Pos, Key: e.Key, Value: e.Value, Generators: l.generators(e.Generators, e.Key, e.Value)}
	case *syntax.GeneratorExp:
		return &syntax.GeneratorExp{Pos: e.Pos, Elt: e.Elt, Generators: l.generators(e.Generators, e.Elt)}
	}
	refuse(firstAwait(e), "await in an expression that cannot be taken apart")
	return nil
}

func (l *lowering) generators(cs []*syntax.Comprehension, parts ...syntax.Expr) []*syntax.Comprehension {
	// Paid: by the tokens of the clauses, once each (ADR 59).
	for i, c := range cs {
		if c.IsAsync {
			refuse(parts[0], "an asynchronous comprehension in a handler that waits for runners")
		}
		if i > 0 {
			parts = append(parts, c.Iter)
		}
		parts = append(parts, c.Target)
		parts = append(parts, c.Ifs...)
	}
	l.refuseAwaits("a comprehension", parts...)
	first := *cs[0]
	first.Iter = l.expr(first.Iter)
	return append([]*syntax.Comprehension{&first}, cs[1:]...)
}

// exprs lowers expressions that are evaluated one after the other: those before
// the last await are kept in variables.
func (l *lowering) exprs(es ...syntax.Expr) []syntax.Expr {
	last := -1
	// Paid: by the tokens of what stands side by side, a look-up each (ADR 59).
	for i, e := range es {
		if e != nil && l.hasAwait(e) {
			last = i
		}
	}
	out := make([]syntax.Expr, len(es))
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, e := range es {
		switch {
		case e == nil:
		case i < last:
			out[i] = l.spill(e)
		default:
			out[i] = l.expr(e)
		}
	}
	return out
}

// spill evaluates an expression now and returns the variable with its value.
func (l *lowering) spill(e syntax.Expr) syntax.Expr {
	at := e.Position()
	switch e := e.(type) {
	case *syntax.Constant, *syntax.Name:
		return e
	case *syntax.Starred:
		list := &syntax.List{Pos: at, Elts: []syntax.Expr{&syntax.Starred{Pos: at, Value: l.expr(e.Value)}}}
		return &syntax.Starred{Pos: at, Value: l.spill(list)}
	case *syntax.FormattedValue:
		return &syntax.FormattedValue{Pos: at, Conversion: -1, Value: l.spill(&syntax.JoinedStr{Pos: at, Values: []syntax.Expr{l.expr(e)}})}
	case *syntax.Slice:
		es := make([]syntax.Expr, 3)
		// Bounded: by the parts of a slice, 3.
		for i, x := range []syntax.Expr{e.Lower, e.Upper, e.Step} {
			if x != nil {
				es[i] = l.spill(x)
			}
		}
		return &syntax.Slice{Pos: at, Lower: es[0], Upper: es[1], Step: es[2]}
	}
	t := l.temp("t")
	l.emit(assign(at, t, l.expr(e)))
	return name(at, t)
}

// spillLookup is spill for what is looked up later: names and chains of attributes stay
// as they are.
func (l *lowering) spillLookup(e syntax.Expr) syntax.Expr {
	switch v := e.(type) {
	case *syntax.Name:
		return v
	case *syntax.Attribute:
		return &syntax.Attribute{Pos: v.Pos, Value: l.spillLookup(v.Value), Attr: v.Attr}
	}
	return l.spill(e)
}

func (l *lowering) call(e *syntax.Call) syntax.Expr {
	es := append([]syntax.Expr(nil), e.Args...)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, k := range e.Keywords {
		es = append(es, k.Value)
	}
	out := &syntax.Call{Pos: e.Pos, Func: e.Func}
	if anyAwait(l, es) {
		out.Func = l.spillLookup(e.Func)
	} else {
		out.Func = l.expr(e.Func)
	}
	es = l.exprs(es...)
	out.Args = es[:len(e.Args):len(e.Args)]
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, k := range e.Keywords {
		out.Keywords = append(out.Keywords, &syntax.Keyword{Pos: k.Pos, Arg: k.Arg, Value: es[len(e.Args)+i]})
	}
	return out
}

// boolOp evaluates one value after the other, as long as they do not decide.
func (l *lowering) boolOp(e *syntax.BoolOp) syntax.Expr {
	t := l.temp("t")
	after := l.reserveID()
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, v := range e.Values {
		l.emit(assign(e.Pos, t, l.expr(v)))
		if i == len(e.Values)-1 {
			break
		}
		next := l.reserveID()
		if e.Op == syntax.And {
			l.branch(e.Pos, name(e.Pos, t), next, after)
		} else {
			l.branch(e.Pos, name(e.Pos, t), after, next)
		}
		l.beginBlock(next)
	}
	l.endBlock(e.Pos, after)
	l.beginBlock(after)
	return name(e.Pos, t)
}

// chain compares one pair after the other, as long as they hold; each operand is
// evaluated once.
func (l *lowering) chain(e *syntax.Compare) syntax.Expr {
	t := l.temp("t")
	after := l.reserveID()
	left := l.spill(e.Left)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, op := range e.Ops {
		right := l.spill(e.Comparators[i])
		l.emit(assign(e.Pos, t, &syntax.Compare{Pos: e.Pos, Left: left, Ops: []syntax.CmpOperator{op}, Comparators: []syntax.Expr{right}}))
		if i == len(e.Ops)-1 {
			break
		}
		next := l.reserveID()
		l.branch(e.Pos, name(e.Pos, t), next, after)
		l.beginBlock(next)
		left = right
	}
	l.endBlock(e.Pos, after)
	l.beginBlock(after)
	return name(e.Pos, t)
}

func (l *lowering) ifExp(e *syntax.IfExp) syntax.Expr {
	t := l.temp("t")
	yes, no, after := l.reserveID(), l.reserveID(), l.reserveID()
	l.branch(e.Pos, l.expr(e.Test), yes, no)
	// Bounded: by the two branches.
	for _, b := range []struct {
		id int
		e  syntax.Expr
	}{{yes, e.Body}, {no, e.OrElse}} {
		l.beginBlock(b.id)
		l.emit(assign(e.Pos, t, l.expr(b.e)))
		l.endBlock(e.Pos, after)
	}
	l.beginBlock(after)
	return name(e.Pos, t)
}

// await ends a block with the suspension and begins the one that the answer
// resumes.
func (l *lowering) await(e *syntax.Await) syntax.Expr {
	v := l.expr(e.Value)
	if len(l.awaits) == l.lim.Awaits {
		refuse(e, "more than %d awaits in a handler that waits for runners", l.lim.Awaits)
	}
	l.emit(assign(e.Pos, awaited, v))
	a := &await{at: e.Pos, label: len(l.awaits) + 1, from: l.current, index: len(l.current.stmts)}
	l.awaits = append(l.awaits, a)
	l.emit(&syntax.Pass{Pos: e.Pos}, assign(e.Pos, outcome, library(e.Pos, "run", name(e.Pos, awaited))))
	l.endBlock(e.Pos, a.label)
	l.beginBlock(a.label)
	a.block = l.current
	t := l.temp("a")
	l.emit(assign(e.Pos, t, library(e.Pos, "take", name(e.Pos, outcome))), assign(e.Pos, outcome, none(e.Pos)))
	return name(e.Pos, t)
}
