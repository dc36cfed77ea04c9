package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// growBytes is what a reader takes of memory for a body before any of it has come; each
// time that it is full, it takes as much again.
const growBytes = 4 << 10

// ReadFrame takes one frame off a stream, the control stream or a job's, and returns its type
// and its body. Length, type and the stream's kind are judged before memory is taken for the
// body, and the memory is never more than three times what has come. The error is
// [ErrFrameLength], [ErrFrameType], io.EOF before the first byte, io.ErrUnexpectedEOF within a
// frame, or the stream's.
func ReadFrame(r io.Reader, control bool) (FrameType, []byte, error) {
	var prefix [prefixBytes]byte
	if _, err := io.ReadFull(r, prefix[:4]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(prefix[:4])
	if n == 0 || n > MaxFrameBytes {
		return 0, nil, fmt.Errorf("%d bytes: %w, 1 to %d", n, ErrFrameLength, MaxFrameBytes)
	}
	if _, err := io.ReadFull(r, prefix[4:]); err != nil {
		return 0, nil, inFrame(err)
	}
	t := FrameType(prefix[4])
	if !t.Known() {
		return t, nil, fmt.Errorf("%w: 0x%02x", ErrFrameType, uint8(t))
	}
	if t.OnControl() != control {
		return t, nil, fmt.Errorf("%w here: %v", ErrFrameType, t)
	}
	if most := t.maxBytes(); int(n) > most {
		return t, nil, fmt.Errorf("%v of %d bytes: %w, at most %d", t, n, ErrFrameLength, most)
	}
	b, err := readBody(r, int(n)-1)
	return t, b, err
}

func readBody(r io.Reader, size int) ([]byte, error) {
	b := make([]byte, min(size, growBytes))
	for have := 0; ; {
		if _, err := io.ReadFull(r, b[have:]); err != nil {
			return nil, inFrame(err)
		}
		if len(b) == size {
			return b, nil
		}
		have = len(b)
		grown := make([]byte, min(size, 2*have))
		copy(grown, b)
		b = grown
	}
}

// inFrame is the error of a stream that has ended within a frame.
func inFrame(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
