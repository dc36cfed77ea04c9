package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
)

// rejected is a block whose execution here gave something else than its header
// says. If it becomes final all the same, others saw it right, and this node's
// own state is suspect.
type rejected struct {
	req   engine.VerifyRequest
	block *chain.Block
	txs   []*chain.VerifiedTx
}

// rejectedMax bounds what is remembered of refused blocks: a leader has one
// proposal in each view, and few views pass between two final blocks.
const rejectedMax = 4

func (l *Ledger) noteRejected(d rejected) {
	if len(l.rejected) == rejectedMax {
		l.rejected = append(l.rejected[:0], l.rejected[1:]...)
	}
	l.rejected = append(l.rejected, d)
}

// isRejected reports whether a block was refused here and may become final all the
// same. If one is somebody's parent, it is: consensus builds on no block that it
// did not accept. Then the child is judged when Finalized has executed the parent anew,
// and no earlier (resolution 11.18).
func (l *Ledger) isRejected(digest chain.Hash) bool {
	return l.tree.get(digest) == nil && slices.ContainsFunc(l.rejected, func(d rejected) bool { return d.req.Digest == digest })
}

// awaitExecuted returns an executed block. One that was refused here and is somebody's
// parent all the same is waited for: Finalized is on its way, and with it the
// second execution.
func (l *Ledger) awaitExecuted(ctx context.Context, digest chain.Hash) (*Executed, error) {
	for {
		var moved <-chan struct{}
		e, err := call(ctx, l, func(context.Context) (*Executed, error) {
			if l.isRejected(digest) {
				moved = l.moved
				return nil, nil
			}
			e, err := l.executed(digest)
			if err != nil {
				return nil, err
			}
			if moved = l.behind(e); moved != nil {
				return nil, nil
			}
			return e, nil
		})
		if e != nil || err != nil {
			return e, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// reexecuteFinal executes a final block that was refused here once more, on tries
// made anew from the flat state. Only finality is reason enough for that: else
// any proposer could ask for it. What is refused again is a fault, and the
// voting ends.
func (l *Ledger) reexecuteFinal(digest chain.Hash) (*Executed, error) {
	head := l.head.Load()
	for _, d := range l.rejected {
		if d.req.Digest != digest || d.block.Header.Parent != head.Digest {
			continue
		}
		l.cfg.Log.Error("final block was refused here: making the tries anew", "height", d.block.Header.Height, "digest", digest)
		version, err := l.cfg.Store.Rebuild()
		if err != nil {
			return nil, &fault{fmt.Errorf("final block %d was refused here: %w", d.block.Header.Height, err)}
		}
		renewed := *head
		renewed.State = version
		l.head.Store(&renewed)
		l.tree.reset(&renewed)
		l.rejected, l.ahead.done = nil, nil
		if err := l.verify(d.req, d.block, d.txs); err != nil {
			return nil, &fault{fmt.Errorf("final block %d is refused here twice, the second time with a state made anew: %w",
				d.block.Header.Height, err)}
		}
		return l.tree.get(digest), nil
	}
	return nil, &fault{fmt.Errorf("finalized block %s was never executed here", digest)}
}
