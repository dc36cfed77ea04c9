package decimal

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Spec is Python's format specification for a Decimal, already taken apart: the
// parser is shared with the other numbers. The zero value formats as str does.
type Spec struct {
	Fill      rune // zero: a blank
	Align     byte // '<', '>', '=' or '^'; zero: '>'
	Sign      byte // '-', '+' or ' '; zero: '-'
	NoNegZero bool // z: minus zero is zero
	Alt       bool // #: the point stays
	ZeroPad   bool // 0 before the width
	Comma     bool // thousands
	Width     int
	HasPrec   bool
	Prec      int
	Type      byte // one of "eEfFgGn%"; zero: G
}

// ErrFormat: zero padding together with a fill or an alignment (ValueError).
var ErrFormat = errors.New("invalid format specifier")

// FormatLen is an upper bound on the bytes that Format writes, to be charged
// before: a fixed-point text is as long as the exponent is large.
func (d Decimal) FormatLen(s Spec) int64 {
	n := int64(d.Digits()) + int64(s.Prec) + 40
	// Bounded: by three characters.
	if d.kind == finite && strings.IndexByte("fF%", s.Type) >= 0 && s.Type != 0 {
		n += max(d.exp, 0)
		if !s.HasPrec {
			n += max(-d.exp, 0)
		}
	}
	return n + n/3 + int64(s.Width)*utf8.UTFMax
}

// Format is Python's format(d, spec), of limit bytes at most.
func (c Context) Format(d Decimal, s Spec, limit int) (string, error) {
	switch {
	case s.ZeroPad && (s.Fill != 0 || s.Align != 0) || s.Type == 'n' && s.Comma:
		return "", ErrFormat
	case d.FormatLen(s) > int64(limit):
		return "", ErrSize
	}
	// Bounded: by three characters.
	if s.HasPrec && s.Prec == 0 && strings.IndexByte("gGn", s.Type|btob(s.Type == 0, 'g')) >= 0 {
		s.Prec = 1
	}
	if s.Type == 'n' {
		s.Type = 'g'
	}
	neg := d.neg
	var whole, rest string
	if d.kind != finite {
		whole = d.CopyAbs().String()
		if s.Type == '%' {
			rest = "%"
		}
		return s.aligned(neg, whole+rest), nil
	}
	d = c.formatRounded(d, s)
	if d.IsZero() && s.NoNegZero {
		neg = false
	}
	whole, rest = s.number(d)
	width := 0
	if s.ZeroPad {
		width = s.Width - len(rest) - len(s.sign(neg))
	}
	return s.aligned(neg, s.grouped(whole, width)+rest), nil
}

func btob(is bool, b byte) byte {
	if is {
		return b
	}
	return 0
}

// FixedPoint says whether the text has no exponent, however large the number is.
func (s Spec) FixedPoint() bool { return s.fixedPoint() }

func (s Spec) fixedPoint() bool { return s.Type == 'f' || s.Type == 'F' || s.Type == '%' }

func (s Spec) scientific() bool { return s.Type == 'e' || s.Type == 'E' }

// formatRounded drops the digits that the precision leaves out.
func (c Context) formatRounded(d Decimal, s Spec) Decimal {
	if s.Type == '%' {
		d.exp += 2
	}
	switch {
	case !s.HasPrec:
	case s.fixedPoint():
		d = d.rescaled(-int64(s.Prec), c.Rounding)
	case s.scientific():
		d = d.significant(s.Prec+1, c.Rounding)
	case digits(d.coef) > s.Prec:
		d = d.significant(s.Prec, c.Rounding)
	}
	if d.IsZero() && d.exp > 0 && s.fixedPoint() {
		d.exp = 0
	}
	return d
}

// significant is d with n digits; a zero keeps its one.
func (d Decimal) significant(n int, r Rounding) Decimal {
	if d.coef.Sign() == 0 {
		return d
	}
	adjusted := d.Adjusted()
	rounded := d.rescaled(adjusted+1-int64(n), r)
	if rounded.Adjusted() != adjusted {
		rounded = rounded.rescaled(rounded.Adjusted()+1-int64(n), r)
	}
	return rounded
}

// number gives the digits before the point and all that follows them.
func (s Spec) number(d Decimal) (whole, rest string) {
	text := d.coef.String()
	left := d.exp + int64(len(text))
	place := int64(1)
	switch {
	case s.scientific():
		if d.IsZero() && s.HasPrec {
			place = 1 - int64(s.Prec)
		}
	case s.fixedPoint() || d.exp <= 0 && left > -6:
		place = left
	}
	switch {
	case place <= 0:
		// Paid: by the format method in lib, a character for each byte that FormatLen tells.
		whole, rest = "0", strings.Repeat("0", int(-place))+text
	case place >= int64(len(text)):
		// Paid: likewise.
		whole = text + strings.Repeat("0", int(place)-len(text))
	default:
		whole, rest = text[:place], text[place:]
	}
	if rest != "" || s.Alt {
		rest = "." + rest
	}
	if exp := left - place; exp != 0 || s.scientific() {
		mark := "E"
		if s.Type == 'e' || s.Type == 'g' {
			mark = "e"
		}
		if exp >= 0 {
			mark += "+"
		}
		rest += mark + strconv.FormatInt(exp, 10)
	}
	if s.Type == '%' {
		rest += "%"
	}
	return whole, rest
}

func (s Spec) sign(neg bool) string {
	switch {
	case neg:
		return "-"
	case s.Sign == '+' || s.Sign == ' ':
		return string(s.Sign)
	}
	return ""
}

// grouped pads with zeros to a width and puts in commas; a zero too many stands
// where the text would begin with a comma.
func (s Spec) grouped(whole string, width int) string {
	if !s.Comma {
		// Paid: by the width in FormatLen, which the format method in lib charges for.
		return strings.Repeat("0", max(0, width-len(whole))) + whole
	}
	var groups []string
	// Paid: likewise; each round writes three digits or fewer.
	for {
		n := min(max(len(whole), width, 1), 3)
		take := min(n, len(whole))
		// Bounded: by three digits.
		groups = append(groups, strings.Repeat("0", n-take)+whole[len(whole)-take:])
		whole = whole[:len(whole)-take]
		width -= n
		if whole == "" && width <= 0 {
			break
		}
		width--
	}
	var out strings.Builder
	// Paid: by the digits in FormatLen.
	for i := len(groups) - 1; i >= 0; i-- {
		out.WriteString(groups[i])
		if i > 0 {
			out.WriteByte(',')
		}
	}
	return out.String()
}

func (s Spec) aligned(neg bool, body string) string {
	sign, fill := s.sign(neg), " "
	if s.Fill != 0 {
		fill = string(s.Fill)
	}
	n := max(0, s.Width-len(sign)-len(body))
	switch s.Align {
	case '<':
		// Paid: by the width in FormatLen, which the format method in lib charges for.
		return sign + body + strings.Repeat(fill, n)
	case '=':
		// Paid: likewise.
		return sign + strings.Repeat(fill, n) + body
	case '^':
		// Paid: likewise.
		return strings.Repeat(fill, n/2) + sign + body + strings.Repeat(fill, n-n/2)
	}
	// Paid: likewise.
	return strings.Repeat(fill, n) + sign + body
}
