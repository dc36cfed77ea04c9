package code

import "fmt"

// field is where an operand stands in an instruction.
type field uint8

const (
	fieldA field = iota
	fieldB
	fieldC
	fieldWide
)

// operandKind tells what an operand counts.
type operandKind uint8

const (
	asRegister operandKind = iota
	asLocal
	asConst
	asName
	asFree
	asCode
	asTarget
	asNumber   // up to count
	asKeywords // of Call
)

var kindNames = [...]string{"register", "local", "constant", "name", "free variable", "code", "instruction", "number", "keywords"}

func (k operandKind) String() string { return kindNames[k] }

// operand describes one operand of an opcode. A register is the first of count,
// or of as many as span tells from the instruction.
type operand struct {
	field field
	kind  operandKind
	count int
	size  spanKind
}

type spanKind uint8

const (
	spanCount  spanKind = iota
	spanC               // C registers
	spanPairs           // 2C registers
	spanCall            // callable, self, B arguments
	spanFormat          // value and, with C&4, the specification
	spanEx              // targets of UnpackEx
	spanRaised          // exception of Raise, if B tells one
	spanCause           // cause of Raise, if B tells one
)

// span returns how many registers the operand stands for.
func (x operand) span(in Instr) int {
	switch x.size {
	case spanC:
		return int(in.C)
	case spanPairs:
		return 2 * int(in.C)
	case spanCall:
		return 2 + int(in.B)
	case spanFormat:
		return 1 + int(in.C>>2&1)
	case spanEx:
		return int(in.C&255) + 1 + int(in.C>>8)
	case spanRaised:
		return min(int(in.B), 1)
	case spanCause:
		return int(in.B >> 1 & 1)
	}
	return max(x.count, 1)
}

// String returns the opcode's name.
func (o Op) String() string {
	if int(o) < NumOps {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint16(o))
}

// opNames are the names of the opcodes.
var opNames = [NumOps]string{
	Nop:            "Nop",
	Move:           "Move",
	LoadK:          "LoadK",
	Clear:          "Clear",
	Check:          "Check",
	MakeCell:       "MakeCell",
	GetCell:        "GetCell",
	SetCell:        "SetCell",
	DelCell:        "DelCell",
	GetFree:        "GetFree",
	SetFree:        "SetFree",
	DelFree:        "DelFree",
	FreeRef:        "FreeRef",
	GetFreeIn:      "GetFreeIn",
	GetGlobal:      "GetGlobal",
	SetGlobal:      "SetGlobal",
	DelGlobal:      "DelGlobal",
	GetName:        "GetName",
	SetName:        "SetName",
	DelName:        "DelName",
	GetAttr:        "GetAttr",
	SetAttr:        "SetAttr",
	DelAttr:        "DelAttr",
	GetMethod:      "GetMethod",
	GetItem:        "GetItem",
	SetItem:        "SetItem",
	DelItem:        "DelItem",
	BuildSlice:     "BuildSlice",
	Add:            "Add",
	Sub:            "Sub",
	Mul:            "Mul",
	MatMul:         "MatMul",
	Div:            "Div",
	Mod:            "Mod",
	Pow:            "Pow",
	LShift:         "LShift",
	RShift:         "RShift",
	BitOr:          "BitOr",
	BitXor:         "BitXor",
	BitAnd:         "BitAnd",
	FloorDiv:       "FloorDiv",
	IAdd:           "IAdd",
	ISub:           "ISub",
	IMul:           "IMul",
	IMatMul:        "IMatMul",
	IDiv:           "IDiv",
	IMod:           "IMod",
	IPow:           "IPow",
	ILShift:        "ILShift",
	IRShift:        "IRShift",
	IBitOr:         "IBitOr",
	IBitXor:        "IBitXor",
	IBitAnd:        "IBitAnd",
	IFloorDiv:      "IFloorDiv",
	AddI:           "AddI",
	Neg:            "Neg",
	Pos:            "Pos",
	Inv:            "Inv",
	Not:            "Not",
	Eq:             "Eq",
	Ne:             "Ne",
	Lt:             "Lt",
	Le:             "Le",
	Gt:             "Gt",
	Ge:             "Ge",
	Is:             "Is",
	IsNot:          "IsNot",
	In:             "In",
	NotIn:          "NotIn",
	Jump:           "Jump",
	JumpIf:         "JumpIf",
	JumpIfNot:      "JumpIfNot",
	JumpIfNone:     "JumpIfNone",
	EqJump:         "EqJump",
	NeJump:         "NeJump",
	LtJump:         "LtJump",
	LeJump:         "LeJump",
	GtJump:         "GtJump",
	GeJump:         "GeJump",
	GetIter:        "GetIter",
	ForIter:        "ForIter",
	GetAIter:       "GetAIter",
	GetANext:       "GetANext",
	Yield:          "Yield",
	YieldFrom:      "YieldFrom",
	Await:          "Await",
	Call:           "Call",
	CallEx:         "CallEx",
	Return:         "Return",
	BuildTuple:     "BuildTuple",
	BuildList:      "BuildList",
	BuildSet:       "BuildSet",
	BuildDict:      "BuildDict",
	BuildString:    "BuildString",
	Format:         "Format",
	ListAppend:     "ListAppend",
	ListExtend:     "ListExtend",
	ListToTuple:    "ListToTuple",
	SetAdd:         "SetAdd",
	SetUpdate:      "SetUpdate",
	DictPut:        "DictPut",
	DictUpdate:     "DictUpdate",
	DictMerge:      "DictMerge",
	Unpack:         "Unpack",
	UnpackEx:       "UnpackEx",
	MakeFunction:   "MakeFunction",
	BuildClass:     "BuildClass",
	SetAnnotations: "SetAnnotations",
	Enter:          "Enter",
	Leave:          "Leave",
	MatchExc:       "MatchExc",
	Raise:          "Raise",
	Reraise:        "Reraise",
	MatchGroup:     "MatchGroup",
	RaiseStar:      "RaiseStar",
	GetAssertion:   "GetAssertion",
	EnterWith:      "EnterWith",
	EnterAWith:     "EnterAWith",
	ExcInfo:        "ExcInfo",
	EndAsync:       "EndAsync",
	MatchSeq:       "MatchSeq",
	MatchMap:       "MatchMap",
	MatchIs:        "MatchIs",
	Len:            "Len",
	MatchKeys:      "MatchKeys",
	DictRest:       "DictRest",
	MatchClass:     "MatchClass",
	ImportName:     "ImportName",
	ImportFrom:     "ImportFrom",
	ImportStar:     "ImportStar",
}

// operands describe the operands of each opcode.
var operands = [NumOps][]operand{
	Move:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	LoadK:        {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asConst}},
	Clear:        {{field: fieldA, kind: asRegister}},
	Check:        {{field: fieldA, kind: asLocal}},
	MakeCell:     {{field: fieldA, kind: asLocal}},
	GetCell:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asLocal}, {field: fieldC, kind: asName}},
	SetCell:      {{field: fieldA, kind: asLocal}, {field: fieldB, kind: asRegister}},
	DelCell:      {{field: fieldA, kind: asLocal}, {field: fieldB, kind: asName}},
	GetFree:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asFree}},
	SetFree:      {{field: fieldA, kind: asFree}, {field: fieldB, kind: asRegister}},
	DelFree:      {{field: fieldA, kind: asFree}},
	FreeRef:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asFree}},
	GetFreeIn:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asFree}},
	GetGlobal:    {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asName}},
	SetGlobal:    {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asName}},
	DelGlobal:    {{field: fieldWide, kind: asName}},
	GetName:      {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asName}},
	SetName:      {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asName}},
	DelName:      {{field: fieldWide, kind: asName}},
	GetAttr:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asName}},
	SetAttr:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asName}, {field: fieldC, kind: asRegister}},
	DelAttr:      {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asName}},
	GetMethod:    {{field: fieldA, kind: asRegister, count: 2}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asName}},
	GetItem:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	SetItem:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	DelItem:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	BuildSlice:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, count: 3}},
	Add:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Sub:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Mul:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	MatMul:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Div:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Mod:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Pow:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	LShift:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	RShift:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	BitOr:        {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	BitXor:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	BitAnd:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	FloorDiv:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IAdd:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	ISub:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IMul:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IMatMul:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IDiv:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IMod:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IPow:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	ILShift:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IRShift:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IBitOr:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IBitXor:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IBitAnd:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IFloorDiv:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	AddI:         {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Neg:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Pos:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Inv:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Not:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Eq:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Ne:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Lt:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Le:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Gt:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Ge:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Is:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	IsNot:        {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	In:           {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	NotIn:        {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Jump:         {{field: fieldWide, kind: asTarget}},
	JumpIf:       {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asTarget}},
	JumpIfNot:    {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asTarget}},
	JumpIfNone:   {{field: fieldA, kind: asRegister}, {field: fieldWide, kind: asTarget}},
	EqJump:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asNumber, count: 1}},
	NeJump:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asNumber, count: 1}},
	LtJump:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asNumber, count: 1}},
	LeJump:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asNumber, count: 1}},
	GtJump:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asNumber, count: 1}},
	GeJump:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asNumber, count: 1}},
	GetIter:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	ForIter:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	GetAIter:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	GetANext:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Yield:        {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	YieldFrom:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Await:        {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	Call:         {{field: fieldA, kind: asRegister, size: spanCall}, {field: fieldC, kind: asKeywords}},
	CallEx:       {{field: fieldA, kind: asRegister, count: 4}},
	Return:       {{field: fieldA, kind: asRegister}},
	BuildTuple:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, size: spanC}},
	BuildList:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, size: spanC}},
	BuildSet:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, size: spanC}},
	BuildDict:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, size: spanPairs}},
	BuildString:  {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, size: spanC}},
	Format:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, size: spanFormat}, {field: fieldC, kind: asNumber, count: 7}},
	ListAppend:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	ListExtend:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	ListToTuple:  {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	SetAdd:       {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	SetUpdate:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	DictPut:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	DictUpdate:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	DictMerge:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Unpack:       {{field: fieldA, kind: asRegister, size: spanC}, {field: fieldB, kind: asRegister}},
	UnpackEx:     {{field: fieldA, kind: asRegister, size: spanEx}, {field: fieldB, kind: asRegister}},
	MakeFunction: {{field: fieldA, kind: asRegister, count: 4}, {field: fieldB, kind: asCode}},
	BuildClass:   {{field: fieldA, kind: asRegister}},
	Enter:        {{field: fieldA, kind: asRegister, count: 2}},
	Leave:        {{field: fieldA, kind: asRegister, count: 2}},
	MatchExc:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Raise:        {{field: fieldB, kind: asNumber, count: 2}, {field: fieldA, kind: asRegister, size: spanRaised}, {field: fieldC, kind: asRegister, size: spanCause}},
	Reraise:      {{field: fieldA, kind: asRegister}},
	MatchGroup:   {{field: fieldA, kind: asRegister, count: 2}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	RaiseStar:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	GetAssertion: {{field: fieldA, kind: asRegister}},
	EnterWith:    {{field: fieldA, kind: asRegister, count: 2}, {field: fieldB, kind: asRegister}},
	EnterAWith:   {{field: fieldA, kind: asRegister, count: 2}, {field: fieldB, kind: asRegister}},
	ExcInfo:      {{field: fieldA, kind: asRegister, count: 3}, {field: fieldB, kind: asRegister}},
	EndAsync:     {{field: fieldA, kind: asRegister}},
	MatchSeq:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	MatchMap:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	MatchIs:      {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	Len:          {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}},
	MatchKeys:    {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	DictRest:     {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asRegister}},
	MatchClass:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister, count: 3}},
	ImportName:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asName}, {field: fieldC, kind: asNumber, count: 1}},
	ImportFrom:   {{field: fieldA, kind: asRegister}, {field: fieldB, kind: asRegister}, {field: fieldC, kind: asName}},
	ImportStar:   {{field: fieldA, kind: asRegister}},
}
