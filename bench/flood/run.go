package flood

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Chain speaks a node's language. Its methods are called by several goroutines, each
// with a connection of its own.
type Chain interface {
	// Accepted counts the transactions that an answer to a request accepts. An answer
	// that refuses one is an error.
	Accepted(answer []byte) (int, error)
	// Head returns the height of the head.
	Head(c *Conn) (uint64, error)
	// Counts returns the numbers of transactions of the blocks from one to another.
	Counts(c *Conn, from, to uint64) ([]int, error)
	// Contents appends the ids of a block's transactions.
	Contents(c *Conn, height uint64, into []ID) ([]ID, error)
	// Applied returns how many transactions of the load the state has executed.
	Applied(c *Conn) (int, error)
}

// Config says how a run goes. Start from DefaultConfig.
type Config struct {
	Host   string        // of the node's API, as host:port
	Limit  int           // most transactions sent and in no block yet
	Rate   float64       // transactions a second; 0 for as many as the node takes
	Warm   time.Duration // before the window
	Window time.Duration
	Drain  time.Duration // longest wait without progress for what was sent to be in blocks
	Poll   time.Duration // between two looks at the height
	PIDs   []int         // the node's processes, for their processor time

	// During, if not nil, runs beside the window, from its start on. The run's end
	// waits for it.
	During func(ctx context.Context, window time.Duration) error
}

// requestTimeout is the longest wait for any answer.
const requestTimeout = time.Minute

// DefaultConfig returns the usual settings.
func DefaultConfig(host string) Config {
	return Config{Host: host, Limit: 60_000, Warm: 5 * time.Second, Window: 20 * time.Second, Drain: 30 * time.Second, Poll: 5 * time.Millisecond}
}

// run is one in progress.
type run struct {
	cfg   Config
	chain Chain
	load  *Load
	start time.Time

	mu       sync.Mutex
	room     sync.Cond     // included grew, or the run ends
	sent     int           // transactions
	included int           // as blocks count them
	moved    time.Duration // when included grew last
	blocks   []Block
}

// Run sends a load and says what became of it. The accounts must have their money
// already, and nothing else may send. The result is to be held to its Check.
func Run(ctx context.Context, cfg Config, chain Chain, load *Load) (*Result, error) {
	r := &run{cfg: cfg, chain: chain, load: load}
	r.room.L = &r.mu
	look, err := Dial(cfg.Host, requestTimeout)
	if err != nil {
		return nil, err
	}
	defer look.Close()
	first, err := chain.Head(look)
	if err != nil {
		return nil, fmt.Errorf("height: %w", err)
	}
	before, err := chain.Applied(look)
	if err != nil {
		return nil, fmt.Errorf("applied before the run: %w", err)
	}
	senders, err := r.flood(ctx, look, first)
	if err != nil {
		return nil, err
	}
	result := r.count(senders)
	after, err := chain.Applied(look)
	if err != nil {
		return nil, fmt.Errorf("applied after the run: %w", err)
	}
	result.Applied = after - before
	contents := newContents(r, senders)
	for i := range r.blocks {
		if err := contents.read(look, &r.blocks[i]); err != nil {
			return nil, fmt.Errorf("block %d: %w", r.blocks[i].Height, err)
		}
	}
	contents.into(result)
	return result, nil
}

// flood runs senders, observer and what goes on beside them, until all that was sent is
// in blocks or nothing moves any more.
func (r *run) flood(ctx context.Context, look *Conn, first uint64) ([]*sender, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	observing, stopObserving := context.WithCancel(ctx)
	defer stopObserving()
	senders, conns := make([]*sender, len(r.load.streams)), make([]*Conn, len(r.load.streams))
	for i := range senders {
		conn, err := Dial(r.cfg.Host, requestTimeout)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		senders[i], conns[i] = &sender{run: r, number: i, stream: &r.load.streams[i]}, conn
	}
	r.start = time.Now()
	var observer, rest sync.WaitGroup
	observer.Go(func() {
		if err := r.observe(observing, look, first); err != nil {
			cancel(err)
		}
	})
	for i := range senders {
		rest.Go(func() {
			if err := senders[i].send(ctx, conns[i]); err != nil {
				cancel(err)
			}
		})
	}
	if r.cfg.During != nil {
		rest.Go(func() {
			if sleep(ctx, r.cfg.Warm) {
				if err := r.cfg.During(ctx, r.cfg.Window); err != nil {
					cancel(fmt.Errorf("beside the window: %w", err))
				}
			}
		})
	}
	// Senders that wait for room are woken when the time is over.
	wake := time.AfterFunc(r.cfg.Warm+r.cfg.Window, r.wake)
	defer wake.Stop()
	defer context.AfterFunc(ctx, r.wake)()
	rest.Wait()
	r.drain(ctx)
	stopObserving()
	observer.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	return senders, ctx.Err()
}

func (r *run) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.room.Broadcast()
}

// drain waits until all that was sent is in blocks, or none came for long.
func (r *run) drain(ctx context.Context) {
	began := time.Since(r.start)
	for sleep(ctx, r.cfg.Poll) {
		r.mu.Lock()
		done := r.included >= r.sent || time.Since(r.start)-max(r.moved, began) > r.cfg.Drain
		r.mu.Unlock()
		if done {
			return
		}
	}
}

// sleep reports false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
