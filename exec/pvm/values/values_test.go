package values

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func newMachine(t testing.TB) *vm.Machine {
	t.Helper()
	rt, err := vm.NewRuntime(vm.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return rt.NewMachine()
}

// run executes a program and hands its global v to fn, within one call.
func run(t testing.TB, m *vm.Machine, src string, fn func(m *vm.Machine, v vm.Value) (vm.Value, error)) vm.Result {
	t.Helper()
	o, err := compile.Source([]byte(src), "test", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Do(100_000_000, func(m *vm.Machine) (vm.Value, error) {
		if _, err := m.LoadModule("__main__", o); err != nil {
			return vm.None, err
		}
		v, _ := m.Global("__main__", "v")
		return fn(m, v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEncodings(t *testing.T) { // whitepaper, Serialization
	plain, exact := DefaultProfile(), DefaultProfile()
	exact.Exact = true
	for _, row := range []struct {
		rule, src string
		p         Profile
		want      string
		back      string // repr of the decoded value, the source's when empty
	}{
		{"none", "None", plain, "f6", ""},
		{"true", "True", plain, "f5", ""},
		{"false is not zero", "False", plain, "f4", ""},
		{"zero", "0", plain, "00", ""},
		{"shortest integers", "[23, 24, 255, 256, 65535, 65536]", plain, "86 17 1818 18ff 190100 19ffff 1a00010000", ""},
		{"negative integers", "[-1, -24, -25]", plain, "83 20 37 3818", ""},
		{"2**64-1 is no bignum", "2**64-1", plain, "1bffffffffffffffff", "18446744073709551615"},
		{"2**64 is a bignum", "2**64", plain, "c249010000000000000000", "18446744073709551616"},
		{"-2**64 is no bignum", "-2**64", plain, "3bffffffffffffffff", "-18446744073709551616"},
		{"-2**64-1 is a bignum", "-2**64-1", plain, "c349010000000000000000", "-18446744073709551617"},
		{"floats have 64 bits", "1.5", plain, "fb3ff8000000000000", ""},
		{"negative zero", "-0.0", plain, "fb8000000000000000", ""},
		{"one NaN", "-float('nan')", plain, "fb7ff8000000000000", "nan"},
		{"infinity", "float('-inf')", plain, "fbfff0000000000000", "-inf"},
		{"bytes", "b'ab'", plain, "426162", ""},
		{"bytearray is bytes", "bytearray(b'ab')", plain, "426162", "b'ab'"},
		{"text", "'\\u20ac'", plain, "63e282ac", "'€'"},
		{"text in NFC", "'e' + '\\u0301'", plain, "62c3a9", "'é'"},
		{"tuple is a list", "(1, 2)", plain, "820102", "[1, 2]"},
		{"empty containers", "[[], {}]", plain, "82 80 a0", ""},
		{
			"keys sorted bytewise", "{'aa': 1, 'z': 2, 10: 3, -1: 4, b'': 5}", plain,
			"a5 0a03 2004 4005 617a02 62616101", "{10: 3, -1: 4, b'': 5, 'z': 2, 'aa': 1}",
		},
		{"tuple as a key", "{(1, 'a'): 2}", plain, "a1 82016161 02", ""},
		{"set sorted", "{3, 1, 'a'}", plain, "d90102 83 01 03 6161", "{1, 3, 'a'}"},
		{"set in a key", "{frozenset([2, 1]): 0}", plain, "a1 d90102820102 00", "{frozenset({1, 2}): 0}"},
		{"exact tuple", "(1,)", exact, "d81b 82 66 3a7475706c65 8101", ""},
		{"exact set keeps its order", "{3, 1}", exact, "d81b 82 64 3a736574 820301", ""},
		{"exact dict in order", "{1: 2, 3: 4}", exact, "a201020304", ""},
		{"exact dict keeps its order", "{3: 4, 1: 2}", exact, "d81b 82 65 3a64696374 84 0304 0102", ""},
		{"exact bytearray", "bytearray(b'a')", exact, "d81b 82 6a 3a627974656172726179 4161", "bytearray(b'a')"},
		{"exact range", "range(1, 5, 2)", exact, "d81b 82 66 3a72616e6765 83010502", ""},
		{"exact shared list", "(lambda x: [x, x, []])([1])", exact, "83 8101 d81b82643a72656600 80", "[[1], [1], []]"},
		{"exact tuple as a key", "{(1, 2): frozenset()}", exact, "a1 d81b82663a7475706c65820102 d81b826a3a66726f7a656e73657480", ""},
	} {
		t.Run(row.rule, func(t *testing.T) {
			m := newMachine(t)
			res := run(t, m, "v = "+row.src, func(m *vm.Machine, v vm.Value) (vm.Value, error) {
				b, err := Append(m, []byte("x"), v, row.p)
				if err != nil {
					return vm.None, err
				}
				b = b[1:]
				if want := unhex(t, row.want); string(b) != string(want) {
					t.Errorf("encoding is %x, want %x", b, want)
				}
				w, err := Decode(m, b, row.p)
				if err != nil {
					return vm.None, err
				}
				s, err := m.Repr(w)
				if err != nil {
					return vm.None, err
				}
				return s.Value(), nil
			})
			if res.Raised != nil {
				t.Fatal(res.Traceback)
			}
			want := row.back
			if want == "" {
				want = row.src
			}
			if got, _ := res.Value.Text(); got != want {
				t.Errorf("decoded %s, want %s", got, want)
			}
		})
	}
}
