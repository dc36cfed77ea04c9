// Package erasure spreads a block over shards so that some of them give it
// back, and digests shards.
//
// A block goes in, shards of equal width come out, one for each validator; any
// [Codec.Data] of them give back the block and all other shards. What a block
// becomes is fixed to the byte, because validators commit to the digests of
// the shards: ADR 10 names the code. The digest of a shard is its SHA-256
// ([Digester]). Merkle trees, proofs and who sends what to whom are the
// business of consensus.
//
// Shards are outside input. Their number, width and contents are checked here;
// that they belong to one commitment is for the caller to check, by digesting
// the whole codeword that [Codec.Decode] returns: shards that were never a
// codeword give another one.
package erasure

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/reedsolomon"
)

const (
	// TotalMax is the most shards of a codeword: the field has 256 elements.
	TotalMax = 256
	// BlockMax is the longest block in bytes that Encode takes.
	BlockMax = 64 << 20
	// prefix is the length of a block before its bytes, big-endian.
	prefix = 4
)

// Errors of shards and blocks. None is a fault of this node.
var (
	ErrShape        = errors.New("erasure shape needs 1 <= data < total <= 256")
	ErrBlockLength  = errors.New("block is too long for shards")
	ErrShardCount   = errors.New("slice of shards has not one place per shard")
	ErrTooFewShards = errors.New("too few shards to decode")
	ErrShardWidth   = errors.New("shards differ in width or have none")
	ErrPadding      = errors.New("shards do not hold a block in its one form")
)

// Codec encodes blocks for one set of validators. It does not change and is
// safe for concurrent use; a call may use several cores and returns when all
// of its work is done.
type Codec struct {
	data, total int
	code        reedsolomon.Encoder
}

// New returns the codec with total shards of which any data suffice. One call
// splits its work into about workers parts; below 2 means 2, because the
// library takes its fastest kernels only when it may split.
func New(data, total, workers int) (*Codec, error) {
	if data < 1 || data >= total || total > TotalMax {
		return nil, fmt.Errorf("%d of %d: %w", data, total, ErrShape)
	}
	code, err := reedsolomon.New(data, total-data, reedsolomon.WithMaxGoroutines(max(2, workers)))
	if err != nil {
		return nil, fmt.Errorf("%d of %d: %w", data, total, err)
	}
	return &Codec{data: data, total: total, code: code}, nil
}

// Data is the number of shards that suffice.
func (c *Codec) Data() int { return c.data }

// Total is the number of shards.
func (c *Codec) Total() int { return c.total }

// Width is the length of each shard of a block of n bytes: the least that
// holds prefix and block.
func (c *Codec) Width(n int) int { return (prefix + n + c.data - 1) / c.data }

// Encode returns the shards of block. The first Data of them hold its length,
// its bytes and zeros up to the end; they do not share memory with it.
func (c *Codec) Encode(block []byte) ([][]byte, error) {
	if len(block) > BlockMax {
		return nil, fmt.Errorf("%d bytes: %w", len(block), ErrBlockLength)
	}
	width := c.Width(len(block))
	content := make([]byte, c.total*width)
	binary.BigEndian.PutUint32(content, uint32(len(block)))
	copy(content[prefix:], block)
	shards := split(content, width)
	if err := c.code.Encode(shards); err != nil {
		return nil, fmt.Errorf("encode shards: %w", err)
	}
	return shards, nil
}

// Decode returns the block of shards, which has a place for each shard, nil or
// empty for those that are missing, and the whole codeword: what Encode would
// return for the block. It uses the first Data shards present and looks at no
// others; it changes none. The block shares memory with the codeword.
func (c *Codec) Decode(shards [][]byte) (block []byte, codeword [][]byte, err error) {
	chosen, width, err := c.choose(shards)
	if err != nil {
		return nil, nil, err
	}
	content := make([]byte, c.total*width)
	codeword = split(content, width)
	for i := range c.data {
		if chosen[i] != nil {
			copy(codeword[i], chosen[i])
			chosen[i] = codeword[i]
		} else {
			chosen[i] = codeword[i][:0] // to be filled in place
		}
	}
	if err := c.code.ReconstructData(chosen); err != nil {
		return nil, nil, fmt.Errorf("reconstruct data shards: %w", err)
	}
	block, err = c.unpad(content[:c.data*width])
	if err != nil {
		return nil, nil, err
	}
	if err := c.code.Encode(codeword); err != nil {
		return nil, nil, fmt.Errorf("encode shards: %w", err)
	}
	return block, codeword, nil
}

// choose returns the first Data shards that are present, each in its place, and
// their width.
func (c *Codec) choose(shards [][]byte) ([][]byte, int, error) {
	if len(shards) != c.total {
		return nil, 0, fmt.Errorf("%d places for %d shards: %w", len(shards), c.total, ErrShardCount)
	}
	chosen, width, found := make([][]byte, c.total), 0, 0
	for i, s := range shards {
		if len(s) == 0 || found == c.data {
			continue
		}
		if found == 0 {
			width = len(s)
		}
		if len(s) != width || width > c.Width(BlockMax) {
			return nil, 0, fmt.Errorf("shard %d of %d bytes: %w", i, len(s), ErrShardWidth)
		}
		chosen[i] = s
		found++
	}
	if found < c.data {
		return nil, 0, fmt.Errorf("%d of %d: %w", found, c.data, ErrTooFewShards)
	}
	return chosen, width, nil
}

// unpad returns the block in content, if it is written in the one way that
// Encode has: least width, zeros behind.
func (c *Codec) unpad(content []byte) ([]byte, error) {
	if len(content) < prefix {
		return nil, ErrPadding
	}
	n := binary.BigEndian.Uint32(content)
	if n > BlockMax || c.Width(int(n))*c.data != len(content) {
		return nil, fmt.Errorf("length %d in shards of %d bytes: %w", n, len(content)/c.data, ErrPadding)
	}
	end := prefix + int(n)
	for _, b := range content[end:] {
		if b != 0 {
			return nil, fmt.Errorf("bytes behind the block: %w", ErrPadding)
		}
	}
	return content[prefix:end:end], nil
}

// split cuts content into shards, each closed against its successor.
func split(content []byte, width int) [][]byte {
	shards := make([][]byte, len(content)/width)
	for i := range shards {
		shards[i] = content[i*width : (i+1)*width : (i+1)*width]
	}
	return shards
}
