package cbor

import (
	"encoding/binary"
	"math"
)

// appendHead appends the shortest head of the major type with the argument.
func appendHead(dst []byte, major byte, arg uint64) []byte {
	m := major << 5
	switch {
	case arg < 24:
		return append(dst, m|byte(arg))
	case arg < 1<<8:
		return append(dst, m|24, byte(arg))
	case arg < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, m|25), uint16(arg))
	case arg < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, m|26), uint32(arg))
	default:
		return binary.BigEndian.AppendUint64(append(dst, m|27), arg)
	}
}

// HeadBytes returns how many bytes the shortest head with the argument takes: an
// unsigned integer itself, or what stands before a string or a list of that length.
func HeadBytes(arg uint64) int {
	switch {
	case arg < 24:
		return 1
	case arg < 1<<8:
		return 2
	case arg < 1<<16:
		return 3
	case arg < 1<<32:
		return 5
	default:
		return 9
	}
}

// AppendUint appends an unsigned integer.
func AppendUint(dst []byte, v uint64) []byte { return appendHead(dst, majorUint, v) }

// AppendInt appends an integer of either sign.
func AppendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return appendHead(dst, majorNint, uint64(-1-v))
	}
	return appendHead(dst, majorUint, uint64(v))
}

// AppendBytes appends a byte string. A nil slice is the empty string.
func AppendBytes(dst, v []byte) []byte {
	return append(appendHead(dst, majorBytes, uint64(len(v))), v...)
}

// AppendText appends a text string, which must be valid UTF-8.
func AppendText(dst []byte, v string) []byte {
	return append(appendHead(dst, majorText, uint64(len(v))), v...)
}

// AppendArray appends the head of an array; n items must follow.
func AppendArray(dst []byte, n int) []byte { return appendHead(dst, majorArray, uint64(n)) }

// AppendMap appends the head of a map; n keys with their values must follow,
// in ascending bytewise order of the encoded keys.
func AppendMap(dst []byte, n int) []byte { return appendHead(dst, majorMap, uint64(n)) }

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, byteTrue)
	}
	return append(dst, byteFalse)
}

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, byteNull) }

// AppendFloat appends a float, which must be finite.
func AppendFloat(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, byteFloat), math.Float64bits(v))
}
