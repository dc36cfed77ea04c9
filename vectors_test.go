package cowboy_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// vectorRow is a row of docs/vectors.md: files, and the tests that read them, or the
// part of the specification that will.
type vectorRow struct {
	files string
	match *regexp.Regexp
	tests []string // package and name
	found bool
}

func vectorRows(t *testing.T) (rows []*vectorRow) {
	t.Helper()
	page, err := os.ReadFile("docs/vectors.md")
	if err != nil {
		t.Fatal(err)
	}
	read, waiting, ok := strings.Cut(string(page), "## Waiting for their part")
	if !ok {
		t.Fatal("docs/vectors.md lacks a part")
	}
	for i, part := range []string{read, waiting} {
		for _, line := range strings.Split(part, "\n") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if !strings.HasPrefix(line, "| ") || len(cells) != 2 || cells[0] == "files" {
				continue
			}
			r := &vectorRow{files: cells[0]}
			r.match = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(cells[0]), `\*`, ".*") + "$")
			if i == 0 {
				r.tests = strings.Split(cells[1], ", ")
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// TestVectorsHaveReaders holds docs/vectors.md to the public vectors and to the tests:
// no file goes unread without a word.
func TestVectorsHaveReaders(t *testing.T) {
	root := vectors.Path(t, "")
	rows := vectorRows(t)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "README.md" {
			return err
		}
		name, _ = filepath.Rel(root, name)
		found := false
		for _, r := range rows {
			if r.match.MatchString(filepath.ToSlash(name)) {
				r.found, found = true, true
			}
		}
		if !found {
			t.Errorf("docs/vectors.md says nothing of %s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !r.found {
			t.Errorf("docs/vectors.md has a row for %s, of which there is none", r.files)
		}
		for _, test := range r.tests {
			checkReader(t, r.files, test)
		}
	}
}

// checkReader looks for the test, and in its package for the folder that it reads.
func checkReader(t *testing.T, files, test string) {
	t.Helper()
	pkg, name, ok := strings.Cut(test, " ")
	list, err := filepath.Glob(path.Join(pkg, "*_test.go"))
	if !ok || err != nil || len(list) == 0 {
		t.Errorf("%s: no package %q", files, pkg)
		return
	}
	folder, _, _ := strings.Cut(files, "/")
	has, reads := false, false
	for _, file := range list {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		has = has || strings.Contains(string(src), "\nfunc "+name+"(t *testing.T)")
		reads = reads || strings.Contains(string(src), `"`+folder)
	}
	if !has || !reads {
		t.Errorf("%s: %s has no test %s that reads the folder", files, pkg, name)
	}
}
