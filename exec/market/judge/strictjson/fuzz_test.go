package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

var fuzzTexts = []string{
	`{"a":[1,2.5,-3e4],"b":{"c":null}}`, `{"b":{"c":null},"a":[1.0,25e-1,-30000]}`, `["\ud83d\ude00","😀"]`,
	`"\ud800"`, `{"a":1,"\u0061":1}`, "1e401", "1e400", "[[[[]]]]", `{"":""}`, " true ", "-0.0", `"\\u0031"`,
}

// FuzzRead holds the reader to encoding/json with the rules beside it, and equality of
// canonical bytes to equality of values.
func FuzzRead(f *testing.F) {
	for i, text := range fuzzTexts {
		f.Add([]byte(text), []byte(fuzzTexts[(i+1)%len(fuzzTexts)]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, plainX, okX := readBoth(t, a)
		y, plainY, okY := readBoth(t, b)
		if okX && okY && same(t, x, y) != plainEqual(plainX, plainY) {
			t.Fatalf("%q and %q: equal by bytes %v", a, b, same(t, x, y))
		}
	})
}

func readBoth(t *testing.T, text []byte) (strictjson.Value, any, bool) {
	t.Helper()
	steps := strictjson.NewSteps(plenty)
	v, err := strictjson.Read(text, steps)
	plain, ok := plainRead(text)
	if (err == nil) != ok {
		t.Fatalf("%q: %v, the plain reader says %v", text, err, ok)
	}
	if err != nil {
		var at *strictjson.Error
		if !errors.As(err, &at) {
			t.Fatalf("%q: %v is no reason", text, err)
		}
		return v, nil, false
	}
	if used := steps.Used(); used > 0 {
		if _, err := strictjson.Read(text, strictjson.NewSteps(used-1)); !errors.Is(err, strictjson.ErrSteps) {
			t.Fatalf("%q: reads with less than it takes", text)
		}
	}
	return v, plain, true
}

// FuzzPath holds paths, and what they lead to, to expressions.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		"$", "$.a", "$['a'][0]", `$["\u0061"]`, "$[-1]", "$.a.b.c", "$ [ 'x' ]", "$..a", "$[*]", "$['\\'']", "$[0:1]", "$.é",
		`$["\ud83d\ude00"]`, `$["'\""]`, "$[00]", "$. a", "$\t.a",
	} {
		f.Add(path, []byte(`{"a":[{"b":1},2],"x":{"":3},"é":4,"'":5}`))
	}
	f.Fuzz(func(t *testing.T, text string, document []byte) {
		path, err := strictjson.ParsePath(text)
		segments, ok := plainPath(text)
		if (err == nil) != ok {
			t.Fatalf("%q: %v, the plain reader says %v", text, err, ok)
		}
		if field, errField := strictjson.ParseField(text); strings.HasPrefix(text, "$") && len(text) <= strictjson.MaxPathBytes && (errField == nil) != ok {
			t.Fatalf("%q is a path but no field: %v %v", text, field, errField)
		}
		v, plain, valid := readBoth(t, document)
		if err != nil || !valid {
			return
		}
		found, is, err := path.Follow(v, strictjson.NewSteps(plenty))
		want, there := plainFind(plain, segments)
		if err != nil || is != there {
			t.Fatalf("%q in %q: found %v, want %v (%v)", text, document, is, there, err)
		}
		if is && !plainEqual(want, plainOf(found)) {
			t.Fatalf("%q in %q: found another value", text, document)
		}
	})
}

// plainOf returns a value as the plain reader has it.
func plainOf(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.False, strictjson.True:
		return v.Kind() == strictjson.True
	case strictjson.Number:
		n, _ := plainNumber(string(v.Text()))
		return n
	case strictjson.String:
		return string(v.Text())
	case strictjson.Array:
		items := []any{}
		for i := range v.Count() {
			items = append(items, plainOf(v.Item(i)))
		}
		return items
	case strictjson.Object:
		members := []pair{}
		for i := range v.Count() {
			members = append(members, pair{string(v.Item(i).Name()), plainOf(v.Item(i))})
		}
		return members
	}
	return nil
}
