package pyvalue_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
)

func TestForms(t *testing.T) {
	f := func(document, want string) {
		t.Helper()
		got, err := pyvalue.Encode([]byte(document))
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s is %x, %v; want %s", document, got, err, want)
		}
		back, err := pyvalue.JSON(got)
		if err != nil {
			t.Errorf("%x: %v", got, err)
		}
		if again, err := pyvalue.Encode(back); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s came back as %s, which is %x, %v", document, back, again, err)
		}
	}
	f("null", "f6")
	f("true", "f5")
	f("0", "00")
	f("-1", "20")
	f("-0", "00")
	f("1000000", "1a000f4240")
	f("9007199254740992", "1b0020000000000000")
	f(`{"$int":"18446744073709551616"}`, "c249010000000000000000")
	f(`{"$int":"-18446744073709551617"}`, "c349010000000000000000")
	f("1.5", "fb3ff8000000000000")
	f("1e2", "fb4059000000000000")
	f(`{"$float":"nan"}`, "fb7ff8000000000000")
	f(`{"$float":"-inf"}`, "fbfff0000000000000")
	f(`"é"`, "62c3a9")
	f(`"e\u0301"`, "62c3a9") // NFC
	f("[1,[],{}]", "830180a0")
	f(`{"bb":1,"a":2}`, "a261610262626201")
	f(`{"$bytes":"0x0102"}`, "420102")
	f(`{"$set":[3,1]}`, "d90102820103")
	f(`{"$map":[[1,2],["a",3]]}`, "a20102616103")
	f(`{"$map":[["$bytes",3]]}`, "a16624627974657303")
	f(`{"$object":["P",[1]]}`, "d81b8261508101")
}

func TestRefused(t *testing.T) {
	for _, document := range []string{
		"", "[", "{", "1 2", "nul", `{"a":1,"a":2}`, `{"$bytes":"0x0"}`, `{"$bytes":1}`, `{"$int":"1.5"}`, `{"$int":"+1"}`,
		`{"$float":"1"}`, `{"$what":1}`, `{"$set":[1,1]}`, `{"$map":[[1]]}`, `{"$map":[1]}`, `{"a":1,"$bytes":"0x"}`,
		`{"$bytes":"0x","a":1}`, `{"$object":[1,2]}`, "1e999", strings.Repeat("[", 200) + strings.Repeat("]", 200),
		`"` + strings.Repeat("a", pyvalue.BytesMax) + `"`, strings.Repeat("9", 2000),
	} {
		if got, err := pyvalue.Encode([]byte(document)); err == nil {
			t.Errorf("%.40s is %x", document, got)
		} else if !errors.Is(err, pyvalue.ErrMalformed) && !errors.Is(err, pyvalue.ErrBounds) {
			t.Errorf("%.40s: %v", document, err)
		}
	}
	for _, data := range []string{"ff", "18", "5901", "6180", "c101", "9f", "f7", "0000", "d81b01", "c201", "9b00000000ffffffff", "bb00000000ffffffff"} {
		b, _ := hex.DecodeString(data)
		if got, err := pyvalue.JSON(b); !errors.Is(err, pyvalue.ErrMalformed) {
			t.Errorf("%s is %s, %v", data, got, err)
		}
	}
}

// FuzzEncode holds documents to the machine: what Encode gives, the machine reads
// and writes again as the same bytes.
func FuzzEncode(f *testing.F) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{`{"a":[1,-2,3.5,null,true,"x"],"b":{"$bytes":"0x01"}}`, `{"$set":[1,2]}`, `{"$map":[[1,2]]}`, `{"$int":"-18446744073709551617"}`, `-0.0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		data, err := pyvalue.Encode(document)
		if err != nil {
			return
		}
		if bytes.Contains(document, []byte("$object")) || bytes.Contains(document, []byte("$set")) || bytes.Contains(document, []byte("$map")) {
			return // not all of them are values: classes, keys that do not hash, 1 and 1.0
		}
		back, err := pyvalue.JSON(data)
		if errors.Is(err, pyvalue.ErrBounds) {
			return // it becomes too large, as a list of empty bytes does
		}
		if err != nil || !json.Valid(back) {
			t.Fatalf("%s is %x, which is %s, %v", document, data, back, err)
		}
		m := rt.NewMachine()
		_, err = m.Do(1<<40, func(m *vm.Machine) (vm.Value, error) {
			v, err := values.Decode(m, data, values.DefaultProfile())
			if err != nil {
				t.Fatalf("%s is %x, which the machine refuses", document, data)
			}
			again, err := values.Append(m, nil, v, values.DefaultProfile())
			if err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%s is %x, the machine writes %x", document, data, again)
			}
			return vm.None, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzJSON reads any bytes: a document or an error, and what a document says is
// read back.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"a2616102616201", "d90102820103", "c249010000000000000000", "fb7ff8000000000000", "d81b8261508101", "a161248101", "ff"} {
		b, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		document, err := pyvalue.JSON(data)
		if err != nil {
			if !errors.Is(err, pyvalue.ErrMalformed) && !errors.Is(err, pyvalue.ErrBounds) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(document) {
			t.Fatalf("%x is %s", data, document)
		}
		again, err := pyvalue.Encode(document)
		if err != nil {
			return // bytes that are no canonical encoding
		}
		back, err := pyvalue.JSON(again)
		if err != nil {
			t.Fatalf("%s is %x: %v", document, again, err)
		}
		if third, err := pyvalue.Encode(back); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%s came back as %s", document, back)
		}
	})
}

// TestDepth holds both directions to the depth of values on the chain.
func TestDepth(t *testing.T) {
	nest := func(n int) []byte {
		return append(bytes.Repeat([]byte{0xa1, 0x61, 'a'}, n), 0xf6)
	}
	for _, document := range []string{
		strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64), strings.Repeat(`{"$set":[`, 63) + "[]" + strings.Repeat(`]}`, 63),
	} {
		data, err := pyvalue.Encode([]byte(document))
		if err != nil {
			t.Errorf("%.20s: %v", document, err)
		}
		if back, err := pyvalue.JSON(data); err != nil || string(back) != document {
			t.Errorf("%.20s came back as %.20s, %v", document, back, err)
		}
	}
	if _, err := pyvalue.JSON(nest(64)); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	if _, err := pyvalue.JSON(nest(20_000)); !errors.Is(err, pyvalue.ErrBounds) {
		t.Errorf("20,000 levels: %v", err)
	}
	wide := append(bytes.Repeat([]byte{0xa1, 0x61, 'a'}, 60), 0x59, 0xf0, 0x00)
	if out, err := pyvalue.JSON(append(wide, make([]byte, 0xf000)...)); err != nil || !json.Valid(out) {
		t.Errorf("60 levels around 60 KiB: %v", err)
	}
}

// TestRoom holds the JSON of a value, and what is allocated to write it, to a multiple of
// its bytes: at every depth the same bytes are written once.
func TestRoom(t *testing.T) {
	deep := func(body []byte) []byte { return append(bytes.Repeat([]byte{0xa1, 0x00}, 60), body...) }
	list := func(n int, what ...byte) []byte {
		return append([]byte{0x9a, 0, byte(n >> 16), byte(n >> 8), byte(n)}, bytes.Repeat(what, n)...)
	}
	f := func(name string, data []byte, want error) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := pyvalue.JSON(data)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, want) {
			t.Errorf("%s: %d bytes, %v, want %v", name, len(out), err, want)
		}
		if err == nil && !json.Valid(out) {
			t.Errorf("%s is no JSON", name)
		}
		made := after.TotalAlloc - before.TotalAlloc
		if most := uint64(64 * len(data)); made > most {
			t.Errorf("%s: %d bytes are allocated for %d, want %d at most", name, made, len(data), most)
		}
	}
	f("empty bytes, 60 deep", deep(list(60_000, 0x40)), pyvalue.ErrBounds)
	f("booleans, 60 deep", deep(list(60_000, 0xf4)), nil)
	f("control characters", append([]byte{0x7a, 0, 0, 0xea, 0x60}, make([]byte, 60_000)...), nil)
	f("dicts", list(20_000, 0xa1, 0x00, 0xf4), nil)
	// A list of n empty bytes is 16n+1 bytes of JSON.
	if out, err := pyvalue.JSON(list(132, 0x40)); err != nil || !json.Valid(out) {
		t.Errorf("a list that just fits: %d bytes, %v", len(out), err)
	}
	if out, err := pyvalue.JSON(list(133, 0x40)); !errors.Is(err, pyvalue.ErrBounds) {
		t.Errorf("a list that is one byte too large: %d bytes, %v", len(out), err)
	}
}
