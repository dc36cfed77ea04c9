package cbor

import "math"

// IntMap is the place in a map whose keys are 0, 1, 2 and so on, each once: the
// form of CIP-11 §12.6 for objects with a schema. [Reader.IntMap] opens one,
// [Reader.IntKey] reads each key before its value, [Reader.EndIntMap] follows the
// last.
type IntMap struct {
	left int    // pairs that have not been read
	next uint64 // key that follows
}

// IntMap reads the head of a map with integer keys.
func (r *Reader) IntMap() (IntMap, error) {
	n, err := r.open(majorMap, math.MaxInt)
	return IntMap{left: n}, err
}

// IntKey reads the key that follows in m. Reasons besides those of [Reader.Uint]:
// [ErrDuplicateKey], [ErrKeyOrder] for a key that sorts before its predecessor, and
// [ErrMissingKey] where the map ends or goes on with a later key.
func (r *Reader) IntKey(m *IntMap) error {
	if m.left == 0 {
		return r.fail(ErrMissingKey)
	}
	h, err := r.expect(majorUint)
	switch {
	case err != nil:
		return err
	case h.arg > m.next:
		return r.fail(ErrMissingKey)
	case h.arg+1 == m.next:
		return r.fail(ErrDuplicateKey)
	case h.arg < m.next:
		return r.fail(ErrKeyOrder)
	}
	m.left--
	m.next++
	r.pos = h.end
	return nil
}

// EndIntMap reports [ErrUnknownKey] unless all pairs of m have been read.
func (r *Reader) EndIntMap(m *IntMap) error {
	if m.left != 0 {
		return r.fail(ErrUnknownKey)
	}
	return nil
}
