package values

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// canonicalNaN is the one NaN (resolution 11.45).
const (
	canonicalNaN uint64 = 0x7ff8 << 48
	exponentBits uint64 = 0x7ff << 52
)

// Tags of CBOR that the profile knows.
const (
	tagPositive = 2   // bignum
	tagNegative = 3   // -1 - bignum
	tagObject   = 27  // [name, value]
	tagSet      = 258 // mathematical set
)

// Names under tag 27 of builtin values in the exact form. A class cannot be
// called so, as its name would have to begin with a colon.
const (
	exactTuple     = ":tuple"
	exactByteArray = ":bytearray"
	exactRange     = ":range"
	exactSet       = ":set"
	exactFrozenSet = ":frozenset"
	exactDict      = ":dict"
	exactRef       = ":ref" // the object of that number, in the order in which they end
)

// Profile bounds a conversion and says what it may hold.
type Profile struct {
	Bytes     int  // of the encoding
	Depth     int  // of containers and objects within each other
	Exact     bool // keep types and order, see the package comment
	Finite    bool // refuse NaN and infinities, as job specifications do (resolution 11.45)
	Normalize bool // text from outside the chain: put it into NFC instead of refusing another form
	NoObjects bool // refuse instances of classes, as what leaves the chain does

	Faults Faults      // what is raised
	Item   code.Cycles // charged for each item besides, where no call of the host is paid for
}

// Faults are the exception classes of a conversion; nil stands for TypeError where a
// type has no encoding, and for ValueError elsewhere. What the machine or a method of
// the program raises stays as it is.
type Faults struct {
	Type, Value          *vm.Class // of encoding
	Malformed, Truncated *vm.Class // of decoding
}

// DefaultProfile is the profile of storage and messages: 64 KiB, 64 levels.
func DefaultProfile() Profile { return Profile{Bytes: 64 << 10, Depth: 64} }

// ErrProfile is wrapped by every fault that Check finds.
var ErrProfile = errors.New("profile of values")

// Check finds limits that cannot be kept.
func (p Profile) Check() error {
	if p.Bytes < 1 || p.Bytes > 16<<20 {
		return fmt.Errorf("%w: %d bytes, want 1 to 16 MiB", ErrProfile, p.Bytes)
	}
	if p.Depth < 0 || p.Depth > 255 {
		return fmt.Errorf("%w: depth %d, want 0 to 255", ErrProfile, p.Depth)
	}
	return nil
}
