package continuation

import (
	"math/big"
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// lowering turns one handler into blocks.
type lowering struct {
	lim    Limits
	charge func(units int) // of the transformer
	name   string          // qualified
	at     syntax.Pos
	self   string // first parameter of a method
	locals *variables
	temps  []string
	vars   []string        // all variables, in order
	isTemp map[string]bool // the same, looked up, never iterated

	awaiting  map[syntax.Node]bool // of nodes that were asked for it, looked up, never iterated
	returning map[inLoop]bool      // likewise

	blocks  []*block
	current *block
	region  *region // around the statement being lowered
	loop    *loop   // likewise
	handled string  // variable with the exception that a bare raise raises
	awaits  []*await
	next    int // number of the next block that is no await
	made    int // statements so far

	nodes map[syntax.Node]int // of finally clauses, looked up, never iterated
}

func newLowering(f *syntax.AsyncFunctionDef, name string, lim Limits) *lowering {
	return &lowering{
		lim: lim, charge: func(int) {}, name: name, at: f.Pos, locals: localsOf(f), nodes: map[syntax.Node]int{},
		isTemp: map[string]bool{}, awaiting: map[syntax.Node]bool{}, returning: map[inLoop]bool{},
	}
}

// block is a piece of straight code; the last of its statements leaves it.
type block struct {
	id     int
	stmts  []syntax.Stmt
	region *region
	succ   []int
	flow   *flow    // what is live at the beginning
	live   []string // the names of it, of a block that an answer resumes
}

// region is the body of a try or with statement that contains an await: an
// exception in its blocks goes to the block catch.
type region struct {
	parent *region
	catch  int
	loop   *loop
	// final are the statements that run when control leaves the region by
	// a jump; nil when there are none.
	final []syntax.Stmt
	exits []exit // blocks made for jumps through final
	join  *join  // where final awaits
}

type exit struct {
	target, block int
	stop          *region // in which target lies
}

// join is a finally clause that awaits: it is lowered once, and goes on from its
// end to where control was going when it came.
type join struct {
	block        int    // its beginning
	why          string // variable: wentOn, wasRaised or the number of an exit
	raised, kept string // variables: the exception, the value to be returned
}

// Values of why.
const (
	wentOn = iota
	wasRaised
	firstExit
)

// returnTarget stands for return among the targets of jumps.
const returnTarget = -1

// loop is a loop that contains an await.
type loop struct {
	parent      *loop
	again, exit int
	region      *region // around the loop
}

// await is a place where the handler may be suspended.
type await struct {
	at    syntax.Pos
	label int
	block *block // that the answer resumes
	from  *block // that suspends
	index int    // in from, of the statement that suspends
}

func number(at syntax.Pos, n int) syntax.Expr {
	return &syntax.Constant{Pos: at, Kind: syntax.ConstInt, Int: big.NewInt(int64(n))}
}

// reserveID takes the number of a block to come.
func (l *lowering) reserveID() int {
	l.next++
	return firstBlock + l.next - 1
}

// Units of the charge for a block, whose number is asked for in every step, and for one
// whose exceptions go somewhere: they are looked for by number once more.
const (
	blockUnits  = 2
	regionUnits = 3
)

// beginBlock makes the block of that number the current one.
func (l *lowering) beginBlock(id int) {
	l.charge(blockUnits)
	if l.region != nil {
		l.charge(regionUnits)
	}
	b := &block{id: id, region: l.region}
	l.blocks = append(l.blocks, b)
	l.current = b
}

func (l *lowering) emit(ss ...syntax.Stmt) {
	l.charge(len(ss))
	l.made += len(ss)
	if l.made > l.lim.Statements {
		refuse(l.at, "the handler is too large to be taken apart at its awaits")
	}
	l.current.stmts = append(l.current.stmts, ss...)
}

// jump returns the statements that go to a block.
func (l *lowering) jump(at syntax.Pos, id int) []syntax.Stmt {
	l.current.succ = append(l.current.succ, id)
	return []syntax.Stmt{assign(at, pcName, number(at, id)), &syntax.Continue{Pos: at}}
}

// endBlock ends the current block with a jump.
func (l *lowering) endBlock(at syntax.Pos, id int) { l.emit(l.jump(at, id)...) }

// branch ends the current block with a choice.
func (l *lowering) branch(at syntax.Pos, test syntax.Expr, yes, no int) {
	l.emit(&syntax.If{Pos: at, Test: test, Body: l.jump(at, yes)})
	l.endBlock(at, no)
}

// tempShare is how many variables of its own the lowering may make for each that a handler
// may have: all are followed through all blocks, and stored where they are live.
const tempShare = 4

func (l *lowering) temp(prefix string) string {
	if most := tempShare * l.lim.Variables; len(l.temps) == most {
		refuse(l.at, "more than %d intermediate values in a handler that waits for runners", most)
	}
	t := "." + prefix + big.NewInt(int64(len(l.temps))).String()
	l.temps, l.isTemp[t] = append(l.temps, t), true
	return t
}

// stepFunction makes the function of all steps.
func (l *lowering) stepFunction(f *syntax.AsyncFunctionDef) syntax.Stmt {
	body := f.Body
	if docstring(body) != nil {
		body = body[1:]
	}
	l.beginBlock(0)
	l.stmts(body)
	l.emit(&syntax.Return{Pos: f.Pos})
	// Bounded: by Limits.Awaits, 8.
	slices.SortStableFunc(l.awaits, func(a, b *await) int { return a.label - b.label })
	l.liveness()
	at := f.Pos
	args := &syntax.Arguments{}
	if l.self != "" {
		args.Args = append(args.Args, &syntax.Arg{Pos: at, Arg: l.self})
	}
	// Bounded: by the names in the list.
	for _, p := range []string{pcName, captured, outcome} {
		args.Args = append(args.Args, &syntax.Arg{Pos: at, Arg: p})
	}
	l.chargeStored()
	l.captures()
	var out []syntax.Stmt
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range body {
		if g, ok := s.(*syntax.Global); ok {
			out = append(out, g)
		}
	}
	var vars []string
	// Paid: by the tokens of the parameters, at most 256 (ADR 59).
	for _, p := range l.locals.params {
		if p != l.self {
			vars = append(vars, p)
		}
	}
	out = append(out, l.restore(0, vars))
	// Bounded: by Limits.Awaits, 8.
	for _, a := range l.awaits {
		out = append(out, l.restore(a.label, a.block.live))
	}
	out = append(out, &syntax.While{Pos: at, Test: &syntax.Constant{Pos: at, Kind: syntax.ConstTrue}, Body: l.dispatch()})
	return &syntax.FunctionDef{Pos: at, Name: stepPrefix + l.name, Args: args, Body: out}
}

// restore gives the variables of a step their values.
func (l *lowering) restore(label int, vars []string) syntax.Stmt {
	at := l.at
	s := &syntax.If{Pos: at, Test: l.isAt(label), Body: []syntax.Stmt{&syntax.Pass{Pos: at}}}
	// Paid: by chargeStored, at least 44 cycles each beyond what tokens pay (ADR 169).
	for _, v := range vars {
		get := assign(at, v, &syntax.Subscript{Pos: at, Value: name(at, captured), Slice: text(at, v)})
		if label != 0 && !l.sure(v) {
			get = &syntax.If{Pos: at, Body: []syntax.Stmt{get}, Test: &syntax.Compare{
				Pos: at, Left: text(at, v), Ops: []syntax.CmpOperator{syntax.In}, Comparators: []syntax.Expr{name(at, captured)},
			}}
		}
		s.Body = append(s.Body, get)
	}
	return s
}

func (l *lowering) isAt(id int) syntax.Expr {
	return &syntax.Compare{Pos: l.at, Left: name(l.at, pcName), Ops: []syntax.CmpOperator{syntax.Eq}, Comparators: []syntax.Expr{number(l.at, id)}}
}

// dispatch is the body of the loop: each block under its number, and where
// exceptions of the blocks go.
func (l *lowering) dispatch() []syntax.Stmt {
	var ifs []syntax.Stmt
	var catches []syntax.Stmt
	// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
	for _, b := range l.blocks {
		ifs = append(ifs, &syntax.If{Pos: b.stmts[0].Position(), Test: l.isAt(b.id), Body: b.stmts})
		if b.region == nil {
			continue
		}
		catches = append(catches, &syntax.If{Pos: l.at, Test: l.isAt(b.id), Body: []syntax.Stmt{
			assign(l.at, thrown, name(l.at, caught)),
			assign(l.at, pcName, number(l.at, b.region.catch)),
			&syntax.Continue{Pos: l.at},
		}})
	}
	if catches == nil {
		return ifs
	}
	catches = append(catches, &syntax.Raise{Pos: l.at})
	return []syntax.Stmt{&syntax.Try{Pos: l.at, Body: ifs, Handlers: []*syntax.ExceptHandler{{
		Pos: l.at, Name: caught, Body: catches,
		Type: &syntax.Attribute{Pos: l.at, Value: name(l.at, sdkModule), Attr: "Everything"},
	}}}}
}
