package manifest

import (
	"os"
	"strings"
	"testing"
)

// TestManifestsAreDocumented: docs/transactions.md names every entitlement with the
// types of its parameters, and no others.
func TestManifestsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/transactions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Manifest and address of an actor")
	table, _, _ = strings.Cut(table, "The actor's address")
	kinds := map[ParamKind]string{ParamUint: "uint", ParamText: "text", ParamList: "texts", ParamAddresses: "addresses"}
	rows := Registry()
	for _, e := range rows {
		_, row, ok := strings.Cut(table, "\n| "+e.ID+" | ")
		if !ok {
			t.Errorf("no row for %s", e.ID)
			continue
		}
		row, _, _ = strings.Cut(row, "\n")
		for _, p := range e.Params {
			kind, _ := schema(p)
			if want := p + " " + kinds[kind]; !strings.Contains(row, want) {
				t.Errorf("the row of %s lacks %q", e.ID, want)
			}
		}
	}
	if got := strings.Count(table, "\n| ") - 1; got != len(rows) {
		t.Errorf("%d rows, the registry has %d", got, len(rows))
	}
}
