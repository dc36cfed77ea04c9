package checkpoint

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrEncoding means that bytes are not the encoding of what they claim to be.
var ErrEncoding = errors.New("malformed checkpoint bytes")

// reader takes fields off the front of b. After the first that is not there it
// only returns zeros, and end returns ErrEncoding.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) readHash() (h chain.Hash) {
	copy(h[:], r.take(len(h)))
	return h
}

// bytes reads a length and as many bytes, shared with the input.
func (r *reader) bytes() []byte {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	return r.take(int(n))
}

// count reads a number of items that take at least size bytes each: no more
// than can be there.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

// nodes reads a proof.
func (r *reader) nodes() [][]byte {
	n := r.count(4)
	if n == 0 {
		return nil
	}
	out := make([][]byte, n)
	for i := range out {
		out[i] = r.bytes()
	}
	return out
}

func (r *reader) end() error {
	if r.bad || len(r.b) != 0 {
		return ErrEncoding
	}
	return nil
}

func appendU32(dst []byte, n int) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }

func appendBytes(dst, b []byte) []byte { return append(appendU32(dst, len(b)), b...) }

func appendNodes(dst []byte, nodes [][]byte) []byte {
	dst = appendU32(dst, len(nodes))
	for _, n := range nodes {
		dst = appendBytes(dst, n)
	}
	return dst
}

func appendU64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }
