package cbor

import (
	"errors"
	"testing"
)

// readPairs reads a map with the keys 0 to n-1 whose values are integers.
func readPairs(r *Reader, n int) error {
	m, err := r.IntMap()
	for range n {
		if err == nil {
			err = r.IntKey(&m)
		}
		if err == nil {
			_, err = r.Uint()
		}
	}
	if err == nil {
		err = r.EndIntMap(&m)
	}
	if err == nil {
		err = r.End()
	}
	return err
}

func TestIntMap(t *testing.T) { // CIP-11 §12.6
	f := func(rule, in string, n int, want error, at int) {
		t.Helper()
		r := NewReader(unhex(t, in))
		err := readPairs(&r, n)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
		var syntax *SyntaxError
		if want != nil && (!errors.As(err, &syntax) || syntax.Offset != at) {
			t.Errorf("%s: %v, want byte %d", rule, err, at)
		}
	}
	f("no keys", "a0", 0, nil, 0)
	f("two keys", "a2 00 07 01 08", 2, nil, 0)
	f("25 keys: the last two take two bytes", "b819 0000 0100 0200 0300 0400 0500 0600 0700 0800 0900 0a00 0b00 0c00 0d00 0e00 0f00 1000 1100 1200 1300 1400 1500 1600 1700 181800", 25, nil, 0)
	f("no map", "80", 0, ErrWrongType, 0)
	f("indefinite", "bf 00 07 01 08 ff", 2, ErrIndefinite, 0)
	f("count in a longer form", "b802 00 07 01 08", 2, ErrNotShortest, 0)
	f("key in a longer form", "a2 00 07 1801 08", 2, ErrNotShortest, 3)
	f("unsorted", "a2 01 07 00 08", 2, ErrMissingKey, 1)
	f("unsorted later", "a3 00 07 02 08 01 09", 3, ErrMissingKey, 3)
	f("descends", "a3 00 07 01 08 00 09", 3, ErrKeyOrder, 5)
	f("duplicate", "a2 00 07 00 08", 2, ErrDuplicateKey, 3)
	f("missing in the middle", "a2 00 07 02 08", 3, ErrMissingKey, 3)
	f("missing at the end", "a1 00 07", 2, ErrMissingKey, 3)
	f("missing altogether", "a0", 2, ErrMissingKey, 1)
	f("extra", "a3 00 07 01 08 02 09", 2, ErrUnknownKey, 5)
	f("key that is text", "a2 00 07 6131 08", 2, ErrWrongType, 3)
	f("negative key", "a2 00 07 20 08", 2, ErrWrongType, 3)
	f("key of 2^64 - 1", "a2 00 07 1bffffffffffffffff 08", 2, ErrMissingKey, 3)
	f("more pairs than bytes", "b90100", 2, ErrTruncated, 0)
	f("more pairs than there can be", "bbffffffffffffffff", 2, ErrTooManyItems, 0)
	f("trailing", "a0 00", 0, ErrTrailing, 1)
}

// FuzzIntMap holds the reader of integer keys to the general one: what it takes is one
// item of the profile, and its keys are those that it counted.
func FuzzIntMap(f *testing.F) {
	f.Add([]byte{0xa2, 0, 7, 1, 8}, uint8(2))
	f.Add([]byte{0xa2, 0, 7, 0, 8}, uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, n uint8) {
		r := NewReader(in)
		if readPairs(&r, int(n)) != nil {
			return
		}
		if err := Scan(in, Limits{Bytes: len(in), Depth: 1, Items: 1 + 2*int(n)}); err != nil {
			t.Fatalf("%x: %v", in, err)
		}
		again := AppendMap(nil, int(n))
		plain := NewReader(in)
		if _, err := plain.Map(int(n)); err != nil {
			t.Fatal(err)
		}
		for key := range uint64(n) {
			if got, err := plain.Uint(); err != nil || got != key {
				t.Fatalf("%x: key %d is %d, %v", in, key, got, err)
			}
			value, err := plain.Uint()
			if err != nil {
				t.Fatal(err)
			}
			again = AppendUint(AppendUint(again, key), value)
		}
		if string(again) != string(in) {
			t.Fatalf("%x encodes again as %x", in, again)
		}
	})
}
