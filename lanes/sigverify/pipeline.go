package sigverify

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Lanes takes verified transactions. It answers with one entry per transaction,
// nil for those admitted. The slice is its own.
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
	ended atomic.Bool
	Stats Stats

	turn chan struct{}   // holds the token of the one worker that gathers, which owns last
	last <-chan struct{} // closed when the batch gathered last has been admitted
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
	admitted := make(chan struct{}) // before the first batch there is nothing to wait for
	close(admitted)
	return &Pipeline{
		cfg:   cfg,
		lanes: lanes,
		known: newCache(cfg.CacheTxs, cfg.CacheBytes),
		queue: make(chan piece, cfg.QueueTxs),
		turn:  make(chan struct{}, 1),
		last:  admitted,
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
	var g gathered
	for p.gather(ctx, timer, &g) {
		for _, w := range g.pieces {
			b.bodies = append(b.bodies, w.bodies...)
		}
		p.verify(&b)
		p.Stats.Batches.Add(1)
		p.Stats.BatchTxs.Add(uint64(len(b.bodies)))
		p.admit(ctx, &b, g.before)
		close(g.after)
		p.answer(&b, g.pieces)
		b.reset()
	}
}

// gathered is what one worker took from the queue. Batches are verified side by
// side but admitted in the order in which they were gathered: otherwise a
// sender's later nonces could overtake earlier ones and be refused for the gap.
type gathered struct {
	pieces []piece
	before <-chan struct{} // closed when the batch before has been admitted
	after  chan struct{}   // to be closed when this one has
}

// gather waits for a first piece, then until the batch is large enough or
// BatchWaitMax has passed. Workers gather one at a time: what arrives within
// the wait ends up in one batch instead of one per idle worker. It returns
// false when ctx has ended and nothing was taken.
func (p *Pipeline) gather(ctx context.Context, timer *time.Timer, g *gathered) bool {
	clear(g.pieces)
	g.pieces = g.pieces[:0]
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return false
	}
	n := 0
	take := func(w piece) {
		p.release(w.bodies)
		g.pieces = append(g.pieces, w)
		n += len(w.bodies)
	}
	select {
	case w := <-p.queue:
		take(w)
	case <-ctx.Done():
		return false
	}
	g.before, g.after = p.last, make(chan struct{})
	p.last = g.after
	start := time.Now()
	timer.Reset(p.cfg.BatchWaitMax)
	for waiting := true; waiting && n < p.cfg.BatchTxs; {
		select {
		case w := <-p.queue:
			take(w)
		case <-timer.C:
			waiting = false
		case <-ctx.Done(): // what was taken is still verified and answered
			waiting = false
		}
	}
	p.Stats.GatherNanos.Add(uint64(time.Since(start)))
	return true
}

// admit waits until the batch before has been admitted, hands the verified
// transactions to the lanes and keeps their refusals in errs.
func (p *Pipeline) admit(ctx context.Context, b *batch, before <-chan struct{}) {
	start := time.Now()
	<-before // its worker closes it whatever happens
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
		if err := refusals[k]; err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				err = ErrStopped // the submitter's own context has not ended
			}
			b.errs[i] = err
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
