package cowboy_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// buildTags are the Makefile's: they choose pure Go where a dependency offers
// both.
const buildTags = "pebblegozstd,netgo,osusergo"

// TestOnlyBlstIsC holds the binaries to one C library. Besides it, pebble's
// allocator calls libc's malloc.
func TestOnlyBlstIsC(t *testing.T) {
	allowed := []string{
		"runtime/cgo",
		"github.com/supranational/blst/bindings/go",
		"github.com/cockroachdb/pebble/v2/internal/manual",
	}
	out, err := exec.Command("go", "list", "-deps", "-tags", buildTags,
		"-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./cmd/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		if !slices.Contains(allowed, pkg) {
			t.Errorf("%s brings C into the binaries: blst is the only C we ship", pkg)
		}
	}
}
