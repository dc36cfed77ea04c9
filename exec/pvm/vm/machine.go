package vm

// The machine: one call from its beginning to its end. The runtime is shared and never
// changes; a Machine is owned by the goroutine that runs the call. native.go has what a
// Go function of the library is given, errors.go what travels as an error and what
// unwinds, changes.go what a kept machine must undo.

import (
	"math/big"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// Machine runs one call at a time. It is reused after Reset, and is not for
// use by several goroutines.
//
// Owner: the goroutine that runs the call, for its time; between calls the engine that has
// it in its pool (package pvm). Nothing in it is atomic or locked: who hands it on, orders
// it. What it shares is the runtime and code objects, which nobody writes. What lasts from
// one call to the next, kept modules, caches and room, is invisible to programs and to what
// they pay: TestWarmthIsFree and the cold runtime hold that.
type Machine struct {
	rt     *Runtime
	cycles code.Cycles // left
	dyn    code.Dynamic
	depth  int // Python frames and native recursions

	heap heap
	temp []Value // roots that natives hold across calls back into Python

	frame   *frame     // running
	handled *Exception // being handled in the running context
	around  *Exception // and where the innermost generator was resumed, which the frames hold
	again   bool       // the exception on its way is raised again: no new line in its traceback
	pool    []frame
	used    int
	slab    []Value // registers of the frames of the pool
	spare   []Value // a chunk not in use

	interned map[string]*Str    // looked up, never iterated
	modules  map[string]*Module // imported; looked up, never iterated
	loaded   []*Module          // the same in order
	output   []byte             // of print
	printing []*Object          // containers whose repr is being made, outermost first

	kept    map[string]*Module // of the library, loaded for all calls; nil: not yet
	changes []change           // of what is kept, by this call
	learnt  []*unit            // of what is kept, whose caches changed
	sites   []*site            // caches filled since the last measurement
	hints   []*slotHint        // and those of global names
	worn    bool               // what is kept is to be loaded anew
	loading *loading           // while that is being done

	bill      Bill     // of the call
	profile   *Profile // nil: nobody asked
	quotient  big.Int  // room for those that nobody asks for
	remainder big.Int  // likewise

	grown      grown                    // list that grew last
	text       strings.Builder          // room for their text
	chars      *[utf8.RuneSelf + 1]*Str // the empty string and those of one character in ASCII, once made
	versions   uint32                   // of classes, counted
	shapes     int                      // of instances, counted
	orders     uint32                   // of objects whose identity was asked for, counted
	emptyShape shape                    // root of the shapes of builtin classes

	// Registrations counts the calls of ABCMeta.register, for the library.
	Registrations uint64
	ClassChecks   int // checks by ABCMeta under way

	Host any // what the embedding library put there for its natives

	// Imports are the modules that the program may import, with what is below them, nil
	// for all of the library. What those import themselves is theirs. Looked up, never
	// iterated.
	Imports map[string]bool

	// Brief says that of an exception which nobody caught the result names the class alone.
	// The text of a traceback asks the exception what it says, which runs the program's own
	// code, and is as long as the chain of exceptions: nobody pays for it.
	Brief bool
}

// NewMachine returns a machine ready to run.
func (rt *Runtime) NewMachine() *Machine {
	m := &Machine{
		rt: rt, dyn: rt.costs.Dynamic,
		pool: make([]frame, rt.limits.RecursionDepth+1),
		slab: make([]Value, chunkValues),
	}
	m.Reset()
	return m
}

// keptEntries is how large a table of a machine may be to be used for the next
// call: emptying it costs what it can hold.
const keptEntries = 1024

// keptValues is how much room for values that natives hold a machine keeps for the next
// call: what one call may fill would be kept by every machine, for good.
const keptValues = 4096

// Reset makes the machine as new: nothing of the last call is left in it. Frames
// were used from the first on, and the slab is clear above the running frame, so
// that what a call never touched costs nothing.
func (m *Machine) Reset() {
	if m.frame != nil {
		m.dropFrames()
	}
	// Bounded: by the frames that a call used, RecursionDepth and one at most.
	for i := range m.pool {
		if m.pool[i].unit == nil {
			break
		}
		m.pool[i] = frame{}
	}
	clear(m.temp)
	if cap(m.temp) > keptValues {
		m.temp = nil
	}
	m.takeBack()
	if cap(m.changes) > keptEntries {
		m.changes = nil
	}
	start, versions := &m.rt.library.start, m.versions
	if m.kept == nil {
		versions = 0
	}
	*m = Machine{
		rt: m.rt, dyn: m.dyn, pool: m.pool, slab: m.slab, temp: m.temp[:0],
		interned: emptied(m.interned), modules: emptied(m.modules),
		kept: m.kept, changes: m.changes[:0], learnt: m.learnt[:0],
		versions: max(versions, start.versions), orders: start.orders, shapes: start.shapes, Registrations: start.registrations,
	}
	m.LimitHeap(m.rt.limits.HeapBytes)
}

// emptied is an empty map, m itself where that is cheap.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > keptEntries {
		return make(map[K]V)
	}
	clear(m)
	return m
}

// Charge takes n cycles for work about to be done. It does not return when they
// are used up.
func (m *Machine) Charge(n code.Cycles) {
	if n < 0 || n > m.cycles {
		m.chargeStash(n)
		return
	}
	m.cycles -= n
}

// ChargeEach takes price cycles for each of n units, as Charge.
func (m *Machine) ChargeEach(n int, price code.Cycles) { m.ChargeCount(int64(n), price) }

// fewParts is how many parts an operation of an everyday program has, 8: any more cost
// what each takes where there is nothing else to do.
func (m *Machine) fewParts() int { return 2 * int(m.rt.costs.Work.TokenBytes) }

// ChargeWide is a charge for parts of an operation beyond the first few, in addition to
// what each part costs.
func (m *Machine) ChargeWide(n int, price code.Cycles) { m.ChargeEach(max(0, n-m.fewParts()), price) }

// ChargeSources is for iterables that are opened side by side: two are within the price of
// the call, a native call is for each two of the first few, and one for each beyond.
func (m *Machine) ChargeSources(n int) {
	m.ChargeEach(max(0, min(n, m.fewParts())-2)/2, m.dyn.NativeCall)
	m.ChargeWide(n, m.dyn.NativeCall)
}

// ChargeCount is ChargeEach for a number that a program chose: on a machine of
// 32 bits it may be no int.
func (m *Machine) ChargeCount(n int64, price code.Cycles) {
	if n < 0 || price > 0 && n > m.CyclesLeft()/price {
		m.heap.due = false
		m.chargeStash(-1)
	}
	m.Charge(n * price)
}

// ChargeCalled is Charge for what handlers that the program called have used elsewhere.
func (m *Machine) ChargeCalled(n code.Cycles) {
	m.Charge(n)
	m.bill.Called += n
}

// ChargeReserved is Charge for what messages may use that the program has sent.
func (m *Machine) ChargeReserved(n code.Cycles) {
	m.Charge(n)
	m.bill.Reserved += n
}

// Bill says where the cycles of a call went. What is neither Called nor Reserved is the
// machine's own work; Spent beyond Told is work that nobody was told of.
type Bill struct {
	Given    code.Cycles // when the call began
	Spent    code.Cycles // of these, until now
	Told     code.Cycles // of these, by the result of the call
	Called   code.Cycles // of these, by handlers called
	Reserved code.Cycles // of these, for messages sent
}

// Bill returns that of the last call since Reset.
func (m *Machine) Bill() Bill {
	b := m.bill
	b.Spent = b.Given - m.CyclesLeft()
	return b
}

// CyclesLeft returns what can still be charged.
func (m *Machine) CyclesLeft() code.Cycles { return m.cycles + m.heap.stash }

// Enter counts one level of recursion of a native that a program can drive, and
// answers RecursionError at the limit. Every Enter that succeeds is followed by
// one Exit.
func (m *Machine) Enter() error {
	if m.depth >= m.rt.limits.RecursionDepth {
		return m.errDeep()
	}
	m.depth++
	return nil
}

// Exit ends the level that Enter began.
func (m *Machine) Exit() { m.depth-- }

// Hold keeps v alive for the heap measurement until Release with what Hold
// returned. A native that keeps a value nowhere else while Python code runs
// holds it.
func (m *Machine) Hold(v Value) int {
	m.temp = append(m.temp, v)
	return len(m.temp) - 1
}

// Release drops everything held since the Hold that returned mark.
func (m *Machine) Release(mark int) {
	clear(m.temp[mark:])
	m.temp = m.temp[:mark]
}

// Result is what a call leaves behind.
type Result struct {
	Value     Value
	Output    []byte // of print
	Cycles    code.Cycles
	HeapPeak  int64      // modelled bytes
	Raised    *Exception // not caught by the program, nil when there is none
	Traceback string     // of Raised, as Python prints it
}

// Execute runs the body of the main module with so many cycles. Its globals
// stay for CallFunction. The error is an *[Abort]; an exception that the program
// did not catch is in the result.
func (m *Machine) Execute(o *code.Object, cycles code.Cycles) (Result, error) {
	return m.guard(cycles, func() (Value, error) {
		_, err := m.LoadModule(mainModule, o)
		return None, err
	})
}

// Serve runs the body of the main module and enters it, in one call of so many cycles, of
// which loading takes the first. It returns what enter has answered, and what Execute
// says of errors.
func (m *Machine) Serve(o *code.Object, cycles, loading code.Cycles, enter func(*Machine) ([]byte, error)) (answer []byte, res Result, err error) {
	res, err = m.guard(cycles, func() (Value, error) {
		m.Charge(loading)
		_, err := m.LoadModule(mainModule, o)
		if err == nil {
			answer, err = enter(m)
		}
		return None, err
	})
	return answer, res, err
}

// LoadModule runs a module of the program within a call and keeps it under its
// name. Natives and functions given to Do use it.
func (m *Machine) LoadModule(name string, o *code.Object) (*Module, error) {
	mod := m.newModule(name)
	m.modules[name] = mod
	m.loaded = append(m.loaded, mod)
	fn := m.newFunction(m.newUnit(o), mod.dict)
	fn.module = Value{ref: &m.intern(name).Object}
	_, err := m.Call(fn.value())
	return mod, err
}

// newModule makes a module of the program.
func (m *Machine) newModule(name string) *Module {
	m.Alloc(dictBytes)
	mod := &Module{name: name, dict: m.newDict()}
	mod.head(KindModule, nil, mod)
	mod.dict.putStr(m, m.intern("__name__"), m.intern(name).val())
	mod.dict.putStr(m, m.intern("__doc__"), None)
	return mod
}

// CallFunction calls a global function of the main module; one that is async
// runs to its end.
func (m *Machine) CallFunction(name string, args []Value, cycles code.Cycles) (Result, error) {
	return m.Do(cycles, func(m *Machine) (Value, error) {
		mod, ok := m.modules[mainModule]
		if !ok {
			return unbound, m.Raise(m.rt.classes.RuntimeError, "no main module is loaded")
		}
		fn, ok := mod.dict.getStr(m, m.intern(name))
		if !ok {
			return unbound, m.nameError(m.intern(name))
		}
		return m.CallAsync(fn, args...)
	})
}

// CallAsync calls fn and, where that answers a coroutine, runs it to its end.
func (m *Machine) CallAsync(fn Value, args ...Value) (Value, error) {
	v, err := m.Call(fn, args...)
	if err != nil {
		return unbound, err
	}
	if g, ok := v.ref.self.(*Generator); ok && g.flags&code.Coroutine != 0 {
		return m.drive(v)
	}
	return v, nil
}

// Do runs fn, a native of the embedding program, with so many cycles and what
// Execute says of errors.
func (m *Machine) Do(cycles code.Cycles, fn func(m *Machine) (Value, error)) (Result, error) {
	return m.guard(cycles, func() (Value, error) { return fn(m) })
}

// guard is the one place where an Abort stops.
func (m *Machine) guard(cycles code.Cycles, fn func() (Value, error)) (res Result, err error) {
	m.cycles, m.heap.stash, m.heap.due = cycles, 0, false
	m.bill = Bill{Given: cycles}
	if m.profile != nil {
		m.profile.startCall(m)
	}
	v, err := m.protect(fn)
	if m.profile != nil {
		m.profile.chargeLine(m)
	}
	res = Result{Value: v, Output: m.output, Cycles: cycles - m.CyclesLeft(), HeapPeak: m.HeapPeak()}
	m.bill.Told = res.Cycles
	r, raised := err.(*Raised)
	if !raised {
		return res, err
	}
	res.Value, res.Raised = unbound, r.Exc
	if m.Brief {
		res.Traceback = r.Exc.class.name
		return res, nil
	}
	_, err = m.protect(func() (Value, error) {
		res.Traceback = m.TracebackText(r.Exc)
		return None, nil
	})
	if err != nil {
		res.Traceback = r.Exc.class.name
	}
	return res, nil
}

// protect recovers: an Abort as it is, a panic of the Go runtime - nil, bounds,
// a failed assertion - as a defect of ours. Any other panic is not the machine's
// and goes on: it stops the process before it votes on what it does not know.
func (m *Machine) protect(fn func() (Value, error)) (v Value, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		a, ok := p.(*Abort)
		if !ok {
			defect, ours := p.(interface {
				error
				RuntimeError()
			})
			if !ours {
				panic(p)
			}
			a = &Abort{Code: Internal, Detail: defect.Error(), Stack: string(debug.Stack())}
		}
		m.dropFrames()
		v, err = unbound, a
	}()
	return fn()
}

// dropFrames forgets what was running when the call was aborted.
func (m *Machine) dropFrames() {
	m.frame, m.handled, m.around, m.used, m.depth, m.again = nil, nil, nil, 0, 0, false
	clear(m.pool)
	clear(m.slab)
	clear(m.temp)
	m.temp, m.spare = m.temp[:0], nil
}
