package code

import (
	"math/big"
	"sort"
)

// Flags describe how a code object is entered.
type Flags uint16

// The flags. A code object without any is a plain function.
const (
	VarArgs        Flags = 1 << iota // takes *args
	VarKeywords                      // takes **kwargs
	Generator                        // def with yield
	Coroutine                        // async def without yield
	AsyncGenerator                   // async def with yield
	ClassBody                        // runs in a namespace, returns its __class__ cell or None
	ModuleBody                       // globals are its namespace
	HasClassCell                     // Free or a cell holds __class__, for super()
	Optimized                        // names are registers (functions, lambdas, comprehensions)
)

// ConstKind tells the members of the union [Const].
type ConstKind uint8

// The kinds of constants.
const (
	None ConstKind = iota
	True
	False
	Ellipsis
	Int       // Int64
	BigInt    // Big, beyond 64 bits
	Binary64  // Bits, an encoding of softfloat
	Str       // Text, UTF-8
	Bytes     // Text
	Tuple     // Items
	FrozenSet // Items, for "x in {1, 2}"
)

// Const is a constant. Strings are in NFC.
type Const struct {
	Kind  ConstKind
	Int64 int64
	Bits  uint64
	Text  string
	Big   *big.Int
	Items []Const
}

// Handler is a row of the exception table: an exception raised by an
// instruction in [Start, End) continues at Target with the exception in register
// Reg. Of the rows that hold the instruction the last one in the table wins, so
// inner ranges follow outer ones.
type Handler struct {
	Start, End, Target uint32
	Reg                uint16
	Outer              uint32 // 1 + the number of the row around it, 0: none
}

// HandlerAt returns the innermost row around instruction i, nil when there is none. An
// object may have thousands, which an exception must not go through one by one.
func (o *Object) HandlerAt(i uint32) *Handler {
	// Bounded: by 16 steps, for an object has fewer than 2^16 handlers.
	k := sort.Search(len(o.Handlers), func(k int) bool { return o.Handlers[k].Start > i })
	// Bounded: by the blocks that a source nests.
	for k > 0 {
		h := &o.Handlers[k-1]
		if i < h.End {
			return h
		}
		k = int(h.Outer)
	}
	return nil
}

// LinkHandlers notes for each row, in the order that [Verify] wants, which is around it.
func (o *Object) LinkHandlers() {
	var open []int
	// Paid: by the tokens and instructions whose compiling made the object.
	for i := range o.Handlers {
		h := &o.Handlers[i]
		// Paid: by the tokens and instructions whose compiling made the object.
		for len(open) > 0 && o.Handlers[open[len(open)-1]].End <= h.Start {
			open = open[:len(open)-1]
		}
		if h.Outer = 0; len(open) > 0 {
			h.Outer = uint32(open[len(open)-1] + 1)
		}
		open = append(open, i)
	}
}

// Object is one compiled function, lambda, comprehension, class body or module.
// It is immutable.
type Object struct {
	Name      string
	QualName  string
	File      string // name for tracebacks
	Doc       string // docstring, with HasDoc
	HasDoc    bool
	Flags     Flags
	FirstLine int32
	Tokens    int // of a module: tokens of its source, for the charge of compiling

	// Parameters. Their registers come in this order: PosOnly + the rest of
	// Args positional ones, KwOnly keyword-only ones, then *args, then **kwargs.
	Args    int // positional, positional-only ones included
	PosOnly int
	KwOnly  int

	Locals    []string // names of the registers of parameters and locals
	Registers int
	Cells     []uint16 // registers that MakeCell turns into cells, for the debugger
	Free      []string // names of the free variables, in the order of the closure

	Instrs   []Instr
	Lines    []int32 // source line of each instruction
	Consts   []Const
	Names    []string
	Codes    []*Object
	Handlers []Handler

	Generated bool // while a program runs: its memory is counted with what holds it
	Bytes     int  // of generated code, without that within it: see OwnSize
}

// Bytes that the parts of an object keep on a machine of 64 bits, headers of strings
// and slices included.
const (
	objectBytes  = 384
	instrBytes   = 16 // with its line
	constBytes   = 72
	stringBytes  = 16
	handlerBytes = 20
)

// Size returns about how many bytes the object keeps, for the bound of a cache.
func (o *Object) Size() int {
	n := objectBytes + len(o.Name) + len(o.QualName) + len(o.Doc) + instrBytes*len(o.Instrs) + handlerBytes*len(o.Handlers) + 2*len(o.Cells)
	// Paid: by the tokens and instructions whose compiling made the object.
	for _, list := range [][]string{o.Locals, o.Free, o.Names} {
		// Paid: by the tokens and instructions whose compiling made the object.
		for _, s := range list {
			n += stringBytes + len(s)
		}
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for i := range o.Consts {
		n += o.Consts[i].size()
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for _, c := range o.Codes {
		n += c.Size()
	}
	return n
}

// OwnSize is Size without what is within the object.
func (o *Object) OwnSize() int {
	alone := *o
	alone.Codes = nil
	return alone.Size()
}

// Items is how many names and constants the code has, and that within it: what a machine
// makes ready before it runs.
func (o *Object) Items() int {
	n := len(o.Names)
	// Paid: by the tokens and instructions whose compiling made the object.
	for i := range o.Consts {
		n += o.Consts[i].items()
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for _, c := range o.Codes {
		n += c.Items()
	}
	return n
}

func (c *Const) items() int {
	n := 1
	// Paid: by the tokens and instructions whose compiling made the object.
	for i := range c.Items {
		n += c.Items[i].items()
	}
	return n
}

func (c *Const) size() int {
	n := constBytes + len(c.Text)
	if c.Big != nil {
		n += c.Big.BitLen() / 8
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for i := range c.Items {
		n += c.Items[i].size()
	}
	return n
}

// Count returns how many instructions the object and those within it have.
func (o *Object) Count() int {
	n := len(o.Instrs)
	// Paid: by the tokens and instructions whose compiling made the object.
	for _, c := range o.Codes {
		n += c.Count()
	}
	return n
}
