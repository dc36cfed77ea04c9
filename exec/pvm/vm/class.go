package vm

// Classes: what a class is, how a class statement makes one (class_build.go,
// class_new.go, class_names.go), its order of resolution, descriptors and super, and the
// forms of annotations (class_alias.go, class_parameters.go, class_union.go). Builtin
// classes are made once with the runtime and never change.

// Class is a class, builtin or of the program. Builtin classes belong to the
// runtime and never change.
type Class struct {
	Object   // its class is the metaclass
	name     string
	qualName string
	module   string
	bases    []*Class
	mro      []*Class // itself first
	names    namespace
	subs     []*Class // direct subclasses made by this program

	layout  Kind // which struct its instances are
	hasDict bool // instances have attributes of their own
	slots   []*Member
	final   bool   // refuses subclasses, as bool does
	builtin bool   // immutable, of the runtime
	dotted  bool   // messages name its module as well
	version uint32 // changes with the namespace of any class in mro; 0 only for builtins

	special   *specials          // special methods found along mro, unbound when absent; filled per version
	borrows   bool               // special is that of the only base: the class has none of its own
	found     map[string]finding // along a long MRO, right for version foundAt; looked up, never iterated
	foundAt   uint32
	foundText int    // bytes of the names in found
	filled    uint32 // version+1 for which special is right
	ways      ways   // in which calling the class can be cut short, right for version ready-1
	ready     uint32
	shape     *shape  // root shape of instances
	pattern   Pattern // what instances are to match statements
	fields    int     // most attributes that an instance was seen to have, a hint
}

// Attrs holds the attributes of an instance: values by the shape's slots, or
// a dict once the program has asked for __dict__.
type Attrs struct {
	shape  *shape
	values []Value
	dict   *Dict // when not nil it is the truth
	kept   bool  // of a kept object, not yet changed
}

// shape is a hidden class: which attribute is in which slot (the maps of Self: Chambers,
// Ungar and Lee, "An Efficient Implementation of SELF", 1989). Shapes form a tree
// from the root of each class and belong to one machine. A shape is never changed but for
// its successors, so two instances of one shape have the same names in the same slots for
// good: that is what inline caches compare. shapesMax bounds them for a machine, shapeNames
// the depth and breadth of the tree; beyond either, attributes are in a dict.
type shape struct {
	names  []*Str
	index  map[string]int    // of the first names, which shapes share; looked up, never iterated
	first  *shape            // that followed first
	next   map[string]*shape // that followed it otherwise
	parent *shape
	kept   bool // of the library that the machine keeps
}

// Instance is an object of a class of the program over object.
type Instance struct {
	Object
	Attrs
	slots []Value // of __slots__
}

// Member is the descriptor of one of __slots__ or of a data attribute of
// a builtin class.
type Member struct {
	Object
	name  string
	owner *Class
	index int                                        // of the slot, when get is nil
	get   func(m *Machine, obj Value) (Value, error) // computed attribute of a builtin class
	set   func(m *Machine, obj, v Value) error       // v unbound: delete; nil: read-only
	doc   Value                                      // unbound: None
}

// specials are the special methods of a class.
type specials [numSpecials]Value

// special indexes the methods that operators and protocols look up on classes.
type special uint8

// specialNames gives each its name, in order; see the constants.
var specialNames = [...]string{
	"__new__", "__init__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__",
	"__get__", "__set__", "__delete__", "__call__", "__repr__", "__str__", "__format__", "__bytes__",
	"__hash__", "__bool__", "__len__", "__length_hint__", "__iter__", "__next__", "__reversed__", "__contains__",
	"__getitem__", "__setitem__", "__delitem__", "__missing__",
	"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
	"__add__", "__sub__", "__mul__", "__matmul__", "__truediv__", "__mod__", "__pow__", "__lshift__", "__rshift__", "__or__", "__xor__", "__and__", "__floordiv__",
	"__radd__", "__rsub__", "__rmul__", "__rmatmul__", "__rtruediv__", "__rmod__", "__rpow__", "__rlshift__", "__rrshift__", "__ror__", "__rxor__", "__rand__", "__rfloordiv__",
	"__iadd__", "__isub__", "__imul__", "__imatmul__", "__itruediv__", "__imod__", "__ipow__", "__ilshift__", "__irshift__", "__ior__", "__ixor__", "__iand__", "__ifloordiv__",
	"__divmod__", "__rdivmod__", "__neg__", "__pos__", "__abs__", "__invert__",
	"__int__", "__float__", "__index__", "__round__", "__trunc__", "__floor__", "__ceil__",
	"__enter__", "__exit__", "__aenter__", "__aexit__", "__await__", "__aiter__", "__anext__",
	"__instancecheck__", "__subclasscheck__", "__prepare__", "__set_name__", "__init_subclass__", "__class_getitem__", "__mro_entries__", "__dir__",
	"__class__",
}

const numSpecials = len(specialNames)

// The special methods, in the order of specialNames. Binary operators keep the
// order of syntax.Operator, so that an operator's number is an offset.
const (
	spNew special = iota
	spInit
	spGetattribute
	spGetattr
	spSetattr
	spDelattr
	spGet
	spSet
	spDelete
	spCall
	spRepr
	spStr
	spFormat
	spBytes
	spHash
	spBool
	spLen
	spLengthHint
	spIter
	spNext
	spReversed
	spContains
	spGetitem
	spSetitem
	spDelitem
	spMissing
	spEq
	spNe
	spLt
	spLe
	spGt
	spGe
	spAdd // first of thirteen
)

const (
	spRAdd   = spAdd + 13
	spIAdd   = spRAdd + 13
	spDivmod = spIAdd + 13 + iota - 2
	spRDivmod
	spNeg
	spPos
	spAbs
	spInvert
	spInt
	spFloat
	spIndex
	spRound
	spTrunc
	spFloor
	spCeil
	spEnter
	spExit
	spAEnter
	spAExit
	spAwait
	spAIter
	spANext
	spInstancecheck
	spSubclasscheck
	spPrepare
	spSetName
	spInitSubclass
	spClassGetitem
	spMroEntries
	spDir
	spClass
)
