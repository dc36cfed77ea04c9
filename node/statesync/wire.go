package statesync

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
)

// Tags of messages.
const (
	tagInquiry = 'q' // who has what? nothing follows
	tagOffer   = 'o' // head of the newest checkpoint
	tagGet     = 'g' // id u64 ‖ digest of the checkpoint's block ‖ request
	tagChunk   = 'c' // id u64 ‖ chunk
	tagNone    = 'n' // id u64: that checkpoint is gone
)

// ErrMessage means bytes that are no message of this package. No honest peer
// sends them.
var ErrMessage = errors.New("malformed state sync message")

// ErrUnknown means a message that this version does not know; a newer one may.
var ErrUnknown = errors.New("state sync message of an unknown kind")

type message interface{ append(dst []byte) []byte }

type (
	inquiry struct{}
	offer   struct{ head []byte }
	get     struct {
		id      uint64
		digest  chain.Hash
		request checkpoint.Request
	}
	chunk struct {
		id      uint64
		payload []byte
	}
	none struct{ id uint64 }
)

func (inquiry) append(dst []byte) []byte { return append(dst, tagInquiry) }
func (m offer) append(dst []byte) []byte { return append(append(dst, tagOffer), m.head...) }
func (m get) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagGet), m.id)
	return m.request.Append(append(dst, m.digest[:]...))
}

func (m chunk) append(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(append(dst, tagChunk), m.id), m.payload...)
}

func (m none) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tagNone), m.id)
}

// decode reads a message, which shares its bytes with b.
func decode(b []byte) (message, error) {
	if len(b) == 0 {
		return nil, ErrMessage
	}
	tag, b := b[0], b[1:]
	switch tag {
	case tagInquiry, tagOffer, tagGet, tagChunk, tagNone:
	default:
		return nil, ErrUnknown
	}
	switch {
	case tag == tagInquiry && len(b) == 0:
		return inquiry{}, nil
	case tag == tagOffer && len(b) > 0:
		return offer{b}, nil
	case len(b) < 8:
		return nil, ErrMessage
	}
	id, b := binary.BigEndian.Uint64(b), b[8:]
	switch {
	case tag == tagNone && len(b) == 0:
		return none{id}, nil
	case tag == tagChunk && len(b) > 0:
		return chunk{id, b}, nil
	case tag == tagGet && len(b) == len(chain.Hash{})+checkpoint.RequestBytes:
		m := get{id: id, digest: chain.Hash(b[:len(chain.Hash{})])}
		var err error
		m.request, err = checkpoint.DecodeRequest(b[len(m.digest):])
		return m, err
	}
	return nil, ErrMessage
}

// isRequest reports whether a message is for a server.
func isRequest(m message) bool {
	switch m.(type) {
	case inquiry, get:
		return true
	}
	return false
}
