package bars

import (
	"math/rand/v2"
	"slices"
)

// median of a non-empty list; the mean of the middle two when it is even.
func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

func least(v []float64) float64 { return slices.Min(v) }

// interval is a range that covers the true value with about 95 % confidence.
type interval struct{ Low, High float64 }

const resamples = 2000

// medianChange estimates median(after)/median(before) and how sure that is, by
// drawing both lists anew many times (percentile bootstrap). It makes no
// assumption about the shape of the noise, which on a shared machine has a long
// tail to one side.
func medianChange(before, after []float64, seed uint64) (change float64, sure interval) {
	rng := rand.New(rand.NewPCG(seed, 0x6261_7273))
	draw := func(from, into []float64) float64 {
		for i := range into {
			into[i] = from[rng.IntN(len(from))]
		}
		return median(into)
	}
	a, b := make([]float64, len(before)), make([]float64, len(after))
	changes := make([]float64, resamples)
	for i := range changes {
		changes[i] = draw(after, b) / draw(before, a)
	}
	slices.Sort(changes)
	tail := resamples / 40 // 2.5 % at each end
	return median(after) / median(before), interval{changes[tail], changes[resamples-1-tail]}
}

// hashName mixes a bar's name into the seed (FNV-1a), so that the order of the
// rounds does not depend on which other bars run.
func hashName(name string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return h
}
