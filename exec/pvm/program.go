package pvm

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/continuation"
	"github.com/cowboy-foundation/cowboy/exec/pvm/gate"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Hash is keccak256 of a source (whitepaper §1.2: code_hash).
type Hash [32]byte

// HashOf returns the hash of a source.
func HashOf(src []byte) Hash { return Hash(keccak.Sum256(src)) }

// Program is a compiled source. It is immutable.
type Program struct {
	Hash  Hash
	Code  *code.Object
	Bytes int // that it keeps, compiled: the measure of a cache

	// CompileCycles is what deploying the source costs for its compilation, the
	// same whether a cache had it or not.
	CompileCycles code.Cycles
	// Imports are the modules of the library that it names. It compiles the same on
	// every chain; whether one lets it import them, [Program.Within] says.
	Imports []gate.Import
	// Items are its names and constants, which a machine makes ready when it loads it.
	Items int
}

// ErrForbidden is wrapped by a [*Refusal].
var ErrForbidden = errors.New("forbidden by the deterministic subset")

// Refusal is what the static gate found. It names every finding with its line.
type Refusal struct{ Report *gate.Report }

// Error returns the first finding and how many there are.
func (r *Refusal) Error() string {
	n := len(r.Report.Findings) + r.Report.More
	if n == 1 {
		return r.Report.Findings[0].String()
	}
	return fmt.Sprintf("%s (and %d more)", r.Report.Findings[0], n-1)
}

// Unwrap returns ErrForbidden.
func (r *Refusal) Unwrap() error { return ErrForbidden }

// Limits bound what one source may ask of the front end.
type Limits struct {
	Compile      compile.Limits
	Gate         gate.Limits
	Continuation continuation.Limits
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{Compile: compile.DefaultLimits(), Gate: gate.DefaultLimits(), Continuation: continuation.DefaultLimits()}
}

// Inspect returns what the gate says of a source, forbidden or not. The error is
// that of the parser or the symbol tables.
func Inspect(src []byte, lim Limits) (*gate.Report, error) {
	_, _, report, err := front(src, lim, new(bill))
	return report, err
}

// front is everything before compilation.
func front(src []byte, lim Limits, b *bill) (*syntax.Module, *scope.Table, *gate.Report, error) {
	mod, err := syntax.Parse(src, lim.Compile.Syntax)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := b.add(mod.Tokens, b.prices.Token); err != nil {
		return nil, nil, nil, err
	}
	if err := syntax.Check(mod); err != nil {
		return nil, nil, nil, err
	}
	table, err := scope.Analyze(mod, lim.Compile.Scope)
	if err != nil {
		return nil, nil, nil, b.addUndone(err)
	}
	if err := b.addScopes(table); err != nil {
		return nil, nil, nil, err
	}
	report, err := gate.Check(mod, table, lim.Gate)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("static gate: %w", err)
	}
	return mod, table, report, nil
}

// Compile makes a program of a source. file is its name in tracebacks. The error
// is that of the parser, the symbol tables, package continuation or the compiler,
// each with its place, a *[Refusal], or a *[FrontDefect].
func Compile(src []byte, file string, lim Limits) (*Program, error) {
	p, _, err := CompileWithin(src, file, lim, 0)
	return p, err
}

// ErrCycles means that compiling costs more than there is. What it refers to is not
// compiled to its end.
var ErrCycles = errors.New("compiling costs more cycles than there are")

// CompileWithin is [Compile] for at most so many cycles, 0 for any number. It also
// returns what was done of the work: all of [Program.CompileCycles], or what came
// before the error.
func CompileWithin(src []byte, file string, lim Limits, most code.Cycles) (*Program, code.Cycles, error) {
	b := &bill{most: most, prices: code.DefaultCosts().Dynamic}
	p, err := guarded(func() (*Program, error) { return compileSource(src, file, lim, b) })
	return p, b.spent, err
}

// bill adds up what compiling costs, stage by stage: each is counted before the next,
// which is bounded by what was counted.
type bill struct {
	most, spent code.Cycles
	prices      code.Dynamic
}

// add counts n units.
func (b *bill) add(n int, price code.Cycles) error {
	b.spent += code.Cycles(n) * price
	if b.most > 0 && b.spent > b.most {
		return ErrCycles
	}
	return nil
}

// addUndone counts what was made before the symbol tables or the compiler refused. It
// returns their error, or [ErrCycles].
func (b *bill) addUndone(err error) error {
	var s *scope.Error
	var c *compile.Error
	paid := error(nil)
	switch {
	case errors.As(err, &s):
		b.spent += code.Cycles(s.Scopes) * b.prices.Scope
		paid = b.add(s.Symbols, b.prices.Symbol)
	case errors.As(err, &c):
		paid = b.add(c.Instructions, b.prices.Instr)
	}
	if paid != nil {
		return paid
	}
	return err
}

// addScopes counts the scopes of a program and the names in them.
func (b *bill) addScopes(t *scope.Table) error {
	scopes, symbols := t.Count()
	b.spent += code.Cycles(scopes) * b.prices.Scope
	return b.add(symbols, b.prices.Symbol)
}

// guarded makes a [FrontDefect] of a panic of the Go runtime.
func guarded(compile func() (*Program, error)) (p *Program, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case interface {
			error
			RuntimeError()
		}:
			p, err = nil, &FrontDefect{cause.Error(), string(debug.Stack())}
		default:
			panic(cause)
		}
	}()
	return compile()
}

// FrontDefect is a panic of the Go runtime while a source was compiled - nil, bounds,
// a failed assertion: a defect of ours, in which the source alone has a part, so that
// every node of this version refuses it. Any other panic goes on.
type FrontDefect struct{ Panic, Stack string }

func (d *FrontDefect) Error() string { return "a defect of the compiler" }

func compileSource(src []byte, file string, lim Limits, b *bill) (*Program, error) {
	mod, table, report, err := front(src, lim, b)
	if err != nil {
		return nil, err
	}
	if !report.Clean() {
		return nil, &Refusal{Report: report}
	}
	lowered, err := continuation.Transform(mod, lim.Continuation, func(units int) error { return b.add(units, b.prices.Token) })
	if err != nil {
		return nil, err
	}
	if lowered != mod {
		if table, err = scope.Analyze(lowered, lim.Compile.Scope); err != nil {
			return nil, b.addUndone(err)
		}
		if err := b.addScopes(table); err != nil {
			return nil, err
		}
	}
	o, err := compile.Compile(lowered, table, file, lim.Compile)
	if err != nil {
		return nil, b.addUndone(err)
	}
	if err := code.Verify(o); err != nil {
		return nil, fmt.Errorf("compiled code: %w", err)
	}
	if err := b.add(o.Count(), b.prices.Instr); err != nil {
		return nil, err
	}
	return &Program{Hash: HashOf(src), Code: o, Bytes: o.Size(), CompileCycles: b.spent, Imports: report.Imports, Items: o.Items()}, nil
}

// Within returns a *[Refusal] when the program names a module of the library that is
// not listed.
func (p *Program) Within(listed map[string]bool) error {
	if report := gate.Unlisted(p.Imports, listed); !report.Clean() {
		return &Refusal{Report: report}
	}
	return nil
}
