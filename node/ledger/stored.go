package ledger

import (
	"io"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// CheckCertificates holds the certificates of one block, as they are stored with it, to
// the block and to the group key, as [CertificateCheck] does for all. What does not hold
// is a [Verdict].
func CheckCertificates(sets *beacon.Sets, stored Chain, rec store.BlockRecord, weights io.Reader) error {
	c := CertificateCheck{Sets: sets, Source: stored, Weights: weights}
	if err := c.read(rec); err != nil {
		return err
	}
	return c.verifyPending()
}

// FitCertificates says the same as stored in a form that takes so many bytes, and is
// false where there is none: nodes differ in whether they had a block's own finalization,
// or a descendant's, when they stored it. The signatures themselves are the group's, of
// which each subject has one, whoever signed.
func FitCertificates(stored []byte, size int) ([]byte, bool) {
	if len(stored) == size {
		return stored, true
	}
	_, own, err := splitCertificates(stored)
	if err != nil {
		return nil, false
	}
	c, err := simplex.DecodeCertificate(own)
	switch {
	case err != nil || c.Kind != simplex.Finalize:
		return nil, false
	case len(own) == size:
		return own, true
	case 2*len(own) == size: // twice the same says no more, and is read as the one
		return append(append([]byte(nil), own...), own...), true
	}
	return nil, false
}
