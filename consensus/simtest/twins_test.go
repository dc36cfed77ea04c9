package simtest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Twins (OPODIS 2021): one validator runs twice, with one key and two minds.
// For some rounds the network is divided as the adversary likes and leaders are
// whom it likes; then it is sound. Scenario 26 of the acceptance list.

// round is one adversarial round: who leads, and on which side each node is.
type round struct {
	leader beacon.Participant
	side   []int
}

// scripted draws the leaders of the first views from a script.
type scripted struct {
	*beacon.ValidatorSet
	leaders map[chain.Hash]beacon.Participant // by the beacon of the view before
}

func (s scripted) Leader(prev chain.Hash) beacon.Participant {
	if p, ok := s.leaders[prev]; ok {
		return p
	}
	return s.ValidatorSet.Leader(prev)
}

func (s scripted) LeaderPast(prev, before chain.Hash) beacon.Participant {
	if p, ok := s.leaders[prev]; ok {
		return p
	}
	return s.ValidatorSet.LeaderPast(prev, before)
}

// script makes the rounds those of the first views.
func (w *world) script(rounds []round) {
	set := w.validators[0].set
	leaders := make(map[chain.Hash]beacon.Participant)
	for i, r := range rounds {
		prev := set.GenesisBeacon()
		if i > 0 {
			_, seed := hashPair(groupSigner, simplex.Nullify, simplex.Proposal{Round: beacon.Round{View: chain.View(i)}})
			prev = chain.BeaconHash(0, chain.View(i), seed)
		}
		leaders[prev] = r.leader
	}
	for _, v := range w.validators {
		v.elector = scripted{set, leaders}
	}
	w.passes = func(from, to *validator, m message) bool {
		v := m.viewOf()
		if v == 0 || int(v) > len(rounds) {
			return true
		}
		side := rounds[v-1].side
		return side[from.node] == side[to.node]
	}
}

// playTwins plays the rounds, divides the network as long as the first views
// last, and wants more blocks after that.
func playTwins(t *testing.T, cfg Config, rounds []round, more int) Report {
	t.Helper()
	n, err := newNetwork(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, n}
	w.script(rounds)
	w.begin()
	// Certificates and answers of the adversarial views stay on their side until
	// every honest node had its timeouts in each of them.
	w.runUntil(time.Duration(len(rounds)) * (certificationTimeout + retryInterval))
	w.passes = nil
	w.all(more, 2*time.Minute)
	for p := cfg.Twins; p < cfg.Validators; p++ {
		if w.bannedBy(beacon.Participant(p)) > 0 {
			t.Errorf("honest validator %d is banned", p)
		}
	}
	w.finish()
	return w.report
}

// canonical reports whether rounds come first among those that differ only in
// the names of honest validators and of the two twins.
func canonical(rounds []round, honest [][]int) bool {
	key := func(rename []int, swap bool) string {
		out := ""
		for _, r := range rounds {
			side := make([]int, len(r.side))
			for node, s := range r.side {
				to := node
				switch {
				case node < len(rename):
					to = rename[node]
				}
				side[to] = s
			}
			if last := len(side) - 1; swap {
				side[0], side[last] = side[last], side[0]
			}
			flip := side[0]
			out += fmt.Sprint(rename[r.leader])
			for _, s := range side {
				out += fmt.Sprint(s ^ flip)
			}
		}
		return out
	}
	own := key(honest[0], false)
	for _, rename := range honest {
		if key(rename, false) < own || key(rename, true) < own {
			return false
		}
	}
	return true
}

// TestTwinsExhaustively plays all scenarios of four validators, one of them
// twice, in two adversarial rounds: each leader, and each division of the five
// nodes, in either; up to the names of the honest ones.
func TestTwinsExhaustively(t *testing.T) {
	renamings := [][]int{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}}
	var options []round
	for leader := range beacon.Participant(4) {
		for division := range 16 { // node 0 is on side 0
			side := make([]int, 5)
			for node := 1; node < 5; node++ {
				side[node] = division >> (node - 1) & 1
			}
			options = append(options, round{leader, side})
		}
	}
	var sum Report
	played := 0
	for i, first := range options {
		for j, second := range options {
			rounds := []round{first, second}
			if !canonical(rounds, renamings) || testing.Short() && (i*len(options)+j)%16 != 0 {
				continue
			}
			played++
			cfg := Config{Seed: 1, Validators: 4, Twins: 1, Latency: 10 * time.Millisecond}
			r := playTwins(t, cfg, rounds, 2)
			sum.add(r)
			if t.Failed() {
				t.Fatalf("rounds %+v", rounds)
			}
		}
	}
	t.Logf("%d scenarios stand for %d: %d contradictions seen, %d bans, %d views both notarized and nullified",
		played, len(options)*len(options), sum.Equivocations, sum.Bans, sum.BothEnds)
	if !testing.Short() && (played < 300 || sum.Equivocations == 0) {
		t.Errorf("%d scenarios with %d contradictions test nothing", played, sum.Equivocations)
	}
}

// 26: twins sampled: five validators, three adversarial rounds, then synchrony,
// over quick and over slow links; ten validators with three twins.
func TestScenario26Twins(t *testing.T) {
	for _, c := range []struct {
		name              string
		validators, twins int
		latency, jitter   time.Duration
		cases             uint64
	}{
		{"sampled", 5, 1, 10 * time.Millisecond, 0, 20},
		{"slow links", 5, 1, 100 * time.Millisecond, 900 * time.Millisecond, 20},
		{"large", 10, 3, 10 * time.Millisecond, 0, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= c.cases; seed++ {
				rng := rand.New(rand.NewPCG(seed, 9))
				rounds := make([]round, 3)
				for i := range rounds {
					rounds[i] = round{beacon.Participant(rng.IntN(c.validators)), make([]int, c.validators+c.twins)}
					for node := range rounds[i].side {
						rounds[i].side[node] = rng.IntN(2)
					}
				}
				cfg := Config{Seed: seed, Validators: c.validators, Twins: c.twins, Latency: c.latency, Jitter: c.jitter}
				playTwins(t, cfg, rounds, 10)
				if t.Failed() {
					t.Fatalf("seed %d: rounds %+v", seed, rounds)
				}
			}
		})
	}
}
