package cbor

import (
	"errors"
	"fmt"
)

// Reasons for which bytes are outside the profile. [Scan] and [Reader] return
// them inside a [*SyntaxError], which says where.
var (
	// ErrTruncated means the input ends inside an item, or claims more bytes
	// or items than it has left.
	ErrTruncated = errors.New("input ends inside an item")
	// ErrTrailing means bytes follow the one item that was expected.
	ErrTrailing = errors.New("bytes follow the item")
	// ErrReserved means the additional information 28-30, which RFC 8949 §3
	// leaves without meaning.
	ErrReserved = errors.New("reserved additional information")
	// ErrIndefinite means an indefinite length or a lone break code.
	ErrIndefinite = errors.New("indefinite length")
	// ErrNotShortest means an integer, length or count in a longer form than
	// it needs (RFC 8949 §4.2.1).
	ErrNotShortest = errors.New("not the shortest form")
	// ErrTag means a tagged item; the profile has none.
	ErrTag = errors.New("tagged item")
	// ErrSimple means a simple value other than false, true and null.
	ErrSimple = errors.New("simple value other than false, true and null")
	// ErrFloatWidth means a float of 16 or 32 bits.
	ErrFloatWidth = errors.New("float is not 64 bits wide")
	// ErrNotFinite means NaN or an infinity (resolution 11.45).
	ErrNotFinite = errors.New("float is not finite")
	// ErrUTF8 means a text string that is not valid UTF-8.
	ErrUTF8 = errors.New("text is not valid UTF-8")
	// ErrKeyOrder means a map key that sorts before its predecessor.
	ErrKeyOrder = errors.New("map keys are not in order")
	// ErrDuplicateKey means a map key that equals its predecessor.
	ErrDuplicateKey = errors.New("map key appears twice")
	// ErrMissingKey means that a map lacks the key that follows, or has it out of
	// its order.
	ErrMissingKey = errors.New("map key is missing or out of its order")
	// ErrUnknownKey means a map key beyond those that its place has.
	ErrUnknownKey = errors.New("map key of no meaning")
	// ErrJSONType means an item that no JSON has: a byte string, or a key that is no
	// text.
	ErrJSONType = errors.New("item is not a value of JSON")
	// ErrJSONNumber means a number of JSON that is not in its one form: a float where
	// an integer has the same value, or an integer below -2^63.
	ErrJSONNumber = errors.New("number is not in its one form")
	// ErrDepth means items nested deeper than the limit.
	ErrDepth = errors.New("nested too deep")
	// ErrTooManyItems means more items than the limit.
	ErrTooManyItems = errors.New("too many items")
	// ErrTooLong means an input or a string above the limit.
	ErrTooLong = errors.New("too long")
	// ErrWrongLength means a string or an array of another length than its
	// place requires.
	ErrWrongLength = errors.New("wrong length")
	// ErrWrongType means an item of another type than its place requires.
	ErrWrongType = errors.New("wrong type")
)

// SyntaxError says at which byte the input left the profile. Err is one of the
// reasons above.
type SyntaxError struct {
	Offset int // of the first byte of the offending item
	Err    error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("cbor at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the reason, for errors.Is.
func (e *SyntaxError) Unwrap() error { return e.Err }
