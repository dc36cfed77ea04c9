package results

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// valueDepth is how deep a value may nest that stands in an answer.
const valueDepth = 28

// Steps that values take besides those of [strictjson.Read]: each counts as a step of the
// judge does, 50 ns at most.
const (
	valueSteps     = 1  // for a value at all
	bytesCopied    = 16 // of a string, by one step
	numeralSteps   = 2  // for a number, and one for each
	bytesNumeral   = 4  // of its bytes
	floatSteps     = 4  // for the nearest of binary64, found by multiplying
	hardFloatSteps = 64 // where numbers of up to 2,900 bits are divided for it
)

// appendOutput appends the output of a job as the value that a program gets: a text, what a
// text of JSON says, or bytes; nil for one that is no such value, nests too deep for a
// message, has a number that no message has (resolution 12.55), or takes more than steps.
func appendOutput(dst []byte, format chain.DataFormat, data []byte, steps *strictjson.Steps) []byte {
	switch format {
	case chain.FormatText:
		if !utf8.Valid(data) {
			return nil
		}
		return cbor.AppendText(dst, string(data))
	case chain.FormatJSON:
		v, err := strictjson.Read(data, steps)
		if err != nil {
			return nil
		}
		out, ok := appendValue(dst, v, valueDepth, steps)
		if !ok {
			return nil
		}
		return out
	}
	return cbor.AppendBytes(dst, data)
}

// appendValue appends a value of JSON; false where it nests deeper than depth, or steps are
// used up.
func appendValue(dst []byte, v strictjson.Value, depth int, steps *strictjson.Steps) (_ []byte, ok bool) {
	if steps.Spend(valueSteps+uint64(len(v.Text()))/bytesCopied) != nil {
		return nil, false
	}
	switch v.Kind() {
	case strictjson.Null:
		return cbor.AppendNull(dst), true
	case strictjson.False, strictjson.True:
		return cbor.AppendBool(dst, v.Kind() == strictjson.True), true
	case strictjson.Number:
		return appendNumber(dst, v, steps)
	case strictjson.String:
		return cbor.AppendText(dst, string(v.Text())), true
	}
	if depth == 0 {
		return nil, false
	}
	if v.Kind() == strictjson.Array {
		dst = cbor.AppendArray(dst, v.Count())
		// Bounded: by the values of a text of 64 KiB.
		for i := range v.Count() {
			if dst, ok = appendValue(dst, v.Item(i), depth-1, steps); !ok {
				return nil, false
			}
		}
		return dst, true
	}
	return appendObject(dst, v, depth-1, steps)
}

// appendObject appends the members of an object in canonical order, the shorter name first.
func appendObject(dst []byte, v strictjson.Value, depth int, steps *strictjson.Steps) (_ []byte, ok bool) {
	if steps.Spend(uint64(v.Count())*uint64(bits.Len(uint(v.Count())))) != nil {
		return nil, false
	}
	members := make([]strictjson.Value, 0, v.Count())
	// Bounded: by the values of a text of 64 KiB.
	for i := range v.Count() {
		members = append(members, v.Item(i))
	}
	// Bounded: as above.
	slices.SortFunc(members, func(a, b strictjson.Value) int {
		// Bounded: by the bytes of a name.
		return cmp.Or(cmp.Compare(len(a.Name()), len(b.Name())), bytes.Compare(a.Name(), b.Name()))
	})
	dst = cbor.AppendMap(dst, len(members))
	// Bounded: as above.
	for _, m := range members {
		if dst, ok = appendValue(cbor.AppendText(dst, string(m.Name())), m, depth, steps); !ok {
			return nil, false
		}
	}
	return dst, true
}
