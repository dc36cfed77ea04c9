package chain

import (
	"encoding/hex"
	"fmt"
	"strconv"
)

// TextError reports a JSON text that is no value of its type.
type TextError struct {
	Text string // as it stood, shortened
	Want string
}

func (e *TextError) Error() string { return fmt.Sprintf("%q is not %s", e.Text, e.Want) }

// textErrorMax bounds how much of a bad text an error repeats.
const textErrorMax = 200

func textError(text []byte, want string) error {
	return &TextError{Text: string(text[:min(len(text), textErrorMax)]), Want: want}
}

// MarshalJSON writes the amount as a decimal string: balances exceed the
// integers that JSON readers hold exactly (resolution 11.37).
func (w Wei) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 22), '"')
	b = strconv.AppendUint(b, uint64(w), 10)
	return append(b, '"'), nil
}

// UnmarshalJSON accepts a decimal string or a number, without sign, fraction,
// exponent or leading zeros.
func (w *Wei) UnmarshalJSON(b []byte) error {
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		b = b[1 : len(b)-1]
	}
	v, err := ParseWei(b)
	if err == nil {
		*w = v
	}
	return err
}

// ParseWei reads decimal digits.
func ParseWei(digits []byte) (Wei, error) {
	const want = "an amount: decimal digits up to 18446744073709551615"
	if len(digits) > 1 && digits[0] == '0' {
		return 0, textError(digits, want)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, textError(digits, want)
		}
	}
	v, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0, textError(digits, want)
	}
	return Wei(v), nil
}

// MarshalText writes 0x and lower-case hex digits.
func (h Hash) MarshalText() ([]byte, error) { return AppendHex(nil, h[:]), nil }

// UnmarshalText accepts 0x and 64 hex digits.
func (h *Hash) UnmarshalText(text []byte) error { return ParseHex(h[:], text) }

// MarshalText writes 0x and lower-case hex digits.
func (a Address) MarshalText() ([]byte, error) { return AppendHex(nil, a[:]), nil }

// UnmarshalText accepts 0x and 40 hex digits.
func (a *Address) UnmarshalText(text []byte) error { return ParseHex(a[:], text) }

// MarshalText writes 0x and lower-case hex digits.
func (k PeerKey) MarshalText() ([]byte, error) { return AppendHex(nil, k[:]), nil }

// UnmarshalText accepts 0x and 64 hex digits.
func (k *PeerKey) UnmarshalText(text []byte) error { return ParseHex(k[:], text) }

// AppendHex appends 0x and lower-case hex digits.
func AppendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

// ParseHex reads 0x and exactly the hex digits that fill dst. The error is a
// [*TextError].
func ParseHex(dst, text []byte) error {
	if len(text) == 2+2*len(dst) && text[0] == '0' && text[1] == 'x' {
		if _, err := hex.Decode(dst, text[2:]); err == nil {
			return nil
		}
	}
	return textError(text, fmt.Sprintf("0x and %d hex digits", 2*len(dst)))
}
