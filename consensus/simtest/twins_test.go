package simtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/hashed"
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
			prev = chain.BeaconHash(0, chain.View(i), hashed.Seed(beacon.Round{View: chain.View(i)}))
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
	w.startAll()
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
	w.closeReport()
	w.sound()
	return w.report
}

// orbit returns the rounds under every renaming of honest validators and of the
// two twins, each once, as text.
func orbit(rounds []round, honest [][]int) []string {
	var keys []string
	for _, rename := range honest {
		for _, swap := range []bool{false, true} {
			out := ""
			for _, r := range rounds {
				side := make([]int, len(r.side))
				for node, s := range r.side {
					to := node
					if node < len(rename) {
						to = rename[node]
					}
					side[to] = s
				}
				if last := len(side) - 1; swap {
					side[0], side[last] = side[last], side[0]
				}
				out += fmt.Sprint(rename[r.leader], normal(side))
			}
			keys = append(keys, out)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// normal numbers sides in order of appearance.
func normal(side []int) []int {
	names := map[int]int{}
	out := make([]int, len(side))
	for i, s := range side {
		if _, ok := names[s]; !ok {
			names[s] = len(names)
		}
		out[i] = names[s]
	}
	return out
}

// divisions returns all divisions of n nodes into at most sides sides.
func divisions(n, sides int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, d := range divisions(n-1, sides) {
		next := 0
		for _, s := range d {
			next = max(next, s+1)
		}
		for s := range min(next+1, sides) {
			out = append(out, append(slices.Clone(d), s))
		}
	}
	return out
}

var twinSides = flag.Int("sides", 2, "sides that TestTwinsExhaustively divides five nodes into, at most; 5 is all there are")

// TestTwinsExhaustively plays all scenarios of four validators, one of them
// twice, in two adversarial rounds: each leader, and each division of the five
// nodes, in either; up to the names of the honest ones and of the twins. That
// nothing is left out is counted: the cases that the played ones stand for are
// as many as there are. -sides=5 allows divisions into more than two sides as
// well, 52 instead of 16.
func TestTwinsExhaustively(t *testing.T) {
	renamings := [][]int{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}}
	var options []round
	for leader := range beacon.Participant(4) {
		for _, side := range divisions(5, *twinSides) {
			options = append(options, round{leader, side})
		}
	}
	if want := map[int]int{2: 16, 5: 52}[*twinSides]; want > 0 && len(options) != 4*want {
		t.Fatalf("%d divisions, want %d", len(options)/4, want)
	}
	var sum Report
	played, stands := 0, 0
	seen := map[string]bool{}
	for i, first := range options {
		for j, second := range options {
			rounds := []round{first, second}
			same := orbit(rounds, renamings)
			if seen[same[0]] || testing.Short() && (i*len(options)+j)%16 != 0 {
				continue
			}
			seen[same[0]] = true
			played++
			stands += len(same)
			cfg := Config{Seed: 1, Validators: 4, Twins: 1, Latency: 10 * time.Millisecond}
			r := playTwins(t, cfg, rounds, 2)
			sum.add(r)
			if t.Failed() {
				t.Fatalf("rounds %+v", rounds)
			}
		}
	}
	t.Logf("%d scenarios stand for %d of %d: %d contradictions seen, %d bans, %d views both notarized and nullified",
		played, stands, len(options)*len(options), sum.Equivocations, sum.Bans, sum.BothEnds)
	if !testing.Short() && (stands != len(options)*len(options) || sum.Equivocations == 0) {
		t.Errorf("%d of %d cases with %d contradictions", stands, len(options)*len(options), sum.Equivocations)
	}
}

var twinCases = flag.Uint64("twin-cases", 0, "sampled cases of seven validators that TestScenario26Twins plays beside its own, of each kind")

// 26: twins sampled: five validators, three adversarial rounds, then synchrony,
// over quick and over slow links; seven validators, one or two of them twice, in
// three and four rounds, on up to three sides; ten validators with three twins.
func TestScenario26Twins(t *testing.T) {
	for _, c := range []struct {
		name              string
		validators, twins int
		rounds, sides     int
		latency, jitter   time.Duration
		cases             uint64
	}{
		{"sampled", 5, 1, 3, 2, 10 * time.Millisecond, 0, 20},
		{"slow links", 5, 1, 3, 2, 100 * time.Millisecond, 900 * time.Millisecond, 20},
		{"seven, three rounds", 7, 1, 3, 2, 10 * time.Millisecond, 0, max(6, *twinCases)},
		{"seven with two twins, three rounds", 7, 2, 3, 3, 10 * time.Millisecond, 0, max(6, *twinCases)},
		{"seven with two twins, four rounds", 7, 2, 4, 3, 50 * time.Millisecond, 200 * time.Millisecond, max(6, *twinCases)},
		{"large", 10, 3, 3, 2, 10 * time.Millisecond, 0, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= c.cases; seed++ {
				rng := rand.New(rand.NewPCG(seed, 9))
				rounds := make([]round, c.rounds)
				for i := range rounds {
					rounds[i] = round{beacon.Participant(rng.IntN(c.validators)), make([]int, c.validators+c.twins)}
					for node := range rounds[i].side {
						rounds[i].side[node] = rng.IntN(c.sides)
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
