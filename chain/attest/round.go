package attest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// RoundBytesMax bounds the encoding of a [Round]: two varints of a uint64.
const RoundBytesMax = 2 * binary.MaxVarintLen64

// ErrVarint means that a number is cut short, too large, or longer than it has
// to be. Two encodings of one number would be two signed messages.
var ErrVarint = errors.New("varint is not canonical")

// Round is the absolute position of a consensus attempt (CIP-11 §9.2). View 0
// of epoch 0 is genesis; voting starts in view 1.
type Round struct {
	Epoch chain.Epoch
	View  chain.View
}

// Append writes the signed form of the round to dst: two unsigned varints.
func (r Round) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.Epoch))
	return binary.AppendUvarint(dst, uint64(r.View))
}

// ReadRound decodes what [Round.Append] wrote and returns the bytes after it.
func ReadRound(b []byte) (Round, []byte, error) {
	epoch, b, err := ReadUvarint(b)
	if err != nil {
		return Round{}, nil, fmt.Errorf("epoch: %w", err)
	}
	view, b, err := ReadUvarint(b)
	if err != nil {
		return Round{}, nil, fmt.Errorf("view: %w", err)
	}
	return Round{Epoch: chain.Epoch(epoch), View: chain.View(view)}, b, nil
}

// ReadUvarint decodes one unsigned LEB128 number in its shortest form and
// returns the bytes after it.
func ReadUvarint(b []byte) (uint64, []byte, error) {
	x, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, nil, ErrVarint
	}
	return x, b[n:], nil
}
