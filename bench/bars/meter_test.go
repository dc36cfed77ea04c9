package bars

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// machine is a computer whose only passing of time is what the sides under test
// say they use.
type machine struct {
	now    time.Duration
	allocs uint64
}

func (m *machine) clock() Clock {
	return Clock{
		Now:    func() time.Duration { return m.now },
		CPU:    func() time.Duration { return m.now },
		Allocs: func() uint64 { return m.allocs },
	}
}

// takes returns a side whose operation takes d each time, times a jitter of up
// to the given share.
func (m *machine) takes(d time.Duration, jitter float64, rng *rand.Rand) Side {
	return Side{Run: func(n int) error {
		for range n {
			f := 1 + jitter*(rng.Float64()-0.5)
			m.now += time.Duration(float64(d) * f)
			m.allocs++
		}
		return nil
	}}
}

func (m *machine) measure(t *testing.T, b *Bar) Result {
	t.Helper()
	meter, err := NewMeterWithClock(DefaultConfig(), m.clock())
	if err != nil {
		t.Fatal(err)
	}
	return meter.Measure(b)
}

func race(ours, peer Side) func() (Contest, error) {
	return func() (Contest, error) { return Contest{Ours: ours, Peer: peer}, nil }
}

func TestRatioAndVerdict(t *testing.T) {
	for _, tt := range []struct {
		name       string
		ours, peer time.Duration
		must       float64
		ratio      string
		verdict    string
	}{
		{"faster than must", 100 * time.Microsecond, 400 * time.Microsecond, 3.5, "4.00", VerdictOK},
		{"exactly must", 100 * time.Microsecond, 400 * time.Microsecond, 4, "4.00", VerdictOK},
		{"short of must", 100 * time.Microsecond, 400 * time.Microsecond, 4.5, "4.00", VerdictShort},
		{"slower than the peer", 400 * time.Microsecond, 100 * time.Microsecond, 1, "0.25", VerdictShort},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, rng := &machine{}, rand.New(rand.NewPCG(1, 1))
			r := m.measure(t, &Bar{
				Name: "x", Peer: "y", Must: tt.must, Aim: 10,
				Setup: race(m.takes(tt.ours, 0, rng), m.takes(tt.peer, 0, rng)),
			})
			if r.Verdict != tt.verdict || fmt.Sprintf("%.2f", r.Ratio) != tt.ratio {
				t.Errorf("verdict %s ratio %.4f, want %s %s", r.Verdict, r.Ratio, tt.verdict, tt.ratio)
			}
			want := fmt.Sprintf("bar x vs y ratio %s must %.2f aim 10.00 %s (min %s median %s; ours %.0f ns peer %.0f ns)",
				tt.ratio, tt.must, tt.verdict, tt.ratio, tt.ratio, float64(tt.ours), float64(tt.peer))
			if r.Line() != want {
				t.Errorf("line\n%s\nwant\n%s", r.Line(), want)
			}
		})
	}
}

// A bar that is ok must turn SHORT when ours is made slower, noise or not:
// otherwise the machinery proves nothing.
func TestPlantedSlowdownTurnsShort(t *testing.T) {
	bar := func(m *machine, slowdown float64) Result {
		rng := rand.New(rand.NewPCG(7, 7))
		ours := time.Duration(float64(20*time.Microsecond) * slowdown)
		return m.measure(t, &Bar{
			Name: "recover", Peer: "libsecp256k1", Must: 4, Aim: 5.5, Ops: 64,
			Setup: race(m.takes(ours, 0.2, rng), m.takes(90*time.Microsecond, 0.2, rng)),
		})
	}
	if r := bar(&machine{}, 1); r.Verdict != VerdictOK {
		t.Fatalf("as written: %s", r.Line())
	}
	if r := bar(&machine{}, 1.3); r.Verdict != VerdictShort {
		t.Errorf("30 %% slower: %s, want SHORT", r.Line())
	}
}

// One poisoned round in nine changes the minimum, not the verdict.
func TestOnePoisonedRoundDoesNotDecide(t *testing.T) {
	m, rng := &machine{}, rand.New(rand.NewPCG(3, 3))
	ours, calls := m.takes(time.Millisecond, 0, rng), 0
	steady := ours.Run
	ours.Run = func(n int) error {
		if calls++; calls == 12 {
			m.now += time.Second
		}
		return steady(n)
	}
	r := m.measure(t, &Bar{Name: "x", Peer: "y", Must: 2, Setup: race(ours, m.takes(3*time.Millisecond, 0, rng))})
	if r.Verdict != VerdictOK || r.RatioMin > 0.5 {
		t.Errorf("%s, want ok with a low minimum", r.Line())
	}
}

func TestRoundsAlternateAndOrderFollowsSeed(t *testing.T) {
	order := func(seed uint64) string {
		m := &machine{}
		var who strings.Builder
		side := func(letter string) Side {
			return Side{Run: func(n int) error {
				who.WriteString(letter)
				m.now += time.Duration(n) * time.Millisecond
				return nil
			}}
		}
		cfg := DefaultConfig()
		cfg.Seed, cfg.Rounds, cfg.Warmup = seed, 20, 2
		meter, err := NewMeterWithClock(cfg, m.clock())
		if err != nil {
			t.Fatal(err)
		}
		r := meter.Measure(&Bar{Name: "x", Peer: "y", Must: 1, Iterations: 1, Setup: race(side("A"), side("B"))})
		if len(r.Rounds) != cfg.Rounds {
			t.Errorf("%d rounds kept, want %d", len(r.Rounds), cfg.Rounds)
		}
		return who.String()
	}
	got := order(1)
	if len(got) != 2*22 {
		t.Fatalf("%d samples, want %d", len(got), 2*22)
	}
	for i := 0; i < len(got); i += 2 {
		if got[i] == got[i+1] {
			t.Errorf("round %d is %q: each side must run once", i/2, got[i:i+2])
		}
	}
	if !strings.Contains(got, "ABBA") || got != order(1) || got == order(2) {
		t.Errorf("order %q: want it shuffled, repeatable by seed", got)
	}
}

func TestPrepareIsNotTimed(t *testing.T) {
	m, rng := &machine{}, rand.New(rand.NewPCG(1, 1))
	ours := m.takes(time.Millisecond, 0, rng)
	ours.Prepare = func(int) error { m.now += time.Hour; return nil }
	r := m.measure(t, &Bar{Name: "x", Peer: "y", Must: 1, Ops: 10, Setup: race(ours, m.takes(time.Millisecond, 0, rng))})
	if r.Ratio != 1 || r.OursMedian != 1e5 || r.Rounds[0].Ours.AllocsPerOp != 0.1 {
		t.Errorf("ratio %g, ours %g ns, %g allocations; want 1, 100000, 0.1", r.Ratio, r.OursMedian, r.Rounds[0].Ours.AllocsPerOp)
	}
}

func TestCalibrationFillsTheSample(t *testing.T) {
	m, rng := &machine{}, rand.New(rand.NewPCG(1, 1))
	r := m.measure(t, &Bar{Name: "x", Peer: "y", Must: 1, Setup: race(m.takes(300*time.Nanosecond, 0, rng), m.takes(time.Second, 0, rng))})
	if got := time.Duration(r.OursIterations) * 300; got < 30*time.Millisecond || got > 60*time.Millisecond {
		t.Errorf("ours sampled for %v, want a little above 30 ms", got)
	}
	if r.PeerIterations != 1 {
		t.Errorf("peer ran %d times, want 1", r.PeerIterations)
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	m, rng := &machine{}, rand.New(rand.NewPCG(1, 1))
	good := m.takes(time.Millisecond, 0, rng)
	boom := errors.New("boom")
	bad := Side{Run: func(int) error { return boom }}
	still := Side{Run: func(int) error { return nil }}
	for _, tt := range []struct {
		name, line string
		bar        Bar
		failed     bool
	}{
		{"machine lacks something", "not measured: needs 16 cores", Bar{Absent: "needs 16 cores"}, false},
		{"set-up fails", "not measured: set up: boom", Bar{Setup: func() (Contest, error) { return Contest{}, boom }}, true},
		{"nothing to run", "a side has nothing to run", Bar{Setup: race(good, Side{})}, true},
		{"ours fails", "not measured: ours: run: boom", Bar{Setup: race(bad, good)}, true},
		{"peer fails", "not measured: peer: run: boom", Bar{Setup: race(good, bad)}, true},
		{"clock stands still", "takes no time", Bar{Setup: race(good, still)}, true},
		{"no way to measure", "want exactly one of", Bar{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.bar.Name, tt.bar.Peer, tt.bar.Must = "x", "y", 1
			r := m.measure(t, &tt.bar)
			if r.Verdict != VerdictNotMeasured || r.Failed != tt.failed || !strings.Contains(r.Line(), tt.line) {
				t.Errorf("failed=%t %q, want failed=%t with %q", r.Failed, r.Line(), tt.failed, tt.line)
			}
		})
	}
}

func TestGauge(t *testing.T) {
	m := &machine{}
	f := func(value, must, aim float64, want string) {
		t.Helper()
		r := m.measure(t, &Bar{Name: "allocs", Gauge: &Gauge{Unit: "allocs", Must: must, Aim: aim, Measure: func(int) (float64, error) { return value, nil }}})
		if r.Line() != want {
			t.Errorf("line\n%s\nwant\n%s", r.Line(), want)
		}
	}
	f(0.4, 0.5, 0.1, "bar allocs vs limit ratio 1.25 must 1.00 aim 5.00 ok (min 1.25 median 1.25; ours 0.400 allocs peer 0.500 allocs)")
	f(1, 0.5, 0, "bar allocs vs limit ratio 0.50 must 1.00 aim - SHORT (min 0.50 median 0.50; ours 1.0 allocs peer 0.500 allocs)")
	f(0, 300, 0, "bar allocs vs limit ratio 1000000.00 must 1.00 aim - ok (min 1000000.00 median 1000000.00; ours 0.000 allocs peer 300 allocs)")
}

func TestCheckAll(t *testing.T) {
	run := race(Side{}, Side{})
	f := func(want string, list ...Bar) {
		t.Helper()
		err := CheckAll(list)
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("error %q, want %q in it", got, want)
		}
	}
	f("no bars registered")
	f("<nil>", Bar{Name: "a", Peer: "p", Must: 1, Setup: run}, Bar{Name: "b", Peer: "p", Must: 1, Absent: "no"})
	f("registered twice", Bar{Name: "a", Peer: "p", Must: 1, Setup: run}, Bar{Name: "a", Peer: "p", Must: 1, Setup: run})
	f("want one word", Bar{Name: "a b", Peer: "p", Must: 1, Setup: run})
	f("no peer", Bar{Name: "a", Must: 1, Setup: run})
	f("want above 0", Bar{Name: "a", Peer: "p", Setup: run})
	f("aim 1 below must 2", Bar{Name: "a", Peer: "p", Must: 2, Aim: 1, Setup: run})
}

func TestConfigCheck(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Rounds = RoundsMin - 1 },
		func(c *Config) { c.Warmup = -1 },
		func(c *Config) { c.SampleMin = 0 },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		if cfg.Check() == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	if err := DefaultConfig().Check(); err != nil {
		t.Error(err)
	}
}

// TestCrowdedMachine: a bar on cores that the machine gives to others is not measured,
// and that is no failure of ours.
func TestCrowdedMachine(t *testing.T) {
	for _, tt := range []struct {
		spins   []float64
		verdict string
	}{
		{[]float64{1}, VerdictShort},
		{[]float64{0.9, 0.3, 0.9}, VerdictShort}, // a moment
		{[]float64{0.5}, VerdictNotMeasured},
		{[]float64{0.9, 0.5, 0.5}, VerdictNotMeasured},
	} {
		m := &machine{}
		clock, turn := m.clock(), 0
		clock.Spin = func(cores int) float64 {
			if cores != 2 {
				t.Errorf("asked for %d cores", cores)
			}
			turn++
			return tt.spins[turn%len(tt.spins)]
		}
		meter, err := NewMeterWithClock(DefaultConfig(), clock)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		r := meter.Measure(&Bar{
			Name: "b", Peer: "p", Must: 0.8, SpinCores: 2,
			Setup: race(m.takes(2*time.Microsecond, 0, rng), m.takes(time.Microsecond, 0, rng)),
		})
		if r.Verdict != tt.verdict || r.Failed {
			t.Errorf("spins %v: %s, want %s", tt.spins, r.Line(), tt.verdict)
		}
	}
}

func TestSpinEnds(t *testing.T) {
	if got := spin(2); got <= 0 {
		t.Errorf("efficiency %g", got)
	}
}
