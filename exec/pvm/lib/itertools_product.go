package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// newZipLongest takes the keyword fillvalue.
func newZipLongest(m *vm.Machine, a vm.Args) (*iterState, error) {
	fill := vm.None
	// Paid: by the call that binds keywords; one that is not known ends it, and none comes twice.
	for i, name := range a.Names {
		if name.String() != "fillvalue" {
			return nil, m.TypeError("zip_longest() got an unexpected keyword argument")
		}
		fill = a.Values[len(a.Values)-len(a.Names)+i]
	}
	its, err := iterAll(m, a.Positional()[1:])
	if err != nil {
		return nil, err
	}
	left := len(its)
	s := &iterState{roots: func(visit func(vm.Value)) { visit(fill); visitAll(its, visit) }, size: func() int { return 16 * len(its) }}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		if left == 0 {
			return vm.None, false, nil
		}
		elements(m, len(its))
		items := make([]vm.Value, len(its))
		mark := m.Hold(vm.None)
		defer m.Release(mark)
		// Paid: by the elements above, and by Next for what sources cost.
		for i, it := range its {
			items[i] = fill
			if !it.Bound() {
				continue
			}
			v, ok, err := m.Next(it)
			if err != nil {
				left = 0
				return vm.None, false, err
			}
			if !ok {
				its[i] = vm.Value{}
				if left--; left == 0 {
					return vm.None, false, nil
				}
				continue
			}
			m.Hold(v)
			items[i] = v
		}
		return m.NewTuple(items), true, nil
	}
	return s, nil
}

// pools are collections of items from which products and the like choose.
func poolState(pools [][]vm.Value, more int) *iterState {
	total := 0
	// Paid: by those who made the pools, an element each.
	for _, p := range pools {
		total += len(p)
	}
	return &iterState{
		roots: func(visit func(vm.Value)) {
			// Bounded: by the modelled memory, 16 bytes a value; measurements come after an eighth of its limit was announced.
			for _, p := range pools {
				visitAll(p, visit)
			}
		},
		size: func() int { return 16*total + 8*more },
	}
}

func newProduct(m *vm.Machine, a vm.Args) (*iterState, error) {
	repeat := int64(1)
	// Paid: by the call that binds keywords; one that is not known ends it, and none comes twice.
	for i, name := range a.Names {
		if name.String() != "repeat" {
			return nil, m.TypeError("'%s' is an invalid keyword argument for product()", name.String())
		}
		var err error
		if repeat, err = m.Index(a.Values[len(a.Values)-len(a.Names)+i]); err != nil {
			return nil, err
		}
	}
	if repeat < 0 {
		return nil, m.ValueError("repeat argument cannot be negative")
	}
	args := a.Positional()[1:]
	if repeat == 0 {
		args = nil
	}
	var pools [][]vm.Value
	mark := m.Hold(vm.None)
	defer m.Release(mark)
	m.ChargeSources(len(args))
	m.ChargeWide(len(args), m.Prices().NativeCall) // for the list and the tuple of each
	// Paid: by the charges above, two native calls each beyond a few, and by Collect, a step for each item.
	for _, v := range args {
		p, err := m.Collect(v)
		if err != nil {
			return nil, err
		}
		m.Hold(m.NewTuple(p))
		pools = append(pools, p)
	}
	if repeat > 1 && len(pools) > 0 {
		if repeat > 1<<40 {
			return nil, m.Raise(m.Builtin("OverflowError"), "repeat argument too large")
		}
		n := len(pools)
		m.ChargeCount(repeat, m.Prices().Element*int64(n))
		m.ChargeCount(repeat, m.Work().ProductItem*int64(n)) // memory that the heap must hold as well
		m.AllocBytes(24 * int64(n) * repeat)
		// Paid: by the two charges above.
		for range (repeat - 1) * int64(n) {
			pools = append(pools, pools[len(pools)-n])
		}
	}
	return productState(pools), nil
}

func productState(pools [][]vm.Value) *iterState {
	at := make([]int, len(pools))
	first := true
	s := poolState(pools, 4*len(pools))
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		elements(m, len(pools))
		if first {
			first = false
			// Paid: by the elements above.
			for _, p := range pools {
				if len(p) == 0 {
					return vm.None, false, nil
				}
			}
		} else if !advance(at, pools) {
			return vm.None, false, nil
		}
		items := make([]vm.Value, len(pools))
		// Paid: by the elements above.
		for i, p := range pools {
			items[i] = p[at[i]]
		}
		return m.NewTuple(items), true, nil
	}
	return s
}

// advance counts up, the last place first; false after the last combination.
func advance(at []int, pools [][]vm.Value) bool {
	// Paid: by productState, an element for each pool.
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(pools[i]) {
			return true
		}
		at[i] = 0
	}
	return false
}

// chooseMax is more than any pool has and any heap holds.
const chooseMax = 1 << 30

// chooseCount reads r; what is beyond the pool chooses nothing.
func chooseCount(m *vm.Machine, v vm.Value) (int, error) {
	r, err := m.Index(v)
	if err != nil {
		return 0, err
	}
	if r < 0 {
		return 0, m.ValueError("r must be non-negative")
	}
	return int(min(r, chooseMax)), nil
}

// picks makes the tuple of the chosen places.
func picks(m *vm.Machine, pool []vm.Value, at []int) vm.Value {
	items := make([]vm.Value, len(at))
	// Paid: by the callers, an element for each place.
	for i, k := range at {
		items[i] = pool[k]
	}
	return m.NewTuple(items)
}

func newPermutations(m *vm.Machine, a vm.Args) (*iterState, error) {
	pool, release, err := collected(m, a.Values[1])
	if err != nil {
		return nil, err
	}
	defer release()
	n, r := len(pool), len(pool)
	if v := orNone(a, 2); !v.IsNone() {
		if _, ok := v.BigInt(); !ok {
			return nil, m.TypeError("Expected int as r")
		}
		if r, err = chooseCount(m, v); err != nil {
			return nil, err
		}
	}
	if r > n {
		s := poolState([][]vm.Value{pool}, 0)
		s.next = func(*vm.Machine) (vm.Value, bool, error) { return vm.None, false, nil }
		return s, nil
	}
	m.Alloc(8 * (n + r))
	elements(m, n+r)
	at, cycles := make([]int, n), make([]int, r)
	// Paid: by the elements above.
	for i := range at {
		at[i] = i
	}
	// Paid: by the elements above.
	for i := range cycles {
		cycles[i] = n - i
	}
	first := true
	s := poolState([][]vm.Value{pool}, n+r)
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		elements(m, n)
		if !first && !nextPermutation(at, cycles) {
			return vm.None, false, nil
		}
		first = false
		return picks(m, pool, at[:r]), true, nil
	}
	return s, nil
}

// nextPermutation is the step of Python's documentation of permutations.
func nextPermutation(at, cycles []int) bool {
	n := len(at)
	// Paid: by newPermutations, an element for each item a step: place i moves the n-i behind it once in n-i steps at most.
	for i := len(cycles) - 1; i >= 0; i-- {
		cycles[i]--
		if cycles[i] == 0 {
			moved := at[i]
			copy(at[i:], at[i+1:])
			at[n-1] = moved
			cycles[i] = n - i
			continue
		}
		j := n - cycles[i]
		at[i], at[j] = at[j], at[i]
		return true
	}
	return false
}

func newCombinations(replace bool) makeIter {
	return func(m *vm.Machine, a vm.Args) (*iterState, error) {
		pool, release, err := collected(m, a.Values[1])
		if err != nil {
			return nil, err
		}
		defer release()
		r, err := chooseCount(m, a.Values[2])
		if err != nil {
			return nil, err
		}
		n := len(pool)
		if !replace && r > n || replace && n == 0 && r > 0 {
			s := poolState([][]vm.Value{pool}, 0)
			s.next = func(*vm.Machine) (vm.Value, bool, error) { return vm.None, false, nil }
			return s, nil
		}
		if r == chooseMax {
			return nil, m.Raise(m.Builtin("MemoryError"), "r is too large")
		}
		elements(m, r)
		m.AllocBytes(8 * int64(r))
		at := make([]int, r)
		if !replace {
			// Paid: by the elements above.
			for i := range at {
				at[i] = i
			}
		}
		first := true
		s := poolState([][]vm.Value{pool}, r)
		s.next = func(m *vm.Machine) (vm.Value, bool, error) {
			elements(m, r)
			if !first && !nextCombination(at, n, replace) {
				return vm.None, false, nil
			}
			first = false
			return picks(m, pool, at), true, nil
		}
		return s, nil
	}
}

// nextCombination raises the last place that can be raised and resets those
// behind it.
func nextCombination(at []int, n int, replace bool) bool {
	r := len(at)
	// Paid: by newCombinations, an element for each place.
	for i := r - 1; i >= 0; i-- {
		top := n - 1
		if !replace {
			top = i + n - r
		}
		if at[i] == top {
			continue
		}
		at[i]++
		// Paid: likewise; the loop around it ends here.
		for j := i + 1; j < r; j++ {
			at[j] = at[j-1]
			if !replace {
				at[j]++
			}
		}
		return true
	}
	return false
}
