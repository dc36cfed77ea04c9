package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/document"
)

// plainName is how all our fields are spelled.
var plainName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// plainSetting puts a setting in force by encoding/json, as a genesis file was read by
// it, with the strictness that the reader of documents gives.
func plainSetting(p *Params, s *Setting) (*Params, error) {
	doc, err := document.Read(s.Value)
	if err != nil {
		return nil, err
	}
	whole, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	out := new(Params)
	if err := json.Unmarshal(whole, out); err != nil {
		return nil, err
	}
	names := strings.Split(s.Path, ".")
	text := s.Value
	for _, name := range slices.Backward(names) {
		if !plainName.MatchString(name) {
			return nil, fmt.Errorf("no name %q", name)
		}
		text = fmt.Appendf(nil, `{"%s":%s}`, name, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, err
	}
	if whole, err = json.Marshal(out); err != nil {
		return nil, err
	}
	now, err := document.Read(whole)
	for i := 0; i < len(names) && err == nil; i++ {
		if now = now.Members[names[i]]; now == nil {
			err = fmt.Errorf("no parameter %s", s.Path)
		}
	}
	if err != nil {
		return nil, err
	}
	return out, samePlaces(doc, now)
}

// samePlaces reports members that only one of two documents has.
func samePlaces(got, want *document.Value) error {
	for i := range min(len(got.Items), len(want.Items)) {
		if err := samePlaces(got.Items[i], want.Items[i]); err != nil {
			return err
		}
	}
	if want.Kind != document.Object {
		return nil
	}
	if len(got.Members) != len(want.Members) {
		return errors.New("other members")
	}
	for name, member := range want.Members {
		if got.Members[name] == nil {
			return fmt.Errorf("no %s", name)
		}
		if err := samePlaces(got.Members[name], member); err != nil {
			return err
		}
	}
	return nil
}

// randomParams returns parameters of which each value is random, and no list is empty.
func randomParams(rng *rand.Rand) *Params {
	p := new(Params)
	randomize(rng, reflect.ValueOf(p).Elem())
	return p
}

func randomize(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			randomize(rng, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(3), 3))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			randomize(rng, v.Index(i))
		}
	case reflect.String:
		v.SetString(string([]rune("a\\\"/\n\x01 z_é😀")[rng.IntN(10)]) + "x")
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	default:
		v.SetUint(rng.Uint64() >> rng.IntN(64) & (1<<v.Type().Bits() - 1))
	}
}

// TestFieldsAreAll: nothing of the parameters is left out of a document, of a copy, or
// of what the state keeps of them.
func TestFieldsAreAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		p := randomParams(rng)
		got, err := p.At("")
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		a, err := document.Read(got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := document.Read(want)
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: the text is %s, want %s", err, got[:100], want[:100])
		}
		read := new(Params)
		if err := document.Fill(read, a); err != nil || !reflect.DeepEqual(read, p) {
			t.Fatalf("not read as it was: %v", err)
		}
		kept, err := p.Kept("")
		if err != nil {
			t.Fatal(err)
		}
		back, err := randomParams(rng).With(kept...)
		if err != nil || !reflect.DeepEqual(back, p) {
			t.Fatalf("not kept as it was: %v", err)
		}
		scribble(reflect.ValueOf(back).Elem())
		if again, err := p.Kept(""); err != nil || !reflect.DeepEqual(again, kept) {
			t.Fatal("a copy shares with what it was made of")
		}
	}
}

// scribble writes over all that a copy holds, in the items of its lists above all.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	default:
		v.SetZero()
	}
}

// TestCopiesShareNothing: a setting put in force leaves the parameters that it was put
// over as they were.
func TestCopiesShareNothing(t *testing.T) {
	p := Default()
	before, err := p.At("")
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := json.Marshal(p); err != nil || !bytes.Equal(before, plain) {
		t.Errorf("the text is not that of encoding/json, %v", err)
	}
	next, err := p.With()
	if err != nil {
		t.Fatal(err)
	}
	scribble(reflect.ValueOf(next).Elem())
	if after, err := p.At(""); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a copy shares with what it was made of: %v", err)
	}
}

func TestSettingsNameAParameter(t *testing.T) {
	f := func(want, path, value string) {
		t.Helper()
		if _, err := Keep(Setting{path, []byte(value)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %s: %v, want an error with %q", path, value, err, want)
		}
	}
	for _, path := range []string{"", ".", "rent.", ".rent", "rent..alpha", "rent.alpha.x", "regions.0", "Rent", "rent.alpha ", "lane_share_basis_points.unknown"} {
		f("pa", path, "1") // no path, or no such parameter
		if _, err := new(Params).Members(path); path != "" && !errors.Is(err, ErrUnknown) {
			t.Errorf("members of %q: %v", path, err)
		}
	}
	f("too large", strings.Repeat("a", MaxSettingPath+1), "1")
	f("too large", "rent.alpha", strings.Repeat(" ", MaxSettingBytes)+"1")
	f("rent.alpha: document: string does not fit there", "rent.alpha", `"8"`)
	f("rent.alpha: document: number 18446744073709551616 does not fit there", "rent.alpha", "18446744073709551616")
	f("lane_share_basis_points: user: field is missing", "lane_share_basis_points", `{"system":500,"timer":1,"runner":1}`)
	f("inflation_basis_points: [1].until_year: bool does not fit there", "inflation_basis_points", `[{"until_year":1,"basis_points":0},{"until_year":true,"basis_points":0}]`)
	f(`governance.members: [0]: "0x12" is not 0x and 40 hex digits`, "governance.members", `["0x12"]`)
	f(`min_base_fee: document: "1e3" is not an amount`, "min_base_fee", `1e3`)
	for path, want := range map[string]int{"rent.alpha": 1, "lane_share_basis_points": 4, "regions": 1} {
		p := Default()
		text, err := p.At(path)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := Keep(Setting{path, text}); err != nil || len(kept) != want {
			t.Errorf("%s: %d settings, %v, want %d", path, len(kept), err, want)
		}
	}
}

// FuzzSetting holds what a setting does to what encoding/json makes of it.
func FuzzSetting(f *testing.F) {
	p := Default()
	for _, path := range []string{
		"base_fee_alpha", "min_base_fee", "regions", "inflation_basis_points", "rent", "lane_share_basis_points", "governance.members",
		"entitlements.domain_sets", "actor_limits.enforce_hold_balance", "initial_base_fee", "machine", "lane_profile",
	} {
		text, err := p.At(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(path, text)
	}
	f.Add("min_base_fee", []byte(`12`))
	f.Add("lane_share_basis_points.user", []byte(`1`))
	f.Add("regions", []byte(`["\ud83d"]`))
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		s := &Setting{path, text}
		var got *Params
		kept, err := Keep(*s)
		if err == nil {
			got, err = p.With(kept...)
		}
		if err != nil {
			if len(text) > MaxSettingBytes || path == "" {
				return
			}
			if want, plainErr := plainSetting(&p, s); plainErr == nil {
				t.Errorf("%s = %q: %v; the plain reader makes %+v", path, text, err, want)
			}
			return
		}
		if want, plainErr := plainSetting(&p, s); plainErr == nil {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s = %q: %+v; the plain reader makes %+v", path, text, got, want)
			}
			return
		}
		// Amounts may have escapes, which the plain reader of amounts does not undo.
		now, err := got.At(path)
		if err != nil {
			t.Fatal(err)
		}
		if want, plainErr := plainSetting(&p, &Setting{path, now}); plainErr != nil || !bytes.ContainsRune(text, '\\') || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %q: %+v; the plain reader says %v", path, text, got, plainErr)
		}
	})
}
