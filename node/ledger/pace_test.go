package ledger

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/governance"
)

func TestAdvanceIsBounded(t *testing.T) {
	var p pace
	now := time.UnixMilli(1_000_000)
	p.setClock(true, now, 0)
	if p.request(advanceMax+1) || p.request(math.MaxUint64) {
		t.Error("took more blocks than may be due")
	}
	if !p.request(advanceMax) || p.request(1) {
		t.Error("want exactly 10,000 blocks taken")
	}
	p.built(now, 1_000_000)
	if !p.request(1) || p.request(1) {
		t.Error("want room for one more after one was built")
	}
}

func TestChainTimeNeverRunsBackwards(t *testing.T) {
	var p pace
	wall := time.UnixMilli(1_000_000)
	p.setClock(true, wall, 1_005_000) // the head is five seconds ahead of the clock
	if got := p.nowMillis(wall); got != 1_005_000 {
		t.Errorf("chain time after a start = %d, want the head's", got)
	}
	p.request(1)
	p.built(wall, 1_006_000)
	if got := p.nowMillis(wall); got != 1_006_000 {
		t.Errorf("chain time after an advanced block = %d, want its time", got)
	}
	p.built(wall.Add(time.Minute), 1_006_000) // the clock has overtaken it
	if got := p.nowMillis(wall.Add(time.Minute)); got != 1_066_000 {
		t.Errorf("chain time a minute later = %d", got)
	}
}

// A parent whose time is beyond this node's clock by no more than the drift costs the
// leader no view: it waits a block time, not until its clock has caught up.
func TestWaitsOneBlockTimeAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		now := func() time.Time { return time.Now() }
		p.setClock(false, now(), 0)
		f := func(rule string, ahead, want time.Duration) {
			began := time.Now()
			if _, err := p.wait(t.Context(), now, timing{uint64(began.Add(ahead).UnixMilli()), 1_000, 5_000}, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("%s: waited %v, want %v", rule, took, want)
			}
		}
		f("the parent is old", -time.Minute, 0)
		f("the parent is half a block time old", -500*time.Millisecond, 500*time.Millisecond)
		f("the parent is of now", 0, time.Second)
		f("the parent is of a faster clock", 4*time.Second, time.Second)
		f("the parent is at the edge of the drift", 5*time.Second, time.Second)
		f("our clock is behind the parent", time.Hour, time.Hour-5*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := p.wait(ctx, now, timing{uint64(time.Now().UnixMilli()), 1_000, 5_000}, nil); err == nil {
			t.Error("waited although the view ended")
		}
	})
}

// TestBlockTimeIsInForceFromAHeight: a child keeps the block time of its parent's
// state on every node, however long ago the node started; until a block that raised
// it is final the engine still waits as before, and so does the child.
func TestBlockTimeIsInForceFromAHeight(t *testing.T) {
	with := func(millis uint64) *Executed {
		p := params.Default()
		p.BlockTimeMillis = millis
		return &Executed{Force: governance.Genesis(&p)}
	}
	for _, tt := range []struct {
		rule               string
		head, parent, want uint64
	}{
		{"as it was", 1_000, 1_000, 1_000},
		{"shortened by a block that is not final", 1_000, 250, 250},
		{"raised by a block that is not final", 1_000, 5_000, 1_000},
		{"raised for good", 5_000, 5_000, 5_000},
	} {
		var l Ledger
		l.head.Store(with(tt.head))
		if got := l.blockMillis(with(tt.parent)); got != tt.want {
			t.Errorf("%s: %d ms, want %d", tt.rule, got, tt.want)
		}
	}
}
