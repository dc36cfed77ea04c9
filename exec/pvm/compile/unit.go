package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// unit is one code object being made.
type unit struct {
	c      *compiler
	parent *unit // or nil
	scope  *scope.Scope
	obj    *code.Object
	line   int32 // of what is being compiled

	locals  map[string]int // registers of parameters and locals, by long name
	fixed   int            // registers below this are not temporaries
	top     int            // first free register
	unsure  map[string]bool
	rebound map[string]bool // by assignment expressions

	assigned bitset // locals that surely hold a value here
	dead     bool   // nothing reaches this place
	barrier  int    // instructions before this one stay where they are
	blocks   []*block

	consts map[string]int
	names  map[string]int
	frees  map[string]int
}

func (c *compiler) newUnit(parent *unit, s *scope.Scope, name string, at syntax.Pos) *unit {
	c.codes++
	limit(at, c.codes, c.lim.Codes, "code objects")
	f := &unit{
		c: c, parent: parent, scope: s, line: at.Line,
		obj:    &code.Object{Name: name, File: c.file, FirstLine: at.Line},
		locals: map[string]int{}, unsure: map[string]bool{}, rebound: map[string]bool{},
		consts: map[string]int{}, names: map[string]int{}, frees: map[string]int{},
	}
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for i, sym := range s.Frees() {
		f.frees[sym.Name] = i
		f.obj.Free = append(f.obj.Free, sym.Name)
		if sym.Name == "__class__" {
			f.obj.Flags |= code.HasClassCell
		}
	}
	f.declareLocals(at)
	return f
}

// declareLocals gives parameters and locals their registers, and cells to those
// that functions further in read.
func (f *unit) declareLocals(at syntax.Pos) {
	declare := func(name string) {
		if _, ok := f.locals[name]; !ok {
			f.locals[name] = len(f.obj.Locals)
			f.obj.Locals = append(f.obj.Locals, name)
		}
	}
	s := f.scope
	if s.Kind.IsFunction() {
		f.obj.Flags |= code.Optimized
		// Paid: by the names of the scope, 50 cycles each (ADR 59).
		for _, p := range s.Params {
			declare(p.Name)
		}
		// Paid: by the names of the scope, 50 cycles each (ADR 59).
		for _, sym := range s.Symbols {
			if sym.Resolution == scope.Local || sym.Resolution == scope.Cell {
				declare(sym.Name)
			}
		}
	} else if s.NeedsClassCell {
		declare("__class__")
		f.obj.Flags |= code.HasClassCell
	}
	f.fixed = len(f.obj.Locals)
	f.alloc(f.fixed)
	f.assigned = make(bitset, (f.fixed+63)/64)
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for i := range s.Params {
		f.assigned.set(i)
	}
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for i, name := range f.obj.Locals {
		sym := s.Lookup(name)
		if s.Kind == scope.Class || sym != nil && sym.Resolution == scope.Cell {
			f.obj.Cells = append(f.obj.Cells, uint16(i))
			f.emit(code.MakeCell, i, 0, 0)
		}
	}
}

// alloc takes n temporaries and returns the first.
func (f *unit) alloc(n int) int {
	r := f.top
	f.top += n
	limit(syntax.Pos{Line: f.line}, f.top, f.c.lim.Registers, "registers")
	f.obj.Registers = max(f.obj.Registers, f.top)
	return r
}

func (f *unit) isTemp(r int) bool { return r >= f.fixed }

// emit adds an instruction unless nothing reaches it. It returns its index,
// or -1.
func (f *unit) emit(op code.Op, a, b, c int) int {
	if f.dead {
		return -1
	}
	return f.append(code.Instr{Op: op, A: uint16(a), B: uint16(b), C: uint16(c)})
}

func (f *unit) emitWide(op code.Op, a, wide int) int {
	if f.dead {
		return -1
	}
	return f.append(code.Instr{Op: op, A: uint16(a)}.WithWide(uint32(wide)))
}

func (f *unit) append(in code.Instr) int {
	f.c.instructions++
	limit(syntax.Pos{Line: f.line}, f.c.instructions, f.c.lim.Instructions, "instructions")
	f.obj.Instrs = append(f.obj.Instrs, in)
	f.obj.Lines = append(f.obj.Lines, f.line)
	return len(f.obj.Instrs) - 1
}

// move copies a register unless it is the same one.
func (f *unit) move(dst, src int) {
	if dst != src {
		f.emit(code.Move, dst, src, 0)
	}
}

// finish ends the body as if by return None and closes the object.
func (f *unit) finish() *code.Object {
	if !f.dead {
		r := f.alloc(1)
		f.loadConst(r, code.Const{Kind: code.None})
		f.emit(code.Return, r, 0, 0)
	}
	return f.close()
}

// close drops the rows of the exception table that cover nothing.
func (f *unit) close() *code.Object {
	rows := f.obj.Handlers[:0]
	// Paid: by the tokens of try and with, a row or three each (ADR 59).
	for _, h := range f.obj.Handlers {
		if h.Start < h.End {
			rows = append(rows, h)
		}
	}
	f.obj.Handlers = rows
	f.obj.LinkHandlers()
	return f.obj
}

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }

func (b bitset) clone() bitset { return append(bitset(nil), b...) }

func (b bitset) and(o bitset) {
	// Bounded: by the registers of a function, 4,096 bits in 64 words.
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bitset) or(o bitset) {
	// Bounded: by the registers of a function, 4,096 bits in 64 words.
	for i := range b {
		b[i] |= o[i]
	}
}
