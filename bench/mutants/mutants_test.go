package mutants

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const root = "../.."

var (
	playAll = flag.Bool("mutants", false, "play the mutants")
	only    = flag.String("only", "", "play these mutants only, by name, with commas")
)

// TestMutantsFit: every edit matches the source as it is, and gives Go.
func TestMutantsFit(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Mutants() {
		src, err := m.Apply(root)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, src, 0); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if seen[m.Name] || m.About == "" || len(m.Found) == 0 {
			t.Errorf("%s is there twice, or says nothing", m.Name)
		}
		seen[m.Name] = true
	}
}

// TestMutants plays every mutant until a finder finds it, and before that every
// finder without one: what fails by itself finds nothing.
func TestMutants(t *testing.T) {
	if !*playAll {
		t.Skip("plants bugs for minutes: runs in make mutants and make soak")
	}
	dir := t.TempDir()
	table := &strings.Builder{}
	fmt.Fprintf(table, "%-28s%-40s%s\n", "planted bug", "found by", "seconds of one core")
	clean := map[string]time.Duration{}
	found, played := 0, 0
	for _, m := range Mutants() {
		if *only != "" && !strings.Contains(","+*only+",", ","+m.Name+",") {
			continue
		}
		played++
		by, took, err := play(t, m, dir, clean)
		switch {
		case err != nil:
			t.Errorf("%s: %v", m.Name, err)
			fmt.Fprintf(table, "%-28s%v\n", m.Name, err)
		case by == "":
			t.Errorf("%s (%s): nothing finds it; the programme is the bug", m.Name, m.About)
			fmt.Fprintf(table, "%-28s%-40s%.0f\n", m.Name, "NOTHING", took.Seconds())
		default:
			found++
			fmt.Fprintf(table, "%-28s%-40s%.0f\n", m.Name, by, took.Seconds())
		}
		fmt.Print(strings.ReplaceAll(fmt.Sprintf("%s: %s %.0f s\n", m.Name, by, took.Seconds()), ":  ", ": nothing "))
	}
	fmt.Printf("\n%s%d of %d found\n", table, found, played)
}

// play returns who found a mutant first.
func play(t *testing.T, m Mutant, dir string, clean map[string]time.Duration) (by string, took time.Duration, err error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return "", 0, err
	}
	for _, f := range m.Found {
		key := fmt.Sprint(f)
		if clean[key] == 0 {
			patient := f
			patient.Within = 20 * time.Minute
			failed, spent, out, err := patient.play("", dir)
			if err != nil {
				return "", took, err
			}
			if failed {
				return "", took, fmt.Errorf("%s fails without a planted bug:\n%s", f.Name, out)
			}
			clean[key] = spent
		}
		f.Within = max(f.Within, 3*clean[key]) // on a busy computer
		failed, spent, out, err := f.play(overlay, dir)
		took += spent
		if err != nil {
			return "", took, err
		}
		if failed {
			t.Logf("%s, found by %s:\n%s", m.Name, f.Name, out)
			return f.Name, took, nil
		}
	}
	return "", took, nil
}

// play builds the tests, with an overlay or without, and runs them. To run out of
// time is to fail: a bug that lets a test hang is found too.
func (f Finder) play(overlay, dir string) (failed bool, took time.Duration, out string, err error) {
	binary := filepath.Join(dir, "finder.test")
	args := []string{"test", "-c", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "./"+f.Package)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return false, 0, "", fmt.Errorf("build %s: %w\n%s", f.Package, err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.Within)
	defer cancel()
	run := exec.CommandContext(ctx, binary, append([]string{"-test.count=1", "-test.timeout=0", "-test.run=" + f.Run}, f.Args...)...)
	run.Dir = filepath.Join(root, f.Package)
	run.Env = append(os.Environ(), "TMPDIR="+dir)
	began := time.Now()
	raw, err := run.CombinedOutput()
	took = time.Since(began)
	if run.ProcessState != nil { // of one core, whatever else the computer does
		took = run.ProcessState.UserTime() + run.ProcessState.SystemTime()
	}
	out = last(string(raw), 12)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return false, took, out, err
	}
	return err != nil, took, out, nil
}

// last returns the last lines of s.
func last(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
