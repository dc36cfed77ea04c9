package strictjson

import "encoding/binary"

// AppendCanonical appends bytes that are equal for equal values and no others (resolution
// 12.41): numbers by what they amount to, strings by their characters, arrays by their items
// in order, objects by their members in any order.
//
// A value is its kind, then, with lengths and counts in four bytes: the characters of a
// string; sign, exponent and digits of a number; items; names and members.
func (v Value) AppendCanonical(dst []byte, steps *Steps) ([]byte, error) {
	text := v.Text()
	if err := steps.Spend(1 + uint64(len(text))); err != nil {
		return dst, err
	}
	dst = append(dst, byte(v.node.kind))
	switch v.node.kind {
	case Number:
		var buf [MaxDigits]byte
		return decimalOf(text, buf[:]).appendCanonical(dst), nil
	case String:
		return appendText(dst, text), nil
	case Array, Object:
		return v.appendItems(dst, steps)
	}
	return dst, nil
}

// appendItems calls itself as deep as the text nests.
func (v Value) appendItems(dst []byte, steps *Steps) (_ []byte, err error) {
	dst = binary.BigEndian.AppendUint32(dst, uint32(v.Count()))
	// Paid: by spend, for each of them.
	for i := range v.Count() {
		item := v.Item(i)
		if v.node.kind == Object {
			name := item.Name()
			if err := steps.Spend(uint64(len(name))); err != nil {
				return dst, err
			}
			dst = appendText(dst, name)
		}
		if dst, err = item.AppendCanonical(dst, steps); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendText(dst, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(text))), text...)
}

func (d Decimal) appendCanonical(dst []byte) []byte {
	sign := byte(0)
	if d.Negative {
		sign = 1
	}
	dst = binary.BigEndian.AppendUint32(append(dst, sign), uint32(int32(d.Exponent)))
	return appendText(dst, d.Digits)
}
