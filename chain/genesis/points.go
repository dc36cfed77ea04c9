package genesis

import "github.com/cowboy-foundation/cowboy/chain"

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
	return chain.AppendHex(nil, p[:]), nil
}

func (p *point2) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = point2{}
		return nil
	}
	return chain.ParseHex(p[:], text)
}

func (p point1) MarshalText() ([]byte, error) { return chain.AppendHex(nil, p[:]), nil }

func (p *point1) UnmarshalText(text []byte) error { return chain.ParseHex(p[:], text) }
