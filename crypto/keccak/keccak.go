// Package keccak computes Keccak-256 with the original padding (0x01, not the
// 0x06 of SHA3-256): the protocol's hash for transactions, blocks, addresses
// and the state trie (whitepaper §2.1, resolution 11.12).
//
// Messages go in as byte slices and are only read; digests come out as arrays.
// Nothing here allocates. [Sum256] serves a single message, [Hasher] a message
// that arrives in pieces, [SumMany] a batch of any lengths, several messages at
// a time. They use the fastest kernels of the machine; a [Summer] uses those of
// the features that it is given.
package keccak

import (
	"encoding/binary"

	kernels "github.com/cowboy-foundation/cowboy/asm/keccak"
)

const (
	// Size is the length of a digest in bytes.
	Size = kernels.Size
	// rate is the number of bytes absorbed per permutation.
	rate = kernels.Rate
	// padFirst and padLast frame the padding of the original Keccak submission,
	// which has no domain bits before the first one.
	padFirst, padLast = 0x01, 0x80
)

// Sum256 returns the digest of the concatenation of parts.
func Sum256(parts ...[]byte) [Size]byte {
	if len(parts) == 1 {
		return kernels.Lone().SumOne(parts[0])
	}
	return sumParts(parts)
}

func sumParts(parts [][]byte) [Size]byte {
	h := Hasher{kernel: kernels.Lone()}
	for _, part := range parts {
		h.absorb(part)
	}
	return h.finish()
}

// Hasher digests a message that arrives in pieces. The zero value is ready; a
// copy continues independently of the original.
type Hasher struct {
	state  kernels.State
	kernel kernels.Kernel
	// tail holds the bytes absorbed since the last permutation; the first fill
	// of them count, and fill < rate between calls.
	tail [rate]byte
	fill int
}

// New returns a Hasher of the empty message.
func New() *Hasher { return &Hasher{kernel: kernels.Lone()} }

// Write appends p to the message. It always returns len(p) and no error.
func (h *Hasher) Write(p []byte) (int, error) {
	h.absorb(p)
	return len(p), nil
}

// Sum256 returns the digest of what was written so far and leaves the message
// open: later writes continue it.
func (h *Hasher) Sum256() [Size]byte {
	ended := *h
	return ended.finish()
}

// Reset starts a new, empty message.
func (h *Hasher) Reset() {
	h.state = kernels.State{}
	h.fill = 0
}

func (h *Hasher) absorb(p []byte) {
	if h.fill > 0 {
		n := copy(h.tail[h.fill:], p)
		h.fill += n
		p = p[n:]
		if h.fill < rate {
			return
		}
		h.absorbBlock(&h.tail)
		h.fill = 0
	}
	for len(p) >= rate {
		h.absorbBlock((*[rate]byte)(p))
		p = p[rate:]
	}
	h.fill = copy(h.tail[:], p)
}

// finish pads the message and squeezes the digest. The hasher is spent.
func (h *Hasher) finish() [Size]byte {
	clear(h.tail[h.fill:])
	h.tail[h.fill] = padFirst
	h.tail[rate-1] |= padLast // may be the same byte as padFirst
	h.absorbBlock(&h.tail)
	var digest [Size]byte
	for i := range Size / 8 {
		binary.LittleEndian.PutUint64(digest[8*i:], h.state[i])
	}
	return digest
}

func (h *Hasher) absorbBlock(block *[rate]byte) {
	for i := range rate / 8 {
		h.state[i] ^= binary.LittleEndian.Uint64(block[8*i:])
	}
	h.kernel.Permute(&h.state)
}
