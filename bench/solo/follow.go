package solo

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
)

// Sealed is a final block as a validator gets it that did not propose it.
type Sealed struct {
	Parent engine.ParentRef
	Final  engine.Finalization
	Bytes  []byte
	Shards *shards.Codeword // nil: it travels whole
}

// errUnshared means a codeword on a chain whose blocks travel whole.
var errUnshared = errors.New("a block in shards on a chain that has none")

// Follow takes a block of another chain of the same genesis, at the same head, as a
// validator does that did not propose it: it puts it together from shards where it came so,
// has the ledger execute and judge it, and makes it final. The block's Split is what that
// took, submissions left out.
func (c *Chain) Follow(ctx context.Context, s *Sealed) (Block, error) {
	c.begun = c.counters()
	bytes, err := c.receive(s)
	if err != nil {
		return Block{}, err
	}
	req := engine.VerifyRequest{Round: s.Final.Round, Parent: s.Parent, Digest: s.Final.Digest, Block: bytes, Rebuilt: s.Shards != nil}
	if err := c.ledger.Judge(ctx, req); err != nil {
		return Block{}, c.cause(fmt.Errorf("verify: %w", err))
	}
	return c.finalize(ctx, s.Final)
}

// receive is the block, out of as few shards as it takes, the last ones: the first are the
// body itself, and whoever has those has nothing to compute.
func (c *Chain) receive(s *Sealed) ([]byte, error) {
	if s.Shards == nil {
		return s.Bytes, nil
	}
	code := c.cfg.Shards
	if code == nil {
		return nil, errUnshared
	}
	head, _, err := chain.SplitBlock(s.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cut block: %w", err)
	}
	pieces := make([][]byte, code.Total())
	for i := code.Total() - code.Needed(); i < code.Total(); i++ {
		piece := s.Shards.Shard(i)
		if err := code.Check(s.Shards.Opening, piece); err != nil {
			return nil, fmt.Errorf("shard %d: %w", i, err)
		}
		pieces[i] = piece.Bytes
	}
	body, err := code.Rebuild(s.Shards.Opening, pieces)
	if err != nil {
		return nil, fmt.Errorf("rebuild: %w", err)
	}
	return chain.JoinBlock(head, body), nil
}

// Senders is what the signature pipeline has done so far.
func (c *Chain) Senders() *sigverify.Stats { return &c.sigverify.Stats }
