package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"

	cowboy "github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

// standingStill is longer than any race: chains do not time out while they wait.
const standingStill = 24 * time.Hour

// ourChain is four engines as the node runs them, with journal and guard on the
// disk, around an application that only counts.
type ourChain struct {
	*gate
	dir     string
	engines []*engine.Engine
	cancel  context.CancelFunc
	runs    sync.WaitGroup
	closers []func() error

	mu     sync.Mutex
	failed error
}

func newOurChain() (chain, error) {
	const n = 4
	c, err := newCommittee(n)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-ours-")
	if err != nil {
		return nil, err
	}
	o := &ourChain{gate: newGate(n), dir: dir, engines: make([]*engine.Engine, n)}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	for i := range n {
		if err := o.open(c, i); err != nil {
			return nil, errors.Join(err, o.close())
		}
	}
	for _, e := range o.engines {
		o.runs.Go(func() {
			if err := e.Run(ctx); !errors.Is(err, context.Canceled) {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.failed = errors.Join(o.failed, err)
			}
		})
	}
	return o, nil
}

func (o *ourChain) open(c *committee, i int) error {
	home := filepath.Join(o.dir, fmt.Sprint(i))
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	votes, err := journal.Open(filepath.Join(home, "votes"), journal.KindVotes)
	if err != nil {
		return err
	}
	o.closers = append(o.closers, votes.Close)
	params := params.Default()
	cfg := engine.DefaultConfig(&params)
	keys := c.keys[i]
	watermark, err := guard.Start(home, guard.Identity{Peer: c.set.At(beacon.Participant(i)).PeerKey}, true)
	if err != nil {
		return err
	}
	o.closers = append(o.closers, watermark.Close)
	cfg.Set, cfg.Self, cfg.Share, cfg.Peer, cfg.Weights = c.set, beacon.Participant(i), keys.Share, keys.Peer, c.weights
	cfg.Guard = watermark
	cfg.LeaderTimeout, cfg.CertificationTimeout, cfg.RetryInterval = standingStill, standingStill+1, standingStill
	cfg.LastFinalized = engine.Floor{Digest: cowboy.Hash{1}}
	app := &countingApp{gate: o.gate, self: i, heights: map[cowboy.Hash]int{{1}: 0}, blocks: map[cowboy.Hash][]byte{}}
	cfg.Archive = app
	o.engines[i], err = engine.New(cfg, app, memoryPort{o, beacon.Participant(i)}, votes)
	return err
}

func (o *ourChain) extend(ctx context.Context, n int) error {
	err := o.gate.extend(ctx, n)
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Join(err, o.failed)
}

func (o *ourChain) close() error {
	o.cancel()
	o.runs.Wait()
	var errs []error
	for _, f := range o.closers {
		errs = append(errs, f())
	}
	return errors.Join(append(errs, os.RemoveAll(o.dir))...)
}

// memoryPort delivers to the other engines at once.
type memoryPort struct {
	chain *ourChain
	self  beacon.Participant
}

func (p memoryPort) Broadcast(msg []byte) {
	for i := range p.chain.engines {
		if beacon.Participant(i) != p.self {
			p.Send(beacon.Participant(i), msg)
		}
	}
}

func (p memoryPort) Send(to beacon.Participant, msg []byte) {
	_ = p.chain.engines[to].Deliver(p.self, msg) // a full inbox is asked again
}

// countingApp has blocks that hold their place and nothing else.
type countingApp struct {
	gate *gate
	self int

	mu      sync.Mutex
	heights map[cowboy.Hash]int
	blocks  map[cowboy.Hash][]byte
	finals  []engine.Finalization
}

func (a *countingApp) height(digest cowboy.Hash) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heights[digest]
}

func (a *countingApp) learn(digest cowboy.Hash, height int, block []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heights[digest], a.blocks[digest] = height, block
}

func (a *countingApp) Propose(ctx context.Context, req engine.ProposeRequest) (engine.Proposed, error) {
	height := a.height(req.Parent.Digest) + 1
	if err := a.gate.pass(ctx, height); err != nil {
		return engine.Proposed{}, err
	}
	block := binary.BigEndian.AppendUint64(req.Parent.Digest[:], uint64(req.Round.View))
	digest := cowboy.Hash(keccak.Sum256(block))
	a.learn(digest, height, block)
	return engine.Proposed{Digest: digest, Block: block}, nil
}

func (a *countingApp) Prepare(context.Context, engine.PrepareRequest) error { return nil }

func (a *countingApp) Fits(digest cowboy.Hash, block []byte) (bool, error) {
	return cowboy.Hash(keccak.Sum256(block)) == digest, nil
}

func (a *countingApp) Verify(_ context.Context, req engine.VerifyRequest) (bool, error) {
	if fits, err := a.Fits(req.Digest, req.Block); err != nil {
		return false, err
	} else if !fits {
		return false, engine.ErrWrongBlock
	}
	a.learn(req.Digest, a.height(req.Parent.Digest)+1, req.Block)
	return true, nil
}

func (a *countingApp) Recover(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	return a.Verify(ctx, req)
}

// Final implements engine.Archive, for a validator that fell behind.
func (a *countingApp) Final(_ context.Context, v cowboy.View, limit, _ int) ([]engine.ArchivedBlock, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []engine.ArchivedBlock
	from := sort.Search(len(a.finals), func(i int) bool { return a.finals[i].Round.View >= v })
	for _, f := range a.finals[from:min(len(a.finals), from+limit)] {
		out = append(out, engine.ArchivedBlock{Certificate: f.Certificate, Own: f.Own, Block: a.blocks[f.Digest]})
	}
	return out, nil
}

func (a *countingApp) Finalized(_ context.Context, f engine.Finalization) error {
	a.mu.Lock()
	a.finals = append(a.finals, f)
	a.mu.Unlock()
	a.gate.final(a.self, a.height(f.Digest))
	return nil
}
