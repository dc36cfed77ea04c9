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

// --- vmcol: containers, iterators, sort
func (t *hashTable) roots(visit func(Value))    { panic("unbuilt") } // visits keys and values
func (t *hashTable) capacity() int              { panic("unbuilt") } // modelled number of entries: a function of the history of the dict
func (m *Machine) setAdd(s *Set, v Value) error { panic("unbuilt") }

type hashTable struct{}

func (m *Machine) newTuple(items []Value) *Tuple { panic("unbuilt") } // takes the slice over

func (m *Machine) newList(items []Value) *List { panic("unbuilt") }

func (m *Machine) newDict() *Dict { panic("unbuilt") }

func (m *Machine) newSet() *Set { panic("unbuilt") }

func (m *Machine) dictGet(d *Dict, key Value) (Value, bool, error) { panic("unbuilt") } // any key: may call __hash__ and __eq__

func (m *Machine) dictPut(d *Dict, key, v Value) error { panic("unbuilt") }

func (m *Machine) dictDel(d *Dict, key Value) (bool, error) { panic("unbuilt") }

func (d *Dict) getStr(m *Machine, key *Str) (Value, bool) { panic("unbuilt") } // never calls Python as long as all keys are str

func (d *Dict) putStr(m *Machine, key *Str, v Value) { panic("unbuilt") }

func (m *Machine) containerBinary(op Operator, a, b Value) (Value, bool, error) { panic("unbuilt") }

func (m *Machine) containerCompare(op CompareOp, a, b Value) (Value, bool, error) { panic("unbuilt") }

// Direct forms of the protocols for builtin kinds, exact or of a subclass: false
// when v is not of the area's kinds. x unbound in set means delete.
func (m *Machine) textGetItem(v, key Value) (Value, bool, error)         { panic("unbuilt") } // vmnum
func (m *Machine) textSetItem(v, key, x Value) (bool, error)             { panic("unbuilt") } // vmnum: bytearray
func (m *Machine) textContains(v, x Value) (is, ok bool, err error)      { panic("unbuilt") } // vmnum
func (m *Machine) textIter(v Value) (Value, bool)                        { panic("unbuilt") } // vmnum
func (m *Machine) numberHash(v Value) (int64, bool)                      { panic("unbuilt") } // vmnum: int, bool, float
func (m *Machine) textHash(v Value) (int64, bool)                        { panic("unbuilt") } // vmnum: str, bytes
func (m *Machine) numberRepr(v Value) (*Str, bool)                       { panic("unbuilt") } // vmnum
func (m *Machine) textRepr(v Value) (*Str, bool)                         { panic("unbuilt") } // vmnum
func (m *Machine) numberUnary(op code.Op, v Value) (Value, bool)         { panic("unbuilt") } // vmnum: Neg, Pos, Inv
func (m *Machine) numberTruth(v Value) (is, ok bool)                     { panic("unbuilt") } // vmnum: int, bool, float
func (m *Machine) builtinFormat(v Value, spec *Str) (*Str, bool, error)  { panic("unbuilt") } // vmnum: str, int, bool, float
func (v Value) bytes() (string, bool)                                    { panic("unbuilt") } // vmnum: bytes or bytearray
func nfcText(s *Str) string                                              { panic("unbuilt") } // vmnum: the NFC form of the text, s itself for ASCII
func (s *Str) val() Value                                                { panic("unbuilt") } // vmnum
func (m *Machine) containerGetItem(v, key Value) (Value, bool, error)    { panic("unbuilt") } // vmcol: tuple, list, range, dict (with __missing__ for subclasses)
func (m *Machine) containerSetItem(v, key, x Value) (bool, error)        { panic("unbuilt") } // vmcol: list, dict
func (m *Machine) containerContains(v, x Value) (is, ok bool, err error) { panic("unbuilt") } // vmcol: tuple, list, dict, set, range, views
func (m *Machine) containerIter(v Value) (Value, bool)                   { panic("unbuilt") } // vmcol: the same and native iterators (itself)
func (m *Machine) containerHash(v Value) (int64, bool, error)            { panic("unbuilt") } // vmcol: tuple, frozenset, range
func (m *Machine) containerRepr(v Value) (*Str, bool, error)             { panic("unbuilt") } // vmcol: through m.Enter; recursive ones print ...
func (m *Machine) containerLen(v Value) (int, bool)                      { panic("unbuilt") } // vmcol: all sized kinds of vmcol
func (m *Machine) classOfVariant(v Value) *Class                         { panic("unbuilt") } // vmcol: set or frozenset, dict views; generators by vmcore
func (m *Machine) iterNext(it *Iterator) (Value, bool, error)            { panic("unbuilt") } // vmcol: native iterator, remembers exhaustion

func (m *Machine) dictItems(d *Dict) (keys, values []Value) { panic("unbuilt") } // vmcol: snapshot in order
func (m *Machine) sortValues(items []Value) error           { panic("unbuilt") } // vmcol: stable, by <, in place
func (m *Machine) newMappingProxy(mapping Value) Value      { panic("unbuilt") } // vmcol
func (m *Machine) newInt(n *big.Int) Value                  { panic("unbuilt") } // vmnum: normalised to a small int where it fits
func (rt *Runtime) numberBuiltins() []Def                   { panic("unbuilt") } // vmnum
func (rt *Runtime) containerBuiltins() []Def                { panic("unbuilt") } // vmcol
