package vm

// Operator is a binary operator, in the order of syntax.Operator and of the
// opcodes from code.Add.
type Operator uint8

// The binary operators.
const (
	OpAdd Operator = iota
	OpSub
	OpMul
	OpMatMul
	OpDiv
	OpMod
	OpPow
	OpLShift
	OpRShift
	OpBitOr
	OpBitXor
	OpBitAnd
	OpFloorDiv
)

// operatorTexts are the operators as error messages print them.
var operatorTexts = [...]string{"+", "-", "*", "@", "/", "%", "** or pow()", "<<", ">>", "|", "^", "&", "//"}

// CompareOp is a comparison, in the order of syntax.CmpOperator's first six and of
// the opcodes from code.Eq.
type CompareOp uint8

// The comparisons.
const (
	CompareEq CompareOp = iota
	CompareNe
	CompareLt
	CompareLe
	CompareGt
	CompareGe
)

// compareTexts are the comparisons as error messages print them.
var compareTexts = [...]string{"==", "!=", "<", "<=", ">", ">="}

// swapped is the comparison that answers the same with its operands exchanged.
var swapped = [...]CompareOp{CompareEq, CompareNe, CompareGt, CompareGe, CompareLt, CompareLe}
