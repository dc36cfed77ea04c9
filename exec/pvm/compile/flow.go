package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// exit is a reason to leave blocks.
type exit uint8

const (
	returning exit = iota
	breaking
	continuing
)

// blockKind tells what has to happen when a jump leaves a block.
type blockKind uint8

const (
	loopBlock    blockKind = iota // break and continue end here
	guardBlock                    // body of try-finally or with: the jump waits in registers
	finalBlock                    // a finally body: an exception that waits in exc is dropped
	handlerBlock                  // an except clause: its name is unbound, the exception no longer handled
)

// block is a block around the place of the walk.
type block struct {
	kind         blockKind
	onBreak      *label
	onContinue   *label
	exc          int      // register of the exception; the one after it holds the one before
	name         *binding // of an except clause, or nil
	jump         int      // register with the number of the jump that waits, 0 for none
	value        int      // register with the value that return waits with
	entry        label    // where jumps that wait begin to leave a guardBlock
	waiting      []exit   // by number, from 1
	waitingLines []int32
}

func (f *unit) push(b *block) { f.blocks = append(f.blocks, b) }

func (f *unit) pop() { f.blocks = f.blocks[:len(f.blocks)-1] }

// ret returns the value of e, or None.
func (f *unit) ret(e syntax.Expr) {
	mark := f.top
	var r int
	switch {
	case e == nil:
		r = f.alloc(1)
		f.loadNone(r)
	case f.mustUnwind():
		r = f.alloc(1) // a finally body may rebind a local
		f.expr(e, r)
	default:
		r = f.operand(e, noHint)
	}
	f.emitExit(posAt(f.line), returning, r)
	f.top = mark
}

func (f *unit) mustUnwind() bool {
	// Bounded: by the loops around, which have a level of indentation each, 100.
	for _, b := range f.blocks {
		if b.kind != loopBlock {
			return true
		}
	}
	return false
}

// emitExit jumps out of the blocks around this place. A return has its value in
// register r. Where nothing comes to, it costs nothing: syntax.Check has refused the
// jumps that have no place to go, so that one token pays for each (ADR 59).
func (f *unit) emitExit(at syntax.Pos, why exit, r int) {
	if f.dead {
		return
	}
	// Bounded: by the levels of indentation, 100. Managers of one with nest up to some 800
	// blocks without any, by their registers, but the first of those ends the loop.
	for i := len(f.blocks) - 1; i >= 0; i-- {
		b := f.blocks[i]
		switch b.kind {
		case loopBlock:
			if why == breaking {
				f.jump(b.onBreak)
				return
			}
			if why == continuing {
				f.jump(b.onContinue)
				return
			}
		case handlerBlock:
			f.deleteExceptName(b.name)
			f.emit(code.Leave, b.exc, 0, 0)
		case finalBlock:
			f.dropException(b.exc)
		case guardBlock:
			f.wait(b, why, r)
			return
		}
	}
	switch why {
	case breaking:
		failf(at, "'break' outside loop")
	case continuing:
		failf(at, "'continue' not properly in loop")
	}
	f.emit(code.Return, r, 0, 0)
	f.dead = true
}

// dropException ends the handling of the exception that a finally body was
// entered with, if any.
func (f *unit) dropException(exc int) {
	var none label
	f.branch(code.JumpIfNone, exc, &none)
	f.emit(code.Leave, exc, 0, 0)
	f.place(&none)
}

// wait leaves a guarded body: the jump goes on when its guard is done.
func (f *unit) wait(b *block, why exit, r int) {
	n := 0
	// Bounded: by the kinds of exits, three.
	for i, w := range b.waiting {
		if w == why {
			n = i + 1
		}
	}
	if n == 0 {
		b.waiting = append(b.waiting, why)
		b.waitingLines = append(b.waitingLines, f.line)
		n = len(b.waiting)
	}
	if why == returning {
		f.move(b.value, r)
	}
	f.loadConst(b.jump, code.Const{Kind: code.Int, Int64: int64(n)})
	f.jump(&b.entry)
}

// resume goes on with the jump that waits in b, or falls through without one,
// which is possible when the body of b may end normally. The block is no longer
// around this place.
func (f *unit) resume(b *block, normally bool) {
	if len(b.waiting) == 0 {
		return
	}
	var none label
	if normally {
		f.branchOn(b.jump, false, &none)
	}
	for i, why := range b.waiting {
		var next label
		f.line = b.waitingLines[i]
		if i < len(b.waiting)-1 {
			mark := f.top
			k := f.alloc(1)
			f.loadConst(k, code.Const{Kind: code.Int, Int64: int64(i + 1)})
			f.branchCompare(syntax.Eq, b.jump, k, false, &next)
			f.top = mark
		}
		f.emitExit(posAt(f.line), why, b.value)
		f.place(&next)
	}
	f.place(&none)
}

func (f *unit) ifStmt(s *syntax.If) {
	var orElse, end label
	f.jumpIf(s.Test, false, &orElse)
	f.stmts(s.Body)
	if len(s.OrElse) > 0 {
		f.jump(&end)
	}
	f.place(&orElse)
	f.stmts(s.OrElse)
	f.place(&end)
}

// while tests at the end of the body, so that a round costs one jump.
func (f *unit) while(s *syntax.While) {
	var body, test, end label
	truth, constant := f.c.truthOf(s.Test)
	reachable, state := !f.dead, f.assigned.clone()
	if !constant {
		f.jump(&test)
	}
	f.placeBack(&body, reachable && (!constant || truth), state)
	f.push(&block{kind: loopBlock, onBreak: &end, onContinue: &test})
	f.stmts(s.Body)
	f.pop()
	f.place(&test)
	f.line = s.Line
	if constant {
		if truth {
			f.jump(&body)
		} else {
			f.dead = !reachable
			f.assigned = state
		}
	} else {
		f.jumpIf(s.Test, true, &body)
	}
	f.stmts(s.OrElse)
	f.place(&end)
}

func (f *unit) forStmt(target, iter syntax.Expr, body, orElse []syntax.Stmt, async bool) {
	it := f.alloc(1)
	op := code.GetIter
	if async {
		op = code.GetAIter
	}
	f.emit(op, it, f.operand(iter, it), 0)
	l := f.beginLoop(it, target, async)
	var end label
	f.push(&block{kind: loopBlock, onBreak: &end, onContinue: &l.next})
	f.stmts(body)
	f.pop()
	f.line = target.Position().Line
	f.endLoop(l)
	f.stmts(orElse)
	f.place(&end)
}
