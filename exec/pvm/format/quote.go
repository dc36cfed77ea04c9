package format

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// QuoteBound bounds what AppendRepr, AppendASCII and AppendBytesRepr append for
// a text, which is valid UTF-8, or bytes of the length, all in bytes.
func QuoteBound(length int) int64 { return 4*int64(length) + 3 }

// quoteFor picks the quote: the single one, unless the text has it and not the
// double one.
func quoteFor(text string) byte {
	// Paid: by the callers (textRepr, float(), the writer of constants), a character each before.
	if strings.IndexByte(text, '\'') >= 0 && strings.IndexByte(text, '"') < 0 {
		return '"'
	}
	return '\''
}

// AppendRepr appends repr(text).
func AppendRepr(dst []byte, text string) []byte { return appendQuoted(dst, text, false) }

// AppendASCII appends ascii(text).
func AppendASCII(dst []byte, text string) []byte { return appendQuoted(dst, text, true) }

func appendQuoted(dst []byte, text string, ascii bool) []byte {
	quote := quoteFor(text)
	dst = append(dst, quote)
	// Paid: likewise.
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			dst = appendByte(dst, byte(r), quote)
		case !ascii && ucd.IsPrintable(r):
			dst = utf8.AppendRune(dst, r)
		default:
			dst = appendEscape(dst, r)
		}
	}
	return append(dst, quote)
}

// AppendBytesRepr appends repr of bytes.
func AppendBytesRepr(dst []byte, text string) []byte {
	return appendBytesQuoted(dst, text, quoteFor(text))
}

func appendBytesQuoted(dst []byte, text string, quote byte) []byte {
	dst = append(dst, 'b', quote)
	// Paid: likewise.
	for i := range len(text) {
		if text[i] < utf8.RuneSelf {
			dst = appendByte(dst, text[i], quote)
		} else {
			dst = appendEscape(dst, rune(text[i]))
		}
	}
	return append(dst, quote)
}

func appendByte(dst []byte, c, quote byte) []byte {
	switch {
	case c == quote || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c < ' ' || c == 0x7F:
		return appendEscape(dst, rune(c))
	}
	return append(dst, c)
}

func appendEscape(dst []byte, r rune) []byte {
	switch {
	case r <= 0xFF:
		dst = append(dst, `\x`...)
		return append(dst, hexDigits(uint64(r), 2)...)
	case r <= 0xFFFF:
		dst = append(dst, `\u`...)
		return append(dst, hexDigits(uint64(r), 4)...)
	}
	dst = append(dst, `\U`...)
	return append(dst, hexDigits(uint64(r), 8)...)
}
