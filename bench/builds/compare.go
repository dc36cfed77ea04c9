package builds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// Config says what is compared, and how.
type Config struct {
	Repository string // root of a checkout
	A, B       string // commits, or [WorkingTree]
	Suites     []string
	Bars       string // regular expression of bars; empty for all
	Rounds     int    // each runs A twice and B once
	Samples    int    // rounds within each run
	Margin     float64
	Seed       uint64
}

// WorkingTree in place of a commit stands for the files as they are.
const WorkingTree = "."

// DefaultConfig compares a commit with the working tree in the suites that a change of the
// core can touch, in some minutes a suite.
func DefaultConfig() Config {
	return Config{A: "HEAD", B: WorkingTree, Suites: []string{"lanes", "exec", "state"}, Rounds: 5, Samples: bars.RoundsMin, Margin: 0.05, Seed: 1}
}

// Reasons why nothing is compared.
var (
	ErrConfig  = errors.New("compare")
	ErrMissing = errors.New("no bar was measured in both builds")
)

// suiteName keeps what names a folder of bench/peers from naming another.
var suiteName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Check reports the first setting that compares nothing.
func (c *Config) Check() error {
	for _, s := range c.Suites {
		if !suiteName.MatchString(s) {
			return fmt.Errorf("%w: suite %q is no name of a folder in bench/peers", ErrConfig, s)
		}
	}
	switch _, err := regexp.Compile(c.Bars); {
	case err != nil:
		return fmt.Errorf("%w: bars: %w", ErrConfig, err)
	case c.A == "" || c.B == "":
		return fmt.Errorf("%w: two builds are needed", ErrConfig)
	case len(c.Suites) == 0:
		return fmt.Errorf("%w: no suite", ErrConfig)
	case c.Rounds < roundsMin || c.Rounds > 100:
		return fmt.Errorf("%w: %d rounds, want %d to 100", ErrConfig, c.Rounds, roundsMin)
	case c.Samples < bars.RoundsMin || c.Samples > 1000:
		return fmt.Errorf("%w: %d samples a run, want %d to 1,000", ErrConfig, c.Samples, bars.RoundsMin)
	case !(c.Margin > 0 && c.Margin < 1):
		return fmt.Errorf("%w: margin %g, want between 0 and 1", ErrConfig, c.Margin)
	}
	return nil
}

// roundsMin are the fewest rounds of which an interval says anything.
const roundsMin = 3

// side is which build a run is of.
type side int

const (
	first  side = iota // A
	again              // A once more: the floor
	second             // B
	sides
)

var sideNames = [sides]string{"A", "A again", "B"}

// runner measures a suite of a side once.
type runner func(ctx context.Context, s side, suite string, round int) (*bars.Report, error)

// Compare exports, builds and measures, and prints a line for each bar. Progress goes to
// log.
func Compare(ctx context.Context, cfg Config, out, log io.Writer) (list []bars.Comparison, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cowboy-compare-")
	if err != nil {
		return nil, fmt.Errorf("folder of the builds: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	a, err := prepare(ctx, &cfg, cfg.A, filepath.Join(dir, "a"), log)
	if err != nil {
		return nil, err
	}
	b, err := prepare(ctx, &cfg, cfg.B, filepath.Join(dir, "b"), log)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "A is %s, B is %s\n", a.name, b.name)
	trees := [sides]*build{first: a, again: a, second: b}
	return measure(ctx, &cfg, func(ctx context.Context, s side, suite string, round int) (*bars.Report, error) {
		return trees[s].run(ctx, &cfg, suite, round)
	}, out, log)
}

// measure runs all rounds and compares.
func measure(ctx context.Context, cfg *Config, run runner, out, log io.Writer) ([]bars.Comparison, error) {
	coin := rand.New(rand.NewPCG(cfg.Seed, 0x636f_6d70))
	runs := cfg.Rounds * len(cfg.Suites) * int(sides)
	ratios := map[string]*[sides][]float64{}
	var names []string
	began, done := time.Now(), 0
	for round := range cfg.Rounds {
		for _, suite := range cfg.Suites {
			for _, s := range coin.Perm(int(sides)) {
				fmt.Fprintf(log, "round %d of %d: %s of %s%s\n", round+1, cfg.Rounds, suite, sideNames[s], left(began, done, runs))
				report, err := run(ctx, side(s), suite, round)
				if err != nil {
					return nil, fmt.Errorf("%s of %s: %w", suite, sideNames[s], err)
				}
				done++
				for i := range report.Results {
					r := &report.Results[i]
					if len(r.Rounds) == 0 {
						continue
					}
					name := suite + "/" + r.Name
					if ratios[name] == nil {
						ratios[name] = new([sides][]float64)
						names = append(names, name)
					}
					ratios[name][s] = append(ratios[name][s], r.RatioMedian)
				}
			}
		}
	}
	slices.Sort(names)
	return judge(cfg, names, ratios, out)
}

// judge gives the verdicts.
func judge(cfg *Config, names []string, ratios map[string]*[sides][]float64, out io.Writer) ([]bars.Comparison, error) {
	var list []bars.Comparison
	compared := 0
	for _, name := range names {
		r := ratios[name]
		c := bars.Comparison{Name: name, Verdict: bars.Missing}
		if min(len(r[first]), len(r[again]), len(r[second])) == cfg.Rounds {
			c = bars.CompareRuns(name, r[first], r[again], r[second], cfg.Margin)
			compared++
		}
		list = append(list, c)
		fmt.Fprintln(out, c.Line())
	}
	if compared == 0 {
		return list, ErrMissing
	}
	return list, nil
}

// left says how long the rest takes, by what the runs took so far.
func left(began time.Time, done, runs int) string {
	if done == 0 {
		return ""
	}
	rest := time.Since(began) / time.Duration(done) * time.Duration(runs-done)
	return fmt.Sprintf(", about %v left", rest.Round(time.Second))
}
