package rpc

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func encode(t *testing.T, c *eventCache, b *Block, head chain.Height) []byte {
	encoded, err := c.encoded(t.Context(), b, head)
	if err != nil || len(encoded) == 0 {
		t.Errorf("block %s: %d bytes, %v", b.Hash, len(encoded), err)
		return []byte{0}
	}
	return encoded
}

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
		encode(t, &small, block(n), 0)
	}
	if n, bytes := kept(&small); n != eventsCached || bytes != small.bytes || small.lookup(chain.Hash{19}) == nil || small.lookup(chain.Hash{11}) != nil {
		t.Errorf("%d small blocks of %d bytes are kept, counted as %d; want the last %d", n, bytes, small.bytes, eventsCached)
	}
	large.bytes = eventCacheBytes - 1
	large.entries = []eventEntry{{hash: chain.Hash{1}, json: make([]byte, eventCacheBytes-1)}}
	encode(t, &large, block(2), 0)
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
		readers.Go(func() { first[i] = &encode(t, &c, b, 0)[0] })
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
		encode(t, &c, block(n), chain.Height(n))
	}
	for n := byte(1); n < 50; n++ {
		encode(t, &c, block(n), 100+eventsCached-1)
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

// TestFewStoredBlocksAreEncodedAtATime: who asks for a block far below the head waits while as
// many as may be are encoded, no longer than it wants, and holds up neither the head nor who
// asks for what is there.
func TestFewStoredBlocksAreEncodedAtATime(t *testing.T) {
	block := func(n chain.Height) *Block {
		return &Block{Hash: chain.Hash{byte(n)}, Block: &chain.Block{Header: chain.Header{Height: n}}}
	}
	const head = 100
	var c eventCache
	encode(t, &c, block(1), head) // and gives its place back
	for range storedEncodings {
		c.stored() <- struct{}{}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := c.encoded(gone, block(head-eventsCached), head); !errors.Is(err, context.Canceled) {
		t.Errorf("a stored block is encoded beside %d others: %v", storedEncodings, err)
	}
	if len(c.flights) != 0 {
		t.Errorf("%d encodings that nobody makes", len(c.flights))
	}
	encode(t, &c, block(1), head)
	for n := chain.Height(head - eventsCached + 1); n <= head+1; n++ {
		encode(t, &c, block(n), head)
	}
	waits := make(chan []byte)
	go func() { waits <- encode(t, &c, block(2), head) }()
	<-c.stored()
	<-waits
	if len(c.slots) != storedEncodings-1 {
		t.Errorf("%d places are taken, want %d", len(c.slots), storedEncodings-1)
	}
}
