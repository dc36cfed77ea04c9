// Package trial runs actors for readers: calls that only read, and transactions
// that are only estimated, on the state of the finalized head.
//
// # Flow
//
//	request → [Bench.Read], [Bench.Estimate] → queue → worker with an engine of its own
//	  → the head's state, overlaid → answer
//
// # Invariants
//
//   - Nothing that a trial does reaches the state, the ledger or another trial: it
//     writes to an overlay that is dropped, and compiled code is all that an engine
//     keeps.
//   - At most Workers trials run at once and Queue wait; beyond, [ErrBusy]. The
//     client whose trials took the least time lately goes first, and one with many
//     leaves a worker, and room in the queue, to others. Workers have a low priority. Each trial is
//     bounded by its cycles, as the machine cannot be stopped from outside, so a
//     request whose context ends leaves a worker busy until they are used up.
//   - A trial that panics, outside the guard of the Python machine, is an error of
//     whoever asked for it; the worker goes on with a fresh engine.
//   - What a trial says of the future is a guess: the next block may hold other
//     transactions, another time and another randomness.
//
// Concurrency: [Bench.Run] owns the workers; the methods may be called from any
// goroutine. References: whitepaper §2.3, resolutions 11.22, 11.33.
package trial

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/node/nice"
	"github.com/cowboy-foundation/cowboy/state"
)

// Errors that a caller may try again after.
var (
	// ErrBusy means that all workers are at work and the queue is full.
	ErrBusy = errors.New("too many trials at once")
	// ErrStopped means that Run has ended, or has not begun.
	ErrStopped = errors.New("no worker runs")
)

// Head is the state that a trial runs on, and the inputs of the block after it.
type Head struct {
	State  state.View
	Inputs exec.Inputs // without engine
}

// Config makes a [Bench].
type Config struct {
	Workers int // engines, each some 20 MiB when it has been used
	Queue   int // trials that wait
	// PerClient is how many trials of one client run or wait.
	PerClient int
	Engine    func() (*pvm.Engine, error) // called once per worker

	// AtHead calls try with the head, whose state stays readable meanwhile. It may
	// call it again, with another, after an error. Each trial calls it once, from
	// its worker.
	AtHead func(ctx context.Context, try func(Head) error) error
}

// DefaultConfig returns bounds for a node beside its consensus; AtHead and
// Engine are the caller's to set.
func DefaultConfig() Config { return Config{Workers: 2, Queue: 32, PerClient: 8} }

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	if c.Workers < 1 || c.Queue < 0 || c.PerClient < 1 || c.AtHead == nil || c.Engine == nil {
		return fmt.Errorf("trial: %d workers, queue of %d, want at least 1 and 0, and functions", c.Workers, c.Queue)
	}
	return nil
}

// Bench is where trials run.
type Bench struct {
	cfg  Config
	jobs *queue
	done chan struct{} // closed when Run ends
}

type job struct {
	ctx    context.Context
	client netip.Addr // invalid for none
	work   func(*pvm.Engine) error
	err    chan error // takes one
}

// New returns a bench; it works while Run does.
func New(cfg Config) (*Bench, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Bench{cfg: cfg, jobs: newQueue(&cfg), done: make(chan struct{})}, nil
}

// Run works until ctx ends; trials under way are finished first. After a failure it may
// be called again: what waits goes on waiting, until its callers give up.
func (b *Bench) Run(ctx context.Context) error {
	defer func() {
		if ctx.Err() != nil {
			close(b.done)
		}
	}()
	ended := make(chan error, b.cfg.Workers)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	for range b.cfg.Workers {
		go func() { ended <- b.worker(inner) }()
	}
	var errs []error
	for range b.cfg.Workers {
		errs = append(errs, <-ended)
		cancel()
	}
	return errors.Join(errs...)
}

func (b *Bench) worker(ctx context.Context) error {
	engine, err := b.cfg.Engine()
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	nice.Thread()
	for {
		j, ok := b.jobs.dequeue(ctx)
		if !ok {
			return nil
		}
		began, err := time.Now(), j.ctx.Err()
		if err == nil {
			err = guarded(func() error { return j.work(engine) })
		}
		b.jobs.done(j.client, time.Since(began))
		j.err <- err
		if !errors.As(err, new(*exec.Panic)) {
			continue
		}
		if engine, err = b.cfg.Engine(); err != nil { // nobody knows what was left of the old one
			return fmt.Errorf("trial: %w", err)
		}
	}
}

// guarded makes an error of a panic.
func guarded(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = exec.Panicked(p)
		}
	}()
	return work()
}

// do has a worker try something for a client at the head and waits for it, or for the end of ctx.
func (b *Bench) do(ctx context.Context, client netip.Addr, try func(*pvm.Engine, Head) error) error {
	work := func(e *pvm.Engine) error {
		return b.cfg.AtHead(ctx, func(h Head) error {
			h.Inputs.Engine = e
			return try(e, h)
		})
	}
	select {
	case <-b.done:
		return ErrStopped
	default:
	}
	j := job{ctx, client, work, make(chan error, 1)}
	if !b.jobs.put(j) {
		return ErrBusy
	}
	select {
	case <-b.done:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	case err := <-j.err:
		return err
	}
}

// Question is a call that only reads.
type Question struct {
	Client  netip.Addr    // who asks, to be fair to others; invalid for none
	Sender  chain.Address // that the handler sees
	Actor   chain.Address
	Handler string
	Payload []byte       // canonical
	Cycles  chain.Cycles // limit; 0 or above the chain's: that of a transaction
}

// Answer is what the handler did.
type Answer struct {
	actor.Outcome
	Height chain.Height // of the head that was read
}

// Read asks a handler without changing anything (whitepaper §3.3). The error is
// never a verdict on the handler, which stands in the outcome.
func (b *Bench) Read(ctx context.Context, q Question) (Answer, error) {
	var out Answer
	err := b.do(ctx, q.Client, func(e *pvm.Engine, head Head) (err error) {
		in := &head.Inputs
		if q.Cycles == 0 || q.Cycles > in.Params.MaxTxCycles {
			q.Cycles = in.Params.MaxTxCycles
		}
		run := actor.NewRun(in.Actors(), state.NewOverlay(head.State), e, actor.Start{
			Origin: q.Sender, Cycles: q.Cycles, Cells: in.Params.MaxTxCells, ReadOnly: true, Explain: true,
		})
		out.Height = in.Height - 1
		out.Outcome, err = run.First(actor.Envelope{From: q.Sender, To: q.Actor, Handler: q.Handler, Payload: q.Payload})
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	return out, nil
}
