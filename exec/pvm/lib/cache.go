package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// lruCache is the callable behind functools.lru_cache. Its table holds results, or
// where it is bounded their links in a ring. The order of last use is in the ring
// alone: a call that finds its result changes no table, so that an __eq__ which
// calls the function again meets the table as it was.
type lruCache struct {
	fn, info     vm.Value // info answers the class of cache_info
	table        *vm.Dict
	ring         lruLink  // between the newest and the oldest
	links        int      // in the ring
	mark         vm.Value // stands between positional arguments and keywords in a key
	most         int64    // -1: unbounded
	typed        bool
	hits, misses int64
}

func (l *lruCache) Roots(visit func(vm.Value)) {
	visit(l.fn)
	visit(l.info)
	visit(l.table.Value())
	visit(l.mark)
	// Paid: by the measurement, which counts Links.
	for n := l.ring.next; n != nil && n != &l.ring; n = n.next {
		visit(n.self) // the table may have lost it to a call within a call
	}
}

func (l *lruCache) Bytes() int { return 96 }

// Links counts the ring, and for each of its links the object that the table has for it: both
// lie in memory as they were made, and in the ring as they were used last, so that to walk it
// reads memory in two other places for each.
func (l *lruCache) Links() int { return 2 * l.links }

// Keep copies the counts and the ring; the table is an object of its own.
func (l *lruCache) Keep() func() {
	saved := *l
	var links []*lruLink
	// Bounded: by what the library's own caches held when they were loaded; once a call.
	for n := l.ring.next; n != &l.ring; n = n.next {
		links = append(links, n)
	}
	return func() {
		*l = saved
		l.emptyRing()
		// Bounded: likewise.
		for _, n := range links {
			l.newest(n)
		}
	}
}

// lruLink is a result in the order of last use.
type lruLink struct {
	self, key, value vm.Value
	older, next      *lruLink // next is newer
}

func (n *lruLink) Roots(visit func(vm.Value)) {
	visit(n.key)
	visit(n.value)
}

func (n *lruLink) Bytes() int { return 64 }

// Keep notes nothing: the cache notes its ring.
func (n *lruLink) Keep() func() { return func() {} }

// unlink takes a link out of l's ring.
func (l *lruCache) unlink(n *lruLink) {
	n.older.next, n.next.older = n.next, n.older
	n.older, n.next = nil, nil
	l.links--
}

// emptyRing begins a ring without links.
func (l *lruCache) emptyRing() { l.ring.older, l.ring.next, l.links = &l.ring, &l.ring, 0 }

// newest puts a link that is in no ring at the end of l's.
func (l *lruCache) newest(n *lruLink) {
	n.older, n.next = l.ring.older, &l.ring
	n.older.next, l.ring.older = n, n
	l.links++
}

// clear forgets all results.
func (l *lruCache) clear(m *vm.Machine) {
	if l.table != nil {
		elements(m, l.table.Len())
	}
	// Paid: by the elements above, and by the calls that made each link, which is taken out once.
	for n := l.ring.next; n != nil && n != &l.ring; n = l.ring.next {
		l.unlink(n)
	}
	l.table, l.hits, l.misses = m.NewDict(), 0, 0
	l.emptyRing()
}

func onCache(fn func(m *vm.Machine, l *lruCache, a vm.Args) (vm.Value, error)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		l, err := payload[*lruCache](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		m.Touch(a.Values[0])
		return fn(m, l, a)
	}
}

// lruCacheWrapper makes what makes caches, with their one class.
func lruCacheWrapper(m *vm.Machine) vm.Value {
	c := m.NewClass("functools", "_lru_cache_wrapper").WithDict()
	c.Define(
		keyworded(def("__call__", 1, -1, onCache(func(m *vm.Machine, l *lruCache, a vm.Args) (vm.Value, error) {
			return l.invoke(m, vm.Args{Values: a.Values[1:], Names: a.Names})
		}))),
		def("__get__", 2, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			if a.Values[1].IsNone() {
				return a.Values[0], nil
			}
			return m.BindMethod(a.Values[0], a.Values[1]), nil
		}),
		def("cache_info", 1, 1, onCache(cacheInfo)),
		def("cache_clear", 1, 1, onCache(func(m *vm.Machine, l *lruCache, _ vm.Args) (vm.Value, error) {
			l.clear(m)
			return vm.None, nil
		})),
		def("__copy__", 1, 1, func(_ *vm.Machine, a vm.Args) (vm.Value, error) { return a.Values[0], nil }),
		def("__deepcopy__", 2, 2, func(_ *vm.Machine, a vm.Args) (vm.Value, error) { return a.Values[0], nil }),
	)
	c.Constant("__doc__", vm.None).Constant("__module__", m.NewStr("functools"))
	return m.NewFunction(def("lru_cache_wrapper", 4, 4, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		l, err := newCache(m, a)
		if err != nil {
			return vm.None, err
		}
		return m.NewForeign(c, l), nil
	}))
}

// newCache makes a cache of a function, a size or None, typed, the class of cache_info.
func newCache(m *vm.Machine, a vm.Args) (*lruCache, error) {
	typed, err := m.Truth(a.Values[2])
	if err != nil {
		return nil, err
	}
	if _, ok := special(m, a.Values[0], "__call__"); !ok && !callable(a.Values[0]) {
		return nil, m.TypeError("the first argument must be callable")
	}
	l := &lruCache{fn: a.Values[0], info: a.Values[3], most: -1, typed: typed, mark: m.NewForeign(m.Builtin("object"), leafMark{})}
	l.clear(m)
	if !a.Values[1].IsNone() {
		if l.most, err = m.Index(a.Values[1]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// cacheInfo is cache_info.
func cacheInfo(m *vm.Machine, l *lruCache, _ vm.Args) (vm.Value, error) {
	class, err := m.Call(l.info)
	if err != nil {
		return vm.None, err
	}
	most := vm.None
	if l.most >= 0 {
		most = vm.SmallInt(l.most)
	}
	return m.Call(class, vm.SmallInt(l.hits), vm.SmallInt(l.misses), most, vm.SmallInt(int64(l.table.Len())))
}

// leafMark is the payload of a mark that is only itself.
type leafMark struct{ leaf }

func (leafMark) Bytes() int { return 0 }

// Keep notes nothing: a mark does not change.
func (leafMark) Keep() func() { return func() {} }

// key is under which the result of a call is kept: a single int or str as it is,
// else a tuple of the arguments and, when typed, their classes.
func (l *lruCache) key(m *vm.Machine, a vm.Args) vm.Value {
	if !l.typed && len(a.Names) == 0 && len(a.Values) == 1 {
		c := m.ClassOf(a.Values[0])
		if c == m.Builtin("int") || c == m.Builtin("str") {
			return a.Values[0]
		}
	}
	elements(m, len(a.Values))
	m.Alloc(40 + 32*len(a.Values))
	pos := a.Positional()
	items := append(make([]vm.Value, 0, 2*len(a.Values)+1), pos...)
	if len(a.Names) > 0 {
		items = append(items, l.mark)
		// Paid: by the elements above.
		for i, n := range a.Names {
			items = append(items, n.Value(), a.Values[len(pos)+i])
		}
	}
	if l.typed {
		// Paid: by the elements above.
		for _, v := range a.Values {
			items = append(items, m.ClassOf(v).Value())
		}
	}
	return m.NewTuple(items)
}

func (l *lruCache) invoke(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if l.most == 0 {
		l.misses++
		return m.CallArgs(l.fn, a)
	}
	key := l.key(m, a)
	defer m.Release(m.Hold(key))
	m.Charge(m.Prices().DictOp)
	v, ok, err := m.DictGet(l.table, key)
	if err != nil {
		return vm.None, err
	}
	if ok {
		l.hits++
		return l.used(v), nil
	}
	l.misses++
	if v, err = m.CallArgs(l.fn, a); err != nil {
		return vm.None, err
	}
	m.Hold(v)
	m.Charge(m.Prices().DictOp)
	if l.most < 0 {
		return v, m.DictPut(l.table, key, v)
	}
	return v, l.insert(m, key, v)
}

// used is the result that the table holds, the newest from now on.
func (l *lruCache) used(v vm.Value) vm.Value {
	p, _ := v.Foreign()
	n, ok := p.(*lruLink)
	if l.most < 0 || !ok {
		return v
	}
	if n.next != nil { // else it is being dropped, which called this
		l.unlink(n)
		l.newest(n)
	}
	return n.value
}

// insert enters a result and drops the oldest when there are too many.
func (l *lruCache) insert(m *vm.Machine, key, v vm.Value) error {
	_, ok, err := m.DictGet(l.table, key)
	if err != nil || ok { // the function called itself with the same arguments
		return err
	}
	if old := l.ring.next; old != &l.ring && int64(l.table.Len()) >= l.most {
		defer m.Release(m.Hold(old.self))
		l.unlink(old)
		if _, ok, err = m.DictDel(l.table, old.key); err != nil || !ok {
			return err
		}
	}
	n := &lruLink{key: key, value: v}
	n.self = m.NewForeign(m.Builtin("object"), n)
	defer m.Release(m.Hold(n.self))
	if err := m.DictPut(l.table, key, n.self); err != nil {
		return err
	}
	l.newest(n)
	return nil
}
