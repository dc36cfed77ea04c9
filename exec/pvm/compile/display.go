package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// displayChunk is how many elements wait in registers at once.
const displayChunk = 64

func hasStar(elts []syntax.Expr) bool {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range elts {
		if _, ok := e.(*syntax.Starred); ok {
			return true
		}
	}
	return false
}

// row evaluates expressions into registers side by side and returns the first.
func (f *unit) row(elts []syntax.Expr) int {
	at := f.top
	for _, e := range elts {
		f.expr(e, f.alloc(1))
	}
	return at
}

func (f *unit) tuple(elts []syntax.Expr, dst int) {
	if len(elts) <= displayChunk && !hasStar(elts) {
		at := f.row(elts)
		f.emit(code.BuildTuple, dst, at, len(elts))
		return
	}
	r := f.partial(dst)
	f.list(elts, r)
	f.emit(code.ListToTuple, dst, r, 0)
}

func (f *unit) list(elts []syntax.Expr, dst int) {
	if len(elts) <= displayChunk && !hasStar(elts) {
		if k, ok := f.c.foldAll(elts, code.Tuple); ok && len(elts) > 2 {
			r := f.partial(dst)
			t := f.alloc(1)
			f.emit(code.BuildList, r, r, 0)
			f.loadConst(t, k)
			f.emit(code.ListExtend, r, t, 0)
			f.move(dst, r)
			return
		}
		at := f.row(elts)
		f.emit(code.BuildList, dst, at, len(elts))
		return
	}
	r := f.partial(dst)
	f.emit(code.BuildList, r, r, 0)
	f.extend(elts, r)
	f.move(dst, r)
}

// extend appends elements, of which some may be unpacked, to the list in
// register r.
func (f *unit) extend(elts []syntax.Expr, r int) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range elts {
		mark := f.top
		if s, ok := e.(*syntax.Starred); ok {
			f.emit(code.ListExtend, r, f.operand(s.Value, noHint), 0)
		} else {
			f.emit(code.ListAppend, r, f.operand(e, noHint), 0)
		}
		f.top = mark
	}
}

func (f *unit) set(elts []syntax.Expr, dst int) {
	if len(elts) <= displayChunk && !hasStar(elts) {
		at := f.row(elts)
		f.emit(code.BuildSet, dst, at, len(elts))
		return
	}
	r := f.partial(dst)
	f.emit(code.BuildSet, r, r, 0)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range elts {
		mark := f.top
		if s, ok := e.(*syntax.Starred); ok {
			f.emit(code.SetUpdate, r, f.operand(s.Value, noHint), 0)
		} else {
			f.emit(code.SetAdd, r, f.operand(e, noHint), 0)
		}
		f.top = mark
	}
	f.move(dst, r)
}

func (f *unit) dict(e *syntax.Dict, dst int) {
	plain := len(e.Keys) <= displayChunk/2
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, k := range e.Keys {
		plain = plain && k != nil
	}
	if plain {
		at := f.top
		for i, k := range e.Keys {
			pair := f.alloc(2)
			f.expr(k, pair)
			f.expr(e.Values[i], pair+1)
		}
		f.emit(code.BuildDict, dst, at, len(e.Keys))
		return
	}
	r := f.partial(dst)
	f.emit(code.BuildDict, r, r, 0)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, k := range e.Keys {
		mark := f.top
		if k == nil {
			f.emit(code.DictUpdate, r, f.operand(e.Values[i], noHint), 0)
		} else {
			key := f.operand(k, noHint)
			f.emit(code.DictPut, r, key, f.operand(e.Values[i], noHint))
		}
		f.top = mark
	}
	f.move(dst, r)
}

// joined evaluates an f-string.
func (f *unit) joined(e *syntax.JoinedStr, dst int) {
	if len(e.Values) == 0 {
		f.loadConst(dst, strConst(""))
		return
	}
	if len(e.Values) == 1 {
		f.expr(e.Values[0], dst)
		return
	}
	at := f.top
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for values := e.Values; len(values) > 0; {
		n := min(len(values), displayChunk)
		first := f.row(values[:n])
		if len(e.Values) > displayChunk {
			f.emit(code.BuildString, first, first, n)
			f.top = first + 1
		}
		values = values[n:]
	}
	f.emit(code.BuildString, dst, at, f.top-at)
}

func (f *unit) formatted(e *syntax.FormattedValue, dst int) {
	how := 0
	switch e.Conversion {
	case 's':
		how = 1
	case 'r':
		how = 2
	case 'a':
		how = 3
	}
	if e.FormatSpec == nil {
		f.emit(code.Format, dst, f.operand(e.Value, dst), how)
		return
	}
	at := f.alloc(2)
	f.expr(e.Value, at)
	f.expr(e.FormatSpec, at+1)
	f.emit(code.Format, dst, at, how|4)
}
