package solo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/tools"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Config is how a chain is run.
type Config struct {
	Store store.Options
	Exec  parallel.Config
	// Wall gives blocks the times of the clock, a block time apart, as a chain has
	// that goes on in a node. Without it a block never waits, and chain time runs
	// ahead.
	Wall bool
	// Shards are what long blocks travel as; nil: every block goes whole, as on any chain
	// of one validator. Who follows a chain has the same.
	Shards *shards.Code
}

// DefaultConfig returns the configuration of a node, without a history of old
// values.
func DefaultConfig() Config {
	opts := store.DefaultOptions()
	opts.KeepVersions, opts.UndoBlocks = 1, 0
	return Config{Store: opts, Exec: parallel.DefaultConfig(runtime.GOMAXPROCS(0))}
}

// Chain is the chain of one folder.
type Chain struct {
	cfg       Config
	folder    *tools.Offline
	lanes     *lanes.Lanes
	sigverify *sigverify.Pipeline
	ledger    *ledger.Ledger
	seed      [48]byte // of the head's round
	begun     counters // at the last Block's end

	stop   context.CancelFunc
	owners sync.WaitGroup
	failed chan error // what the ledger ended with
}

// Block is a final block.
type Block struct {
	Height   chain.Height
	Txs      []*chain.VerifiedTx
	Receipts []chain.Receipt // of transactions, then of deliveries and firings
	Split    Split           // what it took since the block before, submissions included
	Sealed   Sealed          // for who follows
}

// Open opens the chain of a folder that [setup.PrepareDevnet] made.
func Open(dir string, cfg Config) (*Chain, error) {
	folder, err := tools.OpenOffline(dir, cfg.Store)
	if err != nil {
		return nil, err
	}
	c := &Chain{cfg: cfg, folder: folder}
	if err := c.build(); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.failed = stop, make(chan error, 1)
	c.owners.Go(func() { _ = c.lanes.Run(ctx) })     // ends with its context
	c.owners.Go(func() { _ = c.sigverify.Run(ctx) }) // likewise
	c.owners.Go(func() { c.failed <- c.ledger.Run(ctx) })
	c.begun = c.counters()
	return c, nil
}

func (c *Chain) build() error {
	g, s := c.folder.Genesis, c.folder.Store
	proposers, err := ledger.NewProposers(epoch.Of(g))
	if err != nil {
		return err
	}
	params, err := ledger.HeadParams(s, g)
	if err != nil {
		return err
	}
	header, err := ledger.HeadHeader(s, g)
	if err != nil {
		return err
	}
	pool := lanes.DefaultConfig()
	pool.SenderTxs = SenderTxs
	pool.Epochs = epoch.Of(g)
	c.lanes, err = lanes.New(pool, params, g.ChainID, lanes.FinalizedHead{
		Height: header.Height, View: s.Head(), BaseFees: ledger.BaseFeesAfter(params, &header),
	})
	if err != nil {
		return err
	}
	if c.sigverify, err = sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), c.lanes); err != nil {
		return err
	}
	keys := c.folder.Keys
	c.ledger, err = ledger.New(ledger.Config{
		Genesis: g, Store: s, Pool: c.lanes, Signatures: c.sigverify, Proposers: proposers, Shards: c.cfg.Shards,
		PeerKey: chain.PeerKey(keys.Peer.PublicKey()), OrderKey: keys.Own, Exec: c.cfg.Exec,
		Now: c.clock(header.TimestampMillis), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return err
	}
	if head := c.ledger.Head(); head.Height() > 0 {
		own, err := simplex.DecodeCertificate(head.Own)
		if err != nil {
			return fmt.Errorf("certificate of the head: %w", err)
		}
		c.seed = own.Seed
	}
	return nil
}

// SenderTxs is how many transactions of one sender may wait: who seeds a chain
// pays for everybody.
const SenderTxs = 4096

// clock is the ledger's: the wall's, or one on which the next block is always due.
// It starts at the head's time: a ledger that starts ahead of its clock goes on
// ahead, and so further with each opening.
func (c *Chain) clock(headMillis uint64) func() time.Time {
	if c.cfg.Wall {
		return time.Now
	}
	return func() time.Time {
		if c.ledger == nil { // it is being made
			return time.UnixMilli(int64(headMillis))
		}
		head := c.ledger.Head()
		return time.UnixMilli(int64(head.Block.Header.TimestampMillis + head.Force.Params.BlockTimeMillis))
	}
}

// Genesis is that of the chain.
func (c *Chain) Genesis() *genesis.Genesis { return c.folder.Genesis }

// Head is the last final block with its state.
func (c *Chain) Head() *ledger.Executed { return c.ledger.Head() }

// Store is the chain's, for its sizes.
func (c *Chain) Store() *store.Store { return c.folder.Store }

// Submit hands signed transactions to the signature pipeline and returns what
// became of each: admitted, or refused and why.
func (c *Chain) Submit(ctx context.Context, bodies [][]byte) ([]sigverify.Verdict, error) {
	all := make([]sigverify.Verdict, 0, len(bodies))
	for len(bodies) > 0 {
		n := min(len(bodies), submitTxs)
		reply := make(chan []sigverify.Verdict, 1)
		if err := c.sigverify.Submit(bodies[:n], func(v []sigverify.Verdict) { reply <- v }); err != nil {
			return all, fmt.Errorf("submit: %w", err)
		}
		select {
		case v := <-reply:
			all = append(all, v...)
		case <-ctx.Done():
			return all, ctx.Err()
		}
		bodies = bodies[n:]
	}
	return all, nil
}

// submitTxs is handed to the pipeline at a time: half of its queue would be the
// most.
const submitTxs = 4096

// Block makes the next block of what waits, and makes it final.
func (c *Chain) Block(ctx context.Context) (Block, error) {
	head := c.ledger.Head()
	round := beacon.Round{Epoch: c.folder.Epoch(), View: head.Round.View + 1}
	parent := engine.ParentRef{Round: head.Round, Digest: head.Digest, Seed: c.seed}
	p, err := c.ledger.Propose(ctx, engine.ProposeRequest{Round: round, Parent: parent})
	if err != nil {
		return Block{}, c.cause(fmt.Errorf("propose: %w", err))
	}
	cert, err := c.folder.Certify(simplex.Proposal{Round: round, Parent: head.Round.View, Payload: p.Digest})
	if err != nil {
		return Block{}, err
	}
	raw := simplex.AppendCertificate(nil, cert)
	final := engine.Finalization{Round: round, Digest: p.Digest, Seed: cert.Seed, Certificate: raw, Own: raw}
	b, err := c.finalize(ctx, final)
	b.Sealed = Sealed{parent, final, p.Block, p.Shards}
	return b, err
}

// finalize makes a block final that the ledger has executed.
func (c *Chain) finalize(ctx context.Context, final engine.Finalization) (Block, error) {
	if err := c.ledger.Finalized(ctx, final); err != nil {
		return Block{}, c.cause(fmt.Errorf("finalize: %w", err))
	}
	c.seed = final.Seed
	e := <-c.ledger.Events()
	began := time.Now()
	if err := c.lanes.Finalized(ctx, e.Head()); err != nil {
		return Block{}, fmt.Errorf("lanes: %w", err)
	}
	now := c.counters()
	now.pack += time.Since(began)
	b := Block{Height: e.Block.Header.Height, Txs: e.Txs, Receipts: e.Receipts, Split: now.since(&c.begun)}
	c.begun = c.counters()
	return b, nil
}

// cause adds why the ledger ended, if it did.
func (c *Chain) cause(err error) error {
	select {
	case fault := <-c.failed:
		c.failed <- fault
		return errors.Join(err, fault)
	default:
		return err
	}
}

// Close stops the owners and closes the folder.
func (c *Chain) Close() error {
	c.stop()
	c.owners.Wait()
	err := <-c.failed
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, c.folder.Close())
}
