package continuation

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func (l *lowering) stmts(ss []syntax.Stmt) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range ss {
		if l.needs(s) {
			l.stmt(s)
		} else {
			l.emit(l.rewrite([]syntax.Stmt{s}, false)...)
		}
	}
}

// needs tells whether a statement must be taken apart: it awaits, or it returns
// through a finally clause from within a loop.
func (l *lowering) needs(s syntax.Stmt) bool {
	return l.hasAwait(s) || l.final(nil) && l.loopReturns(s, false)
}

// final tells whether control that goes out to stop passes a finally clause.
func (l *lowering) final(stop *region) bool {
	// Bounded: by the regions around a statement, fewer than Limits.Depth of the syntax, 200.
	for r := l.region; r != stop && r != nil; r = r.parent {
		if r.final != nil {
			return true
		}
	}
	return false
}

// inLoop is a node and whether a loop is around it.
type inLoop struct {
	node syntax.Node
	is   bool
}

// loopReturns tells whether a node returns from within a loop; as hasAwait, each is gone
// through once.
func (l *lowering) loopReturns(n syntax.Node, loop bool) bool {
	switch n.(type) {
	case *syntax.Return:
		return loop
	case *syntax.For, *syntax.While:
		loop = true
	case *syntax.If, *syntax.With, *syntax.Try, *syntax.TryStar, *syntax.ExceptHandler, *syntax.Match:
	case *syntax.AsyncFor, *syntax.AsyncWith:
	default: // no statement within it returns from the handler
		return false
	}
	found, known := l.returning[inLoop{n, loop}]
	if known {
		return found
	}
	syntax.Children(n, func(c syntax.Node) { found = found || l.loopReturns(c, loop) })
	l.returning[inLoop{n, loop}] = found
	return found
}

func (l *lowering) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		v := l.expr(s.Value)
		l.emit(&syntax.ExprStmt{Pos: s.Pos, Value: v})
	case *syntax.Assign:
		l.refuseAwaits("an assignment's target", s.Targets...)
		l.emit(&syntax.Assign{Pos: s.Pos, Targets: s.Targets, Value: l.expr(s.Value)})
	case *syntax.AnnAssign:
		l.refuseAwaits("an annotation or an assignment's target", s.Target, s.Annotation)
		v := l.expr(s.Value)
		l.emit(&syntax.AnnAssign{Pos: s.Pos, Target: s.Target, Annotation: s.Annotation, Value: v, Simple: s.Simple})
	case *syntax.AugAssign:
		l.augAssign(s)
	case *syntax.Return:
		l.emit(l.rewrite([]syntax.Stmt{&syntax.Return{Pos: s.Pos, Value: l.expr(s.Value)}}, false)...)
	case *syntax.Raise:
		es := l.exprs(s.Exc, s.Cause)
		l.emit(&syntax.Raise{Pos: s.Pos, Exc: es[0], Cause: es[1]})
	case *syntax.Assert:
		l.refuseAwaits("the message of an assertion", s.Msg)
		l.emit(&syntax.Assert{Pos: s.Pos, Test: l.expr(s.Test), Msg: s.Msg})
	case *syntax.If:
		l.ifStmt(s)
	case *syntax.While:
		l.while(s)
	case *syntax.For:
		l.forLoop(s)
	case *syntax.Try:
		l.try(s)
	case *syntax.With:
		l.with(s, s.Items)
	case *syntax.Match:
		l.match(s)
	case *syntax.AsyncFor, *syntax.AsyncWith:
		refuse(s, "asynchronous loops and managers cannot wait for runners")
	default:
		refuse(s, "an await cannot stand in this statement of a handler that waits for runners")
	}
}

// refuseAwaits refuses awaits where the lowering has no place for them.
func (l *lowering) refuseAwaits(where string, es ...syntax.Expr) {
	// Paid: by the tokens of what stands side by side, a look-up each (ADR 59).
	for _, e := range es {
		if e != nil && l.hasAwait(e) {
			refuse(firstAwait(e), "await in %s of a handler that waits for runners", where)
		}
	}
}

func firstAwait(n syntax.Node) syntax.Node {
	var found syntax.Node
	var visit func(syntax.Node)
	visit = func(n syntax.Node) {
		if _, ok := n.(*syntax.Await); ok && found == nil {
			found = n
		}
		if found == nil {
			syntax.Children(n, visit)
		}
	}
	visit(n)
	if found == nil {
		return n
	}
	return found
}

func (l *lowering) augAssign(s *syntax.AugAssign) {
	l.refuseAwaits("an assignment's target", s.Target)
	var load, store syntax.Expr
	switch t := s.Target.(type) {
	case *syntax.Name:
		load, store = name(t.Pos, t.ID), t
	case *syntax.Attribute:
		v := l.spillLookup(t.Value)
		load = &syntax.Attribute{Pos: t.Pos, Value: v, Attr: t.Attr}
		store = &syntax.Attribute{Pos: t.Pos, Value: v, Attr: t.Attr, Ctx: syntax.Store}
	case *syntax.Subscript:
		v, i := l.spillLookup(t.Value), l.spill(t.Slice)
		load = &syntax.Subscript{Pos: t.Pos, Value: v, Slice: i}
		store = &syntax.Subscript{Pos: t.Pos, Value: v, Slice: i, Ctx: syntax.Store}
	default:
		refuse(s, "an await cannot stand in this assignment")
	}
	old := l.temp("t")
	l.emit(assign(s.Pos, old, load))
	v := l.expr(s.Value)
	l.emit(
		&syntax.AugAssign{Pos: s.Pos, Target: target(s.Pos, old), Op: s.Op, Value: v},
		&syntax.Assign{Pos: s.Pos, Targets: []syntax.Expr{store}, Value: name(s.Pos, old)},
	)
}

func (l *lowering) ifStmt(s *syntax.If) {
	yes, no, after := l.reserveID(), l.reserveID(), l.reserveID()
	l.branch(s.Pos, l.expr(s.Test), yes, no)
	l.beginBlock(yes)
	l.stmts(s.Body)
	l.endBlock(s.Pos, after)
	l.beginBlock(no)
	l.stmts(s.OrElse)
	l.endBlock(s.Pos, after)
	l.beginBlock(after)
}

func (l *lowering) while(s *syntax.While) {
	head, body, no, after := l.reserveID(), l.reserveID(), l.reserveID(), l.reserveID()
	l.endBlock(s.Pos, head)
	l.beginBlock(head)
	l.branch(s.Pos, l.expr(s.Test), body, no)
	l.body(s.Pos, body, head, after, s.Body)
	l.beginBlock(no)
	l.stmts(s.OrElse)
	l.endBlock(s.Pos, after)
	l.beginBlock(after)
}

// body lowers the body of a loop.
func (l *lowering) body(at syntax.Pos, id, again, exit int, ss []syntax.Stmt) {
	l.loop = &loop{parent: l.loop, again: again, exit: exit, region: l.region}
	l.beginBlock(id)
	l.stmts(ss)
	l.endBlock(at, again)
	l.loop = l.loop.parent
}

func (l *lowering) forLoop(s *syntax.For) {
	l.refuseAwaits("a loop's target", s.Target)
	items, index := l.temp("t"), l.temp("t")
	head, step, no, after := l.reserveID(), l.reserveID(), l.reserveID(), l.reserveID()
	at := s.Pos
	l.emit(assign(at, items, library(at, "items", l.expr(s.Iter))), assign(at, index, number(at, 0)))
	l.endBlock(at, head)
	l.beginBlock(head)
	l.branch(at, library(at, "more", name(at, items), name(at, index)), step, no)
	first := []syntax.Stmt{
		&syntax.Assign{Pos: at, Targets: []syntax.Expr{s.Target}, Value: &syntax.Subscript{Pos: at, Value: name(at, items), Slice: name(at, index)}},
		assign(at, index, &syntax.BinOp{Pos: at, Left: name(at, index), Op: syntax.Add, Right: number(at, 1)}),
	}
	l.body(at, step, head, after, append(first, s.Body...))
	l.beginBlock(no)
	l.stmts(s.OrElse)
	l.endBlock(at, after)
	l.beginBlock(after)
}

func (l *lowering) match(s *syntax.Match) {
	copied := *s
	copied.Subject = l.expr(s.Subject)
	copied.Cases = nil
	after := l.reserveID()
	var ids []int
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, c := range s.Cases {
		l.refuseAwaits("a guard", c.Guard)
		id := l.reserveID()
		ids = append(ids, id)
		copied.Cases = append(copied.Cases, &syntax.MatchCase{Pattern: c.Pattern, Guard: c.Guard, Body: l.jump(s.Pos, id)})
	}
	l.emit(&copied)
	l.endBlock(s.Pos, after)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, c := range s.Cases {
		l.beginBlock(ids[i])
		l.stmts(c.Body)
		l.endBlock(s.Pos, after)
	}
	l.beginBlock(after)
}
