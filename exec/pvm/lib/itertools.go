package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// iterState is the payload of the iterators of itertools: closures over their
// state.
type iterState struct {
	next  func(m *vm.Machine) (vm.Value, bool, error)
	roots func(visit func(vm.Value))
	size  func() int // modelled bytes beside the values, nil: iterBytes
	repr  func(m *vm.Machine) (string, error)
	hint  func() (int64, bool)
	again bool // next is asked anew after an end: its sources say whether there is more
	done  bool
}

// iterBytes is the modelled size of an iterator of itertools.
const iterBytes = 144

// Roots visits what the closures hold.
func (s *iterState) Roots(visit func(vm.Value)) {
	if s.roots != nil {
		s.roots(visit)
	}
}

// Bytes is the modelled size.
func (s *iterState) Bytes() int {
	if s.size != nil {
		return iterBytes + s.size()
	}
	return iterBytes
}

// Step advances the iterator and remembers its end.
func (s *iterState) Step(m *vm.Machine) (vm.Value, bool, error) {
	if s.done {
		return vm.None, false, nil
	}
	m.Charge(m.Work().IteratorStep * m.Prices().Element)
	v, ok, err := s.next(m)
	s.done = s.done || err == nil && !ok && !s.again
	if s.done {
		s.dropHeld()
	}
	if err != nil {
		return vm.None, false, err
	}
	return v, ok, nil
}

// dropHeld lets go of what a finished iterator held, but for what its repr shows.
func (s *iterState) dropHeld() {
	if s.next = nil; s.repr == nil {
		s.roots, s.size = nil, nil
	}
}

// iterModule is the module itertools of one machine.
type iterModule struct {
	mod          *vm.Module
	tee, grouper *vm.Class
}

// makeIter makes the state of an iterator from the arguments of its class.
type makeIter func(m *vm.Machine, a vm.Args) (*iterState, error)

// newClass adds a class of iterators: d.Fn is not set, and the receiver is the
// class itself.
func (t *iterModule) newClass(m *vm.Machine, d vm.Def, build makeIter) *vm.Class {
	c := m.NewClass("itertools", d.Name).Dotted()
	d.Name = "__new__"
	d.Fn = func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		s, err := build(m, a)
		if err != nil {
			return vm.None, err
		}
		cls, _ := a.Values[0].Class()
		return m.NewForeign(cls, s), nil
	}
	c.Define(d)
	iterMethods(c)
	t.mod.Set(m, c.Name(), c.Value())
	return c
}

// iterMethods adds what all iterators have.
func iterMethods(c *vm.Class) {
	c.Define(
		def("__iter__", 1, 1, itself),
		def("__next__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*iterState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return stepped(m, s)
		}),
	)
}

// stepped is __next__ of an iterator.
func stepped(m *vm.Machine, s vm.Stepper) (vm.Value, error) {
	v, ok, err := s.Step(m)
	if err == nil && !ok {
		err = m.Stop(v)
	}
	return v, err
}

// describe adds __repr__ and __length_hint__ for classes whose states have them.
func describe(c *vm.Class) {
	c.Define(
		def("__repr__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*iterState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			if err := m.Enter(); err != nil {
				return vm.None, err
			}
			defer m.Exit()
			text, err := s.repr(m)
			return m.NewStr(text), err
		}),
	)
}

func loadItertools(m *vm.Machine) (*vm.Module, error) {
	t := &iterModule{mod: m.NewModule("itertools")}
	describe(t.newClass(m, named("count", 1, []string{"cls", "start", "step"}, nil), newCount))
	repeat := t.newClass(m, named("repeat", 2, []string{"cls", "object", "times"}, nil), newRepeat)
	describe(repeat)
	repeat.Define(def("__length_hint__", 1, 1, repeatHint))
	t.newClass(m, def("cycle", 2, 2, nil), newCycle)
	t.newClass(m, vm.Def{Name: "accumulate", Min: 2, Max: 3, Params: []string{"cls", "iterable", "func", "initial"}}, newAccumulate)
	chain := t.newClass(m, def("chain", 1, -1, nil), newChain)
	chain.DefineClass(def("from_iterable", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		outer, err := m.Iter(a.Values[1])
		if err != nil {
			return vm.None, err
		}
		cls, _ := a.Values[0].Class()
		return m.NewForeign(cls, chainOf(outer)), nil
	}))
	chain.DefineClass(def("__class_getitem__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return m.NewAlias(a.Values[0], a.Values[1]), nil
	}))
	t.newClass(m, named("compress", 3, []string{"cls", "data", "selectors"}, nil), newCompress)
	t.newClass(m, def("dropwhile", 3, 3, nil), newDropwhile)
	t.newClass(m, def("takewhile", 3, 3, nil), newTakewhile)
	t.newClass(m, def("filterfalse", 3, 3, nil), newFilterfalse)
	t.newClass(m, def("starmap", 3, 3, nil), newStarmap)
	t.newClass(m, def("islice", 3, 5, nil), newIslice)
	t.newClass(m, def("pairwise", 2, 2, nil), newPairwise)
	t.newClass(m, vm.Def{Name: "zip_longest", Min: 1, Max: -1, Keywords: true}, newZipLongest)
	t.newClass(m, vm.Def{Name: "product", Min: 1, Max: -1, Keywords: true}, newProduct)
	t.newClass(m, named("permutations", 2, []string{"cls", "iterable", "r"}, nil), newPermutations)
	t.newClass(m, named("combinations", 3, []string{"cls", "iterable", "r"}, nil), newCombinations(false))
	t.newClass(m, named("combinations_with_replacement", 3, []string{"cls", "iterable", "r"}, nil), newCombinations(true))
	t.grouper = m.NewClass("itertools", "_grouper").Dotted()
	iterMethods(t.grouper)
	t.newClass(m, named("groupby", 2, []string{"cls", "iterable", "key"}, nil), t.newGroupby)
	t.defineTee(m)
	return t.mod, nil
}

// iterAll is iter of each argument.
func iterAll(m *vm.Machine, values []vm.Value) ([]vm.Value, error) {
	elements(m, len(values))
	m.ChargeSources(len(values))
	m.Alloc(16 * len(values))
	out := make([]vm.Value, 0, len(values))
	mark := m.Hold(vm.None)
	defer m.Release(mark)
	// Paid: by the charges above; an __iter__ of the program pays for its call.
	for _, v := range values {
		it, err := m.Iter(v)
		if err != nil {
			return nil, err
		}
		m.Hold(it)
		out = append(out, it)
	}
	return out, nil
}

// hold visits the values.
func hold(values ...vm.Value) func(visit func(vm.Value)) {
	return func(visit func(vm.Value)) { visitAll(values, visit) }
}

func visitAll(values []vm.Value, visit func(vm.Value)) {
	// Bounded: by the modelled memory, 16 bytes a value; measurements come after an eighth of its limit was announced.
	for _, v := range values {
		if v.Bound() {
			visit(v)
		}
	}
}

// truthOf is the truth of fn(v), of v itself when fn is None.
func truthOf(m *vm.Machine, fn, v vm.Value) (bool, error) {
	if fn.IsNone() {
		return m.Truth(v)
	}
	mark := m.Hold(v)
	r, err := m.Call(fn, v)
	m.Release(mark)
	if err != nil {
		return false, err
	}
	return m.Truth(r)
}
