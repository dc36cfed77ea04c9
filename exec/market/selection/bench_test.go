package selection_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// The benchmarks of this file measure what selection does beside the work that nobody can
// save, in turns: `go test -bench . -run '^$' ./exec/market/selection`.

const benchRunners = 5_000

// registry is a registry of runners that all pass the filters of benchWanted.
func registry(n int) []selection.Runner {
	rng := rand.New(rand.NewPCG(5, 5))
	out := make([]selection.Runner, n)
	for i := range out {
		r := fit()
		r.Address = addressOf(5, uint64(i))
		r.Stake = minStake + chain.Wei(rng.Uint64N(1_000*uint64(minStake)))
		r.ReputationX1e9 = 50*selection.Point + rng.Uint64N(150*selection.Point)
		out[i] = r
	}
	return out
}

func benchWanted() selection.Wanted {
	w := wants(chain.JobHTTP)
	w.Pool, w.Manifest = "", chain.Hash{}
	return w
}

func benchSnapshot(b *testing.B, v selection.Version) *selection.Snapshot {
	runners, w, c := registry(benchRunners), benchWanted(), configOf(v)
	eligible, err := selection.Eligible(runners, &w, c, nil)
	list := c.Weigh(runners, selection.ByAddress(runners), eligible)
	if err != nil || len(list) != benchRunners {
		b.Fatalf("%d candidates: %v", len(list), err)
	}
	return selection.Take(list)
}

// beside takes turns at some work and at a yardstick, and reports the shortest time of each
// and their ratio: what else the machine does lengthens most turns and spares some.
func beside(b *testing.B, work, yardstick func()) {
	b.Helper()
	ours, theirs := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		yardstick()
		between := time.Now()
		work()
		ours, theirs = min(ours, time.Since(between)), min(theirs, between.Sub(start))
	}
	b.ReportMetric(float64(ours), "ns-ours")
	b.ReportMetric(float64(theirs), "ns-beside")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

// BenchmarkDraw is a draw of 9 from 5,000 candidates that are known, beside reading the
// candidates once (market "What to reach": at most 3).
func BenchmarkDraw(b *testing.B) {
	v2, v3 := benchSnapshot(b, selection.V2), benchSnapshot(b, selection.V3)
	var read uint64
	reading := func() {
		for _, c := range v3.Candidates() {
			read += c.BaseWeight ^ uint64(c.EffectiveStake) ^ c.ReputationX1e9 ^ uint64(c.Runner[0])
		}
	}
	everybody := v3.Divide(selection.AllMembers, nil)
	odd := func(a chain.Address) bool { return a[19]&1 == 0 }
	some := v3.Divide(selection.PresentFirst, odd)
	fav := selection.MRU{Known: true, Runner: v3.Candidates()[777].Runner, Factor: 4}
	gone := []chain.Address{v2.Candidates()[1].Runner, v2.Candidates()[4_000].Runner}
	for _, d := range []struct {
		name string
		draw func(*selection.Round) []selection.Step
	}{
		{"v2", func(r *selection.Round) []selection.Step { return v2.DrawV2(r, true) }},
		{"v2-again", func(r *selection.Round) []selection.Step {
			r.Number, r.Excluded = 1, gone
			return v2.DrawV2(r, true)
		}},
		{"v3", func(r *selection.Round) []selection.Step { return everybody.DrawV3(r, fav) }},
		{"v3-present-first", func(r *selection.Round) []selection.Step { return some.DrawV3(r, fav) }},
		{"v3-with-its-division", func(r *selection.Round) []selection.Step {
			return v3.Divide(selection.PresentFirst, odd).DrawV3(r, fav)
		}},
		{"hashes-alone", func(r *selection.Round) []selection.Step {
			seed := r.First
			for i := range uint64(9) {
				seed = chain.DrawHash(seed, i)
			}
			return make([]selection.Step, 9)
		}},
	} {
		b.Run(d.name, func(b *testing.B) {
			b.ReportAllocs()
			var n uint64
			beside(b, func() {
				n++
				r := &selection.Round{Runners: 9}
				binary.BigEndian.PutUint64(r.First[:], n)
				if len(d.draw(r)) != 9 {
					b.Fatal("under-filled")
				}
			}, reading)
		})
	}
	if read == 0 {
		b.Fatal("nothing read")
	}
}

// BenchmarkClass is the candidates of a class of jobs found again after a change of the
// registry, beside hashing as many nodes as their tree has (market "What to reach": at most
// 2).
func BenchmarkClass(b *testing.B) {
	runners, w := registry(benchRunners), benchWanted()
	order := selection.ByAddress(runners)
	nodes := 2 * benchRunners
	text := make([]chain.CandidatesInnerPreimage, nodes)
	msgs, out := make([][]byte, nodes), make([][keccak.Size]byte, nodes)
	for i := range msgs {
		msgs[i] = text[i][:]
	}
	hashing := func() { keccak.SumMany(msgs, out) }
	list := func(c *selection.Config) []chain.Candidate {
		eligible, err := selection.Eligible(runners, &w, c, nil)
		if err != nil {
			b.Fatal(err)
		}
		return c.Weigh(runners, order, eligible)
	}
	known := list(configOf(selection.V3))
	for _, c := range []struct {
		name string
		work func()
	}{
		{"v2", func() { selection.Take(list(configOf(selection.V2))) }},
		{"v3", func() { selection.Take(list(configOf(selection.V3))) }},
		{"filters-and-weights-v2", func() { list(configOf(selection.V2)) }},
		{"filters-and-weights-v3", func() { list(configOf(selection.V3)) }},
		{"tree", func() { selection.Take(known) }},
		{"plain-root", func() { chain.CandidatesRoot(known) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			beside(b, c.work, hashing)
		})
	}
}
