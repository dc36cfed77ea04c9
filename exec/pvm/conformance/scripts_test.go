package conformance

import (
	"cmp"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

//go:embed shim.py
var shim string

var (
	folder  = flag.String("scripts", "", "folder of scripts to compare with CPython; default: testdata/scripts")
	seconds = flag.Int("seconds", 20, "that CPython may take for a script")
)

// importable is the library without what no CPython has.
const importable = "__future__ collections collections.abc dataclasses enum functools itertools json re struct math decimal typing abc hashlib base64 hmac operator string"

// Verdicts of a script. Those of a script that is measured come first; one that is
// left out by its imports, refused by the gate or unfit on CPython says nothing of
// the machine.
const (
	passed  = "passed"
	differs = "differs"
	limited = "beyond a limit" // of memory, cycles or recursion
	met     = "refused when run"
	refused = "refused"
	leftOut = "left out"
	unfit   = "unfit"
)

// TestScripts runs the scripts of a folder here and, with the shim, on CPython,
// and compares all that they print.
func TestScripts(t *testing.T) {
	dir, floor := *folder, 90.0
	if dir == "" {
		dir, floor = "testdata/scripts", 100
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.py"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	sources := make([]string, len(files))
	for i, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[i] = string(b)
	}
	answers := shimmed(t, cpython.Path(t), sources)
	rt, err := pvm.NewRuntime([2]uint64{13, 17})
	if err != nil {
		t.Fatal(err)
	}
	engine := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
	counts, reasons := map[string]int{}, map[string]int{}
	for i, file := range files {
		verdict, why := judged(engine, sources[i], answers[i])
		counts[verdict]++
		if verdict != passed && verdict != differs {
			reasons[verdict+": "+why]++
		}
		t.Logf("%s: %s %s", filepath.Base(file), verdict, why)
	}
	for _, r := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return reasons[b] - reasons[a] }) {
		t.Logf("%5d %s", reasons[r], r)
	}
	allowed := counts[passed] + counts[differs] + counts[limited]
	measured := allowed + counts[met]
	share := 100 * float64(counts[passed]) / float64(max(1, measured))
	t.Logf("%d scripts: %v; %d of %d measured pass, %.1f %%; without those refused when run %.1f %%",
		len(files), counts, counts[passed], measured, share, 100*float64(counts[passed])/float64(max(1, allowed)))
	if measured == 0 || share < floor {
		t.Errorf("%.1f %% of %d pass, want at least %.0f", share, measured, floor)
	}
}

// shimAnswer is what CPython says of one script.
type shimAnswer struct {
	Imports []string `json:"imports"`
	Output  *string  `json:"output"`
}

// shimmed asks CPython.
func shimmed(t *testing.T, python string, sources []string) []shimAnswer {
	type question struct {
		Source  string   `json:"source"`
		Seconds int      `json:"seconds"`
		Allowed []string `json:"allowed"`
	}
	questions := make([]question, len(sources))
	for i, s := range sources {
		questions[i] = question{s, *seconds, strings.Fields(importable)}
	}
	return askEach[shimAnswer](t, python, shim, questions)
}

// judged is the verdict on one script and the reason or first difference.
func judged(engine *pvm.Engine, text string, a shimAnswer) (verdict, why string) {
	if a.Imports == nil {
		return unfit, "no Python 3.11"
	}
	if a.Output == nil {
		return leftOut, "imports " + unlisted(a.Imports)
	}
	if strings.HasSuffix(*a.Output, "! killed\n") {
		return unfit, "took too long on CPython"
	}
	if strings.TrimSpace(*a.Output) == "" {
		return unfit, "prints nothing"
	}
	program, err := engine.Program([]byte(text), "script.py")
	var refusal *pvm.Refusal
	if errors.As(err, &refusal) {
		f := refusal.Report.Findings[0]
		return refused, fmt.Sprintf("%s (%s)", f.What, f.Rule.ID)
	}
	if err != nil {
		return differs, err.Error()
	}
	res, err := engine.Run(program, scriptCycles, nil)
	var abort *vm.Abort
	if errors.As(err, &abort) && !strings.Contains(abort.Error(), "defect") {
		return limited, abort.Error()
	}
	if err != nil {
		return differs, err.Error()
	}
	got, last := string(res.Output), ""
	if res.Raised != nil {
		trace := strings.Split(strings.TrimSpace(res.Traceback), "\n")
		last = trace[len(trace)-1]
		name, _, _ := strings.Cut(last, ":")
		got += "! " + strings.TrimPrefix(name, "__main__.") + "\n"
	}
	diff := firstDifference(shown(*a.Output), shown(got))
	switch {
	case diff == "":
		return passed, ""
	case strings.Contains(diff, "DeterminismError"):
		return met, cmp.Or(last, diff)
	case strings.HasPrefix(last, "RecursionError"):
		return limited, last
	}
	return differs, diff + " " + last
}

func unlisted(imports []string) string {
	allowed := strings.Fields(importable)
	var out []string
	for _, m := range imports {
		if !slices.Contains(allowed, m) {
			out = append(out, m)
		}
	}
	return strings.Join(out, ", ")
}

var address = regexp.MustCompile(` at 0x[0-9a-fA-F]+`)

// shown takes out addresses and what the machine's print drops beyond its limit.
func shown(text string) string {
	text = address.ReplaceAllString(text, "")
	return text[:min(len(text), vm.DefaultLimits().OutputBytes)]
}

var number = regexp.MustCompile(`-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+e[-+]?\d+`)

// firstDifference is the first line in which the texts differ, "" where none does.
// Floats that are neighbours are equal: math is rounded correctly here, and to
// within a unit in the last place on CPython.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b && !neighbours(a, b) {
			return fmt.Sprintf("line %d: CPython %.160q, ours %.160q", i+1, a, b)
		}
	}
	return ""
}

// neighbours reports whether two lines are the same but for floats that differ by
// one unit in the last place.
func neighbours(a, b string) bool {
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	if len(x) == 0 || len(x) != len(y) || number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	for i := range x {
		f, err1 := strconv.ParseFloat(x[i], 64)
		g, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil || f != g && math.Nextafter(f, g) != g {
			return false
		}
	}
	return true
}

// TestNeighbours: one unit is the same, two are not, and neither is other text.
func TestNeighbours(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"one unit", "x = 0.1 [1.0, 2.5e-08]", "x = 0.10000000000000002 [1.0, 2.5e-08]", true},
		{"two units", "1.0", "1.0000000000000004", false},
		{"other text", "1.5 a", "1.5 b", false},
		{"integers", "3 1.5", "4 1.5", false},
		{"more numbers", "1.5", "1.5 1.5", false},
	} {
		if got := neighbours(c.a, c.b); got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
