package node

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var rewriteMetrics = flag.Bool("rewrite-metrics", false, "write the list of series in docs/operating.md from the code")

// TestMetricsAreDocumented: the operator's page lists each series of a validator of a
// committee, with what it says. Run it with -rewrite-metrics after a change of them.
func TestMetricsAreDocumented(t *testing.T) {
	const name, begin, end = "../docs/operating.md", "<!-- series: begin -->\n", "<!-- series: end -->\n"
	families, err := opened(t).registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, f := range families {
		if series, ours := strings.CutPrefix(f.GetName(), "cowboy_"); ours {
			rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", series, f.GetHelp()))
		}
	}
	if slices.Sort(rows); len(rows) < 100 {
		t.Fatalf("only %d series", len(rows))
	}
	want := "| series | what it says |\n|---|---|\n" + strings.Join(rows, "")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(page, []byte(begin))
	list, after, closed := bytes.Cut(rest, []byte(end))
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no list of series", name)
	case string(list) == want:
	case *rewriteMetrics:
		if err := os.WriteFile(name, slices.Concat(before, []byte(begin+want+end), after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s lists other series: run go test ./node -run TestMetricsAreDocumented -args -rewrite-metrics", name)
	}
}
