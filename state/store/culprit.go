package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// suspects say which files a refusal of the database is about, where its text does
// not: an operator cannot mend what has no name.
var suspects = []struct {
	text     string // in the refusal
	patterns []string
}{
	{"replaying WAL", []string{".log"}},
	{"had been finalized", []string{".log", "MANIFEST-", watermarkName}},
	{"key=value syntax", []string{"OPTIONS-"}},
	{"name from file", []string{"OPTIONS-"}},
	{"OPTIONS", []string{"OPTIONS-"}},
	{"not pristine", []string{"marker."}},
	{"unknown to the objstorage provider", []string{"MANIFEST-"}},
	{"MANIFEST", []string{"MANIFEST-"}},
}

// fileNumber finds the number by which the database calls a table.
var fileNumber = regexp.MustCompile(`(?:file|table) (\d{6,})\b`)

// listing is what a folder held before the database was opened, which replaces logs
// and manifests even where a refusal follows.
type listing struct {
	dir   string
	names []string
}

func list(fs vfs.FS, dir string) listing {
	names, err := fs.List(dir)
	if err != nil {
		return listing{dir: dir}
	}
	slices.Sort(names)
	return listing{dir, names}
}

// culprit adds the names of the files that a refusal to open is about, if it has
// none of them.
func (l listing) culprit(err error) error {
	if err == nil || !errors.Is(err, ErrCorrupt) || len(l.names) == 0 {
		return err
	}
	names, text := l.names, err.Error()
	var about []string
	for _, s := range suspects {
		if !strings.Contains(text, s.text) {
			continue
		}
		for _, pattern := range s.patterns {
			about = append(about, matching(names, pattern)...)
		}
		break
	}
	switch table := fileNumber.FindStringSubmatch(text); {
	case table != nil:
		name := table[1] + ".sst"
		if !slices.Contains(names, name) {
			name += ", which is missing"
		}
		about = append([]string{name}, about...)
	case len(about) == 0 && !namesAny(text, names):
		about = append(matching(names, "MANIFEST-"), matching(names, ".log")...)
	}
	if len(about) == 0 {
		return err
	}
	return fmt.Errorf("%w (look at %s in %s)", err, strings.Join(about, ", "), l.dir)
}

// matching are the names with a first or last part; the part itself, said to be
// missing, if there are none.
func matching(names []string, part string) (out []string) {
	for _, name := range names {
		if strings.HasPrefix(name, part) || strings.HasSuffix(name, part) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		out = append(out, part+"*, which is missing")
	}
	return out
}

func namesAny(text string, names []string) bool {
	for _, name := range names {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}
