// Package rpctest is a chain in memory behind the API, for tests of the server,
// of the client and of the programs that use it.
//
// It judges transactions as roughly as a test needs: decodable, signed, next
// nonce, covered by the balance. Nothing in it is a rule of the protocol. Every
// transfer costs its intrinsic cycles at one base unit each. Blocks are made
// when a test says so, or at once after each submission.
package rpctest

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/release"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Numbers of the chain in memory.
const (
	ChainID     = 7
	BaseFee     = chain.Wei(1)
	FaucetWei   = 5_000 * chain.WeiPerCBY
	GenesisTime = 1_700_000_000_000 // milliseconds
	BlockTime   = 1_000             // milliseconds
	MaxCycles   = chain.Cycles(1_000_000)
	MaxCells    = chain.Cells(100_000)
)

// Chain implements [rpc.Source]. It may be used by many goroutines.
type Chain struct {
	governance *rpc.Governance

	// Instant makes a block after every submission that accepted something.
	Instant bool
	// Fault is returned by every method that can fail, if set before use.
	Fault error

	mu       sync.Mutex // guards all below
	accounts map[chain.Address]*rpc.Account
	blocks   []*rpc.Block
	txs      map[chain.Hash]*rpc.FoundTx
	receipts map[chain.Hash]*rpc.FoundReceipt
	rents    map[chain.Address]*rpc.Rent
	pool     []*chain.VerifiedTx
	final    chan struct{} // closed and replaced at every block
	streams  []*stream
	health   rpc.Health
	grants   byte
}

type stream struct {
	ctx    context.Context
	blocks chan *rpc.Block
}

// New returns an empty chain at height 0.
func New() *Chain {
	return &Chain{
		accounts: make(map[chain.Address]*rpc.Account),
		txs:      make(map[chain.Hash]*rpc.FoundTx),
		receipts: make(map[chain.Hash]*rpc.FoundReceipt),
		rents:    make(map[chain.Address]*rpc.Rent),
		final:    make(chan struct{}),
		health:   rpc.Health{Status: "ok", Ready: true, ChainID: ChainID, Version: release.Version, Devnet: true},
	}
}

// Fund adds money to an account out of nothing.
func (c *Chain) Fund(addr chain.Address, amount chain.Wei) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.account(addr)
	a.Balance += amount
	a.Spendable += amount
}

// SetHealth replaces what Health returns.
func (c *Chain) SetHealth(h rpc.Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.health = h
}

// Deliver makes a block of what waits in the pool and of one delivery outside of
// any transaction, and returns it.
func (c *Chain) Deliver(id chain.Hash) *rpc.Block {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.finalize()
	b.Deliveries = append(b.Deliveries, id)
	c.receipts[id] = &rpc.FoundReceipt{
		Receipt: &chain.Receipt{
			TxHash: id, Lane: chain.LaneUser, Status: chain.StatusSucceeded, Output: []byte{0xf6},
			Trace: []chain.Delivery{
				{Message: chain.Hash{1}, Depth: 1, Status: chain.DeliverySucceeded, Cycles: 9},
				{Message: chain.Hash{2}, Parent: 1, Depth: 2, Status: chain.DeliveryWaits},
				{Message: chain.Hash{3}, Parent: 1, Depth: 2, Code: chain.CodeReverted},
			},
		},
		Height: b.Block.Header.Height, BlockHash: b.Hash, Slot: len(b.Txs),
	}
	return b
}

// Finalize makes one block of what waits in the pool and returns it.
func (c *Chain) Finalize() *rpc.Block {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finalize()
}

func (c *Chain) account(addr chain.Address) *rpc.Account {
	a, ok := c.accounts[addr]
	if !ok {
		a = &rpc.Account{CodeHash: keccak.Sum256(), StorageRoot: keccak.Sum256([]byte{0x80})}
		c.accounts[addr] = a
	}
	return a
}

func (c *Chain) finalize() *rpc.Block {
	height := chain.Height(len(c.blocks) + 1)
	block := &chain.Block{Header: chain.Header{
		Version:         chain.HeaderVersion,
		Height:          height,
		View:            chain.View(height) + 2,
		TimestampMillis: GenesisTime + uint64(height)*BlockTime,
	}}
	if n := len(c.blocks); n > 0 {
		block.Header.Parent = c.blocks[n-1].Hash
	}
	b := &rpc.Block{Block: block, Txs: c.pool}
	var keys []chain.Hash
	for _, tx := range c.pool {
		block.Txs = append(block.Txs, tx.Body)
		keys = append(keys, keccak.Sum256([]byte("order"), tx.Hash[:]))
	}
	b.OrderKeys = func() []chain.Hash { return keys }
	b.Hash = keccak.Sum256(block.Header.Parent[:], []byte{byte(height >> 8), byte(height)})
	b.SizeBytes = 300
	for slot, tx := range c.pool {
		b.SizeBytes += len(tx.Body)
		c.include(tx, b, slot)
	}
	c.pool = nil
	c.blocks = append(c.blocks, b)
	close(c.final)
	c.final = make(chan struct{})
	c.streams = slices.DeleteFunc(c.streams, func(s *stream) bool { return !s.deliver(b) })
	return b
}

func (s *stream) deliver(b *rpc.Block) bool {
	if s.ctx.Err() == nil {
		select {
		case s.blocks <- b:
			return true
		default:
		}
	}
	close(s.blocks)
	return false
}

// include moves the money of one transaction.
func (c *Chain) include(tx *chain.VerifiedTx, b *rpc.Block, slot int) {
	fee := chain.Wei(tx.Tx.CyclesLimit) * BaseFee
	from := c.account(tx.Sender)
	from.Nonce++
	from.Balance -= fee
	receipt := &chain.Receipt{TxHash: tx.Hash, Lane: tx.Lane, Status: chain.StatusSucceeded, CyclesUsed: tx.Tx.CyclesLimit, Fee: fee}
	switch {
	case tx.Tx.To == nil, *tx.Tx.To == ActorAddress: // as if it had run
	case len(tx.Tx.Payload) > 0:
		receipt.Status, receipt.Code = chain.StatusFailed, chain.CodeUnsupported
	default:
		from.Balance -= tx.Tx.Value
		to := c.account(*tx.Tx.To)
		to.Balance += tx.Tx.Value
		to.Spendable = to.Balance
		receipt.Events = []chain.Event{{Emitter: tx.Sender, Name: "Transfer", Data: tx.Tx.To[:]}}
	}
	from.Spendable = from.Balance
	c.txs[tx.Hash] = &rpc.FoundTx{Tx: tx, Final: true, Height: b.Block.Header.Height, Slot: slot}
	c.receipts[tx.Hash] = &rpc.FoundReceipt{Receipt: receipt, Height: b.Block.Header.Height, BlockHash: b.Hash, Slot: slot}
}

// verdictOf decodes and checks one body against the accounts and the pool.
func (c *Chain) verdictOf(body []byte) (*chain.VerifiedTx, rpc.Verdict) {
	refuse := func(code rpc.Code, message string) (*chain.VerifiedTx, rpc.Verdict) {
		return nil, rpc.Verdict{Hash: chain.TxHash(body), Code: code, Message: message}
	}
	tx, err := chain.DecodeTx(body)
	if err != nil {
		return refuse(rpc.CodeTxMalformed, err.Error())
	}
	if tx.Signature == nil {
		return refuse(rpc.CodeTxSignature, "not signed")
	}
	key, err := secp256k1.Recover(tx.SigningHash(), secp256k1.Signature{R: tx.Signature.R, S: tx.Signature.S, YParity: tx.Signature.YParity})
	if err != nil {
		return refuse(rpc.CodeTxSignature, err.Error())
	}
	v := &chain.VerifiedTx{Tx: tx, Body: slices.Clone(body), Hash: chain.TxHash(body), Sender: key.Address(), Lane: chain.LaneUser}
	if _, known := c.txs[v.Hash]; known {
		return refuse(rpc.CodeTxKnown, "already known")
	}
	from := c.account(v.Sender)
	switch next := from.Nonce + uint64(c.waiting(v.Sender)); {
	case tx.ChainID != ChainID:
		return refuse(rpc.CodeTxChainID, "another chain's transaction")
	case tx.Nonce < next:
		return refuse(rpc.CodeNonceTooLow, "nonce was used")
	case tx.Nonce > next:
		return refuse(rpc.CodeNonceTooHigh, "an earlier nonce is missing")
	case tx.CyclesLimit > MaxCycles || tx.CellsLimit > MaxCells:
		return refuse(rpc.CodeLimitTooHigh, "limit above the maximum")
	case from.Balance < tx.Value+chain.Wei(tx.CyclesLimit)*tx.MaxFeePerCycle:
		return refuse(rpc.CodeInsufficient, "balance does not cover value and fees")
	}
	return v, rpc.Verdict{Hash: v.Hash}
}

func (c *Chain) waiting(sender chain.Address) int {
	n := 0
	for _, tx := range c.pool {
		if tx.Sender == sender {
			n++
		}
	}
	return n
}

// Refused returns the error a test injects to see it passed on.
func Refused() error {
	return &rpc.Refusal{Status: http.StatusConflict, Code: rpc.CodeBadRequest, Message: "injected refusal"}
}
