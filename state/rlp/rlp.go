// Package rlp writes and strictly reads Ethereum's Recursive Length Prefix
// encoding (Ethereum yellow paper, appendix B), in which account leaves and
// trie nodes are kept so that existing Merkle-Patricia tooling reads them
// (resolution 11.32).
//
// An item is a byte string or a list of items. Every value has exactly one
// encoding, and the readers refuse all others: a single byte below 0x80 behind
// a prefix, a long form where the short one fits, a length with leading zeros,
// an integer with leading zeros. Readers return sub-slices of their input,
// allocate nothing and never read past it.
package rlp

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// The reasons for which an encoding is refused. All mean that the bytes were
// not written by an RLP encoder, or for another shape of value.
var (
	ErrTruncated    = errors.New("rlp: input ends inside an item")
	ErrTrailing     = errors.New("rlp: bytes after the last item")
	ErrNonCanonical = errors.New("rlp: not the shortest encoding")
	ErrKind         = errors.New("rlp: list where a string belongs, or the reverse")
	ErrIntRange     = errors.New("rlp: integer above 64 bits")
)

// Item kinds and the longest payload with a one-byte prefix.
const (
	stringPrefix = 0x80
	listPrefix   = 0xc0
	shortMax     = 55
)

// AppendString appends the encoding of the byte string s.
func AppendString(dst, s []byte) []byte {
	if len(s) == 1 && s[0] < stringPrefix {
		return append(dst, s[0])
	}
	return append(appendPrefix(dst, stringPrefix, len(s)), s...)
}

// AppendUint appends the encoding of v: its shortest big-endian bytes, so that
// zero is the empty string.
func AppendUint(dst []byte, v uint64) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	return AppendString(dst, b[bits.LeadingZeros64(v)/8:])
}

// AppendListHeader appends the prefix of a list whose items take payload bytes.
func AppendListHeader(dst []byte, payload int) []byte {
	return appendPrefix(dst, listPrefix, payload)
}

// StringLen is the number of bytes AppendString appends for s.
func StringLen(s []byte) int {
	if len(s) == 1 && s[0] < stringPrefix {
		return 1
	}
	return headerLen(len(s)) + len(s)
}

// ListLen is the size of a list whose items take payload bytes.
func ListLen(payload int) int { return headerLen(payload) + payload }

func headerLen(n int) int {
	if n <= shortMax {
		return 1
	}
	return 1 + (bits.Len(uint(n))+7)/8
}

func appendPrefix(dst []byte, kind byte, n int) []byte {
	if n <= shortMax {
		return append(dst, kind+byte(n))
	}
	size := (bits.Len(uint(n)) + 7) / 8
	dst = append(dst, kind+shortMax+byte(size))
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, byte(n>>(8*i)))
	}
	return dst
}

// Split takes the first item off b. It returns the item's payload, whether it
// is a list, and the bytes after it.
func Split(b []byte) (payload []byte, list bool, rest []byte, err error) {
	if len(b) == 0 {
		return nil, false, nil, ErrTruncated
	}
	first := b[0]
	if first < stringPrefix {
		return b[:1], false, b[1:], nil
	}
	kind := byte(stringPrefix)
	if first >= listPrefix {
		kind, list = listPrefix, true
	}
	n, body, err := readLength(b, kind)
	if err != nil {
		return nil, false, nil, err
	}
	if n > uint64(len(body)) {
		return nil, false, nil, ErrTruncated
	}
	payload, rest = body[:n], body[n:]
	if !list && n == 1 && payload[0] < stringPrefix {
		return nil, false, nil, ErrNonCanonical
	}
	return payload, list, rest, nil
}

// readLength returns the payload length that the prefix of b states, and the
// bytes behind the prefix.
func readLength(b []byte, kind byte) (uint64, []byte, error) {
	short := uint64(b[0] - kind)
	if short <= shortMax {
		return short, b[1:], nil
	}
	size := int(short - shortMax)
	if len(b) < 1+size {
		return 0, nil, ErrTruncated
	}
	n, err := bigEndian(b[1 : 1+size])
	if err != nil {
		return 0, nil, err
	}
	if n <= shortMax {
		return 0, nil, ErrNonCanonical
	}
	return n, b[1+size:], nil
}

// bigEndian reads up to eight bytes without leading zeros.
func bigEndian(b []byte) (uint64, error) {
	if len(b) > 8 {
		return 0, ErrIntRange
	}
	if len(b) > 0 && b[0] == 0 {
		return 0, ErrNonCanonical
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v, nil
}

// SplitString takes a byte string off b.
func SplitString(b []byte) (s, rest []byte, err error) {
	s, list, rest, err := Split(b)
	if err == nil && list {
		err = ErrKind
	}
	if err != nil {
		return nil, nil, err
	}
	return s, rest, nil
}

// SplitUint takes an integer of at most 64 bits off b.
func SplitUint(b []byte) (v uint64, rest []byte, err error) {
	s, rest, err := SplitString(b)
	if err != nil {
		return 0, nil, err
	}
	v, err = bigEndian(s)
	return v, rest, err
}

// List returns the payload of b, which must be one list and nothing more.
func List(b []byte) (payload []byte, err error) {
	payload, list, rest, err := Split(b)
	switch {
	case err != nil:
		return nil, err
	case !list:
		return nil, ErrKind
	case len(rest) != 0:
		return nil, ErrTrailing
	}
	return payload, nil
}
