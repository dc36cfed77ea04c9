//spec:implements CIP-2 6
//spec:implements CIP-11 9.3
//spec:implements resolutions 5, 11, 12.B

package selection

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Point is one point of reputation in the unit in which it is kept.
const Point uint64 = 1_000_000_000

// centre is where reputation decays to, from both sides (resolution 11.4).
const centre = 50 * Point

// Standing is a runner's reputation as it is kept: in billionths of a point, as it was at
// a height. It decays when it is read, so a runner of which nothing is heard costs no
// writes.
type Standing struct {
	ReputationX1e9 uint64
	Height         chain.Height
}

// At returns the reputation at a height: its distance to 50 points halves in every
// half-life of blocks (resolution 11.4). Before its own height it is what it was.
func (s Standing) At(h chain.Height, halfLifeBlocks uint64) uint64 {
	if h <= s.Height {
		return s.ReputationX1e9
	}
	factor, whole := decayFactor(uint64(h-s.Height), halfLifeBlocks)
	if whole {
		return s.ReputationX1e9
	}
	if s.ReputationX1e9 >= centre {
		distance, _ := bits.Mul64(s.ReputationX1e9-centre, factor)
		return centre + distance // at most what it was
	}
	distance, _ := bits.Mul64(centre-s.ReputationX1e9, factor)
	return centre - distance // distance < centre
}

// Rounded returns a reputation in points, halves up: what the filter compares with the
// minimum (resolution 11.4).
func Rounded(reputationX1e9 uint64) uint64 {
	points, rest := reputationX1e9/Point, reputationX1e9%Point
	if rest >= Point/2 {
		points++ // at most 2^64/10^9
	}
	return points
}

// decayFactor returns floor-multiplied 2^-(blocks/halfLife) as a fraction of 2^64; whole
// means exactly 2^64, which has no place in the factor. The exponent has 32 bits after
// the point.
func decayFactor(blocks, halfLife uint64) (factor uint64, whole bool) {
	halvings, rest := blocks/halfLife, blocks%halfLife
	if halvings >= 64 {
		return 0, false
	}
	// rest·2^32/halfLife is below 2^32, since rest < halfLife; hence its upper word is
	// below halfLife too, as Div64 requires.
	fraction, _ := bits.Div64(rest>>32, rest<<32, halfLife)
	whole = true
	// Bounded: by 32 bits.
	for k := range halfPowers {
		if fraction>>(31-k)&1 == 0 {
			continue
		}
		if whole {
			factor, whole = halfPowers[k], false
			continue
		}
		factor, _ = bits.Mul64(factor, halfPowers[k])
	}
	switch {
	case whole && halvings == 0:
		return 0, true
	case whole:
		return 1 << (64 - halvings), false
	}
	return factor >> halvings, false
}

// halfPowers are floor(2^64 · 2^-(2^-k)) for k = 1 to 32: the square root of one half, the
// root of that, and so on.
var halfPowers = [32]uint64{
	0xb504f333f9de6484, 0xd744fccad69d6af4, 0xeac0c6e7dd24392e, 0xf5257d152486cc2c,
	0xfa83b2db722a033a, 0xfd3e0c0cf486c174, 0xfe9e115c7b8f884b, 0xff4ecb59511ec8a5,
	0xffa756521c8daed1, 0xffd3a751c0f7e10b, 0xffe9d2b2f7db2755, 0xfff4e91bff1b8c3d,
	0xfffa747ea0040664, 0xfffd3a3b7814eb53, 0xfffe9d1cc60ddab1, 0xffff4e8e25879bfa,
	0xffffa7470363f451, 0xffffd3a37dda0313, 0xffffe9d1bdf703ae, 0xfffff4e8debe025e,
	0xfffffa746f4fa150, 0xfffffd3a37a3f8b0, 0xfffffe9d1bd1065a, 0xffffff4e8de845ad,
	0xffffffa746f41376, 0xffffffd3a37a05e3, 0xffffffe9d1bd01fb, 0xfffffff4e8de80c0,
	0xfffffffa746f4050, 0xfffffffd3a37a024, 0xfffffffe9d1bd011, 0xffffffff4e8de808,
}

// Event is something that a runner did or failed to do for a job.
type Event uint8

const (
	// Verified: its result is in the matching set.
	Verified Event = iota
	// Gathered: Verified, and reveals that it gathered of others were needed.
	Gathered
	// Silent: no commitment, or with one runner no result, by the deadline.
	Silent
	// Disagreed: revealed, and outside of the matching set or with an objective fault
	// (resolution 12.7).
	Disagreed
	// Withheld: committed, and not revealed by the deadline. Under V2 it costs stake alone
	// (resolution 11.28).
	Withheld
	// Abandoned: was silent in some round of a job that failed for silence (resolution
	// 12.35). Under V3 it costs nothing beyond Silent.
	Abandoned
)

// Points are what events are worth under V2.
type Points struct {
	PerResult, PerTimeout, PerDisagreement, PerFailure uint64
	Max                                                uint64 // at most 10^6; the least is 0
}

// Scores that V3 averages (resolution 12.6).
const (
	scoreFailed   = 0
	scoreVerified = 100
	scoreGathered = 110
)

// After returns a runner's standing when an event has happened at a height: decayed to it,
// then changed by the rule of the configuration's version (resolutions 5.8, 11.4, 12.6).
func (s Standing) After(e Event, h chain.Height, c *Config, p *Points) Standing {
	r := s.At(h, c.HalfLifeBlocks)
	if c.Version == V2 {
		r = p.apply(r, e)
	} else {
		r = average(r, e, c.AverageBasisPoints)
	}
	return Standing{ReputationX1e9: r, Height: max(h, s.Height)}
}

// apply adds or takes the points of an event, within 0 and the maximum.
func (p *Points) apply(r uint64, e Event) uint64 {
	var lost uint64
	switch e {
	case Verified, Gathered:
		ceiling := p.Max * Point // at most 10^15
		if gain := min(p.PerResult, p.Max) * Point; r < ceiling && gain < ceiling-r {
			return r + gain
		}
		return ceiling
	case Silent:
		lost = p.PerTimeout
	case Disagreed:
		lost = p.PerDisagreement
	case Abandoned:
		lost = p.PerFailure
	case Withheld: // costs stake alone
	}
	if lost > r/Point {
		return 0
	}
	return r - lost*Point // at most r
}

// average moves a reputation towards the score of an event by its share in basis points,
// floored towards what it was.
func average(r uint64, e Event, basisPoints uint64) uint64 {
	var score uint64
	switch e {
	case Verified:
		score = scoreVerified
	case Gathered:
		score = scoreGathered
	case Silent, Disagreed, Withheld:
		score = scoreFailed
	case Abandoned: // was scored when it was silent
		return r
	}
	if target := score * Point; target >= r {
		return r + shareOf(target-r, basisPoints) // at most the target
	}
	return r - shareOf(r-score*Point, basisPoints) // at least the target
}

// shareOf returns floor(v · basisPoints / 10,000) for at most 10,000: no product has more
// than 64 bits, and the whole ten thousands of v leave no rest.
func shareOf(v, basisPoints uint64) uint64 {
	return v/10_000*basisPoints + v%10_000*basisPoints/10_000
}

// Cap returns how many jobs a runner may have at once: what it declares, and one until it
// has succeeded often enough (resolution 5.7).
func Cap(declared uint16, successes, probationSuccesses uint64) uint16 {
	if successes < probationSuccesses {
		return min(declared, 1)
	}
	return declared
}
