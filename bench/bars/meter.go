package bars

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"
)

// Config says how long and how often a meter measures.
type Config struct {
	Rounds    int           // pairs of samples that count
	Warmup    int           // pairs run first and thrown away
	SampleMin time.Duration // shortest sample: above it, clock and scheduler noise is small
	Seed      uint64        // decides who goes first in each round
}

// DefaultConfig takes nine rounds of samples of at least 30 ms.
func DefaultConfig() Config {
	return Config{Rounds: 9, Warmup: 1, SampleMin: 30 * time.Millisecond, Seed: 1}
}

// RoundsMin is the fewest rounds whose median and spread mean anything.
const RoundsMin = 7

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	switch {
	case c.Rounds < RoundsMin:
		return fmt.Errorf("rounds = %d, want at least %d", c.Rounds, RoundsMin)
	case c.Warmup < 0:
		return fmt.Errorf("warm-up rounds = %d, want at least 0", c.Warmup)
	case c.SampleMin <= 0:
		return errors.New("a sample needs a shortest time above 0")
	}
	return nil
}

// Clock is what a meter reads before and after a sample. Tests replace it.
type Clock struct {
	Now    func() time.Duration // monotonic
	CPU    func() time.Duration // user and system time of this process
	Allocs func() uint64        // heap objects allocated since the start
	Spin   func(cores int) float64
}

// Meter measures bars one after the other.
type Meter struct {
	cfg   Config
	clock Clock
}

// NewMeter returns a meter on the machine's own clocks.
func NewMeter(cfg Config) (*Meter, error) {
	return NewMeterWithClock(cfg, machineClock())
}

// NewMeterWithClock returns a meter on the given clock.
func NewMeterWithClock(cfg Config, clock Clock) (*Meter, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Meter{cfg: cfg, clock: clock}, nil
}

func machineClock() Clock {
	start := time.Now()
	return Clock{
		Now: func() time.Duration { return time.Since(start) },
		CPU: ProcessCPU,
		Allocs: func() uint64 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.Mallocs
		},
		Spin: spin,
	}
}

// Measure runs one bar and never fails: what went wrong stands in the result.
func (m *Meter) Measure(b *Bar) Result {
	r := Result{Name: b.Name, Peer: b.Peer, Must: b.Must, Aim: b.Aim, Unit: "ns"}
	if err := b.Check(); err != nil {
		return notMeasured(r, err.Error(), true)
	}
	if b.Absent != "" {
		return notMeasured(r, b.Absent, false)
	}
	var err error
	if b.Gauge != nil {
		err = m.gauge(b.Gauge, &r)
	} else {
		err = m.contest(b, &r)
	}
	if err != nil {
		r.Rounds = nil
		return notMeasured(r, err.Error(), !errors.As(err, new(*crowdedError)))
	}
	r.judge()
	return r
}

func notMeasured(r Result, reason string, failed bool) Result {
	r.Verdict, r.Reason, r.Failed = VerdictNotMeasured, reason, failed
	return r
}

func (m *Meter) contest(b *Bar, r *Result) (err error) {
	c, err := b.Setup()
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if c.Close != nil {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	if c.Ours.Run == nil || c.Peer.Run == nil {
		return errors.New("set up: a side has nothing to run")
	}
	ours, peer := m.side(b, c.Ours), m.side(b, c.Peer)
	if r.OursIterations, err = m.calibrate(b, &ours); err != nil {
		return fmt.Errorf("ours: %w", err)
	}
	if r.PeerIterations, err = m.calibrate(b, &peer); err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	coin := rand.New(rand.NewPCG(m.cfg.Seed, hashName(b.Name)))
	for i := range m.cfg.Warmup + m.cfg.Rounds {
		round := Round{OursFirst: coin.IntN(2) == 0}
		order := []struct {
			side *timedSide
			into *Sample
			who  string
		}{{&ours, &round.Ours, "ours"}, {&peer, &round.Peer, "peer"}}
		if !round.OursFirst {
			order[0], order[1] = order[1], order[0]
		}
		for _, o := range order {
			if *o.into, err = m.sample(o.side); err != nil {
				return fmt.Errorf("%s: %w", o.who, err)
			}
		}
		if round.Ours.NanosPerOp <= 0 || round.Peer.NanosPerOp <= 0 {
			return errors.New("a sample took no time at all: the clock does not move")
		}
		round.Ratio = round.Peer.NanosPerOp / round.Ours.NanosPerOp
		if i < m.cfg.Warmup {
			continue
		}
		if b.SpinCores > 1 {
			round.Spin = m.clock.Spin(b.SpinCores)
		}
		r.Rounds = append(r.Rounds, round)
	}
	if busy := crowded(b, r.Rounds); busy != nil {
		return busy
	}
	summarize(r)
	return nil
}

// timedSide is a side with its share of the settings resolved.
type timedSide struct {
	Side
	cores, ops, iterations int
}

func (m *Meter) side(b *Bar, s Side) timedSide {
	t := timedSide{Side: s, cores: s.Cores, ops: max(1, b.Ops), iterations: b.Iterations}
	if t.cores == 0 {
		t.cores = b.Cores
	}
	return t
}

// iterationsMax bounds calibration against a clock that hardly moves.
const iterationsMax = 1 << 30

// calibrate finds how many iterations fill the shortest sample.
func (m *Meter) calibrate(b *Bar, s *timedSide) (int, error) {
	if s.iterations = b.Iterations; s.iterations > 0 {
		return s.iterations, nil
	}
	for s.iterations = 1; ; {
		took, err := m.sample(s)
		if err != nil {
			return 0, err
		}
		nanos := took.NanosPerOp * float64(s.iterations) * float64(s.ops)
		if nanos >= float64(m.cfg.SampleMin) {
			return s.iterations, nil
		}
		if s.iterations >= iterationsMax {
			return 0, errors.New("operation takes no time that the clock can see")
		}
		grow := 8.0 // far from the goal: get there in few steps
		if nanos > float64(m.cfg.SampleMin)/8 {
			grow = 1.2 * float64(m.cfg.SampleMin) / nanos
		}
		s.iterations = min(iterationsMax, max(s.iterations+1, int(float64(s.iterations)*grow)))
	}
}

// sample times one side once. The collection before it keeps one side's
// garbage from being paid for by the other.
func (m *Meter) sample(s *timedSide) (Sample, error) {
	if s.Prepare != nil {
		if err := s.Prepare(s.iterations); err != nil {
			return Sample{}, fmt.Errorf("prepare: %w", err)
		}
	}
	if s.cores > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.cores))
	}
	runtime.GC()
	allocs, cpu, start := m.clock.Allocs(), m.clock.CPU(), m.clock.Now()
	err := s.Run(s.iterations)
	took, cpuTook, allocated := m.clock.Now()-start, m.clock.CPU()-cpu, m.clock.Allocs()-allocs
	if err != nil {
		return Sample{}, fmt.Errorf("run: %w", err)
	}
	n := float64(s.iterations) * float64(s.ops)
	return Sample{
		NanosPerOp:  float64(took.Nanoseconds()) / n,
		CPUNanos:    float64(cpuTook.Nanoseconds()) / n,
		AllocsPerOp: float64(allocated) / n,
	}, nil
}

func summarize(r *Result) {
	var ratios, ours, peer []float64
	for _, round := range r.Rounds {
		ratios = append(ratios, round.Ratio)
		ours = append(ours, round.Ours.NanosPerOp)
		peer = append(peer, round.Peer.NanosPerOp)
	}
	r.RatioMin, r.RatioMedian = least(ratios), median(ratios)
	r.Ratio = r.RatioMedian
	r.OursMin, r.OursMedian = least(ours), median(ours)
	r.PeerMin, r.PeerMedian = least(peer), median(peer)
}

// gauge measures a bounded quantity; the limit takes the peer's place.
func (m *Meter) gauge(g *Gauge, r *Result) (err error) {
	r.Unit, r.Must, r.Aim = g.Unit, 1, 0
	if g.Aim > 0 {
		r.Aim = g.Must / g.Aim
	}
	if r.Peer == "" {
		r.Peer = peerLimit
	}
	if g.Close != nil {
		defer func() { err = errors.Join(err, g.Close()) }()
	}
	for i := range m.cfg.Warmup + m.cfg.Rounds {
		v, err := g.Measure(i)
		if err != nil {
			return fmt.Errorf("measure: %w", err)
		}
		if v < 0 {
			return fmt.Errorf("measured %g %s: a quantity cannot be negative", v, g.Unit)
		}
		if i < m.cfg.Warmup {
			continue
		}
		r.Rounds = append(r.Rounds, against(g.Must, v))
	}
	summarize(r)
	return nil
}
