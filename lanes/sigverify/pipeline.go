package sigverify

import (
	"context"
	"fmt"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Lanes takes verified transactions. It answers with one entry per transaction,
// nil for those admitted, and keeps no reference to txs.
type Lanes interface {
	Admit(ctx context.Context, txs []*chain.VerifiedTx) []error
}

// Verdict is the answer to one submitted transaction.
type Verdict struct {
	Hash chain.Hash        // zero if the body is too long to be hashed
	Tx   *chain.VerifiedTx // nil if the bytes or the signature were refused
	Err  error             // nil if the lanes admitted it
}

// Pipeline verifies signatures on worker goroutines.
type Pipeline struct {
	cfg   Config
	lanes Lanes
	known *cache
	queue chan piece // never full: Submit reserves room first, and a piece is at least one transaction
	turn  chan struct{}
	ended atomic.Bool
	Stats Stats
}

// piece is a run of bodies from one submission, short enough for one batch.
type piece struct {
	bodies [][]byte
	first  int // place of bodies[0] in the submission
	of     *submission
}

// submission collects the verdicts on what one caller handed in. Workers write
// different elements of verdicts; who counts left down to zero replies.
type submission struct {
	verdicts []Verdict
	left     atomic.Int64
	reply    func([]Verdict)
}

// New returns a pipeline that hands verified transactions to lanes.
func New(cfg Config, lanes Lanes) (*Pipeline, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("signature pipeline: %w", err)
	}
	return &Pipeline{
		cfg:   cfg,
		lanes: lanes,
		known: newCache(cfg.CacheTxs, cfg.CacheBytes),
		queue: make(chan piece, cfg.QueueTxs),
		turn:  make(chan struct{}, 1),
	}, nil
}

// Submit hands the bodies of transactions, without length prefixes, to the
// pipeline, all or none. It never blocks. When it returns nil, reply is called
// exactly once, on another goroutine or before Submit returns, with one verdict
// per body; it must not block. Until then the bodies must not change.
//
// ErrBusy and ErrStopped mean that nothing was taken and reply is not called. A
// submission larger than the queue is always ErrBusy.
func (p *Pipeline) Submit(bodies [][]byte, reply func([]Verdict)) error {
	if len(bodies) == 0 {
		reply(nil)
		return nil
	}
	if p.ended.Load() {
		return ErrStopped
	}
	size := 0
	for _, body := range bodies {
		size += len(body)
	}
	txs := p.Stats.QueuedTxs.Add(int64(len(bodies)))
	bytes := p.Stats.QueuedBytes.Add(int64(size))
	if txs > int64(p.cfg.QueueTxs) || bytes > int64(p.cfg.QueueBytes) {
		p.release(bodies)
		p.Stats.Busy.Add(uint64(len(bodies)))
		return ErrBusy
	}
	p.Stats.Submitted.Add(uint64(len(bodies)))
	s := &submission{verdicts: make([]Verdict, len(bodies)), reply: reply}
	s.left.Store(int64(len(bodies)))
	for first := 0; first < len(bodies); first += p.cfg.BatchTxs {
		end := min(first+p.cfg.BatchTxs, len(bodies))
		p.queue <- piece{bodies: bodies[first:end], first: first, of: s}
	}
	if p.ended.Load() {
		// Run may have emptied the queue before these pieces were in it.
		p.refuseQueued()
	}
	return nil
}

// release gives room in the queue back.
func (p *Pipeline) release(bodies [][]byte) {
	size := 0
	for _, body := range bodies {
		size += len(body)
	}
	p.Stats.QueuedTxs.Add(-int64(len(bodies)))
	p.Stats.QueuedBytes.Add(-int64(size))
}

// Run verifies until ctx ends, then answers what is still queued with
// ErrStopped and returns ctx's error. The caller owns the goroutine that calls
// Run; Run owns its workers and waits for them. It is called once.
func (p *Pipeline) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range p.cfg.Workers {
		workers.Go(func() {
			pprof.Do(ctx, pprof.Labels("stage", "sigverify"), p.work)
		})
	}
	workers.Wait()
	p.ended.Store(true)
	p.refuseQueued()
	return ctx.Err()
}

// refuseQueued answers everything in the queue with ErrStopped.
func (p *Pipeline) refuseQueued() {
	for {
		select {
		case w := <-p.queue:
			p.release(w.bodies)
			for i := range w.bodies {
				w.of.verdicts[w.first+i] = Verdict{Err: ErrStopped}
			}
			w.of.finish(len(w.bodies))
		default:
			return
		}
	}
}

// finish counts n verdicts and replies when they were the last.
func (s *submission) finish(n int) {
	if s.left.Add(-int64(n)) == 0 {
		s.reply(s.verdicts)
	}
}

// work is one worker: it gathers a batch, verifies it, hands it on and replies.
func (p *Pipeline) work(ctx context.Context) {
	timer := time.NewTimer(p.cfg.BatchWaitMax)
	defer timer.Stop()
	var b batch
	var pieces []piece
	for {
		pieces = p.gather(ctx, timer, pieces[:0])
		if len(pieces) == 0 {
			return
		}
		for _, w := range pieces {
			b.bodies = append(b.bodies, w.bodies...)
		}
		p.verify(&b)
		p.Stats.Batches.Add(1)
		p.Stats.BatchTxs.Add(uint64(len(b.bodies)))
		p.admit(ctx, &b)
		p.answer(&b, pieces)
		b.reset()
		clear(pieces)
	}
}

// gather waits for a first piece, then until the batch is large enough or
// BatchWaitMax has passed. Workers gather one at a time: what arrives within
// the wait ends up in one batch instead of one per idle worker. It returns
// nothing when ctx has ended.
func (p *Pipeline) gather(ctx context.Context, timer *time.Timer, pieces []piece) []piece {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil
	}
	select {
	case w := <-p.queue:
		p.release(w.bodies)
		pieces = append(pieces, w)
	case <-ctx.Done():
		return nil
	}
	start := time.Now()
	timer.Reset(p.cfg.BatchWaitMax)
	for n := len(pieces[0].bodies); n < p.cfg.BatchTxs; {
		select {
		case w := <-p.queue:
			p.release(w.bodies)
			pieces = append(pieces, w)
			n += len(w.bodies)
			continue
		case <-timer.C:
		case <-ctx.Done(): // what was taken is still verified and answered
		}
		break
	}
	p.Stats.GatherNanos.Add(uint64(time.Since(start)))
	return pieces
}

// admit hands the verified transactions of the batch to the lanes and keeps
// their refusals in errs.
func (p *Pipeline) admit(ctx context.Context, b *batch) {
	start := time.Now()
	verified := make([]*chain.VerifiedTx, 0, len(b.txs))
	for _, tx := range b.txs {
		if tx != nil {
			verified = append(verified, tx)
		}
	}
	if len(verified) == 0 {
		return
	}
	refusals := p.lanes.Admit(ctx, verified)
	k := 0
	for i, tx := range b.txs {
		if tx == nil {
			continue
		}
		if b.errs[i] = refusals[k]; b.errs[i] != nil {
			p.Stats.Refused.Add(1)
		}
		k++
	}
	p.Stats.AdmitNanos.Add(uint64(time.Since(start)))
}

// answer gives each piece its verdicts.
func (p *Pipeline) answer(b *batch, pieces []piece) {
	i := 0
	for _, w := range pieces {
		for k := range w.bodies {
			w.of.verdicts[w.first+k] = Verdict{Hash: b.hashes[i], Tx: b.txs[i], Err: b.errs[i]}
			i++
		}
		w.of.finish(len(w.bodies))
	}
}
