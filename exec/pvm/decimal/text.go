package decimal

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// Exponents of operands: those that CPython's decimal has on machines of 64 bits. A
// sum of three of them is within 64 bits.
const (
	MaxEmax  = 999_999_999_999_999_999
	MinEmin  = -MaxEmax
	MinEtiny = MinEmin - (MaxPrec - 1)
	MaxPrec  = 999_999_999_999_999_999
)

// exponentFar is where Parse puts the adjusted exponent of what is farther away: beyond
// what any context or operand has. So what it reads is written and read again as it is.
const exponentFar = 4_000_000_000_000_000_000

// Parse reads the specification's numeric strings: digits with a point and an
// exponent, inf, infinity, nan and snan with a payload, in any case. Underscores
// and blanks are the caller's. Nothing is rounded: what is to be an operand as it
// is must be Exact too. ok is false where Python raises.
func Parse(text string) (d Decimal, ok bool) {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		d.neg = text[0] == '-'
		text = text[1:]
	}
	d.coef = zero
	// Paid: by textWork in lib, a character each before.
	lower := strings.ToLower(text)
	switch {
	case lower == "inf" || lower == "infinity":
		d.kind = infinite
		return d, true
	// Bounded: by four characters.
	case strings.HasPrefix(lower, "snan"):
		d.kind = signaling
		return d.payload(lower[4:])
	// Bounded: by three characters.
	case strings.HasPrefix(lower, "nan"):
		d.kind = quiet
		return d.payload(lower[3:])
	}
	// Paid: by textWork in lib, a character each before.
	head, tail, hasExp := strings.Cut(lower, "e")
	if hasExp {
		e, err := strconv.ParseInt(tail, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return d, false
		}
		d.exp = min(max(e, -2*exponentFar), 2*exponentFar)
	}
	// Paid: likewise.
	whole, places, _ := strings.Cut(head, ".")
	if !allDigits(whole + places) {
		return d, false
	}
	d.exp -= int64(len(places))
	if d.coef, ok = new(big.Int).SetString(whole+places, 10); !ok {
		return d, false
	}
	if d.exp > exponentFar/2 || d.exp < -exponentFar/2 {
		adjusted := d.Adjusted()
		d.exp += min(max(adjusted, -exponentFar), exponentFar) - adjusted
	}
	return d, true
}

// Exact says whether d has a place in the widest context there is, as it stands:
// whether it can be an operand.
func (d Decimal) Exact() bool {
	switch {
	case d.kind != finite:
		return true
	case d.coef.Sign() == 0:
		return d.exp >= MinEtiny && d.exp <= MaxEmax
	}
	return d.exp >= MinEtiny && d.Adjusted() <= MaxEmax
}

func (d Decimal) payload(text string) (Decimal, bool) {
	if text == "" {
		return d, true
	}
	if !allDigits(text) {
		return d, false
	}
	d.coef, _ = new(big.Int).SetString(text, 10)
	return d, true
}

func allDigits(text string) bool {
	// Paid: likewise.
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// String is Python's str(d): to-scientific-string.
func (d Decimal) String() string { return d.text(false) }

// EngString is String with exponents that are multiples of three.
func (d Decimal) EngString() string { return d.text(true) }

func (d Decimal) text(engineering bool) string {
	sign := ""
	if d.neg {
		sign = "-"
	}
	text := d.coef.String()
	size := int64(len(text))
	switch d.kind {
	case infinite:
		return sign + "Infinity"
	case quiet, signaling:
		name := "NaN"
		if d.kind == signaling {
			name = "sNaN"
		}
		if d.coef.Sign() == 0 {
			text = ""
		}
		return sign + name + text
	}
	left := d.exp + size // digits before the point
	if d.exp <= 0 && left > -6 {
		return sign + pointed(text, left)
	}
	place := int64(1)
	if engineering {
		place = 1 + mod3(left-1)
		if d.coef.Sign() == 0 {
			place = mod3(left+1) - 1
		}
	}
	out := sign + pointed(text, place)
	switch exp := left - place; {
	case exp > 0:
		return out + "E+" + strconv.FormatInt(exp, 10)
	case exp < 0:
		return out + "E" + strconv.FormatInt(exp, 10)
	case !engineering:
		return out + "E+0"
	}
	return out
}

func mod3(n int64) int64 { return ((n % 3) + 3) % 3 }

// pointed is digits with a point after the first n, and the zeros it takes.
func pointed(text string, place int64) string {
	n := int(place)
	switch {
	case n <= 0:
		// Bounded: by six zeros: only exponents near the point are written so.
		return "0." + strings.Repeat("0", -n) + text
	case n >= len(text):
		// Bounded: by the two zeros that engineers' exponents take.
		return text + strings.Repeat("0", n-len(text))
	}
	return text[:n] + "." + text[n:]
}
