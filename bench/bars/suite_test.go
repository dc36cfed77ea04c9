package bars

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sleepless is a bar whose sides burn real time, so that a suite can run on the
// machine's own clocks.
func sleepless(name string, must float64) Bar {
	burn := func(d time.Duration) Side {
		return Side{Run: func(n int) error {
			for end := time.Now().Add(time.Duration(n) * d); time.Now().Before(end); {
			}
			return nil
		}}
	}
	return Bar{Name: name, Peer: "sleep", Must: must, Setup: race(burn(20*time.Microsecond), burn(60*time.Microsecond))}
}

func quick(extra ...string) []string {
	return append([]string{"-rounds", "7", "-sample", "200us"}, extra...)
}

func TestSuitePrintsOneLinePerBarAndWritesReport(t *testing.T) {
	dir := t.TempDir()
	list := []Bar{
		sleepless("near", 1e-9), // whatever else the machine does
		sleepless("far", 1e9),
		{Name: "wide", Peer: "itself", Must: 1, Absent: "needs 16 cores, has 2"},
	}
	var out, errs bytes.Buffer
	if code := Main("demo", list, quick("-out", dir), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s; SHORT and absent bars must not fail", code, errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], " ok (min ") || !strings.Contains(lines[1], " SHORT (min ") ||
		lines[2] != "bar wide vs itself not measured: needs 16 cores, has 2" {
		t.Errorf("output:\n%s", out.String())
	}
	r, err := ReadReport(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	e := r.Environment
	if r.Suite != "demo" || len(r.Results) != 3 || len(r.Results[0].Rounds) != 7 || e.Go == "" || e.Commit == "" || e.GOMAXPROCS < 1 || e.Date == "" {
		t.Errorf("report %+v", r)
	}
}

func TestFailedBarFailsTheSuite(t *testing.T) {
	broken := sleepless("broken", 1)
	broken.Setup = func() (Contest, error) { return Contest{}, os.ErrNotExist }
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := Main("demo", []Bar{broken, sleepless("next", 1)}, quick("-out", dir), &out, &errs)
	if code != 1 || !strings.Contains(out.String(), "bar broken vs sleep not measured: set up: ") || !strings.Contains(out.String(), "bar next vs sleep ratio ") {
		t.Errorf("exit code %d, want 1 and the other bar still measured:\n%s", code, out.String())
	}
	if _, err := ReadReport(filepath.Join(dir, "demo.json")); err != nil {
		t.Errorf("the report of a failed suite: %v", err)
	}
}

func TestMainRefusesNonsense(t *testing.T) {
	f := func(want int, list []Bar, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main("demo", list, append(quick("-out", ""), args...), &out, &errs); code != want || errs.Len() == 0 {
			t.Errorf("%v: exit code %d, want %d with a reason", args, code, want)
		}
	}
	ok := []Bar{sleepless("a", 1)}
	f(1, nil)
	f(1, ok, "-run", "nothing")
	f(1, ok, "-rounds", "3")
	f(2, ok, "-run", "(")
	f(2, ok, "-unknown")
}

// report makes a report of one bar whose rounds scatter around centre.
func report(centre, jitter float64, seed uint64) *Report {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := Result{Name: "x", Verdict: VerdictOK}
	for range 9 {
		r.Rounds = append(r.Rounds, Round{Ratio: centre * (1 + jitter*(rng.Float64()-0.5)), Ours: Sample{NanosPerOp: 1}, Peer: Sample{NanosPerOp: 1}})
	}
	summarize(&r)
	return &Report{Kind: KindBars, Suite: "demo", Results: []Result{r}}
}

func TestCompareVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after *Report
		want          Change
	}{
		{"same code, quiet machine", report(4, 0.02, 1), report(4, 0.02, 2), Same},
		{"planted slowdown of 20 %", report(4, 0.05, 1), report(3.2, 0.05, 2), Worse},
		{"gain of 20 %", report(4, 0.05, 1), report(4.8, 0.05, 2), Better},
		{"noise larger than the change", report(4, 0.6, 5), report(4.3, 0.6, 6), Inconclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Compare(tt.before, tt.after, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Verdict != tt.want {
				t.Errorf("%+v, want %s", got[0], tt.want)
			}
		})
	}
}

// Identical code must rarely be called better or worse: that is the floor below
// which every other verdict is worthless.
func TestCompareHasFewFalseAlarms(t *testing.T) {
	alarms := 0
	for seed := range uint64(200) {
		got, err := Compare(report(4, 0.3, 2*seed), report(4, 0.3, 2*seed+1), 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if v := got[0].Verdict; v == Better || v == Worse {
			alarms++
		}
	}
	if alarms > 20 {
		t.Errorf("%d false alarms in 200, want at most 20", alarms)
	}
}

func TestCompareReportsWhatIsMissing(t *testing.T) {
	before, after := report(4, 0.1, 1), report(4, 0.1, 2)
	after.Results[0].Name = "y"
	got, err := Compare(before, after, 0.05)
	if err != nil || len(got) != 2 || got[0].Verdict != Missing || got[1].Verdict != Missing {
		t.Errorf("%+v, %v; want both bars missing", got, err)
	}
	before.Environment.CPU = "other"
	var out bytes.Buffer
	if err := PrintComparison(&out, before, after, got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `warning: CPU differs`) || strings.Count(out.String(), "compare ") != 2 {
		t.Errorf("output:\n%s", out.String())
	}
	after.Suite = "lanes"
	if _, err := Compare(before, after, 0.05); err == nil {
		t.Error("different suites compared")
	}
	if _, err := Compare(before, before, 0); err == nil {
		t.Error("margin of 0 accepted")
	}
}

func TestReadReportRefusesOtherFiles(t *testing.T) {
	f := func(name string, content any) {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		b, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadReport(path); err == nil {
			t.Errorf("%s accepted", name)
		}
	}
	f("load.json", map[string]string{"kind": "load"})
	f("list.json", []int{1})
	if _, err := ReadReport(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("missing file accepted")
	}
}
