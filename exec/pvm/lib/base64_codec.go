package lib

import (
	"encoding/base64"
	"fmt"
)

// textError is why a text is not of an encoding, for the exception that the caller
// chooses.
type textError struct {
	format string // a literal
	args   []any
}

func (e *textError) Error() string { return fmt.Sprintf(e.format, e.args...) }

func errText(format string, args ...any) error { return &textError{format, args} }

// base64Values are the values of the alphabet, 0xff for any other byte.
var base64Values = valuesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

// valuesOf is the table of an alphabet by byte.
func valuesOf(alphabet string) (t [256]byte) {
	// Bounded: by 256; once, when the program starts.
	for i := range t {
		t[i] = 0xff
	}
	// Bounded: by the alphabet; once, when the program starts.
	for i := range len(alphabet) {
		t[alphabet[i]] = byte(i)
	}
	return t
}

// decode64 reads base64 as binascii.a2b_base64 does: what is not of the alphabet is
// passed over, and so is padding where it ends nothing, unless strict. The first
// padding that fills a quantum ends the data.
func decode64(text string, strict bool) ([]byte, error) {
	if strict && text != "" && text[0] == '=' {
		return nil, errText("Leading padding not allowed")
	}
	out := make([]byte, 0, len(text)/4*3+3)
	var left byte // bits of the value before that no byte has yet
	quad, pads, padding := 0, 0, false
	// Paid: by decoded, a character each for the text and for what it makes.
	for i := range len(text) {
		c := text[i]
		if c == '=' {
			padding = true
			if quad < 2 {
				continue
			}
			if pads++; quad+pads < 4 {
				continue
			}
			if strict && i+1 < len(text) {
				return nil, errText("Excess data after padding")
			}
			return out, nil
		}
		v := base64Values[c]
		if v == 0xff {
			if strict {
				return nil, errText("Only base64 data is allowed")
			}
			continue
		}
		if strict && padding {
			return nil, errText("Discontinuous padding not allowed")
		}
		pads = 0
		if quad > 0 {
			out = append(out, left<<(2*quad)|v>>(6-2*quad))
		}
		left = v
		quad = (quad + 1) % 4
	}
	switch quad {
	case 0:
		return out, nil
	case 1:
		return nil, errText("Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than a multiple of 4", len(out)/3*4+1)
	}
	return nil, errText("Incorrect padding")
}

// lineBytes are the bytes on one line of MIME's base64.
const lineBytes = 57

// size64Lines is how many characters encode64Lines makes of n bytes at most.
func size64Lines(n int) int { return base64.StdEncoding.EncodedLen(n) + n/lineBytes + 1 }

// encode64Lines writes base64 in lines of 76, each with its end.
func encode64Lines(data string) []byte {
	out := make([]byte, 0, size64Lines(len(data)))
	// Paid: by coded, a character each for the data and for what it makes.
	for len(data) > 0 {
		n := min(lineBytes, len(data))
		out = append(base64.StdEncoding.AppendEncode(out, []byte(data[:n])), '\n')
		data = data[n:]
	}
	return out
}

// The alphabets of base32 and base32hex (RFC 4648).
const (
	alphabet32    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alphabet32Hex = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
)

var values32, values32Hex = valuesOf(alphabet32), valuesOf(alphabet32Hex)

// decode32 reads base32 without its padding, of which there were so many
// characters. Bits that no byte has are passed over, as CPython does.
func decode32(text string, pads int64, values *[256]byte) ([]byte, error) {
	out := make([]byte, 0, len(text)/8*5+5)
	var bits uint64
	// Paid: by decoded, a character each for the text and for what it makes.
	for i := range len(text) {
		v := values[text[i]]
		if v == 0xff {
			return nil, errText("Non-base32 digit found")
		}
		bits = bits<<5 | uint64(v)
		if i%8 == 7 {
			out = append(out, byte(bits>>32), byte(bits>>24), byte(bits>>16), byte(bits>>8), byte(bits))
			bits = 0
		}
	}
	switch pads {
	case 0:
		return out, nil
	case 1, 3, 4, 6:
	default:
		return nil, errText("Incorrect padding")
	}
	bits <<= 5 * pads
	// Bounded: by five bytes.
	for i := range (43 - 5*pads) / 8 {
		out = append(out, byte(bits>>(32-8*i)))
	}
	return out, nil
}

// upperHex are the digits of base16.
const upperHex = "0123456789ABCDEF"

var values16 = valuesOf(upperHex)

func encode16(data string) []byte {
	out := make([]byte, 0, 2*len(data))
	// Paid: by coded, a character each for the data and for what it makes.
	for i := range len(data) {
		out = append(out, upperHex[data[i]>>4], upperHex[data[i]&15])
	}
	return out
}

func decode16(text string) ([]byte, error) {
	// Paid: by decoded, a character each for the text and for what it makes.
	for i := range len(text) {
		if values16[text[i]] == 0xff {
			return nil, errText("Non-base16 digit found")
		}
	}
	if len(text)%2 != 0 {
		return nil, errText("Odd-length string")
	}
	out := make([]byte, 0, len(text)/2)
	// Paid: likewise.
	for i := 0; i < len(text); i += 2 {
		out = append(out, values16[text[i]]<<4|values16[text[i+1]])
	}
	return out, nil
}
