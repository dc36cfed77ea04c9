package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// runs are the outcomes of all rounds.
type runs []outcome

// paced is the share of saturation at which answers and serial work are held to their
// bars: at saturation everything waits for a core, and what waits longest is chance.
const paced = 0.75

// of returns a contestant's runs at saturation, or at a rate.
func (all runs) of(name string, atRate bool) (list runs) {
	for _, r := range all {
		if r.Name == name && (r.Rate > 0) == atRate {
			list = append(list, r)
		}
	}
	return list
}

// pick reads a figure of each run.
func pick(list runs, of func(*outcome) float64) (figures []float64) {
	for i := range list {
		figures = append(figures, of(&list[i]))
	}
	return figures
}

// pairs puts ours of each round beside a peer's of the same round; value is the time or
// whatever else is better when it is less.
func (all runs) pairs(ours, peer string, value func(*outcome) float64) []bars.Round {
	return all.pairsOf(ours, peer, false, value)
}

func (all runs) pairsOf(ours, peer string, atRate bool, value func(*outcome) float64) (rounds []bars.Round) {
	for _, a := range all.of(ours, atRate) {
		for _, b := range all.of(peer, atRate) {
			if a.Round != b.Round {
				continue
			}
			x, y := value(&a), value(&b)
			rounds = append(rounds, bars.Round{Ours: bars.Sample{NanosPerOp: x}, Peer: bars.Sample{NanosPerOp: y}, Ratio: y / x})
		}
	}
	return rounds
}

// spacing is the time from a transaction to the next: a rate, upside down.
func spacing(r *outcome) float64 { return 1e9 / r.PerSecond }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// judged holds the runs against the bars of issue 18.
func (all runs) judged() []bars.Result {
	list := []bars.Result{
		bars.Judge("transfers-geth", "go-ethereum v1.17.0 --dev", "ns", 15, 20, all.pairs(nameOurs, nameGeth, spacing)),
		bars.Judge("transfers-comet-signed", "CometBFT v0.38.26, one recovery a transaction", "ns", 7.5, 10, all.pairs(nameOurs, nameSigned, spacing)),
		bars.Judge("transfers-comet-kvstore", "CometBFT v0.38.26 kvstore, no signatures", "ns", 2.5, 3, all.pairs(nameOurs, nameKVStore, spacing)),
	}
	list = append(list, bars.Judge("four-validators-comet-kvstore", "four of CometBFT v0.38.26, no signatures", "ns", 3, 4, all.pairs(nameFour, namePeers4, spacing)))
	inclusion := func(r *outcome) float64 { return float64(r.Inclusion.P50) }
	list = append(list, bars.Judge("small-loads-p50-to-final", "four of CometBFT v0.38.26, no waits of its own", "ns", 1/1.2, 1, all.pairsOf(nameSmall, nameSmallP, true, inclusion)))
	flooded, slow := append(all.of(nameOurs, false), all.of(nameAgain, false)...), all.of(nameOurs, true)
	answers := func(r *outcome) float64 { return milliseconds(r.Answer.P99) }
	list = append(list,
		bars.Judge("answers-p99-at-saturation", "the better peer's p99", "ms", 2, 2, all.answers()),
		bars.Within("answers-p99-at-three-quarters", "ms", 8, 4, pick(slow, answers)),
		bars.Within("node-cpu-a-transfer", "us", 20, 16, pick(flooded, (*outcome).micros)),
		bars.Within("serial-work-a-transfer", "us", 4, 2, pick(slow, (*outcome).serial)),
		bars.Within("allocations-a-transfer", "allocations", 12, 10, pick(flooded, func(r *outcome) float64 { return r.Inside[insideAllocations] })),
		bars.Within("allocated-bytes-a-transfer", "bytes", 2500, 2000, pick(flooded, func(r *outcome) float64 { return r.Inside[insideBytes] })),
	)
	return list
}

// answers puts ours of each round beside the better peer of that round.
func (all runs) answers() (rounds []bars.Round) {
	p99 := func(r *outcome) float64 { return milliseconds(r.Answer.P99) }
	for _, peer := range []string{nameGeth, nameSigned, nameKVStore} {
		for i, b := range all.pairs(nameOurs, peer, p99) {
			if i == len(rounds) {
				rounds = append(rounds, b)
			} else if b.Ratio < rounds[i].Ratio {
				rounds[i] = b
			}
		}
	}
	return rounds
}

// floor is how far two runs of the same program in the same round were apart, at most:
// 0.1 says that one was a tenth faster.
func (all runs) floor() float64 {
	most := 0.0
	for _, r := range all.pairs(nameOurs, nameAgain, spacing) {
		most = max(most, math.Abs(math.Log(r.Ratio)))
	}
	return math.Exp(most) - 1
}

// print writes the contestants' figures, the bars and the floor.
func (all runs) print(w io.Writer, results []bars.Result) {
	fmt.Fprintf(w, "\n%-16s %6s %12s %12s %14s %14s %14s\n", "contestant", "runs", "inc/s min", "inc/s median", "us/tx min", "us/tx median", "us/tx to ours")
	ours := middle(pick(append(all.of(nameOurs, false), all.of(nameAgain, false)...), (*outcome).micros))
	for _, name := range names(contestants()) {
		list := all.of(name, false)
		if len(list) == 0 {
			continue
		}
		rates, cpu := pick(list, func(r *outcome) float64 { return r.PerSecond }), pick(list, (*outcome).micros)
		fmt.Fprintf(w, "%-16s %6d %12.0f %12.0f %14.1f %14.1f %14.2f\n", name, len(list), slices.Min(rates), middle(rates), slices.Min(cpu), middle(cpu), middle(cpu)/ours)
	}
	fmt.Fprintln(w)
	for i := range results {
		fmt.Fprintln(w, results[i].Line())
	}
	foreign := pick(all, func(r *outcome) float64 { return r.Foreign })
	fmt.Fprintf(w, "foreign work: median %.2f cores, at most %.2f (above 0.3 a run says little)\n", middle(foreign), slices.Max(foreign))
	if len(all.pairs(nameOurs, nameAgain, spacing)) == 0 {
		return
	}
	floor := all.floor()
	fmt.Fprintf(w, "floor: the same program twice in a round differs by up to %.0f %%\n", 100*floor)
	var doubtful []string
	for _, r := range results {
		if r.Ratio > 0 && math.Abs(math.Log(r.Ratio/r.Must)) < math.Log1p(floor) {
			doubtful = append(doubtful, r.Name)
		}
	}
	if len(doubtful) > 0 {
		fmt.Fprintf(w, "inside the floor, so neither ok nor SHORT is certain: %s\n", strings.Join(doubtful, ", "))
	}
}

func middle(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
