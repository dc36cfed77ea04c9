package simplex

import (
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Epochs verifies certificates of all epochs of a chain, each under the key of its
// round's. It makes no votes, and is safe for concurrent use.
type Epochs struct{ schemes []*Threshold } // by epoch

// NewEpochs returns the verifier of a chain.
func NewEpochs(s *epoch.Schedule, weights io.Reader) (*Epochs, error) {
	sets, err := beacon.NewSets(s)
	if err != nil {
		return nil, err
	}
	var out Epochs
	for e := chain.Epoch(0); e <= sets.Newest(); e++ {
		set, err := sets.At(e)
		if err != nil {
			return nil, err
		}
		nobody := beacon.Participant(set.Len())
		scheme, err := NewThreshold(set, nobody, Keys{}, weights)
		if err != nil {
			return nil, fmt.Errorf("group key of epoch %d: %w", e, err)
		}
		out.schemes = append(out.schemes, scheme)
	}
	return &out, nil
}

// VerifyCertificate reports whether the validators of the certificate's epoch made it. One
// of an epoch that is not on record is not good.
func (v *Epochs) VerifyCertificate(c Certificate) bool {
	e := uint64(c.Proposal.Round.Epoch)
	return e < uint64(len(v.schemes)) && v.schemes[e].VerifyCertificate(c)
}
