package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// grouping is the state that a groupby and its groups share.
type grouping struct {
	it, key                vm.Value
	target, current, value vm.Value
	group                  *iterState // the one that may still read
	started                bool
}

func (g *grouping) roots(visit func(vm.Value)) {
	visitAll([]vm.Value{g.it, g.key, g.target, g.current, g.value}, visit)
}

// pull takes the next item and its key.
func (g *grouping) pull(m *vm.Machine) (bool, error) {
	v, ok, err := m.Next(g.it)
	if err != nil || !ok {
		return false, err
	}
	m.Charge(m.Prices().Element)
	key := v
	if !g.key.IsNone() {
		defer m.Release(m.Hold(v))
		if key, err = m.Call(g.key, v); err != nil {
			return false, err
		}
	}
	g.value, g.current, g.started = v, key, true
	return true, nil
}

func (t *iterModule) newGroupby(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := m.Iter(a.Values[1])
	if err != nil {
		return nil, err
	}
	g := &grouping{it: it, key: orNone(a, 2)}
	s := &iterState{roots: g.roots}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		g.group = nil
		// Paid: by pull, an element each and what the source and the key cost.
		for {
			if g.started {
				if !g.target.Bound() {
					break
				}
				same, err := m.CompareBool(vm.CompareEq, g.target, g.current)
				if err != nil {
					return vm.None, false, err
				}
				if !same {
					break
				}
			}
			if ok, err := g.pull(m); err != nil || !ok {
				return vm.None, false, err
			}
		}
		g.target = g.current
		group := t.newGroup(m, g)
		return m.NewTuple([]vm.Value{g.current, group}), true, nil
	}
	return s, nil
}

// newGroup is the iterator over the items of the current key.
func (t *iterModule) newGroup(m *vm.Machine, g *grouping) vm.Value {
	m.Charge(m.Prices().NativeCall) // for its iterator
	key := g.target
	s := &iterState{roots: func(visit func(vm.Value)) { visit(key); g.roots(visit) }}
	g.group = s
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		if g.group != s {
			return vm.None, false, nil
		}
		if !g.value.Bound() {
			if ok, err := g.pull(m); err != nil || !ok {
				return vm.None, false, err
			}
		}
		same, err := m.CompareBool(vm.CompareEq, key, g.current)
		if err != nil || !same {
			return vm.None, false, err
		}
		v := g.value
		g.value = vm.Value{}
		return v, true, nil
	}
	return m.NewForeign(t.grouper, s)
}

// teeLink is one item of a tee and the way to the next. The source is read by
// whoever comes first.
type teeLink struct {
	v    vm.Value
	next *teeLink
	full bool
}

// teeSource is the iterator behind the branches of a tee.
type teeSource struct {
	it   vm.Value
	busy bool
	read int // items
}

// teeState is the payload of one branch.
type teeState struct {
	src   *teeSource
	at    *teeLink // to be read next
	given int      // items that the branch is past
}

// fork is a branch that is as far.
func (s *teeState) fork() *teeState { return &teeState{src: s.src, at: s.at, given: s.given} }

// Roots visits what the branch has yet to give.
func (s *teeState) Roots(visit func(vm.Value)) {
	visit(s.src.it)
	// Paid: by the measurement, which counts Links; a branch that is made does not come here.
	for l := s.at; l != nil && l.full; l = l.next {
		visit(l.v)
	}
}

// Links counts the links that the branch can reach: to walk them takes a read of memory each,
// far from that of the one before where other branches were read in between.
func (s *teeState) Links() int { return s.src.read - s.given }

// teeLinkBytes is the modelled size of a link.
const teeLinkBytes = 32

// Bytes counts the links too.
func (s *teeState) Bytes() int { return 64 + s.Links()*teeLinkBytes }

// Step gives the next item, reading the source when nobody has read it yet.
func (s *teeState) Step(m *vm.Machine) (vm.Value, bool, error) {
	m.Charge(m.Work().IteratorStep * m.Prices().Element)
	l := s.at
	if !l.full {
		if s.src.busy {
			return vm.None, false, m.Raise(m.Builtin("RuntimeError"), "cannot re-enter the tee iterator")
		}
		s.src.busy = true
		v, ok, err := m.Next(s.src.it)
		s.src.busy = false
		if err != nil || !ok {
			return vm.None, false, err
		}
		elements(m, 1) // a link is made
		m.Alloc(teeLinkBytes)
		l.v, l.full, l.next = v, true, &teeLink{}
		s.src.read++
	}
	s.at = l.next
	s.given++
	return l.v, true, nil
}

// branch starts a tee of any iterable; one that is a tee already is itself the
// first branch.
func (t *iterModule) branch(m *vm.Machine, v vm.Value) (vm.Value, *teeState, error) {
	it, err := m.Iter(v)
	if err != nil {
		return it, nil, err
	}
	p, _ := it.Foreign()
	if s, ok := p.(*teeState); ok {
		return it, s, nil
	}
	s := &teeState{src: &teeSource{it: it}, at: &teeLink{}}
	return m.NewForeign(t.tee, s), s, nil
}

func (t *iterModule) defineTee(m *vm.Machine) {
	t.tee = m.NewClass("itertools", "_tee").Dotted()
	fork := func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		s, err := payload[*teeState](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return m.NewForeign(t.tee, s.fork()), nil
	}
	t.tee.Define(
		def("__new__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			_, s, err := t.branch(m, a.Values[1])
			if err != nil {
				return vm.None, err
			}
			return m.NewForeign(t.tee, s.fork()), nil
		}),
		def("__iter__", 1, 1, itself),
		def("__next__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*teeState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return stepped(m, s)
		}),
		def("__copy__", 1, 1, fork),
	)
	t.mod.Set(m, "_tee", t.tee.Value())
	t.mod.Define(m, def("tee", 1, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		n := int64(2)
		if v, ok := given(a, 1); ok {
			var err error
			if n, err = m.Index(v); err != nil {
				return vm.None, err
			}
		}
		if n < 0 {
			return vm.None, m.ValueError("n must be >= 0")
		}
		if n == 0 {
			return m.NewTuple(nil), nil
		}
		first, s, err := t.branch(m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		m.ChargeCount(n, m.Prices().NativeCall)
		defer m.Release(m.Hold(first))
		out := []vm.Value{first}
		// Paid: by the native calls above.
		for range n - 1 {
			v := m.NewForeign(t.tee, s.fork())
			m.Hold(v)
			out = append(out, v)
		}
		return m.NewTuple(out), nil
	}))
}
