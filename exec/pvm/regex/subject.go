package regex

import "unicode/utf8"

// maxSubject is the longest subject in characters.
const maxSubject = 1 << 30

// Subject is what a pattern is run on. All positions in it count characters:
// code points of text, or bytes. It does not change: scans of one value share
// it, and so do programs that run one after the other.
type Subject struct {
	narrow []byte // bytes, or text of ASCII
	wide   []rune // other text
	text   bool
	n      int
}

// Text makes a subject of UTF-8 text. It copies: one byte a character for ASCII
// and four for other text, which [Subject.Bytes] counts.
func Text(s string) *Subject {
	// Paid: by subjectOf in lib, a character for 32 of ASCII or for each of other text.
	for i := range len(s) {
		if s[i] >= 0x80 {
			wide := make([]rune, 0, utf8.RuneCountInString(s))
			// Paid: by subjectOf in lib, a character each.
			for _, r := range s {
				wide = append(wide, r)
			}
			return &Subject{wide: wide, text: true, n: len(wide)}
		}
	}
	return &Subject{narrow: []byte(s), text: true, n: len(s)}
}

// Bytes makes a subject of bytes, which it keeps.
func Bytes(b []byte) *Subject { return &Subject{narrow: b, n: len(b)} }

// Len returns the number of characters.
func (s *Subject) Len() int { return s.n }

// IsText reports whether the subject is text.
func (s *Subject) IsText() bool { return s.text }

// Size returns the modelled bytes that the subject holds.
func (s *Subject) Size() int { return 64 + len(s.narrow) + 4*len(s.wide) }

// Slice returns the characters from i up to j as UTF-8, or as bytes.
func (s *Subject) Slice(i, j int) string {
	if s.wide != nil {
		return string(s.wide[i:j])
	}
	return string(s.narrow[i:j])
}
