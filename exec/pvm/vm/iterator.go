package vm

// Iterator is a native iterator. What it does is in how: those over builtin
// containers keep their place in fields, so that iterNext - and the interpreter,
// where it wants to - steps them without a call; of the others next answers
// false when exhausted, and is not called again after that unless again says so.
type Iterator struct {
	Object
	how    iteration
	done   bool
	again  bool  // next is asked anew after an end: its sources say whether there is more
	at     int64 // next position, of texts in bytes, or next value of a range
	end    int64 // of ranges: values left; of tables: live entries at the beginning
	unseen int64 // of dicts and sets: entries not yet given; of str: code points
	step   int64 // of ranges; of reversed lists and tuples -1
	items  []Value
	list   *List
	table  *hashTable
	source Value  // object iterated, kept alive
	of     *Class // builtin class, nil: iterator

	next  func(m *Machine) (Value, bool, error)
	hint  func() int64            // items left if known, else nil
	roots func(visit func(Value)) // values it keeps alive beside source, for the heap measurement
}

// iteration is the way in which an [Iterator] goes on.
type iteration uint8

const (
	iterFunc      iteration = iota // calls next
	iterList                       // list, from position at on, while there are items
	iterTuple                      // items
	iterBack                       // list or items from position at down
	iterRange                      // at, at+step, ...: end of them, all in 64 bits
	iterKeys                       // keys of table, also elements of a set
	iterValues                     // values
	iterItems                      // pairs
	iterStr                        // code points of source
	iterBytes                      // bytes of source
	iterByteArray                  // likewise
)

// newIterator announces and returns an iterator over source.
func (m *Machine) newIterator(how iteration, source Value) *Iterator {
	it := &Iterator{how: how, source: source, step: 1}
	it.head(KindIterator, nil, it)
	m.Alloc(it.countedBytes())
	return it
}

// countedBytes is the modelled size.
func (it *Iterator) countedBytes() int {
	if it.how == iterFunc {
		return stepperBytes
	}
	return iteratorBytes
}

func (it *Iterator) val() Value { return Value{ref: &it.Object} }

// eachRoot visits what the iterator keeps alive.
func (it *Iterator) eachRoot(visit func(Value)) {
	if it.source.ref != nil {
		visit(it.source)
	}
	if it.roots != nil {
		it.roots(visit)
	}
}

// exhaust makes the iterator exhausted and lets its source go.
func (it *Iterator) exhaust() {
	it.done, it.list, it.items, it.table, it.source = true, nil, nil, nil, unbound
	it.next, it.hint, it.roots = nil, nil, nil
}

// iterNext is next(it): false when exhausted, and from then on. With false it
// answers the StopIteration that ended it where a function or an iterator of the
// program raised one, see [Machine.Next].
func (m *Machine) iterNext(it *Iterator) (Value, bool, error) {
	if it.done {
		return unbound, false, nil
	}
	switch it.how {
	case iterList:
		if items := it.list.items; uint64(it.at) < uint64(len(items)) {
			v := items[it.at]
			it.at++
			return v, true, nil
		}
	case iterTuple:
		if uint64(it.at) < uint64(len(it.items)) {
			v := it.items[it.at]
			it.at++
			return v, true, nil
		}
	case iterRange:
		if it.end > 0 {
			it.end--
			v := SmallInt(it.at)
			it.at += it.step
			return v, true, nil
		}
	case iterBack:
		items := it.items
		if it.list != nil {
			items = it.list.items
		}
		if uint64(it.at) < uint64(len(items)) {
			v := items[it.at]
			it.at--
			return v, true, nil
		}
	case iterFunc:
		v, ok, err := it.next(m)
		switch {
		case ok && err == nil:
			return v, true, nil
		case err != nil:
			return m.stopped(err)
		case it.again:
			return v, false, nil
		}
		it.exhaust()
		return v, false, nil
	case iterStr, iterBytes, iterByteArray:
		v, ok := m.textNext(it)
		return v, ok, nil
	default:
		return m.tableNext(it)
	}
	it.exhaust()
	return unbound, false, nil
}

// tableNext steps an iterator over a dict or set.
func (m *Machine) tableNext(it *Iterator) (Value, bool, error) {
	t := it.table
	if int64(t.live) != it.end {
		what := "dictionary"
		if _, ok := it.source.ref.self.(*Set); ok {
			what = "Set"
		}
		it.end = -1 // and so it stays
		return unbound, false, m.Raise(m.rt.classes.RuntimeError, "%s changed size during iteration", what)
	}
	var i int
	ok := true
	if it.step > 0 {
		i, ok = t.after(m, int(it.at))
	} else {
		i, ok = t.before(m, int(min(it.at, 1<<31-1)))
	}
	if !ok {
		it.exhaust()
		return unbound, false, nil
	}
	if _, ok := it.source.ref.self.(*Set); !ok {
		if it.unseen == 0 {
			it.end = -1
			return unbound, false, m.Raise(m.rt.classes.RuntimeError, "dictionary keys changed during iteration")
		}
	}
	it.unseen--
	it.at = int64(i) + it.step
	e := &t.entries[i]
	switch it.how {
	case iterKeys:
		return e.key, true, nil
	case iterValues:
		return e.value, true, nil
	}
	return m.newPair(e.key, e.value), true, nil
}

// tableIter iterates over a table of source.
func (m *Machine) tableIter(how iteration, t *hashTable, source Value) *Iterator {
	it := m.newIterator(how, source)
	it.table, it.end, it.unseen = t, int64(t.live), int64(t.live)
	if _, ok := source.ref.self.(*Set); ok {
		it.of = m.rt.classes.setIterator
	}
	return it
}

// listIter iterates over a list.
func (m *Machine) listIter(l *List) *Iterator {
	it := m.newIterator(iterList, l.val())
	it.list = l
	return it
}

// tupleIter iterates over items that do not change.
func (m *Machine) tupleIter(source Value, items []Value) *Iterator {
	it := m.newIterator(iterTuple, source)
	it.items = items
	return it
}

// left is the number of items still to come where it is known.
func (it *Iterator) left() (int64, bool) {
	if it.done {
		return 0, true
	}
	switch it.how {
	case iterList:
		return max(int64(len(it.list.items))-it.at, 0), true
	case iterTuple:
		return int64(len(it.items)) - it.at, true
	case iterBack:
		n := int64(len(it.items))
		if it.list != nil {
			n = int64(len(it.list.items))
		}
		if it.at >= n {
			return 0, true
		}
		return it.at + 1, true
	case iterRange:
		return it.end, true
	case iterFunc:
		if it.hint == nil {
			return 0, false
		}
		return it.hint(), true
	case iterStr:
		return it.unseen, true
	case iterBytes:
		return int64(len(it.source.Self().(*Bytes).b)) - it.at, true
	case iterByteArray:
		return max(0, int64(len(it.source.Self().(*ByteArray).b))-it.at), true
	}
	if int64(it.table.live) != it.end {
		return 0, true
	}
	return max(it.unseen, 0), true
}
