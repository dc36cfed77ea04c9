package vm

// Epochs of measurements go around; frozen marks what belongs to the runtime,
// which every machine shares: no measurement visits or writes it. Nor does one
// visit what the machine keeps of the library, but for what the call changed.
const (
	lastEpoch = 250
	touched   = 253 // kept, and changed by this call
	kept      = 254
	frozen    = 255
)

// measure finds what is reachable from the roots - frames, globals, modules and
// what natives hold - and sums its modelled size. It uses a queue of its own
// instead of recursion.
//
// It is the mark phase of a tracing collector (McCarthy, 1960) without a sweep: Go frees the
// memory. An object is met once, as its mark becomes the epoch of the measurement; epochs go
// around after lastEpoch, and an object that is reachable was marked by the measurement
// before, so no mark is taken for one of a whole round ago. The sum is over a set, so it does
// not depend on the order of visits. The program pays for each visit, before it is made.
func (m *Machine) measure() {
	h := &m.heap
	h.epoch++
	if h.epoch > lastEpoch {
		h.epoch = 1
	}
	t := &tracer{epoch: h.epoch, queue: h.queue[:0]}
	t.visit = t.push
	m.roots(t)
	t.pay(m)
	for len(t.queue) > 0 {
		v := t.queue[len(t.queue)-1]
		t.queue = t.queue[:len(t.queue)-1]
		m.ChargeEach(1, m.dyn.TraceUnit)
		t.live += int64(t.scan(v.ref))
		t.pay(m)
	}
	h.queue = t.queue[:0]
	t.prune(m)
	m.forgetSites()
	m.forgetFrames()
	limit := m.heap.limit
	h.live, h.since = t.live, 0
	h.threshold = max(limit-t.live, limit/heapSlack)
	h.peak = max(h.peak, t.live)
	if t.live > limit {
		panic(&Abort{Code: OutOfMemory})
	}
}

// roots pushes everything that a program can reach without going through another
// object.
func (m *Machine) roots(t *tracer) {
	// Bounded: by RecursionDepth, 256.
	for f := m.frame; f != nil; f = f.back {
		t.frame(f)
		if f.handled != nil {
			t.push(f.handled.val())
		}
	}
	if m.handled != nil {
		t.push(m.handled.val())
	}
	t.pushAll(m.temp)
	t.live += 2 * int64(len(m.temp)) * valueBytes // and what they were copied from
	// Bounded: by the modules of the library and of the program, each once.
	for _, mod := range m.loaded {
		t.push(Value{ref: &mod.Object})
	}
	for i := range m.changes {
		if scan := m.changes[i].scan; scan != nil {
			m.ChargeEach(1, m.dyn.TraceUnit)
			t.live += int64(scan(t))
		}
	}
}

// tracer is one measurement under way.
type tracer struct {
	epoch  uint8
	live   int64
	queue  []Value
	above  []*Class    // visited ones that have subclasses
	recall []Forgetter // visited ones that remember classes
	seen   int         // values looked at and not yet paid for
	visit  func(Value)
}

// pay charges a unit for as many values looked at as a unit of large allocations has
// room for: a list of the same object over and over is one object to visit, and all of
// it to look at.
func (t *tracer) pay(m *Machine) {
	per := int(m.Work().RoomBytes) / valueBytes
	m.ChargeEach(t.seen/per, m.dyn.TraceUnit)
	t.seen %= per
}

// Forgetter is a payload that remembers what it was told of classes and does not hold them.
type Forgetter interface {
	Payload
	// Forget drops what is remembered of classes that nothing holds any more, and returns
	// how many were looked at.
	Forget(held func(*Class) bool) int
}

// Chained is a payload whose roots lie in links, one behind the other.
type Chained interface {
	Payload
	// Links is how many of them Roots walks.
	Links() int
}

// linkLooks is for how many values that lie side by side a link of a chain counts: it is read
// from where nothing foretells, in up to 80 ns against a few.
const linkLooks = 16

// classLooks is for how many values that lie side by side a class counts that another has in
// its order, or below it: it is read from where it lies.
const classLooks = 2

// held tells whether this measurement has met a class, or need not.
func (t *tracer) held(c *Class) bool { return c.mark == t.epoch || c.mark >= touched }

// prune forgets subclasses and other classes that nothing holds any more.
func (t *tracer) prune(m *Machine) {
	// Paid: by the charge within, for each class that is remembered.
	for _, p := range t.recall {
		m.ChargeEach(p.Forget(t.held), m.dyn.TraceUnit)
	}
	// Paid: by the visit of each class.
	for _, c := range t.above {
		kept := c.subs[:0]
		// Paid: by traceClass, which counts them by seen.
		for _, s := range c.subs {
			if t.held(s) {
				kept = append(kept, s)
			}
		}
		clear(c.subs[len(kept):])
		c.subs = kept
	}
}

// push queues an object that this measurement has not met.
func (t *tracer) push(v Value) {
	o := v.ref
	if o == nil || o.self == nil || o.mark == t.epoch || o.mark >= touched {
		return
	}
	o.mark = t.epoch
	t.queue = append(t.queue, v)
}

func (t *tracer) pushAll(vs []Value) {
	t.seen += len(vs)
	// Paid: by pay, which counts them by seen.
	for _, v := range vs {
		t.push(v)
	}
}

// frame visits the registers of a frame and what it runs.
func (t *tracer) frame(f *frame) {
	t.live += int64(frameBytes + len(f.regs)*valueBytes)
	t.pushAll(f.regs)
	t.push(f.fn.value())
	t.push(f.ns)
	if f.gen != nil {
		t.push(f.gen.value())
	}
}

// attrs visits the attributes of an instance.
func (t *tracer) attrs(a *Attrs) int {
	if a == nil {
		return 0
	}
	t.pushAll(a.values)
	if a.dict != nil {
		t.push(Value{ref: &a.dict.Object})
	}
	return len(a.values) * valueBytes
}

// scan visits what an object refers to and returns its modelled size.
func (t *tracer) scan(o *Object) int {
	if o.class != nil {
		t.push(o.class.value())
	}
	size := t.attrs(o.attrs)
	if o.attrs != nil && o.kind != KindInstance {
		size += attrsBytes
	}
	switch x := o.self.(type) {
	case *Instance:
		t.pushAll(x.slots)
		return size + instanceBytes + len(x.slots)*valueBytes
	case *Str:
		return size + strBytes + len(x.s)
	case *Bytes:
		return size + strBytes + len(x.b)
	case *ByteArray:
		return size + strBytes + len(x.b)
	case *Int:
		return size + intBytes + limbs(x.big)*8
	case *Float:
		return size + floatBytes
	case *Tuple:
		t.pushAll(x.items)
		return size + tupleBytes + len(x.items)*valueBytes
	case *List:
		t.pushAll(x.items)
		return size + listBytes + cap(x.items)*valueBytes
	case *Dict:
		t.seen += 2 * len(x.table.entries)
		x.table.roots(t.visit)
		return size + dictBytes + x.table.capacity()*dictEntryBytes
	case *Set:
		t.seen += 2 * len(x.table.entries)
		x.table.roots(t.visit)
		return size + setBytes + x.table.capacity()*dictEntryBytes
	case *Function, *Method, *Cell, *Generator, *Native:
		return size + t.callable(o.self)
	case *Class:
		return size + t.traceClass(x)
	case *Exception:
		return size + t.exception(x)
	case *Iterator:
		x.eachRoot(t.visit)
		return size + x.countedBytes()
	case *Foreign:
		if x.Payload == nil {
			return size + headerBytes
		}
		x.Payload.Roots(t.visit)
		if p, ok := x.Payload.(Forgetter); ok {
			t.recall = append(t.recall, p)
		}
		if p, ok := x.Payload.(Chained); ok {
			t.seen += p.Links() * linkLooks
		}
		own := x.Payload.Bytes()
		t.seen += own / valueBytes
		return size + headerBytes + own
	case *Module:
		t.push(Value{ref: &x.dict.Object})
		return size + smallBytes
	}
	return size + t.small(o.self)
}

// bytesBeyond is the size of n values that an object has beside its own: a few are within it.
func bytesBeyond(n int) int {
	if n <= fewDefaults {
		return 0
	}
	return n * valueBytes
}

// callable visits functions, cells and generators.
func (t *tracer) callable(self any) int {
	switch x := self.(type) {
	case *Function:
		t.push(Value{ref: &x.globals.Object})
		t.push(x.doc)
		t.push(x.module)
		t.push(x.notes)
		t.pushAll(x.defaults)
		if x.kwDefs != nil {
			t.push(Value{ref: &x.kwDefs.Object})
		}
		t.seen += len(x.closure)
		// Paid: by pay, which counts them by seen.
		for _, c := range x.closure {
			t.push(c.value())
		}
		return functionBytes + len(x.closure)*cellRefBytes + bytesBeyond(len(x.defaults)) + t.traceUnit(x.unit)
	case *Method:
		t.push(x.fn)
		t.push(x.recv)
		return methodBytes
	case *Cell:
		t.push(x.v)
		return cellBytes
	case *Native:
		t.push(x.keeps)
		return nativeBytes
	case *Generator:
		size := generatorBytes
		t.pushAll(x.frame.regs) // none when it is done, and keeps its function
		t.push(x.frame.fn.value())
		size += len(x.frame.regs) * valueBytes
		t.push(x.delegate)
		t.push(x.sent)
		if x.handled != nil {
			t.push(x.handled.val())
		}
		return size
	}
	return smallBytes
}

// traceUnit counts generated code with the first function met that runs it.
func (t *tracer) traceUnit(u *unit) int {
	if u.bytes == 0 || u.mark == t.epoch {
		return 0
	}
	u.mark = t.epoch
	return u.bytes
}

// traceClass visits a class of the program.
func (t *tracer) traceClass(c *Class) int {
	t.seen += classLooks * (len(c.mro) + len(c.subs)) // prune looks at those below
	// Paid: by pay, which counts them by seen.
	for _, b := range c.mro[1:] {
		t.push(b.value())
	}
	t.pushAll(c.names.values)
	if len(c.subs) > 0 {
		t.above = append(t.above, c)
	}
	c.forgetOld()
	return c.countedBytes() + (len(c.mro)+len(c.slots))*mroBytes + len(c.names.values)*classNameBytes + c.names.longText() + len(c.found)*findingBytes + c.foundText
}

// countedBytes is the modelled size of the class itself.
func (c *Class) countedBytes() int {
	if c.plain() {
		return classBytes
	}
	return classBytes + specialsBytes
}

// exception visits an exception.
func (t *tracer) exception(e *Exception) int {
	t.pushAll(e.args)
	t.push(e.cause)
	t.push(e.context)
	t.pushAll(e.group)
	t.push(e.value)
	t.pushAll(e.slots)
	return exceptionBytes + (len(e.args)+len(e.group)+len(e.slots))*valueBytes + len(e.trace)*traceBytes + t.passed(e.trace)
}

// passed is the size of the generated code that a traceback keeps alive.
func (t *tracer) passed(trace []TraceEntry) int {
	size := 0
	t.seen += len(trace)
	// Paid: by pay, which counts them by seen.
	for i := range trace {
		if c := trace[i].Code; c.Generated && (i == 0 || trace[i-1].Code != c) {
			size += c.Bytes
		}
	}
	return size
}

// small visits the rest: objects of a few references.
func (t *tracer) small(self any) int {
	switch x := self.(type) {
	case *Range:
		t.pushAll([]Value{x.start, x.stop, x.step, x.length})
	case *Slice:
		t.pushAll([]Value{x.start, x.stop, x.step})
	case *StaticMethod:
		t.push(x.fn)
	case *ClassMethod:
		t.push(x.fn)
	case *Property:
		t.pushAll([]Value{x.get, x.set, x.del, x.doc})
		return propertyBytes
	case *Super:
		t.push(x.obj)
		if x.class != nil {
			t.push(x.class.value())
		}
		if x.start != nil {
			t.push(x.start.value())
		}
	case rooted:
		x.roots(t.visit)
	}
	return smallBytes
}

// rooted is a small object of another file that refers to others.
type rooted interface{ roots(visit func(Value)) }
