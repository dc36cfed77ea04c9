package lib_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/lib"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// readCBOR prints what cbor2.loads makes of bytes or raises of them; what it makes
// must be written as the same bytes again.
const readCBOR = `
import cbor2
def check(data):
    try:
        v = cbor2.loads(data)
    except cbor2.CBORDecodeError as e:
        assert isinstance(e, (cbor2.CBORDecodeValueError, cbor2.CBORDecodeEOF)) and isinstance(e, (ValueError, EOFError))
        return type(e).__name__ + ': ' + str(e)
    assert cbor2.dumps(v) == data, v
    assert cbor2.loads(bytearray(data)) == v or v != v or 'nan' in repr(v)
    return 'ok ' + repr(v)
`

// asked returns what the function check of a program answers to bytes.
func asked(tb testing.TB, src string) func(data []byte) string {
	rt := runtimeOf(tb)
	m := rt.NewMachine()
	o := compiled(tb, src)
	return func(data []byte) string {
		m.Reset()
		var out string
		res, err := m.Do(20_000_000, func(m *vm.Machine) (vm.Value, error) {
			if _, err := m.LoadModule("__main__", o); err != nil {
				return vm.None, err
			}
			fn, _ := m.Global("__main__", "check")
			v, err := m.Call(fn, m.NewBytes(string(data)))
			out, _ = v.Text()
			return v, err
		})
		if err != nil || res.Raised != nil {
			return fmt.Sprintf("%v %s", err, res.Traceback)
		}
		return out
	}
}

// scanned says how cbor2 and the chain's scan may differ on data: the scan knows
// neither Python's keys nor NFC, cbor2 has sets, bignums and every float.
func scanned(data []byte, got string) error {
	p := lib.CBORProfile()
	err := cbor.Scan(data, cbor.Limits{Bytes: p.Bytes, Depth: p.Depth, Items: p.Bytes})
	taken := strings.HasPrefix(got, "ok ")
	switch {
	case !taken && !strings.HasPrefix(got, "CBORDecodeValueError: malformed") && !strings.HasPrefix(got, "CBORDecodeEOF: malformed"):
		return errors.New("something else was raised")
	case taken && err != nil && !errors.Is(err, cbor.ErrTag) && !errors.Is(err, cbor.ErrNotFinite):
		return fmt.Errorf("the scan says %w", err)
	case !taken && err == nil && !strings.Contains(got, "not in NFC") && !strings.Contains(got, "stands twice") && !strings.Contains(got, "a map as a key"):
		return errors.New("the scan takes it")
	}
	return nil
}

// TestCBORVectors reads the examples of RFC 8949 and of its deterministic profiles,
// and what is malformed.
func TestCBORVectors(t *testing.T) {
	check := asked(t, readCBOR)
	for _, file := range []string{
		"rfc8949_appendix_a.json", "rfc8949_appendix_f_not_well_formed.json", "cde_draft_appendix_d.json",
		"dcbor_draft_examples.json", "fxamacker_malformed.json",
	} {
		var rows []struct {
			Hex string `json:"hex"`
		}
		vectors.Decode(t, "cbor/"+file, &rows)
		taken := 0
		for _, row := range rows {
			data, err := hex.DecodeString(row.Hex)
			if err != nil {
				t.Fatal(err)
			}
			got := check(data)
			if err := scanned(data, got); err != nil {
				t.Errorf("%s: %s: %s: %v", file, row.Hex, got, err)
			}
			if strings.HasPrefix(got, "ok ") {
				taken++
			}
		}
		malformed := strings.Contains(file, "malformed") || strings.Contains(file, "not_well")
		if len(rows) == 0 || malformed && taken > 0 || !malformed && taken < 10 {
			t.Errorf("%s: %d of %d are taken", file, taken, len(rows))
		}
	}
}

// TestCBORRows: what is read, and by which exception the rest is refused.
func TestCBORRows(t *testing.T) {
	check := asked(t, readCBOR)
	for _, row := range []struct{ hex, want string }{
		{"00", "ok 0"},
		{"3bffffffffffffffff", "ok -18446744073709551616"},
		{"c249010000000000000000", "ok 18446744073709551616"},
		{"fb3ff8000000000000", "ok 1.5"},
		{"fb7ff8000000000000", "ok nan"},
		{"fb7ff0000000000000", "ok inf"},
		{"a2616100626161f6", "ok {'a': 0, 'aa': None}"},
		{"a1820102f5", "ok {(1, 2): True}"},
		{"d9010282" + "0102", "ok {1, 2}"},
		{"62c3bc", "ok 'ü'"},
		{"", "CBORDecodeEOF: malformed value at byte 0: it ends too early"},
		{"8201", "CBORDecodeEOF: malformed value at byte 1: it ends too early"},
		{"5b7fffffffffffffff00", "CBORDecodeEOF: malformed value at byte 9: it ends too early"},
		{"9b7fffffffffffffff00", "CBORDecodeEOF: malformed value at byte 9: it ends too early"},
		{"bb7fffffffffffffff00", "CBORDecodeEOF: malformed value at byte 9: it ends too early"},
		{"fb3ff8", "CBORDecodeEOF: malformed value at byte 1: it ends too early"},
		{"0000", "CBORDecodeValueError: malformed value at byte 1: bytes after the value"},
		{"1801", "CBORDecodeValueError: malformed value at byte 0: not the shortest form"},
		{"c24101", "CBORDecodeValueError: malformed value at byte 3: not the shortest form"},
		{"9f00ff", "CBORDecodeValueError: malformed value at byte 0: indefinite length"},
		{"f93e00", "CBORDecodeValueError: malformed value at byte 1: unknown simple value or width of float"},
		{"fb7ff8000000000001", "CBORDecodeValueError: malformed value at byte 9: another NaN than the canonical one"},
		{"f7", "CBORDecodeValueError: malformed value at byte 1: unknown simple value or width of float"},
		{"a2626161f6616100", "CBORDecodeValueError: malformed value at byte 7: keys are not in order"},
		{"a201000100", "CBORDecodeValueError: malformed value at byte 4: a key stands twice"},
		{"a20100fb3ff000000000000000", "CBORDecodeValueError: malformed value at byte 13: a key stands twice"},
		{"d90102820101", "CBORDecodeValueError: malformed value at byte 6: a key stands twice"},
		{"61ff", "CBORDecodeValueError: malformed value at byte 2: text is not UTF-8"},
		{"6375cc88", "CBORDecodeValueError: malformed value at byte 4: text is not in NFC"},
		{"c000", "CBORDecodeValueError: malformed value at byte 1: unknown tag"},
		{"d81b8261580a", "CBORDecodeValueError: malformed value at byte 5: unknown tag"},
		{"1c", "CBORDecodeValueError: malformed value at byte 0: reserved form"},
		{strings.Repeat("81", 64) + "00", "ok " + strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)},
		{strings.Repeat("81", 65) + "00", "CBORDecodeValueError: malformed value at byte 65: nested too deeply"},
		{strings.Repeat("81", 100_000), "CBORDecodeValueError: malformed value at byte 65: nested too deeply"},
		{"5a00020000" + strings.Repeat("00", 128<<10), "CBORDecodeValueError: malformed value: longer than 131072 bytes"},
	} {
		data, err := hex.DecodeString(row.hex)
		if err != nil {
			t.Fatal(err)
		}
		if got := check(data); got != row.want {
			t.Errorf("%.60s: %s, want %s", row.hex, got, row.want)
		}
	}
}

// TestCBORWrites: what has no encoding, and by which exception.
func TestCBORWrites(t *testing.T) {
	rt := runtimeOf(t)
	const src = `
import cbor2
class A:
    def __cowboy_serialize__(self): return 1
loop = []; loop.append(loop)
deep = []
for _ in range(70): deep = [deep]
class I(int): pass
class Other(str):
    def __eq__(self, o): return self is o if isinstance(o, Other) else False
    def __hash__(self): return 1
for v in (object(), A(), len, ..., range(3), [A()], {A(): 1}, loop, deep, {'a': 1, Other('a'): 2}, b'x' * (128 << 10), ['x' * 60000] * 3, I(5), True, float('nan'), -float('nan'), 'e\u0301', {2: 1, 1: 2}, {'b', 'a'}):
    try: print(cbor2.dumps(v))
    except cbor2.CBOREncodeError as e: print(type(e).__name__, isinstance(e, TypeError), isinstance(e, ValueError), e)
for kw in ({'canonical': True}, {'canonical': False}, {'default': None}):
    try: print(cbor2.dumps(1, **kw))
    except (DeterminismError, TypeError) as e: print(type(e).__name__, e)
for v in ('text', 5, None):
    try: cbor2.loads(v)
    except TypeError as e: print(e)
print(cbor2.CBORDecodeEOF.__mro__)
`
	const want = `CBOREncodeTypeError True False Object of type object is not serializable here
CBOREncodeTypeError True False Object of type A is not serializable here
CBOREncodeTypeError True False Object of type builtin_function_or_method is not serializable here
CBOREncodeTypeError True False Object of type ellipsis is not serializable here
CBOREncodeTypeError True False Object of type range is not serializable here
CBOREncodeTypeError True False Object of type A is not serializable here
CBOREncodeTypeError True False Object of type A is not serializable here
CBOREncodeValueError False True value is nested too deeply to serialize: more than 64 levels
CBOREncodeValueError False True value is nested too deeply to serialize: more than 64 levels
CBOREncodeValueError False True two keys have the same encoding
CBOREncodeValueError False True value is too long to serialize: more than 131072 bytes
CBOREncodeValueError False True value is too long to serialize: more than 131072 bytes
b'\x05'
b'\xf5'
b'\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00'
b'\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00'
b'b\xc3\xa9'
b'\xa2\x01\x02\x02\x01'
b'\xd9\x01\x02\x82aaab'
b'\x01'
DeterminismError cbor2 writes the canonical form only
TypeError dumps() got an unexpected keyword argument 'default'
a bytes-like object is required, not 'str'
a bytes-like object is required, not 'int'
a bytes-like object is required, not 'NoneType'
(<class 'cbor2.CBORDecodeEOF'>, <class 'cbor2.CBORDecodeError'>, <class 'cbor2.CBORError'>, <class 'EOFError'>, <class 'Exception'>, <class 'BaseException'>, <class 'object'>)
`
	if got := runScript(t, rt, src); got != want {
		t.Error(firstDifferences(got, want))
	}
}

// FuzzCBOR2 holds cbor2 to the chain's own scan: one taker more or less only where
// the profiles differ, and every value written as it was read.
func FuzzCBOR2(tf *testing.F) {
	f := soak.New(tf)
	for _, s := range []string{"83010203", "a2616100626161f6", "d901028200", "c249010000000000000000", "d81b826141a0", "fb7ff8000000000000", "9f00ff", "bb7fffffffffffffff00", "a1820102f5"} {
		data, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	check := asked(f, readCBOR)
	f.Fuzz(func(t *testing.T, data []byte) {
		got := check(data)
		if err := scanned(data, got); err != nil {
			t.Errorf("%x: %s: %v", data, got, err)
		}
	})
}
