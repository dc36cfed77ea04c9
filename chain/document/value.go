package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// NameBytesMax bounds the name of a field, and every other name in a document.
const NameBytesMax = 64

// Value is a JSON value without null. Objects keep no order: documents that
// say the same are equal and have one encoding.
type Value struct {
	Kind    Kind
	Text    string // of a string, or the digits of a number
	Bool    bool
	Items   []*Value
	Members map[string]*Value
}

type Kind uint8

const (
	Text Kind = iota
	Number
	Bool
	List
	Object
)

// String names the kind in words, for errors.
func (k Kind) String() string {
	return [...]string{"string", "number", "bool", "array", "object"}[k]
}

// names returns the member names in order.
func (d *Value) names() []string {
	names := make([]string, 0, len(d.Members))
	for name := range d.Members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// AppendCBOR appends the document in the profile of CIP-11 §12.6. Its numbers
// must be unsigned 64-bit integers, as those of a genesis are.
func (d *Value) AppendCBOR(dst []byte) []byte {
	switch d.Kind {
	case Text:
		return cbor.AppendText(dst, d.Text)
	case Number:
		v, err := strconv.ParseUint(d.Text, 10, 64)
		if err != nil {
			panic("bug: number outside 64 bits in a genesis")
		}
		return cbor.AppendUint(dst, v)
	case Bool:
		return cbor.AppendBool(dst, d.Bool)
	case List:
		dst = cbor.AppendArray(dst, len(d.Items))
		for _, item := range d.Items {
			dst = item.AppendCBOR(dst)
		}
		return dst
	}
	names := d.names()
	slices.SortFunc(names, keyOrder)
	dst = cbor.AppendMap(dst, len(names))
	for _, name := range names {
		dst = cbor.AppendText(dst, name)
		dst = d.Members[name].AppendCBOR(dst)
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
	return name != "" && len(name) <= NameBytesMax
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
		name = strconv.Quote(name[:min(len(name), NameBytesMax)])
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
