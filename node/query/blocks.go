package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// orderKeys returns the keys by which the block is ordered (resolution 11.41):
// the VRF output is the hash of the proof in the header.
func orderKeys(b *chain.Block, txs []*chain.VerifiedTx) func() []chain.Hash {
	return func() []chain.Hash { return order.Keys(chain.Hash(keccak.Sum256(b.Header.OrderProof[:])), txs) }
}

// located returns where the receipt of a hash is, in a block that readers see. The
// store has a block a moment before it is the head: who heard of a receipt then
// would not find its effects.
func (s *Source) located(hash chain.Hash) (h chain.Height, slot int, ok bool, err error) {
	h, slot, ok, err = s.cfg.Blocks.ReceiptLocation(hash)
	return h, slot, ok && h <= s.head(), err
}

// BlockByHeight implements rpc.Blocks.
func (s *Source) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	s.mu.Lock()
	b := s.recent[h]
	if b == nil {
		b = s.older.blockAt(h)
	}
	s.mu.Unlock()
	if b != nil {
		return b, true, nil
	}
	digest, block, size, err := s.stored(ctx, h, wholeBlock)
	if err != nil || block == nil {
		return nil, false, err
	}
	ids, senders, ok, err := s.cfg.Blocks.ReceiptIDs(h)
	if err != nil {
		return nil, false, err
	}
	var txs []*chain.VerifiedTx
	if len(senders) == len(block.Txs) {
		txs, err = sigverify.Signed(block.Txs, senders)
	} else { // of an older release
		txs, err = s.senders.recover(ctx, block.Txs)
	}
	if err != nil {
		return nil, false, fmt.Errorf("stored block %d: %w", h, err)
	}
	b = &rpc.Block{Hash: digest, Block: block, Txs: txs, OrderKeys: orderKeys(block, txs), SizeBytes: size}
	if ok && len(ids) > len(txs) { // a block that came alone, to join from, has none
		b.Deliveries = ids[len(txs):]
	}
	s.mu.Lock()
	s.older.add(b)
	s.mu.Unlock()
	return b, true, nil
}

// What a reader of a stored block is billed, by its bytes: who gets it with all its
// transactions, and who gets its header.
func wholeBlock(bytes int) int  { return bytes }
func partOfBlock(bytes int) int { return 64 + bytes/8 }

// storedBytes reads a finalized block; it is nil if there is none. The reader is billed
// before, as if all that is stored with it were the block, and has back what is not.
func (s *Source) storedBytes(ctx context.Context, h chain.Height, price func(bytes int) int) (digest chain.Hash, raw []byte, err error) {
	all, ok, err := s.cfg.Blocks.BlockSize(h)
	if err != nil || !ok {
		return chain.Hash{}, nil, notKept(err)
	}
	if err := rpc.Bill(ctx, price(all)); err != nil {
		return chain.Hash{}, nil, err
	}
	digest, raw, ok, err = s.cfg.Blocks.BlockBytes(h)
	if err != nil || !ok {
		return chain.Hash{}, nil, notKept(err)
	}
	return digest, raw, rpc.Bill(ctx, price(len(raw))-price(all))
}

// notKept says of a block that this node never had where it is.
func notKept(err error) error {
	if errors.Is(err, store.ErrNotKept) {
		return &rpc.Refusal{Status: http.StatusNotFound, Code: rpc.CodeNotKept, Message: err.Error()}
	}
	return err
}

// stored reads and decodes a finalized block, as storedBytes; it is nil if there is none.
func (s *Source) stored(ctx context.Context, h chain.Height, price func(bytes int) int) (digest chain.Hash, block *chain.Block, size int, err error) {
	digest, raw, err := s.storedBytes(ctx, h, price)
	if err != nil || raw == nil {
		return chain.Hash{}, nil, 0, err
	}
	if block, err = chain.DecodeBlock(raw, len(raw)); err != nil {
		return chain.Hash{}, nil, 0, fmt.Errorf("stored block %d: %w", h, err)
	}
	return digest, block, len(raw), nil
}

// BlockByHash implements rpc.Blocks.
func (s *Source) BlockByHash(ctx context.Context, hash chain.Hash) (*rpc.Block, bool, error) {
	h, ok, err := s.cfg.Blocks.HeightByDigest(hash)
	if err != nil || !ok {
		return nil, false, err
	}
	return s.BlockByHeight(ctx, h)
}

// HeaderByHeight implements rpc.Blocks.
func (s *Source) HeaderByHeight(ctx context.Context, h chain.Height) (*rpc.HeaderLine, bool, error) {
	s.mu.Lock()
	b := s.recent[h]
	s.mu.Unlock()
	if b != nil {
		return &rpc.HeaderLine{Hash: b.Hash, Header: &b.Block.Header, TxCount: len(b.Block.Txs), SizeBytes: b.SizeBytes}, true, nil
	}
	// A head is among the recent blocks a moment after it became that: who polls asks sooner.
	if head := s.cfg.Chain.Head(); h > 0 && head.Height() == h {
		return &rpc.HeaderLine{Hash: head.Digest, Header: &head.Block.Header, TxCount: len(head.Block.Txs), SizeBytes: len(head.Encoded)}, true, nil
	}
	digest, block, size, err := s.stored(ctx, h, partOfBlock)
	var refusal *rpc.Refusal
	if errors.As(err, &refusal) && refusal.Code == rpc.CodeNotKept {
		return nil, false, nil // a list ends where the blocks do
	}
	if err != nil || block == nil {
		return nil, false, err
	}
	return &rpc.HeaderLine{Hash: digest, Header: &block.Header, TxCount: len(block.Txs), SizeBytes: size, Stored: true}, true, nil
}

// remember takes the newest block into the cache and drops what is too much.
func (s *Source) remember(h chain.Height, b *rpc.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) == 0 {
		s.oldest = h
	}
	s.recent[h] = b
	s.recentBytes += b.SizeBytes
	for s.oldest < h && (len(s.recent) > blocksCached || s.recentBytes > blocksCachedBytes) {
		s.recentBytes -= s.recent[s.oldest].SizeBytes
		delete(s.recent, s.oldest)
		s.oldest++
	}
}

// Finalized blocks that are kept decoded, with their senders, because explorers
// and waiting clients ask for the newest ones: at most so many, and at most so
// many encoded bytes, but always the last one. Decoded they take a few times as
// much.
const (
	blocksCached      = 128
	blocksCachedBytes = 64 << 20
)
