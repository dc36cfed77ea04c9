package bars

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Report is the content of bench/out/NAME.json.
type Report struct {
	Kind        string      `json:"kind"` // "bars"
	Suite       string      `json:"suite"`
	Seed        uint64      `json:"seed"`
	SampleMinMS float64     `json:"sample_min_ms"`
	Environment Environment `json:"environment"`
	Results     []Result    `json:"results"`
}

// KindBars marks a report of bars among other JSON files.
const KindBars = "bars"

// ErrNotMeasured means that at least one bar that this machine should be able
// to run gave no figure.
var ErrNotMeasured = errors.New("a bar could not be measured")

// Options are a suite's settings from the command line.
type Options struct {
	Config Config
	Only   *regexp.Regexp // nil runs every bar
	OutDir string         // "" writes no file
}

// Run measures the suite's bars in order and prints each line as soon as it is
// known. The error is ErrNotMeasured when a bar failed; SHORT is no error.
func Run(suite string, list []Bar, opts Options, stdout io.Writer) (Report, error) {
	if err := CheckAll(list); err != nil {
		return Report{}, fmt.Errorf("suite %s: %w", suite, err)
	}
	meter, err := NewMeter(opts.Config)
	if err != nil {
		return Report{}, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return Report{}, fmt.Errorf("working folder: %w", err)
	}
	report := Report{
		Kind: KindBars, Suite: suite, Seed: opts.Config.Seed,
		SampleMinMS: float64(opts.Config.SampleMin) / float64(time.Millisecond),
		Environment: Observe(RepositoryRoot(wd)),
	}
	failed := false
	for i := range list {
		if opts.Only != nil && !opts.Only.MatchString(list[i].Name) {
			continue
		}
		r := meter.Measure(&list[i])
		failed = failed || r.Failed
		report.Results = append(report.Results, r)
		fmt.Fprintln(stdout, r.Line())
	}
	if len(report.Results) == 0 {
		return report, fmt.Errorf("suite %s: no bar matches %s", suite, opts.Only)
	}
	report.Environment.Finish()
	if opts.OutDir != "" {
		if err := report.Write(filepath.Join(opts.OutDir, suite+".json")); err != nil {
			return report, err
		}
	}
	if failed {
		return report, ErrNotMeasured
	}
	return report, nil
}

// Write writes the report to a file, whose folder it makes.
func (r *Report) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("report folder: %w", err)
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// reportBytesMax bounds a report file that is read back.
const reportBytesMax = 64 << 20

// ReadReport reads a file that a suite wrote.
func ReadReport(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open report: %w", err)
	}
	defer f.Close()
	var r Report
	if err := json.NewDecoder(io.LimitReader(f, reportBytesMax)).Decode(&r); err != nil {
		return nil, fmt.Errorf("decode report %s: %w", path, err)
	}
	if r.Kind != KindBars {
		return nil, fmt.Errorf("%s is a report of kind %q, want %q", path, r.Kind, KindBars)
	}
	return &r, nil
}

// Main is the body of a suite's main function; it returns the exit code.
func Main(suite string, list []Bar, args []string, stdout, stderr io.Writer) int {
	opts := Options{Config: DefaultConfig()}
	wd, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(stderr, "working folder:", err)
		return 2
	}
	flags := flag.NewFlagSet(suite, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&opts.Config.Rounds, "rounds", opts.Config.Rounds, fmt.Sprintf("pairs of samples, at least %d", RoundsMin))
	flags.Uint64Var(&opts.Config.Seed, "seed", opts.Config.Seed, "seed of the order within the rounds")
	flags.DurationVar(&opts.Config.SampleMin, "sample", opts.Config.SampleMin, "shortest sample")
	flags.StringVar(&opts.OutDir, "out", filepath.Join(RepositoryRoot(wd), "bench", "out"), "folder of the JSON file; empty writes none")
	only := flags.String("run", "", "regular expression of the bars to run")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *only != "" {
		if opts.Only, err = regexp.Compile(*only); err != nil {
			fmt.Fprintln(stderr, "-run:", err)
			return 2
		}
	}
	if _, err := Run(suite, list, opts, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
