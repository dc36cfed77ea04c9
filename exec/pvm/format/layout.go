package format

import (
	"slices"
	"unicode/utf8"
)

// number is a written number in the parts between which padding may go.
type number struct {
	negative bool
	prefix   string // 0x and the like
	digits   []byte // what is grouped
	rest     []byte // the point and what follows it, or all of inf and nan
}

// appendNumber lays n out.
func (s *Spec) appendNumber(dst []byte, n number) []byte {
	sign := ""
	switch {
	case n.negative:
		sign = "-"
	case s.Sign == '+':
		sign = "+"
	case s.Sign == ' ':
		sign = " "
	}
	fixed := int64(len(sign) + len(n.prefix) + utf8.RuneCount(n.rest))
	var least int64 // places that digits fill, with zeros if need be
	if s.Fill == '0' && s.Align == '=' {
		least = s.Width - fixed
	}
	places, separators := s.places(int64(len(n.digits)), least)
	var left, inside, right int64
	if pad := s.Width - fixed - places - separators; pad > 0 {
		switch s.Align {
		case '<':
			right = pad
		case '^':
			left = pad / 2
			right = pad - left
		case '=':
			inside = pad
		default:
			left = pad
		}
	}
	dst = appendFill(dst, s.Fill, left)
	dst = append(dst, sign...)
	dst = append(dst, n.prefix...)
	dst = appendFill(dst, s.Fill, inside)
	dst = s.appendGrouped(dst, n.digits, places)
	dst = append(dst, n.rest...)
	return appendFill(dst, s.Fill, right)
}

// groupSize is the digits between separators, 0 for none.
func (s *Spec) groupSize() int64 {
	switch {
	case s.Group == 0:
		return 0
	case s.Type == 'b' || s.Type == 'o' || s.Type == 'x' || s.Type == 'X':
		return 4
	}
	return 3
}

// places gives how many digits, zeros included, and separators write count
// digits in at least so many places. There is no leading separator, so that a
// place too many may come out.
func (s *Spec) places(count, least int64) (digits, separators int64) {
	if count == 0 {
		return 0, 0
	}
	group := s.groupSize()
	if group == 0 {
		return max(count, least), 0
	}
	digits = count
	// k digits take k+(k-1)/group places: the fewest that reach least.
	if least > 0 {
		digits = max(count, least/(group+1)*group+max(least%(group+1), 1))
	}
	return digits, (digits - 1) / group
}

// appendGrouped appends digits with zeros before them, places in all, and the
// separators.
func (s *Spec) appendGrouped(dst, digits []byte, places int64) []byte {
	group := s.groupSize()
	zeros := places - int64(len(digits))
	// Paid: by the width and digits in the bound that the caller reserved.
	for i := range places {
		if group > 0 && i > 0 && (places-i)%group == 0 {
			dst = append(dst, s.Group)
		}
		if i < zeros {
			dst = append(dst, '0')
		} else {
			dst = append(dst, digits[i-zeros])
		}
	}
	return dst
}

func appendFill(dst []byte, fill rune, count int64) []byte {
	if count <= 0 {
		return dst
	}
	// Paid: by the width in the bound that the caller reserved.
	dst = slices.Grow(dst, int(count)*max(utf8.RuneLen(fill), 1))
	// Paid: likewise.
	for range count {
		dst = utf8.AppendRune(dst, fill)
	}
	return dst
}

// bound is the size of content, at most so many bytes, in a field of the width,
// and of a zero more than asked for where digits are grouped.
func (s *Spec) bound(content int64) int64 {
	if s.Width > ssizeMax/utf8.UTFMax {
		return ssizeMax
	}
	return addSizes(content, max(s.Width, 0)*int64(utf8.RuneLen(s.Fill))+1)
}

// TextBound bounds what AppendText appends, in bytes.
func (s *Spec) TextBound(text string) int64 { return s.bound(int64(len(text))) }

// AppendText appends text in the specification: cut to the precision, padded to
// the width, both in code points.
func (s *Spec) AppendText(dst []byte, text string) ([]byte, error) {
	if err := checkSize(s.TextBound(text)); err != nil {
		return dst, err
	}
	text = cut(text, s.Precision)
	pad := max(s.Width-int64(utf8.RuneCountInString(text)), 0)
	left := int64(0)
	switch s.Align {
	case '>':
		left = pad
	case '^':
		left = pad / 2
	}
	dst = appendFill(dst, s.Fill, left)
	dst = append(dst, text...)
	return appendFill(dst, s.Fill, pad-left), nil
}

// cut returns the first n code points of text, all when n is negative.
func cut(text string, n int64) string {
	if n < 0 || n >= int64(len(text)) {
		return text
	}
	// Paid: by the bytes that are kept, which the caller reserves (TextBound, pad), or bounded by quotedMax.
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
