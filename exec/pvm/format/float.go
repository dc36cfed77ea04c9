package format

import (
	"bytes"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// exactPrecision is where digits end: no binary64 has more than 767 significant
// digits or more than 1074 places, so what a larger precision adds is zeros.
const exactPrecision = 1100

// RealBound bounds what AppendReal appends, in bytes.
func (s *Spec) RealBound() int64 {
	digits := int64(330)
	if s.Group != 0 {
		digits += digits / 3
	}
	return s.bound(addSizes(digits, max(s.Precision, 6)))
}

// AppendReal appends a binary64 in a specification for a float.
func (s *Spec) AppendReal(dst []byte, x uint64) ([]byte, error) {
	if err := checkSize(s.RealBound()); err != nil {
		return dst, err
	}
	style := softfloat.Style{Verb: byte(s.Type), Alt: s.Alt, NoNegZero: s.NoNegZero}
	prec := s.Precision
	switch s.Type {
	case 0:
		style.Dot0 = true
		style.Verb = 'g'
		if prec < 0 {
			style.Verb = 'r'
		}
	case 'n':
		style.Verb = 'g'
	case '%':
		style.Verb = 'f'
		x = softfloat.Mul(x, softfloat.FromInt64(100))
	}
	if prec < 0 {
		prec = 6
	}
	text := appendStyled(nil, x, style, prec)
	if s.Type == '%' {
		text = append(text, '%')
	}
	n := number{}
	if text[0] == '-' {
		n.negative = true
		text = text[1:]
	}
	i := 0
	// Bounded: by the 309 digits of a float before its point; Values.Reserve or the caller of RealBound paid for 330.
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	n.digits, n.rest = text[:i], text[i:]
	return s.appendNumber(dst, n), nil
}

// appendStyled is softfloat.AppendText with a precision of any size.
func appendStyled(dst []byte, x uint64, style softfloat.Style, prec int64) []byte {
	start := len(dst)
	style.Prec = int(min(prec, exactPrecision))
	dst = softfloat.AppendText(dst, x, style)
	zeros := prec - exactPrecision
	verb := style.Verb | 0x20
	if zeros <= 0 || !softfloat.IsFinite(x) || verb == 'r' || verb == 'g' && !style.Alt {
		return dst
	}
	exponent := ""
	// Bounded: by exactPrecision and 330; the caller paid by RealBound.
	if i := bytes.IndexAny(dst[start:], "eE"); i >= 0 {
		exponent = string(dst[start+i:])
		dst = dst[:start+i]
	}
	// Paid: by the precision in RealBound, which callers reserve before.
	for range zeros {
		dst = append(dst, '0')
	}
	return append(dst, exponent...)
}
