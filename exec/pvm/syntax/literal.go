package syntax

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// numberLiteral returns the value of a number token.
func (p *parser) numberLiteral(t token) Expr {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	text := strings.ReplaceAll(p.text(t), "_", "")
	if len(text) > 2 && text[0] == '0' {
		switch text[1] | 0x20 {
		case 'x':
			return p.constant(t.pos, Constant{Kind: ConstInt, Int: powerOfTwoInt(text[2:], 4)})
		case 'o':
			return p.constant(t.pos, Constant{Kind: ConstInt, Int: powerOfTwoInt(text[2:], 3)})
		case 'b':
			return p.constant(t.pos, Constant{Kind: ConstInt, Int: powerOfTwoInt(text[2:], 1)})
		}
	}
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if strings.ContainsAny(text, ".eE") {
		return p.floatLiteral(t, text)
	}
	if len(text) > p.lim.IntDigits {
		panic(limitf(t.pos, "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use hexadecimal for huge integer literals", p.lim.IntDigits, len(text)))
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		p.failf(t.pos, "invalid decimal literal")
	}
	return p.constant(t.pos, Constant{Kind: ConstInt, Int: n})
}

// hardTokens are the tokens that a float costs besides its own where long division decides
// which value is nearest, as for 1e23 and 5e-324 but also for 1.5: it takes as long as they do.
const hardTokens = 2

// floatLiteral returns the value of a token that is a float, whose digits are text. They are
// read here and nowhere else: who needs the value finds it in the tree.
func (p *parser) floatLiteral(t token, text string) Expr {
	n, ok := softfloat.Scan(text)
	if !ok {
		p.failf(t.pos, "invalid decimal literal")
	}
	if n.Hard() {
		if p.budget < hardTokens {
			panic(limitf(t.pos, "too many tokens: at most %d", p.lim.Tokens))
		}
		p.budget -= hardTokens
	}
	return p.constant(t.pos, Constant{Kind: ConstFloat, Text: text, Bits: n.Value()})
}

// powerOfTwoInt reads digits of the given width in bits, in linear time:
// big.Int.SetString is quadratic, and these literals have no limit of their own.
func powerOfTwoInt(digits string, width int) *big.Int {
	size := (len(digits)*width + 7) / 8
	buf := make([]byte, size+1)
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for i := range len(digits) {
		c := digits[len(digits)-1-i]
		v := c & 15
		if c > '9' {
			v += 9
		}
		bit := i * width
		at := len(buf) - 1 - bit/8
		wide := uint16(v) << (bit % 8)
		buf[at] |= byte(wide)
		if hi := byte(wide >> 8); hi != 0 {
			buf[at-1] |= hi
		}
	}
	return new(big.Int).SetBytes(buf)
}

// stringToken is one of the literals that stand side by side.
type stringToken struct {
	token
	bodyStart, bodyEnd      int // offsets of what is between the quotes
	raw, bytes, format, uni bool
}

func (p *parser) stringToken(t token) stringToken {
	s := stringToken{token: t, bodyStart: int(t.start)}
	// Bounded: by a prefix of two bytes.
	for ; ; s.bodyStart++ {
		switch p.src[s.bodyStart] | 0x20 {
		case 'r':
			s.raw = true
			continue
		case 'b':
			s.bytes = true
			continue
		case 'f':
			s.format = true
			continue
		case 'u':
			s.uni = true
			continue
		}
		break
	}
	quotes := 1
	// Bounded: by three bytes.
	if q := p.src[s.bodyStart : s.bodyStart+1]; int(t.end)-s.bodyStart >= 6 && strings.HasPrefix(p.src[s.bodyStart:t.end], q+q+q) {
		quotes = 3
	}
	s.bodyStart += quotes
	s.bodyEnd = int(t.end) - quotes
	return s
}

// strings joins adjacent literals into a constant or an f-string.
func (p *parser) strings() Expr {
	p.enter() // f-strings hold expressions
	defer p.leave()
	var all []stringToken
	format := false
	// Paid: by a token or more each round (ADR 59).
	for p.kind() == tokString {
		s := p.stringToken(p.advance())
		if len(all) > 0 && s.bytes != all[0].bytes {
			p.failf(all[0].pos, "cannot mix bytes and nonbytes literals")
		}
		format = format || s.format
		all = append(all, s)
	}
	j := &joiner{p: p, at: all[0].pos, uni: p.src[all[0].start] == 'u'}
	if all[0].bytes {
		// Paid: by the tokens of the literals, once each (ADR 59).
		for _, s := range all {
			j.text = p.appendBytes(j.text, s)
		}
		return p.constant(j.at, Constant{Kind: ConstBytes, Text: string(j.text)})
	}
	// Paid: by the tokens of the literals, once each (ADR 59).
	for _, s := range all {
		if s.format {
			j.formatted(s)
		} else {
			j.text = p.appendText(j.text, s.pos, p.src[s.bodyStart:s.bodyEnd], s.raw)
		}
	}
	if !format {
		return p.constant(j.at, Constant{Kind: ConstStr, Text: ucd.NFC(string(j.text)), U: j.uni})
	}
	j.flush()
	return &JoinedStr{Pos: j.at, Values: j.values}
}

func (p *parser) appendBytes(dst []byte, s stringToken) []byte {
	body := p.src[s.bodyStart:s.bodyEnd]
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for i := range len(body) {
		if body[i] >= utf8.RuneSelf {
			p.failf(s.pos, "bytes can only contain ASCII literal characters")
		}
	}
	if s.raw {
		return append(dst, body...)
	}
	return p.unescape(dst, s.pos, body, true)
}

func (p *parser) appendText(dst []byte, at Pos, body string, raw bool) []byte {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	if raw || strings.IndexByte(body, '\\') < 0 {
		return append(dst, body...)
	}
	return p.unescape(dst, at, body, false)
}

// unescape replaces the escapes of body. An escape that Python does not know
// stays as it stands.
func (p *parser) unescape(dst []byte, at Pos, body string, isBytes bool) []byte {
	// Paid: by the bytes of source it passes, once each, ten cycles a byte (ADR 59).
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 == len(body) {
			dst = append(dst, body[i])
			i++
			continue
		}
		c := body[i+1]
		i += 2
		switch {
		case c == '\n':
		case simpleEscape(c) != 0:
			dst = append(dst, simpleEscape(c))
		case '0' <= c && c <= '7':
			n, r := 1, rune(c-'0')
			// Bounded: by three digits.
			for ; n < 3 && i < len(body) && '0' <= body[i] && body[i] <= '7'; n++ {
				r = r*8 + rune(body[i]-'0')
				i++
			}
			dst = appendPoint(dst, r, isBytes)
		case c == 'x', !isBytes && (c == 'u' || c == 'U'):
			r, n := p.hexEscape(at, c, body[i:], isBytes)
			if !utf8.ValidRune(r) {
				panic(unsupportedf(at, "lone surrogates in text are not supported"))
			}
			dst = appendPoint(dst, r, isBytes)
			i += n
		case c == 'N' && !isBytes:
			// Paid: by the bytes of the literal: what follows refuses it (ADR 59).
			if i >= len(body) || body[i] != '{' || strings.IndexByte(body[i:], '}') < 2 {
				p.failf(at, "(unicode error) 'unicodeescape' codec can't decode bytes: malformed \\N character escape")
			}
			panic(unsupportedf(at, "escapes by character name, \\N{...}, are not supported"))
		default:
			dst = append(dst, '\\', c)
		}
	}
	return dst
}

// simpleEscape returns what a backslash and c stand for, or 0.
func simpleEscape(c byte) byte {
	switch c {
	case '\\', '\'', '"':
		return c
	case 'a':
		return '\a'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	}
	return 0
}

func (p *parser) hexEscape(at Pos, c byte, rest string, isBytes bool) (rune, int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	var r rune
	// Bounded: by eight digits.
	for i := range digits {
		if i >= len(rest) || !isHexDigit(rest[i]) {
			if isBytes {
				p.failf(at, "(value error) invalid \\x escape")
			}
			p.failf(at, "(unicode error) 'unicodeescape' codec can't decode bytes: truncated \\%c escape", c)
		}
		v := rune(rest[i] & 15)
		if rest[i] > '9' {
			v += 9
		}
		if r = r<<4 | v; r > utf8.MaxRune {
			p.failf(at, "(unicode error) 'unicodeescape' codec can't decode bytes: illegal Unicode character")
		}
	}
	return r, digits
}

// appendPoint appends a byte, or a code point as UTF-8 writes it.
func appendPoint(dst []byte, r rune, isBytes bool) []byte {
	if isBytes {
		return append(dst, byte(r))
	}
	return utf8.AppendRune(dst, r)
}
