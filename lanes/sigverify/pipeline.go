package sigverify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/netip"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes/ring"
)

// Lanes take verified transactions, and know those that wait in them.
type Lanes interface {
	// Admit answers with one entry per transaction, nil for those admitted. The slice is
	// its own.
	Admit(ctx context.Context, txs []*chain.VerifiedTx) []error
	// FillWaiting sets every txs[i] that is nil, and whose transaction waits, by its hash
	// hashes[i], and returns how many it has set.
	FillWaiting(hashes [][32]byte, txs []*chain.VerifiedTx) int
}

// Verdict is the answer to one submitted transaction.
type Verdict struct {
	Hash chain.Hash        // zero if the body is too long to be hashed
	Tx   *chain.VerifiedTx // nil if the bytes, the signature or the submission's guard refused it
	Err  error             // nil if the lanes admitted it
}

// Admitted returns those that the pool has taken.
func Admitted(verdicts []Verdict) []*chain.VerifiedTx {
	txs := make([]*chain.VerifiedTx, 0, len(verdicts))
	for i := range verdicts {
		if verdicts[i].Err == nil {
			txs = append(txs, verdicts[i].Tx)
		}
	}
	return txs
}

// Pipeline verifies signatures on worker goroutines.
type Pipeline struct {
	cfg     Config
	lanes   Lanes
	known   *cache
	queue   *ring.Ring[piece] // never full: Submit reserves room first, and a piece is at least one transaction
	bell    *ring.Bell        // rung when something has been queued
	shares  shares
	clients shares // of the RPC's share
	order   *reorderBuffer
	ended   atomic.Bool
	Stats   Stats

	// turn holds the token of the one goroutine that takes from the queue. The
	// rest belongs to it.
	turn      chan struct{}
	rest      piece // what did not fit into the batch before; may be empty
	restSince time.Time
	gathered  uint64 // batches so far
}

// piece is a run of bodies from one submission, short enough for one batch.
type piece struct {
	bodies [][]byte
	first  int // place of bodies[0] in the submission
	of     *submission
}

func (w *piece) byteCount() (n int) {
	for _, body := range w.bodies {
		n += len(body)
	}
	return n
}

// submission collects the verdicts on what one caller handed in. Workers write
// different elements of verdicts; who counts left down to zero replies.
type submission struct {
	verdicts []Verdict
	left     atomic.Int64
	reply    func([]Verdict)
	guard    Guard // nil: everything passes
	from     holder
}

// Guard refuses transactions whose bytes and signature are good: nil for those that may go
// on to the lanes, else the verdict. It must not block.
type Guard func(*chain.VerifiedTx) error

// New returns a pipeline that hands verified transactions to lanes.
func New(cfg Config, lanes Lanes) (*Pipeline, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("signature pipeline: %w", err)
	}
	return &Pipeline{
		cfg:     cfg,
		lanes:   lanes,
		known:   newCache(cfg.CacheTxs, cfg.CacheBytes),
		queue:   ring.New[piece](cfg.QueueTxs),
		bell:    ring.NewBell(),
		shares:  shares{seed: maphash.MakeSeed()},
		clients: shares{seed: maphash.MakeSeed()},
		order:   newReorderBuffer(4 * cfg.Workers), // each may be a few batches ahead of a late one
		turn:    make(chan struct{}, 1),
	}, nil
}

// Submit hands the bodies of transactions, without length prefixes, to the
// pipeline, all or none. It never blocks. When it returns nil, reply is called
// exactly once, on another goroutine or before Submit returns, with one verdict
// per body; it must not block. Until then the bodies must not change.
//
// ErrBusy and ErrStopped mean that nothing was taken and reply is not called. A
// submission larger than half of the queue is always ErrBusy.
func (p *Pipeline) Submit(bodies [][]byte, reply func([]Verdict)) error {
	return p.SubmitFrom(0, bodies, reply)
}

// SubmitOf is Submit for a client of the node's own RPC, all of which are one source:
// while much of its share is held, a client who holds more than its own part is answered
// with ErrBusy and others are not. What guard refuses, unless it is nil, enters no lane. The
// verdicts are appended to into, whose memory is the pipeline's until reply has them.
func (p *Pipeline) SubmitOf(client netip.Addr, guard Guard, bodies [][]byte, into []Verdict, reply func([]Verdict)) error {
	from := holder{p.shares.accountOf(0), p.clients.ofClient(client)}
	return p.submit(&submission{reply: reply, guard: guard, from: from}, bodies, into)
}

// SubmitFrom is Submit for a named source. While the queue is contended, a
// source that holds its share of it is answered with ErrBusy and others are
// not; [Pipeline.Credit] says beforehand how much would be taken.
func (p *Pipeline) SubmitFrom(source Source, bodies [][]byte, reply func([]Verdict)) error {
	return p.submit(&submission{reply: reply, from: holder{source: p.shares.accountOf(source)}}, bodies, nil)
}

func (p *Pipeline) submit(of *submission, bodies [][]byte, into []Verdict) error {
	if len(bodies) == 0 {
		of.reply(into)
		return nil
	}
	if p.ended.Load() {
		return ErrStopped
	}
	whole := piece{bodies: bodies, of: of}
	if err := p.reserve(whole.of.from, len(bodies), whole.byteCount()); err != nil {
		return err
	}
	p.Stats.Submitted.Add(uint64(len(bodies)))
	whole.of.verdicts = append(into, make([]Verdict, len(bodies))...)
	whole.first = len(into)
	whole.of.left.Store(int64(len(bodies)))
	for len(whole.bodies) > 0 {
		if w, _ := whole.cut(p.cfg.BatchTxs); !p.queue.Push(w) {
			panic("signature queue has less room than was reserved")
		}
	}
	p.bell.Ring()
	if p.ended.Load() {
		// Run may have emptied the queue before these pieces were in it.
		p.refuseQueued()
	}
	return nil
}

// cut takes the bodies of up to so many signatures off the front, and one at least, and
// returns how many signatures these have.
func (w *piece) cut(most int) (front piece, work int) {
	n, work := fit(w.bodies, most)
	front = piece{bodies: w.bodies[:n], first: w.first, of: w.of}
	w.bodies, w.first = w.bodies[n:], w.first+n
	return front, work
}

// KnownTxBytes is about the most that one more place in the sender cache takes of the heap,
// in both generations, beside bodies and lists, which [Config.CacheBytes] bounds.
const KnownTxBytes = 2 * 512

// Resize sets how many transactions the sender cache remembers in each generation, at
// least one. The cache forgets nothing because of it, and its bytes stay as configured.
func (p *Pipeline) Resize(cacheTxs int) { p.known.resize(max(1, cacheTxs)) }

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
	p.turn <- struct{}{} // no worker holds it any more
	defer func() { <-p.turn }()
	for w, ok := p.nextPiece(); ok; w, ok = p.nextPiece() {
		for i := range w.bodies {
			w.of.verdicts[w.first+i] = Verdict{Err: ErrStopped}
		}
		w.of.countVerdicts(len(w.bodies))
	}
}

// nextPiece takes the next piece from what was left over or from the queue.
func (p *Pipeline) nextPiece() (piece, bool) {
	if len(p.rest.bodies) > 0 {
		w := p.rest
		p.rest = piece{}
		return w, true
	}
	w, ok := p.queue.Pop()
	if ok {
		p.release(w.of.from, len(w.bodies), w.byteCount())
	}
	return w, ok
}

// countVerdicts counts n verdicts and replies when they were the last.
func (s *submission) countVerdicts(n int) {
	if s.left.Add(-int64(n)) == 0 {
		s.reply(s.verdicts)
	}
}

// work is one worker: it gathers a batch, verifies it and hands it on.
func (p *Pipeline) work(ctx context.Context) {
	timer := time.NewTimer(p.cfg.BatchWaitMax)
	defer timer.Stop()
	for {
		b := p.order.batch()
		if !p.gather(ctx, timer, b) {
			return
		}
		for _, w := range b.pieces {
			b.bodies = append(b.bodies, w.bodies...)
		}
		p.verify(b, nil)
		p.Stats.Batches.Add(1)
		p.Stats.BatchTxs.Add(uint64(len(b.bodies)))
		p.order.passInOrder(ctx, b, p.handToLanes)
	}
}

// gather waits for a first piece, then until the batch is full or BatchWaitMax
// has passed. Workers gather one at a time: what arrives within the wait ends
// up in one batch instead of one per idle worker. It returns false when ctx has
// ended and nothing was taken.
func (p *Pipeline) gather(ctx context.Context, timer *time.Timer, b *batch) bool {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil {
		return false // Run answers what is queued
	}
	var start time.Time
	n := 0
	for n < p.cfg.BatchTxs {
		w, ok := p.nextPiece()
		if !ok && n == 0 {
			if ctx.Err() != nil {
				return false
			}
			p.bell.Wait(ctx, nil, p.queue.Empty)
			continue
		}
		if !ok {
			if ctx.Err() != nil || !p.bell.Wait(ctx, timer.C, p.queue.Empty) {
				break // what was taken is verified and answered
			}
			continue
		}
		if n == 0 {
			start = time.Now()
			wait := p.cfg.BatchWaitMax
			if !p.restSince.IsZero() {
				wait -= start.Sub(p.restSince) // it has waited while the batch before was verified
			}
			timer.Reset(wait)
		}
		fits, work := w.cut(p.cfg.BatchTxs - n)
		b.pieces = append(b.pieces, fits)
		n += work
		if p.rest = w; len(w.bodies) > 0 {
			break // full
		}
	}
	p.restSince = time.Time{}
	if len(p.rest.bodies) > 0 {
		p.restSince = time.Now()
	}
	b.number = p.gathered
	p.gathered++
	p.Stats.GatherNanos.Add(uint64(time.Since(start)))
	return true
}

// guard refuses what the submissions of a batch let pass no further.
func (p *Pipeline) guard(b *batch) {
	first := 0 // place of the piece in the batch
	for _, w := range b.pieces {
		txs, errs := b.txs[first:first+len(w.bodies)], b.errs[first:]
		first += len(w.bodies)
		if w.of.guard == nil {
			continue
		}
		for i, tx := range txs {
			if tx == nil {
				continue
			}
			if errs[i] = w.of.guard(tx); errs[i] != nil {
				txs[i] = nil
				p.Stats.Refused.Add(1)
			}
		}
	}
}

// handToLanes hands the verified transactions of a batch to the lanes and answers the
// submissions.
func (p *Pipeline) handToLanes(ctx context.Context, b *batch) {
	start := time.Now()
	p.guard(b)
	verified := make([]*chain.VerifiedTx, 0, len(b.txs))
	for _, tx := range b.txs {
		if tx != nil {
			verified = append(verified, tx)
		}
	}
	var refusals []error
	if len(verified) > 0 {
		refusals = p.lanes.Admit(ctx, verified)
	}
	for i, tx := range b.txs {
		if tx == nil {
			continue
		}
		err := refusals[0]
		refusals = refusals[1:]
		if err == nil {
			continue
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = ErrStopped // the submitter's own context has not ended
		}
		b.errs[i] = err
		p.Stats.Refused.Add(1)
	}
	p.Stats.AdmitNanos.Add(uint64(time.Since(start)))
	i := 0
	for _, w := range b.pieces {
		for k := range w.bodies {
			w.of.verdicts[w.first+k] = Verdict{Hash: b.hashes[i], Tx: b.txs[i], Err: b.errs[i]}
			i++
		}
		w.of.countVerdicts(len(w.bodies))
	}
}
