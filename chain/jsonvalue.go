//spec:implements CIP-11 12.6

package chain

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ErrNoObject means another value of JSON than an object.
var ErrNoObject = errors.New("value is not an object")

// jsonDepth is how deep a value nests at most: it lies two levels deep in a job, all of
// which has no more levels than a transaction.
const jsonDepth = 30

// JSONValue is a value of JSON in canonical form (CIP-11 §12.6): objects are maps with
// text keys, and a number is an integer where that has its value and lies within -2^63
// to 2^64-1, else a float. Nil is no value, for which null stands.
type JSONValue []byte

func (v JSONValue) appendTo(dst []byte) []byte {
	if v == nil {
		return cbor.AppendNull(dst)
	}
	return append(dst, v...)
}

// IsObject reports whether the value is an object.
func (v JSONValue) IsObject() bool {
	r := cbor.NewReader(v)
	_, err := r.Map(len(v))
	return err == nil
}

// ParseJSONValue takes b as a value of at most limit bytes, which is all of it.
func ParseJSONValue(b []byte, limit int) (JSONValue, error) {
	r := cbor.NewReader(b)
	v, err := readJSONValue(&r, limit)
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, &FieldError{Object: "JSONValue", Err: err}
	}
	return v, nil
}

func readJSONValue(r *cbor.Reader, limit int) (JSONValue, error) {
	return r.RawJSON(cbor.Limits{Bytes: limit, Depth: jsonDepth, Items: limit})
}

// TextPair is a pair of a [TextMap].
type TextPair struct{ Name, Value string }

// TextMap is a map of texts, such as the headers of a request: names are exact, and none
// stands twice. What was decoded is in canonical order, the shorter name first.
type TextMap []TextPair

// appendTo writes the map in canonical order.
func (m TextMap) appendTo(dst []byte) []byte {
	if !slices.IsSortedFunc(m, compareNames) {
		m = slices.SortedFunc(slices.Values(m), compareNames)
	}
	dst = cbor.AppendMap(dst, len(m))
	for i := range m {
		dst = cbor.AppendText(cbor.AppendText(dst, m[i].Name), m[i].Value)
	}
	return dst
}

// compareNames orders pairs as their encoded keys.
func compareNames(a, b TextPair) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
}

// ValueOf returns the value of an exact name.
func (m TextMap) ValueOf(name string) (string, bool) {
	for i := range m {
		if m[i].Name == name {
			return m[i].Value, true
		}
	}
	return "", false
}

func readTextMap(r *cbor.Reader, limit int) (TextMap, error) {
	n, err := r.Map(limit)
	if err != nil || n == 0 {
		return nil, err
	}
	m := make(TextMap, n)
	for i := range m {
		at := r.Offset()
		if m[i].Name, err = r.Text(MaxHeaderName); err != nil {
			return nil, err
		}
		if i > 0 {
			switch c := compareNames(m[i-1], m[i]); {
			case c == 0:
				return nil, &cbor.SyntaxError{Offset: at, Err: cbor.ErrDuplicateKey}
			case c > 0:
				return nil, &cbor.SyntaxError{Offset: at, Err: cbor.ErrKeyOrder}
			}
		}
		if m[i].Value, err = r.Text(MaxHeaderValue); err != nil {
			return nil, err
		}
	}
	return m, nil
}
