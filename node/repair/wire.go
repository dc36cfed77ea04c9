package repair

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Tags of messages. They share a stream with those of state sync, and begin otherwise.
const (
	tagWant  = 'w' // id u64 ‖ height u64 ‖ digest of the block ‖ first part u32 ‖ end u32
	tagParts = 'p' // id u64 ‖ first part u32 ‖ (length u32 ‖ part)*
	tagNone  = 'x' // id u64: the block, or its first part, is not to be had here
)

// ErrMessage means bytes that are no message of this package. No honest peer sends them.
var ErrMessage = errors.New("malformed message about a damaged block")

// Is reports whether a message of the stream is of this package.
func Is(msg []byte) bool {
	return len(msg) > 0 && (msg[0] == tagWant || msg[0] == tagParts || msg[0] == tagNone)
}

type message interface{ append(dst []byte) []byte }

type (
	want struct {
		id         uint64
		height     chain.Height
		digest     chain.Hash
		first, end uint32 // parts, as the store numbers them
	}
	parts struct {
		id    uint64
		first uint32
		parts [][]byte
	}
	none struct{ id uint64 }
)

// partsMax bounds the parts of a message: each takes memory beside its bytes, which may
// be none.
const partsMax = 4096

const wantBytes = 1 + 8 + 8 + len(chain.Hash{}) + 4 + 4

func (m want) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagWant), m.id)
	dst = append(binary.BigEndian.AppendUint64(dst, uint64(m.height)), m.digest[:]...)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(dst, m.first), m.end)
}

func (m parts) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagParts), m.id)
	dst = binary.BigEndian.AppendUint32(dst, m.first)
	for _, p := range m.parts {
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(p))), p...)
	}
	return dst
}

func (m none) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tagNone), m.id)
}

// decode reads a message, which shares its bytes with b.
func decode(b []byte) (message, error) {
	if len(b) < 1+8 || !Is(b) {
		return nil, ErrMessage
	}
	tag, id, b := b[0], binary.BigEndian.Uint64(b[1:]), b[1+8:]
	switch {
	case tag == tagNone && len(b) == 0:
		return none{id}, nil
	case tag == tagWant && 1+8+len(b) == wantBytes:
		m := want{id: id, height: chain.Height(binary.BigEndian.Uint64(b)), digest: chain.Hash(b[8:][:len(chain.Hash{})])}
		b = b[8+len(m.digest):]
		m.first, m.end = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		if m.first >= m.end {
			return nil, ErrMessage
		}
		return m, nil
	case tag == tagParts && len(b) >= 4:
		m := parts{id: id, first: binary.BigEndian.Uint32(b)}
		for b = b[4:]; len(b) > 0; {
			if len(m.parts) == partsMax || len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
				return nil, ErrMessage
			}
			n := int(binary.BigEndian.Uint32(b))
			m.parts, b = append(m.parts, b[4:4+n:4+n]), b[4+n:]
		}
		if len(m.parts) == 0 {
			return nil, ErrMessage
		}
		return m, nil
	}
	return nil, ErrMessage
}
