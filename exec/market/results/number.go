package results

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// appendNumber appends a number: as an integer where it is one of 64 bits, else as the
// nearest of binary64, as [chain.JSONValue] has numbers; false for one beyond these, and where
// steps are used up.
func appendNumber(dst []byte, v strictjson.Value, steps *strictjson.Steps) (_ []byte, ok bool) {
	if steps.Spend(numeralSteps+uint64(len(v.Text()))/bytesNumeral) != nil {
		return nil, false
	}
	d := v.Number()
	if size, ok := integer(d); ok {
		switch {
		case !d.Negative:
			return cbor.AppendUint(dst, size), true
		case size <= 1<<63:
			return cbor.AppendInt(dst, -int64(size)), true // -2^63 is its own negative
		}
	}
	if steps.Spend(floatSteps) != nil {
		return nil, false
	}
	if f, ok := exact(d); ok {
		return appendFloat(dst, f), true
	}
	n, ok := softfloat.Scan(string(v.Text()))
	if !ok || n.Hard() && steps.Spend(hardFloatSteps) != nil {
		return nil, false
	}
	f := n.Value()
	return appendFloat(dst, f), softfloat.IsFinite(f)
}

func appendFloat(dst []byte, f uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, floatHead), f)
}

// exact returns the value of a number that is a fraction over a power of two, as 0.5 and 2.75
// are: multiplications do not tell that these lie half-way between no two values.
func exact(d strictjson.Decimal) (f uint64, ok bool) {
	places := len(d.Digits) - d.Exponent
	if places < 1 || places > mostFives || len(d.Digits) >= mostDigits {
		return 0, false
	}
	var size uint64
	// Bounded: by mostDigits.
	for _, c := range d.Digits {
		size = size*10 + uint64(c-'0')
	}
	// Bounded: by mostFives.
	for range places {
		if size%5 != 0 {
			return 0, false
		}
		size /= 5
	}
	f = softfloat.FromScaled(new(big.Int).SetUint64(size), -places, false)
	if d.Negative {
		f |= 1 << 63
	}
	return f, true
}

// mostFives is the largest power of five below 2^64.
const mostFives = 27

// integer returns the size of a number that is an integer below 2^64.
func integer(d strictjson.Decimal) (size uint64, ok bool) {
	zeros := d.Exponent - len(d.Digits) // behind the digits
	if zeros < 0 || d.Exponent > mostDigits {
		return 0, false
	}
	// Bounded: by mostDigits.
	for i := range d.Exponent {
		digit := uint64(0)
		if i < len(d.Digits) {
			digit = uint64(d.Digits[i] - '0')
		}
		hi, lo := bits.Mul64(size, 10)
		var carry uint64
		if size, carry = bits.Add64(lo, digit, 0); hi+carry > 0 {
			return 0, false
		}
	}
	return size, true
}

// mostDigits is how many digits a number of 64 bits has at most.
const mostDigits = 20

// floatHead begins a float of 64 bits.
const floatHead = 0xfb
