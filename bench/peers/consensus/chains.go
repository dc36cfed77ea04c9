package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// chain is four validators of one implementation in this process. They stand
// still unless blocks are asked for.
type chain interface {
	// extend returns when every validator has n more final blocks.
	extend(ctx context.Context, n int) error
	// latencies returns the times from proposal to finality since it was last
	// asked: each block at each validator.
	latencies() []time.Duration
	close() error
}

// chainBars race chains of four validators that do nothing but agree: blocks of
// a few bytes, no block time, nothing to execute. Messages go from validator to
// validator in memory where the implementation lets them (ours, ava-labs/simplex)
// and over loopback TCP where it brings its own network (CometBFT). Each
// validator signs and verifies for real and writes its votes to a synced log.
func chainBars() []bars.Bar {
	list := []bars.Bar{
		{Name: "chain-4-beside-simplex-bls", Peer: "ava-labs/simplex, BLS by blst", Must: 1, Aim: 2, Iterations: 20, Setup: raceChains(func() (chain, error) { return newAvaChain(newBLSVoices) })},
		{Name: "chain-4-beside-simplex-ed25519", Peer: "ava-labs/simplex, Ed25519 lists", Must: 0.2, Aim: 1, Iterations: 20, Setup: raceChains(func() (chain, error) { return newAvaChain(newEd25519Voices) })},
		{Name: "chain-4-beside-cometbft", Peer: "CometBFT, timeouts at their least", Must: 1, Aim: 2, Iterations: 20, Setup: raceChains(newCometChain)},
	}
	for _, way := range []struct {
		name string
		open func() (chain, error)
	}{
		{"ours", newOurChain},
		{"simplex-bls", func() (chain, error) { return newAvaChain(newBLSVoices) }},
		{"simplex-ed25519", func() (chain, error) { return newAvaChain(newEd25519Voices) }},
		{"cometbft", newCometChain},
	} {
		limit := 1e9 // shown, not judged
		if way.name == "ours" {
			limit = 20
		}
		list = append(list, bars.Bar{Name: "finality-4-" + way.name, Gauge: &bars.Gauge{
			Unit: "ms to finality, p50", Must: limit, Measure: func(int) (float64, error) { return medianFinality(way.open) },
		}})
	}
	return list
}

const (
	warmUpBlocks  = 5
	finalityGauge = 40 // blocks whose finality is timed
	chainPatience = 2 * time.Minute
)

func raceChains(peer func() (chain, error)) func() (bars.Contest, error) {
	return func() (bars.Contest, error) {
		a, err := newOurChain()
		if err != nil {
			return bars.Contest{}, fmt.Errorf("our chain: %w", err)
		}
		b, err := peer()
		if err != nil {
			return bars.Contest{}, errors.Join(fmt.Errorf("peer's chain: %w", err), a.close())
		}
		run := func(c chain) func(int) error {
			return func(n int) error {
				ctx, cancel := context.WithTimeout(context.Background(), chainPatience)
				defer cancel()
				return c.extend(ctx, n)
			}
		}
		c := bars.Contest{
			Ours: bars.Side{Run: run(a)}, Peer: bars.Side{Run: run(b)},
			Close: func() error { return errors.Join(a.close(), b.close()) },
		}
		return c, errors.Join(c.Ours.Run(warmUpBlocks), c.Peer.Run(warmUpBlocks))
	}
}

func medianFinality(open func() (chain, error)) (float64, error) {
	c, err := open()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), chainPatience)
	defer cancel()
	err = c.extend(ctx, warmUpBlocks)
	c.latencies()
	if err == nil {
		err = c.extend(ctx, finalityGauge)
	}
	all := c.latencies()
	if err := errors.Join(err, c.close()); err != nil {
		return 0, err
	}
	if len(all) < finalityGauge {
		return 0, fmt.Errorf("finality of %d blocks was seen", len(all))
	}
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1e3, nil
}

// gate lets proposals through up to a height, and counts finality.
type gate struct {
	mu       sync.Mutex
	limit    int
	heights  []int // final at each validator
	changed  chan struct{}
	proposed map[int]time.Time
	took     []time.Duration
}

func newGate(validators int) *gate {
	return &gate{heights: make([]int, validators), changed: make(chan struct{}), proposed: map[int]time.Time{}}
}

func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// pass waits until a block of the height may be proposed.
func (g *gate) pass(ctx context.Context, height int) error {
	for {
		g.mu.Lock()
		open, changed := height <= g.limit, g.changed
		if open {
			if _, again := g.proposed[height]; !again {
				g.proposed[height] = time.Now()
			}
		}
		g.mu.Unlock()
		if open {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// final notes that a validator has a final block.
func (g *gate) final(validator, height int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, ok := g.proposed[height]; ok {
		g.took = append(g.took, time.Since(at))
	}
	g.heights[validator] = max(g.heights[validator], height)
	g.wake()
}

func (g *gate) extend(ctx context.Context, n int) error {
	g.mu.Lock()
	g.limit += n
	limit := g.limit
	g.wake()
	g.mu.Unlock()
	for {
		g.mu.Lock()
		done, changed := slices.Min(g.heights) >= limit, g.changed
		g.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("validators at heights %v of %d: %w", g.heights, limit, ctx.Err())
		case <-changed:
		}
	}
}

func (g *gate) latencies() []time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.took
	g.took = nil
	clear(g.proposed)
	return out
}
