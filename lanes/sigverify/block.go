package sigverify

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// VerifyBlock checks the bodies of a proposed block and returns its
// transactions in the same order. Known ones come from the sender cache or from the lanes
// in which they wait, the others are verified on up to Workers goroutines of this call,
// beside the queue: a flood of submissions does not delay a vote.
//
// A *TxError is a verdict on the block and names its first bad transaction.
// Any other error is ctx's. VerifyBlock does not need Run.
func (p *Pipeline) VerifyBlock(ctx context.Context, bodies [][]byte) ([]*chain.VerifiedTx, error) {
	p.Stats.BlockTxs.Add(uint64(len(bodies)))
	run := &blockRun{p: p, bodies: bodies, txs: make([]*chain.VerifiedTx, len(bodies)), ends: chunksOf(bodies, p.cfg.BatchTxs)}
	var helpers sync.WaitGroup
	for range min(len(run.ends), p.cfg.Workers) - 1 {
		helpers.Go(func() { run.work(ctx) })
	}
	run.work(ctx)
	helpers.Wait()
	if run.bad != nil {
		return nil, run.bad
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return run.txs, nil
}

// chunksOf divides bodies into runs of about so many signatures, and returns their ends.
func chunksOf(bodies [][]byte, most int) (ends []int) {
	for end := 0; end < len(bodies); {
		n, _ := fit(bodies[end:], most)
		end += n
		ends = append(ends, end)
	}
	return ends
}

// ReadBlock is VerifyBlock for those who only look at a block: on the caller's
// goroutine alone, and what it recovers does not take the places in the sender
// cache of what proposals will need.
func (p *Pipeline) ReadBlock(ctx context.Context, bodies [][]byte) ([]*chain.VerifiedTx, error) {
	txs := make([]*chain.VerifiedTx, 0, len(bodies))
	var b batch
	for from := 0; from < len(bodies); from += p.cfg.BatchTxs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.bodies = append(b.bodies[:0], bodies[from:min(from+p.cfg.BatchTxs, len(bodies))]...)
		p.decideAll(&b)
		for i, err := range b.errs {
			if err != nil {
				return nil, &TxError{Index: from + i, Hash: b.hashes[i], Err: err}
			}
		}
		txs = append(txs, b.txs...)
		b.reset()
	}
	return txs, nil
}

// Signed returns the transactions of a stored block whose senders are stored with it:
// nothing is recovered. The error is of a body that is no transaction.
func Signed(bodies [][]byte, senders []chain.Address) ([]*chain.VerifiedTx, error) {
	if len(bodies) != len(senders) {
		return nil, fmt.Errorf("%d senders of %d transactions", len(senders), len(bodies))
	}
	txs := make([]*chain.VerifiedTx, len(bodies))
	for i, body := range bodies {
		tx, err := parse(bytes.Clone(body))
		if err != nil {
			return nil, &TxError{Index: i, Hash: chain.TxHash(body), Err: err}
		}
		tx.Hash, tx.Sender = chain.TxHash(body), senders[i]
		txs[i] = tx
	}
	return txs, nil
}

// blockRun is one call of VerifyBlock. Its workers take chunks of about BatchTxs
// signatures in ascending order and stop after the first bad one. Every chunk below
// a bad one has then been taken too, and is finished, so the first bad
// transaction of the block is found whatever the schedule.
type blockRun struct {
	p      *Pipeline
	bodies [][]byte
	txs    []*chain.VerifiedTx
	ends   []int        // of the chunks
	next   atomic.Int64 // chunk to take
	failed atomic.Bool
	// stranger says that the lanes were asked for much of a chunk and had nothing: they are
	// not asked again. Who catches up has none of what the blocks had.
	stranger atomic.Bool

	mu  sync.Mutex // guards bad
	bad *TxError
}

func (r *blockRun) work(ctx context.Context) {
	var b batch
	for ctx.Err() == nil && !r.failed.Load() {
		at := int(r.next.Add(1)) - 1
		if at >= len(r.ends) {
			return
		}
		first := 0
		if at > 0 {
			first = r.ends[at-1]
		}
		b.bodies = append(b.bodies[:0], r.bodies[first:r.ends[at]]...)
		r.p.verify(&b, r.fillWaiting)
		copy(r.txs[first:], b.txs)
		for i, err := range b.errs {
			if err != nil {
				r.keepLowest(&TxError{Index: first + i, Hash: b.hashes[i], Err: err})
				break
			}
		}
		b.reset()
	}
}

// askedMin is how many transactions the lanes must have been asked for to be believed that
// they have none of the block.
const askedMin = 16

// fillWaiting fills in what waits in the lanes: the sender cache forgets in the order in
// which it learned, and a flood of what is refused passes through it, too.
func (r *blockRun) fillWaiting(hashes [][32]byte, txs []*chain.VerifiedTx) (found int) {
	if r.p.lanes == nil || r.stranger.Load() {
		return 0
	}
	missing := 0
	for _, tx := range txs {
		if tx == nil {
			missing++
		}
	}
	if missing == 0 {
		return 0
	}
	if found = r.p.lanes.FillWaiting(hashes, txs); found == 0 && missing >= askedMin {
		r.stranger.Store(true)
	}
	r.p.Stats.Waiting.Add(uint64(found))
	return found
}

// keepLowest keeps the error with the lowest index.
func (r *blockRun) keepLowest(e *TxError) {
	r.failed.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad == nil || e.Index < r.bad.Index {
		r.bad = e
	}
}
