package vm

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// ModuleDef is a module of the library. Load runs once per call, at the first
// import.
//
// A kept module is loaded once by each machine, which takes back between calls
// what a call changed of it. Its Load runs before there is a call, so it asks for
// nothing of the call's; Admit, when not nil, runs at the first import in each
// call and may refuse it.
type ModuleDef struct {
	Name  string // dotted
	Load  func(m *Machine) (*Module, error)
	Kept  bool
	Admit func(m *Machine) error
}

// Runtime is what all machines share: builtin classes and functions, library,
// costs and limits. It is immutable once made and safe for any number of
// machines at once: NewRuntime writes it, and whoever hands it to another goroutine orders
// that before the machines read. So no read of it needs a lock.
type Runtime struct {
	costs                  code.Costs
	limits                 Limits
	hashKey                [2]uint64 // of internal tables; per process, never observable
	classes                builtinClasses
	byKind                 [KindForeign + 1]*Class
	builtins               namespace            // names that every module sees
	modules                map[string]ModuleDef // looked up, never iterated
	objectHash, objectInit *Native              // of object
	buildClass             *Native              // behind class statements
	asyncStep              *Class               // of what asend and its like answer
	awaited                *Class               // of what __await__ of a coroutine answers
	orDefault              *Class               // of what anext with a default answers
	cold                   bool                 // no inline caches
	all                    []*Class             // builtin classes, in order of creation
	library                library
	orders                 uint32 // of the objects that all machines share, from 1
}

// Limits bound one call. They are consensus.
type Limits struct {
	HeapBytes      int64 // modelled, 10 MiB (whitepaper §3.2)
	RecursionDepth int   // 256 for Python frames and natives together
	OutputBytes    int   // of print, the rest is dropped
	IntDigits      int   // of int-str conversions, as Python's 4300
	MROClasses     int   // in the order of a class, itself and object among them: what a look-up may go through
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{HeapBytes: 10 << 20, RecursionDepth: 256, OutputBytes: 1 << 20, IntDigits: 4300, MROClasses: 64}
}

// ErrDuplicateModule is wrapped when two modules of the library have one name.
var ErrDuplicateModule = fmt.Errorf("duplicate module")

// Config says what a runtime is made of.
type Config struct {
	Costs   code.Costs
	Limits  Limits
	HashKey [2]uint64 // of internal tables, random per process; nothing a program sees depends on it
	Modules []ModuleDef
	Cold    bool  // no inline caches: to show that nothing depends on them
	Globals []Def // functions that every module sees beside Python's own
}

// DefaultConfig returns the protocol's costs and limits, without a library.
func DefaultConfig() Config {
	return Config{Costs: code.DefaultCosts(), Limits: DefaultLimits()}
}

// NewRuntime builds the builtin classes and registers the library.
func NewRuntime(cfg Config) (*Runtime, error) {
	rt := &Runtime{costs: cfg.Costs, limits: cfg.Limits, hashKey: cfg.HashKey, cold: cfg.Cold, modules: make(map[string]ModuleDef, len(cfg.Modules))}
	// Bounded: by the source, once when the runtime is made.
	for _, def := range cfg.Modules {
		if _, ok := rt.modules[def.Name]; ok {
			return nil, fmt.Errorf("%w: %s", ErrDuplicateModule, def.Name)
		}
		rt.modules[def.Name] = def
	}
	rt.define()
	// Bounded: by the source, once when the runtime is made.
	for _, d := range cfg.Globals {
		rt.builtin(d.Name, newNative(d).value())
	}
	rt.fillKinds()
	rt.setPatterns()
	rt.seal()
	rt.freeze()
	if err := rt.loadLibrary(cfg.Modules); err != nil {
		return nil, err
	}
	return rt, nil
}

// define builds all classes: each area its own, those that others refer to
// first.
func (rt *Runtime) define() {
	rt.defineObjects()
	rt.defineNumbers()
	rt.defineText()
	rt.defineFunctions()
	rt.defineGenerators()
	rt.defineContainers()
	rt.publish()
}

// fillKinds tells which class the values of the other areas' kinds have by
// default.
func (rt *Runtime) fillKinds() {
	b := &rt.classes
	// Bounded: by the source, once when the runtime is made.
	for _, row := range []struct {
		kind  Kind
		class *Class
	}{
		{KindBool, b.bool_},
		{KindInt, b.int_},
		{KindFloat, b.float},
		{KindStr, b.str},
		{KindBytes, b.bytes},
		{KindByteArray, b.bytearray},
		{KindTuple, b.tuple},
		{KindList, b.list},
		{KindDict, b.dict},
		{KindSet, b.set},
		{KindFrozenSet, b.frozenset},
		{KindRange, b.range_},
		{KindSlice, b.slice},
		{KindFunction, b.function},
		{KindGenerator, b.generator},
		{KindIterator, b.iterator},
		{KindException, b.BaseException},
		{KindMappingProxy, b.mappingProxy},
	} {
		if row.class != nil {
			rt.byKind[row.kind] = row.class
		}
	}
}

// freeze marks everything that the builtin classes and names hold, so that no
// machine's heap measurement visits what all of them share, and gives each its
// identity: a machine that did so later would write to what others read, and
// hash() would follow what the process ran before.
func (rt *Runtime) freeze() {
	t := &tracer{epoch: frozen}
	t.visit = t.push
	// Bounded: by the source, once when the runtime is made.
	for _, c := range rt.all {
		t.push(c.value())
	}
	t.pushAll(rt.builtins.values)
	t.push(rt.buildClass.value()) // which no name reaches
	// Bounded: by the source, once when the runtime is made.
	for len(t.queue) > 0 {
		v := t.queue[len(t.queue)-1]
		t.queue = t.queue[:len(t.queue)-1]
		rt.orders++
		v.ref.order = rt.orders
		t.scan(v.ref)
	}
}
