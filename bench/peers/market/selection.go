package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

const (
	candidates = 5_000
	drawn      = 9
)

// A ratio here is the peer's time by ours: three times the peer's is a third.
func selectionBars() []bars.Bar {
	return []bars.Bar{
		{
			Name: "draw-9-of-5000", Peer: "reading the candidates once", Must: 1. / 3, Aim: 1. / 2,
			Cores: 1, Setup: raceDraw,
		},
		{
			Name: "class-of-5000-after-a-change", Peer: "keccak.SumMany over the nodes of its tree", Must: 1. / 2, Aim: 1 / 1.5,
			Cores: 1, Setup: raceClass,
		},
	}
}

// registry is one of runners that all pass for a job of the web, and what that wants.
func registry() ([]selection.Runner, *selection.Wanted, *selection.Config) {
	const floor = 100 * chain.WeiPerCBY
	rng := rand.New(rand.NewPCG(5, 5))
	offer := &selection.Offer{Rates: selection.Rates{Request: 3, ComputeSecond: 4}, Domains: manifest.PatternsOf([]string{"*.other.example", "*.a.example"})}
	all := make([]selection.Runner, candidates)
	for i := range all {
		r := &all[i]
		binary.BigEndian.PutUint64(r.Address[:], rng.Uint64())
		r.Flags, r.Kinds, r.Cap, r.Offer = selection.Healthy, 1<<chain.JobHTTP, 4, offer
		r.Stake = floor + chain.Wei(rng.Uint64N(1_000*uint64(floor)))
		r.ReputationX1e9 = 50*selection.Point + rng.Uint64N(150*selection.Point)
	}
	wanted := &selection.Wanted{
		Kind: chain.JobHTTP, Host: "api.a.example", MaxPrice: 10_000, Runners: drawn, Bounds: selection.Bounds{Requests: 1, WallSeconds: 10},
	}
	config := &selection.Config{
		Version: selection.V2, StakeFloor: floor, MinReputation: 50, HalfLifeBlocks: 14 * 86_400, Normalizer: selection.Normalizer,
	}
	return all, wanted, config
}

// raceDraw draws from candidates that are known. The sum that the peer makes is of all
// fields that a draw reads.
func raceDraw() (bars.Contest, error) {
	s, err := snapshot()
	if err != nil {
		return bars.Contest{}, err
	}
	var number, read uint64
	return bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for range n {
				number++
				r := &selection.Round{Runners: drawn}
				binary.BigEndian.PutUint64(r.First[:], number)
				if len(s.DrawV2(r, true)) != drawn {
					return errors.New("a committee is short of runners")
				}
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				for i := range s.Candidates() {
					c := &s.Candidates()[i]
					read += c.BaseWeight ^ uint64(c.EffectiveStake) ^ c.ReputationX1e9 ^ uint64(c.Runner[0])
				}
			}
			if read == 0 {
				return errors.New("nothing was read")
			}
			return nil
		}},
	}, nil
}

func snapshot() (*selection.Snapshot, error) {
	all, w, c := registry()
	list, err := listOf(all, selection.ByAddress(all), w, c)
	if err != nil {
		return nil, err
	}
	return selection.Take(list), nil
}

func listOf(all []selection.Runner, order []uint32, w *selection.Wanted, c *selection.Config) ([]chain.Candidate, error) {
	eligible, err := selection.Eligible(all, w, c, nil)
	if err != nil {
		return nil, err
	}
	list := c.Weigh(all, order, eligible)
	if len(list) != candidates {
		return nil, fmt.Errorf("%d candidates, want %d", len(list), candidates)
	}
	return list, nil
}

func raceClass() (bars.Contest, error) {
	all, w, c := registry()
	order := selection.ByAddress(all)
	nodes := 2 * candidates
	texts, out := make([]chain.CandidatesInnerPreimage, nodes), make([][keccak.Size]byte, nodes)
	messages := make([][]byte, nodes)
	for i := range messages {
		messages[i] = texts[i][:]
	}
	var root chain.Hash
	return bars.Contest{
		Ours: bars.Side{Run: func(n int) error {
			for i := range n {
				all[i%candidates].Stake++ // what changed
				list, err := listOf(all, order, w, c)
				if err != nil {
					return err
				}
				before := root
				if root = selection.Take(list).CandidatesRoot(); root == before {
					return errors.New("a change did not change the root")
				}
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				keccak.SumMany(messages, out)
			}
			return nil
		}},
	}, nil
}
