package cbor

import (
	"errors"
	"math"
	"testing"
)

func TestReaderTakesWhatAppendWrote(t *testing.T) {
	var out []byte
	out = AppendArray(out, 8)
	out = AppendUint(out, math.MaxUint64)
	out = AppendInt(out, math.MinInt64)
	out = AppendBytes(out, []byte{1, 2})
	out = AppendText(out, "cow")
	out = AppendBool(out, true)
	out = AppendNull(out)
	out = AppendFloat(out, 1.5)
	out = AppendMap(out, 1)
	out = AppendUint(out, 0)
	out = AppendBool(out, false)
	if err := Scan(out, DefaultLimits()); err != nil {
		t.Fatal(err)
	}

	r := NewReader(out)
	check := func(what string, err error, ok bool) {
		t.Helper()
		if err != nil || !ok {
			t.Fatalf("%s: %v, value as written: %v", what, err, ok)
		}
	}
	check("array", r.ArrayOf(8), true)
	u, err := r.Uint()
	check("uint", err, u == math.MaxUint64)
	i, err := r.Int()
	check("int", err, i == math.MinInt64)
	b, err := r.Bytes(2)
	check("bytes", err, string(b) == "\x01\x02" && cap(b) == 2)
	s, err := r.Text(3)
	check("text", err, s == "cow")
	v, err := r.Bool()
	check("bool", err, v)
	check("null", nil, r.Null())
	f, err := r.Float()
	check("float", err, f == 1.5)
	n, err := r.Map(1)
	check("map", err, n == 1)
	key, err := r.Key(nil, DefaultLimits())
	check("key", err, string(key) == "\x00")
	v, err = r.Bool()
	check("value", err, !v)
	check("end", r.End(), true)
}

func TestReaderRefuses(t *testing.T) {
	f := func(rule, in string, read func(*Reader) error, want error) {
		t.Helper()
		r := NewReader(unhex(t, in))
		if err := read(&r); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
		if r.Offset() != 0 {
			t.Errorf("%s: moved to %d after an error", rule, r.Offset())
		}
	}
	uint1 := func(r *Reader) error { _, err := r.Uint(); return err }
	int1 := func(r *Reader) error { _, err := r.Int(); return err }
	bytes1 := func(r *Reader) error { _, err := r.Bytes(1); return err }
	text1 := func(r *Reader) error { _, err := r.Text(1); return err }
	array1 := func(r *Reader) error { _, err := r.Array(1); return err }
	map1 := func(r *Reader) error { _, err := r.Map(1); return err }
	bool1 := func(r *Reader) error { _, err := r.Bool(); return err }
	float1 := func(r *Reader) error { _, err := r.Float(); return err }
	into2 := func(r *Reader) error { return r.BytesInto(make([]byte, 2)) }
	arrayOf2 := func(r *Reader) error { return r.ArrayOf(2) }

	f("a negative is not unsigned", "20", uint1, ErrWrongType)
	f("an integer in a longer form", "1800", uint1, ErrNotShortest)
	f("nothing left", "", uint1, ErrTruncated)
	f("an integer above int64", "1b8000000000000000", int1, ErrTooLong)
	f("an integer below int64", "3b8000000000000000", int1, ErrTooLong)
	f("text is no byte string", "6161", bytes1, ErrWrongType)
	f("bytes above the limit", "420000", bytes1, ErrTooLong)
	f("bytes cut short", "41", bytes1, ErrTruncated)
	f("bytes are no text", "4161", text1, ErrWrongType)
	f("text that is not UTF-8", "61ff", text1, ErrUTF8)
	f("text above the limit", "626161", text1, ErrTooLong)
	f("bytes too short for their place", "4100", into2, ErrWrongLength)
	f("bytes too long for their place", "43000000", into2, ErrWrongLength)
	f("array above the limit", "820000", array1, ErrTooManyItems)
	f("array with no room for its items", "81", array1, ErrTruncated)
	f("array of another length", "8100", arrayOf2, ErrWrongLength)
	f("map above the limit", "a200000100", map1, ErrTooManyItems)
	f("map with no room for its pairs", "a100", map1, ErrTruncated)
	f("null is no bool", "f6", bool1, ErrWrongType)
	f("an integer is no bool", "00", bool1, ErrWrongType)
	f("undefined", "f7", bool1, ErrSimple)
	f("a half float", "f90000", float1, ErrFloatWidth)
	f("true is no float", "f5", float1, ErrWrongType)
	f("trailing", "00", func(r *Reader) error { return r.End() }, ErrTrailing)
}

func TestReaderKeysAscend(t *testing.T) {
	r := NewReader(unhex(t, "01 01 00"))
	first, err := r.Key(nil, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Key(first, DefaultLimits()); !errors.Is(err, ErrDuplicateKey) {
		t.Errorf("same key again: %v", err)
	}
	if _, err := r.Uint(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Key(first, DefaultLimits()); !errors.Is(err, ErrKeyOrder) {
		t.Errorf("smaller key: %v", err)
	}
}

func TestReaderRawKeepsToItsLimits(t *testing.T) {
	r := NewReader(unhex(t, "8200818000"))
	if _, err := r.Raw(Limits{Bytes: 3, Depth: 3, Items: 9}); !errors.Is(err, ErrTooLong) {
		t.Errorf("raw item above the byte limit: %v", err)
	}
	raw, err := r.Raw(Limits{Bytes: 4, Depth: 3, Items: 9})
	if err != nil || len(raw) != 4 || r.Offset() != 4 {
		t.Errorf("Raw = %x, %v at %d, want 4 bytes", raw, err, r.Offset())
	}
}
