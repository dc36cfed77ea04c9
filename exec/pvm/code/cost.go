//spec:implements whitepaper 3.5

package code

// Cycles is an amount of metered work.
type Cycles = int64

// Dynamic holds the prices of work whose size only the operands tell. Each is
// charged before the work is done (whitepaper §3.5, resolutions 2.7 and 2.8).
type Dynamic struct {
	Char       Cycles // per code point or byte that an operation on text or bytes reads or writes
	Element    Cycles // per element that an operation on a container reads or writes
	DictOp     Cycles // per look-up or store in a dict or set made by a native
	LimbWork   Cycles // per product of two 64-bit limbs, per limb for linear work
	Compare    Cycles // per comparison of a sort, min or max, beside what __lt__ costs
	NativeCall Cycles // per call that a native makes, of natives and of functions of the program
	Step       Cycles // per item that a native takes from an iterator
	Copy       Cycles // per entry of a dict or set copied as a whole
	RegexStep  Cycles // per step of the matcher
	FloatFunc  Cycles // per function of math beyond the operators
	TraceUnit  Cycles // per object visited when the heap is measured
	Token      Cycles // per token compiled
	Symbol     Cycles // per name in a scope compiled, those included that only pass through
	Scope      Cycles // per function, class or comprehension compiled
	Instr      Cycles // per instruction that compiling makes
}

// Costs is the table of one version of the machine.
type Costs struct {
	Ops     [NumOps]Cycles
	Dynamic Dynamic
	Work    Work
}

// DefaultCosts returns the table of genesis: the anchors of whitepaper §3.5
// where it names the operation (arithmetic 1, call 10, dict access 3, list
// access 2, one per character), the least number that keeps time per cycle
// within bounds elsewhere.
func DefaultCosts() Costs {
	var c Costs
	// Bounded: by NumOps, once at start.
	for op, n := range [NumOps]Cycles{
		Call: 10, CallEx: 10, MakeFunction: 5, BuildClass: 100,
		GetGlobal: 3, SetGlobal: 3, DelGlobal: 3, GetName: 3, SetName: 3, DelName: 3,
		GetAttr: 3, SetAttr: 3, DelAttr: 3, GetMethod: 3,
		GetItem: 3, SetItem: 3, DelItem: 3, DictPut: 3,
		ListAppend: 2, SetAdd: 3, BuildTuple: 2, BuildList: 2, BuildSet: 3, BuildDict: 3, BuildSlice: 2,
		BuildString: 2, Format: 3, ListExtend: 2, SetUpdate: 3, DictUpdate: 3, DictMerge: 3,
		MakeCell: 2, In: 3, NotIn: 3, GetIter: 3, ForIter: 2, Yield: 5, YieldFrom: 5, Await: 5,
		Raise: 10, Reraise: 5, MatchExc: 3, Enter: 2, EnterWith: 5, EnterAWith: 5,
		MatchClass: 5, MatchKeys: 3, DictRest: 3, ImportName: 10, ImportFrom: 3, ImportStar: 10,
	} {
		c.Ops[op] = max(n, 1)
	}
	// Bounded: by the six comparisons, once at start.
	for i := range GeJump - EqJump + 1 {
		c.Ops[EqJump+i] = c.Ops[Eq+i] + c.Ops[JumpIf]
	}
	c.Dynamic = Dynamic{
		Char: 1, Element: 1, DictOp: 3, LimbWork: 1, Compare: 2, NativeCall: 10, Step: 4, Copy: 4,
		RegexStep: 1, FloatFunc: 250, TraceUnit: 1, Token: 22, Symbol: 50, Scope: 100, Instr: 3,
	}
	c.Work = defaultWork()
	return c
}
