package chain

import (
	"bytes"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

//go:generate go run ./codecgen
//go:generate go run ./docgen

// Bounds of the encodings, checked before anything is allocated. They are
// consensus rules and not parameters: a decoder has no genesis at hand. The
// genesis may set lower ones.
const (
	MaxTxBytes       = 128 << 10 // canonical body without the length prefix (whitepaper §12.1)
	BodyFrameBytes   = 5         // most that a block spends on a body besides its bytes: the head of a byte string
	MaxBlockBytes    = 64 << 20  // encoded block; a validator's journal must take one in a record
	MaxAccessEntries = 256       // addresses in an access list
	MaxAccessKeys    = 1024      // storage keys in an access list, over all addresses

	MaxEvents     = 1024     // of one transaction; as many as it may send messages (whitepaper §3.3)
	MaxEventName  = 256      // bytes
	MaxEventBytes = 64 << 10 // data of one event

	MaxOutputBytes = 64 << 10 // of a handler's answer (whitepaper §7.1)
	MaxDeliveries  = 1024     // messages of one transaction (whitepaper §3.3)

	// MaxPresenceBytes fits a sparse PresenceInputV1 of 65,536 runners: version,
	// kind, count and four bytes each (CIP-11 §7.2).
	MaxPresenceBytes = 2 + 4 + 4*65_536
	// MaxConsumedSeedsBytes fits more than a thousand seeds (CIP-11 §9.2).
	MaxConsumedSeedsBytes = 64 << 10
	// HeaderFixedBytes fits a header without its two inputs, and the framing of
	// a block's parts.
	HeaderFixedBytes = 2 << 10
	// MaxHeaderBytes fits every header.
	MaxHeaderBytes = HeaderFixedBytes + MaxPresenceBytes + MaxConsumedSeedsBytes
)

// FieldError says which field of an encoded object broke its rules. Err is the
// rule, often a [*cbor.SyntaxError].
type FieldError struct {
	Object string // type whose encoding was read
	Field  string // field of it, empty when the object as a whole is wrong
	Err    error
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %v", e.Object, e.Err)
	}
	return fmt.Sprintf("%s.%s: %v", e.Object, e.Field, e.Err)
}

// Unwrap returns the broken rule.
func (e *FieldError) Unwrap() error { return e.Err }

// RangeError reports an integer outside what its field can hold.
type RangeError struct{ Value, Least, Most uint64 }

func (e *RangeError) Error() string {
	if e.Value < e.Least {
		return fmt.Sprintf("%d is below %d", e.Value, e.Least)
	}
	return fmt.Sprintf("%d is above %d", e.Value, e.Most)
}

// readUintTo reads an integer of at most most.
func readUintTo(r *cbor.Reader, most uint64) (uint64, error) { return ReadUint(r, 0, most) }

// ReadUint reads an integer of least to most, or else returns a [*RangeError] or a
// [*cbor.SyntaxError]. Codecs that codecgen writes in other packages read with it.
func ReadUint(r *cbor.Reader, least, most uint64) (uint64, error) {
	v, err := r.Uint()
	if err != nil {
		return 0, err
	}
	if v < least || v > most {
		return 0, &RangeError{Value: v, Least: least, Most: most}
	}
	return v, nil
}

// readable is a pointer to a type that codecgen knows.
type readable[T any] interface {
	*T
	readFrom(r *cbor.Reader) error
}

// decodeObject reads an object of at most most bytes that is all of b.
func decodeObject[T any, P readable[T]](b []byte, most int, object string) (P, error) {
	if len(b) > most {
		return nil, &FieldError{Object: object, Err: cbor.ErrTooLong}
	}
	x, r := P(new(T)), cbor.NewReader(b)
	if err := x.readFrom(&r); err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, &FieldError{Object: object, Err: err}
	}
	return x, nil
}

// ascending reports whether a list is in order and no item stands twice.
func ascending[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

func compareHashes(a, b Hash) int { return bytes.Compare(a[:], b[:]) }
