package chain

import (
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

// String names the kind in words, for errors.
func (k documentKind) String() string {
	return [...]string{"string", "number", "bool", "array", "object"}[k]
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

// appendCBOR appends the document in the profile of CIP-11 §12.6. Its numbers
// must be unsigned 64-bit integers, as those of a genesis are.
func (d *document) appendCBOR(dst []byte) []byte {
	switch d.kind {
	case documentText:
		return cbor.AppendText(dst, d.text)
	case documentNumber:
		v, err := strconv.ParseUint(d.text, 10, 64)
		if err != nil {
			panic("bug: number outside 64 bits in a genesis")
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
	slices.SortFunc(names, keyOrder)
	dst = cbor.AppendMap(dst, len(names))
	for _, name := range names {
		dst = cbor.AppendText(dst, name)
		dst = d.members[name].appendCBOR(dst)
	}
	return dst
}

// keyOrder is the order of texts as keys of a map (CIP-11 §12.6): shorter ones encode
// lower.
func keyOrder(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// fieldName reports whether name is spelled as all our fields are.
func fieldName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxNameBytes
}

// PlaceError says of which field of a document an error is.
type PlaceError struct {
	Path string // members joined by dots, items in brackets; "" is the whole
	Err  error
}

func (e *PlaceError) Error() string {
	if e.Path == "" {
		return "document: " + e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns what is wrong there.
func (e *PlaceError) Unwrap() error { return e.Err }

// within puts the name of a member, or of an item in brackets, before the place that
// an error names. Foreign names stay readable, whatever they hold.
func within(name string, err error) error {
	place, ok := err.(*PlaceError)
	if !ok {
		place = &PlaceError{Err: err}
	}
	if !fieldName(name) && !strings.HasPrefix(name, "[") {
		name = strconv.Quote(name[:min(len(name), maxNameBytes)])
	}
	switch {
	case place.Path == "":
		place.Path = name
	case place.Path[0] == '[':
		place.Path = name + place.Path
	default:
		place.Path = name + "." + place.Path
	}
	return place
}

func withinItem(i int, err error) error { return within("["+strconv.Itoa(i)+"]", err) }
