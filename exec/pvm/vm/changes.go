package vm

import "slices"

// What a machine keeps of the library between calls is as the library's bodies
// left it whenever a call begins. A call may change it as Python lets it; the
// machine notes how each object was before its first change, and Reset takes
// the changes back, the last first.

// change is one kept thing that the call has changed: an entry of an undo log. Entries are
// taken back the last first, so each finds things as they were just after its own change.
type change struct {
	undo func()
	scan func(t *tracer) int // visits it for the heap measurement; nil: holds no values
}

// Keeper is a payload that may be part of the library that machines keep.
type Keeper interface {
	Payload
	// Keep notes the present state, before it changes, and returns what
	// brings it back.
	Keep() (restore func())
}

// versionsMost is the most versions that the library's classes and tables may count
// up to: beyond it a machine loads the library anew before the count turns over.
const versionsMost = 1 << 30

// touch notes how a kept object is before a change. Natives that change what
// they are handed call Touch.
func (m *Machine) touch(o *Object) {
	if o.mark == kept {
		m.noteObject(o)
	}
}

// Touch is to be called before a payload changes, with the object that holds it.
func (m *Machine) Touch(v Value) { m.touch(v.ref) }

func (m *Machine) recordUndo(undo func(), scan func(t *tracer) int) {
	m.changes = append(m.changes, change{undo, scan})
}

// noteObject notes a kept object. A class pays for it, and for its names, which are copied
// before one changes: that is once a call, and a block has thousands of calls.
func (m *Machine) noteObject(o *Object) {
	head := *o
	var undo func()
	switch x := o.self.(type) {
	case *Class:
		m.Charge(2 * m.dyn.NativeCall)
		m.elements(len(x.names.keys))
		saved := *x
		saved.found, saved.foundText, saved.foundAt = nil, 0, 0
		// Bounded: Clip copies nothing.
		x.subs, x.names.shared = slices.Clip(x.subs), true
		undo = func() { *x = saved }
	case *Function:
		saved := *x
		undo = func() { *x = saved }
	case *Instance:
		saved := x.slots
		// Bounded: by what a class, an instance or a table of the library holds, once a call.
		x.slots = slices.Clone(saved)
		undo = func() { x.slots = saved }
	case *List:
		saved := x.items
		x.items = make([]Value, len(saved), cap(saved))
		copy(x.items, saved)
		undo = func() { x.items = saved }
	case *Cell:
		saved := x.v
		undo = func() { x.v = saved }
	case *Property:
		saved := *x
		undo = func() { *x = saved }
	case *Member:
		saved := x.doc
		undo = func() { x.doc = saved }
	case *Foreign:
		undo = x.Payload.(Keeper).Keep()
	default:
		undo = func() {}
	}
	o.mark = touched
	m.recordUndo(func() { undo(); *o = head }, func(t *tracer) int { return t.scan(o) })
}

// noteAttrs notes the attributes of a kept object before one changes.
func (m *Machine) noteAttrs(a *Attrs) {
	saved := *a
	// Bounded: by shapeNames, 64, once an object and a call.
	a.values, a.kept = slices.Clone(saved.values), false
	m.recordUndo(func() { *a = saved }, func(t *tracer) int { return t.attrs(a) })
}

// noteTable notes a kept table before it changes.
func (m *Machine) noteTable(t *hashTable) {
	m.Charge(m.dyn.NativeCall)
	m.looked(int64(len(t.entries)))
	saved := *t
	t.entries = make([]hashEntry, len(saved.entries), cap(saved.entries))
	copy(t.entries, saved.entries)
	// Bounded: by what a class, an instance or a table of the library holds, once a call.
	t.index, t.kept = slices.Clone(saved.index), false
	m.recordUndo(func() {
		saved.version = t.version + 1 // what was learnt of the table meanwhile is not true of it
		m.worn = m.worn || saved.version > versionsMost
		*t = saved
	}, func(tr *tracer) int {
		t.roots(tr.visit)
		return dictBytes + t.capacity()*dictEntryBytes
	})
}

// learnAt notes that the caches of a kept unit change.
func (m *Machine) learnAt(u *unit) {
	if u.kept && !u.learnt {
		u.learnt = true
		m.learnt = append(m.learnt, u)
	}
}

// takeBack makes what is kept as it was, and forgets what caches learnt of the
// program.
func (m *Machine) takeBack() {
	// Paid: by who made each change.
	for i := len(m.changes) - 1; i >= 0; i-- {
		m.changes[i].undo()
	}
	clear(m.changes)
	// Bounded: by the functions of the library that a call has run.
	for _, u := range m.learnt {
		u.learnt = false
		// Bounded: by the instructions of a function of the library, once a call.
		for i := range u.sites {
			s := &u.sites[i]
			if s.listed = false; !s.lasting() {
				*s = site{}
			}
		}
	}
	clear(m.learnt)
	if m.worn || m.versions > versionsMost {
		m.kept, m.worn = nil, false
	}
}

// lasting tells whether a cache speaks of kept things only.
func (s *site) lasting() bool {
	ours := func(o *Object) bool { return o.self == nil || o.mark >= touched }
	return (s.class == nil || ours(&s.class.Object)) && (s.v.ref == nil || ours(s.v.ref)) &&
		(s.shape == nil || s.shape.kept) && (s.next == nil || s.next.kept)
}
