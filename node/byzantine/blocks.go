package byzantine

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// block is a proposal that is being altered.
type block struct {
	chain.Block
	body     []byte           // in place of the encoded transactions, if there is one
	codeword *shards.Codeword // of a body that goes as shards
}

// Application returns app with the lies in it.
func (l *Liar) Application(app engine.Application) engine.Application {
	if l.cfg.Kind.counts {
		return &counter{app, l}
	}
	if l.cfg.Kind.alter == nil {
		return app
	}
	return &application{Application: app, liar: l, own: map[chain.Hash]bool{}}
}

type application struct {
	engine.Application
	liar *Liar

	mu  sync.Mutex // Verify and Recover run beside Propose
	own map[chain.Hash]bool
}

// liesKept bounds the lies that a liar remembers.
const liesKept = 256

// Propose implements [engine.Application].
func (a *application) Propose(ctx context.Context, req engine.ProposeRequest) (engine.Proposed, error) {
	p, err := a.Application.Propose(ctx, req)
	if err != nil {
		return p, err
	}
	honest, err := chain.DecodeBlock(p.Block, len(p.Block))
	if err != nil {
		return p, fmt.Errorf("own block: %w", err)
	}
	b := &block{Block: *honest}
	if err := a.liar.cfg.Kind.alter(a.liar, b); err != nil {
		return p, fmt.Errorf("lie: %w", err)
	}
	out := engine.Proposed{Digest: b.Header.Digest(), Block: b.Encode(), Shards: b.codeword}
	if b.body != nil {
		out.Block = chain.JoinBlock(chain.EncodeHeader(&b.Header), b.body)
	}
	a.mu.Lock()
	if len(a.own) == liesKept {
		clear(a.own) // all but the newest are refused by now
	}
	a.own[out.Digest] = true
	a.mu.Unlock()
	a.liar.cfg.Log.Warn("proposing a lie", "kind", a.liar.cfg.Kind.Name, "view", req.Round.View, "digest", out.Digest)
	return out, nil
}

// Verify implements [engine.Application]: a liar stands by its lies.
func (a *application) Verify(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	a.mu.Lock()
	own := a.own[req.Digest]
	a.mu.Unlock()
	if own {
		return true, nil
	}
	return a.Application.Verify(ctx, req)
}

// Recover implements [engine.Application]. The lies of an earlier life are not
// remembered; what was in the journal was one, or is good.
func (a *application) Recover(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	_, err := a.Application.Recover(ctx, req)
	return err == nil, err
}

// counter is an honest application that tells the liar the heights of blocks.
type counter struct {
	engine.Application
	liar *Liar
}

// Propose implements [engine.Application].
func (c *counter) Propose(ctx context.Context, req engine.ProposeRequest) (engine.Proposed, error) {
	p, err := c.Application.Propose(ctx, req)
	if err == nil {
		c.liar.rememberHeight(p.Digest, p.Block)
	}
	return p, err
}

// Verify implements [engine.Application].
func (c *counter) Verify(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	c.liar.rememberHeight(req.Digest, req.Block)
	return c.Application.Verify(ctx, req)
}

// rememberHeight remembers the height of a block.
func (l *Liar) rememberHeight(digest chain.Hash, raw []byte) {
	b, err := chain.DecodeBlock(raw, len(raw))
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.heights) == liesKept {
		clear(l.heights)
	}
	l.heights[digest] = b.Header.Height
}

func badRoot(_ *Liar, b *block) error {
	b.Header.StateRoot[0] ^= 1
	return nil
}

func badReceipts(_ *Liar, b *block) error {
	b.Header.ReceiptsRoot[0] ^= 1
	return nil
}

func badUsed(_ *Liar, b *block) error {
	b.Header.Used[chain.LaneUser].Cycles++
	return nil
}

func badFees(_ *Liar, b *block) error {
	b.Header.BaseFees[chain.LaneUser].PerCycle++
	return nil
}

func future(_ *Liar, b *block) error {
	b.Header.TimestampMillis += 3_600_000
	return nil
}

// badOrder turns the transactions round. Where there are too few to be in any
// order, it spoils the proof of it.
func badOrder(_ *Liar, b *block) error {
	if len(b.Txs) < 2 || b.Header.BodyRoot != (chain.Hash{}) {
		b.Header.OrderProof[1] ^= 1
		return nil
	}
	slices.Reverse(b.Txs)
	b.Header.TxRoot = tree.ListRoot(b.Txs)
	return nil
}

// noise returns a body that is just long enough to go as shards.
func (l *Liar) noise() []byte {
	body := make([]byte, l.cfg.Params.MaxWholeBytes+1)
	_, _ = rand.Read(body)
	return body
}

// badCodeword commits to the data of one body and the parity of another.
func badCodeword(l *Liar, b *block) error {
	var err error
	b.body = l.noise()
	if b.codeword, err = l.cfg.Shards.EncodeLie(b.body, l.noise()); err != nil {
		return err
	}
	b.Header.BodyRoot = b.codeword.Root
	return nil
}

// largeBody proposes noise, so that there are shards.
func largeBody(l *Liar, b *block) error {
	var err error
	b.body = l.noise()
	if b.codeword, err = l.cfg.Shards.Encode(b.body); err != nil {
		return err
	}
	b.Header.BodyRoot = b.codeword.Root
	return nil
}
