package lib

import (
	"errors"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Limits of a text that is evaluated: each evaluation within another one keeps its tree.
const (
	textBytes  = 64 << 10
	textHeight = 100
)

// textLimits are those of the parser for a text with brackets around it.
func textLimits() syntax.Limits {
	lim := syntax.DefaultLimits()
	lim.SourceBytes, lim.TreeHeight = textBytes+len("()"), textHeight
	return lim
}

// evaluateText evaluates an annotation that is text, as typing.get_type_hints
// needs: names, attributes, subscripts, displays, constants and the | operator.
// It is no eval: nothing else has a meaning here.
func evaluateText(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if err := m.LibraryOnly(); err != nil {
		return vm.None, err
	}
	text, ok := a.Values[0].Text()
	if !ok {
		return vm.None, m.TypeError("eval() arg 1 must be a string")
	}
	if len(text) > textBytes {
		return vm.None, m.SyntaxError("Forward reference is too long")
	}
	tokens(m, 2*len(text)) // half of the bytes: the densest texts have a token each
	defer m.Release(m.Hold(m.NewForeign(m.Builtin("object"), textTree{bytes: treeBytes * len(text)})))
	mod, err := syntax.Parse([]byte("("+text+")"), textLimits())
	var refused *syntax.Error
	if errors.Is(err, syntax.ErrLimit) && errors.As(err, &refused) {
		return vm.None, m.SyntaxError("Forward reference is too long: " + refused.Msg)
	}
	if err != nil || len(mod.Body) != 1 {
		return vm.None, m.SyntaxError("Forward reference must be an expression -- got " + text)
	}
	stmt, ok := mod.Body[0].(*syntax.ExprStmt)
	if !ok {
		return vm.None, m.SyntaxError("Forward reference must be an expression -- got " + text)
	}
	return (&evaluation{m: m, names: a.Values[1:]}).expr(stmt.Value)
}

// treeBytes is what the tree of a text takes for each byte of it, at most.
const treeBytes = 64

// textTree is the payload that counts as memory what a tree takes while it is evaluated.
type textTree struct {
	leaf
	bytes int
}

// Bytes is what the tree takes.
func (t textTree) Bytes() int { return t.bytes }

// evaluation evaluates one text. Each level of its tree is one of the machine's recursion:
// what it asks for on its way may be a program's own, which evaluates again.
type evaluation struct {
	m     *vm.Machine
	names []vm.Value // mappings, looked into from the last on
}

func (e *evaluation) expr(x syntax.Expr) (vm.Value, error) {
	if err := e.m.Enter(); err != nil {
		return vm.None, err
	}
	defer e.m.Exit()
	e.m.Charge(e.m.Prices().NativeCall)
	return e.node(x)
}

func (e *evaluation) node(x syntax.Expr) (vm.Value, error) {
	switch x := x.(type) {
	case *syntax.Name:
		return e.name(x.ID)
	case *syntax.Constant:
		return e.constant(x)
	case *syntax.Attribute:
		v, err := e.expr(x.Value)
		if err != nil {
			return vm.None, err
		}
		// Bounded: by one character.
		if v.Kind() == vm.KindModule && strings.HasPrefix(x.Attr, "_") {
			return vm.None, e.m.RaiseText("AttributeError", "module has no attribute '"+x.Attr+"'")
		}
		return e.m.GetAttr(v, e.m.Name(x.Attr))
	case *syntax.Subscript:
		v, err := e.expr(x.Value)
		if err != nil {
			return vm.None, err
		}
		defer e.m.Release(e.m.Hold(v))
		key, err := e.expr(x.Slice)
		if err != nil {
			return vm.None, err
		}
		return e.m.GetItem(v, key)
	case *syntax.BinOp:
		return e.binary(x)
	case *syntax.Tuple:
		items, err := e.all(x.Elts)
		return e.m.NewTuple(items), err
	case *syntax.List:
		items, err := e.all(x.Elts)
		return e.m.NewList(items), err
	case *syntax.UnaryOp:
		v, err := e.expr(x.Operand)
		if n, ok := v.Int64(); ok && err == nil && x.Op == syntax.USub {
			return vm.SmallInt(-n), nil
		}
		if err != nil {
			return vm.None, err
		}
	case *syntax.Starred:
		return e.expr(x.Value)
	}
	return vm.None, e.m.RaiseText("DeterminismError", "annotations as text are names, attributes, subscripts and unions only")
}

func (e *evaluation) binary(x *syntax.BinOp) (vm.Value, error) {
	if x.Op != syntax.BitOr {
		return vm.None, e.m.RaiseText("DeterminismError", "annotations as text are names, attributes, subscripts and unions only")
	}
	l, err := e.expr(x.Left)
	if err != nil {
		return vm.None, err
	}
	defer e.m.Release(e.m.Hold(l))
	r, err := e.expr(x.Right)
	if err != nil {
		return vm.None, err
	}
	return e.m.Binary(vm.OpBitOr, l, r)
}

func (e *evaluation) all(xs []syntax.Expr) ([]vm.Value, error) {
	e.m.Alloc(16 * len(xs))
	out := make([]vm.Value, 0, len(xs))
	// Paid: by expr, a native call each.
	for _, x := range xs {
		v, err := e.expr(x)
		if err != nil {
			return nil, err
		}
		e.m.Hold(v)
		out = append(out, v)
	}
	return out, nil
}

func (e *evaluation) name(name string) (vm.Value, error) {
	key := e.m.NewStr(name)
	for i := len(e.names) - 1; i >= 0; i-- {
		e.m.Charge(e.m.Prices().DictOp)
		if d, ok := e.names[i].Dict(); ok {
			if v, ok, err := e.m.DictGet(d, key); ok || err != nil {
				return v, err
			}
			continue
		}
		if e.names[i].IsNone() {
			continue
		}
		v, err := e.m.GetItem(e.names[i], key)
		if err == nil || !e.m.IsRaised(err, "KeyError") {
			return v, err
		}
	}
	if v, ok := e.m.BuiltinName(name); ok {
		return v, nil
	}
	return vm.None, e.m.RaiseText("NameError", "name '"+name+"' is not defined")
}

func (e *evaluation) constant(x *syntax.Constant) (vm.Value, error) {
	switch x.Kind {
	case syntax.ConstNone:
		return vm.None, nil
	case syntax.ConstTrue:
		return vm.True, nil
	case syntax.ConstFalse:
		return vm.False, nil
	case syntax.ConstEllipsis:
		return vm.EllipsisValue, nil
	case syntax.ConstStr:
		return e.m.NewStr(x.Text), nil
	case syntax.ConstBytes:
		return e.m.NewBytes(x.Text), nil
	case syntax.ConstInt:
		return e.m.NewInt(x.Int), nil
	}
	return vm.None, e.m.RaiseText("DeterminismError", "annotations as text are names, attributes, subscripts and unions only")
}
