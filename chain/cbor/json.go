package cbor

import "math"

// RawJSON is [Reader.Raw] for a value of JSON in the form of CIP-11 §12.6: objects are
// maps with text keys, and a number is an integer where one from -2^63 to 2^64-1 has its
// value, else a float. Reasons besides those of Raw: [ErrJSONType], [ErrJSONNumber].
func (r *Reader) RawJSON(lim Limits) ([]byte, error) {
	return r.raw(scanner{data: r.data, itemsLeft: lim.Items, json: true}, lim)
}

// checkJSON holds an item whose head is h to what JSON has.
func (h head) checkJSON(data []byte, pos int) error {
	switch {
	case h.major == majorBytes:
		return &SyntaxError{Offset: pos, Err: ErrJSONType}
	case h.major == majorNint && h.arg > math.MaxInt64, h.major == majorOther && data[pos] == byteFloat && integral(h.arg):
		return &SyntaxError{Offset: pos, Err: ErrJSONNumber}
	}
	return nil
}

// integral reports whether an integer from -2^63 to 2^64-1 has the value of a float.
func integral(bits uint64) bool {
	f := math.Float64frombits(bits)
	return f == math.Trunc(f) && f >= -(1<<63) && f < 1<<64
}
