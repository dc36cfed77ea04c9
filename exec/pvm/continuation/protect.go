package continuation

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// enter begins a region at a block of its own.
func (l *lowering) enter(at syntax.Pos, final []syntax.Stmt) *region {
	r := &region{parent: l.region, catch: l.reserve(), loop: l.loop, final: final}
	id := l.reserve()
	l.leave(at, id)
	l.region = r
	l.begin(id)
	return r
}

// try lowers a try statement whose body or else clause awaits. Its clauses are
// real ones, into which the exception is raised anew.
func (l *lowering) try(s *syntax.Try) {
	at := s.Pos
	for _, h := range s.Handlers {
		if hasAwait(h) {
			refuse(firstAwait(h), "await in an except clause of a handler that waits for runners")
		}
	}
	if anyAwait(s.FinalBody) {
		for _, f := range s.FinalBody {
			if hasAwait(f) {
				refuse(firstAwait(f), "await in a finally clause of a handler that waits for runners")
			}
		}
	}
	done, after := l.reserve(), l.reserve()
	var outer, inner *region
	if s.FinalBody != nil {
		outer = l.enter(at, s.FinalBody)
	}
	if s.Handlers != nil {
		inner = l.enter(at, nil)
	}
	l.stmts(s.Body)
	if inner != nil {
		rest := l.reserve()
		l.leave(at, rest)
		l.region = inner.parent
		l.begin(rest)
	}
	l.stmts(s.OrElse)
	l.leave(at, done)
	if inner != nil {
		l.begin(inner.catch)
		l.clauses(s)
		l.leave(at, done)
	}
	if outer != nil {
		l.region = outer.parent
		l.begin(outer.catch)
		l.emit(&syntax.Try{Pos: at, Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, thrown)}}, FinalBody: l.rewrite(s.FinalBody, false)})
		l.leave(at, after)
	}
	l.begin(done)
	l.stmts(s.FinalBody)
	l.leave(at, after)
	l.begin(after)
}

// clauses emits the except clauses around the exception.
func (l *lowering) clauses(s *syntax.Try) {
	caught := &syntax.Try{Pos: s.Pos, Body: []syntax.Stmt{&syntax.Raise{Pos: s.Pos, Exc: name(s.Pos, thrown)}}}
	for _, h := range s.Handlers {
		copied := *h
		copied.Body = l.rewrite(h.Body, false)
		caught.Handlers = append(caught.Handlers, &copied)
	}
	l.emit(caught)
}

// with lowers a with statement: its managers are entered and left by hand.
func (l *lowering) with(s *syntax.With, items []*syntax.WithItem) {
	if len(items) == 0 {
		l.stmts(s.Body)
		return
	}
	at, item := s.Pos, items[0]
	l.refuseAwaits("the target of a with statement", item.OptionalVars)
	manager, value := l.temp("t"), l.temp("t")
	l.emit(assign(at, manager, l.expr(item.ContextExpr)))
	l.emit(assign(at, value, library(at, "enter", name(at, manager))))
	leave := library(at, "leave", name(at, manager))
	r := l.enter(at, []syntax.Stmt{&syntax.ExprStmt{Pos: at, Value: leave}})
	if item.OptionalVars != nil {
		l.emit(&syntax.Assign{Pos: at, Targets: []syntax.Expr{item.OptionalVars}, Value: name(at, value)})
	}
	l.with(s, items[1:])
	done, after := l.reserve(), l.reserve()
	l.leave(at, done)
	l.region = r.parent
	l.begin(done)
	l.emit(r.final...)
	l.leave(at, after)
	l.begin(r.catch)
	l.emit(&syntax.With{
		Pos: at, Items: []*syntax.WithItem{{ContextExpr: library(at, "leaving", name(at, manager))}},
		Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, thrown)}},
	})
	l.leave(at, after)
	l.begin(after)
}

// rewrite copies statements that stay as they are, with jumps that leave them
// turned into jumps between blocks. inLoop: break and continue belong to a loop
// among them.
func (l *lowering) rewrite(ss []syntax.Stmt, inLoop bool) []syntax.Stmt {
	var out []syntax.Stmt
	for _, s := range ss {
		out = append(out, l.rewritten(s, inLoop)...)
	}
	return out
}

func (l *lowering) rewritten(s syntax.Stmt, inLoop bool) []syntax.Stmt {
	switch s := s.(type) {
	case *syntax.Return:
		if l.final(nil) {
			if inLoop {
				refuse(s, "return from a loop in a clause, through finally, in a handler that waits for runners")
			}
			v := s.Value
			if v == nil {
				v = none(s.Pos)
			}
			return append([]syntax.Stmt{assign(s.Pos, returned, v)}, l.jump(s.Pos, l.through(s.Pos, l.region, nil, returnTarget))...)
		}
	case *syntax.Break:
		if !inLoop {
			return l.jump(s.Pos, l.through(s.Pos, l.region, l.loop.region, l.loop.exit))
		}
	case *syntax.Continue:
		if !inLoop {
			return l.jump(s.Pos, l.through(s.Pos, l.region, l.loop.region, l.loop.again))
		}
	case *syntax.If:
		c := *s
		c.Body, c.OrElse = l.rewrite(s.Body, inLoop), l.rewrite(s.OrElse, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.For:
		c := *s
		c.Body, c.OrElse = l.rewrite(s.Body, true), l.rewrite(s.OrElse, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.While:
		c := *s
		c.Body, c.OrElse = l.rewrite(s.Body, true), l.rewrite(s.OrElse, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.With:
		c := *s
		c.Body = l.rewrite(s.Body, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.Match:
		c := *s
		c.Cases = nil
		for _, m := range s.Cases {
			c.Cases = append(c.Cases, &syntax.MatchCase{Pattern: m.Pattern, Guard: m.Guard, Body: l.rewrite(m.Body, inLoop)})
		}
		return []syntax.Stmt{&c}
	case *syntax.Try:
		c := *s
		c.Body, c.OrElse, c.FinalBody = l.rewrite(s.Body, inLoop), l.rewrite(s.OrElse, inLoop), l.rewrite(s.FinalBody, inLoop)
		c.Handlers = l.rewriteHandlers(s.Handlers, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.TryStar:
		c := *s
		c.Body, c.OrElse, c.FinalBody = l.rewrite(s.Body, inLoop), l.rewrite(s.OrElse, inLoop), l.rewrite(s.FinalBody, inLoop)
		c.Handlers = l.rewriteHandlers(s.Handlers, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.Global:
		return nil // stands at the head of the step function
	}
	return []syntax.Stmt{s}
}

func (l *lowering) rewriteHandlers(hs []*syntax.ExceptHandler, inLoop bool) []*syntax.ExceptHandler {
	var out []*syntax.ExceptHandler
	for _, h := range hs {
		c := *h
		c.Body = l.rewrite(h.Body, inLoop)
		out = append(out, &c)
	}
	return out
}

// through returns the block to jump to in order to get from a region to target,
// which lies in region stop: each finally clause on the way runs.
func (l *lowering) through(at syntax.Pos, from, stop *region, target int) int {
	for from != stop && from != nil && from.final == nil {
		from = from.parent
	}
	if from == stop || from == nil {
		if target == returnTarget {
			return l.aside(nil, nil, func() { l.emit(&syntax.Return{Pos: at, Value: name(at, returned)}) })
		}
		return target
	}
	for _, e := range from.exits {
		if e.target == target {
			return e.block
		}
	}
	id := l.aside(from.parent, from.loop, func() {
		l.emit(l.rewrite(from.final, false)...)
		l.leave(at, l.through(at, from.parent, stop, target))
	})
	from.exits = append(from.exits, exit{target, id})
	return id
}

// aside makes a block elsewhere.
func (l *lowering) aside(r *region, lp *loop, fill func()) int {
	current, region, loop := l.current, l.region, l.loop
	id := l.reserve()
	l.region, l.loop = r, lp
	l.begin(id)
	fill()
	l.current, l.region, l.loop = current, region, loop
	return id
}
