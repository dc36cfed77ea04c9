package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// callSpread is the number of arguments beyond which a call passes them in
// a tuple and a dict instead of registers.
const callSpread = 250

// callBase returns the register where a call is laid out: dst when the
// registers after it are free, so that the result needs no move.
func (f *unit) callBase(dst int) int {
	if f.isTemp(dst) && dst == f.top-1 {
		f.alloc(1)
		return dst
	}
	return f.alloc(2)
}

func (f *unit) call(e *syntax.Call, dst int) {
	at := f.callBase(dst)
	if a, ok := e.Func.(*syntax.Attribute); ok {
		obj := f.operand(a.Value, at)
		f.line = a.Line
		f.emit(code.GetMethod, at, obj, f.member(a.Attr))
		f.line = e.Line
	} else {
		f.expr(e.Func, at)
		f.emit(code.Clear, at+1, 0, 0)
	}
	f.arguments(e.Args, e.Keywords, at, 0)
	f.move(dst, at)
}

// arguments evaluates arguments after the first given ones, which are in their
// registers, and calls.
func (f *unit) arguments(args []syntax.Expr, keywords []*syntax.Keyword, at, given int) {
	if spreads(args, keywords) || given+len(args)+len(keywords) > callSpread {
		f.callEx(args, keywords, at, given)
		return
	}
	for _, a := range args {
		f.expr(a, f.alloc(1))
	}
	var names []string
	for _, k := range keywords {
		f.expr(k.Value, f.alloc(1))
		names = append(names, k.Arg)
	}
	index := 0
	if len(names) > 0 && !f.dead {
		index = f.constIndex(strTuple(names)) + 1
		limit(posAt(f.line), index, 1<<16-1, "constants")
	}
	f.emit(code.Call, at, given+len(args)+len(keywords), index)
}

func spreads(args []syntax.Expr, keywords []*syntax.Keyword) bool {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, a := range args {
		if _, ok := a.(*syntax.Starred); ok {
			return true
		}
	}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, k := range keywords {
		if k.Arg == "" {
			return true
		}
	}
	return false
}

// callEx passes the arguments as an iterable and a mapping.
func (f *unit) callEx(args []syntax.Expr, keywords []*syntax.Keyword, at, given int) {
	mark := f.top
	var list, dict int
	if given > 0 {
		list = f.alloc(1)
		f.emit(code.BuildList, list, at+2, given)
		f.extend(args, list)
		f.move(at+2, list)
		f.top = mark
		f.top = max(f.top, at+3)
	} else {
		list = f.alloc(1)
		if s, ok := only(args); ok {
			f.expr(s.Value, list)
		} else {
			f.list(args, list)
		}
	}
	f.top = at + 3
	dict = f.alloc(1)
	if len(keywords) == 0 {
		f.emit(code.Clear, dict, 0, 0)
	} else {
		f.keywordDict(keywords, dict, at)
	}
	f.emit(code.CallEx, at, 0, 0)
}

// only returns the single starred argument.
func only(args []syntax.Expr) (*syntax.Starred, bool) {
	if len(args) != 1 {
		return nil, false
	}
	s, ok := args[0].(*syntax.Starred)
	return s, ok
}

// keywordDict collects keywords in a new dict in register dict, for the callable
// in register fn.
func (f *unit) keywordDict(keywords []*syntax.Keyword, dict, fn int) {
	f.emit(code.BuildDict, dict, dict, 0)
	for i := 0; i < len(keywords); {
		mark := f.top
		if keywords[i].Arg == "" {
			f.emit(code.DictMerge, dict, f.operand(keywords[i].Value, noHint), fn)
			f.top = mark
			i++
			continue
		}
		at, n := f.top, 0
		for i < len(keywords) && keywords[i].Arg != "" && n < displayChunk {
			pair := f.alloc(2)
			f.loadConst(pair, strConst(keywords[i].Arg))
			f.expr(keywords[i].Value, pair+1)
			i++
			n++
		}
		f.emit(code.BuildDict, at, at, n)
		f.emit(code.DictMerge, dict, at, fn)
		f.top = mark
	}
}
