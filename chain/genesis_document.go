package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// document is a JSON value without null. Objects keep no order: documents that
// say the same are equal and have one encoding.
type document struct {
	kind    documentKind
	text    string // of a string, or the digits of a number
	boolean bool
	list    []*document
	members map[string]*document
}

type documentKind uint8

const (
	documentText documentKind = iota
	documentNumber
	documentBool
	documentList
	documentObject
)

// Bounds on a document: more than a genesis nests, which keeps recursion short,
// and more values than one with 300,000 allocations, which keeps a hostile file
// of a few bytes per value from taking many times its size.
const (
	documentDepthMax  = 16
	documentValuesMax = 4 << 20
)

// parseDocument reads one JSON document of any shape. encoding/json alone would
// let a second member of one name, a name in another case, null and bytes after
// the end pass.
func parseDocument(b []byte) (*document, error) {
	d := documentReader{Decoder: json.NewDecoder(bytes.NewReader(b)), valuesLeft: documentValuesMax}
	d.UseNumber()
	doc, err := d.value("", documentDepthMax)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("text follows the document at byte %d", d.InputOffset())
	}
	return doc, nil
}

type documentReader struct {
	*json.Decoder
	valuesLeft int
}

func (d *documentReader) value(path string, depthLeft int) (*document, error) {
	if d.valuesLeft--; d.valuesLeft < 0 {
		return nil, fmt.Errorf("%s: more than %d values", orRoot(path), documentValuesMax)
	}
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("%s: not JSON: %w", orRoot(path), err)
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
			return nil, fmt.Errorf("%s: nested deeper than %d", orRoot(path), documentDepthMax)
		}
		if v == '[' {
			return d.list(path, depthLeft-1)
		}
		return d.object(path, depthLeft-1)
	default:
		return nil, fmt.Errorf("%s: null is no value here", orRoot(path))
	}
}

func (d *documentReader) list(path string, depthLeft int) (*document, error) {
	doc := &document{kind: documentList}
	for d.More() {
		item, err := d.value(fmt.Sprintf("%s[%d]", path, len(doc.list)), depthLeft)
		if err != nil {
			return nil, err
		}
		doc.list = append(doc.list, item)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s: not JSON: %w", orRoot(path), err)
	}
	return doc, nil
}

func (d *documentReader) object(path string, depthLeft int) (*document, error) {
	doc := &document{kind: documentObject, members: map[string]*document{}}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: not JSON: %w", orRoot(path), err)
		}
		name, _ := token.(string) // a decoder hands out no other key
		at := join(path, name)
		if !fieldName(name) {
			return nil, fmt.Errorf("%s: unknown field", at)
		}
		if _, twice := doc.members[name]; twice {
			return nil, fmt.Errorf("%s: field stands twice", at)
		}
		if doc.members[name], err = d.value(at, depthLeft); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s: not JSON: %w", orRoot(path), err)
	}
	return doc, nil
}

// fieldName reports whether name is spelled as all our fields are. Refusing the
// rest also keeps encoding/json from matching a name in another case.
func fieldName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxNameBytes
}

// join keeps foreign names readable in an error, whatever they hold.
func join(path, name string) string {
	if !fieldName(name) {
		name = strconv.Quote(name[:min(len(name), maxNameBytes)])
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func orRoot(path string) string {
	if path == "" {
		return "document"
	}
	return path
}

// sameFields reports the first field, in name order, that only one of two
// documents has.
func sameFields(got, want *document, path string) error {
	switch want.kind {
	case documentList:
		for i := range min(len(got.list), len(want.list)) {
			if err := sameFields(got.list[i], want.list[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case documentObject:
		for _, name := range got.names() {
			if want.members[name] == nil {
				return fmt.Errorf("%s: unknown field", join(path, name))
			}
		}
		for _, name := range want.names() {
			member := got.members[name]
			if member == nil {
				return fmt.Errorf("%s: field is missing", join(path, name))
			}
			if err := sameFields(member, want.members[name], join(path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// names returns the member names in order.
func (d *document) names() []string {
	names := make([]string, 0, len(d.members))
	for name := range d.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// find returns the path of the first text or number that begins with text.
func (d *document) find(text, path string) (string, bool) {
	switch d.kind {
	case documentText, documentNumber:
		return path, d.text == text || len(text) == textErrorMax && strings.HasPrefix(d.text, text)
	case documentList:
		for i, item := range d.list {
			if at, ok := item.find(text, fmt.Sprintf("%s[%d]", path, i)); ok {
				return at, true
			}
		}
	case documentObject:
		for _, name := range d.names() {
			if at, ok := d.members[name].find(text, join(path, name)); ok {
				return at, true
			}
		}
	}
	return "", false
}

// appendCBOR appends the document in the profile of CIP-11 §12.6. Its numbers
// must be unsigned 64-bit integers, as those of a marshalled genesis are.
func (d *document) appendCBOR(dst []byte) []byte {
	switch d.kind {
	case documentText:
		return cbor.AppendText(dst, d.text)
	case documentNumber:
		v, err := strconv.ParseUint(d.text, 10, 64)
		if err != nil {
			panic("bug: number outside 64 bits in a marshalled genesis")
		}
		return cbor.AppendUint(dst, v)
	case documentBool:
		return cbor.AppendBool(dst, d.boolean)
	case documentList:
		dst = cbor.AppendArray(dst, len(d.list))
		for _, item := range d.list {
			dst = item.appendCBOR(dst)
		}
		return dst
	}
	names := d.names()
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) }) // shorter keys encode lower
	dst = cbor.AppendMap(dst, len(names))
	for _, name := range names {
		dst = cbor.AppendText(dst, name)
		dst = d.members[name].appendCBOR(dst)
	}
	return dst
}
