package vm

// Values: the 16 bytes that registers and containers hold, and the kinds of objects.
// abstract_*.go asks any object for its length, items, order or text, attr_*.go for its
// attributes; each tries the builtin kinds first and the special methods of the class
// after.

import "math/big"

// Kind says which Go struct an object is, whatever its class.
type Kind uint8

// The kinds. Small ints, floats, bools and the singletons have no object of
// their own.
const (
	KindUnbound Kind = iota
	KindNone
	KindEllipsis
	KindNotImplemented
	KindBool
	KindInt   // small, or *Int: beyond 64 bits, or of a subclass
	KindFloat // inline, or *Float: of a subclass
	KindStr
	KindBytes
	KindByteArray
	KindTuple
	KindList
	KindDict
	KindSet
	KindFrozenSet
	KindRange
	KindSlice
	KindFunction
	KindNative // builtin function, unbound method of a builtin class
	KindMethod // bound
	KindClass
	KindInstance
	KindModule
	KindCell
	KindGenerator // generators, coroutines and asynchronous generators
	KindException
	KindProperty
	KindStaticMethod
	KindClassMethod
	KindSuper
	KindIterator // native iterators
	KindDictView
	KindMappingProxy
	KindMember // of __slots__, and data attributes of builtin classes
	KindCode
	KindTraceback
	KindForeign // an object of the library: *Foreign
)

// Object is the header that every object begins with.
//
// Owner: the machine whose call made it, or the runtime, whose objects are frozen: all
// machines read those at once and none writes them, the mark included. An object never
// passes from one machine to another. kind, class of a builtin and self are set when it is
// made; mark is the measurement's (heap_trace.go), order that of identity ([Value] has no
// address that a program could see).
type Object struct {
	kind  Kind
	mark  uint8  // epoch of the last heap measurement that met it
	order uint32 // position among the objects whose identity was asked for, from 1; 0: never
	class *Class // nil: the builtin class of the kind
	attrs *Attrs // attributes of instances whose class gives them a __dict__, else nil
	self  any    // pointer to the struct that embeds this header
}

// Value is a Python value. The zero Value is "unbound": no value at all.
//
// It is two words that are copied; what ref points to is shared, as in Python. bits counts
// only with the tags of bools, ints and floats, and is zero with every other ref, so that
// == of two Values is identity of objects and equality of what lies inline (ADR 27).
type Value struct {
	ref  *Object
	bits uint64
}

// Tags of the values that live in the Value itself.
var (
	noneTag           = Object{kind: KindNone}
	ellipsisTag       = Object{kind: KindEllipsis}
	notImplementedTag = Object{kind: KindNotImplemented}
	boolTag           = Object{kind: KindBool}
	intTag            = Object{kind: KindInt}
	floatTag          = Object{kind: KindFloat}

	// None, True and False and the other singletons.
	None           = Value{ref: &noneTag}
	True           = Value{ref: &boolTag, bits: 1}
	False          = Value{ref: &boolTag}
	EllipsisValue  = Value{ref: &ellipsisTag}
	NotImplemented = Value{ref: &notImplementedTag}
	unbound        = Value{}
)

// Bool returns True or False.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// SmallInt returns an int of 64 bits.
func SmallInt(n int64) Value { return Value{ref: &intTag, bits: uint64(n)} }

// FloatBits returns a float by its binary64 encoding.
func FloatBits(b uint64) Value { return Value{ref: &floatTag, bits: b} }

// Bound tells whether v is a value.
func (v Value) Bound() bool { return v.ref != nil }

// Kind returns the kind of v; KindUnbound for none.
func (v Value) Kind() Kind {
	if v.ref == nil {
		return KindUnbound
	}
	return v.ref.kind
}

// IsNone tells whether v is None.
func (v Value) IsNone() bool { return v.ref == &noneTag }

// smallInt returns the number of an inline int, bools not included.
func (v Value) smallInt() (int64, bool) { return int64(v.bits), v.ref == &intTag }

// is is Python's identity without the rule against ints and strings.
func (v Value) is(w Value) bool { return v == w }

// Int is an int beyond 64 bits, or of a subclass of int. big is never changed.
type Int struct {
	Object
	big *big.Int
}

// Float is a float of a subclass of float.
type Float struct {
	Object
	bits uint64
}

// Str is a string: valid UTF-8 without surrogates.
type Str struct {
	Object
	s     string
	hash  uint64    // internal keyed hash of the NFC form, 0: not yet known
	other *strOther // what few strings have, nil at first
	runes uint32    // code points
	nfc   uint8     // 0 unknown, 1 s is in NFC, 2 it is not
}

// strOther is what is known of strings beyond ASCII, once asked for.
type strOther struct {
	norm  string   // the NFC form where s is not in it
	marks []uint32 // offsets of each 64th code point
}

// Bytes is bytes.
type Bytes struct {
	Object
	b string
}

// ByteArray is bytearray.
type ByteArray struct {
	Object
	b []byte
}

// Tuple is a tuple; items are never changed once a program can see it.
type Tuple struct {
	Object
	items []Value
}

// List is a list.
type List struct {
	Object
	items []Value
}

// Dict is a dict in insertion order.
type Dict struct {
	Object
	table hashTable
}

// Set is a set or a frozenset, by its kind, in insertion order.
type Set struct {
	Object
	table  hashTable
	hash   int64 // of a frozenset, with hashed
	hashed bool
}

// Range is a range; the three are ints.
type Range struct {
	Object
	start, stop, step Value
	length            Value
}

// Slice is a slice.
type Slice struct {
	Object
	start, stop, step Value
}

// Cell holds a captured variable.
type Cell struct {
	Object
	v Value
}

// Method is a function bound to a receiver.
type Method struct {
	Object
	fn, recv Value
}

// Module is a module; its attributes are in dict.
type Module struct {
	Object
	name string
	dict *Dict
}

// Payload is what the library keeps in a [Foreign] object.
type Payload interface {
	// Roots visits the values that the payload keeps alive.
	Roots(visit func(Value))
	// Bytes is the modelled size of the payload beside the values.
	Bytes() int
}

// Stepper is a payload whose class has a __next__ that does what Step does:
// false when exhausted.
type Stepper interface {
	Payload
	Step(m *Machine) (Value, bool, error)
}

// Foreign is an instance of a class of the library.
type Foreign struct {
	Object
	Payload Payload
}

// StaticMethod is staticmethod(fn).
type StaticMethod struct {
	Object
	fn Value
}

// ClassMethod is classmethod(fn).
type ClassMethod struct {
	Object
	fn Value
}

// Property is property(get, set, del, doc); what is absent is None.
type Property struct {
	Object
	get, set, del, doc Value
	name               string
	getterDoc          bool // doc is get's
}

// Super is super(class, obj).
type Super struct {
	Object
	class *Class // the class after which the search begins
	obj   Value  // instance or class
	start *Class // whose MRO is searched
}
