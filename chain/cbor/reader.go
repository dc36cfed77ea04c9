package cbor

import (
	"math"
)

// Reader takes items off a byte slice, first to last. Every method that reads
// an item enforces the profile for it and returns a [*SyntaxError] otherwise;
// after an error the Reader stays in front of the offending item.
//
// The zero Reader is at the end of an empty input. Copying a Reader saves its
// place.
type Reader struct {
	data []byte
	pos  int
}

// NewReader returns a Reader in front of the first item of data.
func NewReader(data []byte) Reader { return Reader{data: data} }

// Offset returns how many bytes have been read.
func (r *Reader) Offset() int { return r.pos }

// Remaining is how many bytes have not been read.
func (r *Reader) Remaining() int { return len(r.data) - r.pos }

// fail reports err at the current item.
func (r *Reader) fail(err error) error { return &SyntaxError{Offset: r.pos, Err: err} }

// expect reads a head of the wanted major type. The caller advances.
func (r *Reader) expect(major byte) (head, error) {
	h, err := readHead(r.data, r.pos)
	if err != nil {
		return head{}, err
	}
	if h.major != major {
		return head{}, r.fail(ErrWrongType)
	}
	return h, nil
}

// Uint reads an unsigned integer.
func (r *Reader) Uint() (uint64, error) {
	h, err := r.expect(majorUint)
	if err != nil {
		return 0, err
	}
	r.pos = h.end
	return h.arg, nil
}

// Int reads an integer of either sign that fits an int64.
func (r *Reader) Int() (int64, error) {
	h, err := readHead(r.data, r.pos)
	if err != nil {
		return 0, err
	}
	if h.major != majorUint && h.major != majorNint {
		return 0, r.fail(ErrWrongType)
	}
	if h.arg > math.MaxInt64 {
		return 0, r.fail(ErrTooLong)
	}
	r.pos = h.end
	if h.major == majorNint {
		return -1 - int64(h.arg), nil
	}
	return int64(h.arg), nil
}

// Bytes reads a byte string of at most limit bytes. The result aliases the
// input and its capacity ends with it.
func (r *Reader) Bytes(limit int) ([]byte, error) { return r.str(majorBytes, limit) }

// BytesInto reads a byte string of exactly len(dst) bytes into dst.
func (r *Reader) BytesInto(dst []byte) error {
	start := r.pos
	str, err := r.str(majorBytes, math.MaxInt)
	if err != nil {
		return err
	}
	if len(str) != len(dst) {
		r.pos = start
		return r.fail(ErrWrongLength)
	}
	copy(dst, str)
	return nil
}

// Text reads a text string of at most limit bytes.
func (r *Reader) Text(limit int) (string, error) {
	str, err := r.str(majorText, limit)
	return string(str), err
}

func (r *Reader) str(major byte, limit int) ([]byte, error) {
	h, err := r.expect(major)
	if err != nil {
		return nil, err
	}
	if limit < 0 || h.arg > uint64(limit) {
		return nil, r.fail(ErrTooLong)
	}
	str, err := h.str(r.data, r.pos)
	if err != nil {
		return nil, err
	}
	r.pos = h.end + len(str)
	return str, nil
}

// Array reads the head of an array of at most limit elements and returns their
// number. The input holds at least one byte per element, so the caller may
// allocate by the result.
func (r *Reader) Array(limit int) (int, error) { return r.open(majorArray, limit) }

// ArrayEach is [Reader.Array] for elements of at least so many bytes each: where the
// caller's are larger in memory than a byte, as most are, the input holds that much of
// each, too, before the caller allocates.
func (r *Reader) ArrayEach(limit, least int) (int, error) {
	start := r.pos
	n, err := r.open(majorArray, limit)
	if err != nil {
		return 0, err
	}
	if n > (len(r.data)-r.pos)/least {
		r.pos = start
		return 0, r.fail(ErrTruncated)
	}
	return n, nil
}

// Map reads the head of a map of at most limit pairs and returns their number.
// The caller reads the keys with [Reader.Key].
func (r *Reader) Map(limit int) (int, error) { return r.open(majorMap, limit) }

// ArrayOf reads the head of an array of exactly n elements.
func (r *Reader) ArrayOf(n int) error {
	start := r.pos
	got, err := r.open(majorArray, math.MaxInt)
	if err != nil {
		return err
	}
	if got != n {
		r.pos = start
		return r.fail(ErrWrongLength)
	}
	return nil
}

func (r *Reader) open(major byte, limit int) (int, error) {
	h, err := r.expect(major)
	if err != nil {
		return 0, err
	}
	if limit < 0 || h.arg > uint64(limit) {
		return 0, r.fail(ErrTooManyItems)
	}
	n, err := h.count(r.data, r.pos)
	if err != nil {
		return 0, err
	}
	r.pos = h.end
	return n, nil
}

// Key reads a map key whole, as encoded, and checks that it sorts after prev,
// the key before it; prev is nil for the first. The result aliases the input.
func (r *Reader) Key(prev []byte, lim Limits) ([]byte, error) {
	start := r.pos
	key, err := r.Raw(lim)
	if err != nil {
		return nil, err
	}
	if prev != nil {
		if err := checkKeyOrder(prev, key, start); err != nil {
			r.pos = start
			return nil, err
		}
	}
	return key, nil
}

// Raw reads one item of any shape within lim and returns its encoding, which
// aliases the input. The byte limit applies to the item alone.
func (r *Reader) Raw(lim Limits) ([]byte, error) {
	return r.raw(scanner{data: r.data, itemsLeft: lim.Items}, lim)
}

func (r *Reader) raw(s scanner, lim Limits) ([]byte, error) {
	end, err := s.item(r.pos, lim.Depth)
	if err != nil {
		return nil, err
	}
	if end-r.pos > lim.Bytes {
		return nil, r.fail(ErrTooLong)
	}
	raw := r.data[r.pos:end:end]
	r.pos = end
	return raw, nil
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) {
	h, err := r.expect(majorOther)
	if err != nil {
		return false, err
	}
	switch r.data[r.pos] {
	case byteTrue, byteFalse:
		isTrue := r.data[r.pos] == byteTrue
		r.pos = h.end
		return isTrue, nil
	default:
		return false, r.fail(ErrWrongType)
	}
}

// Null reads null if it is the next item and reports whether it was. At
// anything else, the end of the input included, it stays where it is.
func (r *Reader) Null() bool {
	if r.pos < len(r.data) && r.data[r.pos] == byteNull {
		r.pos++
		return true
	}
	return false
}

// Float reads a finite 64-bit float.
func (r *Reader) Float() (float64, error) {
	h, err := r.expect(majorOther)
	if err != nil {
		return 0, err
	}
	if r.data[r.pos] != byteFloat {
		return 0, r.fail(ErrWrongType)
	}
	r.pos = h.end
	return math.Float64frombits(h.arg), nil
}

// End reports [ErrTrailing] unless everything has been read.
func (r *Reader) End() error {
	if r.pos != len(r.data) {
		return r.fail(ErrTrailing)
	}
	return nil
}
