package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainDocument is [readDocument] by the tokens of encoding/json, the plain twin that
// it is held to. That one alone lets text pass that is no UTF-8.
func plainDocument(text []byte) (*document, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	doc, err := plainValue(d, documentDepthMax)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows")
	}
	return doc, nil
}

func plainValue(d *json.Decoder, depthLeft int) (*document, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case string:
		return &document{kind: documentText, text: v}, nil
	case json.Number:
		return &document{kind: documentNumber, text: v.String()}, nil
	case bool:
		return &document{kind: documentBool, boolean: v}, nil
	case json.Delim:
		if depthLeft == 0 {
			return nil, errors.New("too deep")
		}
		doc := &document{kind: documentList}
		if v == '{' {
			doc = &document{kind: documentObject, members: map[string]*document{}}
		}
		for d.More() {
			var name string
			if v == '{' {
				token, err := d.Token()
				if err != nil {
					return nil, err
				}
				name = token.(string)
				if doc.members[name] != nil || !fieldName(name) {
					return nil, fmt.Errorf("name %q", name)
				}
			}
			item, err := plainValue(d, depthLeft-1)
			if err != nil {
				return nil, err
			}
			if v == '{' {
				doc.members[name] = item
			} else {
				doc.list = append(doc.list, item)
			}
		}
		_, err := d.Token()
		return doc, err
	}
	return nil, errors.New("null")
}

// lossy reports whether a text of a document may stand for bytes that were no UTF-8.
func (d *document) lossy() bool {
	if strings.ContainsRune(d.text, utf8.RuneError) {
		return true
	}
	for _, item := range d.list {
		if item.lossy() {
			return true
		}
	}
	for name, member := range d.members {
		if strings.ContainsRune(name, utf8.RuneError) || member.lossy() {
			return true
		}
	}
	return false
}

func TestDocuments(t *testing.T) {
	for _, good := range []string{
		`0`, `-0`, `10`, `1.5e+3`, `1E5`, `""`, `"a\"\\\/\b\f\n\r\tA"`, `"\ud83d\ude00"`, `"é"`, "\"\x7f\"",
		`true`, `false`, `[]`, `{}`, " [ 1 , \"a\" , [ ] ]\r\n\t", `{"a":{"b_1":[true]},"c":0}`, strings.Repeat("[", 16) + strings.Repeat("]", 16),
	} {
		got, err := readDocument([]byte(good))
		if err != nil {
			t.Errorf("%s: %v", good, err)
			continue
		}
		if want, err := plainDocument([]byte(good)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v, %v", good, got, want, err)
		}
	}
	f := func(want, text string) {
		t.Helper()
		_, err := readDocument([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
	for _, text := range []string{
		``, ` `, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{a:1}`, `{1:1}`,
		`"`, `"\`, `"\x"`, `"\u12`, `"\u12g4"`, "\"\n\"", "\"\x00\"", `'a'`, `tru`, `True`, `nul`, `-`, `.5`, `1.`, `1e`, `1e+`, `+1`, `NaN`, `]`, `}`, `,`, "\ufeff1",
		`"\ud83d"`, `"\ud83d\u0041"`, `"\ude00"`, `"\ud83dx"`, "\"\xff\"", "\"\\n\xc3\"",
	} {
		f("not JSON", text)
	}
	f("text follows the document at byte 1", `01`)
	f("text follows the document at byte 2", `1 1`)
	f("document: null is no value here", `null`)
	f("a[1].b: null is no value here", `{"a":[0,{"b":null}]}`)
	f("a: field stands twice", `{"a":1,"\u0061":1}`)
	f(`"A": unknown field`, `{"A":1}`)
	f(`x."": unknown field`, `{"x":{"":1}}`)
	f(`x."\x00\n": unknown field`, `{"x":{"\u0000\n":1}}`)
	f("nested deeper than 16", strings.Repeat("[", 17)+strings.Repeat("]", 17))
}

// FuzzDocument holds the reader to encoding/json: what it takes, that takes as the same
// document; what that takes and it does not is text that is no UTF-8.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e3,"\u00e9\ud83d\ude00",true,{}],"b":""}`))
	f.Add([]byte(`["\ud83d", null]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := readDocument(text)
		want, plainErr := plainDocument(text)
		switch {
		case err == nil && (plainErr != nil || !reflect.DeepEqual(got, want)):
			t.Errorf("%q: %+v; the plain reader: %+v, %v", text, got, want, plainErr)
		case err != nil && plainErr == nil && !want.lossy():
			t.Errorf("%q: %v; the plain reader takes it", text, err)
		}
	})
}

// plainSetting puts a setting in force by encoding/json, as a genesis file was read by
// it, with the strictness that the reader of documents gives.
func plainSetting(p *Params, s *Setting) (*Params, error) {
	doc, err := plainDocument(s.Value)
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
		if !fieldName(name) {
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
	now, err := plainDocument(whole)
	for i := 0; i < len(names) && err == nil; i++ {
		if now = now.members[names[i]]; now == nil {
			err = fmt.Errorf("no parameter %s", s.Path)
		}
	}
	if err != nil {
		return nil, err
	}
	return out, samePlaces(doc, now)
}

// samePlaces reports members that only one of two documents has.
func samePlaces(got, want *document) error {
	for i := range min(len(got.list), len(want.list)) {
		if err := samePlaces(got.list[i], want.list[i]); err != nil {
			return err
		}
	}
	if want.kind != documentObject {
		return nil
	}
	if len(got.members) != len(want.members) {
		return errors.New("other members")
	}
	for name, member := range want.members {
		if got.members[name] == nil {
			return fmt.Errorf("no %s", name)
		}
		if err := samePlaces(got.members[name], member); err != nil {
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
		a, err := readDocument(got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := plainDocument(want)
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: the text is %s, want %s", err, got[:100], want[:100])
		}
		read := new(Params)
		if err := fill(read, a); err != nil || !reflect.DeepEqual(read, p) {
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
	p := DefaultParams()
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
		if _, err := new(Params).Members(path); path != "" && !errors.Is(err, ErrUnknownParam) {
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
		p := DefaultParams()
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
	p := DefaultParams()
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
			if doc, wrong := plainDocument(text); wrong == nil && doc.lossy() {
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
