package pyvalue

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// BytesMax bounds a value, as the chain does (docs/sdk.md).
const BytesMax = 64 << 10

// DepthMax bounds the recursion. The chain allows 64 containers within each other; a
// set or an instance takes two levels here, so this is above all that it takes.
const DepthMax = 2*64 + 2

// Errors of both directions.
var (
	// ErrMalformed means bytes that are no encoding of a value.
	ErrMalformed = errors.New("not the encoding of a value")
	// ErrBounds means a value beyond BytesMax or DepthMax.
	ErrBounds = errors.New("value is too large")
)

// exactInt is the largest int that every reader of JSON keeps (2^53 - 1).
const exactInt = 1<<53 - 1

const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorOther
)

const (
	tagPositive = 2
	tagNegative = 3
	tagObject   = 27
	tagSet      = 258
)

// shownMax is how large a value of so many bytes may become as JSON: lists of booleans
// and texts of control characters take six times as much, and fit. A list of empty bytes
// takes sixteen times as much and does not.
func shownMax(n int) int { return 8*n + 1024 }

// JSON writes a value. No bytes are None, as a call without payload gets it. The
// form of the bytes is not judged further than needed to read them. What becomes more
// than eight times as large, and some, is [ErrBounds].
func JSON(data []byte) (json.RawMessage, error) {
	if len(data) == 0 {
		data = []byte{none}
	}
	if len(data) > BytesMax {
		return nil, ErrBounds
	}
	d := decoder{data: data, most: shownMax(len(data))}
	if err := d.survey(DepthMax); err != nil {
		return nil, err
	}
	if d.pos != len(data) {
		return nil, fmt.Errorf("%w: %d bytes after it", ErrMalformed, len(data)-d.pos)
	}
	d.pos = 0
	return d.value(make([]byte, 0, min(d.most, 2*len(data)+16)), DepthMax)
}

// none is the encoding of None.
const none = 0xf6

// decoder reads a value twice: the survey finds which dicts are objects of JSON, which
// their last key may decide, and then the value is written once, from front to back.
type decoder struct {
	data    []byte
	pos     int
	most    int    // bytes of JSON
	objects []bool // of the dicts, in the order in which they begin
}

func (d *decoder) fail(what string) error {
	return fmt.Errorf("%w: byte %d: %s", ErrMalformed, d.pos, what)
}

func (d *decoder) head() (major int, info byte, arg uint64, err error) {
	if d.pos >= len(d.data) {
		return 0, 0, 0, d.fail("it ends")
	}
	b := d.data[d.pos]
	major, info = int(b>>5), b&0x1f
	if info < 24 {
		d.pos++
		return major, info, uint64(info), nil
	}
	if info > 27 {
		return 0, 0, 0, d.fail("indefinite or reserved length")
	}
	size := 1 << (info - 24)
	if len(d.data)-d.pos-1 < size {
		return 0, 0, 0, d.fail("it ends")
	}
	var wide [8]byte
	copy(wide[8-size:], d.data[d.pos+1:])
	d.pos += 1 + size
	return major, info, binary.BigEndian.Uint64(wide[:]), nil
}

func (d *decoder) readBytes(n uint64) ([]byte, error) {
	if n > uint64(len(d.data)-d.pos) {
		return nil, d.fail("it ends")
	}
	b := d.data[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return b, nil
}

// value appends the value at pos.
func (d *decoder) value(out []byte, depth int) ([]byte, error) {
	out, err := d.whole(out, depth)
	if err == nil && len(out) > d.most {
		err = ErrBounds
	}
	return out, err
}

func (d *decoder) whole(out []byte, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, ErrBounds
	}
	major, info, arg, err := d.head()
	if err != nil {
		return nil, err
	}
	switch major {
	case majorUint:
		return appendInt(out, new(big.Int).SetUint64(arg)), nil
	case majorNegative:
		n := new(big.Int).SetUint64(arg)
		return appendInt(out, n.Not(n)), nil
	case majorBytes:
		b, err := d.readBytes(arg)
		if err != nil {
			return nil, err
		}
		return appendNamed(out, "$bytes", quote("0x"+hex.EncodeToString(b))), nil
	case majorText:
		s, err := d.text(arg)
		if err != nil {
			return nil, err
		}
		return append(out, quote(s)...), nil
	case majorArray:
		return d.array(out, arg, depth)
	case majorMap:
		return d.dict(out, arg, depth)
	case majorTag:
		return d.tagged(out, arg, depth)
	}
	return d.simple(out, info, arg)
}

func (d *decoder) text(n uint64) (string, error) {
	b, err := d.readBytes(n)
	if err == nil && !utf8.Valid(b) {
		err = d.fail("text is not UTF-8")
	}
	return string(b), err
}

func (d *decoder) simple(out []byte, info byte, arg uint64) ([]byte, error) {
	switch {
	case info == 20:
		return append(out, "false"...), nil
	case info == 21:
		return append(out, "true"...), nil
	case info == 22:
		return append(out, "null"...), nil
	case info == 27:
		return appendFloat(out, math.Float64frombits(arg)), nil
	}
	return nil, d.fail("no value of Python")
}

func (d *decoder) array(out []byte, n uint64, depth int) ([]byte, error) {
	out = append(out, '[')
	var err error
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = d.value(out, depth-1); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// dict writes an object where all keys are text that does not look like one of
// our names, and else a list of pairs.
func (d *decoder) dict(out []byte, n uint64, depth int) (_ []byte, err error) {
	object := d.objects[0]
	d.objects = d.objects[1:]
	start, open, between, shut, end := `{"$map":[`, "[", ",", "]", "]}"
	if object {
		start, open, between, shut, end = "{", "", ":", "", "}"
	}
	out = append(out, start...)
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = d.value(append(out, open...), depth-1); err != nil {
			return nil, err
		}
		if out, err = d.value(append(out, between...), depth-1); err != nil {
			return nil, err
		}
		out = append(out, shut...)
	}
	return append(out, end...), nil
}

func (d *decoder) tagged(out []byte, tag uint64, depth int) (_ []byte, err error) {
	switch tag {
	case tagPositive, tagNegative:
		return d.bignum(out, tag)
	case tagSet:
		out = append(out, `{"$set":`...)
	default:
		out = append(out, `{"$object":`...)
	}
	if out, err = d.value(out, depth-1); err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}

func (d *decoder) bignum(out []byte, tag uint64) ([]byte, error) {
	major, _, arg, err := d.head()
	if err != nil {
		return nil, err
	}
	if major != majorBytes {
		return nil, d.fail("a large int holds bytes")
	}
	b, err := d.readBytes(arg)
	if err != nil {
		return nil, err
	}
	if len(b) > intBytesMax {
		return nil, ErrBounds
	}
	n := new(big.Int).SetBytes(b)
	if tag == tagNegative {
		n.Not(n)
	}
	return appendInt(out, n), nil
}

// intBytesMax is the size of the largest int that the machine has.
const intBytesMax = 512

func appendInt(out []byte, n *big.Int) []byte {
	if n.IsInt64() && n.Int64() <= exactInt && n.Int64() >= -exactInt {
		return n.Append(out, 10)
	}
	return appendNamed(out, "$int", `"`+n.String()+`"`)
}

func appendFloat(out []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return appendNamed(out, "$float", `"nan"`)
	case math.IsInf(f, 1):
		return appendNamed(out, "$float", `"inf"`)
	case math.IsInf(f, -1):
		return appendNamed(out, "$float", `"-inf"`)
	}
	at := len(out)
	out = strconv.AppendFloat(out, f, 'g', -1, 64)
	for _, c := range out[at:] {
		if c == '.' || c == 'e' {
			return out
		}
	}
	return append(out, ".0"...)
}

func appendNamed(out []byte, name, body string) []byte {
	return append(append(append(append(append(out, `{"`...), name...), `":`...), body...), '}')
}

// quote writes text as JSON, without escapes for the sake of HTML.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
