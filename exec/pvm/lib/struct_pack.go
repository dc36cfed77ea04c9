package lib

import (
	"encoding/binary"
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// put writes n in the order of the layout.
func (l *layout) put(dst []byte, n uint64) {
	var b [8]byte
	if l.big {
		binary.BigEndian.PutUint64(b[:], n)
		copy(dst, b[8-len(dst):])
		return
	}
	binary.LittleEndian.PutUint64(b[:], n)
	copy(dst, b[:])
}

// get reads a number in the order of the layout.
func (l *layout) get(src []byte) uint64 {
	var b [8]byte
	if l.big {
		copy(b[8-len(src):], src)
		return binary.BigEndian.Uint64(b[:])
	}
	copy(b[:], src)
	return binary.LittleEndian.Uint64(b[:])
}

// packInto writes the values, as many as the layout has, to dst, which is zero
// and of the layout's size. It may call Python code.
func (s *structModule) packInto(m *vm.Machine, l *layout, dst []byte, values []vm.Value) error {
	elements(m, len(values))
	m.ChargeWide(len(values), 2*m.Prices().Element)
	i := 0
	// Paid: by the elements above: a field has a value, or has no field here.
	for _, f := range l.fields {
		if f.code == 's' || f.code == 'p' {
			if err := s.packText(m, f, dst[f.offset:f.offset+f.count], values[i]); err != nil {
				return err
			}
			i++
			continue
		}
		// Paid: by the elements above, a value each.
		for k := range f.count {
			at := f.offset + k*f.size
			if err := s.packOne(m, l, f, dst[at:at+f.size], values[i]); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

func (s *structModule) packText(m *vm.Machine, f field, dst []byte, v vm.Value) error {
	b, ok := m.BytesText(v)
	if !ok {
		if f.code == 's' {
			return s.errorText(m, "argument for 's' must be a bytes object")
		}
		return s.errorText(m, "argument for 'p' must be a bytes object")
	}
	if f.code == 's' {
		copy(dst, b)
		return nil
	}
	if len(dst) > 0 {
		n := copy(dst[1:], b)
		dst[0] = byte(min(n, 255))
	}
	return nil
}

func (s *structModule) packOne(m *vm.Machine, l *layout, f field, dst []byte, v vm.Value) error {
	switch f.code {
	case 'c':
		if v.Kind() != vm.KindBytes || v.BytesLen() != 1 {
			return s.errorText(m, "char format requires a bytes object of length 1")
		}
		dst[0] = v.BytesPart(0, 1)[0]
	case '?':
		t, err := m.Truth(v)
		if err != nil {
			return err
		}
		if t {
			dst[0] = 1
		}
	case 'e', 'f', 'd':
		return s.packReal(m, l, f.code, dst, v)
	default:
		n, err := s.packInteger(m, l, f, v)
		if err != nil {
			return err
		}
		l.put(dst, n)
	}
	return nil
}

func (s *structModule) packReal(m *vm.Machine, l *layout, code byte, dst []byte, v vm.Value) error {
	x, err := real(m, v)
	if err != nil {
		if _, raised := err.(*vm.Raised); !raised {
			return err
		}
		return s.errorText(m, "required argument is not a float")
	}
	switch code {
	case 'd':
		l.put(dst, x)
	case 'f':
		enc, ok := softfloat.ToBinary32(x)
		if !ok && !l.native {
			return s.tooLarge(m, v, "f")
		}
		l.put(dst, uint64(enc))
	default:
		enc, ok := softfloat.ToBinary16(x)
		if !ok {
			return s.tooLarge(m, v, "e")
		}
		l.put(dst, uint64(enc))
	}
	return nil
}

// tooLarge refuses a number that a format of floats does not reach.
func (s *structModule) tooLarge(m *vm.Machine, v vm.Value, format string) error {
	if _, whole := v.BigInt(); whole {
		return s.errorText(m, "int too large to convert")
	}
	return m.Raise(m.Builtin("OverflowError"), "float too large to pack with %s format", format)
}

// packInteger returns v as the two's complement of its code.
func (s *structModule) packInteger(m *vm.Machine, l *layout, f field, v vm.Value) (uint64, error) {
	n, ok := v.BigInt()
	if !ok {
		if _, index := special(m, v, "__index__"); !index {
			return 0, s.errorText(m, "required argument is not an integer")
		}
		var err error
		if n, err = bigIndex(m, v); err != nil {
			return 0, err
		}
	}
	if f.code == 'P' {
		if n.IsInt64() {
			return uint64(n.Int64()), nil
		}
		if !n.IsUint64() {
			return 0, s.errorText(m, "int too large to convert")
		}
		return n.Uint64(), nil
	}
	if signedCode(f.code) || f.size < 4 && !(l.big && f.code == 'H') {
		return s.signed(m, l, f, n)
	}
	if !n.IsUint64() {
		if l.big && f.code == 'Q' {
			return 0, s.errorText(m, "int too large to convert")
		}
		return 0, s.errorText(m, "argument out of range")
	}
	u := n.Uint64()
	if f.size == 2 && u > 65535 {
		return 0, s.errorText(m, "'H' format requires 0 <= number <= 65535")
	}
	if f.size == 4 && u > 1<<32-1 {
		return 0, s.errorText(m, "'%c' format requires 0 <= number <= 4294967295", f.code)
	}
	return u, nil
}

func signedCode(c byte) bool { return c >= 'a' }

func (s *structModule) signed(m *vm.Machine, l *layout, f field, n *big.Int) (uint64, error) {
	if !n.IsInt64() {
		if l.big && f.code == 'q' {
			return 0, s.errorText(m, "int too large to convert")
		}
		return 0, s.errorText(m, "argument out of range")
	}
	i := n.Int64()
	switch f.code {
	case 'b':
		if i < -128 || i > 127 {
			return 0, s.errorText(m, "byte format requires -128 <= number <= 127")
		}
	case 'B':
		if i < 0 || i > 255 {
			return 0, s.errorText(m, "ubyte format requires 0 <= number <= 255")
		}
	case 'h':
		if l.big && (i < -32768 || i > 32767) {
			return 0, s.errorText(m, "'h' format requires -32768 <= number <= 32767")
		}
		if i < -32768 || i > 32767 {
			return 0, s.errorText(m, "short format requires -32768 <= number <= 32767")
		}
	case 'H':
		if i < 0 || i > 65535 {
			return 0, s.errorText(m, "ushort format requires 0 <= number <= 65535")
		}
	default:
		if f.size == 4 && (i < -1<<31 || i > 1<<31-1) {
			return 0, s.errorText(m, "'%c' format requires -2147483648 <= number <= 2147483647", f.code)
		}
	}
	return uint64(i), nil
}

// unpack reads the values from src, which has the layout's size. The caller has
// charged for the values.
func (l *layout) unpack(m *vm.Machine, src string) vm.Value {
	items := make([]vm.Value, 0, l.items)
	// Paid: by charged, an element for each value and a character for each byte.
	for _, f := range l.fields {
		if f.code == 's' || f.code == 'p' {
			b := src[f.offset : f.offset+f.count]
			if f.code == 'p' && len(b) > 0 {
				n := min(int(b[0]), len(b)-1)
				b = b[1 : 1+n]
			}
			items = append(items, m.NewBytes(b))
			continue
		}
		// Paid: likewise.
		for k := range f.count {
			at := f.offset + k*f.size
			items = append(items, l.unpackOne(m, f, src[at:at+f.size]))
		}
	}
	return m.NewTuple(items)
}

func (l *layout) unpackOne(m *vm.Machine, f field, b string) vm.Value {
	if f.code == 'c' {
		return m.NewBytes(b)
	}
	n := l.get([]byte(b))
	switch f.code {
	case '?':
		return vm.Bool(n != 0)
	case 'd':
		if softfloat.IsNaN(n) {
			n = softfloat.NaN
		}
		return vm.FloatBits(n)
	case 'f':
		return vm.FloatBits(softfloat.FromBinary32(uint32(n)))
	case 'e':
		return vm.FloatBits(softfloat.FromBinary16(uint16(n)))
	case 'P', 'N', 'Q', 'L', 'I', 'H', 'B':
		if n>>63 != 0 {
			return m.NewInt(new(big.Int).SetUint64(n))
		}
		return vm.SmallInt(int64(n))
	}
	shift := 64 - 8*f.size
	return vm.SmallInt(int64(n<<shift) >> shift)
}
