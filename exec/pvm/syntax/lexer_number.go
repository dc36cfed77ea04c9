package syntax

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// number reads a numeric literal. What may follow it directly, as in 1if x, is
// what CPython 3.11 lets follow.
func (l *lexer) number() bool {
	start := l.at
	if l.src[start] == '0' {
		switch l.peek(1) | 0x20 {
		case 'x':
			return l.prefixed(start, "hexadecimal", isHexDigit)
		case 'o':
			return l.prefixed(start, "octal", func(c byte) bool { return '0' <= c && c <= '7' })
		case 'b':
			return l.prefixed(start, "binary", func(c byte) bool { return c == '0' || c == '1' })
		}
	}
	if l.src[l.at] != '.' && !l.digits() {
		return false
	}
	isFloat := false
	if l.peek(0) == '.' {
		l.at++
		isFloat = true
		if isDigit(l.peek(0)) && !l.digits() {
			return false
		}
	}
	if ok, exponent := l.exponent(); !ok {
		return false
	} else if exponent {
		isFloat = true
	}
	if l.peek(0)|0x20 == 'j' {
		l.at++
		return l.fail(unsupportedf(l.pos(start), "complex literals are not supported"))
	}
	if !isFloat {
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		if text := l.src[start:l.at]; text[0] == '0' && strings.Trim(text, "0_") != "" {
			return l.failf(l.pos(start), "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
		}
	}
	return l.numberEnd("decimal") && l.emit(tokNumber, start, l.pos(start))
}

// digits reads decimal digits with single underscores between them.
func (l *lexer) digits() bool {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for {
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		for isDigit(l.peek(0)) {
			l.at++
		}
		if l.peek(0) != '_' {
			return true
		}
		l.at++
		if !isDigit(l.peek(0)) {
			return l.failf(l.pos(l.at-1), "invalid decimal literal")
		}
	}
}

// exponent reads e+10. An e that no digits follow is no exponent: it may begin
// the keyword else.
func (l *lexer) exponent() (ok, found bool) {
	if l.peek(0)|0x20 != 'e' {
		return true, false
	}
	n := 1
	if c := l.peek(1); c == '+' || c == '-' {
		n = 2
		if !isDigit(l.peek(2)) {
			return l.failf(l.pos(l.at), "invalid decimal literal"), false
		}
	}
	if !isDigit(l.peek(n)) {
		return true, false
	}
	l.at += n
	return l.digits(), true
}

func (l *lexer) prefixed(start int, base string, isOfBase func(byte) bool) bool {
	l.at += 2
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for {
		if l.peek(0) == '_' {
			l.at++
		}
		c := l.peek(0)
		if !isOfBase(c) {
			if isDigit(c) {
				return l.failf(l.pos(l.at), "invalid digit '%c' in %s literal", c, base)
			}
			return l.failf(l.pos(l.at), "invalid %s literal", base)
		}
		// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
		for isOfBase(l.peek(0)) {
			l.at++
		}
		if l.peek(0) != '_' {
			break
		}
	}
	if c := l.peek(0); isDigit(c) {
		return l.failf(l.pos(l.at), "invalid digit '%c' in %s literal", c, base)
	}
	return l.numberEnd(base) && l.emit(tokNumber, start, l.pos(start))
}

// numberEnd refuses a name right behind a number, unless it begins like one of
// the keywords that may stand there.
func (l *lexer) numberEnd(base string) bool {
	rest := l.src[l.at:l.end]
	if rest == "" || rest[0] < 0x80 && !ucd.IsIdentContinue(rune(rest[0])) {
		return true
	}
	// Bounded: by eight words.
	for _, k := range []string{"and", "else", "for", "if", "in", "is", "or", "not"} {
		// Bounded: by four bytes.
		if strings.HasPrefix(rest, k) {
			return true
		}
	}
	return l.failf(l.pos(l.at), "invalid %s literal", base)
}
