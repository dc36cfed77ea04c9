package cbor

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestScanEachRuleHasItsError(t *testing.T) { // CIP-11 §12.6
	f := func(rule, in string, want error) {
		t.Helper()
		if err := Scan(unhex(t, in), DefaultLimits()); !errors.Is(err, want) {
			t.Errorf("%s: Scan(%s) = %v, want %v", rule, in, err, want)
		}
	}
	f("empty input", "", ErrTruncated)
	f("zero", "00", nil)
	f("largest integer", "1bffffffffffffffff", nil)
	f("smallest integer", "3bffffffffffffffff", nil)
	f("integer below 24 in a byte", "1817", ErrNotShortest)
	f("integer below 256 in two bytes", "1900ff", ErrNotShortest)
	f("integer below 2^16 in four bytes", "1a0000ffff", ErrNotShortest)
	f("integer below 2^32 in eight bytes", "1b00000000ffffffff", ErrNotShortest)
	f("negative integer in a longer form", "3800", ErrNotShortest)
	f("string length in a longer form", "580100", ErrNotShortest)
	f("array count in a longer form", "980100", ErrNotShortest)
	f("cut integer", "1901", ErrTruncated)
	f("string longer than the input", "4201", ErrTruncated)
	f("string of 2^64-1 bytes", "5bffffffffffffffff00", ErrTruncated)
	f("array of 2^64-1 items", "9bffffffffffffffff00", ErrTruncated)
	f("map of 2^63 pairs", "bb800000000000000000", ErrTruncated)
	f("array that is not filled", "8200", ErrTruncated)
	f("map without its value", "a100", ErrTruncated)
	f("second item", "0000", ErrTrailing)
	f("reserved form", "1c", ErrReserved)
	f("reserved form of major type 7", "fc", ErrReserved)
	f("indefinite byte string", "5f4100ff", ErrIndefinite)
	f("indefinite text", "7f6161ff", ErrIndefinite)
	f("indefinite array", "9f00ff", ErrIndefinite)
	f("indefinite map", "bf0000ff", ErrIndefinite)
	f("lone break", "ff", ErrIndefinite)
	f("break instead of an element", "81ff", ErrIndefinite)
	f("short tag", "c000", ErrTag)
	f("long tag", "d9d9f700", ErrTag)
	f("bignum", "c249010000000000000000", ErrTag)
	f("false, true, null", "83f4f5f6", nil)
	f("undefined", "f7", ErrSimple)
	f("unassigned simple value", "e0", ErrSimple)
	f("simple value in two bytes", "f818", ErrSimple)
	f("true in two bytes", "f815", ErrSimple)
	f("half float", "f93e00", ErrFloatWidth)
	f("single float", "fa7f7fffff", ErrFloatWidth)
	f("double float", "fb3ff8000000000000", nil)
	f("negative zero", "fb8000000000000000", nil)
	f("cut float", "fb3ff800", ErrTruncated)
	f("NaN", "fb7ff8000000000000", ErrNotFinite)
	f("infinity", "fb7ff0000000000000", ErrNotFinite)
	f("minus infinity", "fbfff0000000000000", ErrNotFinite)
	f("text", "63e282ac", nil)
	f("text cut inside a rune", "62e282", ErrUTF8)
	f("text with a surrogate", "63eda080", ErrUTF8)
	f("overlong text", "62c080", ErrUTF8)
	f("bytes need not be UTF-8", "42c080", nil)
	f("sorted map", "a3000001000200", nil)
	f("shorter key first", "a2 617a00 626161 00", nil)
	f("integers before strings", "a2 1903e800 6000", nil)
	f("unsorted map", "a201000000", ErrKeyOrder)
	f("longer key first", "a2 626161 00 617a00", ErrKeyOrder)
	f("duplicate key", "a200000000", ErrDuplicateKey)
	f("duplicate key of a nested map", "81a2616100616100", ErrDuplicateKey)
	f("map as a key", "a1a1000000", nil)
}

func TestScanLimits(t *testing.T) {
	f := func(rule, in string, lim Limits, want error) {
		t.Helper()
		if err := Scan(unhex(t, in), lim); !errors.Is(err, want) {
			t.Errorf("%s: Scan(%s, %+v) = %v, want %v", rule, in, lim, err, want)
		}
	}
	f("a scalar has depth 0", "00", Limits{1, 0, 1}, nil)
	f("an array has depth 1", "80", Limits{1, 0, 1}, ErrDepth)
	f("an array in an array has depth 2", "8180", Limits{2, 1, 2}, ErrDepth)
	f("at the depth limit", "8180", Limits{2, 2, 2}, nil)
	f("a map counts like an array", "a0", Limits{1, 0, 1}, ErrDepth)
	f("keys and values count as items", "a10000", Limits{3, 1, 2}, ErrTooManyItems)
	f("at the item limit", "a10000", Limits{3, 1, 3}, nil)
	f("no items allowed", "00", Limits{1, 0, 0}, ErrTooManyItems)
	f("above the byte limit", "0000", Limits{1, 1, 1}, ErrTooLong)
}

// TestHugeClaimsCostNothing feeds heads that announce far more than follows
// and checks that nothing is allocated for them but the error.
func TestHugeClaimsCostNothing(t *testing.T) {
	for _, in := range []string{
		"9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff", "7b7fffffffffffffff",
		"9affffffff0000", strings.Repeat("81", 200), strings.Repeat("9a00010000", 30),
	} {
		data := unhex(t, in)
		allocs := testing.AllocsPerRun(10, func() {
			if Scan(data, DefaultLimits()) == nil {
				t.Errorf("Scan(%s) accepted it", in)
			}
		})
		if allocs > 1 {
			t.Errorf("Scan(%.20s) allocates %v times, want 1 for the error", in, allocs)
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	data := unhex(t, "8d010054111111111111111111111111111111111111111101195208000a020100f640f6")
	if n := testing.AllocsPerRun(100, func() {
		if err := Scan(data, DefaultLimits()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Scan allocates %v times", n)
	}
}

// appendixAInProfile names every encoding of RFC 8949 appendix A (as far as the
// vector file has it) that is inside the profile. All others have a tag, a
// short or non-finite float, an unassigned simple value or an indefinite length.
const appendixAInProfile = `00 0a 1818 1819 1903e8 3bffffffffffffffff 3863 f5 40 60 6449455446 62225c
	62c3bc 63e6b0b4 80 83010203 8301820203820405 a201020304 a56161614161626142616361436164614461656145`

func TestVectorsRFC8949AppendixA(t *testing.T) {
	var rows []struct{ Hex string }
	vectors.Decode(t, "cbor/rfc8949_appendix_a.json", &rows)
	inProfile := map[string]bool{}
	for _, in := range strings.Fields(appendixAInProfile) {
		inProfile[in] = true
	}
	seen := 0
	for _, row := range rows {
		err := Scan(unhex(t, row.Hex), DefaultLimits())
		if (err == nil) != inProfile[row.Hex] {
			t.Errorf("Scan(%s) = %v, want accepted: %v", row.Hex, err, inProfile[row.Hex])
		}
		if inProfile[row.Hex] {
			seen++
		}
	}
	if seen != len(inProfile) {
		t.Errorf("the file has %d of the %d encodings inside the profile", seen, len(inProfile))
	}
}

// TestVectorsDecoded is the other half of the table: what each row means. The writer
// makes the row's bytes of it, or, where the profile has another form, bytes that the
// profile takes.
func TestVectorsDecoded(t *testing.T) {
	var rows []struct {
		Hex     string
		Decoded json.RawMessage
	}
	vectors.Decode(t, "cbor/rfc8949_appendix_a.json", &rows)
	same, other := 0, 0
	for _, row := range rows {
		if row.Decoded == nil {
			continue // NaN, tags and simple values, which JSON does not have
		}
		d := json.NewDecoder(bytes.NewReader(row.Decoded))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		got, ok := appendJSON(nil, value)
		if !ok {
			continue // beyond 64 bits, which is a tag
		}
		if err := Scan(got, DefaultLimits()); err != nil {
			t.Errorf("%s: %x, %v", row.Decoded, got, err)
		}
		if in := unhex(t, row.Hex); Scan(in, DefaultLimits()) == nil {
			same++
			if !bytes.Equal(got, in) {
				t.Errorf("%s: %x, want %s", row.Decoded, got, row.Hex)
			}
			continue
		}
		other++
		if hex.EncodeToString(got) == row.Hex {
			t.Errorf("%s is outside the profile, and written so", row.Hex)
		}
	}
	if same < 17 || other < 13 {
		t.Errorf("%d rows inside the profile and %d outside", same, other)
	}
}

// appendJSON writes a decoded JSON value; false where it has no form of its own.
func appendJSON(dst []byte, value any) (_ []byte, ok bool) {
	switch v := value.(type) {
	case bool:
		return AppendBool(dst, v), true
	case string:
		return AppendText(dst, v), true
	case json.Number:
		if u, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return AppendUint(dst, u), true
		}
		if i, err := v.Int64(); err == nil {
			return AppendInt(dst, i), true
		}
		n, whole := new(big.Int).SetString(v.String(), 10)
		if whole && n.Sign() < 0 && n.BitLen() <= 65 { // -2^64 to -2^63-1: no Go integer
			n.Not(n)
			return appendHead(dst, majorNint, n.Uint64()), n.IsUint64()
		}
		f, err := v.Float64()
		return AppendFloat(dst, f), err == nil && !whole
	case []any:
		dst = AppendArray(dst, len(v))
		for _, x := range v {
			if dst, ok = appendJSON(dst, x); !ok {
				return nil, false
			}
		}
		return dst, true
	case map[string]any:
		dst = AppendMap(dst, len(v))
		for _, k := range slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		}) {
			if dst, ok = appendJSON(AppendText(dst, k), v[k]); !ok {
				return nil, false
			}
		}
		return dst, true
	}
	return nil, false
}

func TestVectorsNotWellFormed(t *testing.T) {
	for _, file := range []string{"rfc8949_appendix_f_not_well_formed.json", "fxamacker_malformed.json"} {
		var rows []struct{ Hex, Why, Name string }
		vectors.Decode(t, "cbor/"+file, &rows)
		if len(rows) == 0 {
			t.Fatalf("%s is empty", file)
		}
		for _, row := range rows {
			if Scan(unhex(t, row.Hex), DefaultLimits()) == nil {
				t.Errorf("%s: Scan(%s) accepts what is not well-formed: %s%s", file, row.Hex, row.Why, row.Name)
			}
		}
	}
}

func TestVectorsDeterministic(t *testing.T) {
	for _, file := range []string{"cde_draft_appendix_d.json", "dcbor_draft_examples.json"} {
		var rows []struct {
			Hex        string
			ValidCDE   *bool `json:"valid_cde"`
			ValidDCBOR *bool `json:"valid_dcbor"`
		}
		vectors.Decode(t, "cbor/"+file, &rows)
		for _, row := range rows {
			if row.Hex == "" {
				continue
			}
			valid := row.ValidCDE != nil && *row.ValidCDE || row.ValidDCBOR != nil && *row.ValidDCBOR
			err := Scan(unhex(t, row.Hex), DefaultLimits())
			switch {
			case err == nil && !valid && !onlyDCBORRefuses(row.Hex):
				t.Errorf("%s: Scan(%s) accepts a failing example", file, row.Hex)
			case err != nil && valid && !floatOrTag(err):
				t.Errorf("%s: Scan(%s) = %v, want accepted", file, row.Hex, err)
			}
		}
	}
}

// onlyDCBORRefuses reports what RFC 8949 §4.2.1 allows and dCBOR does not:
// 64-bit floats, which dCBOR wants shortened or turned into integers while our
// profile has no other width; integers below -2^63; text that dCBOR wants
// normalized while our profile takes it as it stands.
func onlyDCBORRefuses(in string) bool {
	return strings.HasPrefix(in, "fb") || strings.HasPrefix(in, "3b") || strings.HasPrefix(in, "6")
}

// floatOrTag reports the refusals that the profile adds to the drafts.
func floatOrTag(err error) bool {
	return errors.Is(err, ErrFloatWidth) || errors.Is(err, ErrNotFinite) || errors.Is(err, ErrTag)
}
