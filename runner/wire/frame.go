//spec:implements CIP-11 12.1
//spec:implements CIP-11 12.2
//spec:implements restored 4

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// FrameType is the byte that says what a frame is (CIP-11 §12.2).
type FrameType uint8

const (
	TypeHello           FrameType = 0x01
	TypeHelloAck        FrameType = 0x02
	TypePing            FrameType = 0x10
	TypePong            FrameType = 0x11
	TypeBackpressure    FrameType = 0x12
	TypeCapabilityDelta FrameType = 0x13
	TypeJobAssignment   FrameType = 0x20
	TypeJobAck          FrameType = 0x21
	TypeJobProgress     FrameType = 0x22
	TypeJobResult       FrameType = 0x23
	TypeJobCancel       FrameType = 0x24
	TypeJobResultCommit FrameType = 0x25
	TypeGoodbye         FrameType = 0xf0
)

// Bounds of a frame, in bytes of its length prefix: type and body.
const (
	MaxFrameBytes        = 2 << 20 // of any frame (CIP-11 §13)
	MaxControlFrameBytes = 16 << 10

	// What the longest specification and the longest transaction make, with all that stands
	// beside them: a frame that is longer cannot be one.
	maxAssignmentBytes  = chain.MaxJobBytes + 1<<10
	maxResultFrameBytes = maxWireTxBytes + 1<<10
)

// prefixBytes stand before the body: its length with the type in four, and the type.
const prefixBytes = 5

// Frame is one of the frames of this package, each a pointer to a struct.
type Frame interface {
	// Type is the byte of the frame on the wire.
	Type() FrameType
	fields(b *body)
}

// Refusals of frames. Each is a protocol error, which ends the connection
// (CIP-11 §12.1); a [*cbor.SyntaxError] beside them says what is wrong with a body.
var (
	// ErrFrameLength means a length of 0, or above the bound of the frame's type.
	ErrFrameLength = errors.New("frame length out of bounds")
	// ErrFrameType means a type that the link has not.
	ErrFrameType = errors.New("unknown frame type")
	// ErrFrameValue means a value outside of its field's: a byte that no enumeration
	// has, a key or signature of the wrong scheme, a share above 100.
	ErrFrameValue = errors.New("value out of the field's range")
)

// kinds are the frames of the link: how each begins empty, and its bound.
var kinds = map[FrameType]struct {
	name string
	make func() Frame
	max  int
}{
	TypeHello:           {"Hello", func() Frame { return new(Hello) }, MaxControlFrameBytes},
	TypeHelloAck:        {"HelloAck", func() Frame { return new(HelloAck) }, MaxControlFrameBytes},
	TypePing:            {"HeartbeatPing", func() Frame { return new(Ping) }, MaxControlFrameBytes},
	TypePong:            {"HeartbeatPong", func() Frame { return new(Pong) }, MaxControlFrameBytes},
	TypeBackpressure:    {"BackpressureSignal", func() Frame { return new(Backpressure) }, MaxControlFrameBytes},
	TypeCapabilityDelta: {"CapabilityDelta", func() Frame { return new(CapabilityDelta) }, MaxControlFrameBytes},
	TypeJobAssignment:   {"JobAssignment", func() Frame { return new(JobAssignment) }, maxAssignmentBytes},
	TypeJobAck:          {"JobAck", func() Frame { return new(JobAck) }, MaxControlFrameBytes},
	TypeJobProgress:     {"JobProgress", func() Frame { return new(JobProgress) }, MaxControlFrameBytes},
	TypeJobResult:       {"JobResult", func() Frame { return new(JobResult) }, maxResultFrameBytes},
	TypeJobCancel:       {"JobCancel", func() Frame { return new(JobCancel) }, MaxControlFrameBytes},
	TypeJobResultCommit: {"JobResultCommit", func() Frame { return new(JobResultCommit) }, maxResultFrameBytes},
	TypeGoodbye:         {"Goodbye", func() Frame { return new(Goodbye) }, MaxControlFrameBytes},
}

// Known reports whether the link has frames of the type.
func (t FrameType) Known() bool { _, ok := kinds[t]; return ok }

// String returns the name of CIP-11 §12.2, or the byte of an unknown type.
func (t FrameType) String() string {
	if k, ok := kinds[t]; ok {
		return k.name
	}
	return fmt.Sprintf("frame 0x%02x", uint8(t))
}

// OnControl reports whether frames of the type come on the control stream; those of jobs have
// streams of their own.
func (t FrameType) OnControl() bool { return t < TypeJobAssignment || t > TypeJobResultCommit }

// maxBytes bounds the length prefix of frames of the type; 0 for an unknown one.
func (t FrameType) maxBytes() int { return kinds[t].max }

// Append appends the frame with its length and type. The frame's texts and lists are within
// their bounds, which is the caller's matter; [Decode] refuses others.
func Append(dst []byte, f Frame) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(f.Type()))
	dst = appendBody(dst, f, "")
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-prefixBytes+1))
	return dst
}

// Decode reads the body of a frame of the type, whole. What it returns aliases data. The
// error is [ErrFrameType], [ErrFrameLength], or a [*BodyError].
func Decode(t FrameType, data []byte) (Frame, error) {
	k, ok := kinds[t]
	if !ok {
		return nil, fmt.Errorf("%w: 0x%02x", ErrFrameType, uint8(t))
	}
	if len(data)+1 > k.max {
		return nil, fmt.Errorf("%s of %d bytes: %w, at most %d", k.name, len(data)+1, ErrFrameLength, k.max)
	}
	f := k.make()
	b := body{in: cbor.NewReader(data), reading: true}
	b.walk(f)
	if b.err == nil {
		b.err = b.in.End()
	}
	if b.err != nil {
		return nil, &BodyError{Type: t, Field: b.name, Err: b.err}
	}
	return f, nil
}

// BodyError says which field of a frame is not of its schema.
type BodyError struct {
	Type  FrameType
	Field string // the last that was looked at
	Err   error  // [ErrFrameValue], or a [*cbor.SyntaxError]
}

func (e *BodyError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%v: %v", e.Type, e.Err)
	}
	return fmt.Sprintf("%v, field %s: %v", e.Type, e.Field, e.Err)
}

// Unwrap returns the reason, for errors.Is.
func (e *BodyError) Unwrap() error { return e.Err }
