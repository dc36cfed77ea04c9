package compile

import (
	"encoding/binary"
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func posAt(line int32) syntax.Pos { return syntax.Pos{Line: line} }

// constIndex returns the index of a constant, adding it at its first use.
func (f *unit) constIndex(k code.Const) int {
	key := string(appendKey(nil, &k))
	if i, ok := f.consts[key]; ok {
		return i
	}
	i := len(f.obj.Consts)
	limit(posAt(f.line), i+1, f.c.lim.Constants, "constants")
	f.obj.Consts = append(f.obj.Consts, k)
	f.consts[key] = i
	return i
}

// appendKey appends what tells constants apart.
func appendKey(dst []byte, k *code.Const) []byte {
	dst = append(dst, byte(k.Kind))
	switch k.Kind {
	case code.Int:
		return binary.AppendVarint(dst, k.Int64)
	case code.BigInt:
		text := k.Big.Text(16)
		return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	case code.Binary64:
		return binary.BigEndian.AppendUint64(dst, k.Bits)
	case code.Str, code.Bytes:
		return append(binary.AppendUvarint(dst, uint64(len(k.Text))), k.Text...)
	case code.Tuple, code.FrozenSet:
		dst = binary.AppendUvarint(dst, uint64(len(k.Items)))
		// Paid: by the tokens of the constant, which has its key written once a use (ADR 59).
		for i := range k.Items {
			dst = appendKey(dst, &k.Items[i])
		}
	}
	return dst
}

func (f *unit) loadConst(dst int, k code.Const) {
	if !f.dead {
		f.emitWide(code.LoadK, dst, f.constIndex(k))
	}
}

func (f *unit) loadNone(dst int) { f.loadConst(dst, code.Const{Kind: code.None}) }

func intConst(n *big.Int) code.Const {
	if n.IsInt64() {
		return code.Const{Kind: code.Int, Int64: n.Int64()}
	}
	return code.Const{Kind: code.BigInt, Big: n}
}

func strConst(s string) code.Const { return code.Const{Kind: code.Str, Text: s} }

func strTuple(names []string) code.Const {
	k := code.Const{Kind: code.Tuple}
	// Paid: by the tokens of the names (ADR 59).
	for _, n := range names {
		k.Items = append(k.Items, strConst(n))
	}
	return k
}

// literal returns the value of a literal.
func literal(e *syntax.Constant) code.Const {
	switch e.Kind {
	case syntax.ConstTrue:
		return code.Const{Kind: code.True}
	case syntax.ConstFalse:
		return code.Const{Kind: code.False}
	case syntax.ConstEllipsis:
		return code.Const{Kind: code.Ellipsis}
	case syntax.ConstStr:
		return strConst(e.Text)
	case syntax.ConstBytes:
		return code.Const{Kind: code.Bytes, Text: e.Text}
	case syntax.ConstInt:
		return intConst(e.Int)
	case syntax.ConstFloat:
		return code.Const{Kind: code.Binary64, Bits: e.Bits}
	}
	return code.Const{Kind: code.None}
}

// fold returns the value of an expression that is constant: a literal, a negated
// number, a tuple of constants. Of each tuple it finds out once: every tuple around one
// that does not fold asks again.
func (c *compiler) fold(e syntax.Expr) (code.Const, bool) {
	switch e := e.(type) {
	case *syntax.Constant:
		return literal(e), true
	case *syntax.Name:
		if e.ID == "__debug__" {
			return code.Const{Kind: code.True}, true
		}
	case *syntax.UnaryOp:
		k, ok := e.Operand.(*syntax.Constant)
		if !ok || e.Op != syntax.USub {
			break
		}
		switch k.Kind {
		case syntax.ConstInt:
			return intConst(new(big.Int).Neg(k.Int)), true
		case syntax.ConstFloat:
			v := literal(k)
			v.Bits = softfloat.Neg(v.Bits)
			return v, true
		}
	case *syntax.Tuple:
		known, ok := c.folded[e]
		if !ok {
			known.value, known.constant = c.foldAll(e.Elts, code.Tuple)
			c.folded[e] = known
		}
		return known.value, known.constant
	}
	return code.Const{}, false
}

// folding is what became of a tuple.
type folding struct {
	value    code.Const
	constant bool
}

func (c *compiler) foldAll(elts []syntax.Expr, kind code.ConstKind) (code.Const, bool) {
	// Paid: by the tokens of the elements: a tuple is folded once, a display asks once (ADR 59, 166).
	for i := len(elts) - 1; i >= 0; i-- { // cheap refusals first
		switch elts[i].(type) {
		case *syntax.Constant, *syntax.UnaryOp, *syntax.Tuple, *syntax.Name:
		default:
			return code.Const{}, false
		}
	}
	k := code.Const{Kind: kind}
	// Paid: by the tokens of the elements: a tuple is folded once, a display asks once (ADR 59, 166).
	for _, e := range elts {
		item, ok := c.fold(e)
		if !ok {
			return code.Const{}, false
		}
		k.Items = append(k.Items, item)
	}
	return k, true
}

// truthOf returns the truth of an expression that is constant.
func (c *compiler) truthOf(e syntax.Expr) (truth, ok bool) {
	k, ok := c.fold(e)
	if !ok {
		return false, false
	}
	switch k.Kind {
	case code.None, code.False:
		return false, true
	case code.Int:
		return k.Int64 != 0, true
	case code.Binary64:
		return k.Bits<<1 != 0, true
	case code.Str, code.Bytes:
		return k.Text != "", true
	case code.Tuple:
		return len(k.Items) > 0, true
	}
	return true, true
}

// nameIndex returns the index of a name in its long form.
func (f *unit) nameIndex(name string) int {
	if i, ok := f.names[name]; ok {
		return i
	}
	i := len(f.obj.Names)
	limit(posAt(f.line), i+1, f.c.lim.Names, "names")
	f.obj.Names = append(f.obj.Names, name)
	f.names[name] = i
	return i
}

// member returns the index of the name of an attribute.
func (f *unit) member(name string) int { return f.nameIndex(f.mangle(name)) }

func (f *unit) mangle(name string) string { return f.c.table.Mangle(f.scope, name) }

// smallInt returns the value of a literal int that fits the operand of AddI.
func smallInt(e syntax.Expr) (int, bool) {
	k, ok := e.(*syntax.Constant)
	if !ok || k.Kind != syntax.ConstInt || !k.Int.IsInt64() {
		return 0, false
	}
	n := k.Int.Int64()
	return int(n), 0 < n && n < 1<<15
}
