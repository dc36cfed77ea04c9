package syntax

// Pos is the place of a node's first byte. Line counts from 1, Col from 0 in
// bytes of UTF-8, as in Python's ast.
type Pos struct {
	Line, Col int32
}

// Position returns p; embedding it makes a node.
func (p Pos) Position() Pos { return p }

// Node is anything in the tree that has a place in the source.
type Node interface{ Position() Pos }

// Module is a whole source.
type Module struct {
	Body   []Stmt
	Tokens int // read, those inside f-strings included
}

// Context says what a name, attribute, item or sequence is there for.
type Context uint8

// The contexts.
const (
	Load Context = iota
	Store
	Del
)

// Operator is a binary operator.
type Operator uint8

// The binary operators under Python's names.
const (
	Add Operator = iota
	Sub
	Mult
	MatMult
	Div
	Mod
	Pow
	LShift
	RShift
	BitOr
	BitXor
	BitAnd
	FloorDiv
)

// BoolOperator is and, or or.
type BoolOperator uint8

// The operators that may skip their right side.
const (
	And BoolOperator = iota
	Or
)

// UnaryOperator is an operator with one operand.
type UnaryOperator uint8

// The unary operators.
const (
	Invert UnaryOperator = iota
	Not
	UAdd
	USub
)

// CmpOperator compares two operands.
type CmpOperator uint8

// The comparisons.
const (
	Eq CmpOperator = iota
	NotEq
	Lt
	LtE
	Gt
	GtE
	Is
	IsNot
	In
	NotIn
)

// The names under which Python's ast shows the operators.
var (
	contextNames  = [...]string{"Load", "Store", "Del"}
	operatorNames = [...]string{
		"Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow",
		"LShift", "RShift", "BitOr", "BitXor", "BitAnd", "FloorDiv",
	}
	boolNames  = [...]string{"And", "Or"}
	unaryNames = [...]string{"Invert", "Not", "UAdd", "USub"}
	cmpNames   = [...]string{"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn"}
)

func (c Context) String() string       { return contextNames[c] }
func (o Operator) String() string      { return operatorNames[o] }
func (o BoolOperator) String() string  { return boolNames[o] }
func (o UnaryOperator) String() string { return unaryNames[o] }
func (o CmpOperator) String() string   { return cmpNames[o] }

// Arguments are the parameters of a function or lambda. Defaults belong to the
// last of PosOnlyArgs and Args; KwDefaults has one entry per KwOnlyArgs, nil
// where there is no default.
type Arguments struct {
	PosOnlyArgs []*Arg
	Args        []*Arg
	VarArg      *Arg // or nil
	KwOnlyArgs  []*Arg
	KwDefaults  []Expr
	KwArg       *Arg // or nil
	Defaults    []Expr
}

// Arg is one parameter.
type Arg struct {
	Pos
	Arg        string
	Annotation Expr // or nil
}

// Keyword is a named argument of a call; Arg is empty for **Value.
type Keyword struct {
	Pos
	Arg   string
	Value Expr
}

// Alias is one imported name; AsName is empty without as.
type Alias struct {
	Pos
	Name   string
	AsName string
}

// WithItem is one context manager; OptionalVars is nil without as.
type WithItem struct {
	ContextExpr  Expr
	OptionalVars Expr
}

// Comprehension is one for clause with its conditions.
type Comprehension struct {
	Target  Expr
	Iter    Expr
	Ifs     []Expr
	IsAsync bool
}

// ExceptHandler is one except clause; Type is nil for a bare one, Name empty
// without as.
type ExceptHandler struct {
	Pos
	Type Expr
	Name string
	Body []Stmt
}

// MatchCase is one case; Guard is nil without if.
type MatchCase struct {
	Pattern Pattern
	Guard   Expr
	Body    []Stmt
}
