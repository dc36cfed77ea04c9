package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec"
)

// Verdict is why a block is refused. It is the same on every honest node.
type Verdict struct {
	Rule string // the header field or rule that does not hold
	Err  error  // detail, may be nil
}

func (v *Verdict) Error() string {
	if v.Err == nil {
		return "block refused: " + v.Rule
	}
	return fmt.Sprintf("block refused: %s: %v", v.Rule, v.Err)
}

func (v *Verdict) Unwrap() error { return v.Err }

// fault wraps what is wrong with this node, never with a block.
type fault struct{ err error }

func (f *fault) Error() string { return "fault: " + f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func isFault(err error) bool {
	var f *fault
	var execFault *exec.Fault
	return errors.As(err, &f) || errors.As(err, &execFault)
}

// Verify checks a proposed block by executing it. false is a verdict on the
// block, an error a fault of this node. It implements engine.Application.
func (l *Ledger) Verify(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	return l.verdictOf(req, l.Judge(ctx, req))
}

// Recover is Verify for a block that this node accepted before a restart, or that
// a quorum voted for: the clock has no say. It implements engine.Application.
func (l *Ledger) Recover(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	return l.verdictOf(req, l.executeAndKeep(ctx, req, math.MaxUint64))
}

// Judge is Verify that says why: nil for a valid block, a [Verdict] for one that
// is not, engine.ErrWrongBlock for bytes that are not the block of the digest. Any
// other error is a fault of this node.
func (l *Ledger) Judge(ctx context.Context, req engine.VerifyRequest) error {
	now := l.pace.nowMillis(l.cfg.Now())
	if head, _, err := chain.SplitBlock(req.Block); err == nil {
		l.noteClock(req, head, now)
	}
	if l.unfinalFull() && l.hasBody(req) {
		l.Stats.Crowded.Add(1)
		return &Verdict{"blocks that are not final take all their room", engine.ErrEarly}
	}
	return l.executeAndKeep(ctx, req, now+l.head.Load().Force.Params.MaxClockDriftMillis)
}

// hasBody reports whether a block has transactions, as far as its bytes tell.
func (l *Ledger) hasBody(req engine.VerifyRequest) bool {
	block, err := chain.DecodeBlock(req.Block, int(l.cfg.Genesis.Params.MaxBlockBytes))
	return err == nil && len(block.Txs) > 0
}

// noteClock remembers what a proposal of the round's leader says of its clock.
func (l *Ledger) noteClock(req engine.VerifyRequest, head []byte, now uint64) {
	if h, err := chain.DecodeHeader(head); err == nil && h.Digest() == req.Digest && h.Proposer == req.Leader {
		l.Drift.observe(req.Leader, h.TimestampMillis, now)
	}
}

// verdictOf takes a verdict out of the errors.
func (l *Ledger) verdictOf(req engine.VerifyRequest, err error) (bool, error) {
	var verdict *Verdict
	if errors.As(err, &verdict) {
		l.Stats.Refused.Add(1)
		l.cfg.Log.Warn("proposal refused", "view", req.Round.View, "digest", req.Digest, "err", err)
		if errors.Is(err, engine.ErrEarly) {
			return false, engine.ErrEarly
		}
		return false, nil
	}
	return err == nil, err
}

// executeAndKeep executes the block and remembers it if it is valid and bears a time of
// at most latestMillis.
func (l *Ledger) executeAndKeep(ctx context.Context, req engine.VerifyRequest, latestMillis uint64) error {
	known, err := call(ctx, l, func(context.Context) (bool, error) {
		e := l.tree.get(req.Digest)
		return e != nil && e.answers(req), nil
	})
	if known || err != nil {
		return err
	}
	block, txs, err := l.decode(ctx, req)
	if err == nil && block.Header.TimestampMillis > latestMillis {
		err = &Verdict{"timestamp in the future", engine.ErrEarly}
	}
	for pending := err == nil; pending && err == nil; {
		var moved <-chan struct{}
		moved, err = call(ctx, l, func(context.Context) (<-chan struct{}, error) {
			if l.isRejected(req.Parent.Digest) {
				return l.moved, nil
			}
			if parent := l.tree.get(req.Parent.Digest); parent != nil {
				if moved := l.behind(parent); moved != nil {
					return moved, nil
				}
			}
			return nil, l.verify(req, block, txs)
		})
		if pending = moved != nil; pending {
			select {
			case <-moved:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
	}
	if err == nil {
		l.Stats.Verified.Add(1)
	}
	return err
}

// answers reports whether the request is for the place that the block was judged
// in. A leader can offer a block of an earlier view anew: who has executed it
// must refuse it there like who has not.
func (e *Executed) answers(req engine.VerifyRequest) bool {
	h := &e.Block.Header
	return e.Round == req.Round && h.Parent == req.Parent.Digest && (req.Leader == chain.PeerKey{} || h.Proposer == req.Leader)
}

// decode does what needs no state, off the owner's goroutine: parsing and
// signature recovery.
func (l *Ledger) decode(ctx context.Context, req engine.VerifyRequest) (*chain.Block, []*chain.VerifiedTx, error) {
	block, err := l.parse(req)
	if err != nil {
		return nil, nil, err
	}
	txs, err := l.cfg.Signatures.VerifyBlock(ctx, block.Txs)
	if err != nil && ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, nil, &Verdict{"transaction", err}
	}
	return block, txs, nil
}

// verify re-executes the block and compares every field of its header.
func (l *Ledger) verify(req engine.VerifyRequest, block *chain.Block, txs []*chain.VerifiedTx) error {
	parent, err := l.executed(req.Parent.Digest)
	if err != nil {
		return &Verdict{"parent", err}
	}
	if err := l.checkPlace(&block.Header, req, parent); err != nil {
		return err
	}
	if err := l.cfg.Proposers.checkOrder(&block.Header, l.parentBeacon(&block.Header), txs); err != nil {
		return err
	}
	list := txList{block.Txs, block.Header.TxRoot} // parse held the root to them
	e, err := l.executeOrTake(req.Digest, block.Header, parent, txs, list)
	if isFault(err) {
		return err
	}
	if err != nil {
		err = &Verdict{"execution", err}
	} else {
		err = compareResults(&e.Block.Header, &block.Header)
	}
	if err != nil {
		l.noteRejected(rejected{req, block, txs})
		return err
	}
	e.Block, e.Encoded = block, req.Block // the same: the digests agree, and no other bytes decode to it
	l.tree.put(e)
	return nil
}

// checkPlace holds a header to the round that it is proposed in and to its
// parent.
func (l *Ledger) checkPlace(got *chain.Header, req engine.VerifyRequest, parent *Executed) error {
	switch {
	case got.Parent != parent.Digest:
		return &Verdict{"parent", nil}
	case got.Epoch != req.Round.Epoch || got.View != req.Round.View:
		return &Verdict{"round", nil}
	case got.ParentSeed != req.Parent.Seed:
		return &Verdict{"parent seed", nil}
	case req.Leader != (chain.PeerKey{}) && got.Proposer != req.Leader:
		return &Verdict{"proposer", errors.New("not the leader of the round")}
	}
	return checkChild(parent.Force.Params, parent.runners, got, &parent.Block.Header)
}

// checkChild holds a header to what follows from its parent's alone, and from
// what the parent's state says: the parameters p in force, and how many runners its
// registry lists. The timestamp is the proposer's, above the parent's.
func checkChild(p *params.Params, runners uint32, got, parent *chain.Header) error {
	switch {
	case got.Version != chain.HeaderVersion:
		return &Verdict{"version", nil}
	case got.Height != parent.Height+1:
		return &Verdict{"height", nil}
	case got.ParentEpoch != parent.Epoch || got.ParentView != parent.View:
		return &Verdict{"parent round", nil}
	case got.Epoch < parent.Epoch || got.Epoch == parent.Epoch && got.View <= parent.View:
		return &Verdict{"round not above the parent's", nil}
	case got.TimestampMillis <= parent.TimestampMillis:
		return &Verdict{"timestamp not above the parent's", nil}
	case got.BaseFees != BaseFeesAfter(p, parent):
		return &Verdict{"base fees", nil}
	}
	return checkInputs(got, runners)
}

func compareResults(want, got *chain.Header) error {
	switch {
	case got.TxRoot != want.TxRoot:
		return &Verdict{"transaction root", nil}
	case got.BodyRoot != want.BodyRoot:
		return &Verdict{"body root", nil}
	case got.ReceiptsRoot != want.ReceiptsRoot:
		return &Verdict{"receipts root", nil}
	case got.StateRoot != want.StateRoot:
		return &Verdict{"state root", nil}
	case got.Used != want.Used:
		return &Verdict{"used meters", nil}
	case got.Digest() != want.Digest():
		return &Verdict{"digest", nil}
	}
	return nil
}

func roundOf(h *chain.Header) beacon.Round { return beacon.Round{Epoch: h.Epoch, View: h.View} }
