package ucd

import "unicode/utf8"

//go:generate bash -c "python3.11 properties.py > properties.go"

// Property is a set of the yes-or-no properties behind Python's str methods.
type Property uint16

// The properties, each named for the method that asks for it. A code point is
// alphanumeric when it has any of Alpha, Decimal, Digit and Numeric.
const (
	Alpha         Property = 1 << iota // a letter
	Decimal                            // a digit of a positional system
	Digit                              // a digit, superscripts included
	Numeric                            // a number of any kind
	Space                              // blank to split and strip
	Printable                          // shown by repr as it is
	Lower                              // Lowercase
	Upper                              // Uppercase
	Title                              // category Lt
	Cased                              // Lower, Upper or Title
	CaseIgnorable                      // what final sigma looks past
	hasSpecial                         // a full case mapping is several code points

	Alphanumeric = Alpha | Decimal | Digit | Numeric
)

// Category is a general category.
type Category uint8

// The general categories, in the order of their names but for Cn, which is
// zero.
const (
	Cn Category = iota
	Cc
	Cf
	Co
	Cs
	Ll
	Lm
	Lo
	Lt
	Lu
	Mc
	Me
	Mn
	Nd
	Nl
	No
	Pc
	Pd
	Pe
	Pf
	Pi
	Po
	Ps
	Sc
	Sk
	Sm
	So
	Zl
	Zp
	Zs
)

const categoryNames = "CnCcCfCoCsLlLmLoLtLuMcMeMnNdNlNoPcPdPePfPiPoPsScSkSmSoZlZpZs"

// String is the two letters of Unicode.
func (c Category) String() string {
	if int(c)*2 >= len(categoryNames) {
		return "Cn"
	}
	return categoryNames[2*c : 2*c+2]
}

// record is what is known of a code point: the mappings as differences.
type record struct {
	flags                     Property
	category                  Category
	decimal                   int8 // -1 for none
	lower, upper, title, fold rune
}

// special is the full mappings of a code point with hasSpecial.
type special struct {
	r                         rune
	lower, upper, title, fold string
}

// of returns the record of r; what is not Unicode is as unassigned.
func of(r rune) *record {
	if uint32(r) > utf8.MaxRune {
		r = utf8.MaxRune // a noncharacter
	}
	block := int(blockOf[r>>blockShift])
	return &records[recordOf[block<<blockShift|int(r)&(1<<blockShift-1)]]
}

// Has reports whether r has any of the properties.
func Has(r rune, any Property) bool { return of(r).flags&any != 0 }

// CategoryOf returns the general category of r.
func CategoryOf(r rune) Category { return of(r).category }

// DecimalValue returns the value of a digit that int and float read, or -1.
func DecimalValue(r rune) int { return int(of(r).decimal) }

// SimpleLower is the one code point that r maps to in lower case.
func SimpleLower(r rune) rune { return r + of(r).lower }

// SimpleUpper is the one code point that r maps to in upper case.
func SimpleUpper(r rune) rune { return r + of(r).upper }

// SimpleTitle is the one code point that r maps to at the head of a word.
func SimpleTitle(r rune) rune { return r + of(r).title }

// SimpleFold is the full case folding of r where that is one code point, and its
// lower case otherwise.
func SimpleFold(r rune) rune { return r + of(r).fold }

// IsPrintable reports whether repr shows r as it is.
func IsPrintable(r rune) bool {
	if r < 0x7F {
		return r >= ' '
	}
	return Has(r, Printable)
}

// IsSpace reports whether r is blank to str.split, str.strip and str.isspace.
func IsSpace(r rune) bool {
	if r < 0x80 {
		return r == ' ' || '\t' <= r && r <= '\r' || 0x1C <= r && r <= 0x1F
	}
	return Has(r, Space)
}

// IsLineBreak reports whether str.splitlines breaks at r.
func IsLineBreak(r rune) bool {
	return '\n' <= r && r <= '\r' || 0x1C <= r && r <= 0x1E || r == 0x85 || r == 0x2028 || r == 0x2029
}

// NextLine finds the first line of s, as str.splitlines does: line is its length
// in bytes and end that with the break, which may be the two bytes "\r\n". Both
// are len(s) when there is none.
func NextLine(s string) (line, end int) {
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = decodeRune(s[i:])
		}
		if !IsLineBreak(r) {
			i += n
			continue
		}
		if r == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			n = 2
		}
		return i, i + n
	}
	return len(s), len(s)
}

// All reports whether s is not empty and each of its code points has any of the
// properties: str.isalpha, isdecimal, isdigit, isnumeric, isalnum and isspace.
// (isprintable is true of the empty text besides.)
func All(s string, any Property) bool {
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = decodeRune(s[i:])
		}
		if !Has(r, any) {
			return false
		}
		i += n
	}
	return s != ""
}
