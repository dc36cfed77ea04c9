package pyvalue

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// Encode reads one JSON document and returns the canonical bytes of the value.
func Encode(document []byte) ([]byte, error) {
	if len(document) > 4*BytesMax {
		return nil, ErrBounds
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	e := &encoder{dec: dec}
	out, err := e.value(nil, DepthMax)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: text after it", ErrMalformed)
	}
	if len(out) > BytesMax {
		return nil, ErrBounds
	}
	return out, nil
}

type encoder struct{ dec *json.Decoder }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func (e *encoder) value(out []byte, depth int) ([]byte, error) {
	if depth == 0 || len(out) > BytesMax {
		return nil, ErrBounds
	}
	t, err := e.dec.Token()
	if err != nil {
		return nil, malformed("%v", err)
	}
	switch t := t.(type) {
	case nil:
		return cbor.AppendNull(out), nil
	case bool:
		return cbor.AppendBool(out, t), nil
	case string:
		return cbor.AppendText(out, ucd.NFC(t)), nil
	case json.Number:
		return appendNumber(out, t.String())
	case json.Delim:
		if t == '[' {
			return e.array(out, depth)
		}
		return e.object(out, depth)
	}
	return nil, malformed("unexpected %v", t)
}

// items reads what is left of a list.
func (e *encoder) items(depth int) ([][]byte, error) {
	var items [][]byte
	size := 0
	for e.dec.More() {
		item, err := e.value(nil, depth-1)
		if err != nil {
			return nil, err
		}
		if size += len(item); size > BytesMax {
			return nil, ErrBounds
		}
		items = append(items, item)
	}
	_, err := e.dec.Token()
	if err != nil {
		return nil, malformed("%v", err)
	}
	return items, nil
}

func (e *encoder) array(out []byte, depth int) ([]byte, error) {
	items, err := e.items(depth)
	if err != nil {
		return nil, err
	}
	return append(cbor.AppendArray(out, len(items)), slices.Concat(items...)...), nil
}

// object reads a dict, or one of the package's names.
func (e *encoder) object(out []byte, depth int) ([]byte, error) {
	var pairs []pair
	size := 0
	for e.dec.More() {
		t, err := e.dec.Token()
		if err != nil {
			return nil, malformed("%v", err)
		}
		name, _ := t.(string)
		if strings.HasPrefix(name, "$") {
			if len(pairs) > 0 {
				return nil, malformed("%q stands beside other names: write the dict as $map", name)
			}
			return e.named(out, name, depth)
		}
		val, err := e.value(nil, depth-1)
		if err != nil {
			return nil, err
		}
		key := cbor.AppendText(nil, ucd.NFC(name))
		if size += len(key) + len(val); size > BytesMax {
			return nil, ErrBounds
		}
		pairs = append(pairs, pair{key, val})
	}
	if _, err := e.dec.Token(); err != nil {
		return nil, malformed("%v", err)
	}
	return appendMap(out, pairs)
}

type pair struct{ key, val []byte }

// appendMap writes pairs in the order of their encoded keys.
func appendMap(out []byte, pairs []pair) ([]byte, error) {
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	out = cbor.AppendMap(out, len(pairs))
	for i, p := range pairs {
		if i > 0 && bytes.Equal(p.key, pairs[i-1].key) {
			return nil, malformed("a key stands twice")
		}
		out = append(append(out, p.key...), p.val...)
	}
	return out, nil
}

// named reads the value behind one of the package's names, and the end of the
// object.
func (e *encoder) named(out []byte, name string, depth int) (_ []byte, err error) {
	switch name {
	case "$bytes", "$int", "$float":
		t, err2 := e.dec.Token()
		text, ok := t.(string)
		if err2 != nil || !ok {
			return nil, malformed("%s holds text", name)
		}
		out, err = appendText(out, name, text)
	case "$set", "$map", "$object":
		if t, err := e.dec.Token(); err != nil || t != json.Delim('[') {
			return nil, malformed("%s holds a list", name)
		}
		out, err = e.list(out, name, depth)
	default:
		return nil, malformed("%q is no name of a value", name)
	}
	if err != nil {
		return nil, err
	}
	if t, err := e.dec.Token(); err != nil || t != json.Delim('}') {
		return nil, malformed("%s stands alone in its object", name)
	}
	return out, nil
}

// canonicalNaN is the one NaN (resolution 11.45).
const canonicalNaN uint64 = 0x7ff8 << 48

func appendText(out []byte, name, text string) ([]byte, error) {
	switch name {
	case "$bytes":
		b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			return nil, malformed("$bytes: %v", err)
		}
		return cbor.AppendBytes(out, b), nil
	case "$int":
		return appendBigInt(out, text)
	}
	switch text {
	case "nan":
		return binary.BigEndian.AppendUint64(append(out, 0xfb), canonicalNaN), nil
	case "inf":
		return cbor.AppendFloat(out, math.Inf(1)), nil
	case "-inf":
		return cbor.AppendFloat(out, math.Inf(-1)), nil
	}
	return nil, malformed("$float is nan, inf or -inf")
}

func (e *encoder) list(out []byte, name string, depth int) ([]byte, error) {
	if name == "$map" {
		return e.pairs(out, depth)
	}
	items, err := e.items(depth - 1)
	if err != nil {
		return nil, err
	}
	if name == "$object" {
		if len(items) != 2 || len(items[0]) == 0 || items[0][0]>>5 != majorText {
			return nil, malformed("$object is the name of a class and a value")
		}
		return append(cbor.AppendArray(append(out, 0xd8, tagObject), 2), slices.Concat(items...)...), nil
	}
	slices.SortFunc(items, bytes.Compare)
	for i := 1; i < len(items); i++ {
		if bytes.Equal(items[i], items[i-1]) {
			return nil, malformed("an element of a set stands twice")
		}
	}
	out = append(out, 0xd9, tagSet>>8, tagSet&0xff)
	return append(cbor.AppendArray(out, len(items)), slices.Concat(items...)...), nil
}

func (e *encoder) pairs(out []byte, depth int) ([]byte, error) {
	var pairs []pair
	for e.dec.More() {
		if t, err := e.dec.Token(); err != nil || t != json.Delim('[') {
			return nil, malformed("$map is a list of pairs")
		}
		both, err := e.items(depth - 1)
		if err != nil {
			return nil, err
		}
		if len(both) != 2 {
			return nil, malformed("$map is a list of pairs")
		}
		pairs = append(pairs, pair{both[0], both[1]})
	}
	if _, err := e.dec.Token(); err != nil {
		return nil, malformed("%v", err)
	}
	return appendMap(out, pairs)
}

func appendNumber(out []byte, text string) ([]byte, error) {
	if !strings.ContainsAny(text, ".eE") {
		return appendBigInt(out, text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, malformed("%v", err)
	}
	return cbor.AppendFloat(out, f), nil
}

// appendBigInt writes an int in its shortest form.
func appendBigInt(out []byte, text string) ([]byte, error) {
	if len(text) > 3*intBytesMax {
		return nil, ErrBounds
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || strings.HasPrefix(text, "+") {
		return nil, malformed("no int")
	}
	major, tag := byte(majorUint<<5), byte(tagPositive)
	if n.Sign() < 0 {
		major, tag = majorNegative<<5, tagNegative
		n.Not(n)
	}
	if n.IsUint64() {
		head := cbor.AppendUint(nil, n.Uint64())
		head[0] |= major
		return append(out, head...), nil
	}
	if n.BitLen() > 8*intBytesMax {
		return nil, ErrBounds
	}
	return cbor.AppendBytes(append(out, 6<<5|tag), n.Bytes()), nil
}
