package rpctest

import (
	"context"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// The methods of [rpc.Source], as documented there.

// Height returns the number of blocks.
func (c *Chain) Height() chain.Height {
	c.mu.Lock()
	defer c.mu.Unlock()
	return chain.Height(len(c.blocks))
}

// BlockByHeight returns a block.
func (c *Chain) BlockByHeight(_ context.Context, h chain.Height) (*rpc.Block, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Fault != nil || h == 0 || uint64(h) > uint64(len(c.blocks)) {
		return nil, false, c.Fault
	}
	return c.blocks[h-1], true, nil
}

// BlockByHash returns a block.
func (c *Chain) BlockByHash(_ context.Context, hash chain.Hash) (*rpc.Block, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.blocks {
		if b.Hash == hash {
			return b, true, c.Fault
		}
	}
	return nil, false, c.Fault
}

// HeaderByHeight returns the line of a block.
func (c *Chain) HeaderByHeight(ctx context.Context, h chain.Height) (*rpc.HeaderLine, bool, error) {
	b, ok, err := c.BlockByHeight(ctx, h)
	if !ok || err != nil {
		return nil, false, err
	}
	return &rpc.HeaderLine{Hash: b.Hash, Header: &b.Block.Header, TxCount: len(b.Txs), SizeBytes: b.SizeBytes}, true, nil
}

// BaseFees returns the same price in every lane.
func (c *Chain) BaseFees() rpc.FeeQuote {
	q := rpc.FeeQuote{Height: c.Height(), MaxTx: chain.Usage{Cycles: MaxCycles, Cells: MaxCells}, ChainID: ChainID}
	for lane := range q.Fees {
		q.Fees[lane] = chain.FeePair{PerCycle: BaseFee, PerCell: BaseFee}
	}
	return q
}

// passCode names the error of a transaction that does not pass.
func passCode(err error) rpc.Code {
	if errors.Is(err, rpc.ErrOtherSender) {
		return rpc.CodeTxSender
	}
	return rpc.CodeTxInstruction
}

// Submit judges and queues.
func (c *Chain) Submit(ctx context.Context, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	return c.SubmitOnly(ctx, func(*chain.VerifiedTx) error { return nil }, bodies, into)
}

// SubmitOnly is Submit for transactions that pass.
func (c *Chain) SubmitOnly(_ context.Context, pass func(*chain.VerifiedTx) error, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Fault != nil {
		return nil, c.Fault
	}
	accepted := false
	for _, body := range bodies {
		tx, v := c.verdictOf(body)
		if tx != nil {
			if err := pass(tx); err != nil {
				tx, v = nil, rpc.Verdict{Hash: v.Hash, Code: passCode(err), Message: err.Error()}
			}
		}
		into = append(into, v)
		if tx == nil {
			continue
		}
		accepted = true
		c.pool = append(c.pool, tx)
		c.txs[tx.Hash] = &rpc.FoundTx{Tx: tx}
	}
	if accepted && c.Instant {
		c.finalize()
	}
	return into, nil
}

// Wait returns when every transaction has a receipt.
func (c *Chain) Wait(ctx context.Context, hashes []chain.Hash) error {
	for {
		c.mu.Lock()
		missing, final := false, c.final
		for _, h := range hashes {
			if c.receipts[h] == nil {
				missing = true
			}
		}
		c.mu.Unlock()
		if !missing {
			return nil
		}
		select {
		case <-final:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Transaction returns a transaction.
func (c *Chain) Transaction(_ context.Context, hash chain.Hash) (*rpc.FoundTx, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.txs[hash]
	return found, ok, c.Fault
}

// Receipt returns a receipt.
func (c *Chain) Receipt(_ context.Context, hash chain.Hash) (*rpc.FoundReceipt, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.receipts[hash]
	return found, ok, c.Fault
}

// PoolTx returns a waiting transaction.
func (c *Chain) PoolTx(_ context.Context, hash chain.Hash) (*rpc.PoolTx, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tx := range c.pool {
		if tx.Hash == hash {
			return &rpc.PoolTx{Tx: tx, State: rpc.PoolPending}, true, c.Fault
		}
	}
	return nil, false, c.Fault
}

// Account returns an account.
func (c *Chain) Account(_ context.Context, addr chain.Address) (*rpc.Account, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.accounts[addr]
	if !ok {
		return nil, false, c.Fault
	}
	copied := *a
	copied.Height = chain.Height(len(c.blocks))
	copied.PendingNext = a.Nonce + uint64(c.waiting(addr))
	return &copied, true, c.Fault
}

// Prove returns documents that are well formed and prove nothing.
func (c *Chain) Prove(_ context.Context, q *light.Query) (light.Document, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Fault != nil {
		return nil, false, c.Fault
	}
	f := light.Frame{Kind: q.Kind, ChainID: ChainID, Height: chain.Height(len(c.blocks)), Header: light.Bytes{1}, Certificate: light.Bytes{2}}
	node := light.List[light.Bytes]{{0xc1, 0x80}}
	switch q.Kind {
	case light.KindHeader:
		return &light.Header{Frame: f}, uint64(q.Height) <= uint64(len(c.blocks)), nil
	case light.KindAccount:
		addr := q.Accounts[0].Address
		d := &light.Account{Frame: f, Address: addr, Leaf: light.Leaf{Key: keccak.Sum256(addr[:]), Proof: node}}
		if _, d.Exists = c.accounts[addr]; d.Exists {
			d.Value = light.Bytes{0xc0}
		}
		return d, true, nil
	case light.KindStorage:
		ask := q.Accounts[0]
		return &light.Storage{Frame: f, Address: ask.Address, Slot: light.Bytes(ask.Slots[0])}, true, nil
	case light.KindTransaction, light.KindReceipt:
		found, ok := c.receipts[q.TxHash]
		if !ok {
			return nil, false, nil
		}
		return &light.Listed{Frame: f, TxHash: q.TxHash, Index: uint32(found.Slot), Value: found.Receipt.Encode()}, true, nil
	}
	d := &light.Multi{Frame: f, Nodes: node}
	for _, ask := range q.Accounts {
		a := light.MultiAccount{Address: ask.Address}
		for _, slot := range ask.Slots {
			a.Slots = append(a.Slots, light.MultiSlot{Slot: light.Bytes(slot)})
		}
		d.Accounts = append(d.Accounts, a)
	}
	return d, true, nil
}

// Faucet funds an account. The hash tells only how often it was asked.
func (c *Chain) Faucet(_ context.Context, addr chain.Address) (*rpc.Grant, error) {
	if c.Fault != nil {
		return nil, c.Fault
	}
	c.Fund(addr, FaucetWei)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants++
	return &rpc.Grant{TxHash: keccak.Sum256([]byte("grant"), []byte{c.grants}), Amount: FaucetWei, Final: true}, nil
}

// Advance makes empty blocks, or blocks of what waits.
func (c *Chain) Advance(ctx context.Context, blocks uint64) (*rpc.Advanced, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Fault != nil {
		return nil, c.Fault
	}
	var last *rpc.Block
	for range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last = c.finalize()
	}
	h := &last.Block.Header
	return &rpc.Advanced{Height: h.Height, TimestampMillis: h.TimestampMillis}, nil
}

// Evidence returns one proof against nobody in particular.
func (c *Chain) Evidence() []rpc.Evidence {
	return []rpc.Evidence{{Accused: chain.PeerKey{0xac}, View: 7, First: "notarize", Second: "notarize", Bytes: []byte{1, 2}}}
}

// Health returns what SetHealth set, at the current height.
func (c *Chain) Health() rpc.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.health
	h.Height = chain.Height(len(c.blocks))
	return h
}

// Subscribe delivers blocks.
func (c *Chain) Subscribe(ctx context.Context, depth int) (<-chan *rpc.Block, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Fault != nil {
		return nil, c.Fault
	}
	s := &stream{ctx: ctx, blocks: make(chan *rpc.Block, depth)}
	c.streams = append(c.streams, s)
	return s.blocks, nil
}
