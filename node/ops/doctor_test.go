package ops

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

func TestEveryFindingCanBeActedOn(t *testing.T) {
	findings := Examine(filepath.Join(t.TempDir(), "not", "there", "yet"), 32<<30)
	seen := map[string]bool{}
	for _, f := range findings {
		if seen[f.Check] || f.Detail == "" {
			t.Errorf("finding %+v is doubled or says nothing", f)
		}
		seen[f.Check] = true
		if (f.Status == OK) != (f.Fix == "") {
			t.Errorf("%s is %s with fix %q", f.Check, f.Status, f.Fix)
		}
	}
	var out strings.Builder
	Print(&out, findings)
	for check := range seen {
		if !strings.Contains(out.String(), check) {
			t.Errorf("%s is not printed", check)
		}
	}
}

func TestWrongPathNameFails(t *testing.T) {
	t.Setenv(cpu.LevelVariable, "sse9")
	if f := processor(); f.Status != Fail || f.Fix == "" {
		t.Errorf("got %+v", f)
	}
}

func TestFolderThatCannotBeWrittenFails(t *testing.T) {
	if f := syncLatency("/proc/self"); f.Status != Fail {
		t.Errorf("got %+v", f)
	}
}

func TestWorst(t *testing.T) {
	f := func(want Status, grades ...Status) {
		t.Helper()
		var findings []Finding
		for _, g := range grades {
			findings = append(findings, Finding{Status: g})
		}
		if got := Worst(findings); got != want {
			t.Errorf("worst of %v is %s", grades, got)
		}
	}
	f(OK, OK, OK)
	f(Warn, OK, Warn, OK)
	f(Fail, Warn, Fail, OK)
	f(Fail, Fail, Warn)
}
