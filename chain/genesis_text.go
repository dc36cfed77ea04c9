package chain

import (
	"encoding/hex"
	"encoding/json"
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
	return w.parse(b)
}

// parse reads decimal digits.
func (w *Wei) parse(digits []byte) error {
	const want = "an amount: decimal digits up to 18446744073709551615"
	if len(digits) > 1 && digits[0] == '0' {
		return textError(digits, want)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return textError(digits, want)
		}
	}
	v, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return textError(digits, want)
	}
	*w = Wei(v)
	return nil
}

// MarshalText writes 0x and lower-case hex digits.
func (h Hash) MarshalText() ([]byte, error) { return appendHex(nil, h[:]), nil }

// UnmarshalText accepts 0x and 64 hex digits.
func (h *Hash) UnmarshalText(text []byte) error { return parseHex(h[:], text) }

// MarshalText writes 0x and lower-case hex digits.
func (a Address) MarshalText() ([]byte, error) { return appendHex(nil, a[:]), nil }

// UnmarshalText accepts 0x and 40 hex digits.
func (a *Address) UnmarshalText(text []byte) error { return parseHex(a[:], text) }

// MarshalText writes 0x and lower-case hex digits.
func (k PeerKey) MarshalText() ([]byte, error) { return appendHex(nil, k[:]), nil }

// UnmarshalText accepts 0x and 64 hex digits.
func (k *PeerKey) UnmarshalText(text []byte) error { return parseHex(k[:], text) }

// point2 and point1 are compressed BLS12-381 points in JSON. An unset one, as
// in a template, is the empty text.
type (
	point2 [96]byte
	point1 [48]byte
)

func (p point2) MarshalText() ([]byte, error) {
	if p == (point2{}) {
		return []byte{}, nil
	}
	return appendHex(nil, p[:]), nil
}

func (p *point2) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = point2{}
		return nil
	}
	return parseHex(p[:], text)
}

func (p point1) MarshalText() ([]byte, error) { return appendHex(nil, p[:]), nil }

func (p *point1) UnmarshalText(text []byte) error { return parseHex(p[:], text) }

func appendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

func parseHex(dst, text []byte) error {
	if len(text) == 2+2*len(dst) && text[0] == '0' && text[1] == 'x' {
		if _, err := hex.Decode(dst, text[2:]); err == nil {
			return nil
		}
	}
	return textError(text, fmt.Sprintf("0x and %d hex digits", 2*len(dst)))
}

// laneSharesText is a [LaneShares] in JSON.
type laneSharesText struct {
	System uint64 `json:"system"`
	Timer  uint64 `json:"timer"`
	Runner uint64 `json:"runner"`
	User   uint64 `json:"user"`
}

// MarshalJSON writes one member per lane, by name.
func (s LaneShares) MarshalJSON() ([]byte, error) {
	return json.Marshal(laneSharesText{s[LaneSystem], s[LaneTimer], s[LaneRunner], s[LaneUser]})
}

// UnmarshalJSON reads what MarshalJSON writes. Lanes that are not named stay as
// they are, like the members of any object.
func (s *LaneShares) UnmarshalJSON(b []byte) error {
	t := laneSharesText{s[LaneSystem], s[LaneTimer], s[LaneRunner], s[LaneUser]}
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	*s = LaneShares{LaneSystem: t.System, LaneTimer: t.Timer, LaneRunner: t.Runner, LaneUser: t.User}
	return nil
}
