package query

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/trial"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Config is what the answers are made of. Each part of the node is seen through what
// readers ask of it.
type Config struct {
	ChainID uint64
	Genesis chain.Hash // of the whole document

	Chain     Chain
	Blocks    Blocks
	Past      Past
	Pool      Pool
	Admission Admission

	// Spread tells other nodes of what the pool has admitted.
	Spread func(txs []*chain.VerifiedTx)
	// Keep keeps what the pool has admitted for a client over a restart. It does not
	// block, and may hold on to the list.
	Keep func(client netip.Addr, txs []*chain.VerifiedTx)
	// Engine makes the machine on which a reader's call runs.
	Engine   func() (*pvm.Engine, error)
	Evidence func() []attest.Evidence
	Health   func() rpc.Health
	// Faucet is the key of the account that gives on a development chain.
	Faucet *secp256k1.PrivateKey
	// Alone says that no other validator keeps the time: the chain can be advanced.
	Alone bool
	Log   *slog.Logger
}

// Chain is the newest finalized block with its state.
type Chain interface {
	// Head returns the finalized head. Its state may be given up soon: Keep holds it.
	Head() *ledger.Executed
	// NextInputs are those of a block on a head.
	NextInputs(head *ledger.Executed) exec.Inputs
	// Advance asks for empty blocks; false where too many are asked for already.
	Advance(blocks uint64) bool
}

// Blocks is what is stored of finalized blocks.
type Blocks interface {
	BlockByHeight(h chain.Height) (store.BlockRecord, bool, error)
	// BlockSize returns how many bytes are stored of a block and its receipts.
	BlockSize(h chain.Height) (int, bool, error)
	BlockBytes(h chain.Height) (digest chain.Hash, block []byte, ok bool, err error)
	BlockDigest(h chain.Height) (chain.Hash, bool, error)
	HeightByDigest(digest chain.Hash) (chain.Height, bool, error)
	Certificate(h chain.Height) ([]byte, bool, error)
	// Receipt tells pay how many bytes the receipt has before it reads it; its error ends that.
	Receipt(h chain.Height, slot int, pay func(bytes int) error) ([]byte, bool, error)
	ReceiptIDs(h chain.Height) (ids []chain.Hash, senders []chain.Address, ok bool, err error)
	ReceiptLocation(hash chain.Hash) (h chain.Height, slot int, ok bool, err error)
	Emissions(emitter chain.Address, in store.Stretch, most int) ([]store.Emission, error)
	JobsOf(side store.Side, of chain.Address, in store.Stretch, most int) ([]store.JobsAt, error)
	// Base is the first block that is kept; the indexes begin behind it.
	Base() chain.Height
}

// Past is the state of earlier heights, and the head held still.
type Past interface {
	// Both look at the undo records of the blocks above h, where there is no history, and
	// tell pay before how many these are at most; its error ends the search.
	AccountAt(ctx context.Context, h chain.Height, addr chain.Address, pay func(blocks int) error) (state.Account, bool, error)
	StorageAt(ctx context.Context, h chain.Height, addr chain.Address, slot state.StorageKey, pay func(blocks int) error) ([]byte, error)
	Export() (*store.Export, error)
}

// Pool is the transactions that wait.
type Pool interface {
	Lookup(ctx context.Context, hash chain.Hash) (lanes.Waiting, bool, error)
	// PendingNonce is the next one behind the sender's transactions that wait.
	PendingNonce(ctx context.Context, sender chain.Address) (uint64, error)
}

// Admission judges what clients submit, and reads senders of stored blocks that lack them.
type Admission interface {
	SubmitOf(client netip.Addr, guard sigverify.Guard, bodies [][]byte, into []sigverify.Verdict, reply func([]sigverify.Verdict)) error
	ReadBlock(ctx context.Context, bodies [][]byte) ([]*chain.VerifiedTx, error)
}

// Source answers the API from snapshots: the ledger's head, the store, and the
// lanes. It owns nothing but a cache of recent blocks.
type Source struct {
	cfg    Config
	hub    *hub
	faucet *faucet
	trials *trial.Bench
	head   func() chain.Height // of the finalized head, that readers see

	senders *oldSenders
	rooms   sync.Pool // of *verdictRoom

	mu          sync.Mutex                  // guards all below
	recent      map[chain.Height]*rpc.Block // the last finalized ones, without a gap
	oldest      chain.Height                // of recent
	recentBytes int                         // of their encodings
	older       olderBlocks                 // decoded for readers of the past
}

// New makes the source of a node. Readers may come before it runs, except with calls.
func New(cfg Config) (*Source, error) {
	s := newSource(cfg)
	var err error
	s.trials, err = newTrials(s)
	return s, err
}

func newSource(cfg Config) *Source {
	return &Source{
		cfg: cfg, hub: newHub(), faucet: newFaucet(cfg.ChainID, cfg.Faucet), recent: map[chain.Height]*rpc.Block{},
		head:    func() chain.Height { return cfg.Chain.Head().Height() },
		senders: newOldSenders(cfg.Admission.ReadBlock),
	}
}

// Run works off the calls of readers until ctx ends.
func (s *Source) Run(ctx context.Context) error { return s.trials.Run(ctx) }

// Finalized takes in a block that became final and tells the listeners.
func (s *Source) Finalized(e ledger.Event) {
	b := &rpc.Block{Hash: e.Digest, Block: e.Block, Txs: e.Txs, OrderKeys: orderKeys(e.Block, e.Txs), SizeBytes: len(e.Encoded)}
	for i := len(e.Txs); i < len(e.Receipts); i++ {
		b.Deliveries = append(b.Deliveries, e.Receipts[i].TxHash)
	}
	h := e.Block.Header.Height
	s.remember(h, b)
	s.hub.publish(b)
}

// Changed returns a channel that is closed at the next final block.
func (s *Source) Changed() <-chan struct{} { return s.hub.changed() }

// Stop ends every wait for a block; the API ends its streams itself. It is called once.
func (s *Source) Stop() { s.hub.stop() }

// Height implements rpc.Blocks.
func (s *Source) Height() chain.Height { return s.head() }

// BaseFees implements rpc.Blocks.
func (s *Source) BaseFees() rpc.FeeQuote {
	head := s.cfg.Chain.Head()
	p := head.Force.Params
	return rpc.FeeQuote{
		Height: head.Height(), Fees: ledger.BaseFeesAfter(p, &head.Block.Header),
		MaxTx: chain.Usage{Cycles: p.MaxTxCycles, Cells: p.MaxTxCells}, ChainID: s.cfg.ChainID,
	}
}

// Subscribe implements rpc.Streams.
func (s *Source) Subscribe(ctx context.Context, depth int) (<-chan *rpc.Block, error) {
	return s.hub.subscribe(ctx, depth), nil
}
