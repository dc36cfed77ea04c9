package results

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// valueDepth is how deep a value may nest that stands in an answer.
const valueDepth = 28

// valueSteps is more than a text of [strictjson.MaxBytes] takes to read.
const valueSteps = 1 << 32

// appendOutput appends the output of a job as the value that a program gets: a text, what a
// text of JSON says, or bytes; nil for one that is no such value, nests too deep for a
// message, or has a number that no message has (resolution 12.55).
func appendOutput(dst []byte, format chain.DataFormat, data []byte) []byte {
	switch format {
	case chain.FormatText:
		if !utf8.Valid(data) {
			return nil
		}
		return cbor.AppendText(dst, string(data))
	case chain.FormatJSON:
		v, err := strictjson.Read(data, strictjson.NewSteps(valueSteps))
		if err != nil {
			return nil
		}
		out, ok := appendValue(dst, v, valueDepth)
		if !ok {
			return nil
		}
		return out
	}
	return cbor.AppendBytes(dst, data)
}

// appendValue appends a value of JSON; false where it nests deeper than depth.
func appendValue(dst []byte, v strictjson.Value, depth int) (_ []byte, ok bool) {
	switch v.Kind() {
	case strictjson.Null:
		return cbor.AppendNull(dst), true
	case strictjson.False, strictjson.True:
		return cbor.AppendBool(dst, v.Kind() == strictjson.True), true
	case strictjson.Number:
		return appendNumber(dst, v.Number())
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
			if dst, ok = appendValue(dst, v.Item(i), depth-1); !ok {
				return nil, false
			}
		}
		return dst, true
	}
	return appendObject(dst, v, depth-1)
}

// appendObject appends the members of an object in canonical order, the shorter name first.
func appendObject(dst []byte, v strictjson.Value, depth int) (_ []byte, ok bool) {
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
		if dst, ok = appendValue(cbor.AppendText(dst, string(m.Name())), m, depth); !ok {
			return nil, false
		}
	}
	return dst, true
}

// appendNumber appends a number: as an integer where it is one of 64 bits, else as the
// nearest of binary64, as [chain.JSONValue] has numbers; false for one beyond these.
func appendNumber(dst []byte, d strictjson.Decimal) (_ []byte, ok bool) {
	num, den := ratio(d)
	if den.IsInt64() && den.Int64() == 1 {
		switch {
		case num.IsUint64():
			return cbor.AppendUint(dst, num.Uint64()), true
		case num.IsInt64():
			return cbor.AppendInt(dst, num.Int64()), true
		}
	}
	f, ok := softfloat.FromRatio(num, den)
	return binary.BigEndian.AppendUint64(append(dst, floatHead), f), ok
}

// floatHead begins a float of 64 bits.
const floatHead = 0xfb

// ratio returns a number as a fraction whose denominator is a power of ten, 1 for an integer.
func ratio(d strictjson.Decimal) (num, den *big.Int) {
	num, den = new(big.Int), big.NewInt(1)
	if len(d.Digits) == 0 {
		return num, den
	}
	num.SetString(string(d.Digits), 10)
	if d.Negative {
		num.Neg(num)
	}
	power := d.Exponent - len(d.Digits) // of ten
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	if power < 0 {
		return num, ten
	}
	return num.Mul(num, ten), den
}
