// Package ceremony checks that the keys in a genesis belong together: the part
// of the check that needs curve arithmetic, kept out of package chain so that
// the vocabulary of the protocol stays free of it (resolutions 11.15, 11.42).
//
// In: a genesis that has passed [genesis.Genesis.Check]. Out: the first key that
// does not fit, by its place in the file. A node calls it once, when it first
// sees a genesis.
package ceremony

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// Reasons for which the keys do not belong together.
var (
	// ErrPossession means a validator's own key without proof that anyone
	// holds its secret; such a key could be made from others' to forge.
	ErrPossession = errors.New("proof of possession does not hold")
	// ErrShare means a public share that is not the polynomial's value for its
	// index: the validator's votes would not combine with the others'.
	ErrShare = errors.New("public share is not the polynomial's value for its index")
)

// Check parses every point of the genesis, and verifies each validator's proof
// of possession and public share.
func Check(g *genesis.Genesis) error {
	points := make([][]byte, len(g.Polynomial))
	for i := range g.Polynomial {
		points[i] = g.Polynomial[i][:]
	}
	polynomial, err := bls.ParsePolynomial(bytes.Join(points, nil))
	if err != nil {
		return fmt.Errorf("polynomial: %w", err)
	}
	for i := range g.Validators {
		v := &g.Validators[i]
		key, err := bls.ParsePublicKey(v.BLSKey[:])
		if err != nil {
			return fmt.Errorf("validators[%d].bls_key: %w", i, err)
		}
		if !key.VerifyPossession(v.BLSPossession) {
			return fmt.Errorf("validators[%d].bls_possession: %w", i, ErrPossession)
		}
		if polynomial.PublicShare(v.ShareIndex).Bytes() != v.PublicShare {
			return fmt.Errorf("validators[%d].public_share: %w", i, ErrShare)
		}
	}
	return nil
}
