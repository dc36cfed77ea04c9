package ledger

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/governance"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Replay executes every stored block from genesis on a state of its own and
// compares each header, seed and receipt: what the node would answer after
// losing all but its blocks. After each block the runner market's accounts are held
// against its records. It needs chain data only (CIP-11 §9.2), and reads
// source while it writes scratch.
type Replay struct {
	Genesis    *genesis.Genesis
	Sets       *beacon.Sets
	Proposers  *Proposers
	Shards     *shards.Code // nil for a set too small for it
	Source     *store.Store
	Scratch    *store.Store // a fresh store of the same genesis
	Signatures Signatures
	Until      chain.Height // last block to execute; 0 for the source's head
	Progress   func(done, total chain.Height)

	engine *pvm.Engine // while Run runs
	books  books.Books // of the runner market, behind the last block
}

// Run replays up to Until and returns the root it arrives at.
func (r *Replay) Run(ctx context.Context) (chain.Hash, error) {
	var err error
	if r.engine, err = NewEngine(); err != nil {
		return chain.Hash{}, err
	}
	last, _ := r.Source.HeadInfo()
	if r.Until > 0 {
		last = min(last, r.Until)
	}
	version := r.Scratch.Head()
	if r.books, err = books.Read(version); err != nil {
		return chain.Hash{}, fmt.Errorf("books of the genesis: %w", err)
	}
	parent := genesisHeader(r.Genesis, version.Root())
	force := governance.Genesis(&r.Genesis.Params)
	parentDigest := r.Genesis.Hash()
	for h := chain.Height(1); h <= last; h++ {
		if err := ctx.Err(); err != nil {
			return chain.Hash{}, err
		}
		rec, ok, err := r.Source.BlockByHeight(h)
		if err != nil {
			return chain.Hash{}, fmt.Errorf("read block %d: %w", h, err)
		}
		if !ok {
			return chain.Hash{}, fmt.Errorf("block %d is missing below the head %d", h, last)
		}
		block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
		if err != nil {
			return chain.Hash{}, fmt.Errorf("decode block %d: %w", h, err)
		}
		if block.Header.Parent != parentDigest || block.Header.Digest() != rec.Digest {
			return chain.Hash{}, fmt.Errorf("block %d is not the child of block %d", h, h-1)
		}
		if force, err = force.At(version); err != nil {
			return chain.Hash{}, fmt.Errorf("parameters of block %d: %w", h, err)
		}
		if version, err = r.replayBlock(ctx, place{version, force.Params, &parent}, block, rec); err != nil {
			return chain.Hash{}, fmt.Errorf("block %d: %w", h, err)
		}
		parent, parentDigest = block.Header, rec.Digest
		r.Progress(h, last)
	}
	return version.Root(), r.addUp(version)
}

// Books returns what the runner market held behind the last block that Run executed.
func (r *Replay) Books() books.Books { return r.books }

// addUp reads the books of a whole state: they are what all blocks made of them.
func (r *Replay) addUp(version *store.Version) error {
	sums, err := books.Read(version)
	if err == nil && sums != r.books {
		err = fmt.Errorf("%w: blocks come to %+v, the state to %+v", books.ErrUnbalanced, r.books, sums)
	}
	return err
}

// place is where a block is replayed: on the state after its parent.
type place struct {
	version *store.Version
	params  *params.Params
	parent  *chain.Header
}

// replayBlock executes one block and commits it to the scratch store.
func (r *Replay) replayBlock(ctx context.Context, at place, block *chain.Block, rec store.BlockRecord) (*store.Version, error) {
	h := &block.Header
	runners, err := countRunners(at.version)
	if err != nil {
		return nil, err
	}
	if err := checkChild(at.params, runners, h, at.parent); err != nil {
		return nil, err
	}
	txs, err := r.Signatures.VerifyBlock(ctx, block.Txs)
	if err != nil {
		return nil, &Verdict{"transaction", err}
	}
	parentBeacon := r.Genesis.Beacon
	if h.Height == 1 && h.ParentSeed != (chain.Header{}).ParentSeed {
		return nil, &Verdict{"parent seed", nil}
	}
	if h.Height > 1 {
		parentBeacon = chain.BeaconHash(h.ParentEpoch, h.ParentView, h.ParentSeed)
		if !r.Sets.VerifySeed(beacon.Round{Epoch: h.ParentEpoch, View: h.ParentView}, h.ParentSeed) {
			return nil, &Verdict{"parent seed", nil}
		}
	}
	if err := r.Proposers.checkOrder(h, parentBeacon, txs); err != nil {
		return nil, err
	}
	in := inputsOf(r.Genesis, r.Proposers.epochs, h, parentBeacon)
	in.Engine, in.Params = r.engine, at.params
	result, err := exec.Apply(at.version, in, txs)
	if err != nil {
		return nil, &Verdict{"execution", err}
	}
	next, err := at.version.Apply(result.Delta)
	if err != nil {
		return nil, fmt.Errorf("state root: %w", err)
	}
	receipts := chain.EncodeReceipts(result.Receipts)
	want := *h
	want.TxRoot, want.ReceiptsRoot = tree.ListRoot(block.Txs), tree.ListRoot(receipts)
	want.StateRoot, want.Used = next.Root(), result.Used
	_, body, err := chain.SplitBlock(rec.Block)
	if err == nil {
		want.BodyRoot, err = r.Shards.Root(body)
	}
	if err != nil {
		return nil, fmt.Errorf("body root: %w", err)
	}
	if err := compareResults(&want, h); err != nil {
		return nil, err
	}
	if err := r.books.Follow(at.version, result.Delta); err != nil {
		return nil, err
	}
	if err := r.books.Check(next); err != nil {
		return nil, err
	}
	if err := r.Scratch.Commit(next, rec); err != nil {
		return nil, fmt.Errorf("commit to scratch: %w", err)
	}
	return next, nil
}

// BaseFeesAfter returns the fees in force in the child of parent; those of the
// first block stand in the genesis.
func BaseFeesAfter(p *params.Params, parent *chain.Header) [chain.NumLanes]chain.FeePair {
	if parent.Height == 0 {
		return parent.BaseFees
	}
	return fees.NextBaseFees(p, parent)
}
