package ledger

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
)

// Fits reports whether bytes are the block of the digest, good or bad. It
// implements engine.Application; an error is a fault of this node.
func (l *Ledger) Fits(digest chain.Hash, block []byte) (bool, error) {
	_, err := l.parse(engine.VerifyRequest{Digest: digest, Block: block})
	if isFault(err) {
		return false, err
	}
	return !errors.Is(err, engine.ErrWrongBlock), nil
}

// Glance reports whether a validator may vote for a block of which it has the
// header alone, in place of the block in the request: whether it is of the round
// and the leader and extends the parent, whether its time has come, and whether its
// inputs are as short as they must be: who votes gives the header on to every peer. The
// rest waits for the body. It may be called beside Run.
//
// The registry of runners is the last final block's, as the parent is Run's to read.
// Runners that joined since allow a header more; no honest leader uses that, whose set is
// an eighth of a byte for each at most.
func (l *Ledger) Glance(req engine.VerifyRequest) bool {
	h, err := chain.DecodeHeader(req.Block)
	if err != nil || h.Digest() != req.Digest {
		return false
	}
	if l.unfinalFull() { // what travels as shards is not small
		l.Stats.Crowded.Add(1)
		return false
	}
	now := l.pace.nowMillis(l.cfg.Now())
	l.noteClock(req, req.Block, now)
	final := l.head.Load()
	latest := now + final.Force.Params.MaxClockDriftMillis
	return checkInputs(h, final.runners) == nil && h.Parent == req.Parent.Digest && roundOf(h) == req.Round && h.ParentSeed == req.Parent.Seed &&
		h.Proposer == req.Leader && h.ParentView == req.Parent.Round.View && h.TimestampMillis <= latest
}

// parse reads the block of a digest. The error is engine.ErrWrongBlock where
// the bytes are not the block's at all, else a [Verdict] on the block. Of bytes that
// [Ledger.Fits] has let pass it does not compute again what that compared: the root of the
// body if the header commits to it, else the root of the transactions.
func (l *Ledger) parse(req engine.VerifyRequest) (*chain.Block, error) {
	whole, bound, err := l.checkBody(req)
	if err != nil {
		return nil, err
	}
	block, err := chain.DecodeBlock(req.Block, int(l.cfg.Genesis.Params.MaxBlockBytes))
	switch {
	case err != nil && bound:
		return nil, &Verdict{"encoding", err}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", engine.ErrWrongBlock, err)
	}
	// Without a root of the body the digest binds the transactions by their root
	// alone. Bytes with others say nothing about the block: a peer could refute a
	// final block with them.
	compared := req.Fits && !bound
	switch fits := compared || block.Header.TxRoot == l.roots.RootBy(l.rootWorkers(), block.Txs); {
	case !fits && bound:
		return nil, &Verdict{"transaction root", nil}
	case !fits:
		return nil, engine.ErrWrongBlock
	case !whole && !bound:
		return nil, &Verdict{"body root", errors.New("a body of this length travels as shards")}
	}
	return block, nil
}

// checkBody holds bytes to the digest: the header, and the body if the header
// commits to it. bound says that it does; then whatever else is wrong is wrong
// with the block. whole says that the body is short enough to travel whole.
func (l *Ledger) checkBody(req engine.VerifyRequest) (whole, bound bool, err error) {
	switch most := int(l.cfg.Genesis.Params.MaxBlockBytes); {
	case len(req.Block) > most && req.Rebuilt:
		return false, false, &Verdict{"size", fmt.Errorf("%d bytes, at most %d", len(req.Block), most)}
	case len(req.Block) > most:
		return false, false, engine.ErrWrongBlock
	}
	head, body, err := chain.SplitBlock(req.Block)
	if err != nil {
		return false, false, fmt.Errorf("%w: %w", engine.ErrWrongBlock, err)
	}
	header, err := chain.DecodeHeader(head)
	if err != nil || header.Digest() != req.Digest {
		return false, false, engine.ErrWrongBlock
	}
	whole = l.cfg.Shards == nil || l.cfg.Shards.Whole(len(body))
	if header.BodyRoot == (chain.Hash{}) || req.Rebuilt {
		return whole, req.Rebuilt, nil
	}
	if req.Fits {
		return whole, true, nil
	}
	root, err := l.cfg.Shards.Root(body)
	if err != nil {
		return false, false, &fault{fmt.Errorf("body root: %w", err)}
	}
	if root != header.BodyRoot {
		return false, false, engine.ErrWrongBlock // if it is no codeword's root, nobody has a body that fits
	}
	return whole, true, nil
}
