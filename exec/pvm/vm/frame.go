package vm

import (
	"maps"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// arrival says how a frame was entered, and so where its result goes.
type arrival uint8

const (
	byCall     arrival = iota // Call: the result goes to register ret of back
	byInit                    // Call of a class: the instance is in register ret, the result must be None
	byFor                     // ForIter over a generator
	byNext                    // ForIter over an object whose __next__ is of the program
	byDelegate                // YieldFrom or Await of the generator of back
	byNative                  // a native: the interpreter returns to it
)

// frame is a running piece of code. Frames of functions come from the pool of
// the machine, those of generators live in the generator.
//
// The registers are a window of a slab whose capacity reaches to the end of the
// slab's chunk: the frame of a call begins in the registers that hold its
// arguments. Windows never move. Above the last window the slab is clear.
//
// Owner: the machine while it runs or is below a running one on the stack, linked by back;
// a suspended generator otherwise. At most RecursionDepth frames are linked, natives that
// call back counted with them.
type frame struct {
	regs    []Value
	unit    *unit
	fn      *Function
	back    *frame
	gen     *Generator
	rest    []Value    // of generator frames: the free slab of the resumer
	handled *Exception // being handled where the frame was entered
	around  *Exception // of generator frames: the machine's, where it was resumed
	ns      Value      // namespace of a class body
	pc      int        // of the next instruction; the one before it is running
	ret     int
	how     arrival
	chunk   bool // regs begin a chunk of their own
}

// chunkValues is the size of the first chunk of the slab: enough for the
// recursion limit with small functions.
const chunkValues = 4096

// free returns the slab above the frame.
func (f *frame) free() []Value {
	if f.gen != nil {
		return f.rest
	}
	return f.regs[len(f.regs):]
}

// freeSlab returns the slab above the running frame.
func (m *Machine) freeSlab() []Value {
	if m.frame == nil {
		return m.slab[:0]
	}
	return m.frame.free()
}

// errDeep is the RecursionError of calls.
func (m *Machine) errDeep() error {
	m.Charge(2 * m.dyn.NativeCall) // what forgets errors and goes on may make one for each part
	return m.Raise(m.rt.classes.RecursionError, "maximum recursion depth exceeded")
}

// pushFrame takes a frame for fn from the pool with a clear window above the
// running one. It becomes the running frame with enterFrame, after its
// parameters are set.
func (m *Machine) pushFrame(fn *Function, how arrival) (*frame, error) {
	if m.depth >= m.rt.limits.RecursionDepth {
		return nil, m.errDeep()
	}
	n := fn.unit.obj.Registers
	m.chargeClear(n)
	m.chargeWide(n)
	m.depth++
	f := &m.pool[m.used]
	m.used++
	free := m.freeSlab()
	if n <= cap(free) {
		f.regs = free[:n]
	} else {
		f.regs, f.chunk = m.newChunk(n), true
	}
	f.unit, f.fn, f.back, f.how, f.pc, f.handled = fn.unit, fn, m.frame, how, 0, m.handled
	return f, nil
}

// wideFrame is how many times the registers that cost an element a wide frame has.
const wideFrame = 8

// chargeClear charges for registers that are cleared as a whole: those of small functions
// are part of the price of a call.
func (m *Machine) chargeClear(n int) {
	per := int(m.rt.costs.Work.KindBytes)
	if n < per {
		return
	}
	m.ChargeEach(n/per, m.dyn.Element)
}

// chargeWide charges for the registers of a wide frame: few fit into a chunk, and each
// call may make one, for this frame and another of its size.
func (m *Machine) chargeWide(n int) {
	if n -= wideFrame * int(m.rt.costs.Work.KindBytes); n > 0 {
		m.ChargeEach(n, m.dyn.Element)
	}
}

// chargeMake charges for an object that is made with room for n values.
func (m *Machine) chargeMake(n int) { m.ChargeEach(n/int(m.Work().TokenBytes), m.dyn.Element) }

// newChunk returns a window of n registers at the start of a chunk.
func (m *Machine) newChunk(n int) []Value {
	if c := m.spare; cap(c) >= n {
		m.spare = nil
		return c[:n]
	}
	return make([]Value, max(chunkValues, 2*n))[:n]
}

// enterFrame makes f the running frame.
func (m *Machine) enterFrame(f *frame) { m.frame = f }

// popFrame ends the running frame, which is one of the pool.
func (m *Machine) popFrame(f *frame) {
	m.depth--
	m.used--
	clear(f.regs)
	if f.chunk {
		if cap(f.regs) > cap(m.spare) {
			m.spare = f.regs[:0]
		}
		f.chunk = false
	}
	if f.ns.ref != nil {
		f.ns = unbound
	}
	m.handled = f.handled
	m.frame = f.back
}

// line is the source line that the frame is at.
func (f *frame) line() int32 {
	lines := f.unit.obj.Lines
	i := f.pc - 1
	if i < 0 {
		return f.unit.obj.FirstLine
	}
	if i >= len(lines) {
		return 0
	}
	return lines[i]
}

// unit is a code object made ready by one machine: its constants as values, its
// names as strings, and what the inline caches have learnt. Caches belong to
// a machine as machines run in parallel, and never change a charge.
type unit struct {
	obj     *code.Object
	consts  []Value
	names   []*Str
	codes   []*unit    // made at need
	keyword [][]*Str   // of constants that name keywords, made at need
	params  []*Str     // names of the parameters, made at need
	free    []*Str     // names of the free variables, made at need
	globals []slotHint // one per name
	sites   []site     // one per instruction, once the unit is warm
	warm    int
	cold    bool  // never gets caches
	kept    bool  // of the library that the machine keeps
	learnt  bool  // kept, and a cache changed in this call
	plain   int   // number of parameters when binding is a plain count, else -1
	bytes   int   // modelled, of generated code: no program's source bounds how much of it there is
	mark    uint8 // epoch of the last heap measurement that met it
}

// newUnit makes a code object ready. Functions hold it, so that code which is generated goes
// with the last of them.
func (m *Machine) newUnit(o *code.Object) *unit {
	u := &unit{obj: o, plain: -1, cold: m.rt.cold}
	if !o.Generated {
		m.makeRoom(len(o.Consts) + len(o.Names))
	} else {
		u.bytes = unitBytes + o.Bytes + len(o.Instrs)*siteBytes + (len(o.Consts)+len(o.Names))*strBytes
		m.Alloc(u.bytes)
	}
	u.consts = make([]Value, len(o.Consts))
	// Paid: by the call of the actor, for each item of its code (Object.Items).
	for i := range o.Consts {
		u.consts[i] = m.constant(o, &o.Consts[i])
	}
	u.names = make([]*Str, len(o.Names))
	// Paid: by the call of the actor, for each item of its code (Object.Items).
	for i, name := range o.Names {
		u.names[i] = m.nameOf(o, name)
	}
	u.globals = make([]slotHint, len(o.Names))
	if len(o.Codes) > 0 {
		u.codes = make([]*unit, len(o.Codes))
	}
	const special = code.VarArgs | code.VarKeywords | code.Generator | code.Coroutine | code.AsyncGenerator
	if o.Flags&special == 0 && o.KwOnly == 0 {
		u.plain = o.Args
	}
	return u
}

// child returns the unit of the i-th inner code object.
func (m *Machine) child(u *unit, i int) *unit {
	if u.codes[i] == nil {
		u.codes[i] = m.newUnit(u.obj.Codes[i])
	}
	return u.codes[i]
}

// keywordNames returns the names in constant i, a tuple of strings.
func (m *Machine) keywordNames(u *unit, i int) []*Str {
	if u.keyword == nil {
		u.keyword = make([][]*Str, len(u.consts))
	}
	if u.keyword[i] == nil {
		items := u.consts[i].ref.self.(*Tuple).items
		names := make([]*Str, len(items))
		// Paid: by the instructions that load the arguments; once a call of the actor.
		for j, v := range items {
			names[j] = v.ref.self.(*Str)
		}
		u.keyword[i] = names
	}
	return u.keyword[i]
}

// paramName returns the name of a parameter. Those of other locals nobody asks for.
func (m *Machine) paramName(u *unit, i int) *Str {
	if u.params == nil {
		u.params = make([]*Str, u.obj.Args+u.obj.KwOnly)
	}
	if u.params[i] == nil {
		u.params[i] = m.nameOf(u.obj, u.obj.Locals[i])
	}
	return u.params[i]
}

// makeRoom lets n more strings be interned without growing step by step, which for as
// many as a source may have takes as long as all the rest.
func (m *Machine) makeRoom(n int) {
	if n <= keptEntries || n <= len(m.interned) {
		return
	}
	room := make(map[string]*Str, n+len(m.interned))
	// Paid: as the names that there is to be room for, of which there are more.
	maps.Copy(room, m.interned)
	m.interned = room
}

// intern returns the one string object of this machine for a name.
func (m *Machine) intern(name string) *Str {
	if s, ok := m.interned[name]; ok {
		return s
	}
	s := m.newStr(name)
	m.interned[name] = s
	return s
}

// nameOf is intern for a name in code. What generated code names goes with it: only names that
// are there already are shared.
func (m *Machine) nameOf(o *code.Object, name string) *Str {
	if !o.Generated {
		return m.intern(name)
	}
	if s, ok := m.interned[name]; ok {
		return s
	}
	return m.newStr(name)
}

// constant makes the value of a constant of o. Constants are not announced: they
// belong to the program.
func (m *Machine) constant(o *code.Object, c *code.Const) Value {
	switch c.Kind {
	case code.None:
		return None
	case code.True:
		return True
	case code.False:
		return False
	case code.Ellipsis:
		return EllipsisValue
	case code.Int:
		return SmallInt(c.Int64)
	case code.BigInt:
		i := &Int{big: c.Big}
		return i.head(KindInt, nil, i)
	case code.Binary64:
		return FloatBits(c.Bits)
	case code.Str:
		return Value{ref: &m.nameOf(o, c.Text).Object}
	case code.Bytes:
		return Value{ref: &m.newBytes(c.Text).Object}
	}
	items := make([]Value, len(c.Items))
	// Paid: by the call of the actor, for each item of its code (Object.Items).
	for i := range c.Items {
		items[i] = m.constant(o, &c.Items[i])
	}
	if c.Kind == code.FrozenSet {
		return m.frozenConstant(items)
	}
	return Value{ref: &m.newTuple(items).Object}
}
