package ask

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ErrNoJSON means a value that JSON has no form for: bytes, or keys that are no text.
var ErrNoJSON = errors.New("it is no value of JSON")

// jsonOf is the value under a key as one of JSON in canonical form, of at most so many
// bytes; nil where there is none.
func (t *table) jsonOf(name string, most int) chain.JSONValue {
	item := t.take(name)
	if item == nil {
		return nil
	}
	c := cbor.NewReader(item)
	b, err := appendValue(nil, &c, limits().Depth)
	if err == nil {
		var v chain.JSONValue
		if v, err = chain.ParseJSONValue(b, most); err == nil {
			return v
		}
	}
	t.wrong(name, err)
	return nil
}

// jsonText is the text under a key, or the JSON text of the value there; nil where there is
// none.
func (t *table) jsonText(name string) *string {
	item := t.take(name)
	if item == nil {
		return nil
	}
	if c := cbor.NewReader(item); isText(&c) {
		return t.textOf(name, item)
	}
	c := cbor.NewReader(item)
	b, err := appendText(nil, &c, limits().Depth)
	t.wrongIf(name, err)
	s := string(b)
	return &s
}

func isText(c *cbor.Reader) bool {
	_, err := c.Text(MaxBytes)
	return err == nil
}

// appendValue copies an item with its whole floats as integers, as canonical JSON has them.
func appendValue(dst []byte, c *cbor.Reader, depth int) ([]byte, error) {
	if f, err := c.Float(); err == nil {
		if n, ok := whole(f); ok {
			return append(dst, n...), nil
		}
		return cbor.AppendFloat(dst, f), nil
	}
	if depth == 0 {
		return dst, cbor.ErrDepth
	}
	if n, err := c.Array(MaxBytes); err == nil {
		dst = cbor.AppendArray(dst, n)
		// Paid: by the bytes of the dictionary, each once.
		for range n {
			if dst, err = appendValue(dst, c, depth-1); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
	if n, err := c.Map(MaxBytes); err == nil {
		dst = cbor.AppendMap(dst, n)
		// Paid: as above.
		for range n {
			name, err := c.Text(MaxBytes)
			if err != nil {
				return dst, fmt.Errorf("%w: %w", ErrNoJSON, err)
			}
			if dst, err = appendValue(cbor.AppendText(dst, name), c, depth-1); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
	raw, err := c.Raw(limits())
	return append(dst, raw...), err
}

// whole is the canonical item of a float that is an integer within -2^63 to 2^64-1.
func whole(f float64) ([]byte, bool) {
	switch {
	case f != math.Trunc(f):
		return nil, false
	case f >= 0 && f < 1<<64:
		return cbor.AppendUint(nil, uint64(f)), true
	case f < 0 && f >= -1<<63:
		return cbor.AppendInt(nil, int64(f)), true
	}
	return nil, false
}

// appendText writes an item as JSON text without spaces, members in the order of the item.
func appendText(dst []byte, c *cbor.Reader, depth int) ([]byte, error) {
	if depth == 0 {
		return dst, cbor.ErrDepth
	}
	if n, err := c.Array(MaxBytes); err == nil {
		dst = append(dst, '[')
		// Paid: by the bytes of the dictionary, each once.
		for i := range n {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendText(dst, c, depth-1); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
	if n, err := c.Map(MaxBytes); err == nil {
		return appendMembers(append(dst, '{'), c, n, depth)
	}
	return appendScalar(dst, c)
}

func appendMembers(dst []byte, c *cbor.Reader, n, depth int) ([]byte, error) {
	// Paid: by the bytes of the dictionary, each once.
	for i := range n {
		name, err := c.Text(MaxBytes)
		if err != nil {
			return dst, fmt.Errorf("%w: %w", ErrNoJSON, err)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendText(append(appendQuoted(dst, name), ':'), c, depth-1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendScalar(dst []byte, c *cbor.Reader) ([]byte, error) {
	if c.Null() {
		return append(dst, "null"...), nil
	}
	if v, err := c.Bool(); err == nil {
		return strconv.AppendBool(dst, v), nil
	}
	if n, err := c.Uint(); err == nil {
		return strconv.AppendUint(dst, n, 10), nil
	}
	if n, err := c.Int(); err == nil {
		return strconv.AppendInt(dst, n, 10), nil
	}
	if f, err := c.Float(); err == nil {
		return strconv.AppendFloat(dst, f, 'g', -1, 64), nil // the shortest digits that are this float
	}
	s, err := c.Text(MaxBytes)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrNoJSON, err)
	}
	return appendQuoted(dst, s), nil
}

// appendQuoted writes a string of JSON with no more escapes than it needs.
func appendQuoted(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	// Paid: by the bytes of the dictionary, each once.
	for _, r := range s { // valid UTF-8, as CBOR has no other texts
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
