package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// TestStrangersPayForAskingAgain: a full node that goes up the chain pays once for each
// block, one that asks for the same again and again twice as much each time, and a
// validator nothing.
func TestStrangersPayForAskingAgain(t *testing.T) {
	const honest, greedy, validator = 100, 101, 2
	set, shares, g := committee(t, 4)
	h := newHistory(t, set, shares, g.Hash(), 2*answerBlocks)
	app := newChainApp(t, g.Hash())
	h.into(app)
	billed := map[beacon.Participant][]int{}
	blocks := map[beacon.Participant]int{}
	with := func(c *Config) {
		c.Archive, c.LastFinalized = app, h.floor
		c.Billed = func(to beacon.Participant, n, bytes, times int) {
			if (n > 0) != (bytes > 0) {
				t.Errorf("%d blocks of %d bytes", n, bytes)
			}
			if n > 0 {
				billed[to], blocks[to] = append(billed[to], times), blocks[to]+n
			}
		}
	}
	playWith(t, with, func(s *scene) {
		ask := func(who beacon.Participant, v chain.View) {
			s.hear(who, wire.Append(nil, wire.Request{Round: beacon.Round{View: v}}))
			s.wait(time.Millisecond)
		}
		ask(honest, 1)
		next := s.engine.serving.guests[honest].sent.ranges[0].to + 1
		ask(honest, next)
		ask(honest, next) // it was lost on the way
		for range againMax + 2 {
			ask(greedy, 1)
			ask(greedy, 2)
		}
		s.wait(2 * sentFor)
		ask(greedy, 1) // it may have been another one, at the same place
		ask(validator, 1)
	})
	if want := []int{1, 1, 2}; !slices.Equal(billed[honest], want) {
		t.Errorf("the honest one is billed %v times, want %v", billed[honest], want)
	}
	got := billed[greedy]
	if len(got) != 2*(againMax+2)+1 || got[0] != 1 || got[1] != 2 || got[2] != 4 || got[len(got)-2] != 1<<againMax || got[len(got)-1] != 1 {
		t.Errorf("the greedy one is billed %v times", got)
	}
	if n := len(billed[validator]); n != 0 {
		t.Errorf("a validator is billed %d times", n)
	}
	if blocks[honest] < 2*answerBlocks {
		t.Errorf("the honest one got %d blocks", blocks[honest])
	}
}
