package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func (f *unit) try(s *syntax.Try) {
	if len(s.FinalBody) == 0 {
		f.tryExcept(s)
		return
	}
	f.tryFinally(s.FinalBody, func() {
		if len(s.Handlers) == 0 {
			f.stmts(s.Body)
			f.stmts(s.OrElse)
			return
		}
		f.tryExcept(s)
	})
}

// guard takes the registers of a block whose jumps wait.
func (f *unit) guard() *block {
	exc := f.alloc(4)
	return &block{kind: guardBlock, exc: exc, jump: exc + 2, value: exc + 3}
}

// tryFinally emits a body and, once, the statements that end it whatever
// happens.
func (f *unit) tryFinally(final []syntax.Stmt, body func()) {
	b := f.guard()
	f.push(b)
	r := f.openRow(b.exc)
	body()
	f.closeRow(r)
	f.pop()
	normally := !f.dead
	after := f.assigned.clone()
	var begin label
	if len(b.waiting) > 0 {
		f.loadConst(b.jump, code.Const{Kind: code.Int})
		f.place(&b.entry)
	}
	f.loadNone(b.exc)
	f.jump(&begin)
	f.line = final[0].Position().Line
	f.land(r)
	f.emit(code.Enter, b.exc, 0, 0)
	f.place(&begin)
	f.finalBody(b, final)
	if normally {
		after.or(f.assigned)
	} else {
		after = f.assigned
	}
	f.resume(b, normally)
	if !f.dead {
		f.assigned = after
	}
}

// finalBody emits a finally body. With an exception in b.exc it ends by raising
// it again, else it falls through.
func (f *unit) finalBody(b *block, final []syntax.Stmt) {
	inner := f.alloc(1)
	r := f.openRow(inner)
	f.push(&block{kind: finalBlock, exc: b.exc})
	f.stmts(final)
	f.pop()
	f.closeRow(r)
	var fine, again label
	f.branch(code.JumpIfNone, b.exc, &fine)
	f.emit(code.Leave, b.exc, 0, 0)
	f.emit(code.Reraise, b.exc, 0, 0)
	f.dead = true
	f.land(r)
	f.branch(code.JumpIfNone, b.exc, &again)
	f.emit(code.Leave, b.exc, 0, 0)
	f.place(&again)
	f.emit(code.Reraise, inner, 0, 0)
	f.dead = true
	f.place(&fine)
}

func (f *unit) tryExcept(s *syntax.Try) {
	exc, inner := f.alloc(2), f.alloc(1)
	var end, out label
	r := f.openRow(exc)
	f.stmts(s.Body)
	f.closeRow(r)
	f.stmts(s.OrElse)
	f.jump(&end)
	f.land(r)
	f.emit(code.Enter, exc, 0, 0)
	cleanup := f.openRow(inner)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, h := range s.Handlers {
		if h.Type == nil && i < len(s.Handlers)-1 {
			failf(h.Pos, "default 'except:' must be last")
		}
		f.exceptClause(h, exc, inner, &end, &out)
	}
	f.closeRow(cleanup)
	f.emit(code.Leave, exc, 0, 0)
	f.emit(code.Reraise, exc, 0, 0)
	f.dead = true
	f.land(cleanup)
	f.place(&out)
	f.emit(code.Leave, exc, 0, 0)
	f.emit(code.Reraise, inner, 0, 0)
	f.dead = true
	f.place(&end)
}

// exceptClause falls through when the exception in exc is not its. An exception
// in its body goes to out, in register inner.
func (f *unit) exceptClause(h *syntax.ExceptHandler, exc, inner int, end, out *label) {
	var next label
	f.line = h.Line
	mark := f.top
	if h.Type != nil {
		t := f.alloc(1)
		f.emit(code.MatchExc, t, exc, f.operand(h.Type, t))
		f.branchOn(t, false, &next)
		f.top = mark
	}
	var r row
	name := f.bindExcept(h.Name)
	if name != nil {
		f.storeAt(name, exc)
		r = f.openRow(inner)
	}
	f.push(&block{kind: handlerBlock, exc: exc, name: name})
	f.stmts(h.Body)
	f.pop()
	if name != nil {
		f.closeRow(r)
	}
	f.deleteExceptName(name)
	f.emit(code.Leave, exc, 0, 0)
	f.jump(end)
	if name != nil {
		f.land(r)
		f.deleteExceptName(name)
		f.jump(out)
	}
	f.place(&next)
}

// tryStar is try with except*: each clause takes its part of the group.
func (f *unit) tryStar(s *syntax.Try) {
	if len(s.FinalBody) == 0 {
		f.tryExceptStar(s)
		return
	}
	f.tryFinally(s.FinalBody, func() { f.tryExceptStar(s) })
}

func (f *unit) tryExceptStar(s *syntax.Try) {
	exc, inner := f.alloc(2), f.alloc(1)
	rest, raised := f.alloc(1), f.alloc(1)
	var end label
	r := f.openRow(exc)
	f.stmts(s.Body)
	f.closeRow(r)
	f.stmts(s.OrElse)
	f.jump(&end)
	f.land(r)
	f.emit(code.Enter, exc, 0, 0)
	cleanup := f.openRow(inner)
	f.emit(code.Move, rest, exc, 0)
	f.emit(code.BuildList, raised, raised, 0)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, h := range s.Handlers {
		f.starClause(h, rest, raised)
	}
	var all, fine label
	f.branch(code.JumpIfNone, rest, &all)
	f.emit(code.ListAppend, raised, rest, 0)
	f.place(&all)
	f.emit(code.RaiseStar, rest, exc, raised)
	f.closeRow(cleanup)
	f.emit(code.Leave, exc, 0, 0)
	f.branch(code.JumpIfNone, rest, &fine)
	f.emit(code.Reraise, rest, 0, 0)
	f.dead = true
	f.land(cleanup)
	f.emit(code.Leave, exc, 0, 0)
	f.emit(code.Reraise, inner, 0, 0)
	f.dead = true
	f.place(&fine)
	f.place(&end)
}

// starClause handles what its type takes of the exceptions in rest; what its
// body raises goes to the list in raised.
func (f *unit) starClause(h *syntax.ExceptHandler, rest, raised int) {
	mark := f.top
	f.line = h.Line
	var next label
	f.branch(code.JumpIfNone, rest, &next)
	m := f.alloc(2)
	caught := f.alloc(1)
	f.emit(code.MatchGroup, m, rest, f.operand(h.Type, noHint))
	f.move(rest, m+1)
	f.branch(code.JumpIfNone, m, &next)
	f.emit(code.Enter, m, 0, 0)
	name := f.bindExcept(h.Name)
	if name != nil {
		f.storeAt(name, m)
	}
	r := f.openRow(caught)
	f.push(&block{kind: handlerBlock, exc: m, name: name})
	f.stmts(h.Body)
	f.pop()
	f.closeRow(r)
	f.deleteExceptName(name)
	f.emit(code.Leave, m, 0, 0)
	f.jump(&next)
	f.land(r)
	f.deleteExceptName(name)
	f.emit(code.Leave, m, 0, 0)
	f.emit(code.ListAppend, raised, caught, 0)
	f.place(&next)
	f.top = mark
}

// with enters the first manager and, inside it, the others.
func (f *unit) with(items []*syntax.WithItem, body []syntax.Stmt, async bool) {
	if len(items) == 0 {
		f.stmts(body)
		return
	}
	item := items[0]
	line := item.ContextExpr.Position().Line
	f.line = line
	b := f.guard()
	leave := f.alloc(1)
	f.enterManager(item, b, leave, async)
	r := f.openRow(b.exc)
	f.push(b)
	v := b.jump // free until a jump waits
	if item.OptionalVars != nil {
		f.assign(item.OptionalVars, v)
	}
	f.with(items[1:], body, async)
	f.pop()
	f.closeRow(r)
	f.line = line
	var end label
	normally := !f.dead
	after := f.assigned.clone()
	if len(b.waiting) > 0 {
		f.loadConst(b.jump, code.Const{Kind: code.Int})
		f.place(&b.entry)
	}
	f.callExit(leave, noHint, async)
	f.resume(b, normally)
	if !f.dead {
		f.assigned = after
	}
	f.jump(&end)
	f.land(r)
	f.leaveByException(b, leave, async)
	f.place(&end)
}

// enterManager calls __enter__; its result goes to b.jump, the bound __exit__ to
// leave.
func (f *unit) enterManager(item *syntax.WithItem, b *block, leave int, async bool) {
	at := f.alloc(2)
	op := code.EnterWith
	if async {
		op = code.EnterAWith
	}
	f.emit(op, at, f.operand(item.ContextExpr, at), 0)
	f.move(leave, at)
	f.move(at, at+1)
	f.emit(code.Clear, at+1, 0, 0)
	f.emit(code.Call, at, 0, 0)
	if async {
		f.emit(code.Await, at, at, 0)
	}
	f.move(b.jump, at)
	f.top = at
}

// callExit calls the __exit__ in register leave for the exception in exc, or for
// none, and returns the register with its answer.
func (f *unit) callExit(leave, exc int, async bool) int {
	at := f.top
	f.alloc(5)
	f.move(at, leave)
	f.emit(code.Clear, at+1, 0, 0)
	if exc == noHint {
		for i := range 3 {
			f.loadNone(at + 2 + i)
		}
	} else {
		f.emit(code.ExcInfo, at+2, exc, 0)
	}
	f.emit(code.Call, at, 3, 0)
	if async {
		f.emit(code.Await, at, at, 0)
	}
	f.top = at
	return at
}

func (f *unit) leaveByException(b *block, leave int, async bool) {
	f.emit(code.Enter, b.exc, 0, 0)
	inner := f.alloc(1)
	r := f.openRow(inner)
	answer := f.callExit(leave, b.exc, async)
	var swallow label
	f.branchOn(answer, true, &swallow)
	f.closeRow(r)
	f.emit(code.Leave, b.exc, 0, 0)
	f.emit(code.Reraise, b.exc, 0, 0)
	f.dead = true
	f.land(r)
	f.emit(code.Leave, b.exc, 0, 0)
	f.emit(code.Reraise, inner, 0, 0)
	f.dead = true
	f.place(&swallow)
	f.emit(code.Leave, b.exc, 0, 0)
}
