package cowboy_test

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/acceptance"
)

var rewriteCoverage = flag.Bool("rewrite-coverage", false, "write the rows of docs/coverage.md by number anew")

// TestAcceptanceTable holds the table of the rules: it has every number once, and the tests that
// it names exist.
func TestAcceptanceTable(t *testing.T) {
	rules := acceptance.Rules()
	seen, others := map[string]acceptance.Seen{}, map[string]bool{}
	for _, r := range rules {
		seen[r.Number] = acceptance.Seen{}
		for _, name := range r.Tests {
			others[name] = true
		}
		if r.Held == acceptance.Elsewhere && len(r.Tests) == 0 {
			t.Errorf("%s is held elsewhere, and no test is named", r.Number)
		}
		if (r.Held == acceptance.NotBuilt || r.Held == acceptance.NotApplicable) && r.Note == "" {
			t.Errorf("%s is %s, and there is no reason", r.Number, r.Held)
		}
	}
	if _, err := acceptance.Table(seen, others); err != nil {
		t.Error(err)
	}
	for _, f := range parseModule(t) {
		if !f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				delete(others, f.pkg+"."+fn.Name.Name)
			}
		}
	}
	for name := range others {
		t.Errorf("the table names %s, and there is no such test", name)
	}
}

// The rows of docs/coverage.md that are made from the table stand between these.
const (
	coverageBegin = "<!-- rules: made from node/acceptance; go test . -run TestCoverageByNumber -args -rewrite-coverage -->\n"
	coverageEnd   = "<!-- end of rules -->\n"
)

// TestCoverageByNumber holds docs/coverage.md to the table of the rules.
func TestCoverageByNumber(t *testing.T) {
	const file = "docs/coverage.md"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(raw), coverageBegin)
	_, tail, closed := strings.Cut(rest, coverageEnd)
	if !ok || !closed {
		t.Fatalf("%s has no place for the rules", file)
	}
	page := head + coverageBegin + rulesAsRows() + coverageEnd + tail
	if page == string(raw) {
		return
	}
	if !*rewriteCoverage {
		t.Fatalf("%s does not say what node/acceptance does: go test . -run TestCoverageByNumber -args -rewrite-coverage", file)
	}
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rulesAsRows lists the rules as a table. Neighbours that are held alike share a row.
func rulesAsRows() string {
	var out strings.Builder
	out.WriteString("| rules | held by | tests of other packages, and what is to be known |\n|---|---|---|\n")
	rules := acceptance.Rules()
	for i := 0; i < len(rules); {
		r, j := rules[i], i+1
		for j < len(rules) && rules[j].Number[0] == r.Number[0] && likewise(&rules[j], &r) {
			j++
		}
		numbers := r.Number
		if j > i+1 {
			numbers += "-" + rules[j-1].Number
		}
		about := strings.Join(r.Tests, ", ")
		if about != "" {
			about = "`" + strings.Join(r.Tests, "`, `") + "`"
		}
		if r.Note != "" {
			about = strings.TrimPrefix(about+"; "+r.Note, "; ")
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", numbers, r.Held, about)
		i = j
	}
	return out.String()
}

func likewise(a, b *acceptance.Rule) bool {
	return a.Held == b.Held && a.Note == b.Note && strings.Join(a.Tests, " ") == strings.Join(b.Tests, " ")
}
