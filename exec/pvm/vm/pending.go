package vm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// This file lists the functions of the contract that their owners have not
// built yet; an owner deletes the lines that he builds. It is empty, and gone,
// before the machine runs anything.

// --- vmcore: interp, calls, generators, heap, imports

// --- vmobj: classes, attributes, dispatch, exceptions

// --- vmnum: numbers and text
func (m *Machine) newStr(s string) *Str                                        { panic("unbuilt") } // charges nothing, announces memory
func (m *Machine) newBytes(b string) *Bytes                                    { panic("unbuilt") }
func (v Value) str() (*Str, bool)                                              { panic("unbuilt") } // str or of a subclass
func (m *Machine) Index(v Value) (int64, error)                                { panic("unbuilt") } // operator.index; OverflowError beyond 64 bits
func (m *Machine) numberBinary(op Operator, a, b Value) (Value, bool, error)   { panic("unbuilt") } // false: not both int, bool or float
func (m *Machine) textBinary(op Operator, a, b Value) (Value, bool, error)     { panic("unbuilt") } // str, bytes, bytearray: +, *, %
func (m *Machine) numberCompare(op CompareOp, a, b Value) (Value, bool, error) { panic("unbuilt") }
func (m *Machine) textCompare(op CompareOp, a, b Value) (Value, bool, error)   { panic("unbuilt") }

// Direct forms of the protocols for builtin kinds, exact or of a subclass: false
// when v is not of the area's kinds. x unbound in set means delete.
func (m *Machine) textGetItem(v, key Value) (Value, bool, error)        { panic("unbuilt") } // vmnum
func (m *Machine) textSetItem(v, key, x Value) (bool, error)            { panic("unbuilt") } // vmnum: bytearray
func (m *Machine) textContains(v, x Value) (is, ok bool, err error)     { panic("unbuilt") } // vmnum
func (m *Machine) textIter(v Value) (Value, bool)                       { panic("unbuilt") } // vmnum
func (m *Machine) numberHash(v Value) (int64, bool)                     { panic("unbuilt") } // vmnum: int, bool, float
func (m *Machine) textHash(v Value) (int64, bool)                       { panic("unbuilt") } // vmnum: str, bytes
func (m *Machine) numberRepr(v Value) (*Str, bool)                      { panic("unbuilt") } // vmnum
func (m *Machine) textRepr(v Value) (*Str, bool)                        { panic("unbuilt") } // vmnum
func (m *Machine) numberUnary(op code.Op, v Value) (Value, bool)        { panic("unbuilt") } // vmnum: Neg, Pos, Inv
func (m *Machine) numberTruth(v Value) (is, ok bool)                    { panic("unbuilt") } // vmnum: int, bool, float
func (m *Machine) builtinFormat(v Value, spec *Str) (*Str, bool, error) { panic("unbuilt") } // vmnum: str, int, bool, float
func (v Value) bytes() (string, bool)                                   { panic("unbuilt") } // vmnum: bytes or bytearray
func nfcText(s *Str) string                                             { panic("unbuilt") } // vmnum: the NFC form of the text, s itself for ASCII
func (s *Str) val() Value                                               { panic("unbuilt") } // vmnum

func (m *Machine) newInt(n *big.Int) Value   { panic("unbuilt") } // vmnum: normalised to a small int where it fits
func (rt *Runtime) numberBuiltins() []Def    { panic("unbuilt") } // vmnum
func (rt *Runtime) containerBuiltins() []Def { panic("unbuilt") } // vmcol
