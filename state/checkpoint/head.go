package checkpoint

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// ErrOtherChain means a checkpoint of another genesis.
var ErrOtherChain = errors.New("checkpoint belongs to another chain")

// Head is the block after which a checkpoint is the state, as it was finalized: by a
// certificate of its own, or by one of a descendant, to which headers lead. A vote
// withheld at one height, which is known in advance, must not deny the checkpoint
// (ADR 117).
type Head struct {
	Genesis chain.Hash
	Block   []byte // encoded
	// Certificate finalizes the block, or the last of the descendants; then what
	// notarizes the block itself follows it, as the store keeps them.
	Certificate []byte
	Descendants [][]byte // headers of the blocks after it, each the child of the one before
}

const (
	headVersion         = 1 // the certificate is the block's own
	headVersionDescends = 2 // it is a descendant's

	maxCertificateBytes = 4 << 10
	// DescendantsMax is how many blocks may lie between a block and the certificate:
	// as in a proof to a light client.
	DescendantsMax = 256
	// DescendantBytesMax bounds their headers: four times as many as they have while
	// headers carry no presence sets.
	DescendantBytesMax = 1 << 20

	maxHeadBytes = chain.MaxBlockBytes + maxCertificateBytes + DescendantBytesMax + 64
)

// Append writes 'h' ‖ version ‖ genesis ‖ certificate ‖ block, and the headers where
// there are any.
func (h *Head) Append(dst []byte) []byte {
	version := byte(headVersion)
	if len(h.Descendants) > 0 {
		version = headVersionDescends
	}
	dst = append(append(dst, tagHead, version), h.Genesis[:]...)
	dst = appendBytes(appendBytes(dst, h.Certificate), h.Block)
	if version == headVersionDescends {
		dst = appendNodes(dst, h.Descendants)
	}
	return dst
}

// DecodeHead reads what Append wrote, and checks nothing of it yet. It shares
// its bytes with b.
func DecodeHead(b []byte) (*Head, error) {
	r := &reader{b: b}
	tag, version := r.u8(), r.u8()
	if len(b) > maxHeadBytes || tag != tagHead || version != headVersion && version != headVersionDescends {
		return nil, fmt.Errorf("%w: not the head of a checkpoint", ErrEncoding)
	}
	h := &Head{Genesis: r.readHash(), Certificate: r.bytes(), Block: r.bytes()}
	if version == headVersionDescends {
		before := len(r.b)
		h.Descendants = r.nodes()
		if n := len(h.Descendants); n == 0 || n > DescendantsMax || before > DescendantBytesMax {
			return nil, fmt.Errorf("%w: %d headers of %d bytes behind the block of a checkpoint", ErrEncoding, n, before)
		}
	}
	if len(h.Certificate) > maxCertificateBytes {
		return nil, fmt.Errorf("%w: certificate of %d bytes", ErrEncoding, len(h.Certificate))
	}
	return h, r.end()
}

// Certifier says whether a certificate finalizes a block: who knows the group
// key of the chain. final is the header that the certificate is of: the block's own,
// or that of a descendant, which headers have led to.
type Certifier func(h *chain.Header, digest chain.Hash, final *chain.Header, certificate []byte) error

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
	final, err := h.last(&a.Header)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", a.Header.Height, err)
	}
	if err := certify(&a.Header, a.Digest, final, h.Certificate); err != nil {
		return nil, fmt.Errorf("block %d: %w", a.Header.Height, err)
	}
	return a, nil
}

// last follows the headers from the block's to the one that the certificate is of.
func (h *Head) last(of *chain.Header) (*chain.Header, error) {
	for i, enc := range h.Descendants {
		child, err := chain.DecodeHeader(enc)
		if err != nil {
			return nil, fmt.Errorf("%w: header %d behind it: %w", ErrEncoding, i, err)
		}
		if child.Parent != of.Digest() || child.Height != of.Height+1 {
			return nil, fmt.Errorf("%w: header %d behind it is not the child of the one before", ErrEncoding, i)
		}
		of = child
	}
	return of, nil
}
