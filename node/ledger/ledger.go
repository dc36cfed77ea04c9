// Package ledger owns the chain's head and the tree of executed blocks above
// it. It answers the consensus engine: build a block, check a block, make a
// block final.
//
// # Flow
//
// Requests come from consensus/engine through [Ledger.Propose], [Ledger.Verify]
// and [Ledger.Finalized]; the ledger asks lanes for transactions and
// lanes/sigverify for senders, executes it (exec/parallel), derives the state root, and on
// finality commits block, receipts and state in one synced batch. What became
// final leaves as one [Event] that the node fans out.
//
// # Invariants
//
// One goroutine, [Ledger.Run], owns the tree; the exported methods only send
// to it and wait, but for the disk, which the caller of [Ledger.Finalized] writes.
// Execution is the same function for the proposer and the
// verifier, so a block that we built verifies elsewhere. Nothing unfinalized
// touches the disk. A fault of this node (disk, corruption) ends Run and with
// it the voting; a verdict on a block is an answer.
//
// Sections: whitepaper §6.5, resolutions 1.4, 1.12, 7.5, 11.8, 11.41.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/governance"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Pool is where proposals come from: lanes in production, a slice in tests.
type Pool interface {
	// Pack returns transactions in block order that fit the request.
	Pack(ctx context.Context, req lanes.PackRequest) (order.Selection, error)
	// Discard drops transactions that no block takes. Unknown ones are ignored.
	Discard(ctx context.Context, txs []*chain.VerifiedTx) error
	// Reconsider judges transactions anew that turned out to be messages.
	Reconsider(ctx context.Context, txs []*chain.VerifiedTx) error
	// Shun drops transactions and refuses them for a while.
	Shun(ctx context.Context, txs []*chain.VerifiedTx) error
	// Executable is how many transactions a block could take now, those of blocks that
	// are not final included. It waits for nobody.
	Executable() int
}

// Signatures recovers the senders of a received block's transactions.
type Signatures interface {
	// VerifyBlock returns one verified transaction for each body, or an error
	// that names the first bad one.
	VerifyBlock(ctx context.Context, bodies [][]byte) ([]*chain.VerifiedTx, error)
}

// Config is what a ledger is made of.
type Config struct {
	Genesis    *genesis.Genesis
	Store      *store.Store
	Pool       Pool
	Signatures Signatures
	Proposers  *Proposers
	Shards     *shards.Code    // what headers commit bodies with; nil for a set too small for it
	PeerKey    chain.PeerKey   // this validator
	OrderKey   *bls.SecretKey  // this validator's own BLS key: signs the order (resolution 11.15)
	Exec       parallel.Config // how blocks are executed; without workers: one transaction after the other
	Runtime    *vm.Runtime     // of programs; nil: one of its own, with a hash key of its own
	Now        func() time.Time

	// BuildPercent is the part of the block time in which a proposal takes
	// transactions; 0 means DefaultBuildPercent.
	BuildPercent int
	// MinBlock lets a proposal leave so long after its parent where the pool holds
	// enough for a block; 0 never before the block time. For development chains.
	MinBlock time.Duration
	// UnfinalBytes is what executed blocks above the head may take before this node
	// makes and votes for empty ones only; 0 means DefaultUnfinalBytes.
	UnfinalBytes int
	// Measure begins to measure the processor time of the calling goroutine, and
	// returns what ends it and says how many nanoseconds it took; nil: the thread's.
	Measure func() func() uint64

	Defect    func(pvm.Dump)     // told of every defect of the Python machine; may be nil
	Committed func(chain.Height) // called behind each commit, before the next; may be nil
	// Unread is told that a stored block cannot be read for a peer, from any goroutine,
	// and says whether it is known from now on as a damaged one; may be nil.
	Unread func(error) bool
	Log    *slog.Logger
}

// Event announces one finalized block.
type Event struct {
	Block    *chain.Block
	Encoded  []byte
	Digest   chain.Hash
	Txs      []*chain.VerifiedTx
	Receipts []chain.Receipt
	State    *store.Version // state after the block
	Params   *params.Params // in force in the next block
}

// Head is what the block means for the lanes: its state, and the accounts whose
// balance its transactions raised.
func (e *Event) Head() lanes.FinalizedHead {
	h := lanes.FinalizedHead{
		Height: e.Block.Header.Height, Epoch: e.Block.Header.Epoch, View: e.State, Millis: e.Block.Header.TimestampMillis,
		BaseFees: BaseFeesAfter(e.Params, &e.Block.Header), Params: e.Params, Txs: e.Txs, Receipts: e.Receipts,
	}
	h.Touched = make([]chain.Address, 0, len(e.Txs))
	for _, tx := range e.Txs {
		if tx.Tx.To != nil {
			h.Touched = append(h.Touched, *tx.Tx.To)
		}
	}
	return h
}

// Stats counts the ledger's work and the time it took.
type Stats struct {
	Proposed, Verified, Refused, Finalized atomic.Uint64
	Prepared, PreviewsUsed                 atomic.Uint64 // previews executed, and of these, proposals that came
	TxsFinalized                           atomic.Uint64
	Crowded                                atomic.Uint64 // own blocks left empty, and others' not voted for, because too much is not final
	Skipped                                atomic.Uint64 // transactions that execution refused of a selection
	Faults                                 atomic.Uint64 // transactions and previews that were given up because executing them is a fault
	Refilled, PackedAnew, Hurried, Slow    atomic.Uint64 // own blocks packed again, packed again without what was learned, ended by the clock; transactions far above their price in time
	Early                                  atomic.Uint64 // own proposals that left before the block time had passed
	ClockWaits                             atomic.Uint64 // own proposals that had to wait for this node's clock to come up to their parent
	PackNanos, ExecNanos, RootNanos        atomic.Uint64
	CommitNanos                            atomic.Uint64
	OwnerNanos                             atomic.Uint64 // that Run did not wait for requests

	exec atomic.Pointer[parallel.Stats]
}

func (s *Stats) noteExec(x parallel.Stats) { s.exec.Store(&x) }

// Exec returns what the executor of blocks has done. Safe for any goroutine.
func (s *Stats) Exec() parallel.Stats {
	if x := s.exec.Load(); x != nil {
		return *x
	}
	return parallel.Stats{}
}

// Ledger is the owner of head and tree.
type Ledger struct {
	cfg      Config
	requests chan request
	events   chan Event
	head     atomic.Pointer[Executed]
	pace     pace
	Stats    Stats
	Drift    Drift

	roots      tree.ListRoots
	records    sync.Pool              // of *recordRoom, for who commits
	saidUnread atomic.Pointer[string] // of the last stored block that could not be read for a peer

	// Owned by Run.
	tree     branches // head and every executed block above it
	executor *parallel.Executor
	ahead    previews
	size     blockSize
	rejected []rejected    // the last blocks refused for what they gave here
	moved    chan struct{} // closed and made anew when the head moves
	// committing is being written to disk by the caller of Finalized; nil: nothing is.
	committing *Executed
}

// Executed is a block with the state and receipts that its execution gave.
// Nothing in it changes.
type Executed struct {
	Block    *chain.Block
	Encoded  []byte
	Digest   chain.Hash
	Round    beacon.Round
	Txs      []*chain.VerifiedTx
	Receipts []chain.Receipt
	receipts [][]byte       // encoded, of a block that was executed here
	jobs     []store.JobsOf // that it begins, likewise
	State    *store.Version
	Force    governance.Force // parameters of the children
	runners  uint32           // entries of the registry, which bound the inputs of the children
	codeword *shards.Codeword // of an own block, on its way to the engine
	// Certificate finalizes the block or a descendant; only the head that the
	// ledger opened with has one.
	Certificate []byte
	Own         []byte // certificate of this very block, beside Certificate
	bytes       int    // about what it takes in memory
}

// Floor returns what consensus begins with where the ledger opened with e.
func (e *Executed) Floor() engine.Floor {
	return engine.Floor{Round: e.Round, Digest: e.Digest, Certificate: e.Certificate, Own: e.Own}
}

// Height is the block's height.
func (e *Executed) Height() chain.Height { return e.Block.Header.Height }

type request func(ctx context.Context) error

// requestsQueued bounds the inbox: the engine has at most a proposal, a
// verification and a finalization under way.
const requestsQueued = 8

// eventsQueued bounds what the fan-out may lag behind; past it finalization
// waits, because no finalized block may be skipped.
const eventsQueued = 256

// New returns a ledger on the store's head, which must belong to the genesis.
func New(cfg Config) (*Ledger, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Measure == nil {
		cfg.Measure = threadTime
	}
	if cfg.BuildPercent == 0 {
		cfg.BuildPercent = DefaultBuildPercent
	}
	if cfg.MinBlock != 0 && (!cfg.Genesis.Devnet || cfg.MinBlock < time.Millisecond) {
		return nil, fmt.Errorf("%w: %s of chain %q", ErrMinBlock, cfg.MinBlock, cfg.Genesis.Name)
	}
	head, err := loadHead(cfg.Store, cfg.Genesis)
	if err != nil {
		return nil, fmt.Errorf("load head: %w", err)
	}
	executor, err := newExecutor(cfg.Exec, cfg.Runtime)
	if err != nil {
		return nil, fmt.Errorf("execution: %w", err)
	}
	l := &Ledger{
		executor: executor,
		cfg:      cfg,
		requests: make(chan request, requestsQueued),
		events:   make(chan Event, eventsQueued),
		tree:     newBranches(head),
		size:     newBlockSize(&cfg.Genesis.Params),
		moved:    make(chan struct{}),
	}
	if l.cfg.UnfinalBytes == 0 {
		l.cfg.UnfinalBytes = DefaultUnfinalBytes
	}
	l.head.Store(head)
	l.pace.early.set(cfg.MinBlock, cfg.BuildPercent, l.waiting)
	l.pace.setClock(cfg.Genesis.Devnet, cfg.Now(), head.Block.Header.TimestampMillis)
	return l, nil
}

// Events delivers every finalized block once, in order of height.
func (l *Ledger) Events() <-chan Event { return l.events }

// Head returns the last finalized block. Safe for any goroutine.
func (l *Ledger) Head() *Executed { return l.head.Load() }

// Advance asks for n empty blocks without waiting for their time. Only a
// development chain may do so. It reports whether the request was taken: at
// most 10,000 blocks can be due.
func (l *Ledger) Advance(n uint64) bool { return l.pace.request(n) }

// ClockLead is how far the time of the newest final block is ahead of this node's
// clock; negative, as it usually is, by the block's age. Safe for any goroutine.
func (l *Ledger) ClockLead() time.Duration {
	lead := int64(l.Head().Block.Header.TimestampMillis) - int64(l.pace.nowMillis(l.cfg.Now()))
	const most = int64(driftMax / time.Millisecond)
	return time.Duration(max(-most, min(lead, most))) * time.Millisecond
}

// ClockBehind is how long this node's clock has to go until it proposes and votes
// for what comes after the newest final block: as far as that is ahead of it by more
// than the drift. 0 if it does so now, and on a development chain.
func (l *Ledger) ClockBehind() time.Duration {
	head := l.Head()
	at := timing{parentMillis: head.Block.Header.TimestampMillis, driftMillis: head.Force.Params.MaxClockDriftMillis}
	behind := l.pace.behindMillis(at, l.pace.nowMillis(l.cfg.Now()))
	return time.Duration(min(behind, uint64(driftMax/time.Millisecond))) * time.Millisecond
}

// ClockOff is how far the clocks of most other validators are from this node's, by
// their proposals of the last minutes, of so many others; 0 while that is not known.
func (l *Ledger) ClockOff(others int) time.Duration {
	return l.Drift.most(others, l.pace.nowMillis(l.cfg.Now()))
}

// Run serves requests until ctx ends or this node has a fault.
func (l *Ledger) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case do := <-l.requests:
			began := time.Now()
			err := do(ctx)
			l.Stats.OwnerNanos.Add(uint64(time.Since(began)))
			if err != nil {
				return fmt.Errorf("ledger: %w", err)
			}
		}
	}
}

// ErrStopped means that the ledger no longer serves.
var ErrStopped = errors.New("ledger stopped")

// call runs f on the owner's goroutine and waits for its answer. An error of f
// that is a fault ends Run as well.
func call[T any](ctx context.Context, l *Ledger, f func(ctx context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	reply := make(chan answer, 1)
	do := func(runCtx context.Context) error {
		if ctx.Err() != nil {
			reply <- answer{err: ctx.Err()}
			return nil
		}
		value, err := f(runCtx)
		reply <- answer{value, err}
		if isFault(err) && runCtx.Err() == nil {
			return err
		}
		return nil
	}
	var none T
	select {
	case l.requests <- do:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	select {
	case a := <-reply:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
