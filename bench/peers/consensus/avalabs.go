package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ava-labs/simplex"
	"github.com/ava-labs/simplex/wal"
	"go.uber.org/zap"
)

// avaChain is four epochs of ava-labs/simplex with its own write-ahead log on
// the disk. The module leaves signatures, network and storage to its user: voices
// sign and verify as asked for, messages are passed in memory without encoding,
// and final blocks are kept in memory.
type avaChain struct {
	*gate
	dir     string
	nodes   []simplex.NodeID
	epochs  []*simplex.Epoch
	inboxes []chan avaMessage
	stop    chan struct{}
	runs    sync.WaitGroup

	mu     sync.Mutex
	failed error
}

type avaMessage struct {
	msg  *simplex.Message
	from simplex.NodeID
}

// voices sign and verify for the validators of one chain.
type voices interface {
	simplex.SignatureVerifier
	simplex.SignatureAggregator
	simplex.QCDeserializer
	signer(i int) simplex.Signer
}

func newAvaChain(newVoices func(nodes []simplex.NodeID) (voices, error)) (chain, error) {
	const n = 4
	dir, err := os.MkdirTemp("", "bench-ava-")
	if err != nil {
		return nil, err
	}
	c := &avaChain{gate: newGate(n), dir: dir, stop: make(chan struct{})}
	for i := range n {
		c.nodes = append(c.nodes, simplex.NodeID{byte(i + 1)})
		c.inboxes = append(c.inboxes, make(chan avaMessage, 4096))
	}
	v, err := newVoices(c.nodes)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	for i := range n {
		log, err := wal.New(filepath.Join(dir, fmt.Sprintf("%d.wal", i)))
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		e, err := simplex.NewEpoch(simplex.EpochConfig{
			MaxProposalWait: standingStill, MaxRebroadcastWait: standingStill,
			QCDeserializer: v, Logger: quiet{}, ID: c.nodes[i], Signer: v.signer(i), Verifier: v,
			BlockDeserializer: avaBlocks{}, SignatureAggregator: v, Comm: &avaPort{c, i},
			Storage: &avaStorage{chain: c, self: i}, WAL: log, BlockBuilder: &avaBuilder{c},
			StartTime: time.Now(),
		})
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.epochs = append(c.epochs, e)
	}
	for i, e := range c.epochs {
		if err := e.Start(); err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.runs.Go(func() { c.read(i, e) })
	}
	return c, nil
}

// read hands one validator its messages.
func (c *avaChain) read(i int, e *simplex.Epoch) {
	for {
		select {
		case <-c.stop:
			return
		case m := <-c.inboxes[i]:
			if err := e.HandleMessage(m.msg, m.from); err != nil {
				c.mu.Lock()
				c.failed = errors.Join(c.failed, err)
				c.mu.Unlock()
				return
			}
		}
	}
}

func (c *avaChain) extend(ctx context.Context, n int) error {
	err := c.gate.extend(ctx, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(err, c.failed)
}

func (c *avaChain) close() error {
	for _, e := range c.epochs {
		e.Stop()
	}
	close(c.stop)
	c.runs.Wait()
	return os.RemoveAll(c.dir)
}

type avaPort struct {
	chain *avaChain
	self  int
}

func (p *avaPort) Nodes() []simplex.NodeID {
	return append([]simplex.NodeID(nil), p.chain.nodes...) // the epoch sorts them in place
}

func (p *avaPort) Send(msg *simplex.Message, to simplex.NodeID) {
	if v := msg.VerifiedBlockMessage; v != nil && msg.BlockMessage == nil {
		copied := *msg
		copied.BlockMessage = &simplex.BlockMessage{Block: v.VerifiedBlock.(*avaBlock), Vote: v.Vote}
		msg = &copied
	}
	select {
	case p.chain.inboxes[to[0]-1] <- avaMessage{msg, p.chain.nodes[p.self]}:
	case <-p.chain.stop:
	}
}

func (p *avaPort) Broadcast(msg *simplex.Message) {
	for i, to := range p.chain.nodes {
		if i != p.self {
			p.Send(msg, to)
		}
	}
}

// avaBlock is a block that holds its place and nothing else.
type avaBlock struct{ header simplex.BlockHeader }

func newAvaBlock(m simplex.ProtocolMetadata) *avaBlock {
	h := simplex.BlockHeader{ProtocolMetadata: m}
	h.Digest = sha256.Sum256(h.Bytes())
	return &avaBlock{h}
}

func (b *avaBlock) BlockHeader() simplex.BlockHeader { return b.header }
func (b *avaBlock) Bytes() ([]byte, error)           { return b.header.Bytes(), nil }

func (b *avaBlock) Verify(context.Context) (simplex.VerifiedBlock, error) {
	if *newAvaBlock(b.header.ProtocolMetadata) != *b {
		return nil, errors.New("not the block of its place")
	}
	return b, nil
}

type avaBlocks struct{}

func (avaBlocks) DeserializeBlock(_ context.Context, raw []byte) (simplex.Block, error) {
	var h simplex.BlockHeader
	if err := h.FromBytes(raw); err != nil {
		return nil, err
	}
	return &avaBlock{h}, nil
}

type avaBuilder struct{ chain *avaChain }

func (b *avaBuilder) BuildBlock(ctx context.Context, m simplex.ProtocolMetadata) (simplex.VerifiedBlock, bool) {
	if b.chain.pass(ctx, int(m.Seq)+1) != nil {
		return nil, false
	}
	return newAvaBlock(m), true
}

func (b *avaBuilder) WaitForPendingBlock(ctx context.Context) { <-ctx.Done() }

type avaStorage struct {
	chain *avaChain
	self  int

	mu     sync.Mutex
	blocks []simplex.VerifiedBlock
	proofs []simplex.Finalization
}

func (s *avaStorage) NumBlocks() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.blocks))
}

func (s *avaStorage) Retrieve(seq uint64) (simplex.VerifiedBlock, simplex.Finalization, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq >= uint64(len(s.blocks)) {
		return nil, simplex.Finalization{}, simplex.ErrBlockNotFound
	}
	return s.blocks[seq], s.proofs[seq], nil
}

func (s *avaStorage) Index(_ context.Context, b simplex.VerifiedBlock, f simplex.Finalization) error {
	s.mu.Lock()
	s.blocks, s.proofs = append(s.blocks, b), append(s.proofs, f)
	height := len(s.blocks)
	s.mu.Unlock()
	s.chain.final(s.self, height)
	return nil
}

// quiet drops what the module logs, below errors.
type quiet struct{}

func (quiet) Fatal(msg string, f ...zap.Field) { fmt.Fprintln(os.Stderr, "simplex:", msg, f) }
func (quiet) Error(msg string, f ...zap.Field) { fmt.Fprintln(os.Stderr, "simplex:", msg, f) }
func (quiet) Warn(string, ...zap.Field)        {}
func (quiet) Info(string, ...zap.Field)        {}
func (quiet) Trace(string, ...zap.Field)       {}
func (quiet) Debug(string, ...zap.Field)       {}
func (quiet) Verbo(string, ...zap.Field)       {}
