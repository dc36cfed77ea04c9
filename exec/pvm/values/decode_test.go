package values

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// decode answers the exception's text, or "" and the encoding of what came out.
func decode(t testing.TB, m *vm.Machine, data []byte, p Profile) (string, []byte) {
	t.Helper()
	m.Reset() // no instruction runs here at which the heap would be measured
	var again []byte
	res, err := m.Do(10_000_000, func(m *vm.Machine) (vm.Value, error) {
		v, err := Decode(m, data, p)
		if err != nil {
			return vm.None, err
		}
		again, err = Append(m, nil, v, p)
		return vm.None, err
	})
	if err != nil {
		t.Fatalf("%x: %v", data, err)
	}
	if res.Raised != nil {
		return res.Traceback[strings.LastIndex(strings.TrimSpace(res.Traceback), "\n")+1:], nil
	}
	return "", again
}

func TestDecodeRefuses(t *testing.T) {
	finite, outside, exact := DefaultProfile(), DefaultProfile(), DefaultProfile()
	finite.Finite = true
	outside.Normalize = true
	exact.Exact = true
	small := Profile{Bytes: 4, Depth: 2}
	m := newMachine(t)
	for _, row := range []struct {
		rule, in string
		p        Profile
		want     string // empty: taken
	}{
		{"nothing", "", DefaultProfile(), "byte 0: it ends too early"},
		{"two values", "0000", DefaultProfile(), "byte 1: bytes after the value"},
		{"integer not shortest", "1817", DefaultProfile(), "not the shortest form"},
		{"length not shortest", "580100", DefaultProfile(), "not the shortest form"},
		{"bignum with a zero", "c24a00010000000000000000", DefaultProfile(), "not the shortest form"},
		{"bignum of 64 bits", "c248ffffffffffffffff", DefaultProfile(), "not the shortest form"},
		{"bignum of text", "c26161", DefaultProfile(), "a bignum that is no byte string"},
		{"float of 16 bits", "f93e00", DefaultProfile(), "width of float"},
		{"float of 32 bits", "fa7f7fffff", DefaultProfile(), "width of float"},
		{"another NaN", "fb7ff8000000000001", DefaultProfile(), "another NaN"},
		{"negative NaN", "fbfff8000000000000", DefaultProfile(), "another NaN"},
		{"the NaN", "fb7ff8000000000000", DefaultProfile(), ""},
		{"the NaN in a job", "fb7ff8000000000000", finite, "not finite"},
		{"infinity in a job", "fb7ff0000000000000", finite, "not finite"},
		{"indefinite array", "9f00ff", DefaultProfile(), "indefinite length"},
		{"break", "ff", DefaultProfile(), "unknown simple"},
		{"undefined", "f7", DefaultProfile(), "unknown simple"},
		{"true in two bytes", "f815", DefaultProfile(), "unknown simple"},
		{"reserved", "1c", DefaultProfile(), "reserved form"},
		{"unsorted map", "a201000000", DefaultProfile(), "keys are not in order"},
		{"key twice", "a200000000", DefaultProfile(), "a key stands twice"},
		{"1 and 1.0", "a20100fb3ff000000000000000", DefaultProfile(), "a key stands twice"},
		{"map as a key", "a1a000", DefaultProfile(), "a map as a key"},
		{"not UTF-8", "62c080", DefaultProfile(), "not UTF-8"},
		{"not NFC", "6365cc81", DefaultProfile(), "not in NFC"},
		{"huge array", "9bffffffffffffffff00", DefaultProfile(), "it ends too early"},
		{"huge text", "7b7fffffffffffffff00", DefaultProfile(), "it ends too early"},
		{"unknown tag", "c101", DefaultProfile(), "unknown tag"},
		{"unknown class", "d81b82614100", DefaultProfile(), "unknown class"},
		{"exact tuple in the plain form", "d81b82663a7475706c6580", DefaultProfile(), "unknown class"},
		{"odd pairs", "d81b82653a646963748100", exact, "pairs that are not even"},
		{"object that is no pair", "d81b80", DefaultProfile(), "no pair"},
		{"object without a name", "d81b820000", DefaultProfile(), "without a name"},
		{"too long", "8400000000", small, "longer than 4 bytes"},
		{"too deep", "818180", small, "nested too deeply"},
		{"deep enough", "8180", small, ""},
	} {
		got, again := decode(t, m, unhex(t, row.in), row.p)
		if (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s: %s raised %q, want %q", row.rule, row.in, got, row.want)
		}
		if got == "" && hex.EncodeToString(again) != row.in {
			t.Errorf("%s: %s became %x", row.rule, row.in, again)
		}
	}
	if got, again := decode(t, m, unhex(t, "6365cc81"), outside); got != "" || hex.EncodeToString(again) != "62c3a9" {
		t.Errorf("text from outside is not normalised: %q, %x", got, again)
	}
}

// agree holds Decode to chain/cbor's scan: what the scan takes and what differs
// by rule is known.
func agree(t testing.TB, m *vm.Machine, data []byte) {
	lim := cbor.Limits{Bytes: 1 << 16, Depth: 64, Items: 1 << 16}
	want := cbor.Scan(data, lim)
	got, again := decode(t, m, data, DefaultProfile())
	if got == "" && string(again) != string(data) {
		t.Errorf("%x is encoded again as %x", data, again)
	}
	switch {
	case want == nil && got != "":
		for _, known := range []string{"not in NFC", "a key stands twice", "a map as a key"} {
			if strings.Contains(got, known) {
				return
			}
		}
		t.Errorf("%x: the chain's scan takes it, Decode raised %s", data, got)
	case want != nil && got == "":
		if !errors.Is(want, cbor.ErrTag) && !errors.Is(want, cbor.ErrNotFinite) {
			t.Errorf("%x: the chain's scan refuses it (%v), Decode takes it", data, want)
		}
	}
}

func TestVectors(t *testing.T) {
	m := newMachine(t)
	for _, file := range []string{
		"rfc8949_appendix_a.json", "rfc8949_appendix_f_not_well_formed.json", "cde_draft_appendix_d.json",
		"dcbor_draft_examples.json", "fxamacker_malformed.json",
	} {
		var rows []map[string]any
		vectors.Decode(t, "cbor/"+file, &rows)
		seen := 0
		for _, row := range rows {
			s, ok := row["hex"].(string)
			if !ok {
				continue
			}
			seen++
			data := unhex(t, s)
			agree(t, m, data)
			if got, _ := decode(t, m, data, DefaultProfile()); got == "" && strings.Contains(file, "malformed") {
				t.Errorf("%s: %s is taken", file, s)
			}
		}
		if seen == 0 {
			t.Errorf("%s: no vectors read", file)
		}
	}
}

func FuzzDecode(tf *testing.F) {
	f := soak.New(tf)
	for _, s := range []string{"83010203", "a2616100626161f6", "d9010281 00", "c249010000000000000000", "d81b826141a0", "fb7ff8000000000000"} {
		f.Add(unhex(f, s), false)
		f.Add(unhex(f, s), true)
	}
	m := newMachine(f)
	f.Fuzz(func(t *testing.T, data []byte, exact bool) {
		if !exact {
			agree(t, m, data)
			return
		}
		p := DefaultProfile()
		p.Exact = true
		got, again := decode(t, m, data, p)
		if got != "" {
			return
		}
		if got, third := decode(t, m, again, p); got != "" || string(third) != string(again) {
			t.Errorf("%x: %x: raised %q, then %x", data, again, got, third)
		}
	})
}

const classes = `
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __cowboy_serialize__(self):
        return [self.x, self.y]
    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(*data)
class Bare: pass
class Half:
    def __cowboy_serialize__(self): return 1
def hidden():
    class Point:
        def __cowboy_serialize__(self): return 0
    return Point()
class Grows:
    def __init__(self, into): self.into = into
    def __cowboy_serialize__(self):
        self.into.append(1)
        return None
class Itself:
    def __cowboy_serialize__(self): return self
loop = []
loop.append(loop)
grown = []
grown.append(Grows(grown))
def nest(n):
    v = []
    for _ in (0,) * n:
        v = [v]
    return v
`

func TestObjects(t *testing.T) { // whitepaper, Serialization, Custom Types
	for _, row := range []struct {
		rule, src, want string // of str of the decoded value's x, or of the exception
	}{
		{"an object comes back", "Point(1, [2])", "1"},
		{"within a container", "Point(Point(3, 0), 0).x", "3"},
		{"without the protocol", "Bare()", "TypeError: Object of type Bare is not serializable: it has no __cowboy_serialize__"},
		{"a function", "nest", "TypeError: Object of type function is not serializable: it has no __cowboy_serialize__"},
		{"without the way back", "Half()", "TypeError: class Half has no __cowboy_deserialize__"},
		{"class that no name leads to", "hidden()", "TypeError: Object of type Point is not serializable: its class is no global name"},
		{"list within itself", "loop", "ValueError: value is nested too deeply to serialize: more than 64 levels"},
		{"object that answers itself", "Itself()", "ValueError: value is nested too deeply to serialize: more than 64 levels"},
		{"too deep", "nest(64)", "ValueError: value is nested too deeply to serialize: more than 64 levels"},
		{"too long", "b'a' * 65536", "ValueError: value is too long to serialize: more than 65536 bytes"},
		{"integer too long", "1 << 600000", "ValueError: value is too long to serialize: more than 65536 bytes"},
		{"list that grows meanwhile", "grown", "TypeError: class Grows has no __cowboy_deserialize__"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			m := newMachine(t)
			res := run(t, m, classes+"v = "+row.src, func(m *vm.Machine, v vm.Value) (vm.Value, error) {
				b, err := Append(m, nil, v, DefaultProfile())
				if err != nil {
					return vm.None, err
				}
				w, err := Decode(m, b, DefaultProfile())
				if err != nil {
					return vm.None, err
				}
				x, err := m.GetAttr(w, m.Name("x"))
				if err != nil {
					return vm.None, err
				}
				s, err := m.Str(x)
				return s.Value(), err
			})
			got, _ := res.Value.Text()
			if res.Raised != nil {
				lines := strings.Split(strings.TrimSpace(res.Traceback), "\n")
				got = lines[len(lines)-1]
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestWorkIsCharged: a value that exhausts the cycles ends the call before the
// bytes are written.
func TestWorkIsCharged(t *testing.T) {
	m := newMachine(t)
	for _, size := range []int{0, 1000, 60000} {
		v := m.NewBytes(strings.Repeat("a", size))
		res, err := m.Do(1_000_000, func(m *vm.Machine) (vm.Value, error) {
			_, err := Append(m, nil, v, DefaultProfile())
			return vm.None, err
		})
		if err != nil || res.Cycles < int64(size) {
			t.Errorf("%d bytes cost %d cycles, err %v", size, res.Cycles, err)
		}
	}
	v := m.NewBytes(strings.Repeat("a", 1000))
	_, err := m.Do(999, func(m *vm.Machine) (vm.Value, error) {
		_, err := Append(m, nil, v, DefaultProfile())
		return vm.None, err
	})
	var a *vm.Abort
	if !errors.As(err, &a) || a.Code != vm.OutOfCycles {
		t.Errorf("1000 bytes with 999 cycles: %v", err)
	}
}
