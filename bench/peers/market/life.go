package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state/store"
)

const (
	// many and few are how many jobs are open beside those that are measured.
	many, few = 100_000, 10
	// lives is how many jobs are submitted, drawn for, answered and settled in an iteration.
	lives = 100
)

// A job on a full market against one on an empty market: the state is a hundred times as
// large, and no pass may walk over it.
func lifeBars() []bars.Bar {
	m := &markets{}
	bar := func(name string, must, aim float64, root bool) bars.Bar {
		return bars.Bar{
			Name: name, Peer: fmt.Sprintf("at %d open jobs", few), Must: must, Aim: aim, Cores: 1, Ops: lives, Iterations: 1,
			Setup: func() (bars.Contest, error) { return m.race(root) },
		}
	}
	return []bars.Bar{
		bar("job-at-100k-open-jobs", 1/1.1, 0, false),
		bar("job-at-100k-open-jobs-with-root", 1/1.8, 0, true),
	}
}

// markets are the two that both bars race.
type markets struct {
	full, empty *life
	used        int
}

func (m *markets) race(root bool) (c bars.Contest, err error) {
	if m.full == nil {
		if m.full, err = newLife(many); err != nil {
			return c, err
		}
		if m.empty, err = newLife(few); err != nil {
			return c, errors.Join(err, m.full.close())
		}
	}
	m.used++
	return bars.Contest{Ours: m.full.side(root), Peer: m.empty.side(root), Close: m.close}, nil
}

// close ends the markets behind the second bar.
func (m *markets) close() error {
	if m.used < 2 {
		return nil
	}
	return errors.Join(m.full.close(), m.empty.close())
}

// life is the blocks in which some jobs of a market live, each with the state before it.
type life struct {
	*world
	blocks [][]*chain.VerifiedTx
	states []*store.Version // one more than blocks
}

func newLife(open int) (*life, error) {
	w, err := newWorld(crowd)
	if err != nil {
		return nil, err
	}
	l := &life{world: w}
	if err := errors.Join(l.fill(open), l.play()); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return l, nil
}

// fill registers everybody and submits jobs that wait for their runners.
func (l *life) fill(open int) error {
	if err := l.register(crowd); err != nil {
		return err
	}
	for open > 0 {
		n := min(open, crowd)
		if _, err := l.assigned(n); err != nil {
			return err
		}
		open -= n
	}
	return nil
}

// assigned submits n jobs of as many people and lets runners be drawn for them.
func (w *world) assigned(n int) ([]chain.Hash, error) {
	txs := w.submissions(n)
	ids := idsOf(txs, w.store.Head().Height()+1)
	return ids, errors.Join(w.keep(txs...), w.keep())
}

func (w *world) submissions(n int) (txs []*chain.VerifiedTx) {
	for _, p := range w.people[:n] {
		q := job()
		txs = append(txs, w.asks(p.Address, chain.AddrJobDispatcher, q.Spec.MaxPrice, q))
	}
	return txs
}

func idsOf(txs []*chain.VerifiedTx, h chain.Height) (ids []chain.Hash) {
	for _, tx := range txs {
		ids = append(ids, chain.JobID(tx.Hash, h))
	}
	return ids
}

// reveals are what the runners of jobs answer, each its own.
func (w *world) reveals(v *store.Version, ids []chain.Hash) (txs []*chain.VerifiedTx, err error) {
	keys := map[chain.Address]*workload.Person{}
	for _, p := range w.people {
		keys[p.Address] = p
	}
	result := (&chain.RunnerResult{
		Version: chain.RunnerResultVersion, Data: slices.Repeat([]byte{'x'}, resultBytes), Usage: chain.RunnerUsage{WallMillis: 1, Requests: 1},
		Source: &chain.ResultSource{URL: "https://a.example/price", Status: 200},
	}).Encode()
	for _, id := range ids {
		seats, err := jobs.ReadSeats(v, id, 0)
		if err != nil || len(seats) != 1 {
			return nil, fmt.Errorf("job %s has %d runners, want 1: %w", id, len(seats), err)
		}
		p := keys[seats[0].Runner]
		q := &chain.ResultReveal{JobID: id, Result: result}
		s := p.Key.Sign(chain.ResultDigest(chainID, id, result))
		copy(q.RunnerSig[:32], s.R[:])
		copy(q.RunnerSig[32:64], s.S[:])
		q.RunnerSig[64] = s.YParity
		tx := w.asks(p.Address, chain.AddrResultVerifier, 0, q)
		tx.Signers = []chain.Address{p.Address} // as the pipeline has recovered it
		txs = append(txs, tx)
	}
	return txs, nil
}

// play goes through the life of some jobs once and keeps its blocks: they are submitted,
// drawn for, answered and judged, and settled behind their window.
func (l *life) play() error {
	v := l.store.Head()
	l.states = append(l.states, v)
	next := func(txs []*chain.VerifiedTx) error {
		after, err := l.then(l.states[len(l.states)-1], txs)
		l.blocks, l.states = append(l.blocks, txs), append(l.states, after)
		return err
	}
	asked := l.submissions(lives)
	ids := idsOf(asked, v.Height()+1)
	if err := errors.Join(next(asked), next(nil)); err != nil {
		return err
	}
	shown, err := l.reveals(l.states[len(l.states)-1], ids)
	if err != nil {
		return err
	}
	if err := errors.Join(next(shown), next(nil), next(nil)); err != nil {
		return err
	}
	for _, id := range ids {
		j, err := jobs.Read(l.states[len(l.states)-1], id)
		if err != nil || j == nil || j.Phase != jobs.Ended || j.Outcome != jobs.OK {
			return fmt.Errorf("job %s is not settled: %+v, %w", id, j, err)
		}
	}
	return nil
}

// side runs the blocks again: with the root of each, or without.
func (l *life) side(root bool) bars.Side {
	return bars.Side{Run: func(n int) error {
		for range n {
			for i, txs := range l.blocks {
				r, err := l.block(l.states[i], txs)
				if err == nil && root {
					_, err = l.states[i].Apply(r.Delta)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}}
}
