package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// jumpIf continues at l if the truth of e is cond, else after it.
func (f *unit) jumpIf(e syntax.Expr, cond bool, l *label) {
	mark, line := f.top, f.line
	f.line = e.Position().Line
	if truth, ok := f.c.truthOf(e); ok {
		if truth == cond {
			f.jump(l)
		}
	} else {
		f.condition(e, cond, l)
	}
	f.top, f.line = mark, line
}

func (f *unit) condition(e syntax.Expr, cond bool, l *label) {
	switch e := e.(type) {
	case *syntax.UnaryOp:
		if e.Op == syntax.Not {
			f.jumpIf(e.Operand, !cond, l)
			return
		}
	case *syntax.BoolOp:
		f.jumpIfAny(e, cond, l)
		return
	case *syntax.IfExp:
		var orElse, end label
		f.jumpIf(e.Test, false, &orElse)
		f.jumpIf(e.Body, cond, l)
		f.jump(&end)
		f.place(&orElse)
		f.jumpIf(e.OrElse, cond, l)
		f.place(&end)
		return
	case *syntax.Compare:
		f.compareJump(e, cond, l)
		return
	}
	f.branchOn(f.operand(e, noHint), cond, l)
}

// jumpIfAny is jumpIf of and, or. A value that decides jumps to l when the
// decision is cond, else past the expression.
func (f *unit) jumpIfAny(e *syntax.BoolOp, cond bool, l *label) {
	decides := e.Op == syntax.Or
	var end label
	last := len(e.Values) - 1
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, v := range e.Values[:last] {
		if decides == cond {
			f.jumpIf(v, decides, l)
		} else {
			f.jumpIf(v, decides, &end)
		}
	}
	f.jumpIf(e.Values[last], cond, l)
	f.place(&end)
}

func (f *unit) compareJump(e *syntax.Compare, cond bool, l *label) {
	var end label
	left := f.operand(e.Left, noHint)
	last := len(e.Ops) - 1
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, op := range e.Ops {
		if i == last {
			f.compareOnce(op, left, e.Comparators[i], cond, l)
			break
		}
		right := f.comparand(op, e.Comparators[i], left, noHint)
		if cond {
			f.branchCompare(op, left, right, false, &end)
		} else {
			f.branchCompare(op, left, right, false, l)
		}
		left = right
	}
	f.place(&end)
}

// compareOnce compares with an expression that may be None.
func (f *unit) compareOnce(op syntax.CmpOperator, left int, e syntax.Expr, cond bool, l *label) {
	if k, ok := e.(*syntax.Constant); ok && k.Kind == syntax.ConstNone && (op == syntax.Is || op == syntax.IsNot) {
		if (op == syntax.Is) == cond {
			f.branch(code.JumpIfNone, left, l)
			return
		}
		var none label
		f.branch(code.JumpIfNone, left, &none)
		f.jump(l)
		f.place(&none)
		return
	}
	f.branchCompare(op, left, f.comparand(op, e, left, noHint), cond, l)
}

// branchCompare jumps if the truth of (left op right) is cond.
func (f *unit) branchCompare(op syntax.CmpOperator, left, right int, cond bool, l *label) {
	// The register of the result is there in both forms: how many a frame has is
	// its modelled size.
	mark := f.top
	r := f.alloc(1)
	if op <= syntax.GtE && !f.c.lim.PlainBranches {
		f.top = mark
		c := 0
		if cond {
			c = 1
		}
		f.branch2(code.EqJump+code.Op(op), left, right, c, l)
		return
	}
	f.emit(code.Eq+code.Op(op), r, left, right)
	f.branchOn(r, cond, l)
	f.top = mark
}
