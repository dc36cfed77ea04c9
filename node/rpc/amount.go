package rpc

import (
	"fmt"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Amount is money or a price in base units as JSON carries it: a decimal
// string when written; readers accept a JSON integer too (resolution 11.37).
type Amount string

// AmountOf returns w as JSON carries it.
func AmountOf(w chain.Wei) Amount { return Amount(strconv.FormatUint(uint64(w), 10)) }

// Wei returns the amount in base units. It fails for anything but a canonical
// decimal that fits 64 bits.
func (a Amount) Wei() (chain.Wei, error) {
	v, err := parseUint(string(a))
	if err != nil {
		return 0, fmt.Errorf("amount %q: %w", string(a), err)
	}
	return chain.Wei(v), nil
}

// UnmarshalJSON reads a decimal string or an unsigned integer.
func (a *Amount) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	if _, err := parseUint(text); err != nil {
		return fmt.Errorf("amount %.40q: %w", text, err)
	}
	*a = Amount(text)
	return nil
}
