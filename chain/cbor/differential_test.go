package cbor

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	fxa "github.com/fxamacker/cbor/v2"
)

// strictDecoder is fxamacker/cbor as strict as it can be made. It still
// accepts longer integer forms, short floats, unsorted maps and undefined; the
// tests below close that gap by encoding what it decoded again.
func strictDecoder(t testing.TB) fxa.DecMode {
	t.Helper()
	mode, err := fxa.DecOptions{
		DupMapKey:             fxa.DupMapKeyEnforcedAPF,
		IndefLength:           fxa.IndefLengthForbidden,
		TagsMd:                fxa.TagsForbidden,
		UTF8:                  fxa.UTF8RejectInvalid,
		NaN:                   fxa.NaNDecodeForbidden,
		Inf:                   fxa.InfDecodeForbidden,
		MaxNestedLevels:       64,
		MaxArrayElements:      1 << 17,
		MaxMapPairs:           1 << 17,
		DefaultByteStringType: reflect.TypeOf(fxa.ByteString("")), // usable as a map key
	}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	return mode
}

// canonicalEncoder writes the profile for values that strictDecoder returns.
func canonicalEncoder(t testing.TB) fxa.EncMode {
	t.Helper()
	mode, err := fxa.EncOptions{
		Sort:          fxa.SortBytewiseLexical,
		ShortestFloat: fxa.ShortestFloatNone,
		BigIntConvert: fxa.BigIntConvertShortest,
		IndefLength:   fxa.IndefLengthForbidden,
	}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	return mode
}

// FuzzScan holds Scan to an independent decoder, both ways: what Scan accepts
// is well-formed for fxamacker/cbor and survives decoding and canonical
// encoding unchanged; what survives that is accepted by Scan.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"00", "1bffffffffffffffff", "3bffffffffffffffff", "83f4f5f6", "a2617a0062616100", "fb3ff8000000000000",
		"f7", "e0", "f93e00", "a201000000", "5f4100ff", "c000", "1817", "62c080", "a1a1000000", "a1410000", "fb8000000000000000",
		"8d010054111111111111111111111111111111111111111101195208000a020100f640f6",
	} {
		b, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	dec, enc := strictDecoder(f), canonicalEncoder(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		ours := Scan(in, DefaultLimits())
		var syntax *SyntaxError
		if ours != nil && !errors.As(ours, &syntax) {
			t.Fatalf("Scan(%x) = %v, not a SyntaxError", in, ours)
		}
		if ours == nil {
			if err := dec.Wellformed(in); err != nil {
				t.Fatalf("Scan accepts %x, fxamacker/cbor does not: %v", in, err)
			}
		}
		var value any
		if err := dec.Unmarshal(in, &value); err != nil {
			// Arrays and maps are no Go map keys: the one thing it cannot hold.
			var key *fxa.InvalidMapKeyTypeError
			if ours == nil && !errors.As(err, &key) {
				t.Fatalf("Scan accepts %x, fxamacker/cbor does not: %v", in, err)
			}
			return
		}
		again, err := enc.Marshal(value)
		if err != nil {
			t.Fatalf("encode %#v again: %v", value, err)
		}
		if same := bytes.Equal(in, again); same != (ours == nil) && !limited(ours) && !errors.Is(ours, ErrSimple) {
			t.Fatalf("Scan(%x) = %v, but it encodes again as %x", in, ours, again)
		}
	})
}

// limited reports refusals by size, for which fxamacker/cbor has other limits.
// (It also keeps unassigned simple values, hence the exception for ErrSimple.)
func limited(err error) bool {
	return errors.Is(err, ErrDepth) || errors.Is(err, ErrTooManyItems) || errors.Is(err, ErrTooLong)
}

// FuzzReader runs random typed reads over random bytes: no panic, no move past
// the end, and everything read stands in the input.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0x82, 0x00, 0x41, 0x01}, []byte{5, 0, 2})
	f.Fuzz(func(t *testing.T, in, plan []byte) {
		r := NewReader(in)
		for _, step := range plan {
			before := r.Offset()
			var err error
			switch step % 9 {
			case 0:
				_, err = r.Uint()
			case 1:
				_, err = r.Int()
			case 2:
				_, err = r.Bytes(1 << 16)
			case 3:
				_, err = r.Text(1 << 16)
			case 4:
				_, err = r.Raw(DefaultLimits())
			case 5:
				_, err = r.Array(1 << 16)
			case 6:
				_, err = r.Map(1 << 16)
			case 7:
				_, err = r.Float()
			case 8:
				_, err = r.Bool()
			}
			if err != nil && r.Offset() != before {
				t.Fatalf("moved from %d to %d with error %v", before, r.Offset(), err)
			}
			if err == nil && r.Offset() <= before || r.Offset() > len(in) {
				t.Fatalf("moved from %d to %d of %d", before, r.Offset(), len(in))
			}
		}
	})
}
