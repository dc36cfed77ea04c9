package vm

// Args are the arguments of a call: the positional ones, then one value for
// each of Names, which are keywords. The slice belongs to the caller and is
// valid during the call only.
type Args struct {
	Values []Value
	Names  []*Str
}

// Positional returns the values that are not keywords.
func (a Args) Positional() []Value { return a.Values[:len(a.Values)-len(a.Names)] }

// NativeFunc is a function written in Go. The receiver of a method comes first.
type NativeFunc func(m *Machine, args Args) (Value, error)

// Native is a builtin function or a method of a builtin class. It belongs to
// the runtime or, for closures such as functools.partial, to a machine.
type Native struct {
	Object
	name     string
	min      int      // positional arguments; the receiver counts
	max      int      // -1: any number
	params   []string // names for keywords, one per position; nil: takes no keywords, fn sees Names when keywords is set
	keywords bool     // fn takes keywords itself
	method   bool     // binds to a receiver when found on a class
	owner    *Class   // of a method
	takes    Kind     // struct that the method's Go code expects of its receiver; KindUnbound: any
	checked  bool     // the first argument is held to owner: of __new__ and of methods of foreign objects
	home     string   // module of the library that defines it, or ""
	fn       NativeFunc
	keeps    Value // what fn captures, unbound: nothing
}

// Def describes one native for a class or module: the way in for the library.
//
// With Params set, keywords are put into their positions before Fn runs, absent
// optional ones are unbound, and Fn sees len(Params) values; CPython's texts for
// wrong calls come from there. With Keywords set Fn receives them as they are.
type Def struct {
	Name     string
	Min, Max int // Max -1: any number; Min and Max count the receiver of a method
	Params   []string
	Keywords bool
	Fn       NativeFunc
}
