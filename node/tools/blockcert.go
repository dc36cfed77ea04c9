package tools

import (
	"crypto/rand"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/blockdoc"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// CertificateState is what the certificate of a block document is worth.
type CertificateState string

// The states of a document's certificate.
const (
	CertificateNone    CertificateState = "none"
	CertificateHolds   CertificateState = "a quorum's, of this block"
	CertificateForeign CertificateState = "of another block"
	CertificateForged  CertificateState = "not a quorum's"
)

// certifier returns a function that has the validators of these keys finalize a
// block at its place.
func certifier(set *beacon.ValidatorSet, keys []*datadir.Keys) func(blockdoc.Place, chain.Hash) ([]byte, error) {
	return func(p blockdoc.Place, digest chain.Hash) ([]byte, error) {
		proposal := proposalOf(&p, digest)
		var votes []simplex.Vote
		var voice *simplex.Threshold
		for _, k := range keys {
			self, ok := set.Find(chain.PeerKey(k.Peer.PublicKey()))
			if !ok || !k.Validates() || len(votes) == set.Quorum() {
				continue
			}
			var err error
			if voice, err = simplex.NewThreshold(set, self, simplex.Keys{Share: k.Share.Key, Peer: k.Peer}, rand.Reader); err != nil {
				return nil, err
			}
			votes = append(votes, voice.Sign(simplex.Finalize, proposal))
		}
		if len(votes) < set.Quorum() {
			return nil, fmt.Errorf("%w: keys of %d validators are here, a quorum is %d of %d", blockdoc.ErrNoQuorum, len(votes), set.Quorum(), set.Len())
		}
		c, err := voice.Recover(votes)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		return simplex.AppendCertificate(nil, c), nil
	}
}

func proposalOf(p *blockdoc.Place, digest chain.Hash) simplex.Proposal {
	return simplex.Proposal{Round: beacon.Round{Epoch: p.Epoch, View: p.View}, Parent: p.ParentView, Payload: digest}
}

// certificateState holds a document's certificate to its block and to the group
// key.
func certificateState(d *blockdoc.Document, genesis *genesis.Genesis) (CertificateState, error) {
	if len(d.Certificate) == 0 {
		return CertificateNone, nil
	}
	verifier, err := simplex.NewEpochs(epoch.Of(genesis), rand.Reader)
	if err != nil {
		return "", err
	}
	c, err := simplex.DecodeCertificate(d.Certificate)
	switch {
	case err != nil || c.Kind == simplex.Nullify:
		return CertificateForged, nil
	case c.Proposal != proposalOf(&d.Place, d.Block.Header.Digest()):
		return CertificateForeign, nil
	case !verifier.VerifyCertificate(c):
		return CertificateForged, nil
	}
	return CertificateHolds, nil
}
