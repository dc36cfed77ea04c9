package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Chain is a stored chain, as [CertificateCheck] reads it.
type Chain interface {
	HeadInfo() (chain.Height, chain.Hash)
	BlockByHeight(h chain.Height) (store.BlockRecord, bool, error)
	HeightByDigest(digest chain.Hash) (chain.Height, bool, error)
}

// CertificateCheck holds every stored certificate to the group key of its epoch: that a
// quorum notarized each block, or finalized it, in its round and on its parent's,
// and finalized it or a descendant. It needs no state.
type CertificateCheck struct {
	Sets     *beacon.Sets
	Source   Chain
	First    chain.Height // block to begin with; 0 for the first of all
	Weights  io.Reader    // unpredictable: crypto/rand
	Progress func(done, total chain.Height)

	claims []claim
}

// claim is one signature of the group that has to be good.
type claim struct {
	height chain.Height
	group  *bls.PublicKey // of its epoch
	what   string
	bls.Certificate
}

// claimsMax is how many signatures are checked as one product of pairings.
const claimsMax = 512

// Run checks all blocks up to the head. A certificate that does not hold is a
// [Verdict] of the rule "certificate".
func (c *CertificateCheck) Run(ctx context.Context) error {
	last, _ := c.Source.HeadInfo()
	for h := max(1, c.First); h <= last; h++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, ok, err := c.Source.BlockByHeight(h)
		if err != nil {
			return fmt.Errorf("read block %d: %w", h, err)
		}
		if !ok {
			return fmt.Errorf("block %d is missing below the head %d", h, last)
		}
		if err := c.read(rec); err != nil {
			return fmt.Errorf("block %d: %w", h, err)
		}
		if len(c.claims) >= claimsMax || h == last {
			if err := c.verifyPending(); err != nil {
				return err
			}
			c.Progress(h, last)
		}
	}
	return nil
}

// read checks what the certificates of a block are about, and remembers their
// signatures.
func (c *CertificateCheck) read(rec store.BlockRecord) error {
	block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
	if err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	final, own, err := decodeCertificates(rec.Certificate)
	if err != nil {
		return &Verdict{"certificate", err}
	}
	h := &block.Header
	want := simplex.Proposal{Round: roundOf(h), Parent: h.ParentView, Payload: rec.Digest}
	switch {
	case h.Digest() != rec.Digest:
		return &Verdict{"digest", nil}
	case own.Kind == simplex.Nullify || own.Proposal != want:
		return &Verdict{"certificate", fmt.Errorf("it is a %v of %+v, the block is %+v", own.Kind, own.Proposal, want)}
	case final.Kind != simplex.Finalize:
		return &Verdict{"certificate", fmt.Errorf("a %v makes nothing final", final.Kind)}
	}
	if final != own {
		if err := c.descends(&final, h); err != nil {
			return err
		}
	}
	if err := c.claim(h.Height, &own); err != nil || final == own {
		return err
	}
	return c.claim(h.Height, &final)
}

// descends checks that a certificate is about a descendant of the block. Those
// of the last blocks may be about one that the node had not stored yet.
func (c *CertificateCheck) descends(final *simplex.Certificate, h *chain.Header) error {
	at, known, err := c.Source.HeightByDigest(final.Proposal.Payload)
	if err != nil {
		return fmt.Errorf("find the block that makes it final: %w", err)
	}
	if last, _ := c.Source.HeadInfo(); !known {
		at = last + 1
	}
	if at <= h.Height || final.Proposal.Round.View <= h.View {
		return &Verdict{"certificate", errors.New("it makes a block final that is no descendant")}
	}
	return nil
}

func decodeCertificates(b []byte) (final, own simplex.Certificate, err error) {
	first, second, err := splitCertificates(b)
	if err != nil {
		return final, own, err
	}
	if final, err = simplex.DecodeCertificate(first); err != nil {
		return final, own, err
	}
	own, err = simplex.DecodeCertificate(second)
	return final, own, err
}

// claim remembers both signatures of a certificate, which those of its epoch have to have
// made.
func (c *CertificateCheck) claim(h chain.Height, cert *simplex.Certificate) error {
	set, err := c.Sets.At(cert.Proposal.Round.Epoch)
	if errors.Is(err, epoch.ErrUnknown) {
		return &Verdict{"certificate", err}
	}
	if err != nil {
		return err
	}
	names := set.Namespaces()
	namespace := names.Finalize
	if cert.Kind == simplex.Notarize {
		namespace = names.Notarize
	}
	subject := attest.AppendSubject(nil, cert.Kind, cert.Proposal)
	c.claims = append(c.claims,
		claim{h, set.Group(), cert.Kind.String(), bls.Certificate{Message: bls.HashToPoint(namespace, subject), Sig: cert.Signature}},
		claim{h, set.Group(), "seed", bls.Certificate{Message: bls.HashToPoint(names.Seed, cert.Proposal.Round.Append(nil)), Sig: cert.Seed}},
	)
	return nil
}

// verifyPending checks the signatures read so far, those of one epoch together.
func (c *CertificateCheck) verifyPending() error {
	for claims := c.claims; len(claims) > 0; {
		group := claims[0].group
		n := 1
		for n < len(claims) && claims[n].group == group {
			n++
		}
		if err := c.verifyOf(group, claims[:n]); err != nil {
			return err
		}
		claims = claims[n:]
	}
	c.claims = c.claims[:0]
	return nil
}

func (c *CertificateCheck) verifyOf(group *bls.PublicKey, claims []claim) error {
	certs := make([]bls.Certificate, len(claims))
	for i := range claims {
		certs[i] = claims[i].Certificate
	}
	bad := bls.VerifyCertificates(group, certs, bls.Options{Weights: c.Weights})
	if len(bad) > 0 {
		first := claims[bad[0]]
		return fmt.Errorf("block %d: %w", first.height, &Verdict{"certificate", fmt.Errorf("the group did not sign its %s", first.what)})
	}
	return nil
}
