package rpc

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/state"
)

// Source is the node as the server sees it. Its methods are called from many
// goroutines at once and answer from snapshots of finalized state; none may
// wait for consensus except Wait, Faucet and Advance, which end with ctx.
//
// Beside its route's price a request costs what a method tells [Bill]; [ClientOf]
// says who asks.
//
// "Found" results are false for what does not exist. An error is a fault of the
// node and becomes a 5xx answer, except a [*Refusal], [ErrBusy], [ErrNotReady]
// and the error of an ended context, which keep their meaning.
type Source interface {
	// Height returns the height of the finalized head, 0 at genesis.
	Height() chain.Height
	// BlockByHeight returns a finalized block.
	BlockByHeight(ctx context.Context, h chain.Height) (*Block, bool, error)
	// BlockByHash returns a finalized block by the digest of its header.
	BlockByHash(ctx context.Context, hash chain.Hash) (*Block, bool, error)
	// HeaderByHeight returns the line of a list: it must be much cheaper than
	// BlockByHeight, because one request may ask for 1,000 of them.
	HeaderByHeight(ctx context.Context, h chain.Height) (*HeaderLine, bool, error)
	// BaseFees returns the prices of the next block.
	BaseFees() FeeQuote

	// Submit judges transaction bodies (without length prefixes) and queues the
	// accepted ones. It returns one verdict for each body, in order, and keeps
	// no reference to the slices. An error means that none was judged.
	Submit(ctx context.Context, bodies [][]byte) ([]Verdict, error)
	// Wait returns nil when every transaction is in a finalized block and the
	// context's error when that ends first.
	Wait(ctx context.Context, hashes []chain.Hash) error
	// Transaction returns a transaction of a finalized block or of the pool.
	Transaction(ctx context.Context, hash chain.Hash) (*FoundTx, bool, error)
	// Receipt returns the receipt of a finalized transaction, or of a delivery by
	// its id: a message that waited, or a timer.
	Receipt(ctx context.Context, hash chain.Hash) (*FoundReceipt, bool, error)
	// PoolTx returns a transaction that waits in the pool, or one that was
	// included lately with state PoolIncluded.
	PoolTx(ctx context.Context, hash chain.Hash) (*PoolTx, bool, error)

	// Account returns an account at the finalized head.
	Account(ctx context.Context, addr chain.Address) (*Account, bool, error)
	// AccountAt returns an account after the block at height h; what the pool
	// adds is left out. The error is [ErrNoHistory] for a height whose state the
	// node does not have, here and in the following.
	AccountAt(ctx context.Context, addr chain.Address, h chain.Height) (*Account, bool, error)
	// StorageAt returns a storage value after the block at height h, nil for the
	// finalized head.
	StorageAt(ctx context.Context, addr chain.Address, slot state.StorageKey, h *chain.Height) (*StorageValue, error)
	// CodeAt returns the code of an account; it is false without account.
	CodeAt(ctx context.Context, addr chain.Address, h *chain.Height) (*ActorCode, bool, error)
	// ReadHead calls read with the storage of the finalized head, at height h, which
	// holds still meanwhile. It may call it again after an error.
	ReadHead(ctx context.Context, read func(v StorageReader, h chain.Height) error) error
	// StoragePage returns a part of an account's storage at the finalized head.
	// The error is [ErrStorageMoved] if its root is not that of the query.
	StoragePage(ctx context.Context, q *StorageQuery) (*StoragePage, bool, error)
	// Rent returns how an account stands with its state rent at the finalized
	// head. It is false without account.
	Rent(ctx context.Context, addr chain.Address) (*Rent, bool, error)
	// Governance returns what was decided up to the finalized head.
	Governance(ctx context.Context) (*Governance, error)
	// Prove answers q with a document that verifies alone (resolution 11.32):
	// of the state after the finalized head, or of a block of any height. It is
	// false for a block, transaction or receipt that is not there; what the
	// state lacks has a proof.
	Prove(ctx context.Context, q *light.Query) (light.Document, bool, error)

	// Actor returns an actor and a part of what its program stored, at the
	// finalized head; it is false for an account without code.
	Actor(ctx context.Context, q *ActorQuery) (*Actor, bool, error)
	// Logs returns events of an emitter in final blocks.
	Logs(ctx context.Context, q *LogQuery) (*LogPage, error)
	// ReadActor runs a handler that changes nothing, on the head's state. What the
	// handler did, failures included, is in the answer.
	ReadActor(ctx context.Context, q *ReadQuery) (*Trial, error)
	// Estimate runs a transaction on the head's state and forgets it. One that no
	// block would take is a [*Refusal] with its verdict.
	Estimate(ctx context.Context, q *EstimateQuery) (*Trial, error)

	// Faucet sends development funds to addr. It is called on a devnet only.
	Faucet(ctx context.Context, addr chain.Address) (*Grant, error)
	// Advance makes blocks empty blocks at once, their timestamps apart by the
	// block time, and returns the new head. It is called on a devnet only.
	Advance(ctx context.Context, blocks uint64) (*Advanced, error)

	// Evidence returns the proofs of validators that contradicted themselves,
	// oldest first.
	Evidence() []Evidence
	// Health returns how the node is.
	Health() Health
	// Subscribe delivers every block finalized after the call, in order. The
	// channel buffers depth blocks and is closed when ctx ends or when the
	// receiver falls further behind; the sender never waits for it.
	Subscribe(ctx context.Context, depth int) (<-chan *Block, error)
}

// StorageReader is the storage of one state.
type StorageReader interface {
	Storage(addr chain.Address, key state.StorageKey) ([]byte, error)
}

// Block is a finalized block with what the header does not say of its
// transactions. The server only reads it, so many requests may share one.
type Block struct {
	Hash       chain.Hash // digest of the header
	Block      *chain.Block
	Txs        []*chain.VerifiedTx // of Block.Txs, in the same order
	OrderKeys  []chain.Hash        // one for each of Txs (resolution 11.41)
	Deliveries []chain.Hash        // ids of the receipts after those of Txs: messages that waited, timers
	SizeBytes  int                 // of the encoded block
}

// HeaderLine is what a list shows of a block.
type HeaderLine struct {
	Hash      chain.Hash
	Header    *chain.Header
	TxCount   int
	SizeBytes int
	Stored    bool // it was read from the disk for this answer
}

// FeeQuote is what a client needs to price a transaction.
type FeeQuote struct {
	Height  chain.Height                  // the finalized head
	Fees    [chain.NumLanes]chain.FeePair // of the block after it
	MaxTx   chain.Usage                   // protocol maxima of one transaction (resolution 11.33)
	ChainID uint64
}

// Verdict is the judgment on one submitted transaction.
type Verdict struct {
	Hash    chain.Hash // keccak256 of the body, also of a malformed one
	Code    Code       // CodeOK if accepted
	Message string     // says what to do; empty if accepted
}

// FoundTx is a transaction and where it stands.
type FoundTx struct {
	Tx     *chain.VerifiedTx
	Final  bool
	Height chain.Height // meaningful if Final
	Slot   int          // index in the block, meaningful if Final
}

// FoundReceipt is a receipt and where its transaction stands.
type FoundReceipt struct {
	Receipt   *chain.Receipt
	Height    chain.Height
	BlockHash chain.Hash
	Slot      int
}

// PoolState says how far a transaction of the pool is.
type PoolState string

// States of a pool transaction.
const (
	PoolPending  PoolState = "pending"  // may be in the next block
	PoolQueued   PoolState = "queued"   // waits for an earlier nonce
	PoolIncluded PoolState = "included" // left the pool for a finalized block
)

// PoolTx is a transaction of the pool.
type PoolTx struct {
	Tx    *chain.VerifiedTx
	State PoolState
}

// Account is an account at a height, with what the pool adds to it.
type Account struct {
	Nonce       uint64
	Balance     chain.Wei
	Spendable   chain.Wei // Balance less what is still vesting (whitepaper §8.3)
	StorageRoot chain.Hash
	CodeHash    chain.Hash
	Height      chain.Height
	PendingNext uint64 // next nonce behind the sender's transactions in the pool
}

// Grant is what the faucet gave.
type Grant struct {
	TxHash chain.Hash
	Amount chain.Wei
	Final  bool // the transfer is in a finalized block
}

// Advanced is the head after empty blocks.
type Advanced struct {
	Height          chain.Height
	TimestampMillis uint64
}

// Evidence is proof that a validator contradicted itself in a round (resolution
// 11.2). Bytes are the proof itself: anyone who has the genesis can verify it.
type Evidence struct {
	Accused       chain.PeerKey
	Epoch         chain.Epoch
	View          chain.View
	First, Second string // what it said: notarize, nullify or finalize
	Bytes         []byte
}

// Health is how the node is.
type Health struct {
	Status  string // "ok", "starting", "stopping" or "degraded"
	Ready   bool   // voting
	Height  chain.Height
	View    chain.View
	ChainID uint64
	Genesis chain.Hash
	Version string
	Devnet  bool
	Reasons []string // why it is not ok or not ready
	State   StateRoom
}

// StateRoom is how full the state is, as the protocol counts it (ADR 63).
type StateRoom struct {
	Bytes, Limit uint64
	Growth       uint64 // factor of the price of new bytes, in basis points
}
