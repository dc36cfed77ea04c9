package code

// Instr is one instruction.
type Instr struct {
	Op      Op
	A, B, C uint16
}

// Wide returns B and C as one number of 32 bits, B the lower half.
func (i Instr) Wide() uint32 { return uint32(i.B) | uint32(i.C)<<16 }

// WithWide returns the instruction with B and C set to w.
func (i Instr) WithWide(w uint32) Instr {
	i.B, i.C = uint16(w), uint16(w>>16)
	return i
}

// Op is an opcode. R is the register file, K the constants, N the names.
type Op uint16

// The instruction set.
const (
	Nop Op = iota

	// Moves.
	Move      // R[A] = R[B]
	LoadK     // R[A] = K[Wide]
	Clear     // R[A] is unbound from here on
	Check     // raises UnboundLocalError for local A when R[A] is unbound
	MakeCell  // R[A] = a new cell that holds R[A], which may be unbound
	GetCell   // R[A] = contents of the cell in register B; UnboundLocalError naming N[C]
	SetCell   // contents of the cell in register A = R[B]
	DelCell   // empties the cell in register A; UnboundLocalError naming N[B] when empty
	GetFree   // R[A] = contents of free variable B; NameError naming Code.Free[B] when empty
	SetFree   // contents of free variable A = R[B]
	DelFree   // empties free variable A
	FreeRef   // R[A] = the cell itself of free variable B
	GetFreeIn // R[A] = name Code.Free[B] looked up in the class body's namespace, then the free variable
	GetGlobal // R[A] = global or builtin N[Wide]; NameError
	SetGlobal // global N[Wide] = R[A]
	DelGlobal // removes global N[Wide]
	GetName   // R[A] = N[Wide] in the class body's namespace, the globals, the builtins
	SetName   // N[Wide] in the class body's namespace = R[A]
	DelName   // removes N[Wide] from the class body's namespace

	// Attributes and items.
	GetAttr    // R[A] = R[B].N[C]
	SetAttr    // R[A].N[B] = R[C]
	DelAttr    // del R[A].N[Wide]
	GetMethod  // R[A] = callable for R[B].N[C], R[A+1] = R[B], or unbound when A is already bound to it
	GetItem    // R[A] = R[B][R[C]]
	SetItem    // R[A][R[B]] = R[C]
	DelItem    // del R[A][R[B]]
	BuildSlice // R[A] = slice(R[B], R[B+1], R[B+2])

	// Arithmetic: R[A] = R[B] op R[C], in the order of syntax.Operator.
	Add
	Sub
	Mul
	MatMul
	Div
	Mod
	Pow
	LShift
	RShift
	BitOr
	BitXor
	BitAnd
	FloorDiv
	// The same, in place: R[A] = R[B] op= R[C].
	IAdd
	ISub
	IMul
	IMatMul
	IDiv
	IMod
	IPow
	ILShift
	IRShift
	IBitOr
	IBitXor
	IBitAnd
	IFloorDiv
	AddI // R[A] = R[B] + int16(C); costs what Add costs; also for x - c with -C, and for x += c
	Neg  // R[A] = -R[B]
	Pos  // R[A] = +R[B]
	Inv  // R[A] = ~R[B]
	Not  // R[A] = not R[B]

	// Comparison: R[A] = R[B] op R[C], in the order of syntax.CmpOperator.
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Is
	IsNot
	In
	NotIn

	// Jumps.
	Jump       // continue at Wide
	JumpIf     // continue at Wide if R[A] is true
	JumpIfNot  // continue at Wide if R[A] is false
	JumpIfNone // continue at Wide if R[A] is None
	// Fused comparison and branch +jump: continue at the jump's target if
	// (R[A] op R[B]) is true and C is 1, or is false and C is 0. Costs what the
	// comparison and JumpIf cost.
	EqJump
	NeJump
	LtJump
	LeJump
	GtJump
	GeJump

	// Iteration.
	GetIter  // R[A] = iter(R[B])
	ForIter  // +jump: R[B] = next(R[A]), or continue at the target when exhausted
	GetAIter // R[A] = aiter(R[B]), not awaited
	GetANext // R[A] = awaitable of anext(R[B]), to be awaited with Await

	// Generators. Suspension happens in these three only.
	Yield     // yields R[B]; R[A] = what is sent on resumption
	YieldFrom // R[A] = result of yield from R[B]; stays here while R[B] yields (PEP 380)
	Await     // R[A] = result of await R[B]; like YieldFrom over R[B]'s awaitable

	// Calls. The callable is in R[A], R[A+1] is self or unbound, the arguments
	// start at R[A+2]; the result goes to R[A].
	Call   // B arguments, of which the last are keywords named by the tuple K[C-1] if C > 0
	CallEx // R[A+2] an iterable of positional arguments, R[A+3] a mapping of keywords or unbound
	Return // returns R[A]

	// Displays.
	BuildTuple  // R[A] = tuple of R[B] to R[B+C-1]
	BuildList   // R[A] = list of R[B] to R[B+C-1]
	BuildSet    // R[A] = set of R[B] to R[B+C-1]
	BuildDict   // R[A] = dict of C pairs at R[B], R[B+1], ...
	BuildString // R[A] = the strings R[B] to R[B+C-1], joined
	Format      // R[A] = R[B] formatted: C&3 is 0 nothing, 1 str, 2 repr, 3 ascii first; C&4: the spec is R[B+1]
	ListAppend  // R[A].append(R[B])
	ListExtend  // R[A].extend(R[B]), as for [*x]
	ListToTuple // R[A] = tuple(R[B]), R[B] a list
	SetAdd      // R[A].add(R[B])
	SetUpdate   // R[A].update(R[B])
	DictPut     // R[A][R[B]] = R[C], R[A] a dict
	DictUpdate  // R[A].update(R[B]), as for {**x}
	DictMerge   // R[A].update(R[B]) for call keywords; TypeError naming callable R[C] on a duplicate
	Unpack      // R[A] to R[A+C-1] = exactly C items of R[B]
	UnpackEx    // R[A]... = (C&255) items of R[B], a list of the middle, (C>>8) items

	// Functions and classes.
	// MakeFunction: R[A] = function of Code.Codes[B]; in R[A] to R[A+3] before it
	// a tuple of defaults, a dict of keyword defaults, a dict of annotations and
	// a tuple of cells, each unbound when there is none.
	MakeFunction
	BuildClass     // R[A] = the function behind class statements: (body, name, *bases, **keywords)
	SetAnnotations // makes __annotations__ in the namespace when absent

	// Exceptions.
	Enter        // R[A] holds what was caught: it becomes the handled exception; R[A+1] = the one before
	Leave        // the handled exception is R[A+1] again
	MatchExc     // R[A] = whether exception R[B] matches R[C], a class or a tuple
	Raise        // B = 0: re-raise the handled one; 1: raise R[A]; 2: raise R[A] from R[C]
	Reraise      // raises R[A] again, its traceback and context as they are
	MatchGroup   // except*: R[A] = part of R[B] that matches R[C] or None, R[A+1] = the rest or None
	RaiseStar    // R[A] = what to raise after except*, of original R[B] and list R[C]; None for nothing
	GetAssertion // R[A] = AssertionError
	EnterWith    // R[A] = bound __exit__ of R[B], R[A+1] = bound __enter__
	EnterAWith   // the same with __aexit__ and __aenter__
	ExcInfo      // R[A], R[A+1], R[A+2] = type, value, traceback of exception R[B]
	EndAsync     // raises R[A] again unless it is a StopAsyncIteration, the end of async for

	// Pattern matching.
	MatchSeq   // R[A] = whether R[B] is a sequence for patterns
	MatchMap   // R[A] = whether R[B] is a mapping for patterns
	MatchIs    // R[A] = whether R[B] is R[C], for the patterns True and False
	Len        // R[A] = len(R[B])
	MatchKeys  // R[A] = tuple of the values of R[B] at the keys in tuple R[C], or None
	DictRest   // R[A] = dict of R[B] without the keys in tuple R[C]
	MatchClass // R[A] = tuple of attributes of R[B] by class R[B+1], keyword names in tuple R[B+2], and C positional ones; or None

	// Modules.
	ImportName // R[A] = module N[B]; C = 0: the top package of a dotted name, 1: the named module
	ImportFrom // R[A] = attribute N[C] of module R[B], else its submodule; ImportError
	ImportStar // copies the public names of module R[A] to the globals

	NumOps int = iota
)

// HasJump tells whether a second word with a jump follows the opcode.
func (o Op) HasJump() bool { return o >= EqJump && o <= GeJump || o == ForIter }
