package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// compKind tells the kinds of comprehensions.
type compKind uint8

const (
	listComp compKind = iota
	setComp
	dictComp
	genExp
)

var compNames = [...]string{"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}

// comp is a comprehension; value is nil but for dicts.
type comp struct {
	clauses    []*syntax.Comprehension
	elt, value syntax.Expr
	kind       compKind
}

// comprehension makes the function of a comprehension and calls it with the
// iterator of the first clause, which is evaluated out here.
func (f *unit) comprehension(e syntax.Expr, c comp, dst int) {
	if f.dead {
		return
	}
	g := f.child(e, compNames[c.kind], e.Position())
	g.obj.Args = 1
	g.compBody(c)
	at := f.callBase(dst)
	f.plainFunction(at)
	f.makeFunction(g.close(), g.scope, at)
	f.emit(code.Clear, at+1, 0, 0)
	f.top = at + 2
	arg := f.alloc(1)
	op := code.GetIter
	if c.clauses[0].IsAsync {
		op = code.GetAIter
	}
	f.emit(op, arg, f.operand(c.clauses[0].Iter, arg), 0)
	f.emit(code.Call, at, 1, 0)
	if g.scope.Coroutine && !g.scope.Generator {
		f.emit(code.Await, at, at, 0)
	}
	f.move(dst, at)
}

func (f *unit) compBody(c comp) {
	result := f.alloc(1)
	switch c.kind {
	case listComp:
		f.emit(code.BuildList, result, result, 0)
	case setComp:
		f.emit(code.BuildSet, result, result, 0)
	case dictComp:
		f.emit(code.BuildDict, result, result, 0)
	case genExp:
		f.loadNone(result)
	}
	f.clause(c, 0, result)
	f.emit(code.Return, result, 0, 0)
}

// clause is the loop of clause i with what is inside it.
func (f *unit) clause(c comp, i, result int) {
	if i == len(c.clauses) {
		f.element(c, result)
		return
	}
	mark := f.top
	cl := c.clauses[i]
	it := 0 // the parameter
	if i > 0 {
		it = f.alloc(1)
		op := code.GetIter
		if cl.IsAsync {
			op = code.GetAIter
		}
		f.emit(op, it, f.operand(cl.Iter, it), 0)
	}
	l := f.beginLoop(it, cl.Target, cl.IsAsync)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, cond := range cl.Ifs {
		f.jumpIf(cond, false, &l.next)
	}
	f.clause(c, i+1, result)
	f.endLoop(l)
	f.top = mark
}

func (f *unit) element(c comp, result int) {
	mark := f.top
	f.line = c.elt.Position().Line
	switch c.kind {
	case listComp:
		f.emit(code.ListAppend, result, f.operand(c.elt, noHint), 0)
	case setComp:
		f.emit(code.SetAdd, result, f.operand(c.elt, noHint), 0)
	case dictComp:
		key := f.operand(c.elt, noHint)
		f.emit(code.DictPut, result, key, f.operand(c.value, noHint))
	case genExp:
		r := f.operand(c.elt, noHint)
		f.emit(code.Yield, f.alloc(1), r, 0)
	}
	f.top = mark
}

// loop is a for loop being compiled: next is its head, end the place after it
// when the iterator is exhausted.
type loop struct {
	next, end label
	async     bool
	row       row
	caught    int
}

// beginLoop emits the head of a loop over the iterator in register it, up to the
// assignment of the target.
func (f *unit) beginLoop(it int, target syntax.Expr, async bool) *loop {
	l := &loop{async: async}
	f.line = target.Position().Line
	if !async {
		f.placeHead(&l.next)
		if r, ok := f.target(target); ok {
			f.branch2(code.ForIter, it, r, 0, &l.end)
			f.assigned.set(r)
			return l
		}
		mark := f.top
		r := f.alloc(1)
		f.branch2(code.ForIter, it, r, 0, &l.end)
		f.assign(target, r)
		f.top = mark
		return l
	}
	l.caught = f.alloc(1)
	mark := f.top
	r := f.alloc(1)
	f.placeHead(&l.next)
	l.row = f.openRow(l.caught)
	f.emit(code.GetANext, r, it, 0)
	f.emit(code.Await, r, r, 0)
	f.closeRow(l.row)
	f.assign(target, r)
	f.top = mark
	return l
}

// endLoop jumps back to the head and goes on where the iterator is exhausted.
func (f *unit) endLoop(l *loop) {
	f.jump(&l.next)
	if l.async {
		f.land(l.row)
		f.emit(code.EndAsync, l.caught, 0, 0)
	}
	f.place(&l.end)
}

// placeHead places a label that later jumps go back to. What is sure here is
// sure there.
func (f *unit) placeHead(l *label) {
	l.placed, l.at = true, len(f.obj.Instrs)
	f.barrier = l.at
}
