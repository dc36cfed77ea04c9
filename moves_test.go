package cowboy_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestMovesLeadSomewhere: docs/moves.md sends its reader from files that are gone to
// files that are there.
func TestMovesLeadSomewhere(t *testing.T) {
	page, err := os.ReadFile("docs/moves.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`([^`]+)`")
	_, files, _ := strings.Cut(string(page), "\n## Files\n")
	files, _, _ = strings.Cut(files, "\n## ")
	rows := 0
	for line := range strings.Lines(files) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows++
		for _, was := range name.FindAllStringSubmatch(cells[1], -1) {
			if _, err := os.Stat(was[1]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is said to have moved, and is there (%v)", was[1], err)
			}
		}
		to := name.FindAllStringSubmatch(cells[2], -1)
		if len(to) == 0 {
			t.Errorf("no new place in %q", line)
		}
		for _, is := range to {
			if _, err := os.Stat(is[1]); err != nil {
				t.Errorf("%s is a new place, and is not there: %v", is[1], err)
			}
		}
	}
	if rows == 0 {
		t.Error("docs/moves.md has no rows")
	}
}
