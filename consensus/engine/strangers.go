package engine

import (
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

const (
	sentRanges = 8 // answers to one full node that are remembered
	sentFor    = time.Minute
	againMax   = 5 // it gets thirty-two times as dear to ask again
)

// sent is what a full node was sent of late.
type sent struct {
	ranges [sentRanges]struct{ from, to chain.View } // the oldest is overwritten
	next   int
	at     time.Time // of the newest answer
	again  int       // how often it asked for what it had, less how often it did not
}

// times returns how many times over an answer is billed, and remembers it. Whoever asks
// for what it was sent pays twice as much each time, until it asks for something else:
// what got lost on the way it may have once more for little.
func (s *sent) times(from, to chain.View, now time.Time) int {
	if now.Sub(s.at) > sentFor {
		*s = sent{}
	}
	s.at = now
	if slices.ContainsFunc(s.ranges[:], func(r struct{ from, to chain.View }) bool { return r.from <= from && from <= r.to && r.to > 0 }) {
		s.again = min(s.again+1, againMax)
	} else {
		s.again = max(s.again-1, 0)
	}
	s.ranges[s.next] = struct{ from, to chain.View }{from, to}
	s.next = (s.next + 1) % sentRanges
	return 1 << s.again
}

// bill says what the answer to a full node cost.
func (s *serving) bill(now time.Time, r served) {
	if !r.stranger || s.cfg.Billed == nil {
		return
	}
	times := 1
	if r.blocks > 0 {
		times = s.guest(r.to).sent.times(r.from, r.newest, now)
	}
	s.cfg.Billed(r.to, r.blocks, r.bytes, times)
}
