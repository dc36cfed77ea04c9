//spec:implements CIP-11 9.2
//spec:implements restored 9.1, 9.2, 9.3, 9.5

package chain

import (
	"cmp"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ErrSeedOrder means consumed seeds that are not strictly ascending by round.
var ErrSeedOrder = errors.New("consumed seeds are not strictly ascending by round")

// ConsumedSeed is a threshold seed that a pending selection of the block uses
// (CIP-11 §9.2).
type ConsumedSeed struct {
	Epoch     Epoch
	View      View
	Signature [SeedBytes]byte
}

// Compare orders seeds by round: epoch, then view.
func (s ConsumedSeed) Compare(t ConsumedSeed) int {
	return cmp.Or(cmp.Compare(s.Epoch, t.Epoch), cmp.Compare(s.View, t.View))
}

// smallestSeed is the least a seed takes encoded: an array head, two integers
// and a string of 48 bytes with its two-byte head.
const smallestSeed = 1 + 1 + 1 + 2 + SeedBytes

// EncodeConsumedSeeds returns ConsumedSeedsV1: a CBOR array of [epoch, view,
// signature], which must be strictly ascending. No seeds are the empty array.
func EncodeConsumedSeeds(seeds []ConsumedSeed) []byte {
	dst := cbor.AppendArray(make([]byte, 0, 3+len(seeds)*(smallestSeed+16)), len(seeds))
	for i := range seeds {
		dst = seeds[i].appendTo(dst)
	}
	return dst
}

// DecodeConsumedSeeds reads what EncodeConsumedSeeds writes and nothing else.
// It does not verify the signatures: they belong to rounds that only consensus
// can judge.
func DecodeConsumedSeeds(b []byte) ([]ConsumedSeed, error) {
	if len(b) > MaxConsumedSeedsBytes {
		return nil, &FieldError{Object: "ConsumedSeeds", Err: cbor.ErrTooLong}
	}
	r := cbor.NewReader(b)
	n, err := r.Array(len(b) / smallestSeed)
	if err != nil {
		return nil, &FieldError{Object: "ConsumedSeeds", Err: err}
	}
	seeds := make([]ConsumedSeed, n)
	for i := range seeds {
		if err := seeds[i].readFrom(&r); err != nil {
			return nil, err
		}
		if i > 0 && seeds[i-1].Compare(seeds[i]) >= 0 {
			return nil, &FieldError{Object: "ConsumedSeeds", Err: ErrSeedOrder}
		}
	}
	if err := r.End(); err != nil {
		return nil, &FieldError{Object: "ConsumedSeeds", Err: err}
	}
	return seeds, nil
}
