package scope

import "github.com/cowboy-foundation/cowboy/exec/pvm/syntax"

// Kind says what a scope belongs to.
type Kind uint8

// The kinds of scopes.
const (
	Module Kind = iota
	Class
	Function // def and async def
	Lambda
	ListComp
	SetComp
	DictComp
	GeneratorExp
)

// IsFunction reports whether names bound in the scope can be cells: the scope is
// a function, a lambda or a comprehension.
func (k Kind) IsFunction() bool { return k >= Function }

// IsComprehension reports whether the scope is that of a comprehension or a
// generator expression.
func (k Kind) IsComprehension() bool { return k >= ListComp }

// Resolution says where the value of a name is.
type Resolution uint8

// The resolutions, with CPython's numbers.
const (
	Local          Resolution = 1 + iota // in the scope itself; for a module, among its globals
	GlobalExplicit                       // declared global
	GlobalImplicit                       // in the module or the builtins; in a class, in its own names first
	Free                                 // in a cell of the symbol's Owner; in a class, in its own names first
	Cell                                 // in a cell of the scope itself
)

// Flags tell what a scope does with a name. The values are CPython's.
type Flags uint16

// The flags.
const (
	DeclaredGlobal   Flags = 1 << 0
	Assigned         Flags = 1 << 1 // bound other than by a parameter or an import
	Parameter        Flags = 1 << 2
	DeclaredNonlocal Flags = 1 << 3 // or the target of := in a comprehension
	Used             Flags = 1 << 4
	// FreeClass marks a name that a class binds or declares global while scopes
	// in it read that of the Owner around the class: the class has to pass that
	// cell on beside its own name.
	FreeClass  Flags = 1 << 6
	Imported   Flags = 1 << 7
	Annotated  Flags = 1 << 8
	CompTarget Flags = 1 << 9 // bound by the for of a comprehension

	bound = Assigned | Parameter | Imported
)

// Symbol is one name in one scope.
type Symbol struct {
	Name       string // private names in their long form
	Flags      Flags
	Resolution Resolution
	// Owner is the scope with the cell of a name that is Free or FreeClass: a
	// function, or a class for __class__. Otherwise it is nil.
	Owner *Scope
}

// Has reports whether the symbol has any of the flags.
func (s *Symbol) Has(f Flags) bool { return s.Flags&f != 0 }

// Scope is one of the nested name spaces of a program.
type Scope struct {
	Kind     Kind
	Name     string      // of the function or class; "top", "lambda", "listcomp", ... as in CPython
	Node     syntax.Node // nil for the module
	Parent   *Scope      // nil for the module
	Children []*Scope    // in CPython's order: decorators and defaults before the body, else before except

	// Symbols are in the order of first mention. Those that only pass through to
	// scopes further in come last.
	Symbols []*Symbol
	// Params are the parameters in the order of a frame: positional-only,
	// positional, keyword-only, *args, **kwargs; for comprehensions ".0".
	Params []*Symbol

	Nested       bool // somewhere in a function
	Generator    bool // has yield, or is a generator expression
	Coroutine    bool // async def, or a comprehension that awaits
	VarArgs      bool // has *args
	VarKeywords  bool // has **kwargs
	ReturnsValue bool // has return with a value
	// NeedsClassCell tells a class one of whose functions reads __class__. The
	// class then has a cell of that name, which is no symbol of it.
	NeedsClassCell bool

	index      map[string]*Symbol
	private    *Scope // the innermost class around the names here, or nil
	class      string // of a class: its name without the underscores before it
	directives []directive
	iterDepth  int  // iterables of comprehensions around the place of the walk
	inTarget   bool // the walk is in the target of a comprehension
	annotation bool // stands for an annotation that will be text
	apart      bool // in such an annotation, and thus no part of the table
}

type directive struct {
	name string
	at   syntax.Pos
}

// Lookup returns the symbol of a name in its long form (see [Table.Mangle]), or
// nil when the scope does not mention it.
func (s *Scope) Lookup(name string) *Symbol { return s.index[name] }

// AsyncGenerator reports whether calling the scope makes an asynchronous
// generator.
func (s *Scope) AsyncGenerator() bool { return s.Generator && s.Coroutine }

// Cells returns the symbols that scopes further in read, in the order of
// Symbols.
func (s *Scope) Cells() []*Symbol {
	var cells []*Symbol
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for _, sym := range s.Symbols {
		if sym.Resolution == Cell {
			cells = append(cells, sym)
		}
	}
	return cells
}

// Frees returns the symbols whose cells the scope is handed when it is made, in
// the order of Symbols: those that are Free, and for a class also the FreeClass
// ones.
func (s *Scope) Frees() []*Symbol {
	var frees []*Symbol
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for _, sym := range s.Symbols {
		if sym.Owner != nil {
			frees = append(frees, sym)
		}
	}
	return frees
}

// Table holds the scopes of a program.
type Table struct {
	Module *Scope

	scopes  map[syntax.Node]*Scope // looked up in, never walked
	mangled map[privateName]string
}

// Count returns how many scopes the table has, and names in them.
func (t *Table) Count() (scopes, symbols int) { return t.Module.count() }

func (s *Scope) count() (scopes, symbols int) {
	scopes, symbols = 1, len(s.Symbols)
	// Paid: by the scopes, 100 cycles each, for which this is the count (ADR 59).
	for _, c := range s.Children {
		n, m := c.count()
		scopes, symbols = scopes+n, symbols+m
	}
	return scopes, symbols
}

type privateName struct {
	class *Scope
	name  string
}

// Scope returns the scope that a node introduces: of a FunctionDef,
// AsyncFunctionDef, ClassDef, Lambda, ListComp, SetComp, DictComp or
// GeneratorExp. It is nil for other nodes, and for those inside annotations that
// `from __future__ import annotations` turns into text.
func (t *Table) Scope(n syntax.Node) *Scope { return t.scopes[n] }

// Mangle returns the long form of a name that stands in s (Python reference
// §6.2.1): a private name under the innermost class, any other as it is.
func (t *Table) Mangle(s *Scope, name string) string {
	if s.private == nil || !isPrivate(name) {
		return name
	}
	if long, ok := t.mangled[privateName{s.private, name}]; ok {
		return long
	}
	return mangle(s.private, name)
}
