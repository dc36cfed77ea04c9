package syntax

import "math/big"

// Expr is an expression. Its types have the names and the fields of Python's
// ast; slices of expressions hold no nil unless their comment says so.
type Expr interface {
	Node
	isExpr()
}

// ConstKind says which value a [Constant] has.
type ConstKind uint8

// The kinds of constants.
const (
	ConstNone ConstKind = iota
	ConstTrue
	ConstFalse
	ConstEllipsis
	ConstStr
	ConstBytes
	ConstInt
	ConstFloat
)

type (
	// BoolOp joins two or more values with one operator.
	BoolOp struct {
		Pos
		Op     BoolOperator
		Values []Expr
	}
	// NamedExpr is Target := Value; Target is a Name.
	NamedExpr struct {
		Pos
		Target Expr
		Value  Expr
	}
	// BinOp is Left Op Right.
	BinOp struct {
		Pos
		Left  Expr
		Op    Operator
		Right Expr
	}
	// UnaryOp is Op Operand.
	UnaryOp struct {
		Pos
		Op      UnaryOperator
		Operand Expr
	}
	// Lambda is a function of one expression.
	Lambda struct {
		Pos
		Args *Arguments
		Body Expr
	}
	// IfExp is Body if Test else OrElse.
	IfExp struct {
		Pos
		Test   Expr
		Body   Expr
		OrElse Expr
	}
	// Dict is a display; a nil key stands before a value that is unpacked.
	Dict struct {
		Pos
		Keys   []Expr
		Values []Expr
	}
	// Set is a display with at least one element.
	Set struct {
		Pos
		Elts []Expr
	}
	// ListComp is [Elt for ...].
	ListComp struct {
		Pos
		Elt        Expr
		Generators []*Comprehension
	}
	// SetComp is {Elt for ...}.
	SetComp struct {
		Pos
		Elt        Expr
		Generators []*Comprehension
	}
	// DictComp is {Key: Value for ...}.
	DictComp struct {
		Pos
		Key        Expr
		Value      Expr
		Generators []*Comprehension
	}
	// GeneratorExp is (Elt for ...).
	GeneratorExp struct {
		Pos
		Elt        Expr
		Generators []*Comprehension
	}
	// Await is await Value.
	Await struct {
		Pos
		Value Expr
	}
	// Yield is yield, with Value nil when nothing follows.
	Yield struct {
		Pos
		Value Expr
	}
	// YieldFrom is yield from Value.
	YieldFrom struct {
		Pos
		Value Expr
	}
	// Compare is a chain: Left Ops[0] Comparators[0] Ops[1] ...
	Compare struct {
		Pos
		Left        Expr
		Ops         []CmpOperator
		Comparators []Expr
	}
	// Call is Func(Args, Keywords).
	Call struct {
		Pos
		Func     Expr
		Args     []Expr
		Keywords []*Keyword
	}
	// FormattedValue is a {...} of an f-string. Conversion is -1, 's', 'r' or
	// 'a'; FormatSpec is nil or a JoinedStr.
	FormattedValue struct {
		Pos
		Value      Expr
		Conversion int
		FormatSpec Expr
	}
	// JoinedStr is an f-string: Constants and FormattedValues.
	JoinedStr struct {
		Pos
		Values []Expr
	}
	// Constant is a literal. Text holds the value of ConstStr and ConstBytes,
	// and the digits of ConstFloat without underscores; Int that of ConstInt;
	// Bits the IEEE 754 encoding of ConstFloat.
	// U tells a literal that began with the prefix u.
	Constant struct {
		Pos
		Kind ConstKind
		U    bool
		Bits uint64
		Text string
		Int  *big.Int
	}
	// Attribute is Value.Attr.
	Attribute struct {
		Pos
		Value Expr
		Attr  string
		Ctx   Context
	}
	// Subscript is Value[Slice].
	Subscript struct {
		Pos
		Value Expr
		Slice Expr
		Ctx   Context
	}
	// Starred is *Value.
	Starred struct {
		Pos
		Value Expr
		Ctx   Context
	}
	// Name is an identifier in NFKC.
	Name struct {
		Pos
		ID  string
		Ctx Context
	}
	// List is a display.
	List struct {
		Pos
		Elts []Expr
		Ctx  Context
	}
	// Tuple is a display, with or without brackets.
	Tuple struct {
		Pos
		Elts []Expr
		Ctx  Context
	}
	// Slice is Lower:Upper:Step, each nil when absent.
	Slice struct {
		Pos
		Lower Expr
		Upper Expr
		Step  Expr
	}
)

func (*BoolOp) isExpr()         {}
func (*NamedExpr) isExpr()      {}
func (*BinOp) isExpr()          {}
func (*UnaryOp) isExpr()        {}
func (*Lambda) isExpr()         {}
func (*IfExp) isExpr()          {}
func (*Dict) isExpr()           {}
func (*Set) isExpr()            {}
func (*ListComp) isExpr()       {}
func (*SetComp) isExpr()        {}
func (*DictComp) isExpr()       {}
func (*GeneratorExp) isExpr()   {}
func (*Await) isExpr()          {}
func (*Yield) isExpr()          {}
func (*YieldFrom) isExpr()      {}
func (*Compare) isExpr()        {}
func (*Call) isExpr()           {}
func (*FormattedValue) isExpr() {}
func (*JoinedStr) isExpr()      {}
func (*Constant) isExpr()       {}
func (*Attribute) isExpr()      {}
func (*Subscript) isExpr()      {}
func (*Starred) isExpr()        {}
func (*Name) isExpr()           {}
func (*List) isExpr()           {}
func (*Tuple) isExpr()          {}
func (*Slice) isExpr()          {}
