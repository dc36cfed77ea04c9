package lib

import (
	"encoding/binary"
	"strings"
)

// The alphabets of base85 (RFC 1924) and Ascii85.
const (
	alphabet85  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	alphabetA85 = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu"
)

var values85 = valuesOf(alphabet85)

// size85 is how many characters encode85 makes of n bytes at most.
func size85(n int) int { return n/4*5 + 5 }

// encode85 writes five characters for four bytes. The last four are filled up with
// zeros, which pad keeps. zeros and blanks make one character of four of them.
func encode85(data, alphabet string, pad, zeros, blanks bool) []byte {
	out := make([]byte, 0, size85(len(data)))
	// Paid: by coded, a character each for the data and for what it makes.
	for len(data) > 0 {
		var word [4]byte
		n := copy(word[:], data)
		data = data[n:]
		v := binary.BigEndian.Uint32(word[:])
		switch {
		case zeros && v == 0 && (n == 4 || pad):
			out = append(out, 'z')
			continue
		case blanks && v == 0x20202020:
			out = append(out, 'y')
			continue
		}
		var five [5]byte
		// Bounded: by five digits.
		for i := 4; i >= 0; i-- {
			five[i] = alphabet[v%85]
			v /= 85
		}
		if pad {
			n = 4
		}
		out = append(out, five[:n+1]...)
	}
	return out
}

// decode85 reads base85. The last five characters are filled up with the greatest,
// and as many bytes taken away again.
func decode85(text string) ([]byte, error) {
	out := make([]byte, 0, len(text)/5*4+4)
	// Paid: by decoded, a character each for the text and for what it makes.
	for at := 0; at < len(text); at += 5 {
		var v uint64
		for i := range 5 {
			digit := byte(84)
			if at+i < len(text) {
				if digit = values85[text[at+i]]; digit == 0xff {
					return nil, errText("bad base85 character at position %d", at+i)
				}
			}
			v = v*85 + uint64(digit)
		}
		if v > 1<<32-1 {
			return nil, errText("base85 overflow in hunk starting at byte %d", at)
		}
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out[:len(out)-(5-len(text)%5)%5], nil
}

// sizeA85 is the most that a text of Ascii85 can hold: four bytes for five digits, or
// for one short form.
func sizeA85(text string) int {
	// Paid: by decoded, a character each for the text.
	return len(text)/5*4 + 4*(strings.Count(text, "z")+strings.Count(text, "y")) + 8
}

// decodeA85 reads Ascii85. skip says of a byte that is no digit whether it is passed
// over; its error ends the reading.
func decodeA85(text string, blanks bool, skip func(c byte) (bool, error)) ([]byte, error) {
	out := make([]byte, 0, sizeA85(text))
	var v uint64
	n := 0 // digits of the group that is under way
	// Paid: by decoded, a character each for the text and for what it makes.
	for i := range len(text) + 4 {
		c := byte('u') // which fill up the last group
		if i < len(text) {
			c = text[i]
		}
		switch {
		case '!' <= c && c <= 'u':
			v = v*85 + uint64(c-'!')
			if n++; n < 5 {
				continue
			}
			if v > 1<<32-1 {
				return nil, errText("Ascii85 overflow")
			}
			out = binary.BigEndian.AppendUint32(out, uint32(v))
			v, n = 0, 0
		case c == 'z' && n > 0:
			return nil, errText("z inside Ascii85 5-tuple")
		case c == 'z':
			out = append(out, 0, 0, 0, 0)
		case blanks && c == 'y' && n > 0:
			return nil, errText("y inside Ascii85 5-tuple")
		case blanks && c == 'y':
			out = append(out, "    "...)
		default:
			if ok, err := skip(c); err != nil || ok {
				if err != nil {
					return nil, err
				}
				continue
			}
			return nil, errText("Non-Ascii85 digit found: %s", string(rune(c)))
		}
	}
	return out[:len(out)-min(4-n, len(out))], nil
}
