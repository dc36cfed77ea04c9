package vm

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// The text of short strings is made in pieces of a larger one: what a program builds in a loop
// costs Go one allocation for many. A string that lives keeps its neighbours' text, which the
// cycles bound that every byte of text costs; long strings have no neighbours. The strings
// themselves are made one by one: they are larger than what they cost.
const (
	shortText  = 64  // bytes of text up to which a string is short
	textAtOnce = 512 // bytes
)

// newStr makes a string of valid UTF-8; it announces memory, and charges a text that is not
// short for being copied and read once.
// The empty string and those of one character in ASCII are made once.
func (m *Machine) newStr(s string) *Str {
	switch {
	case len(s) == 0:
		return m.shortStr(0, "")
	case len(s) == 1 && s[0] < utf8.RuneSelf:
		return m.shortStr(int(s[0])+1, s)
	}
	m.announceText(len(s))
	return plainStr(s)
}

// announceText announces a string of n bytes whose code points are to be counted. All text
// that is made passes here: what is not short costs more to make than the price of an
// instruction, or of a getter, has room for.
func (m *Machine) announceText(n int) {
	m.Alloc(strBytes + n)
	if n > shortText {
		m.ChargeEach(copyUnits(n, m), m.dyn.Char)
	}
}

// newStrOf is newStr of bytes that it copies.
func (m *Machine) newStrOf(p []byte) *Str {
	if len(p) <= 1 {
		return m.newStr(string(p))
	}
	m.announceText(len(p))
	s := m.copyText(p)
	return plainStr(s)
}

// copyText is string(p), in room that short texts share.
func (m *Machine) copyText(p []byte) string {
	if len(p) > shortText {
		return string(p)
	}
	b := m.textRoom(len(p))
	at := b.Len()
	b.Write(p)
	return b.String()[at:]
}

// concat is x + y, in room that short texts share.
func (m *Machine) concat(x, y string) string {
	if len(x)+len(y) > shortText {
		return x + y
	}
	b := m.textRoom(len(x) + len(y))
	at := b.Len()
	b.WriteString(x)
	b.WriteString(y)
	return b.String()[at:]
}

// textRoom is a builder with room for n bytes more, n at most shortText. What was
// built before stays as it is.
func (m *Machine) textRoom(n int) *strings.Builder {
	if m.text.Cap()-m.text.Len() < n {
		m.text.Reset()
		m.text.Grow(textAtOnce)
	}
	return &m.text
}

func (m *Machine) shortStr(i int, s string) *Str {
	if m.chars == nil {
		m.chars = new([utf8.RuneSelf + 1]*Str)
	}
	o := m.chars[i]
	if o == nil {
		o = plainStr(s)
		m.chars[i] = o
	}
	return o
}

// plainStr makes a string without announcing memory.
func plainStr(s string) *Str { return fillStr(new(Str), nil, s, ucd.CountPoints(s)) }

// madeText is the text that a getter makes anew each time: getters pay for no call.
func (m *Machine) madeText(s string) Value {
	m.Charge(m.dyn.NativeCall)
	return m.newStr(s).val()
}

// sameText makes a string of a class, nil: str, that has the text of another.
func (m *Machine) sameText(class *Class, s *Str) *Str {
	if class == nil && len(s.s) <= 1 {
		return m.newStr(s.s)
	}
	m.announceText(len(s.s))
	return fillStr(new(Str), class, s.s, s.points())
}

func fillStr(o *Str, class *Class, s string, runes int) *Str {
	o.s, o.runes = s, uint32(runes)
	if runes == len(s) {
		o.nfc = 1
	}
	o.head(KindStr, class, o)
	return o
}
