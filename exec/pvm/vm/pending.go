package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// This file lists the functions of the contract that their owners have not
// built yet; an owner deletes the lines that he builds. It is empty, and gone,
// before the machine runs anything.

// --- vmcore: interp, calls, generators, heap, imports
type frame struct{}
type heap struct{}

func (m *Machine) Alloc(bytes int)                             { panic("unbuilt") } // announce modelled bytes before allocating; may abort with OutOfMemory at the next safe point or at once when a single request exceeds the limit
func (m *Machine) Call(fn Value, args ...Value) (Value, error) { panic("unbuilt") } // from natives; counts depth
func (m *Machine) CallArgs(fn Value, a Args) (Value, error)    { panic("unbuilt") }
func (m *Machine) handling() *Exception                        { panic("unbuilt") } // the exception being handled, for __context__
func (m *Machine) importModule(name string) (*Module, error)   { panic("unbuilt") }

// --- vmobj: classes, attributes, dispatch, exceptions
func (m *Machine) Raise(c *Class, format string, args ...any) error { panic("unbuilt") } // text from the versioned table: format is a literal
func (m *Machine) RaiseValue(c *Class, args ...Value) error         { panic("unbuilt") } // exception with these args
func (m *Machine) classOf(v Value) *Class                           { panic("unbuilt") }
func (m *Machine) find(c *Class, name string) (Value, bool)         { panic("unbuilt") } // along the MRO, no descriptor call
func (m *Machine) specialOf(v Value, sp special) (Value, bool)      { panic("unbuilt") } // unbound function of v's class
func (m *Machine) callSpecial(v Value, sp special, args ...Value) (Value, bool, error) {
	panic("unbuilt")
}                                                                           // false: absent (or None)
func (m *Machine) GetAttr(v Value, name *Str) (Value, error)                { panic("unbuilt") }
func (m *Machine) LookupAttr(v Value, name *Str) (Value, bool, error)       { panic("unbuilt") } // false instead of AttributeError
func (m *Machine) getMethod(v Value, name *Str) (fn, self Value, err error) { panic("unbuilt") } // self unbound when fn is already bound
func (m *Machine) SetAttr(v Value, name *Str, x Value) error                { panic("unbuilt") } // x unbound: delete
func (m *Machine) Binary(op Operator, a, b Value) (Value, error)            { panic("unbuilt") }
func (m *Machine) InPlace(op Operator, a, b Value) (Value, error)           { panic("unbuilt") }
func (m *Machine) Unary(op code.Op, a Value) (Value, error)                 { panic("unbuilt") } // Neg, Pos, Inv, Not
func (m *Machine) Compare(op CompareOp, a, b Value) (Value, error)          { panic("unbuilt") } // Eq..Ge, any result
func (m *Machine) CompareBool(op CompareOp, a, b Value) (bool, error)       { panic("unbuilt") } // identity implies equality, as in containers
func (m *Machine) Identical(a, b Value) (bool, error)                       { panic("unbuilt") } // is: DeterminismError on str, int, float
func (m *Machine) Truth(v Value) (bool, error)                              { panic("unbuilt") }
func (m *Machine) Len(v Value) (int, error)                                 { panic("unbuilt") }
func (m *Machine) GetItem(v, key Value) (Value, error)                      { panic("unbuilt") }
func (m *Machine) SetItem(v, key, x Value) error                            { panic("unbuilt") }
func (m *Machine) DelItem(v, key Value) error                               { panic("unbuilt") }
func (m *Machine) Contains(v, x Value) (bool, error)                        { panic("unbuilt") }
func (m *Machine) Iter(v Value) (Value, error)                              { panic("unbuilt") }
func (m *Machine) Next(it Value) (Value, bool, error)                       { panic("unbuilt") } // false: exhausted
func (m *Machine) Each(v Value, fn func(Value) error) error                 { panic("unbuilt") } // iterates anything
func (m *Machine) Collect(v Value) ([]Value, error)                         { panic("unbuilt") } // items of any iterable; charged and announced
func (m *Machine) Hash(v Value) (int64, error)                              { panic("unbuilt") } // Python's hash()
func (m *Machine) Repr(v Value) (*Str, error)                               { panic("unbuilt") }
func (m *Machine) Str(v Value) (*Str, error)                                { panic("unbuilt") }
func (m *Machine) ASCII(v Value) (*Str, error)                              { panic("unbuilt") }
func (m *Machine) Format(v Value, spec *Str) (*Str, error)                  { panic("unbuilt") }
func (m *Machine) IsInstance(v, class Value) (bool, error)                  { panic("unbuilt") }
func (m *Machine) IsSubclass(c, class Value) (bool, error)                  { panic("unbuilt") }
func (m *Machine) buildClass(a Args) (Value, error)                         { panic("unbuilt") }

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
type hashTable struct{}

func (m *Machine) newTuple(items []Value) *Tuple                                  { panic("unbuilt") } // takes the slice over
func (m *Machine) newList(items []Value) *List                                    { panic("unbuilt") }
func (m *Machine) newDict() *Dict                                                 { panic("unbuilt") }
func (m *Machine) newSet() *Set                                                   { panic("unbuilt") }
func (m *Machine) dictGet(d *Dict, key Value) (Value, bool, error)                { panic("unbuilt") } // any key: may call __hash__ and __eq__
func (m *Machine) dictPut(d *Dict, key, v Value) error                            { panic("unbuilt") }
func (m *Machine) dictDel(d *Dict, key Value) (bool, error)                       { panic("unbuilt") }
func (d *Dict) getStr(m *Machine, key *Str) (Value, bool)                         { panic("unbuilt") } // never calls Python as long as all keys are str
func (d *Dict) putStr(m *Machine, key *Str, v Value)                              { panic("unbuilt") }
func (m *Machine) containerBinary(op Operator, a, b Value) (Value, bool, error)   { panic("unbuilt") }
func (m *Machine) containerCompare(op CompareOp, a, b Value) (Value, bool, error) { panic("unbuilt") }
