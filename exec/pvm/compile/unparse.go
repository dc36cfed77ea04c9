package compile

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// The levels of precedence, loosest first.
const (
	levelTuple = iota
	levelTest
	levelOr
	levelAnd
	levelNot
	levelCompare
	levelBitOr
	levelBitXor
	levelBitAnd
	levelShift
	levelArith
	levelTerm
	levelFactor
	levelPower
	levelAwait
	levelAtom
)

// operatorTexts and operatorLevels are by syntax.Operator.
var (
	operatorTexts  = [...]string{" + ", " - ", " * ", " @ ", " / ", " % ", " ** ", " << ", " >> ", " | ", " ^ ", " & ", " // "}
	operatorLevels = [...]int{
		levelArith, levelArith, levelTerm, levelTerm, levelTerm, levelTerm, levelPower,
		levelShift, levelShift, levelBitOr, levelBitXor, levelBitAnd, levelTerm,
	}
	compareTexts = [...]string{" == ", " != ", " < ", " <= ", " > ", " >= ", " is ", " is not ", " in ", " not in "}
)

// unparse returns an annotation as text, as Python does under
// from __future__ import annotations.
func unparse(e syntax.Expr) string {
	u := &unparser{}
	u.expr(e, levelTest)
	return string(u.out)
}

type unparser struct{ out []byte }

func (u *unparser) text(s string) { u.out = append(u.out, s...) }

// within writes what body writes, in brackets if the surroundings bind tighter
// than own.
func (u *unparser) within(level, own int, body func()) {
	if level > own {
		u.text("(")
		defer u.text(")")
	}
	body()
}

func (u *unparser) expr(e syntax.Expr, level int) {
	switch e := e.(type) {
	case *syntax.Constant:
		u.constant(e)
	case *syntax.Name:
		u.text(e.ID)
	case *syntax.Attribute:
		u.expr(e.Value, levelAtom)
		if k, ok := e.Value.(*syntax.Constant); ok && k.Kind == syntax.ConstInt {
			u.text(" ")
		}
		u.text("." + e.Attr)
	case *syntax.Subscript:
		u.expr(e.Value, levelAtom)
		u.text("[")
		u.expr(e.Slice, levelTuple)
		u.text("]")
	case *syntax.Slice:
		u.slice(e)
	case *syntax.Starred:
		u.text("*")
		u.expr(e.Value, levelBitOr)
	case *syntax.Call:
		u.call(e)
	case *syntax.Tuple:
		u.tuple(e, level)
	case *syntax.List:
		u.text("[")
		u.list(e.Elts)
		u.text("]")
	case *syntax.Set:
		u.text("{")
		u.list(e.Elts)
		u.text("}")
	case *syntax.Dict:
		u.dict(e)
	default:
		u.operation(e, level)
	}
}

func (u *unparser) operation(e syntax.Expr, level int) {
	switch e := e.(type) {
	case *syntax.BoolOp:
		own, word := levelAnd, " and "
		if e.Op == syntax.Or {
			own, word = levelOr, " or "
		}
		u.within(level, own, func() {
			// Paid: by the tokens of an annotation, which is written once (ADR 59).
			for i, v := range e.Values {
				if i > 0 {
					u.text(word)
				}
				u.expr(v, own+1)
			}
		})
	case *syntax.BinOp:
		own := operatorLevels[e.Op]
		left, right := own, own+1
		if e.Op == syntax.Pow {
			left, right = own+1, own
		}
		u.within(level, own, func() {
			u.expr(e.Left, left)
			u.text(operatorTexts[e.Op])
			u.expr(e.Right, right)
		})
	case *syntax.UnaryOp:
		own := levelFactor
		if e.Op == syntax.Not {
			own = levelNot
		}
		u.within(level, own, func() {
			u.text([...]string{"~", "not ", "+", "-"}[e.Op])
			u.expr(e.Operand, own)
		})
	case *syntax.Compare:
		u.within(level, levelCompare, func() {
			u.expr(e.Left, levelCompare+1)
			// Paid: by the tokens of an annotation, which is written once (ADR 59).
			for i, op := range e.Ops {
				u.text(compareTexts[op])
				u.expr(e.Comparators[i], levelCompare+1)
			}
		})
	case *syntax.IfExp:
		u.within(level, levelTest, func() {
			u.expr(e.Body, levelTest+1)
			u.text(" if ")
			u.expr(e.Test, levelTest+1)
			u.text(" else ")
			u.expr(e.OrElse, levelTest)
		})
	case *syntax.Lambda:
		u.within(level, levelTest, func() { u.lambda(e) })
	case *syntax.NamedExpr:
		u.within(level, levelTuple, func() {
			u.expr(e.Target, levelAtom)
			u.text(" := ")
			u.expr(e.Value, levelAtom)
		})
	default:
		u.compound(e, level)
	}
}

func (u *unparser) compound(e syntax.Expr, level int) {
	switch e := e.(type) {
	case *syntax.ListComp:
		u.comprehension("[", e.Elt, nil, e.Generators, "]")
	case *syntax.SetComp:
		u.comprehension("{", e.Elt, nil, e.Generators, "}")
	case *syntax.DictComp:
		u.comprehension("{", e.Key, e.Value, e.Generators, "}")
	case *syntax.GeneratorExp:
		u.comprehension("(", e.Elt, nil, e.Generators, ")")
	case *syntax.JoinedStr:
		u.text("f")
		u.out = format.AppendRepr(u.out, u.joined(e))
	case *syntax.FormattedValue:
		u.text("f")
		u.out = format.AppendRepr(u.out, u.field(e))
	case *syntax.Await:
		u.within(level, levelAwait, func() {
			u.text("await ")
			u.expr(e.Value, levelAtom)
		})
	case *syntax.Yield:
		u.text("(yield")
		if e.Value != nil {
			u.text(" ")
			u.expr(e.Value, levelTest)
		}
		u.text(")")
	case *syntax.YieldFrom:
		u.text("(yield from ")
		u.expr(e.Value, levelTest)
		u.text(")")
	default:
		failf(e.Position(), "expression of a kind the compiler does not know")
	}
}

func (u *unparser) constant(e *syntax.Constant) {
	switch e.Kind {
	case syntax.ConstNone:
		u.text("None")
	case syntax.ConstTrue:
		u.text("True")
	case syntax.ConstFalse:
		u.text("False")
	case syntax.ConstEllipsis:
		u.text("...")
	case syntax.ConstStr:
		if e.U {
			u.text("u")
		}
		u.out = format.AppendRepr(u.out, e.Text)
	case syntax.ConstBytes:
		u.out = format.AppendBytesRepr(u.out, e.Text)
	case syntax.ConstInt:
		limit(e.Pos, e.Int.BitLen(), 4300*10/3, "bits of an int in a text annotation")
		u.text(e.Int.String())
	case syntax.ConstFloat:
		// Bounded: by the text of a float, 24 bytes.
		u.text(strings.ReplaceAll(softfloat.Repr(literal(e).Bits), "inf", "1e309"))
	}
}

func (u *unparser) list(es []syntax.Expr) {
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for i, e := range es {
		if i > 0 {
			u.text(", ")
		}
		u.expr(e, levelTest)
	}
}

func (u *unparser) tuple(e *syntax.Tuple, level int) {
	if len(e.Elts) == 0 {
		u.text("()")
		return
	}
	u.within(level, levelTuple, func() {
		u.list(e.Elts)
		if len(e.Elts) == 1 {
			u.text(",")
		}
	})
}

func (u *unparser) dict(e *syntax.Dict) {
	u.text("{")
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for i, v := range e.Values {
		if i > 0 {
			u.text(", ")
		}
		if e.Keys[i] == nil {
			u.text("**")
			u.expr(v, levelBitOr)
			continue
		}
		u.expr(e.Keys[i], levelTest)
		u.text(": ")
		u.expr(v, levelTest)
	}
	u.text("}")
}

func (u *unparser) slice(e *syntax.Slice) {
	if e.Lower != nil {
		u.expr(e.Lower, levelTest)
	}
	u.text(":")
	if e.Upper != nil {
		u.expr(e.Upper, levelTest)
	}
	if e.Step != nil {
		u.text(":")
		u.expr(e.Step, levelTest)
	}
}

func (u *unparser) call(e *syntax.Call) {
	u.expr(e.Func, levelAtom)
	if len(e.Args) == 1 && len(e.Keywords) == 0 {
		if _, ok := e.Args[0].(*syntax.GeneratorExp); ok {
			u.expr(e.Args[0], levelTest)
			return
		}
	}
	u.text("(")
	u.list(e.Args)
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for i, k := range e.Keywords {
		if i > 0 || len(e.Args) > 0 {
			u.text(", ")
		}
		if k.Arg == "" {
			u.text("**")
		} else {
			u.text(k.Arg + "=")
		}
		u.expr(k.Value, levelTest)
	}
	u.text(")")
}

func (u *unparser) comprehension(open string, elt, value syntax.Expr, clauses []*syntax.Comprehension, end string) {
	u.text(open)
	u.expr(elt, levelTest)
	if value != nil {
		u.text(": ")
		u.expr(value, levelTest)
	}
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for _, c := range clauses {
		if c.IsAsync {
			u.text(" async")
		}
		u.text(" for ")
		u.expr(c.Target, levelTuple)
		u.text(" in ")
		u.expr(c.Iter, levelTest+1)
		// Paid: by the tokens of an annotation, which is written once (ADR 59).
		for _, cond := range c.Ifs {
			u.text(" if ")
			u.expr(cond, levelTest+1)
		}
	}
	u.text(end)
}

func (u *unparser) lambda(e *syntax.Lambda) {
	u.text("lambda")
	a := e.Args
	sep := " "
	if len(a.PosOnlyArgs)+len(a.Args) == 0 {
		sep = "" // as CPython writes it
	}
	param := func(prefix string, p *syntax.Arg, def syntax.Expr) {
		u.text(sep + prefix + p.Arg)
		sep = ", "
		if def != nil {
			u.text("=")
			u.expr(def, levelTest)
		}
	}
	positional := append(append([]*syntax.Arg(nil), a.PosOnlyArgs...), a.Args...)
	first := len(positional) - len(a.Defaults)
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for i, p := range positional {
		var def syntax.Expr
		if i >= first {
			def = a.Defaults[i-first]
		}
		param("", p, def)
		if i+1 == len(a.PosOnlyArgs) {
			u.text(", /")
		}
	}
	if a.VarArg != nil {
		param("*", a.VarArg, nil)
	} else if len(a.KwOnlyArgs) > 0 {
		u.text(sep + "*")
		sep = ", "
	}
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for i, p := range a.KwOnlyArgs {
		param("", p, a.KwDefaults[i])
	}
	if a.KwArg != nil {
		param("**", a.KwArg, nil)
	}
	u.text(": ")
	u.expr(e.Body, levelTest)
}

// bracesDoubled is how braces stand in the text of an f-string.
// Bounded: by two pairs, once.
var bracesDoubled = strings.NewReplacer("{", "{{", "}", "}}")

// joined returns the text between the quotes of an f-string.
func (u *unparser) joined(e *syntax.JoinedStr) string {
	var b strings.Builder
	// Paid: by the tokens of an annotation, which is written once (ADR 59).
	for _, v := range e.Values {
		switch v := v.(type) {
		case *syntax.Constant:
			b.WriteString(bracesDoubled.Replace(v.Text))
		case *syntax.FormattedValue:
			b.WriteString(u.field(v))
		}
	}
	return b.String()
}

func (u *unparser) field(e *syntax.FormattedValue) string {
	inner := &unparser{}
	inner.expr(e.Value, levelTest+1)
	text := string(inner.out)
	// Bounded: by one byte.
	if strings.HasPrefix(text, "{") {
		text = " " + text
	}
	text = "{" + text
	if e.Conversion > 0 {
		text += "!" + string(rune(e.Conversion))
	}
	if spec, ok := e.FormatSpec.(*syntax.JoinedStr); ok {
		text += ":" + u.joined(spec)
	}
	return text + "}"
}
