package shards

import "github.com/cowboy-foundation/cowboy/chain"

// Format is how the blocks of an application are cut. Its functions are pure
// and do not keep what they are given.
type Format interface {
	// Split cuts a block in two. Both parts share its memory.
	Split(block []byte) (head, body []byte, err error)
	// Root returns the root of the body that head commits to, or an error if
	// digest does not name head.
	Root(digest chain.Hash, head []byte) (chain.Hash, error)
	// Join is the inverse of Split.
	Join(head, body []byte) []byte
}

// ChainBlocks is the format of [chain.Block]: the head is the encoded header.
type ChainBlocks struct{}

// HeadMax is the most bytes of an encoded header.
const HeadMax = 1024 + chain.MaxPresenceBytes + chain.MaxConsumedSeedsBytes

// Split implements [Format].
func (ChainBlocks) Split(block []byte) (head, body []byte, err error) { return chain.SplitBlock(block) }

// Root implements [Format].
func (ChainBlocks) Root(digest chain.Hash, head []byte) (chain.Hash, error) {
	h, err := chain.DecodeHeader(head)
	if err != nil {
		return chain.Hash{}, err
	}
	if h.Digest() != digest {
		return chain.Hash{}, ErrHead
	}
	return h.BodyRoot, nil
}

// Join implements [Format].
func (ChainBlocks) Join(head, body []byte) []byte { return chain.JoinBlock(head, body) }
