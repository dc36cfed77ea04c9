package continuation

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// beginRegion begins a region at a block of its own.
func (l *lowering) beginRegion(at syntax.Pos, final []syntax.Stmt) *region {
	r := &region{parent: l.region, catch: l.reserveID(), loop: l.loop, final: final}
	id := l.reserveID()
	l.endBlock(at, id)
	l.region = r
	l.beginBlock(id)
	return r
}

// try lowers a try statement. Clauses that do not await are real ones, into
// which the exception is raised anew.
func (l *lowering) try(s *syntax.Try) {
	at := s.Pos
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range s.Handlers {
		l.refuseAwaits("the class of an except clause", h.Type)
	}
	done, after := l.reserveID(), l.reserveID()
	var outer, inner *region
	if s.FinalBody != nil {
		outer = l.finally(s)
	}
	if s.Handlers != nil {
		inner = l.beginRegion(at, nil)
	}
	l.stmts(s.Body)
	if inner != nil {
		rest := l.reserveID()
		l.endBlock(at, rest)
		l.region = inner.parent
		l.beginBlock(rest)
	}
	l.stmts(s.OrElse)
	l.endBlock(at, done)
	if inner != nil {
		l.beginBlock(inner.catch)
		// Paid: by the tokens of the clauses, a look-up for each statement and try (ADR 59).
		if slices.ContainsFunc(s.Handlers, func(h *syntax.ExceptHandler) bool { return slices.ContainsFunc(h.Body, l.needs) }) {
			l.handlers(s, done)
		} else {
			l.clauses(s)
			l.endBlock(at, done)
		}
	}
	switch {
	case outer == nil:
		l.beginBlock(done)
		l.endBlock(at, after)
	case outer.join != nil:
		l.region = outer.parent
		l.joined(s, outer, done, after)
	default:
		l.region = outer.parent
		l.beginBlock(outer.catch)
		l.chargeCopy(s.FinalBody)
		l.emit(&syntax.Try{Pos: at, Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, thrown)}}, FinalBody: l.finalBody(s.FinalBody, false)})
		l.endBlock(at, after)
		l.beginBlock(done)
		l.inFinal(func() { l.stmts(s.FinalBody) })
		l.endBlock(at, after)
	}
	l.beginBlock(after)
}

// finally begins the region of a finally clause.
func (l *lowering) finally(s *syntax.Try) *region {
	// Paid: by the tokens of the clause, a look-up for each statement (ADR 59).
	if !slices.ContainsFunc(s.FinalBody, l.needs) {
		return l.beginRegion(s.Pos, s.FinalBody)
	}
	j := &join{block: l.reserveID(), why: l.temp("f"), raised: l.temp("f"), kept: l.temp("f")}
	l.emit(assign(s.Pos, j.why, number(s.Pos, wentOn)), assign(s.Pos, j.raised, none(s.Pos)), assign(s.Pos, j.kept, none(s.Pos)))
	r := l.beginRegion(s.Pos, s.FinalBody)
	r.join = j
	return r
}

// joined lowers a finally clause that awaits and sends control on from its end.
func (l *lowering) joined(s *syntax.Try, r *region, done, after int) {
	at, j := s.Pos, r.join
	l.beginBlock(r.catch)
	l.emit(assign(at, j.raised, name(at, thrown)), assign(at, j.why, number(at, wasRaised)))
	l.endBlock(at, j.block)
	l.beginBlock(done)
	l.endBlock(at, j.block)
	l.beginBlock(j.block)
	l.inFinal(func() { l.stmts(s.FinalBody) })
	is := func(n int) syntax.Expr {
		return &syntax.Compare{Pos: at, Left: name(at, j.why), Ops: []syntax.CmpOperator{syntax.Eq}, Comparators: []syntax.Expr{number(at, n)}}
	}
	l.emit(&syntax.If{Pos: at, Test: is(wasRaised), Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, j.raised)}}})
	// Bounded: by the ways out of a region, 3: return, and break and continue of the loop around it.
	for i, e := range r.exits {
		var body []syntax.Stmt
		if e.target == returnTarget {
			body = append(body, assign(at, returned, name(at, j.kept)))
		}
		body = append(body, l.jump(at, l.through(at, r.parent, e.stop, e.target))...)
		l.emit(&syntax.If{Pos: at, Test: is(firstExit + i), Body: body})
	}
	l.endBlock(at, after)
}

// handlers lowers except clauses of which one awaits: a real try statement
// chooses the clause, whose body are blocks of their own.
func (l *lowering) handlers(s *syntax.Try, done int) {
	at, held := s.Pos, l.temp("h")
	l.emit(assign(at, held, name(at, thrown)))
	choice := &syntax.Try{Pos: at, Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, held)}}}
	var ids []int
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range s.Handlers {
		id := l.reserveID()
		ids = append(ids, id)
		choice.Handlers = append(choice.Handlers, &syntax.ExceptHandler{Pos: h.Pos, Type: h.Type, Body: l.jump(h.Pos, id)})
	}
	l.emit(choice)
	l.endBlock(at, done)
	handled := l.handled
	l.handled = held
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, h := range s.Handlers {
		l.beginBlock(ids[i])
		l.handler(h, held)
		l.endBlock(h.Pos, done)
	}
	l.handled = handled
}

// handler lowers the body of a clause; its name is unbound however it ends.
func (l *lowering) handler(h *syntax.ExceptHandler, held string) {
	if h.Name == "" {
		l.stmts(h.Body)
		return
	}
	at := h.Pos
	unbind := []syntax.Stmt{
		assign(at, h.Name, none(at)),
		&syntax.Delete{Pos: at, Targets: []syntax.Expr{&syntax.Name{Pos: at, ID: h.Name, Ctx: syntax.Del}}},
	}
	l.emit(assign(at, h.Name, name(at, held)))
	r := l.beginRegion(at, unbind)
	l.stmts(h.Body)
	done, after := l.reserveID(), l.reserveID()
	l.endBlock(at, done)
	l.region = r.parent
	l.beginBlock(r.catch)
	l.emit(&syntax.Try{Pos: at, Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, thrown)}}, FinalBody: unbind})
	l.endBlock(at, after)
	l.beginBlock(done)
	l.emit(unbind...)
	l.endBlock(at, after)
	l.beginBlock(after)
}

// noRaise as the handled exception refuses a bare raise: in a finally clause it
// would raise what is on its way, or else what the clauses around handle.
const noRaise = "."

// inFinal lowers within a finally clause.
func (l *lowering) inFinal(fill func()) {
	handled := l.handled
	l.handled = noRaise
	fill()
	l.handled = handled
}

// finalBody rewrites a finally clause.
func (l *lowering) finalBody(ss []syntax.Stmt, inLoop bool) []syntax.Stmt {
	var out []syntax.Stmt
	l.inFinal(func() { out = l.rewrite(ss, inLoop) })
	return out
}

// chargeCopy pays for a finally clause that stands once more: for a way out, or for
// exceptions.
func (l *lowering) chargeCopy(ss []syntax.Stmt) {
	n := 0
	// Paid: by the tokens of the clause, the first time; then by the copies, half a unit a node.
	for _, s := range ss {
		n += l.size(s)
	}
	l.charge(n / 2)
}

// size is how many nodes a statement of a finally clause has, which are gone through once.
func (l *lowering) size(s syntax.Stmt) int {
	size, known := l.nodes[s]
	if known {
		return size
	}
	var visit func(syntax.Node)
	visit = func(n syntax.Node) {
		size++
		syntax.Children(n, visit)
	}
	visit(s)
	l.nodes[s] = size
	return size
}

// clauses emits the except clauses around the exception.
func (l *lowering) clauses(s *syntax.Try) {
	caught := &syntax.Try{Pos: s.Pos, Body: []syntax.Stmt{&syntax.Raise{Pos: s.Pos, Exc: name(s.Pos, thrown)}}}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range s.Handlers {
		copied := *h
		caught.Handlers = append(caught.Handlers, &copied)
	}
	caught.Handlers = l.rewriteHandlers(caught.Handlers, false)
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
	r := l.beginRegion(at, []syntax.Stmt{&syntax.ExprStmt{Pos: at, Value: leave}})
	if item.OptionalVars != nil {
		l.emit(&syntax.Assign{Pos: at, Targets: []syntax.Expr{item.OptionalVars}, Value: name(at, value)})
	}
	l.with(s, items[1:])
	done, after := l.reserveID(), l.reserveID()
	l.endBlock(at, done)
	l.region = r.parent
	l.beginBlock(done)
	l.emit(r.final...)
	l.endBlock(at, after)
	l.beginBlock(r.catch)
	l.emit(&syntax.With{
		Pos: at, Items: []*syntax.WithItem{{ContextExpr: library(at, "leaving", name(at, manager))}},
		Body: []syntax.Stmt{&syntax.Raise{Pos: at, Exc: name(at, thrown)}},
	})
	l.endBlock(at, after)
	l.beginBlock(after)
}

// rewrite copies statements that stay as they are, with jumps that leave them
// turned into jumps between blocks. inLoop: break and continue belong to a loop
// among them.
func (l *lowering) rewrite(ss []syntax.Stmt, inLoop bool) []syntax.Stmt {
	var out []syntax.Stmt
	// Paid: by the tokens of the statements; those of a finally clause by chargeCopy for each way out (ADR 59, 148).
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
	case *syntax.Raise:
		if s.Exc == nil && l.handled != "" {
			if l.handled == noRaise {
				refuse(s, "raise without an exception in a finally clause of a handler that waits for runners")
			}
			return []syntax.Stmt{&syntax.Raise{Pos: s.Pos, Exc: name(s.Pos, l.handled)}}
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
		// Paid: by the tokens of the cases, like the statements around them (ADR 59).
		for _, m := range s.Cases {
			c.Cases = append(c.Cases, &syntax.MatchCase{Pattern: m.Pattern, Guard: m.Guard, Body: l.rewrite(m.Body, inLoop)})
		}
		return []syntax.Stmt{&c}
	case *syntax.Try:
		c := *s
		c.Body, c.OrElse, c.FinalBody = l.rewrite(s.Body, inLoop), l.rewrite(s.OrElse, inLoop), l.finalBody(s.FinalBody, inLoop)
		c.Handlers = l.rewriteHandlers(s.Handlers, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.TryStar:
		c := *s
		c.Body, c.OrElse, c.FinalBody = l.rewrite(s.Body, inLoop), l.rewrite(s.OrElse, inLoop), l.finalBody(s.FinalBody, inLoop)
		c.Handlers = l.rewriteHandlers(s.Handlers, inLoop)
		return []syntax.Stmt{&c}
	case *syntax.Global:
		return nil // stands at the head of the step function
	}
	return []syntax.Stmt{s}
}

func (l *lowering) rewriteHandlers(hs []*syntax.ExceptHandler, inLoop bool) []*syntax.ExceptHandler {
	var out []*syntax.ExceptHandler
	handled := l.handled
	l.handled = "" // a bare raise is a real one
	// Paid: by the tokens of the clauses, like the statements around them (ADR 59).
	for _, h := range hs {
		c := *h
		c.Body = l.rewrite(h.Body, inLoop)
		out = append(out, &c)
	}
	l.handled = handled
	return out
}

// through returns the block to jump to in order to get from a region to target,
// which lies in region stop: each finally clause on the way runs.
func (l *lowering) through(at syntax.Pos, from, stop *region, target int) int {
	// Bounded: by the regions around a statement, fewer than Limits.Depth of the syntax, 200.
	for from != stop && from != nil && from.final == nil {
		from = from.parent
	}
	if from == stop || from == nil {
		if target == returnTarget {
			return l.aside(nil, nil, func() { l.emit(&syntax.Return{Pos: at, Value: name(at, returned)}) })
		}
		return target
	}
	// Bounded: by the ways out of a region, 3: return, and break and continue of the loop around it.
	for _, e := range from.exits {
		if e.target == target {
			return e.block
		}
	}
	id := l.aside(from.parent, from.loop, func() {
		if j := from.join; j != nil {
			l.emit(assign(at, j.why, number(at, firstExit+len(from.exits))))
			if target == returnTarget {
				l.emit(assign(at, j.kept, name(at, returned)))
			}
			l.endBlock(at, j.block)
			return
		}
		l.chargeCopy(from.final)
		l.emit(l.finalBody(from.final, false)...)
		l.endBlock(at, l.through(at, from.parent, stop, target))
	})
	from.exits = append(from.exits, exit{target, id, stop})
	return id
}

// aside makes a block elsewhere.
func (l *lowering) aside(r *region, lp *loop, fill func()) int {
	current, region, loop := l.current, l.region, l.loop
	id := l.reserveID()
	l.region, l.loop = r, lp
	l.beginBlock(id)
	fill()
	l.current, l.region, l.loop = current, region, loop
	return id
}
