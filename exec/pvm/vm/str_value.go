package vm

// Text: str is valid UTF-8 with an index of code points beside it where it is not ASCII.
// text_*.go has the methods that str, bytes and bytearray share, str_*.go and bytes_*.go
// what each has alone.

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// strMark is how many code points are between two offsets of a string's index.
const strMark = 64

func (s *Str) val() Value { return Value{ref: &s.Object} }

// str returns a string, or one of a subclass.
func (v Value) str() (*Str, bool) {
	if v.ref == nil || v.ref.kind != KindStr {
		return nil, false
	}
	s, ok := v.ref.self.(*Str)
	return s, ok
}

func (s *Str) ascii() bool { return int(s.runes) == len(s.s) }

// points is the number of code points.
func (s *Str) points() int { return int(s.runes) }

// more is what few strings have.
func (s *Str) more() *strOther {
	if s.other == nil {
		s.other = new(strOther)
	}
	return s.other
}

// normal is nfcText, and pays where the form is yet to be found: of a text that is made
// for less than its length. Strings of the library are in NFC.
func (m *Machine) normal(s *Str) string {
	if s.nfc == 0 && !s.ascii() && s.mark < touched {
		m.chargeNFC(s.s)
	}
	return nfcText(s)
}

// chargeNFC pays for bringing a text into NFC.
func (m *Machine) chargeNFC(s string) {
	// Paid: by what made the text, once for each, and by the comparison, the key or the argument.
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x300 }) >= 0 { // below it everything is normal
		m.ChargeEach(2*len(s), m.dyn.Char)
	}
}

// NFC is a text in NFC, for natives that have paid for reading it: what is not plain costs
// two characters more for each byte.
func (m *Machine) NFC(s string) string {
	m.chargeNFC(s)
	return ucd.NFC(s)
}

// nfcText is the NFC form of the text, by which strings compare and hash. The
// string itself never changes.
func nfcText(s *Str) string {
	if s.nfc == 1 || s.ascii() {
		return s.s
	}
	if s.nfc == 0 {
		norm := ucd.NFC(s.s)
		if norm == s.s {
			s.nfc = 1
			return s.s
		}
		s.nfc = 2
		s.more().norm = norm
	}
	return s.other.norm
}

// offset is where code point i begins, 0 <= i <= length.
func (s *Str) offset(i int) int {
	if s.ascii() {
		return i
	}
	if i == s.points() {
		return len(s.s)
	}
	at := 0
	if i >= strMark {
		o := s.more()
		if o.marks == nil {
			o.marks = s.marks()
		}
		at = int(o.marks[i/strMark])
		i %= strMark
	}
	return at + ucd.PointOffset(s.s[at:], i)
}

// marks are the offsets of each 64th code point.
func (s *Str) marks() []uint32 {
	marks := make([]uint32, (s.points()+strMark-1)/strMark)
	at := 0
	// Paid: by what made the text, once for each.
	for i := range marks {
		marks[i] = uint32(at)
		at += ucd.PointOffset(s.s[at:], strMark)
	}
	return marks
}

// runeBytes is the length of a code point by its first byte.
func runeBytes(b byte) int {
	switch {
	case b < 0x80:
		return 1
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	}
	return 4
}

// position is the code point that begins at the offset.
func (s *Str) position(offset int) int {
	if s.ascii() {
		return offset
	}
	return ucd.CountPoints(s.s[:offset])
}

// sub is s[i:j] in code points, i <= j.
func (s *Str) sub(i, j int) string { return s.s[s.offset(i):s.offset(j)] }

// textHash is hash(v) of str and bytes: CPython's with the hash seed 0, under
// NFC.
func (m *Machine) textHash(v Value) (int64, bool) {
	if s, ok := v.str(); ok {
		m.ChargeEach(len(s.s), m.dyn.Char)
		return m.strDigest(s), true
	}
	if b, ok := v.Self().(*Bytes); ok {
		m.ChargeEach(len(b.b), m.dyn.Char)
		return hashBytes([]byte(b.b)), true
	}
	return 0, false
}

// strDigest is hash(s) without its charge.
func (m *Machine) strDigest(s *Str) int64 {
	if s.ascii() {
		return hashBytes([]byte(s.s))
	}
	return hashBytes(rawText(m.normal(s)))
}

// Self returns the struct of v's object, nil for values that have none.
func (v Value) Self() any {
	if v.ref == nil {
		return nil
	}
	return v.ref.self
}

// rawText is the text as CPython stores it: 1, 2 or 4 bytes for each code point.
func rawText(s string) []byte {
	var most rune
	n := 0
	// Paid: by who asks for the hash, by the length of the text (textHash, chargeKey, nameWork).
	for _, r := range s {
		most = max(most, r)
		n++
	}
	switch {
	case most < 0x80:
		return []byte(s)
	case most < 0x100:
		out := make([]byte, 0, n)
		// Paid: as above.
		for _, r := range s {
			out = append(out, byte(r))
		}
		return out
	case most < 0x10000:
		out := make([]byte, 0, 2*n)
		// Paid: as above.
		for _, r := range s {
			out = binary.LittleEndian.AppendUint16(out, uint16(r))
		}
		return out
	}
	out := make([]byte, 0, 4*n)
	// Paid: as above.
	for _, r := range s {
		out = binary.LittleEndian.AppendUint32(out, uint32(r))
	}
	return out
}

// hashBytes is SipHash-1-3 under the key zero, never -1.
func hashBytes(p []byte) int64 {
	if len(p) == 0 {
		return 0
	}
	v := [4]uint64{0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573}
	tail := uint64(len(p)) << 56
	// Paid: by who asks for the hash, by the length of the text (textHash, chargeKey, nameWork).
	for ; len(p) >= 8; p = p[8:] {
		w := binary.LittleEndian.Uint64(p)
		v[3] ^= w
		sipRound(&v)
		v[0] ^= w
	}
	// Bounded: by seven bytes.
	for i, b := range p {
		tail |= uint64(b) << (8 * i)
	}
	v[3] ^= tail
	sipRound(&v)
	v[0] ^= tail
	v[2] ^= 0xff
	for range 3 {
		sipRound(&v)
	}
	h := int64(v[0] ^ v[1] ^ v[2] ^ v[3])
	if h == -1 {
		return -2
	}
	return h
}

func sipRound(v *[4]uint64) {
	v[0] += v[1]
	v[2] += v[3]
	v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
	v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
	v[0] = bits.RotateLeft64(v[0], 32)
	v[2] += v[1]
	v[0] += v[3]
	v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
	v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
	v[2] = bits.RotateLeft64(v[2], 32)
}

// textRepr is repr(v) of str, bytes and bytearray.
func (m *Machine) textRepr(v Value) (*Str, bool) {
	if s, ok := v.str(); ok {
		m.ChargeEach(len(s.s), m.dyn.Char)
		m.Alloc(len(s.s))
		return m.newStr(string(format.AppendRepr(nil, s.s))), true
	}
	b, ok := m.bytesOf(v)
	if !ok {
		return nil, false
	}
	m.ChargeEach(len(b), m.dyn.Char)
	m.Alloc(len(b))
	text := string(format.AppendBytesRepr(nil, b))
	if v.ref.kind == KindByteArray {
		text = m.classOf(v).name + "(" + text + ")"
	}
	return m.newStr(text), true
}
