package light

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Verifier knows the chain of one genesis. It is safe for concurrent use.
type Verifier struct {
	genesis chain.Hash
	chainID uint64
	epochs  *simplex.Epochs
}

// NewVerifier returns the verifier of a chain. It trusts the genesis, of which
// it uses the hash, the chain id and the group key.
func NewVerifier(g *genesis.Genesis) (*Verifier, error) {
	schedule := epoch.Of(g)
	epochs, err := simplex.NewEpochs(schedule, nil)
	if err != nil {
		return nil, fmt.Errorf("validator set: %w", err)
	}
	return &Verifier{genesis: schedule.Chain(), chainID: g.ChainID, epochs: epochs}, nil
}

// Verify decodes a document, checks all of it and returns what it shows.
func (v *Verifier) Verify(text []byte) (*Shown, error) {
	d, err := Decode(text)
	if err != nil {
		return nil, err
	}
	return v.VerifyDocument(d)
}

// VerifyDocument is [Verifier.Verify] of a decoded document.
func (v *Verifier) VerifyDocument(d Document) (*Shown, error) {
	f := d.frame()
	if f.ChainID != v.chainID || f.Genesis != v.genesis {
		return nil, fmt.Errorf("%w: chain id %d, genesis %s; expected chain id %d, genesis %s",
			ErrOtherChain, f.ChainID, f.Genesis, v.chainID, v.genesis)
	}
	h, err := v.final(f)
	if err != nil {
		return nil, err
	}
	out := &Shown{
		Kind: f.Kind, Height: h.Height, BlockHash: f.BlockHash,
		StateRoot: h.StateRoot, TimestampMillis: h.TimestampMillis, Header: h,
	}
	if err := d.show(v, h, out); err != nil {
		return nil, err
	}
	return out, nil
}

// final returns the header of the frame if it is that of a final block.
func (v *Verifier) final(f *Frame) (*chain.Header, error) {
	h, err := chain.DecodeHeader(f.Header)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if h.Height != f.Height || h.Digest() != f.BlockHash {
		return nil, fmt.Errorf("%w: the header is of height %d, hash %s", ErrOtherBlock, h.Height, h.Digest())
	}
	certified, err := newest(h, f.Descendants)
	if err != nil {
		return nil, err
	}
	c, err := simplex.DecodeCertificate(f.Certificate)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	p := c.Proposal
	switch {
	case c.Kind != simplex.Finalize:
		return nil, fmt.Errorf("%w: the certificate says %s", ErrNotFinal, c.Kind)
	case p.Payload != certified.Digest():
		return nil, fmt.Errorf("%w: the certificate is for block %s", ErrOtherBlock, p.Payload)
	case p.Round != beacon.Round{Epoch: certified.Epoch, View: certified.View} || p.Parent != certified.ParentView:
		return nil, fmt.Errorf("%w: the certificate is of another round than the header", ErrOtherBlock)
	case !v.epochs.VerifyCertificate(c):
		return nil, fmt.Errorf("%w: the certificate's signatures are not those of this chain's validators", ErrNotFinal)
	}
	return h, nil
}

// newest follows the headers of descendants, each the child of the one before.
func newest(h *chain.Header, descendants List[Bytes]) (*chain.Header, error) {
	if len(descendants) > DescendantsMax {
		return nil, fmt.Errorf("%w: %d headers, at most %d", ErrTooLarge, len(descendants), DescendantsMax)
	}
	for i, enc := range descendants {
		child, err := chain.DecodeHeader(enc)
		if err != nil {
			return nil, fmt.Errorf("%w: header %d: %w", ErrMalformed, i, err)
		}
		if child.Parent != h.Digest() || child.Height != h.Height+1 {
			return nil, fmt.Errorf("%w: header %d is not the child of the one before", ErrOtherBlock, i)
		}
		h = child
	}
	return h, nil
}
