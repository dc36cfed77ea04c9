package cowboy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// adrRow is a line of the table in docs/adr/README.md: number, file, title, question,
// status and what the record is about.
var adrRow = regexp.MustCompile(`(?m)^\| \[(\d+)\]\(([^)]*)\) \| ([^|]+) \| ([^|]+\?) \| ([^|]+) \| ([^|]+) \|$`)

// adrStatus is what a row may say: in force, or what changed or replaced it.
var adrStatus = regexp.MustCompile(`^(in force|(changed|replaced) by \d+(, \d+)*)$`)

// TestDecisionsAreListed holds the table of docs/adr/README.md to the records: one row
// for each in ascending order, under the heading of its file, with records and places
// in the repository that are there.
func TestDecisionsAreListed(t *testing.T) {
	page, err := os.ReadFile("docs/adr/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("docs/adr/[0-9]*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no records", err)
	}
	titles := map[string]string{} // by number
	listed := map[string]bool{}   // files of rows
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		heading, _, _ := strings.Cut(string(text), "\n")
		name := filepath.Base(file)
		number := strings.TrimLeft(name[:4], "0")
		title, ok := strings.CutPrefix(heading, fmt.Sprintf("# %s. ", number))
		if !ok {
			t.Errorf("%s begins with %q and not with its number", file, heading)
		}
		titles[number] = title
	}
	last := ""
	for _, row := range adrRow.FindAllStringSubmatch(string(page), -1) {
		number, file, title, status, places := row[1], row[2], row[3], row[5], row[6]
		listed[file] = true
		if file <= last || !strings.HasPrefix(strings.TrimLeft(file, "0"), number+"-") {
			t.Errorf("row %s names %s behind %s", number, file, last)
		}
		last = file
		if _, err := os.Stat(filepath.Join("docs/adr", file)); err != nil {
			t.Errorf("row %s: %v", number, err)
		} else if title != titles[number] {
			t.Errorf("row %s is %q, the record %q", number, title, titles[number])
		}
		if !adrStatus.MatchString(status) {
			t.Errorf("row %s has the status %q", number, status)
		}
		for _, other := range regexp.MustCompile(`\d+`).FindAllString(status, -1) {
			if titles[other] == "" {
				t.Errorf("row %s names record %s, of which there is none", number, other)
			}
		}
		for _, place := range strings.Split(places, ", ") {
			if _, err := os.Stat(strings.Trim(place, "`")); err != nil {
				t.Errorf("row %s: %v", number, err)
			}
		}
	}
	for _, file := range files {
		if !listed[filepath.Base(file)] {
			t.Errorf("%s has no row in docs/adr/README.md", file)
		}
	}
}

// adrUnused is the sentence of docs/adr/README.md that says which numbers have no record, and
// up to which number it speaks: those above may still be in somebody's hands.
var adrUnused = regexp.MustCompile(`Of the numbers up to (\d+), these are not in use: ([\d\s,and-]+)\.`)

// TestUnusedNumbersAreSaid holds that sentence to the records: it names every number that
// has none, and no other.
func TestUnusedNumbersAreSaid(t *testing.T) {
	page, err := os.ReadFile("docs/adr/README.md")
	if err != nil {
		t.Fatal(err)
	}
	sentence := adrUnused.FindStringSubmatch(string(page))
	if sentence == nil {
		t.Fatal("docs/adr/README.md does not say which numbers are not in use")
	}
	last, _ := strconv.Atoi(sentence[1])
	var said, unused []int
	for _, one := range regexp.MustCompile(`(\d+)(?:-(\d+))?`).FindAllStringSubmatch(sentence[2], -1) {
		from, _ := strconv.Atoi(one[1])
		to, err := strconv.Atoi(one[2])
		if err != nil {
			to = from
		}
		for n := from; n <= to; n++ {
			said = append(said, n)
		}
	}
	for n := 1; n <= last; n++ {
		found, err := filepath.Glob(fmt.Sprintf("docs/adr/%04d-*.md", n))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			unused = append(unused, n)
		}
	}
	if !slices.Equal(said, unused) {
		t.Errorf("docs/adr/README.md says that the numbers %v have no record; these have none: %v", said, unused)
	}
}
