package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

const plenty = 10_000_000

func read(t *testing.T, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Read([]byte(text), strictjson.NewSteps(plenty))
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	return v
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// TestReadTakes holds texts that are JSON to the reader, at each bound.
func TestReadTakes(t *testing.T) {
	for _, text := range []string{
		"null", " true ", "\t[\n]\r", "{}", `{"a":1,"b":[2,{"a":null}]}`, "0", "-0", "1.5e-400", "1E+0000000400",
		`""`, `"\u0000\"\\\/\b\f\n\r\t"`, `"\ud83d\ude00"`, `"` + "\x7f\u00e9\U0001F600" + `"`, `{"":0}`,
		repeat("9", 400), "-0." + repeat("1", 399), "1e0", "1e-0",
		"[" + repeat("[],{},", 100) + "1]", repeat("[", 64) + repeat("]", 64), repeat(`{"a":`, 63) + "[]" + repeat("}", 63),
		`"` + repeat("a", strictjson.MaxBytes-2) + `"`,
	} {
		read(t, text)
	}
}

// TestReadRefuses holds what is no JSON to the reader, next to what TestReadTakes has.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		want error
	}{
		{"", strictjson.ErrSyntax},
		{" ", strictjson.ErrSyntax},
		{"nul", strictjson.ErrSyntax},
		{"nulll", strictjson.ErrSyntax},
		{"True", strictjson.ErrSyntax},
		{"NaN", strictjson.ErrSyntax},
		{"Infinity", strictjson.ErrSyntax},
		{"1 2", strictjson.ErrSyntax},
		{"[1,]", strictjson.ErrSyntax},
		{"[,1]", strictjson.ErrSyntax},
		{"[1 2]", strictjson.ErrSyntax},
		{"[", strictjson.ErrSyntax},
		{"[1", strictjson.ErrSyntax},
		{`{"a"}`, strictjson.ErrSyntax},
		{`{"a":}`, strictjson.ErrSyntax},
		{`{"a":1,}`, strictjson.ErrSyntax},
		{`{a:1}`, strictjson.ErrSyntax},
		{`{1:1}`, strictjson.ErrSyntax},
		{`{"a":1`, strictjson.ErrSyntax},
		{`{"a`, strictjson.ErrSyntax},
		{`"`, strictjson.ErrSyntax},
		{`"\`, strictjson.ErrString},
		{`'a'`, strictjson.ErrSyntax},
		{"01", strictjson.ErrSyntax},
		{"-01", strictjson.ErrSyntax},
		{"-", strictjson.ErrSyntax},
		{"+1", strictjson.ErrSyntax},
		{".5", strictjson.ErrSyntax},
		{"1.", strictjson.ErrSyntax},
		{"1.e1", strictjson.ErrSyntax},
		{"1e", strictjson.ErrSyntax},
		{"1e+", strictjson.ErrSyntax},
		{"0x1", strictjson.ErrSyntax},
		{"1\x00", strictjson.ErrSyntax},
		{"\ufeff1", strictjson.ErrSyntax},
		{"\u00a01", strictjson.ErrSyntax},
		{"/**/1", strictjson.ErrSyntax},
		{"\"\x1f\"", strictjson.ErrString},
		{"\"\\n\x1f\"", strictjson.ErrString},
		{"\"\n\"", strictjson.ErrString},
		{`"\x"`, strictjson.ErrString},
		{`"\'"`, strictjson.ErrString},
		{`"\u12"`, strictjson.ErrString},
		{`"\u12g4"`, strictjson.ErrString},
		{`"\ud800"`, strictjson.ErrString},
		{`"\udc00"`, strictjson.ErrString},
		{`"\ud800\ud800"`, strictjson.ErrString},
		{`"\ud800\ue000"`, strictjson.ErrString},
		{`"\udc00\udc00"`, strictjson.ErrString},
		{`"\ud800a"`, strictjson.ErrString},
		{`"\udc00\ud800"`, strictjson.ErrString},
		{`{"\ud800":1}`, strictjson.ErrString},
		{"\"\xff\"", strictjson.ErrEncoding},
		{"\"\xed\xa0\x80\"", strictjson.ErrEncoding},
		{"\"\xc0\x80\"", strictjson.ErrEncoding},
		{`{"a":1,"a":1}`, strictjson.ErrDuplicate},
		{`{"a":1,"b":2,"\u0061":1}`, strictjson.ErrDuplicate},
		{`[{"":1,"":1}]`, strictjson.ErrDuplicate},
		{repeat("9", 401), strictjson.ErrNumber},
		{"-0." + repeat("1", 400), strictjson.ErrNumber},
		{"1e401", strictjson.ErrNumber},
		{"0e-401", strictjson.ErrNumber},
		{"1e" + repeat("9", 10_000), strictjson.ErrNumber},
		{repeat("[", 65) + repeat("]", 65), strictjson.ErrDepth},
		{repeat("[", 60_000), strictjson.ErrDepth},
		{repeat(`{"a":`, 10_000), strictjson.ErrDepth},
		{`"` + repeat("a", strictjson.MaxBytes-1) + `"`, strictjson.ErrTooLong},
	} {
		_, err := strictjson.Read([]byte(c.text), strictjson.NewSteps(plenty))
		var at *strictjson.Error
		if !errors.Is(err, c.want) || !errors.As(err, &at) || at.Offset < 0 || at.Offset > len(c.text) {
			t.Errorf("%.60q: %v, want %v", c.text, err, c.want)
		}
	}
}

// TestStepsRunOut gives each budget up to the one that suffices: all below it run out, and
// what was used is never more than was given.
func TestStepsRunOut(t *testing.T) {
	text := []byte(`{"b":[1,2.50,"x\n"],"a":{"c":null,"d":[[],{}]},"e":"` + repeat("y", 40) + `"}`)
	steps := strictjson.NewSteps(plenty)
	if _, err := strictjson.Read(text, steps); err != nil {
		t.Fatal(err)
	}
	need := steps.Used()
	// 6 for 96 bytes, a step for each of eleven values, and the sorting of three and two names
	if want := uint64((len(text)+15)/16 + 11 + 3*2 + 2*2); need != want {
		t.Errorf("%d steps, want %d", need, want)
	}
	for n := range need + 1 {
		steps := strictjson.NewSteps(n)
		_, err := strictjson.Read(text, steps)
		if (n < need) != errors.Is(err, strictjson.ErrSteps) || steps.Used() != n {
			t.Fatalf("with %d of %d: %v, used %d", n, need, err, steps.Used())
		}
	}
}

// TestCanonical holds pairs that are equal, and pairs that are not, to their bytes.
func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1", "1.0", true},
		{"1", "10e-1", true},
		{"-0", "0.00e5", true},
		{"1e400", "1" + repeat("0", 399) + "e1", true},
		{"1e400", "1e399", false},
		{"0." + repeat("0", 398) + "1", "1e-399", true},
		{"1", "-1", false},
		{"0.1", "1", false},
		{"1", `"1"`, false},
		{"0", "false", false},
		{"null", "false", false},
		{"[]", "{}", false},
		{"[1,2]", "[2,1]", false},
		{"[[1],2]", "[[1,2]]", false},
		{`{"a":1,"b":2}`, ` { "b" : 2.0 , "\u0061" : 1 }`, true},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":"b"}`, `{"b":"a"}`, false},
		{`{"a":null,"b\u0000c":null}`, `{"a\u0000b":null,"c":null}`, false},
		{`"\u00e9"`, `"é"`, true},
		{`"é"`, `"e\u0301"`, false}, // no normal form: the characters count
		{`"\ud83d\ude00"`, `"😀"`, true},
		{`["a","b"]`, `["ab",""]`, false},
	} {
		a, errA := read(t, c.a).AppendCanonical(nil, strictjson.NewSteps(plenty))
		b, errB := read(t, c.b).AppendCanonical(nil, strictjson.NewSteps(plenty))
		if errA != nil || errB != nil || (string(a) == string(b)) != c.same {
			t.Errorf("%.40s and %.40s: equal %v, want %v (%v, %v)", c.a, c.b, string(a) == string(b), c.same, errA, errB)
		}
	}
}

// TestCanonicalSteps pays for values and for each byte of text.
func TestCanonicalSteps(t *testing.T) {
	v := read(t, `{"name":"four","n":[12,true]}`)
	steps := strictjson.NewSteps(plenty)
	if _, err := v.AppendCanonical(nil, steps); err != nil || steps.Used() != 5+4+4+1+2 {
		t.Error(steps.Used(), err)
	}
	for n := range uint64(16) {
		if _, err := v.AppendCanonical(nil, strictjson.NewSteps(n)); !errors.Is(err, strictjson.ErrSteps) {
			t.Errorf("with %d: %v", n, err)
		}
	}
}

// TestMembers looks at an object through all that a document tells.
func TestMembers(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `,"k%d":%d`, (i*7919)%500, i)
	}
	v := read(t, "{"+b.String()[1:]+"}")
	if v.Kind() != strictjson.Object || v.Count() != 500 {
		t.Fatal(v.Kind(), v.Count())
	}
	for i := range 500 {
		name := fmt.Sprintf("k%d", (i*7919)%500)
		m, ok := v.Member(name)
		if !ok || string(m.Text()) != fmt.Sprint(i) || string(m.Name()) != name {
			t.Fatal(name, ok, string(m.Text()))
		}
		if i > 0 && string(v.Item(i-1).Name()) >= string(v.Item(i).Name()) {
			t.Fatal("members are out of order at", i)
		}
	}
	if _, ok := v.Member("k500"); ok {
		t.Error("there is no k500")
	}
	if m, _ := v.Member("k1"); m.Count() != 0 || m.Number().Compare(read(t, string(m.Text())).Number()) != 0 {
		t.Error("a number has no items")
	}
}
