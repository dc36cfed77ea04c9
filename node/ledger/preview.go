package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec"
)

const (
	// previewWorthwhile is the execution time from which a preview is worth sending:
	// below it, the proposal is there almost as soon.
	previewWorthwhile = 5 * time.Millisecond
	// previewsKept bounds the executed previews that wait for their proposals: those
	// of the current view and of the next one.
	previewsKept = 2
)

// previews are blocks that were executed ahead of their proposals.
type previews struct {
	done []*Executed // oldest first
	// perTx is the execution time of a transaction in the last block of some.
	perTx time.Duration
}

// recordDuration remembers what execution took.
func (d *previews) recordDuration(txs int, took time.Duration) {
	if txs > 0 {
		d.perTx = took / time.Duration(txs)
	}
}

// pop returns the executed block of the digest, if it was executed from its preview.
func (d *previews) pop(digest chain.Hash) *Executed {
	for i, e := range d.done {
		if e.Digest == digest {
			d.done = slices.Delete(d.done, i, i+1)
			return e
		}
	}
	return nil
}

func (d *previews) put(e *Executed) {
	if len(d.done) == previewsKept {
		d.done = slices.Delete(d.done, 0, 1)
	}
	d.done = append(d.done, e)
}

// previewPays reports whether the others should execute the block along with us:
// its execution is likely to take long, and it travels whole anyhow. Blocks
// above that size go as shards, and are executed after the vote.
func (l *Ledger) previewPays(txs []*chain.VerifiedTx) bool {
	if time.Duration(len(txs))*l.ahead.perTx < previewWorthwhile {
		return false
	}
	size := 0
	for _, tx := range txs {
		size += len(tx.Body)
	}
	return l.previewFits(size)
}

// previewFits reports whether bodies of so many bytes may travel as a preview.
func (l *Ledger) previewFits(size int) bool { return size <= int(l.cfg.Genesis.Params.MaxWholeBytes) }

// previewOf is a block without the results of its execution.
func previewOf(h chain.Header, txs []*chain.VerifiedTx) []byte {
	block := &chain.Block{Header: h}
	for _, tx := range txs {
		block.Txs = append(block.Txs, tx.Body)
	}
	return block.Encode()
}

func bytesOf(bodies [][]byte) (n int) {
	for i := range bodies {
		n += len(bodies[i])
	}
	return n
}

// Prepare executes the preview of a block, unless no honest leader sends one as large. Its digest follows from the preview: if
// the proposal has another one, it is executed anew. It implements
// engine.Application.
func (l *Ledger) Prepare(ctx context.Context, req engine.PrepareRequest) error {
	block, err := chain.DecodeBlock(req.Preview, int(l.cfg.Genesis.Params.MaxBlockBytes))
	if err != nil || roundOf(&block.Header) != req.Round || !l.previewFits(bytesOf(block.Txs)) {
		return nil // the leader's loss
	}
	txs, err := l.cfg.Signatures.VerifyBlock(ctx, block.Txs)
	if err != nil {
		return nil
	}
	list := txList{block.Txs, l.roots.RootBy(l.rootWorkers(), block.Txs)}
	_, err = call(ctx, l, func(context.Context) (struct{}, error) { return struct{}{}, l.prepare(block.Header, txs, list) })
	return err
}

func (l *Ledger) prepare(h chain.Header, txs []*chain.VerifiedTx, list txList) error {
	parent := l.tree.get(h.Parent)
	if parent == nil || l.behind(parent) != nil || checkChild(parent.Force.Params, parent.runners, &h, &parent.Block.Header) != nil {
		return nil
	}
	// Nobody votes for a block out of order, so it is not worth an execution. The seed that
	// its beacon follows from comes with the proposal.
	if l.cfg.Proposers.checkOrder(&h, l.parentBeacon(&h), txs) != nil {
		return nil
	}
	e, err := l.tryPreview(h, parent, txs, list)
	if err == nil {
		l.ahead.put(e)
		l.Stats.Prepared.Add(1)
		return nil
	}
	if isFault(err) && !errors.As(err, new(*exec.Fault)) {
		return err
	}
	// A leader sends its preview before it has executed it, and leaves out of the
	// proposal what is a fault.
	return l.stumble("a preview was given up: executing it is a fault", h.Parent, err)
}

// tryPreview executes a preview and makes a fault of a panic.
func (l *Ledger) tryPreview(h chain.Header, parent *Executed, txs []*chain.VerifiedTx, list txList) (e *Executed, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = exec.Panicked(p)
		}
	}()
	return l.execute(h, parent, txs, list)
}

// executeOrTake executes a block, unless its preview was executed before: the
// digest binds transactions and results alike.
func (l *Ledger) executeOrTake(digest chain.Hash, h chain.Header, parent *Executed, txs []*chain.VerifiedTx, list txList) (*Executed, error) {
	if e := l.ahead.pop(digest); e != nil {
		l.Stats.PreviewsUsed.Add(1)
		return e, nil
	}
	return l.execute(h, parent, txs, list)
}
