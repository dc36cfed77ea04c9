package selection_test

import (
	"encoding/binary"
	"flag"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

var drawSeeds = flag.Uint64("draw-seeds", 20_000, "seeds of TestFirstPlacesAreFair; the acceptance figure is 100,000: make soak-draws")

// chiLimit is what chi-square with six degrees of freedom exceeds once in 90,000 runs of a
// fair draw: exp(-x/2)·(1 + x/2 + x²/8) at 33. The seeds are fixed, so a run that passes
// passes always.
const chiLimit = 33.0

// fairDraw is a rule of drawing from the seven runners.
type fairDraw struct {
	name   string
	s      *selection.Snapshot
	factor uint64 // by which the weight of the most recently used one counts in the first step
	draw   func(*selection.Round) []selection.Step
}

var usedLast = selection.MRU{Known: true, Runner: chain.Address{0x40}, Factor: 4}

func fairDraws() []fairDraw {
	v2, v3 := takeSeven(selection.V2), takeSeven(selection.V3)
	everybody := v3.Divide(selection.AllMembers, nil)
	return []fairDraw{
		{"v2", v2, 1, func(r *selection.Round) []selection.Step { return v2.DrawV2(r, true) }},
		{"v2, not chained", v2, 1, func(r *selection.Round) []selection.Step { return v2.DrawV2(r, false) }},
		{"v3", v3, 1, func(r *selection.Round) []selection.Step { return everybody.DrawV3(r, selection.MRU{}) }},
		{"v3, with an MRU", v3, uint64(usedLast.Factor), func(r *selection.Round) []selection.Step { return everybody.DrawV3(r, usedLast) }},
	}
}

// chiSquare draws once for each seed and returns how far the first places are from the parts
// of the weights, in the statistic of Pearson: Σ (won - expected)² / expected.
func (f *fairDraw) chiSquare(t *testing.T, seeds uint64) (chi float64, won [7]float64) {
	t.Helper()
	for k := range seeds {
		r := &selection.Round{Runners: 2}
		binary.BigEndian.PutUint64(r.First[:], k)
		steps := f.draw(r)
		if len(steps) != 2 || steps[0].Candidate == steps[1].Candidate {
			t.Fatalf("seed %d: %+v", k, steps)
		}
		won[steps[0].Candidate]++
	}
	var weights [7]float64
	total := 0.0
	for i, candidate := range f.s.Candidates() {
		weights[i] = float64(candidate.BaseWeight)
		if candidate.Runner == usedLast.Runner {
			weights[i] *= float64(f.factor)
		}
		total += weights[i]
	}
	for i, w := range weights {
		expected := float64(seeds) * w / total
		chi += (won[i] - expected) * (won[i] - expected) / expected
	}
	return chi, won
}

// TestFirstPlacesAreFair: the first place goes to a runner as often as its part of the
// weights says, by both versions.
func TestFirstPlacesAreFair(t *testing.T) {
	for _, f := range fairDraws() {
		t.Run(f.name, func(t *testing.T) {
			chi, won := f.chiSquare(t, *drawSeeds)
			if chi > chiLimit {
				t.Errorf("chi-square %.1f of at most %.0f: won %v", chi, chiLimit, won)
			}
			t.Logf("chi-square %.1f over %d seeds", chi, *drawSeeds)
		})
	}
}

// TestBiasedDrawsAreFound plants a bias in every rule: of forty draws one goes to the last
// of the list whatever the seed says. The same statistic over the ordinary number of seeds
// must be over its limit, or the test above could not fail.
func TestBiasedDrawsAreFound(t *testing.T) {
	const ordinary = 20_000
	for _, f := range fairDraws() {
		t.Run(f.name, func(t *testing.T) {
			fair := f.draw
			f.draw = func(r *selection.Round) []selection.Step {
				steps := fair(r)
				last := uint32(len(f.s.Candidates()) - 1)
				switch {
				case binary.BigEndian.Uint64(r.First[:])%40 != 0:
				case steps[1].Candidate == last:
					steps[0], steps[1] = steps[1], steps[0]
				default:
					steps[0].Candidate = last
				}
				return steps
			}
			if chi, won := f.chiSquare(t, ordinary); chi <= chiLimit {
				t.Errorf("chi-square %.1f of a draw that is not fair is within %.0f: won %v", chi, chiLimit, won)
			}
		})
	}
}
