package query

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// olderBlocks keeps the blocks of the past that were asked for last. To show a
// stored block it is read and decoded, and where its senders are not stored they are
// recovered, about 12 µs each: without this cache, a reader who asks for one full block
// again and again would cost far more than he pays.
//
// The entries lie in a ring: the one that came first leaves first.
type olderBlocks struct {
	ring [olderBlocksCached]*rpc.Block
	next int
}

const olderBlocksCached = 16

func (o *olderBlocks) blockAt(h chain.Height) *rpc.Block {
	for _, b := range o.ring {
		if b != nil && b.Block.Header.Height == h {
			return b
		}
	}
	return nil
}

func (o *olderBlocks) add(b *rpc.Block) {
	if b.SizeBytes > blocksCachedBytes/olderBlocksCached {
		return
	}
	o.ring[o.next] = b
	o.next = (o.next + 1) % len(o.ring)
}
