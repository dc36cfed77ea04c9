package ledger

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestEnoughForABlock(t *testing.T) {
	var y early
	y.set(100*time.Millisecond, 60, func() int64 { return 0 })
	for _, c := range []struct {
		about                 string
		txs, bytes, bytesMost int
		took                  time.Duration
		want                  int64
	}{
		{"too few to tell", earlyTxsMin - 1, 1000, 1 << 20, time.Millisecond, 0},
		{"600 fit into 60 ms at 0.1 ms each", 100, 10_000, 1 << 20, 10 * time.Millisecond, 600},
		{"bytes bound the next, and count half", 100, 10_000, 20_000, 10 * time.Millisecond, 400},
		{"a clock that stood still says nothing", 100, 10_000, 20_000, 0, 400},
		{"one at least", 100, 1 << 30, 1, time.Hour, 201},
	} {
		if y.built(c.txs, c.bytes, c.bytesMost, c.took); y.enough.Load() != c.want {
			t.Errorf("%s: %d, want %d", c.about, y.enough.Load(), c.want)
		}
	}
}

// TestLeavesEarlyOnlyWithEnough: not before the least time, not with less than enough, not
// before a proposal has shown what that is, and never later than the block time.
func TestLeavesEarlyOnlyWithEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			about    string
			least    time.Duration
			enough   int64
			waiting  func(began time.Time) int64
			ahead    time.Duration // of the parent's time to this clock
			from, to time.Duration
		}{
			{"off", 0, 10, nil, 0, time.Second, time.Second},
			{"enough at once", 100 * time.Millisecond, 10, holds(10), 0, 100 * time.Millisecond, 110 * time.Millisecond},
			{"one too few", 100 * time.Millisecond, 10, holds(9), 0, time.Second, time.Second},
			{"nothing known", 100 * time.Millisecond, 0, holds(1 << 30), 0, time.Second, time.Second},
			{"it comes later", 100 * time.Millisecond, 10, after(400*time.Millisecond, 10), 0, 400 * time.Millisecond, 410 * time.Millisecond},
			{"least above the block time", 5 * time.Second, 10, holds(10), 0, time.Second, time.Second},
			{"a parent beyond the drift", 100 * time.Millisecond, 10, holds(10), 7 * time.Second, 2 * time.Second, 2*time.Second + 10*time.Millisecond},
		} {
			var p pace
			began := time.Now()
			p.setClock(false, began, 0)
			p.early.set(c.least, 60, func() int64 { return c.waiting(began) })
			if c.least != 0 {
				p.early.enough.Store(c.enough)
			}
			parent := uint64(began.Add(c.ahead).UnixMilli())
			if _, err := p.wait(t.Context(), time.Now, timing{parent, 1_000, 5_000}, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < c.from || took > c.to {
				t.Errorf("%s: waited %v, want %v to %v", c.about, took, c.from, c.to)
			}
		}
	})
}

func holds(n int64) func(time.Time) int64 { return func(time.Time) int64 { return n } }

func after(d time.Duration, n int64) func(time.Time) int64 {
	return func(began time.Time) int64 {
		if time.Since(began) < d {
			return 0
		}
		return n
	}
}

// TestEarlyIsForDevelopmentChains: elsewhere blocks are time.
func TestEarlyIsForDevelopmentChains(t *testing.T) {
	f := newFixture(t)
	l := f.ledger(t, &pool{})
	cfg := l.cfg
	cfg.MinBlock = 10 * time.Millisecond
	if _, err := New(cfg); err != nil {
		t.Errorf("on a development chain: %v", err)
	}
	cfg.MinBlock = time.Microsecond
	if _, err := New(cfg); !errors.Is(err, ErrMinBlock) {
		t.Errorf("a microsecond: %v", err)
	}
	main := *cfg.Genesis
	main.Devnet = false
	cfg.Genesis, cfg.MinBlock = &main, 10*time.Millisecond
	if _, err := New(cfg); !errors.Is(err, ErrMinBlock) {
		t.Errorf("on another chain: %v", err)
	}
}
