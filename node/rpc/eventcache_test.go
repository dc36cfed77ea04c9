package rpc

import (
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestEventCacheIsBoundedInBytes: it keeps eight blocks, fewer of large ones, and always the
// last.
func TestEventCacheIsBoundedInBytes(t *testing.T) {
	block := func(n byte) *Block { return &Block{Hash: chain.Hash{n}, Block: new(chain.Block)} }
	kept := func(c *eventCache) (n, bytes int) {
		for i := range c.entries {
			bytes += len(c.entries[i].json)
		}
		return len(c.entries), bytes
	}
	var small, large eventCache
	for n := range byte(20) {
		small.encoded(block(n))
	}
	if n, bytes := kept(&small); n != eventsCached || bytes != small.bytes || small.lookup(chain.Hash{19}) == nil || small.lookup(chain.Hash{11}) != nil {
		t.Errorf("%d small blocks of %d bytes are kept, counted as %d; want the last %d", n, bytes, small.bytes, eventsCached)
	}
	large.bytes = eventCacheBytes - 1
	large.entries = []eventEntry{{hash: chain.Hash{1}, json: make([]byte, eventCacheBytes-1)}}
	large.encoded(block(2))
	if n, bytes := kept(&large); n != 1 || bytes != large.bytes || large.lookup(chain.Hash{2}) == nil {
		t.Errorf("%d blocks of %d bytes are kept beside a large one, counted as %d; want the last alone", n, bytes, large.bytes)
	}
}

// TestABlockIsEncodedOnce: streams that all ask for a new head hold one encoding of it.
func TestABlockIsEncodedOnce(t *testing.T) {
	var c eventCache
	b := &Block{Hash: chain.Hash{1}, Block: &chain.Block{}}
	first := make([]*byte, 64)
	var readers sync.WaitGroup
	for i := range first {
		readers.Go(func() { first[i] = &c.encoded(b)[0] })
	}
	readers.Wait()
	for i := range first {
		if first[i] != first[0] {
			t.Fatal("two readers at the same time have encodings of their own")
		}
	}
	if len(c.entries) != 1 {
		t.Errorf("%d entries of one block", len(c.entries))
	}
}

// TestReplaysPushNoHeadOut: blocks below those that are kept are encoded for who asks, and the
// kept ones stay.
func TestReplaysPushNoHeadOut(t *testing.T) {
	block := func(n byte) *Block {
		return &Block{Hash: chain.Hash{n}, Block: &chain.Block{Header: chain.Header{Height: chain.Height(n)}}}
	}
	var c eventCache
	for n := byte(100); n < 100+eventsCached; n++ {
		c.encoded(block(n))
	}
	for n := byte(1); n < 50; n++ {
		if len(c.encoded(block(n))) == 0 {
			t.Fatal("nothing is encoded")
		}
	}
	for n := byte(100); n < 100+eventsCached; n++ {
		if c.lookup(chain.Hash{n}) == nil {
			t.Errorf("block %d is gone", n)
		}
	}
	if len(c.flights) != 0 {
		t.Errorf("%d encodings are never over", len(c.flights))
	}
}
