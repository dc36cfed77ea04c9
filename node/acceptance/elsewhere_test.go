package acceptance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/acceptance"
)

const module = "github.com/cowboy-foundation/cowboy/"

// runElsewhere runs the tests of other packages that rules name, and says of each that ran
// whether it passed. A test that is skipped did not run.
func runElsewhere(t *testing.T) (map[string]bool, error) {
	t.Helper()
	names, folders := map[string]bool{}, map[string]bool{}
	for _, rule := range acceptance.Rules() {
		for _, test := range rule.Tests {
			names[strings.TrimPrefix(path.Ext(test), ".")] = true
			folders["./../../"+strings.TrimSuffix(test, path.Ext(test))] = true
		}
	}
	args := append([]string{"test", "-json", "-p", "2", "-run", "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$"}, slices.Sorted(maps.Keys(folders))...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	ran := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		if event.Action == "pass" || event.Action == "fail" {
			ran[strings.TrimPrefix(event.Package, module)+"."+event.Test] = event.Action == "pass"
		}
	}
	if err != nil {
		return ran, fmt.Errorf("tests of other packages: %w", err)
	}
	return ran, lines.Err()
}
