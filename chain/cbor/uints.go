package cbor

// AppendUints appends an array of numbers.
func AppendUints(dst []byte, list ...uint64) []byte {
	dst = AppendArray(dst, len(list))
	for _, v := range list {
		dst = AppendUint(dst, v)
	}
	return dst
}

// Uints reads numbers into out until it is full. What it read before an error is
// there.
func (r *Reader) Uints(out []uint64) error {
	for i := range out {
		v, err := r.Uint()
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

// DecodeUints decodes data, which is an array of len(out) numbers and nothing else.
func DecodeUints(data []byte, out []uint64) error {
	r := NewReader(data)
	if err := r.ArrayOf(len(out)); err != nil {
		return err
	}
	if err := r.Uints(out); err != nil {
		return err
	}
	return r.End()
}

// DecodeUint decodes data, which is one number and nothing else.
func DecodeUint(data []byte) (uint64, error) {
	r := NewReader(data)
	v, err := r.Uint()
	if err != nil {
		return 0, err
	}
	return v, r.End()
}
