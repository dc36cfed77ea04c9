package simtest

import (
	"flag"
	"slices"
	"testing"
	"time"
)

var marginRuns = flag.Uint64("margins", 2, "runs of each case of TestActivationMargin")

// TestActivationMargin measures the activation margin of resolution 11.17 case
// by case; docs/adr/0020 draws the conclusion from it. The links are timely in
// the first cases: without loss, and quick beside every timer.
func TestActivationMargin(t *testing.T) {
	timely := Config{Validators: 4, Latency: 50 * time.Millisecond, Jitter: 100 * time.Millisecond, BlockTime: time.Second}
	with := func(change func(*Config)) Config {
		cfg := timely
		change(&cfg)
		return cfg
	}
	player := func(cfg *Config, name string, rich bool) { cfg.Player, cfg.Rich = playerNamed(t, name), rich }
	for _, c := range []struct {
		name string
		cfg  Config
		// decided: no block was still open when a coalition could know the seed.
		// bound: none could still be taken away by then.
		decided, bound bool
	}{
		{"all honest", timely, true, true},
		{"late finalizer", with(func(c *Config) { player(c, "late finalizer", false) }), true, true},
		{"late finalizer with most of the stake", with(func(c *Config) { player(c, "late finalizer", true) }), true, true},
		{"brinkman", with(func(c *Config) { player(c, "brinkman", false) }), false, true},
		{"brinkman with most of the stake", with(func(c *Config) { player(c, "brinkman", true) }), false, true},
		{"brinkman of seven", with(func(c *Config) { c.Validators = 7; player(c, "brinkman", true) }), false, true},
		{"loss", with(func(c *Config) { c.Loss = 0.3 }), false, false},
		{"partitions", with(func(c *Config) { c.SplitEvery = 6 * time.Second }), false, false},
		{"crashes", with(func(c *Config) { c.Crash = 0.03 }), false, false},
		{"all of it", with(func(c *Config) {
			c.Loss, c.SplitEvery, c.Crash = 0.3, 6*time.Second, 0.03
			player(c, "brinkman", true)
		}), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sum Margins
			var least []time.Duration
			for seed := uint64(1); seed <= *marginRuns; seed++ {
				c.cfg.Seed, c.cfg.Faults, c.cfg.Quiet = seed, 3*time.Minute, time.Minute
				r, err := Run(c.cfg)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				sum.add(r.Margins)
				least = append(least, r.Margins.Least)
			}
			slices.Sort(least)
			t.Logf("%d of %d views negative, least %v (of a run: median %v); not bound %d, least %v; delays %v",
				sum.Negative, sum.Views, millis(sum.Least), millis(least[len(least)/2]), sum.NegativeBound, millis(sum.LeastBound), sum.Delays)
			if c.decided && sum.Negative > 0 || c.bound && sum.NegativeBound > 0 || sum.Views == 0 {
				t.Errorf("%d views undecided, %d not bound when the seed could be known", sum.Negative, sum.NegativeBound)
			}
			if c.name == "brinkman with most of the stake" && sum.Negative == 0 {
				t.Error("no negative margin where docs/adr/0020 found it")
			}
		})
	}
}
