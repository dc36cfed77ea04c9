package acceptance_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/acceptance"
)

// TestTable: what a rule's tests found decides what the table says, and a test that did not run
// makes it an error.
func TestTable(t *testing.T) {
	seen, others := map[string]acceptance.Seen{}, map[string]bool{}
	var first *acceptance.Rule
	for _, r := range acceptance.Rules() {
		seen[r.Number] = acceptance.Seen{}
		for _, name := range r.Tests {
			others[name] = true
		}
		if first == nil && r.Held == acceptance.OnDevnet && len(r.Tests) > 0 {
			first = &r
		}
	}
	says := func(word string, whole bool) {
		t.Helper()
		table, err := acceptance.Table(seen, others)
		if errors.Is(err, acceptance.ErrTable) == whole {
			t.Errorf("error %v, want none: %t", err, whole)
		}
		line, _, _ := strings.Cut(table[strings.Index(table, first.Number+" "):], "\n")
		if !strings.Contains(line, word) {
			t.Errorf("the table says %q, want %s", line, word)
		}
	}
	says("passed", true)
	seen[first.Number] = acceptance.Seen{Wrong: []string{"something"}}
	says("failed", true)
	delete(seen, first.Number)
	says("did not run", false)
	seen[first.Number] = acceptance.Seen{}
	others[first.Tests[0]] = false
	says("failed", true)
	delete(others, first.Tests[0])
	says("did not run", false)
}
