package builds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// pretend returns a runner whose bars have a ratio of each side, with noise.
func pretend(ratios [sides]float64, noise float64) runner {
	rng := rand.New(rand.NewPCG(1, 2))
	return func(_ context.Context, s side, suite string, _ int) (*bars.Report, error) {
		v := ratios[s] * (1 + noise*(2*rng.Float64()-1))
		return &bars.Report{Suite: suite, Results: []bars.Result{{Name: "bar", RatioMedian: v, Rounds: []bars.Round{{Ratio: v}}}}}, nil
	}
}

func TestVerdicts(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Suites, cfg.Rounds = []string{"one"}, 7
	for _, c := range []struct {
		name   string
		ratios [sides]float64
		noise  float64
		want   bars.Change
	}{
		{"nothing changed", [sides]float64{4, 4, 4}, 0.01, bars.Same},
		{"a fifth slower", [sides]float64{4, 4, 3.2}, 0.02, bars.Worse},
		{"a fifth faster", [sides]float64{4, 4, 4.8}, 0.02, bars.Better},
		{"too little to count", [sides]float64{4, 4, 3.92}, 0.005, bars.Same},
		{"noise hides it", [sides]float64{4, 4, 3.6}, 0.4, bars.Inconclusive},
		{"A differs from itself by as much", [sides]float64{4, 3.2, 3.2}, 0.01, bars.Inconclusive},
	} {
		out := &bytes.Buffer{}
		list, err := measure(t.Context(), &cfg, pretend(c.ratios, c.noise), out, io.Discard)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", c.name, list, err)
		}
		if list[0].Verdict != c.want || !strings.Contains(out.String(), "compare one/bar "+string(c.want)) {
			t.Errorf("%s: %s, want %s: %s", c.name, list[0].Verdict, c.want, out)
		}
	}
}

// TestABarThatIsGone: what only one build measures is told and never the same.
func TestABarThatIsGone(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Suites, cfg.Rounds = []string{"one"}, 3
	all := pretend([sides]float64{4, 4, 4}, 0)
	list, err := measure(t.Context(), &cfg, func(ctx context.Context, s side, suite string, round int) (*bars.Report, error) {
		r, err := all(ctx, s, suite, round)
		if s != second {
			r.Results = append(r.Results, bars.Result{Name: "gone", RatioMedian: 1, Rounds: []bars.Round{{Ratio: 1}}})
		}
		return r, err
	}, io.Discard, io.Discard)
	if err != nil || len(list) != 2 || list[0].Verdict != bars.Same || list[1].Verdict != bars.Missing {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := measure(t.Context(), &cfg, func(_ context.Context, _ side, suite string, _ int) (*bars.Report, error) {
		return &bars.Report{Suite: suite}, nil
	}, io.Discard, io.Discard); !errors.Is(err, ErrMissing) {
		t.Errorf("a comparison of nothing: %v", err)
	}
}

func TestSettingsThatCompareNothing(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"no build":       func(c *Config) { c.A = "" },
		"no suite":       func(c *Config) { c.Suites = nil },
		"another folder": func(c *Config) { c.Suites = []string{"../../cmd"} },
		"one round":      func(c *Config) { c.Rounds = 1 },
		"no sample":      func(c *Config) { c.Samples = 0 },
		"a bad pattern":  func(c *Config) { c.Bars = "(" },
		"no margin":      func(c *Config) { c.Margin = 0 },
	} {
		cfg := DefaultConfig()
		edit(&cfg)
		if _, err := Compare(t.Context(), cfg, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: compared", name)
		}
	}
}

// toy is a suite whose one bar has the ratio of its tree.
const toy = `package main

import ("flag"; "fmt"; "os"; "path/filepath")

func main() {
	out := flag.String("out", "", ""); flag.String("run", "", ""); flag.Int("rounds", 0, ""); flag.Uint64("seed", 0, "")
	flag.Parse()
	os.MkdirAll(*out, 0o755)
	text := fmt.Sprintf("{\"kind\":\"bars\",\"suite\":\"toy\",\"results\":[{\"name\":\"speed\",\"ratio_median\":%%g,\"rounds\":[{\"ratio\":1}]}]}", ratio)
	os.WriteFile(filepath.Join(*out, "toy.json"), []byte(text), 0o644)
}

const ratio = %s
`

// TestTwoCommits compares commits of a repository with a planted slowdown: exported, built
// and run, with the working tree left alone.
func TestTwoCommits(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	write("bench/peers/go.mod", "module toy\n\ngo 1.24\n")
	for i, ratio := range []string{"4.0", "2.0"} {
		write("bench/peers/toy/main.go", fmt.Sprintf(toy, ratio))
		git("add", ".")
		git("commit", "-q", "-m", fmt.Sprint("speed ", i))
	}
	cfg := DefaultConfig()
	cfg.Repository, cfg.Suites, cfg.Rounds = root, []string{"toy"}, 3
	for _, c := range []struct {
		a, b string
		want bars.Change
	}{
		{"HEAD~1", "HEAD", bars.Worse},
		{"HEAD", "HEAD~1", bars.Better},
		{"HEAD", WorkingTree, bars.Same},
	} {
		cfg.A, cfg.B = c.a, c.b
		list, err := Compare(t.Context(), cfg, io.Discard, io.Discard)
		if err != nil || len(list) != 1 || list[0].Verdict != c.want {
			t.Errorf("%s and %s: %v, %v, want %s", c.a, c.b, list, err, c.want)
		}
	}
	for _, c := range [][2]string{{"nowhere", "HEAD"}, {"HEAD", "--output=x"}} {
		cfg.A, cfg.B = c[0], c[1]
		if _, err := Compare(t.Context(), cfg, io.Discard, io.Discard); !errors.Is(err, ErrConfig) {
			t.Errorf("%v: %v", c, err)
		}
	}
	cfg.A, cfg.B, cfg.Suites = "HEAD", "HEAD~1", []string{"absent"}
	if _, err := Compare(t.Context(), cfg, io.Discard, io.Discard); !errors.Is(err, ErrConfig) {
		t.Errorf("a suite that is not there: %v", err)
	}
}
