package vm

// sorter sorts values by keys. The algorithm is part of consensus, as programs
// pay for each comparison and may see them:
//
// Runs of 16 are sorted by binary insertion, in order; then neighbouring runs are
// merged pairwise, widths 16, 32, 64, ..., a last run without neighbour waiting.
// A merge first asks whether the last of the left run and the first of the right
// are in order, then takes the right head when it is less than the left one, else
// the left. Every question is "is this later key less than that earlier key", so
// sorting is stable whatever the answers; wrong answers permute, never fail.
type sorter struct {
	m    *Machine
	keys []Value
	vals []Value // nil: keys are the values
	ints bool    // all keys are small ints: compared on the spot
	buf  []Value // room for a left run, twice where there are vals
}

const sortRun = 16

// sortValues sorts items in place by <.
func (m *Machine) sortValues(items []Value) error { return m.sortBy(items, nil) }

// sortBy sorts vals by keys, both in place; vals nil sorts keys alone. On an
// error both are some permutation.
func (m *Machine) sortBy(keys, vals []Value) error {
	s := &sorter{m: m, keys: keys, vals: vals, ints: smallInts(keys)}
	// Paid: by the comparisons of each run.
	for from := 0; from < len(keys); from += sortRun {
		if err := s.insertion(from, min(from+sortRun, len(keys))); err != nil {
			return err
		}
	}
	if len(keys) <= sortRun {
		return nil
	}
	m.Alloc((len(keys) + len(vals)) * valueBytes)
	s.buf = make([]Value, len(keys)+len(vals))
	// Bounded: by a doubling each time.
	for width := sortRun; width < len(keys); width *= 2 {
		// Paid: by the comparison with which each merge begins.
		for from := 0; from+width < len(keys); from += 2 * width {
			if err := s.merge(from, from+width, min(from+2*width, len(keys))); err != nil {
				return err
			}
		}
	}
	return nil
}

// smallInts tells whether all keys are small ints.
func smallInts(keys []Value) bool {
	// Paid: by the comparisons that follow, one or more for each key.
	for i := range keys {
		if keys[i].ref != &intTag {
			return false
		}
	}
	return true
}

// less is a < b, which costs the same on each way: small ints alone, and strings
// in plain order, are compared without the way through the operators.
func (s *sorter) less(a, b *Value) (bool, error) {
	m := s.m
	m.Charge(m.dyn.Compare)
	if s.ints {
		return int64(a.bits) < int64(b.bits), nil
	}
	if a.ref.kind == KindStr && b.ref.kind == KindStr && a.ref.class == nil && b.ref.class == nil {
		x, y := a.ref.self.(*Str), b.ref.self.(*Str)
		if x == y {
			return false, nil
		}
		if x.ascii() && y.ascii() {
			m.ChargeEach(min(len(x.s), len(y.s)), m.dyn.Char)
			return x.s < y.s, nil
		}
	}
	r, err := m.Compare(CompareLt, *a, *b)
	if err != nil {
		return false, err
	}
	return m.truth(&r)
}

// insertion sorts the run from lo to hi.
func (s *sorter) insertion(lo, hi int) error {
	// Paid: by less, once or more for each key; what moves is below sortRun, 16.
	for i := lo + 1; i < hi; i++ {
		k := s.keys[i]
		a, b := lo, i
		// Paid: by less.
		for a < b {
			mid := int(uint(a+b) >> 1)
			less, err := s.less(&k, &s.keys[mid])
			if err != nil {
				return err
			}
			if less {
				b = mid
			} else {
				a = mid + 1
			}
		}
		copy(s.keys[a+1:i+1], s.keys[a:i])
		s.keys[a] = k
		if s.vals != nil {
			v := s.vals[i]
			copy(s.vals[a+1:i+1], s.vals[a:i])
			s.vals[a] = v
		}
	}
	return nil
}

// merge joins the runs lo..mid and mid..hi.
func (s *sorter) merge(lo, mid, hi int) error {
	less, err := s.less(&s.keys[mid], &s.keys[mid-1])
	if err != nil || !less {
		return err
	}
	left := s.buf[:copy(s.buf, s.keys[lo:mid])]
	var leftVals []Value
	if s.vals != nil {
		leftVals = s.buf[len(s.keys):]
		leftVals = leftVals[:copy(leftVals, s.vals[lo:mid])]
	}
	i, j, to := 0, mid, lo
	// Paid: by less.
	for i < len(left) && j < hi {
		if less, err = s.less(&s.keys[j], &left[i]); err != nil {
			break
		}
		if less {
			s.keys[to] = s.keys[j]
			if s.vals != nil {
				s.vals[to] = s.vals[j]
			}
			j++
		} else {
			s.keys[to] = left[i]
			if s.vals != nil {
				s.vals[to] = leftVals[i]
			}
			i++
		}
		to++
	}
	copy(s.keys[to:], left[i:])
	if s.vals != nil {
		copy(s.vals[to:], leftVals[i:])
	}
	return err
}
