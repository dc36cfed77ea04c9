package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
)

// ErrCertificate means that the group key did not sign.
var ErrCertificate = errors.New("certificate is not the group's finalization of this block")

// CheckpointTrust is what the genesis says of a checkpoint: the group key of its epoch
// signs it. Its
// chain has no job market yet, so that no list belongs to it.
func CheckpointTrust(genesis *genesis.Genesis) (snapshot.Trust, error) {
	if err := errors.Join(genesis.Check(), ceremony.Check(genesis)); err != nil {
		return snapshot.Trust{}, fmt.Errorf("genesis: %w", err)
	}
	epochs := epoch.Of(genesis)
	verifier, err := simplex.NewEpochs(epochs, rand.Reader)
	if err != nil {
		return snapshot.Trust{}, fmt.Errorf("validator set: %w", err)
	}
	certify := func(h *chain.Header, digest chain.Hash, final *chain.Header, certificate []byte) error {
		c, err := ReadCertificates(certificate)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCertificate, err)
		}
		good := func(c simplex.Certificate, kind simplex.Kind, h *chain.Header, digest chain.Hash) bool {
			want := simplex.Proposal{Round: beacon.Round{Epoch: h.Epoch, View: h.View}, Parent: h.ParentView, Payload: digest}
			return c.Kind == kind && c.Proposal == want && verifier.VerifyCertificate(c)
		}
		switch {
		case final == h && (c.Own != c.Final || !good(c.Final, simplex.Finalize, h, digest)):
			return ErrCertificate
		case final != h && (!good(c.Final, simplex.Finalize, final, final.Digest()) || !good(c.Own, simplex.Notarize, h, digest)):
			return ErrCertificate
		}
		return nil
	}
	return snapshot.Trust{Genesis: epochs.Chain(), Certify: certify, Live: checkpoint.NoJobs}, nil
}
