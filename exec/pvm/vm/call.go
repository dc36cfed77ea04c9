package vm

// Calls: from a callable and its arguments to a frame, and from the end of the frame
// back to who called. Calls of Python code by Python code do not recurse in Go; natives
// that call do, and count a level.

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// Call calls fn with positional arguments, from a native.
func (m *Machine) Call(fn Value, args ...Value) (Value, error) {
	return m.CallArgs(fn, Args{Values: args})
}

// CallArgs calls fn from a native. Python code runs in the interpreter anew, so
// a level of recursion is counted, as it is for natives that call natives.
func (m *Machine) CallArgs(fn Value, a Args) (Value, error) {
	for links := 0; ; links++ {
		switch o := fn.ref.self.(type) {
		case *Function:
			m.Charge(m.dyn.NativeCall)
			f, v, err := m.bindCall(o, a, byNative)
			if f == nil {
				return v, err
			}
			m.enterFrame(f)
			return m.run(f, nil)
		case *Method:
			if err := m.methodLink(links, a); err != nil {
				return unbound, err
			}
			fn, a = o.fn, Args{Values: prepend(o.recv, a.Values), Names: a.Names}
		default:
			m.Charge(m.dyn.NativeCall)
			if err := m.Enter(); err != nil {
				return unbound, err
			}
			m.payArguments(len(a.Values))
			mark := m.holdCall(fn, a.Values)
			v, err := m.callOther(fn, a)
			m.Release(mark)
			m.Exit()
			return v, err
		}
	}
}

// holdCall is Hold of a callable and its arguments. The room doubles: callables of callables
// with many arguments would copy all of it again and again.
func (m *Machine) holdCall(fn Value, args []Value) (mark int) {
	mark = len(m.temp)
	if more := 1 + len(args); mark+more > cap(m.temp) {
		// Paid: by payArguments, or a few.
		m.temp = slices.Grow(m.temp, mark+more)
	}
	m.temp = append(append(m.temp, fn), args...)
	return mark
}

// payArguments charges for many arguments that a native hands on: each callable on the
// way copies them, and is called for the price of one without any.
func (m *Machine) payArguments(n int) {
	if n*valueBytes >= largeBytes {
		m.Alloc(n * valueBytes)
		m.elements(2 * n) // for the callable, and for what natives hold
	}
}

// methodLink charges for the copy of the arguments that a bound method makes, and
// bounds chains of methods of methods.
func (m *Machine) methodLink(links int, a Args) error {
	if links >= m.rt.limits.RecursionDepth {
		return m.errDeep()
	}
	m.ChargeEach(len(a.Values), m.dyn.Element)
	return nil
}

// callOther calls what is neither a function of the program nor bound.
func (m *Machine) callOther(fn Value, a Args) (Value, error) {
	switch o := fn.ref.self.(type) {
	case *Native:
		return m.callNative(o, a)
	case *Class:
		return m.callClass(o, a)
	case *StaticMethod:
		return m.CallArgs(o.fn, a)
	}
	raw, ok := m.specialOf(fn, spCall)
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not callable", m.classOf(fn).name)
	}
	return m.callBoundArgs(raw, fn, m.classOf(fn), a)
}

// callNative runs a native after its arguments are counted and, where it names
// them, put into their positions.
func (m *Machine) callNative(n *Native, a Args) (Value, error) {
	count := len(a.Values) - len(a.Names)
	if len(a.Names) > 0 && !n.keywords && n.params == nil {
		return unbound, m.Raise(m.rt.classes.TypeError, "%s() takes no keyword arguments", n.fullName())
	}
	if count < n.min && (n.params == nil || len(a.Names) == 0) || n.max >= 0 && count > n.max {
		return unbound, m.nativeCount(n, count)
	}
	if n.takes != KindUnbound && (count == 0 || a.Values[0].ref.kind != n.takes) {
		if err := m.checkReceiver(n, a.Values[:count]); err != nil {
			return unbound, err
		}
	}
	if n.checked {
		if err := m.checkFirst(n, a.Values[:count]); err != nil {
			return unbound, err
		}
	}
	if n.params == nil || n.keywords || count == len(n.params) && len(a.Names) == 0 {
		return n.fn(m, a)
	}
	return m.callNamed(n, a, count)
}

// checkFirst refuses a class that is not below the owner of a __new__, and
// receivers that are no instances of the owner of another method.
func (m *Machine) checkFirst(n *Native, pos []Value) error {
	switch {
	case n.method && (len(pos) == 0 || !m.classOf(pos[0]).subclassOf(n.owner)):
		return m.checkReceiver(n, pos)
	case n.method:
		return nil
	case len(pos) == 0:
		return m.Raise(m.rt.classes.TypeError, "%s.__new__(): not enough arguments", n.owner.name)
	}
	_, err := m.classBelow(pos[0], n.owner)
	return err
}

// checkReceiver refuses receivers that are not of a method's class: its Go code
// counts on their struct.
func (m *Machine) checkReceiver(n *Native, pos []Value) error {
	if len(pos) == 0 {
		return m.Raise(m.rt.classes.TypeError, "unbound method %s.%s() needs an argument", n.owner.name, n.name)
	}
	if m.classOf(pos[0]).subclassOf(n.owner) {
		return nil
	}
	if _, ok := specialIndex(n.name); ok {
		return m.Raise(m.rt.classes.TypeError, "descriptor '%s' requires a '%s' object but received a '%s'", n.name, n.owner.name, m.typeName(pos[0]))
	}
	return m.Raise(m.rt.classes.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", n.name, n.owner.name, m.typeName(pos[0]))
}

// callNamed puts keywords into the positions of their parameters.
func (m *Machine) callNamed(n *Native, a Args, count int) (Value, error) {
	mark := len(m.temp)
	m.temp = append(m.temp, a.Values[:count]...)
	// Bounded: by the parameters of a native, which the source names.
	for range len(n.params) - count {
		m.temp = append(m.temp, unbound)
	}
	full := m.temp[mark:len(m.temp):len(m.temp)]
	defer m.releaseOnReturn(mark)
	// Bounded: by the parameters of a native, which the source names.
	for i, name := range a.Names {
		at := -1
		// Bounded: by the parameters of a native, which the source names.
		for j, p := range n.params {
			if p == name.s {
				at = j
				break
			}
		}
		switch {
		case at < 0 || at < n.positionalOnly():
			return unbound, m.Raise(m.rt.classes.TypeError, "'%s' is an invalid keyword argument for %s()", name.s, n.callName())
		case full[at].Bound():
			return unbound, m.Raise(m.rt.classes.TypeError, "argument for %s() given by name ('%s') and position (%d)", n.callName(), name.s, at+1-n.receivers())
		}
		full[at] = a.Values[count+i]
	}
	// Bounded: by the parameters of a native, which the source names.
	for i := range n.min {
		if !full[i].Bound() {
			return unbound, m.Raise(m.rt.classes.TypeError, "%s() missing required argument '%s' (pos %d)", n.callName(), n.params[i], i+1-n.receivers())
		}
	}
	return n.fn(m, Args{Values: full})
}

func (m *Machine) releaseOnReturn(mark int) {
	if mark <= len(m.temp) {
		m.Release(mark)
	}
}

// receivers is how many leading parameters a caller does not write.
func (n *Native) receivers() int {
	if n.owner != nil && (n.method || n.name == "__new__") {
		return 1
	}
	return 0
}

// positionalOnly is the number of leading parameters without a usable name.
func (n *Native) positionalOnly() int {
	i := 0
	// Bounded: by the parameters of a native, which the source names.
	for i < len(n.params) && n.params[i] == "" {
		i++
	}
	return max(i, n.receivers())
}

// callName is the name in error messages: the class's for constructors.
func (n *Native) callName() string {
	if n.owner != nil && (n.name == "__new__" || n.name == "__init__" && n.owner.layout == KindProperty) {
		return n.owner.name
	}
	return n.name
}

// fullName is callName with the class of a method or the module of a function.
func (n *Native) fullName() string {
	switch {
	case n.owner != nil && n.method:
		return n.owner.name + "." + n.callName()
	case n.owner == nil && n.home != "":
		return n.home + "." + n.callName()
	}
	return n.callName()
}

// nativeCount is the TypeError for a wrong number of positional arguments.
func (m *Machine) nativeCount(n *Native, count int) error {
	self := n.receivers()
	least, most, given := n.min-self, n.max-self, count-self
	name := n.callName()
	t := m.rt.classes.TypeError
	if given < 0 {
		return m.Raise(t, "unbound method %s.%s() needs an argument", n.owner.name, n.name)
	}
	full := n.fullName()
	switch {
	case least == 0 && most == 0:
		return m.Raise(t, "%s() takes no arguments (%d given)", full, given)
	case n.owner != nil && (n.owner == m.rt.classes.str || n.owner == m.rt.classes.bytes || n.owner == m.rt.classes.bytearray) && isSearch(name):
		if given < least {
			return m.Raise(t, "%s() takes at least %d argument%s (%d given)", name, least, plural(least), given)
		}
		return m.Raise(t, "%s() takes at most %d argument%s (%d given)", name, most, plural(most), given)
	case n.params != nil && given > most:
		return m.Raise(t, "%s() takes at most %d argument%s (%d given)", name, most, plural(most), given)
	case n.params != nil:
		return m.Raise(t, "%s() missing required argument '%s' (pos %d)", name, n.params[count], given+1)
	case least == 1 && most == 1 && n.name != "__new__":
		return m.Raise(t, "%s() takes exactly one argument (%d given)", full, given)
	case least == most:
		return m.Raise(t, "%s expected %d argument%s, got %d", name, least, plural(least), given)
	case given < least:
		return m.Raise(t, "%s expected at least %d argument%s, got %d", name, least, plural(least), given)
	default:
		return m.Raise(t, "%s expected at most %d argument%s, got %d", name, most, plural(most), given)
	}
}

// isSearch tells whether a method of text takes a range to look in: those word
// their errors in another way.
func isSearch(name string) bool {
	switch name {
	case "find", "rfind", "index", "rindex", "count", "startswith", "endswith":
		return true
	}
	return false
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// beginCall is the instruction Call in general: it answers the frame that the
// interpreter enters, or none when the result is in its register already.
func (m *Machine) beginCall(f *frame, in code.Instr) (*frame, error) {
	a := int(in.A)
	args := f.regs[a+2 : a+2+int(in.B)]
	if f.regs[a+1].Bound() {
		args = f.regs[a+1 : a+2+int(in.B)]
	} else if meth, ok := f.regs[a].ref.self.(*Method); ok {
		f.regs[a], f.regs[a+1] = meth.fn, meth.recv
		args = f.regs[a+1 : a+2+int(in.B)]
	}
	var names []*Str
	if in.C > 0 {
		names = m.keywordNames(f.unit, int(in.C)-1)
	}
	return m.callIn(f, a, Args{Values: args, Names: names})
}

// callIn calls the callable in register a.
func (m *Machine) callIn(f *frame, a int, args Args) (*frame, error) {
	for links := 0; ; links++ {
		var v Value
		var err error
		switch o := f.regs[a].ref.self.(type) {
		case *Function:
			var nf *frame
			nf, v, err = m.bindCall(o, args, byCall)
			if nf != nil {
				nf.ret = a
				return nf, nil
			}
		case *Native:
			v, err = m.callNative(o, args)
		case *Method:
			if err := m.methodLink(links, args); err != nil {
				return nil, err
			}
			f.regs[a], args.Values = o.fn, prepend(o.recv, args.Values)
			continue
		case *Class:
			if o == m.rt.classes.str && len(args.Values) == 1 && len(args.Names) == 0 && args.Values[0].ref == &intTag {
				v, err = m.strOfInt(args.Values[0])
				break
			}
			w := m.waysOf(o)
			switch {
			case w.init != nil:
				return m.beginInit(f, a, o, w.init, args)
			case w.bare && len(args.Names) == 0:
				v, err = m.makeObject(o, args.Values)
			default:
				v, err = m.callClass(o, args)
			}
		default:
			if raw, ok := m.specialOf(f.regs[a], spCall); ok && raw.Kind() == KindFunction {
				m.ChargeEach(len(args.Values), m.dyn.Element)
				args.Values = prepend(f.regs[a], args.Values)
				f.regs[a] = raw
				continue
			}
			v, err = m.callOther(f.regs[a], args)
		}
		if err != nil {
			return nil, err
		}
		f.regs[a] = v
		return nil, nil
	}
}

// strOfInt is str(n) for a small int: what str.__new__ does, at the same level of
// recursion.
func (m *Machine) strOfInt(n Value) (Value, error) {
	m.Charge(m.dyn.NativeCall)
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	s, err := m.Str(n)
	m.Exit()
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

// ways are the short cuts that a call of a class can take.
type ways struct {
	init  *Function // __init__ of the program, to be entered after the object is made
	plain bool      // objects are made by object.__new__ or BaseException.__new__
	bare  bool      // __init__ is BaseException's, which keeps the arguments, as __new__ does
}

// waysOf finds the short cuts of a class, per version. What classes share between
// machines is not written.
func (m *Machine) waysOf(c *Class) ways {
	if c.ready == c.version+1 {
		return c.ways
	}
	w := m.findWays(c)
	if !c.builtin && (w.init != nil || w.bare) && m.checkAbstract(c) == nil {
		// No call finds checked what another has checked. One entry takes all versions back: a class
		// that this call has changed has one, or the note of its change restores the answer.
		if c.mark == kept || c.mark == touched && c.ready == 0 {
			m.recordUndo(func() { c.ready = 0 }, nil)
		}
		c.ways, c.ready = w, c.version+1
	}
	return w
}

func (m *Machine) findWays(c *Class) (w ways) {
	k := &m.rt.classes
	if meta := c.class; meta != nil && meta != k.type_ && meta.sp(spCall) != k.type_.sp(spCall) {
		return w
	}
	switch {
	case c.layout == KindInstance && !c.builtin:
		w.plain = c.sp(spNew) == k.object.sp(spNew)
	case c.layout == KindException:
		w.plain = c.sp(spNew) == k.BaseException.sp(spNew)
		w.bare = w.plain && c.sp(spInit) == k.BaseException.sp(spInit)
	}
	if w.plain {
		w.init, _ = c.sp(spInit).refSelf().(*Function)
	}
	return w
}

// makeObject is object.__new__ or BaseException.__new__ of a class with a short
// cut.
func (m *Machine) makeObject(c *Class, args []Value) (Value, error) {
	if c.ready != c.version+1 {
		if err := m.checkAbstract(c); err != nil {
			return unbound, err
		}
	}
	if c.layout == KindInstance {
		return m.newInstance(c), nil
	}
	e := m.newException(c, nil)
	m.Alloc(len(args) * valueBytes)
	e.setArgs(args)
	if len(c.slots) > 0 {
		m.chargeMake(len(c.slots))
		e.slots = make([]Value, len(c.slots))
	}
	return e.val(), nil
}

// callClass calls a class: by its metaclass's __call__ where the program gave it
// one.
func (m *Machine) callClass(c *Class, a Args) (Value, error) {
	if meta := c.class; meta != nil {
		if call := meta.sp(spCall); call.Bound() && call != m.rt.classes.type_.sp(spCall) {
			return m.callBoundArgs(call, c.value(), meta, a)
		}
	}
	return m.instantiate(c, a)
}

// callBoundArgs calls a special method found raw on class c with receiver v.
func (m *Machine) callBoundArgs(raw, v Value, c *Class, a Args) (Value, error) {
	if k := raw.Kind(); k == KindFunction || k == KindNative {
		return m.CallArgs(raw, Args{Values: prepend(v, a.Values), Names: a.Names})
	}
	fn, err := m.bind(raw, v, c)
	if err != nil {
		return unbound, err
	}
	return m.CallArgs(fn, a)
}

func (v Value) refSelf() any {
	if v.ref == nil {
		return nil
	}
	return v.ref.self
}

// beginInit makes an object and enters its __init__.
func (m *Machine) beginInit(f *frame, a int, c *Class, init *Function, args Args) (*frame, error) {
	obj, err := m.makeObject(c, args.Positional())
	if err != nil {
		return nil, err
	}
	n := len(args.Values) + 1
	end := a + 1 + init.unit.obj.Registers
	if at := &f.regs[a+1]; init.plain == n && len(args.Names) == 0 && !at.Bound() && (n == 1 || &args.Values[0] == &f.regs[a+2]) &&
		end <= cap(f.regs) && m.depth < m.rt.limits.RecursionDepth {
		f.regs[a], *at = obj, obj
		nf := m.enterPlain(f, init, a+1, end, n)
		nf.how, nf.ret = byInit, a
		return nf, nil
	}
	mark := m.Hold(obj)
	nf, v, err := m.bindCall(init, Args{Values: prepend(obj, args.Values), Names: args.Names}, byInit)
	m.Release(mark)
	if nf == nil {
		if err == nil {
			err = m.errInit(v)
		}
		return nil, err
	}
	f.regs[a] = obj
	nf.ret = a
	return nf, nil
}

// nextOf is the __next__ of an iterator where that is a function of the program.
func (m *Machine) nextOf(it Value) (*Function, bool) {
	if it.ref.class == nil {
		return nil, false
	}
	fn, ok := it.ref.class.sp(spNext).refSelf().(*Function)
	return fn, ok
}

// beginNext enters the __next__ of an iterator for the instruction ForIter, whose
// register ret takes the next item; or it answers the item where no frame is
// needed.
func (m *Machine) beginNext(fn *Function, it []Value, ret int) (*frame, Value, error) {
	nf, v, err := m.bindCall(fn, Args{Values: it}, byNext)
	if nf != nil {
		nf.ret = ret
		m.enterFrame(nf)
	}
	return nf, v, err
}

func (m *Machine) errInit(v Value) error {
	return m.Raise(m.rt.classes.TypeError, "__init__() should return None, not '%s'", m.classOf(v).name)
}

// beginCallEx is the instruction CallEx.
func (m *Machine) beginCallEx(f *frame, a int) (*frame, error) {
	regs := f.regs
	var args Args
	if regs[a+1].Bound() {
		args.Values = append(args.Values, regs[a+1])
	}
	if t, ok := regs[a+2].ref.self.(*Tuple); ok {
		m.ChargeEach(len(t.items), m.dyn.Element)
		args.Values = append(args.Values, t.items...)
	} else {
		m.chargeIterator(regs[a+2])
		items, err := m.Collect(regs[a+2])
		if err != nil {
			return nil, m.notIterableArgs(regs[a], regs[a+2], err)
		}
		args.Values = append(args.Values, items...)
	}
	if regs[a+3].Bound() {
		if err := m.spreadKeywords(&args, regs[a], regs[a+3]); err != nil {
			return nil, err
		}
	}
	m.announceCopies(len(args.Values))
	mark := len(m.temp)
	m.temp = append(m.temp, args.Values...)
	nf, err := m.callIn(f, a, args)
	m.Release(mark)
	return nf, err
}

// announceCopies announces many arguments of f(*args), which are there twice until the call
// is over: what a native makes of them may call back, and nest.
func (m *Machine) announceCopies(n int) {
	if bytes := n * valueBytes; bytes >= largeBytes {
		m.Alloc(bytes)
		m.Alloc(bytes)
	}
}

// spreadKeywords appends the entries of a mapping as keywords.
func (m *Machine) spreadKeywords(args *Args, fn, mapping Value) error {
	d, ok := mapping.ref.self.(*Dict)
	if !ok {
		fresh := m.newDict()
		if err := m.mergeMapping(fresh, mapping, fn); err != nil {
			return err
		}
		d = fresh
	}
	return m.eachEntry(d, func(k, v Value) error {
		s, ok := k.str()
		if !ok {
			return m.Raise(m.rt.classes.TypeError, "keywords must be strings")
		}
		m.Charge(2 * m.dyn.DictOp)
		args.Names = append(args.Names, s)
		args.Values = append(args.Values, v)
		return nil
	})
}

// notIterableArgs puts CPython's text on the TypeError of f(*x).
func (m *Machine) notIterableArgs(fn, v Value, err error) error {
	r, ok := err.(*Raised)
	if !ok || r.Exc.class != m.rt.classes.TypeError {
		return err
	}
	c := m.classOf(v)
	if c.sp(spIter).Bound() || c.sp(spGetitem).Bound() {
		return err
	}
	return m.Raise(m.rt.classes.TypeError, "%s argument after * must be an iterable, not %s", m.callableText(fn), c.name)
}

// callableText names a callable as messages about its arguments do.
func (m *Machine) callableText(fn Value) string {
	// Paid: an element for each method of a method.
	for {
		o, ok := fn.ref.self.(*Method)
		if !ok {
			break
		}
		m.Charge(m.dyn.Element)
		fn = o.fn
	}
	switch o := fn.ref.self.(type) {
	case *Function:
		if o.module.Bound() {
			if s, ok := o.module.str(); ok && s.s != "builtins" {
				return s.s + "." + o.qualName.s + "()"
			}
		}
		return o.qualName.s + "()"
	case *Native:
		return o.callName() + "()"
	case *Class:
		if o.module != "builtins" {
			return o.module + "." + o.qualName + "()"
		}
		return o.qualName + "()"
	}
	return m.classOf(fn).name + " object"
}
