//spec:implements CIP-11 7.2

package chain

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// Reasons for which bytes are no PresenceInputV1 (CIP-11 §7.2).
var (
	ErrPresenceVersion = errors.New("unknown version of presence input")
	ErrPresenceKind    = errors.New("unknown kind of presence input")
	ErrPresenceLength  = errors.New("presence input has the wrong length")
	ErrPresenceOrder   = errors.New("presence indices are not strictly ascending")
	ErrPresenceIndex   = errors.New("presence input names a runner beyond the registry")
)

const (
	presenceVersion = 0x01
	presenceBitmap  = 0x00
	presenceSparse  = 0x01
	presenceHead    = 2 // version and kind
)

// PresentSet is a set of indices into the Runner Registry as of the parent
// block (CIP-11 §7.2).
type PresentSet struct {
	registry int
	bitmap   []byte // bit j of byte i, least significant first, is index 8i+j
}

// NewPresentSet returns the empty set over a registry of the given size.
func NewPresentSet(registry int) *PresentSet {
	return &PresentSet{registry: registry, bitmap: make([]byte, (registry+7)/8)}
}

// Add puts index into the set. It must be below the size of the registry.
func (s *PresentSet) Add(index uint32) { s.bitmap[index/8] |= 1 << (index % 8) }

// Has reports whether index is in the set; nothing beyond the registry is.
func (s *PresentSet) Has(index uint32) bool {
	return uint64(index) < uint64(s.registry) && s.bitmap[index/8]>>(index%8)&1 == 1
}

// Count returns the number of runners in the set.
func (s *PresentSet) Count() int {
	n := 0
	for _, b := range s.bitmap {
		n += bits.OnesCount8(b)
	}
	return n
}

// Encode returns the set as PresenceInputV1 in the shorter of its two kinds; at
// equal length as a bitmap.
func (s *PresentSet) Encode() []byte {
	if 4+4*s.Count() < len(s.bitmap) {
		return s.encodeSparse()
	}
	return s.encodeBitmap()
}

func (s *PresentSet) encodeBitmap() []byte {
	return append([]byte{presenceVersion, presenceBitmap}, s.bitmap...)
}

func (s *PresentSet) encodeSparse() []byte {
	count := s.Count()
	dst := make([]byte, 0, presenceHead+4+4*count)
	dst = append(dst, presenceVersion, presenceSparse)
	dst = binary.BigEndian.AppendUint32(dst, uint32(count))
	for index := range uint32(s.registry) {
		if s.Has(index) {
			dst = binary.BigEndian.AppendUint32(dst, index)
		}
	}
	return dst
}

// DecodePresence reads a PresenceInputV1 of either kind over a registry of the
// given size (CIP-11 §7.2). It allocates one bit per registered runner and
// copies what it keeps. Absent input, which is no bytes at all, is
// ErrPresenceLength: the caller knows whether the block needs one.
func DecodePresence(b []byte, registry int) (*PresentSet, error) {
	if len(b) < presenceHead || len(b) > MaxPresenceBytes {
		return nil, ErrPresenceLength
	}
	if b[0] != presenceVersion {
		return nil, ErrPresenceVersion
	}
	body := b[presenceHead:]
	switch b[1] {
	case presenceBitmap:
		return decodeBitmap(body, registry)
	case presenceSparse:
		return decodeSparse(body, registry)
	default:
		return nil, ErrPresenceKind
	}
}

func decodeBitmap(body []byte, registry int) (*PresentSet, error) {
	if len(body) != (registry+7)/8 {
		return nil, ErrPresenceLength
	}
	if used := registry % 8; used != 0 && body[len(body)-1]>>used != 0 {
		return nil, ErrPresenceIndex
	}
	return &PresentSet{registry: registry, bitmap: slices.Clone(body)}, nil
}

func decodeSparse(body []byte, registry int) (*PresentSet, error) {
	if len(body) < 4 || uint64(len(body)) != 4+4*uint64(binary.BigEndian.Uint32(body)) {
		return nil, ErrPresenceLength
	}
	set := NewPresentSet(registry)
	next := uint64(0) // smallest index that may follow
	for rest := body[4:]; len(rest) > 0; rest = rest[4:] {
		index := binary.BigEndian.Uint32(rest)
		if uint64(index) < next {
			return nil, ErrPresenceOrder
		}
		if uint64(index) >= uint64(registry) {
			return nil, ErrPresenceIndex
		}
		set.Add(index)
		next = uint64(index) + 1
	}
	return set, nil
}
