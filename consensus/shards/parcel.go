package shards

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Parcel is one shard with all that is needed to check it against a digest:
//
//	u32 length of head ‖ head ‖ u32 body length ‖ tree ‖ u16 index ‖ u8 steps ‖ steps x 32 B ‖ shard
type Parcel struct {
	Head    []byte
	Opening Opening
	Shard   Shard
}

// parcelFixed is the length of what every parcel has.
const parcelFixed = 4 + 4 + len(chain.Hash{}) + 2 + 1

// Append writes p to dst.
func (p *Parcel) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(p.Head)))
	dst = append(dst, p.Head...)
	dst = binary.BigEndian.AppendUint32(dst, p.Opening.Length)
	dst = append(dst, p.Opening.Tree[:]...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Shard.Index))
	dst = append(dst, byte(len(p.Shard.Proof)))
	for _, h := range p.Shard.Proof {
		dst = append(dst, h[:]...)
	}
	return append(dst, p.Shard.Bytes...)
}

// Size is the length of the encoding.
func (p *Parcel) Size() int {
	return parcelFixed + len(p.Head) + len(p.Shard.Proof)*len(chain.Hash{}) + len(p.Shard.Bytes)
}

// DecodeParcel reads the whole of b. Head and shard share its memory. Nothing
// in it is checked against anything else.
func (c *Code) DecodeParcel(b []byte) (*Parcel, error) {
	if len(b) < parcelFixed {
		return nil, ErrParcel
	}
	n := binary.BigEndian.Uint32(b)
	if n > uint32(c.limits.HeadMax) {
		return nil, fmt.Errorf("%d bytes: %w", n, ErrHeadLength)
	}
	if len(b) < parcelFixed+int(n) {
		return nil, ErrParcel
	}
	p := &Parcel{Head: b[4 : 4+n : 4+n]}
	b = b[4+n:]
	p.Opening.Length = binary.BigEndian.Uint32(b)
	b = b[4+copy(p.Opening.Tree[:], b[4:]):]
	p.Shard.Index = int(binary.BigEndian.Uint16(b))
	steps := int(b[2])
	b = b[3:]
	if steps != c.depth {
		return nil, fmt.Errorf("%d steps, want %d: %w", steps, c.depth, ErrProof)
	}
	if len(b) < steps*len(chain.Hash{}) {
		return nil, ErrParcel
	}
	p.Shard.Proof = make([]chain.Hash, steps)
	for i := range p.Shard.Proof {
		b = b[copy(p.Shard.Proof[i][:], b):]
	}
	if len(b) > c.codec.Width(c.limits.BodyMax) {
		return nil, fmt.Errorf("%d bytes: %w", len(b), ErrWidth)
	}
	p.Shard.Bytes = b
	return p, nil
}

// Parcel returns the parcel of shard i.
func (w *Codeword) Parcel(head []byte, i int) *Parcel {
	return &Parcel{Head: head, Opening: w.Opening, Shard: w.Shard(i)}
}
