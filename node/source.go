package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/trial"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// source answers the API from snapshots: the ledger's head, the store, and the
// lanes. It owns nothing but a cache of recent blocks.
type source struct {
	node   *Node
	hub    *hub
	faucet *faucet
	trials *trial.Bench        // set once, before requests come
	head   func() chain.Height // of the finalized head, that readers see

	senders *oldSenders

	mu          sync.Mutex                  // guards all below
	recent      map[chain.Height]*rpc.Block // the last finalized ones, without a gap
	oldest      chain.Height                // of recent
	recentBytes int                         // of their encodings
	older       olderBlocks                 // decoded for readers of the past
}

// Finalized blocks that are kept decoded, with their senders, because explorers
// and waiting clients ask for the newest ones: at most so many, and at most so
// many encoded bytes, but always the last one. Decoded they take a few times as
// much.
const (
	blocksCached      = 128
	blocksCachedBytes = 64 << 20
)

func newSource(n *Node) *source {
	return &source{
		node: n, hub: newHub(), faucet: newFaucet(n.genesis), recent: map[chain.Height]*rpc.Block{},
		head:    func() chain.Height { return n.ledger.Head().Height() },
		senders: newOldSenders(n.sigverify.ReadBlock),
	}
}

// finalized takes in a block that became final and tells the listeners.
func (s *source) finalized(e ledger.Event) {
	b := &rpc.Block{Hash: e.Digest, Block: e.Block, Txs: e.Txs, OrderKeys: orderKeys(e.Block, e.Txs), SizeBytes: len(e.Encoded)}
	for i := len(e.Txs); i < len(e.Receipts); i++ {
		b.Deliveries = append(b.Deliveries, e.Receipts[i].TxHash)
	}
	h := e.Block.Header.Height
	s.remember(h, b)
	s.hub.publish(b)
}

// remember takes the newest block into the cache and drops what is too much.
func (s *source) remember(h chain.Height, b *rpc.Block) {
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

// orderKeys returns the keys by which the block is ordered (resolution 11.41):
// the VRF output is the hash of the proof in the header.
func orderKeys(b *chain.Block, txs []*chain.VerifiedTx) []chain.Hash {
	return order.Keys(chain.Hash(keccak.Sum256(b.Header.OrderProof[:])), txs)
}

// Height implements rpc.Source.
func (s *source) Height() chain.Height { return s.head() }

// located returns where the receipt of a hash is, in a block that readers see. The
// store has a block a moment before it is the head: who heard of a receipt then
// would not find its effects.
func (s *source) located(hash chain.Hash) (h chain.Height, slot int, ok bool, err error) {
	h, slot, ok, err = s.node.store.ReceiptLocation(hash)
	return h, slot, ok && h <= s.head(), err
}

// BlockByHeight implements rpc.Source.
func (s *source) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	s.mu.Lock()
	b := s.recent[h]
	if b == nil {
		b = s.older.find(h)
	}
	s.mu.Unlock()
	if b != nil {
		return b, true, nil
	}
	digest, block, size, err := s.stored(h)
	if err != nil || block == nil {
		return nil, false, err
	}
	rpc.Bill(ctx, size)
	ids, senders, ok, err := s.node.store.ReceiptIDs(h)
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

// stored reads and decodes a finalized block; it is nil if there is none.
func (s *source) stored(h chain.Height) (digest chain.Hash, block *chain.Block, size int, err error) {
	digest, raw, ok, err := s.node.store.BlockBytes(h)
	if errors.Is(err, store.ErrNotKept) {
		return chain.Hash{}, nil, 0, &rpc.Refusal{Status: http.StatusNotFound, Code: rpc.CodeNotKept, Message: err.Error()}
	}
	if err != nil || !ok {
		return chain.Hash{}, nil, 0, err
	}
	if block, err = chain.DecodeBlock(raw, len(raw)); err != nil {
		return chain.Hash{}, nil, 0, fmt.Errorf("stored block %d: %w", h, err)
	}
	return digest, block, len(raw), nil
}

// BlockByHash implements rpc.Source.
func (s *source) BlockByHash(ctx context.Context, hash chain.Hash) (*rpc.Block, bool, error) {
	h, ok, err := s.node.store.HeightByDigest(hash)
	if err != nil || !ok {
		return nil, false, err
	}
	return s.BlockByHeight(ctx, h)
}

// HeaderByHeight implements rpc.Source.
func (s *source) HeaderByHeight(ctx context.Context, h chain.Height) (*rpc.HeaderLine, bool, error) {
	s.mu.Lock()
	b := s.recent[h]
	s.mu.Unlock()
	if b != nil {
		return &rpc.HeaderLine{Hash: b.Hash, Header: &b.Block.Header, TxCount: len(b.Block.Txs), SizeBytes: b.SizeBytes}, true, nil
	}
	digest, block, size, err := s.stored(h)
	var refusal *rpc.Refusal
	if errors.As(err, &refusal) {
		return nil, false, nil // a list ends where the blocks do
	}
	if err != nil || block == nil {
		return nil, false, err
	}
	rpc.Bill(ctx, 64+size/8)
	return &rpc.HeaderLine{Hash: digest, Header: &block.Header, TxCount: len(block.Txs), SizeBytes: size, Stored: true}, true, nil
}

// BaseFees implements rpc.Source.
func (s *source) BaseFees() rpc.FeeQuote {
	head := s.node.ledger.Head()
	p := head.Force.Params
	return rpc.FeeQuote{
		Height: head.Height(), Fees: ledger.BaseFeesAfter(p, &head.Block.Header),
		MaxTx: chain.Usage{Cycles: p.MaxTxCycles, Cells: p.MaxTxCells}, ChainID: s.node.genesis.ChainID,
	}
}

// Submit implements rpc.Source. What the pool admits is kept over a restart.
func (s *source) Submit(ctx context.Context, bodies [][]byte) ([]rpc.Verdict, error) {
	client := rpc.ClientOf(ctx)
	return s.submit(ctx, bodies, func(bodies [][]byte) { s.node.submitted.Take(client, bodies) })
}

// submit has the bodies judged, spreads those that the pool admits and hands them to
// keep, which must not block.
func (s *source) submit(ctx context.Context, bodies [][]byte, keep func(bodies [][]byte)) ([]rpc.Verdict, error) {
	done := make(chan []sigverify.Verdict, 1)
	err := s.node.sigverify.SubmitOf(rpc.ClientOf(ctx), bodies, func(v []sigverify.Verdict) {
		keep(admitted(v))
		s.node.mesh.flood(-1, v)
		done <- v
	})
	if err != nil {
		return nil, ingressError(err)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case verdicts := <-done:
		out := make([]rpc.Verdict, len(verdicts))
		for i, v := range verdicts {
			out[i] = verdictOf(v)
			if out[i].Code == rpc.CodeInternal {
				s.node.log.Error("transaction not judged", "tx", v.Hash, "err", v.Err)
			}
		}
		return out, nil
	}
}

// Wait implements rpc.Source.
func (s *source) Wait(ctx context.Context, hashes []chain.Hash) error {
	left := append([]chain.Hash(nil), hashes...)
	for {
		next := s.hub.changed() // before looking, so that no block falls between
		waiting := left[:0]
		for _, hash := range left {
			_, _, ok, err := s.located(hash)
			if err != nil {
				return err
			}
			if !ok {
				waiting = append(waiting, hash)
			}
		}
		if left = waiting; len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.hub.done:
			return rpc.ErrNotReady // the node stops
		case <-next:
		}
	}
}

// Transaction implements rpc.Source.
func (s *source) Transaction(ctx context.Context, hash chain.Hash) (*rpc.FoundTx, bool, error) {
	h, slot, ok, err := s.located(hash)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		entry, found, err := s.node.lanes.Lookup(ctx, hash)
		if err != nil || !found {
			return nil, false, err
		}
		return &rpc.FoundTx{Tx: entry.Tx}, true, nil
	}
	b, ok, err := s.BlockByHeight(ctx, h)
	if err != nil {
		return nil, false, err
	}
	if ok && slot >= len(b.Txs) && slot-len(b.Txs) < len(b.Deliveries) {
		return nil, false, nil // a delivery has a receipt and is no transaction
	}
	if !ok || slot >= len(b.Txs) {
		return nil, false, fmt.Errorf("transaction %s is indexed at block %d, slot %d, where it is not", hash, h, slot)
	}
	return &rpc.FoundTx{Tx: b.Txs[slot], Final: true, Height: h, Slot: slot}, true, nil
}

// Receipt implements rpc.Source.
func (s *source) Receipt(_ context.Context, hash chain.Hash) (*rpc.FoundReceipt, bool, error) {
	h, slot, ok, err := s.located(hash)
	if err != nil || !ok {
		return nil, false, err
	}
	raw, ok, err := s.node.store.Receipt(h, slot)
	if err != nil {
		return nil, false, err
	}
	digest, found, err := s.node.store.BlockDigest(h)
	if err != nil {
		return nil, false, err
	}
	if !ok || !found {
		return nil, false, fmt.Errorf("receipt of %s at block %d, slot %d is missing", hash, h, slot)
	}
	receipt, err := chain.DecodeReceipt(raw)
	if err != nil {
		return nil, false, fmt.Errorf("receipt of %s: %w", hash, err)
	}
	return &rpc.FoundReceipt{Receipt: receipt, Height: h, BlockHash: digest, Slot: slot}, true, nil
}

// PoolTx implements rpc.Source.
func (s *source) PoolTx(ctx context.Context, hash chain.Hash) (*rpc.PoolTx, bool, error) {
	entry, ok, err := s.node.lanes.Lookup(ctx, hash)
	if err != nil {
		return nil, false, err
	}
	if ok {
		state := rpc.PoolPending
		if entry.State == lanes.WaitParked {
			state = rpc.PoolQueued
		}
		return &rpc.PoolTx{Tx: entry.Tx, State: state}, true, nil
	}
	found, ok, err := s.Transaction(ctx, hash)
	if err != nil || !ok || !found.Final {
		return nil, false, err
	}
	return &rpc.PoolTx{Tx: found.Tx, State: rpc.PoolIncluded}, true, nil
}

// Subscribe implements rpc.Source.
func (s *source) Subscribe(ctx context.Context, depth int) (<-chan *rpc.Block, error) {
	return s.hub.subscribe(ctx, depth), nil
}
