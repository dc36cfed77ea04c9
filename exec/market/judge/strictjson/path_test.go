package strictjson_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// TestPathsOfOthers runs the compliance suite of RFC 9535 as far as its paths are
// singular. A path that the suite refuses is refused here too, and no singular path is taken
// for another kind.
func TestPathsOfOthers(t *testing.T) {
	var suite struct {
		Tests []struct {
			Name     string
			Selector string
			Document json.RawMessage
			Result   []json.RawMessage
			Results  [][]json.RawMessage
			Invalid  bool `json:"invalid_selector"`
		}
	}
	vectors.Decode(t, "jsonpath/cts.json", &suite)
	singular, several, invalid := 0, 0, 0
	for _, c := range suite.Tests {
		path, err := strictjson.ParsePath(c.Selector)
		switch {
		case c.Invalid && err == nil:
			t.Errorf("%s: %q is taken", c.Name, c.Selector)
		case c.Invalid:
			invalid++
		case errors.Is(err, strictjson.ErrNotSingular):
			several++
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		default:
			singular++
			v := read(t, string(c.Document))
			found, ok, err := path.Follow(v, strictjson.NewSteps(plenty))
			if err != nil || ok != (len(c.Result) == 1) || len(c.Results) > 0 {
				t.Errorf("%s: found %v, want %s (%v)", c.Name, ok, c.Result, err)
				continue
			}
			if ok && !same(t, found, read(t, string(c.Result[0]))) {
				t.Errorf("%s: found %s, want %s", c.Name, found.Text(), c.Result)
			}
		}
	}
	if singular < 40 || several < 150 || invalid < 100 {
		t.Errorf("the suite has %d singular paths, %d others and %d invalid ones", singular, several, invalid)
	}
}

func same(t *testing.T, a, b strictjson.Value) bool {
	t.Helper()
	x, err := a.AppendCanonical(nil, strictjson.NewSteps(plenty))
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.AppendCanonical(nil, strictjson.NewSteps(plenty))
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

// TestParseField reads the ways in which jobs name fields.
func TestParseField(t *testing.T) {
	document := read(t, `{"price":1,"a":[{"b-c":2}],"":3,"$x":4,"data":{"t":5},"naïve name":6}`)
	for _, c := range []struct{ field, want string }{
		{"price", "1"},
		{"$.price", "1"},
		{".price", "1"},
		{"['price']", "1"},
		{"$['a'][0]['b-c']", "2"},
		{".a[-1]['b-c']", "2"},
		{"a", `[{"b-c":2}]`},
		{"$['']", "3"},
		{"$['$x']", "4"},
		{".data.t", "5"},
		{"naïve name", "6"},
		{"$", `{"price":1,"a":[{"b-c":2}],"":3,"$x":4,"data":{"t":5},"naïve name":6}`},
		{"absent", ""},
		{".price.more", ""},
		{"[0]", ""},
		{".a[1]", ""},
		{".a[-2]", ""},
		{".a['0']", ""},
		{"$[9007199254740991]", ""},
		{"$[-9007199254740991]", ""},
	} {
		path, err := strictjson.ParseField(c.field)
		if err != nil {
			t.Errorf("%s: %v", c.field, err)
			continue
		}
		found, ok, err := path.Follow(document, strictjson.NewSteps(plenty))
		if err != nil || ok != (c.want != "") || ok && !same(t, found, read(t, c.want)) {
			t.Errorf("%s: found %v (%v), want %q", c.field, ok, err, c.want)
		}
	}
	for _, c := range []struct {
		field string
		want  error
	}{
		{"", strictjson.ErrPath},
		{"a.b", strictjson.ErrPath},
		{"a[0]", strictjson.ErrPath},
		{"*", strictjson.ErrPath},
		{"a$", strictjson.ErrPath},
		{"\xff", strictjson.ErrPath},
		{"[*].ticker", strictjson.ErrNotSingular},
		{"$..a", strictjson.ErrNotSingular},
		{"$[0,1]", strictjson.ErrNotSingular},
		{"$[0:1]", strictjson.ErrNotSingular},
		{"$[?@.a]", strictjson.ErrNotSingular},
		{"$.*", strictjson.ErrNotSingular},
		{"$.", strictjson.ErrPath},
		{"$ ", strictjson.ErrPath},
		{"$.1a", strictjson.ErrPath},
		{"$[01]", strictjson.ErrPath},
		{"$[-0]", strictjson.ErrPath},
		{"$[9007199254740992]", strictjson.ErrPath},
		{"$[-9007199254740992]", strictjson.ErrPath},
		{"$[99999999999999999999]", strictjson.ErrPath},
		{"$['a]", strictjson.ErrPath},
		{`$['\"']`, strictjson.ErrPath},
		{`$["\ud800"]`, strictjson.ErrPath},
		{"$['a\n']", strictjson.ErrPath},
		{repeat("[0]", 33), strictjson.ErrPathBounds},
		{repeat("a", 1_025), strictjson.ErrPath},
	} {
		if _, err := strictjson.ParseField(c.field); !errors.Is(err, c.want) {
			t.Errorf("%.40q: %v, want %v", c.field, err, c.want)
		}
	}
	for _, field := range []string{repeat("[0]", 32), repeat("a", 1_024)} {
		if _, err := strictjson.ParseField(field); err != nil {
			t.Errorf("%.40q: %v", field, err)
		}
	}
}

// TestFindSteps pays for the way: a step for a place; for a name its length and the
// bisection of the names around it.
func TestFindSteps(t *testing.T) {
	v := read(t, `[0,{"name":{"x":1},"other":2}]`)
	path, err := strictjson.ParseField("$[1].name.x")
	if err != nil {
		t.Fatal(err)
	}
	const want = 1 + (1 + 4 + 2) + (1 + 1 + 1)
	for n := range uint64(want + 1) {
		steps := strictjson.NewSteps(n)
		_, ok, err := path.Follow(v, steps)
		if (n < want) != errors.Is(err, strictjson.ErrSteps) || ok != (n == want) {
			t.Errorf("with %d: %v, %v", n, ok, err)
		}
	}
}
