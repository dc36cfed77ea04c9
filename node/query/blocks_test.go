package query

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

func TestBlockCacheIsBounded(t *testing.T) {
	s := &Source{recent: map[chain.Height]*rpc.Block{}}
	for h := chain.Height(7); h < 1_000; h++ { // a restart begins anywhere
		s.remember(h, &rpc.Block{SizeBytes: 300})
	}
	if len(s.recent) != blocksCached || s.recent[999] == nil || s.recent[1_000-blocksCached] == nil {
		t.Errorf("%d small blocks are kept, from height %d", len(s.recent), s.oldest)
	}
	for h := chain.Height(1_000); h < 1_010; h++ {
		s.remember(h, &rpc.Block{SizeBytes: blocksCachedBytes / 2})
		if s.recentBytes > blocksCachedBytes {
			t.Fatalf("%d bytes are kept", s.recentBytes)
		}
	}
	s.remember(1_010, &rpc.Block{SizeBytes: 2 * blocksCachedBytes})
	if len(s.recent) != 1 || s.recent[1_010] == nil {
		t.Errorf("%d blocks are kept beside a very large one", len(s.recent)-1)
	}
}

func TestOlderBlocksAreKeptWithinBounds(t *testing.T) {
	var o olderBlocks
	at := func(h chain.Height, size int) *rpc.Block {
		return &rpc.Block{Block: &chain.Block{Header: chain.Header{Height: h}}, SizeBytes: size}
	}
	for h := chain.Height(1); h <= olderBlocksCached+3; h++ {
		o.add(at(h, 300))
	}
	for h := chain.Height(1); h <= olderBlocksCached+3; h++ {
		if kept := o.blockAt(h) != nil; kept != (h > 3) {
			t.Errorf("block %d kept: %v", h, kept)
		}
	}
	if o.add(at(99, blocksCachedBytes)); o.blockAt(99) != nil {
		t.Error("a block as large as the whole cache is kept")
	}
}
