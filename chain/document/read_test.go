package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainDocument is [Read] by the tokens of encoding/json, the plain twin that
// it is held to. That one alone lets text pass that is no UTF-8.
func plainDocument(text []byte) (*Value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	doc, err := plainValue(d, depthMax)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows")
	}
	return doc, nil
}

func plainValue(d *json.Decoder, depthLeft int) (*Value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case string:
		return &Value{Kind: Text, Text: v}, nil
	case json.Number:
		return &Value{Kind: Number, Text: v.String()}, nil
	case bool:
		return &Value{Kind: Bool, Bool: v}, nil
	case json.Delim:
		if depthLeft == 0 {
			return nil, errors.New("too deep")
		}
		doc := &Value{Kind: List}
		if v == '{' {
			doc = &Value{Kind: Object, Members: map[string]*Value{}}
		}
		for d.More() {
			var name string
			if v == '{' {
				token, err := d.Token()
				if err != nil {
					return nil, err
				}
				name = token.(string)
				if doc.Members[name] != nil || !fieldName(name) {
					return nil, fmt.Errorf("name %q", name)
				}
			}
			item, err := plainValue(d, depthLeft-1)
			if err != nil {
				return nil, err
			}
			if v == '{' {
				doc.Members[name] = item
			} else {
				doc.Items = append(doc.Items, item)
			}
		}
		_, err := d.Token()
		return doc, err
	}
	return nil, errors.New("null")
}

// lossy reports whether a text of a document may stand for bytes that were no UTF-8.
func (d *Value) lossy() bool {
	if strings.ContainsRune(d.Text, utf8.RuneError) {
		return true
	}
	for _, item := range d.Items {
		if item.lossy() {
			return true
		}
	}
	for name, member := range d.Members {
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
		got, err := Read([]byte(good))
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
		_, err := Read([]byte(text))
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
		got, err := Read(text)
		want, plainErr := plainDocument(text)
		switch {
		case err == nil && (plainErr != nil || !reflect.DeepEqual(got, want)):
			t.Errorf("%q: %+v; the plain reader: %+v, %v", text, got, want, plainErr)
		case err != nil && plainErr == nil && !want.lossy():
			t.Errorf("%q: %v; the plain reader takes it", text, err)
		}
	})
}
