package p2p

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// frameHeaderBytes is the length prefix of a frame.
const frameHeaderBytes = 4

// frameBytesLimit bounds every class's frames: no chain has larger blocks.
const frameBytesLimit = 128 << 20

// growBytes is the memory taken for a frame before any of it has come; from
// there on it doubles, so that a peer pays with at least half of what it
// claims.
const growBytes = 64 << 10

// ErrFrame means a frame that is empty or longer than its class allows.
var ErrFrame = errors.New("frame length out of bounds")

// appendFrame writes the length and the payload.
func appendFrame(dst, payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(payload))), payload...)
}

// readFrame reads one frame of at most bytesMax bytes into memory of its own.
// begun is called once the length is known to be good.
func readFrame(r io.Reader, bytesMax int, begun func(size int)) ([]byte, error) {
	var head [frameHeaderBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || int64(n) > int64(bytesMax) {
		return nil, fmt.Errorf("%d bytes, at most %d: %w", n, bytesMax, ErrFrame)
	}
	size := int(n)
	begun(size)
	buf := make([]byte, min(size, growBytes))
	for have := 0; ; {
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if len(buf) == size {
			return buf, nil
		}
		have = len(buf)
		grown := make([]byte, min(size, 2*have))
		copy(grown, buf)
		buf = grown
	}
}
