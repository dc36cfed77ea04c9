package checkpoint

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// ErrOtherChain means a checkpoint of another genesis.
var ErrOtherChain = errors.New("checkpoint belongs to another chain")

// Head is the block after which a checkpoint is the state, as it was finalized.
type Head struct {
	Genesis     chain.Hash
	Block       []byte // encoded
	Certificate []byte // finalizes this very block
}

const (
	headVersion         = 1
	maxCertificateBytes = 4 << 10
	maxHeadBytes        = chain.MaxBlockBytes + maxCertificateBytes + 64
)

// Append writes 'h' ‖ version ‖ genesis ‖ certificate ‖ block.
func (h *Head) Append(dst []byte) []byte {
	dst = append(append(dst, tagHead, headVersion), h.Genesis[:]...)
	return appendBytes(appendBytes(dst, h.Certificate), h.Block)
}

// DecodeHead reads what Append wrote, and checks nothing of it yet. It shares
// its bytes with b.
func DecodeHead(b []byte) (*Head, error) {
	r := &reader{b: b}
	if len(b) > maxHeadBytes || r.u8() != tagHead || r.u8() != headVersion {
		return nil, fmt.Errorf("%w: not the head of a checkpoint", ErrEncoding)
	}
	h := &Head{Genesis: r.hash(), Certificate: r.bytes(), Block: r.bytes()}
	if len(h.Certificate) > maxCertificateBytes {
		return nil, fmt.Errorf("%w: certificate of %d bytes", ErrEncoding, len(h.Certificate))
	}
	return h, r.end()
}

// Certifier says whether a certificate finalizes a block: who knows the group
// key of the chain.
type Certifier func(h *chain.Header, digest chain.Hash, certificate []byte) error

// Anchor is a head that was checked: what chunks are held to.
type Anchor struct {
	Head
	Header chain.Header
	Digest chain.Hash // of the block
}

// Root is the state root.
func (a *Anchor) Root() chain.Hash { return a.Header.StateRoot }

// Height is the block's height, above 0.
func (a *Anchor) Height() chain.Height { return a.Header.Height }

// Check holds the head to the chain of a genesis.
func (h *Head) Check(genesis chain.Hash, certify Certifier) (*Anchor, error) {
	if h.Genesis != genesis {
		return nil, fmt.Errorf("%w: %s", ErrOtherChain, h.Genesis)
	}
	block, err := chain.DecodeBlock(h.Block, chain.MaxBlockBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: block: %w", ErrEncoding, err)
	}
	a := &Anchor{Head: *h, Header: block.Header, Digest: block.Header.Digest()}
	if a.Header.Height == 0 || a.Header.TxRoot != tree.ListRoot(block.Txs) {
		return nil, fmt.Errorf("%w: transactions are not those of block %d", ErrEncoding, a.Header.Height)
	}
	if err := certify(&a.Header, a.Digest, h.Certificate); err != nil {
		return nil, fmt.Errorf("block %d: %w", a.Header.Height, err)
	}
	return a, nil
}
