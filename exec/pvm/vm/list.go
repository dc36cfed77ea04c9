package vm

// newList returns a list that takes the slice over. It announces the items too.
func (m *Machine) newList(items []Value) *List {
	m.Alloc(len(items) * valueBytes)
	return m.listTaken(items[:len(items):len(items)])
}

// listTaken is newList for items that were announced already. Its room is that
// of the slice, which therefore does not come from Go's append.
func (m *Machine) listTaken(items []Value) *List {
	m.Alloc(listBytes)
	l := &List{items: items}
	l.head(KindList, nil, l)
	return l
}

func (l *List) val() Value { return Value{ref: &l.Object} }

// listCapacity is the room that a list gets when it must hold n items: an eighth
// more and a little, as CPython's. It is the growth rule of lists for the heap
// limit.
func listCapacity(n int) int { return (n + n>>3 + 6) &^ 3 }

// append adds x at the end. Lists grow here only, never by Go's append, whose
// rule is not ours.
func (l *List) append(m *Machine, x Value) {
	m.touch(&l.Object)
	if len(l.items) == cap(l.items) {
		l.grow(m, len(l.items)+1)
	}
	l.items = append(l.items, x)
}

// extend adds items at the end. It charges nothing.
func (l *List) extend(m *Machine, items []Value) {
	m.touch(&l.Object)
	l.grow(m, len(l.items)+len(items))
	l.items = append(l.items, items...)
}

// grow makes room for n items in all.
func (l *List) grow(m *Machine, n int) {
	if n <= cap(l.items) {
		return
	}
	m.touch(&l.Object)
	c := listCapacity(n)
	m.Alloc(c * valueBytes)
	l.items = m.grown.room(l, c)
}

// grown is the list that grew last. One that grows again at once gets room for
// twice as many items from Go, of which it sees no more than its capacity: most
// lists are built by one loop, which would copy them eight times otherwise.
type grown struct {
	list *List
	full []Value // the room of list, its items first; nil while there is no more than it sees
}

// room returns the items of l with room for c in all.
func (g *grown) room(l *List, c int) []Value {
	n := len(l.items)
	again := g.list == l
	if again && n > 0 && c <= cap(g.full) && &g.full[0] == &l.items[0] {
		return g.full[:n:c]
	}
	real := c
	if g.full = nil; again {
		real = c + c/2
	}
	items := make([]Value, n, real)
	copy(items, l.items)
	if g.list = l; again {
		g.full = items[:1]
	}
	return items[:n:c]
}

// position turns an index into a position among n items; false when outside.
func position(i int64, n int) (int, bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), uint64(i) < uint64(n)
}

// itemIndex reads the index of a sequence; text is what a wrong type says.
func (m *Machine) itemIndex(key Value, kind string) (int64, error) {
	if n, ok := key.smallInt(); ok {
		return n, nil
	}
	n, ok, err := m.asIndex(key)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, m.Raise(m.rt.classes.TypeError, "%s indices must be integers or slices, not %s", kind, m.typeName(key))
	}
	i, ok := n.Int64()
	if !ok {
		return 0, m.Raise(m.rt.classes.IndexError, "cannot fit '%s' into an index-sized integer", m.typeName(key))
	}
	return i, nil
}

// listGet is l[key].
func (m *Machine) listGet(l *List, key Value) (Value, error) {
	if s, ok := key.ref.self.(*Slice); ok {
		b, err := m.sliceParts(s)
		if err != nil {
			return unbound, err
		}
		b.fit(int64(len(l.items)))
		return m.listTaken(m.pick(l.items, b)).val(), nil
	}
	n, err := m.itemIndex(key, "list")
	if err != nil {
		return unbound, err
	}
	i, ok := position(n, len(l.items))
	if !ok {
		return unbound, m.Raise(m.rt.classes.IndexError, "list index out of range")
	}
	return l.items[i], nil
}

// listSet is l[key] = x, and del l[key] with x unbound.
func (m *Machine) listSet(l *List, key, x Value) error {
	if s, ok := key.ref.self.(*Slice); ok {
		return m.listSetSlice(l, s, x)
	}
	n, err := m.itemIndex(key, "list")
	if err != nil {
		return err
	}
	i, ok := position(n, len(l.items))
	if !ok {
		return m.Raise(m.rt.classes.IndexError, "list assignment index out of range")
	}
	if x.Bound() {
		m.touch(&l.Object)
		l.items[i] = x
		return nil
	}
	m.ChargeEach(len(l.items)-i, m.dyn.Element)
	l.replace(m, i, i+1, nil)
	return nil
}

// replace puts items for those from i to j. It charges nothing.
func (l *List) replace(m *Machine, i, j int, items []Value) {
	m.touch(&l.Object)
	tail := len(l.items) - j
	n := i + len(items) + tail
	if n > cap(l.items) {
		l.grow(m, n)
	}
	old := len(l.items)
	if n > old {
		l.items = l.items[:n]
	}
	copy(l.items[i+len(items):n], l.items[j:j+tail])
	copy(l.items[i:], items)
	if n < old {
		clear(l.items[n:old])
		l.items = l.items[:n]
		l.shrink()
	}
}

// shrink gives room back when less than a quarter of it is used.
func (l *List) shrink() {
	if cap(l.items) > 16 && len(l.items) < cap(l.items)/4 {
		items := make([]Value, len(l.items), listCapacity(len(l.items)))
		copy(items, l.items)
		l.items = items
	}
}

// listSetSlice assigns to a slice or deletes it, with x unbound.
func (m *Machine) listSetSlice(l *List, s *Slice, x Value) error {
	b, err := m.sliceParts(s)
	if err != nil {
		return err
	}
	var items []Value
	if x.Bound() {
		if items, err = m.collectFor(x, b.step); err != nil {
			return err
		}
	}
	b.fit(int64(len(l.items)))
	if b.step == 1 {
		b.stop = max(b.stop, b.start)
		m.ChargeEach(len(items)+len(l.items)-int(b.start), m.dyn.Element)
		l.replace(m, int(b.start), int(b.stop), items)
		return nil
	}
	if !x.Bound() {
		m.ChargeEach(len(l.items), m.dyn.Element)
		m.touch(&l.Object)
		l.deleteStepped(b)
		return nil
	}
	if int64(len(items)) != b.count {
		return m.Raise(m.rt.classes.ValueError, "attempt to assign sequence of size %d to extended slice of size %d", len(items), b.count)
	}
	m.ChargeEach(len(items), m.dyn.Element)
	m.touch(&l.Object)
	// Paid: by the charge for each item above.
	for i, v := range items {
		l.items[b.start+int64(i)*b.step] = v
	}
	return nil
}

// collectFor reads what is assigned to a slice.
func (m *Machine) collectFor(x Value, step int64) ([]Value, error) {
	if _, plain := itemsOf(x); plain {
		return m.Collect(x)
	}
	m.chargeIterator(x)
	if it, err := m.Iter(x); err == nil {
		defer m.Release(m.Hold(it))
		if it != x && x.ref.class == nil && (x.ref.kind == KindList || x.ref.kind == KindTuple) {
			return m.Collect(x)
		}
		return m.Collect(it)
	} else if !m.isRaised(err, m.rt.classes.TypeError) {
		return nil, err
	}
	if step == 1 {
		return nil, m.Raise(m.rt.classes.TypeError, "can only assign an iterable")
	}
	return nil, m.Raise(m.rt.classes.TypeError, "must assign iterable to extended slice")
}

// deleteStepped deletes what the bounds pick.
func (l *List) deleteStepped(b bounds) {
	if b.count == 0 {
		return
	}
	if b.step < 0 {
		b.start, b.step = b.start+(b.count-1)*b.step, -b.step
	}
	to, next, left := int(b.start), b.start, b.count
	// Paid: by listSetSlice, an element for each item.
	for i := int(b.start); i < len(l.items); i++ {
		if left > 0 && int64(i) == next {
			next, left = next+b.step, left-1
			continue
		}
		l.items[to] = l.items[i]
		to++
	}
	clear(l.items[to:])
	l.items = l.items[:to]
	l.shrink()
}
